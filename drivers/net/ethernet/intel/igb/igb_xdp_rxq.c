// SPDX-License-Identifier: GPL-2.0
/* A program per receive queue.
 *
 * The core has the setting, and igb_xdp_queue_prog() asks it; a queue's poll
 * reads the one pointer in its ring that it reads anyway. XDP is enabled for
 * the device as long as one queue runs a program, but buffers of an AF_XDP
 * pool are used on queues alone that run one.
 */

#include <linux/netdevice.h>

#include "igb.h"

/**
 * igb_xdp_rxq_set - set or clear the program of a receive queue
 * @dev: network interface device structure
 * @rxq: index of the queue
 * @prog: program, or NULL for what the device runs
 * @extack: told why @prog is refused
 *
 * Called with RTNL held. No other queue is touched, the link does not notice
 * and no frame is lost, except on a queue that changes between pages and an
 * AF_XDP pool.
 *
 * Return: 0, or -EINVAL where the MTU is too large for the program.
 */
int igb_xdp_rxq_set(struct net_device *dev, unsigned int rxq,
		    struct bpf_prog *prog, struct netlink_ext_ack *extack)
{
	struct igb_adapter *adapter = netdev_priv(dev);
	int err;

	err = igb_xdp_check(adapter, prog, extack);
	if (err)
		return err;

	igb_xdp_apply(adapter);

	return 0;
}
