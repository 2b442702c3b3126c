// SPDX-License-Identifier: GPL-2.0
/* What became of the frames that an XDP program has seen, for ethtool -S.
 *
 * Each ring counts for itself, in igb_xdp_count(), under its rx_syncp. The
 * device's figures are the sums over the rings that exist now. A failed XDP_TX
 * or XDP_REDIRECT counts as its failure alone, so the sum of all counters is
 * the number of frames that the program has run on.
 */

#include <linux/ethtool.h>

#include "igb.h"

static const char * const igb_xdp_stat_names[IGB_XDP_STATS] = {
	[IGB_XDP_STAT_PASS]		= "pass",
	[IGB_XDP_STAT_DROP]		= "drop",
	[IGB_XDP_STAT_TX]		= "tx",
	[IGB_XDP_STAT_TX_FULL]		= "tx_full",
	[IGB_XDP_STAT_REDIRECT]		= "redirect",
	[IGB_XDP_STAT_REDIRECT_FAIL]	= "redirect_fail",
	[IGB_XDP_STAT_ABORTED]		= "aborted",
};

/**
 * igb_xdp_stats_len - number of XDP counters in ethtool -S
 * @adapter: board private structure
 *
 * Return: the counters of the device and of each receive ring together.
 */
int igb_xdp_stats_len(struct igb_adapter *adapter)
{
	return IGB_XDP_STATS * (1 + adapter->num_rx_queues);
}

/**
 * igb_xdp_get_strings - write the names of the XDP counters
 * @adapter: board private structure
 * @p: where to write, moved behind what was written
 */
void igb_xdp_get_strings(struct igb_adapter *adapter, u8 **p)
{
	int i, j;

	for (j = 0; j < IGB_XDP_STATS; j++)
		ethtool_sprintf(p, "rx_xdp_%s", igb_xdp_stat_names[j]);

	for (i = 0; i < adapter->num_rx_queues; i++)
		for (j = 0; j < IGB_XDP_STATS; j++)
			ethtool_sprintf(p, "rx_queue_%u_xdp_%s", i,
					igb_xdp_stat_names[j]);
}

static void igb_xdp_get_ring_stats(struct igb_ring *ring, u64 *data)
{
	unsigned int start;
	int j;

	do {
		start = u64_stats_fetch_begin(&ring->rx_syncp);
		for (j = 0; j < IGB_XDP_STATS; j++)
			data[j] = u64_stats_read(&ring->xdp_stats[j]);
	} while (u64_stats_fetch_retry(&ring->rx_syncp, start));
}

/**
 * igb_xdp_get_stats - write the XDP counters, in the order of their names
 * @adapter: board private structure
 * @data: room for igb_xdp_stats_len() values
 */
void igb_xdp_get_stats(struct igb_adapter *adapter, u64 *data)
{
	u64 *total = data;
	int i, j;

	memset(total, 0, IGB_XDP_STATS * sizeof(*total));

	for (i = 0; i < adapter->num_rx_queues; i++) {
		data += IGB_XDP_STATS;
		igb_xdp_get_ring_stats(adapter->rx_ring[i], data);
		for (j = 0; j < IGB_XDP_STATS; j++)
			total[j] += data[j];
	}
}
