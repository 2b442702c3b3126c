// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Attaching XDP programs to a port that runs.
 *
 * Attaching the first program makes a transmit ring for each receive ring beside
 * those that run, publishes them, and gives the receive rings their program. The
 * receive rings change the layout of their descriptors on their own, from their
 * next poll on (en_xdp_rx.c). Replacing exchanges the pointers. Detaching takes
 * them away, waits until the frames that programs have sent are on the wire, and
 * takes the transmit rings away. What can fail comes before what cannot, so that
 * after a failure all is as it was.
 *
 * priv->xdp_enabled tells that frames from elsewhere may be sent: it is set when
 * the transmit rings are published, and cleared before they are withdrawn.
 */

#include <linux/bpf.h>
#include <linux/delay.h>
#include <linux/filter.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>

#include "mlx4_en.h"

/* how long frames that wait to be sent are waited for */
#define MLX4_EN_XDP_DRAIN_MS	100

/* transmit rings that are not published */
struct mlx4_en_xdp_rings {
	struct mlx4_en_tx_ring **ring;
	struct mlx4_en_cq **cq;
	int num;
};

/* A program that does not declare fragments needs each frame in one buffer. */
static unsigned int mlx4_en_progs_max_mtu(const struct mlx4_en_priv *priv,
					  bool one_buf)
{
	return one_buf ? min_t(unsigned int, priv->max_mtu, MLX4_EN_XDP_MAX_MTU) :
			 priv->max_mtu;
}

/**
 * mlx4_en_xdp_check - can a program run on the port as it is?
 * @priv: the port
 * @prog: program, or NULL
 * @extack: told what would have to be otherwise
 *
 * Return: 0, -EINVAL where the MTU is too large, -ENOSPC where there are too
 * many rings.
 */
int mlx4_en_xdp_check(const struct mlx4_en_priv *priv,
		      const struct bpf_prog *prog,
		      struct netlink_ext_ack *extack)
{
	int rings = priv->tx_ring_num[TX] + priv->rx_ring_num;
	unsigned int max;

	if (!prog)
		return 0;

	max = mlx4_en_progs_max_mtu(priv, !prog->aux->xdp_has_frags);
	if (priv->dev->mtu > max) {
		NL_SET_ERR_MSG_FMT_MOD(extack,
				       "program without frags: MTU is %u, may be %u",
				       priv->dev->mtu, max);
		return -EINVAL;
	}

	if (rings > MAX_TX_RINGS) {
		NL_SET_ERR_MSG_FMT_MOD(extack,
				       "%u transmit rings and one for each of %u receive rings: there may be %u",
				       priv->tx_ring_num[TX], priv->rx_ring_num,
				       MAX_TX_RINGS);
		return -ENOSPC;
	}

	return 0;
}

static void mlx4_en_xdp_free_rings(struct mlx4_en_priv *priv,
				   struct mlx4_en_xdp_rings *rings)
{
	int i;

	for (i = 0; i < rings->num; i++) {
		if (rings->ring[i])
			mlx4_en_destroy_tx_ring(priv, &rings->ring[i]);
		if (rings->cq[i])
			mlx4_en_destroy_cq(priv, &rings->cq[i]);
	}
	kfree(rings->ring);
	kfree(rings->cq);
}

static int mlx4_en_xdp_alloc_ring(struct mlx4_en_priv *priv,
				  struct mlx4_en_xdp_rings *rings, int i)
{
	int node = cpu_to_node(i % num_online_cpus());
	u32 size = priv->prof->tx_ring_size;
	int err;

	err = mlx4_en_create_cq(priv, &rings->cq[i], size, i, TX_XDP, node);
	if (err)
		return err;

	err = mlx4_en_create_tx_ring(priv, &rings->ring[i], size, TXBB_SIZE,
				     node, i);
	if (err)
		return err;

	rings->cq[i]->moder_cnt = priv->tx_frames;
	rings->cq[i]->moder_time = priv->tx_usecs;
	/* no queue of the device, so no say in which CPU uses which */
	cpumask_clear(&rings->ring[i]->sp_affinity_mask);

	return 0;
}

static int mlx4_en_xdp_alloc_rings(struct mlx4_en_priv *priv,
				   struct mlx4_en_xdp_rings *rings, int num)
{
	int err = -ENOMEM;
	int i;

