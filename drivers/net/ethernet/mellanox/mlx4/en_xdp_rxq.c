// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A program per receive queue.
 *
 * The core has the setting, and mlx4_en_xdp_ring_prog() asks it; a ring's poll
 * reads the one pointer that it reads anyway, and gives the ring's descriptors
 * the layout for a program or takes it away. The transmit rings are there as
 * long as one queue runs a program.
 */

#include <linux/netdevice.h>

#include "mlx4_en.h"

/**
 * mlx4_en_xdp_rxq_set - set or clear the program of a receive queue
 * @dev: the port's device
 * @rxq: index of the queue
 * @prog: program, or NULL for what the port runs
 * @extack: told why @prog is refused
 *
 * Called with RTNL held. No other queue is touched, the link does not notice and
 * no frame is lost.
 *
 * Return: 0 or a negative error code, as from an attach to the port.
 */
int mlx4_en_xdp_rxq_set(struct net_device *dev, unsigned int rxq,
			struct bpf_prog *prog, struct netlink_ext_ack *extack)
{
	struct mlx4_en_priv *priv = netdev_priv(dev);
	int err;

	err = mlx4_en_xdp_check(priv, prog, extack);
	if (err)
		return err;

	return mlx4_en_xdp_apply(priv, extack);
}
