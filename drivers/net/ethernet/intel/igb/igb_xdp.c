// SPDX-License-Identifier: GPL-2.0
/* Attaching XDP programs.
 *
 * A receive buffer looks the same with and without a program (igb_rx.c), so
 * attaching, replacing and detaching is one store to each ring while it runs.
 * Every poll loads its ring's pointer once and runs what it finds.
 *
 * adapter->xdp_enabled is what igb_xdp_is_enabled() tells: it is set before the
 * first ring can run a program and cleared after the last one has run one, so
 * that a frame that a program transmits finds XDP enabled.
 *
 * A queue that has an AF_XDP pool takes its buffers from there as long as it
 * runs a program. With its first program, and without its last one, such a
 * queue is stopped and started, and no other; the link does not notice.
 */

#include <linux/bpf.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/xdp_sock_drv.h>

#include "igb.h"

/* A program that does not declare fragments needs each frame in one buffer. */
static unsigned int igb_progs_max_mtu(bool one_buf)
{
	return one_buf ? IGB_RX_ONE_BUF_MTU(SZ_8K) : MAX_STD_JUMBO_FRAME_SIZE;
}

/**
 * igb_xsk_max_mtu - the largest MTU of which each frame fits an AF_XDP buffer
 * @pool: buffers that are as long as their socket has made them
 *
 * The zero-copy path has no fragments.
 *
 * Return: largest MTU in bytes.
 */
unsigned int igb_xsk_max_mtu(struct xsk_buff_pool *pool)
{
	return xsk_pool_get_rx_frame_size(pool) - IGB_ETH_PKT_HDR_PAD -
	       IGB_TS_HDR_LEN;
}

static unsigned int igb_xsk_pools_max_mtu(struct igb_adapter *adapter)
{
	unsigned int mtu = MAX_STD_JUMBO_FRAME_SIZE;
	struct xsk_buff_pool *pool;
	int i;

	for (i = 0; i < adapter->num_rx_queues; i++) {
		pool = xsk_get_pool_from_qid(adapter->netdev, i);
		if (pool && pool->dev)
			mtu = min(mtu, igb_xsk_max_mtu(pool));
	}

	return mtu;
}

/* User space sees the limit in max_mtu, and the core refuses what is above. */
void igb_xdp_update_max_mtu(struct igb_adapter *adapter)
{
	WRITE_ONCE(adapter->netdev->max_mtu,
		   min(igb_progs_max_mtu(igb_xdp_any_sb_prog(adapter)),
		       igb_xsk_pools_max_mtu(adapter)));
}

/**
 * igb_xdp_check - can a program run at the MTU of now?
 * @adapter: board private structure
 * @prog: program, or NULL
 * @extack: told the MTU that would do
 *
 * Return: 0 or -EINVAL.
 */
int igb_xdp_check(struct igb_adapter *adapter, struct bpf_prog *prog,
		  struct netlink_ext_ack *extack)
{
	unsigned int mtu = adapter->netdev->mtu;
	unsigned int max;

	if (!prog)
		return 0;

	max = igb_progs_max_mtu(!prog->aux->xdp_has_frags);
	if (mtu > max) {
		NL_SET_ERR_MSG_FMT_MOD(extack,
				       "program without frags: MTU is %u, may be %u",
				       mtu, max);
		return -EINVAL;
	}

	max = igb_xsk_pools_max_mtu(adapter);
	if (mtu > max) {
		NL_SET_ERR_MSG_FMT_MOD(extack,
				       "buffers of AF_XDP sockets: MTU is %u, may be %u",
				       mtu, max);
		return -EINVAL;
	}

	return 0;
}

/* While the interface is down its queues are stopped as they are. */
static bool igb_xdp_pool_runs(struct igb_adapter *adapter, u16 qid)
{
	struct xsk_buff_pool *pool = xsk_get_pool_from_qid(adapter->netdev, qid);

	return pool && pool->dev && !test_bit(__IGB_DOWN, &adapter->state);
}