	rings->ring = kzalloc_objs(struct mlx4_en_tx_ring *, num);
	rings->cq = kzalloc_objs(struct mlx4_en_cq *, num);
	rings->num = rings->ring && rings->cq ? num : 0;
	if (!rings->num)
		goto err;

	for (i = 0; i < num; i++) {
		err = mlx4_en_xdp_alloc_ring(priv, rings, i);
		if (err)
			goto err;
	}

	return 0;

err:
	mlx4_en_xdp_free_rings(priv, rings);
	return err;
}

static void mlx4_en_xdp_stop_rings(struct mlx4_en_priv *priv,
				   struct mlx4_en_xdp_rings *rings, int count)
{
	int i;

	for (i = 0; i < count; i++) {
		mlx4_en_stop_tx_ring(priv, rings->ring[i], rings->cq[i]);
		mlx4_en_free_tx_buf(priv->dev, rings->ring[i]);
	}
}

/* Start and stop: on a port that is down the rings wait for it. */
static int mlx4_en_xdp_start_rings(struct mlx4_en_priv *priv,
				   struct mlx4_en_xdp_rings *rings)
{
	int err;
	int i;

	for (i = 0; priv->port_up && i < rings->num; i++) {
		err = mlx4_en_start_tx_ring(priv, rings->ring[i], rings->cq[i],
					    i, 0);
		if (err) {
			mlx4_en_xdp_stop_rings(priv, rings, i);
			return err;
		}
	}

	return 0;
}

static void mlx4_en_xdp_publish(struct mlx4_en_priv *priv,
				const struct mlx4_en_xdp_rings *rings)
{
	int i;

	spin_lock_bh(&priv->stats_lock);
	priv->tx_ring[TX_XDP] = rings->ring;
	priv->tx_cq[TX_XDP] = rings->cq;
	priv->tx_ring_num[TX_XDP] = rings->num;
	spin_unlock_bh(&priv->stats_lock);
	priv->prof->tx_ring_num[TX_XDP] = rings->num;

	for (i = 0; i < rings->num; i++)
		mlx4_en_xdp_link_ring(priv, i);
}

/* No poll uses the rings when this returns. What they have counted stays. */
static void mlx4_en_xdp_withdraw(struct mlx4_en_priv *priv,
				 struct mlx4_en_xdp_rings *rings)
{
	int i;

	rings->ring = priv->tx_ring[TX_XDP];
	rings->cq = priv->tx_cq[TX_XDP];
	rings->num = priv->tx_ring_num[TX_XDP];

	/* paired with READ_ONCE() in mlx4_en_poll_rx_cq() */
	for (i = 0; i < priv->rx_ring_num; i++)
		WRITE_ONCE(priv->rx_ring[i]->xdp_tx_ring, NULL);
	synchronize_net();

	spin_lock_bh(&priv->stats_lock);
	for (i = 0; i < rings->num; i++)
		mlx4_en_retire_tx_ring(priv, rings->ring[i]);
	priv->tx_ring_num[TX_XDP] = 0;
	priv->tx_ring[TX_XDP] = NULL;
	priv->tx_cq[TX_XDP] = NULL;
	spin_unlock_bh(&priv->stats_lock);
	priv->prof->tx_ring_num[TX_XDP] = 0;
}

/* Frames that programs have sent are not lost. The receive rings' polls process
 * the completions; a link that is down has none.
 */
static void mlx4_en_xdp_drain(struct mlx4_en_priv *priv)
{
	int left = MLX4_EN_XDP_DRAIN_MS;
	int i;

	for (i = 0; i < priv->tx_ring_num[TX_XDP]; i++)
		while (mlx4_en_xdp_tx_pending(priv->tx_ring[TX_XDP][i]) &&
		       left-- > 0)
			usleep_range(1000, 2000);
}

/**
 * mlx4_en_xdp_set_rings - have each receive ring run the program it is to run
 * @priv: the port
 *
 * Rings that run and run another one are to be waited for.
 */
void mlx4_en_xdp_set_rings(struct mlx4_en_priv *priv)
{
	int i;

	for (i = 0; i < priv->rx_ring_num; i++)
		rcu_assign_pointer(priv->rx_ring[i]->xdp_prog,
				   mlx4_en_xdp_ring_prog(priv, i));
}

