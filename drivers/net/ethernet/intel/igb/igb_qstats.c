// SPDX-License-Identifier: GPL-2.0
/* Statistics per queue for the netdev netlink family (qstats).
 *
 * A ring counts in its own struct, which is freed when the number of queues
 * changes. What it has counted is added to adapter->retired then, so that the
 * totals of the device never go backwards. Queue statistics start again from
 * zero with a new set of queues, as struct netdev_stat_ops wishes.
 *
 * adapter->retired is written with RTNL and stats64_lock held: either is enough
 * to read it.
 */

#include <linux/rtnetlink.h>
#include <net/netdev_queues.h>

#include "igb.h"

static void igb_read_rx_stats(struct igb_ring *ring,
			      struct igb_rx_queue_stats *stats)
{
	unsigned int start;

	do {
		start = u64_stats_fetch_begin(&ring->rx_syncp);
		*stats = ring->rx_stats;
	} while (u64_stats_fetch_retry(&ring->rx_syncp, start));
}

static void igb_read_tx_stats(struct igb_ring *ring,
			      struct igb_tx_queue_stats *stats)
{
	unsigned int start;

	do {
		start = u64_stats_fetch_begin(&ring->tx_syncp);
		*stats = ring->tx_stats;
	} while (u64_stats_fetch_retry(&ring->tx_syncp, start));
}

/**
 * igb_retire_rings - take over what rings that are about to go have counted
 * @adapter: board private structure
 * @rx_ring: a receive ring that no longer runs, or NULL
 * @tx_ring: a transmit ring that no longer runs, or NULL
 *
 * Called with stats64_lock held.
 */
void igb_retire_rings(struct igb_adapter *adapter, struct igb_ring *rx_ring,
		      struct igb_ring *tx_ring)
{
	struct igb_retired_stats *retired = &adapter->retired;

	lockdep_assert_held(&adapter->stats64_lock);

	if (rx_ring) {
		retired->rx_packets += rx_ring->rx_stats.packets;
		retired->rx_bytes += rx_ring->rx_stats.bytes;
		retired->rx_alloc_failed += rx_ring->rx_stats.alloc_failed;
		memset(&rx_ring->rx_stats, 0, sizeof(rx_ring->rx_stats));
	}
	if (tx_ring) {
		retired->tx_packets += tx_ring->tx_stats.packets;
		retired->tx_bytes += tx_ring->tx_stats.bytes;
		memset(&tx_ring->tx_stats, 0, sizeof(tx_ring->tx_stats));
	}
}

static void igb_get_queue_stats_rx(struct net_device *dev, int idx,
				   struct netdev_queue_stats_rx *stats)
{
	struct igb_adapter *adapter = netdev_priv(dev);
	struct igb_rx_queue_stats ring_stats;

	ASSERT_RTNL();

	/* a reset that failed may have left fewer rings than queues */
	if (idx >= adapter->num_rx_queues)
		return;

	igb_read_rx_stats(adapter->rx_ring[idx], &ring_stats);
	stats->packets = ring_stats.packets;
	stats->bytes = ring_stats.bytes;
	stats->alloc_fail = ring_stats.alloc_failed;
}

static void igb_get_queue_stats_tx(struct net_device *dev, int idx,
				   struct netdev_queue_stats_tx *stats)
{
	struct igb_adapter *adapter = netdev_priv(dev);
	struct igb_tx_queue_stats ring_stats;

	ASSERT_RTNL();

	if (idx >= adapter->num_tx_queues)
		return;

	igb_read_tx_stats(adapter->tx_ring[idx], &ring_stats);
	stats->packets = ring_stats.packets;
	stats->bytes = ring_stats.bytes;
}

static void igb_get_base_stats(struct net_device *dev,
			       struct netdev_queue_stats_rx *rx,
			       struct netdev_queue_stats_tx *tx)
{
	struct igb_adapter *adapter = netdev_priv(dev);
	struct igb_retired_stats *retired = &adapter->retired;

	ASSERT_RTNL();

	rx->packets = retired->rx_packets;
	rx->bytes = retired->rx_bytes;
	rx->alloc_fail = retired->rx_alloc_failed;
	tx->packets = retired->tx_packets;
	tx->bytes = retired->tx_bytes;
}

const struct netdev_stat_ops igb_stat_ops = {
	.get_queue_stats_rx	= igb_get_queue_stats_rx,
	.get_queue_stats_tx	= igb_get_queue_stats_tx,
	.get_base_stats		= igb_get_base_stats,
};