/* Stops the queues that change between their pool and pages. */
static unsigned long igb_xdp_stop_pools(struct igb_adapter *adapter)
{
	unsigned long stopped = 0;
	u16 qid;

	for (qid = 0; qid < adapter->num_rx_queues; qid++) {
		if (!adapter->rx_ring[qid]->xdp_prog ==
		    !igb_xdp_queue_prog(adapter, qid))
			continue;
		if (!igb_xdp_pool_runs(adapter, qid))
			continue;
		igb_txrx_ring_disable(adapter, qid);
		stopped |= BIT(qid);
	}

	return stopped;
}

static void igb_xdp_start_pools(struct igb_adapter *adapter,
				unsigned long stopped)
{
	unsigned int qid;

	for_each_set_bit(qid, &stopped, adapter->num_rx_queues) {
		igb_txrx_ring_enable(adapter, qid);
		/* poll once for the buffers that the pool did not have yet */
		if (adapter->rx_ring[qid]->xsk_pool)
			igb_xsk_wakeup(adapter->netdev, qid, XDP_WAKEUP_RX);
	}
}

/* Once this returns no ring runs, or is going to run, what it ran before. */
static void igb_xdp_set_rings(struct igb_adapter *adapter)
{
	int i;

	/* paired with READ_ONCE() in igb_clean_rx_irq() and its _zc twin */
	for (i = 0; i < adapter->num_rx_queues; i++)
		WRITE_ONCE(adapter->rx_ring[i]->xdp_prog,
			   igb_xdp_queue_prog(adapter, i));

	/* polls that loaded the pointer before the stores end with their RCU
	 * read-side section
	 */
	synchronize_net();
}

/**
 * igb_xdp_apply - make every queue run the program that it is to run
 * @adapter: board private structure
 *
 * To be called with RTNL held, after a change of what igb_xdp_queue_prog()
 * tells. The caller keeps what the queues ran before until this returns.
 */
void igb_xdp_apply(struct igb_adapter *adapter)
{
	bool enable = igb_xdp_any_prog(adapter);
	bool enabled = adapter->xdp_enabled;
	unsigned long stopped;

	ASSERT_RTNL();

	if (enabled && !enable)
		xdp_features_clear_redirect_target(adapter->netdev);

	WRITE_ONCE(adapter->xdp_enabled, enabled || enable);
	stopped = igb_xdp_stop_pools(adapter);
	igb_xdp_set_rings(adapter);
	WRITE_ONCE(adapter->xdp_enabled, enable);
	igb_xdp_start_pools(adapter, stopped);

	if (enable && !enabled)
		xdp_features_set_redirect_target(adapter->netdev, true);

	igb_xdp_update_max_mtu(adapter);
}

static int igb_xdp_setup(struct igb_adapter *adapter, struct bpf_prog *prog,
			 struct netlink_ext_ack *extack)
{
	struct bpf_prog *old_prog = adapter->xdp_prog;
	int err;

	err = igb_xdp_check(adapter, prog, extack);
	if (err)
		return err;

	adapter->xdp_prog = prog;
	igb_xdp_apply(adapter);

	if (old_prog)
		bpf_prog_put(old_prog);

	return 0;
}

/**
 * igb_xdp - attach, replace or detach an XDP program or an AF_XDP pool
 * @dev: network interface device structure
 * @xdp: what to do
 *
 * Called with RTNL held. A program is taken over without a change of the link
 * and without losing a frame, except on queues that have an AF_XDP pool.
 *
 * Return: 0, or -EINVAL where the MTU is too large for the program. What was
 * attached before a failure stays attached.
 */
int igb_xdp(struct net_device *dev, struct netdev_bpf *xdp)
{
	struct igb_adapter *adapter = netdev_priv(dev);

	ASSERT_RTNL();

	switch (xdp->command) {
	case XDP_SETUP_PROG:
		return igb_xdp_setup(adapter, xdp->prog, xdp->extack);
	case XDP_SETUP_XSK_POOL:
		return igb_xsk_pool_setup(adapter, xdp->xsk.pool,
					  xdp->xsk.queue_id);
	default:
		return -EINVAL;
	}
}