static int mlx4_en_xdp_make_rings(struct mlx4_en_priv *priv,
				  struct netlink_ext_ack *extack)
{
	struct mlx4_en_xdp_rings rings = {};
	int err;

	err = mlx4_en_xdp_alloc_rings(priv, &rings, priv->rx_ring_num);
	if (err) {
		NL_SET_ERR_MSG_FMT_MOD(extack,
				       "no room for %u transmit rings more: error %d",
				       priv->rx_ring_num, err);
		return err;
	}

	err = mlx4_en_xdp_start_rings(priv, &rings);
	if (err) {
		NL_SET_ERR_MSG_FMT_MOD(extack,
				       "the card does not start %u transmit rings more: error %d",
				       priv->rx_ring_num, err);
		mlx4_en_xdp_free_rings(priv, &rings);
		return err;
	}

	mlx4_en_xdp_publish(priv, &rings);

	return 0;
}

static void mlx4_en_xdp_remove_rings(struct mlx4_en_priv *priv)
{
	struct mlx4_en_xdp_rings rings;

	if (priv->port_up)
		mlx4_en_xdp_drain(priv);
	mlx4_en_xdp_withdraw(priv, &rings);
	if (priv->port_up)
		mlx4_en_xdp_stop_rings(priv, &rings, rings.num);
	mlx4_en_xdp_free_rings(priv, &rings);
}

/**
 * mlx4_en_xdp_apply - make every queue run the program that it is to run
 * @priv: the port
 * @extack: told what there is not enough of
 *
 * To be called with RTNL held, after a change of what mlx4_en_xdp_ring_prog()
 * tells. Once this returns nothing runs, or is going to run, what it ran before;
 * the caller keeps that until then.
 *
 * Return: 0 or a negative error code, with which all is as it was.
 */
int mlx4_en_xdp_apply(struct mlx4_en_priv *priv, struct netlink_ext_ack *extack)
{
	bool enable = mlx4_en_xdp_any_prog(priv);
	bool enabled = priv->xdp_enabled;
	int err = 0;

	ASSERT_RTNL();

	mutex_lock(&priv->mdev->state_lock);

	if (enable && !enabled)
		err = mlx4_en_xdp_make_rings(priv, extack);
	if (err)
		goto unlock;

	if (enabled && !enable)
		xdp_features_clear_redirect_target(priv->dev);

	/* paired with mlx4_en_xdp_xmit() */
	smp_store_release(&priv->xdp_enabled, enable);
	mlx4_en_xdp_set_rings(priv);
	synchronize_net();

	if (enabled && !enable)
		mlx4_en_xdp_remove_rings(priv);
	if (enable && !enabled)
		xdp_features_set_redirect_target(priv->dev, true);

	/* user space sees the limit, and the core refuses what is above */
	WRITE_ONCE(priv->dev->max_mtu,
		   mlx4_en_progs_max_mtu(priv, mlx4_en_xdp_any_sb_prog(priv)));

unlock:
	mutex_unlock(&priv->mdev->state_lock);

	return err;
}

static int mlx4_en_xdp_setup(struct mlx4_en_priv *priv, struct bpf_prog *prog,
			     struct netlink_ext_ack *extack)
{
	struct bpf_prog *old_prog = priv->xdp_prog;
	int err;

	err = mlx4_en_xdp_check(priv, prog, extack);
	if (err)
		return err;

	priv->xdp_prog = prog;
	err = mlx4_en_xdp_apply(priv, extack);
	if (err) {
		priv->xdp_prog = old_prog;
		return err;
	}

	if (old_prog)
		bpf_prog_put(old_prog);

	return 0;
}

/**
 * mlx4_en_xdp - attach, replace or detach an XDP program
 * @dev: the port's device
 * @xdp: what to do
 *
 * Called with RTNL held. The link does not notice, no frame is lost, and from
 * the return on each frame meets the new program.
 *
 * Return: 0 or a negative error code, with a reason in extack. What was attached
 * before a failure stays attached.
 */
int mlx4_en_xdp(struct net_device *dev, struct netdev_bpf *xdp)
{
	ASSERT_RTNL();

	switch (xdp->command) {
	case XDP_SETUP_PROG:
		return mlx4_en_xdp_setup(netdev_priv(dev), xdp->prog,
					 xdp->extack);
	default:
		return -EINVAL;
	}
}
