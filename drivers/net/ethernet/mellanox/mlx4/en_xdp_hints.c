// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What a device-bound XDP program can ask about the frame it runs on.
 *
 * The answers stand in the frame's CQE, which the ring keeps until the poll has
 * gone past it.
 */

#include <linux/if_vlan.h>
#include <linux/mlx4/cq.h>
#include <net/xdp.h>

#include "mlx4_en.h"

static const struct mlx4_en_xdp_buff *mlx4_en_xdp_hints(const struct xdp_md *ctx)
{
	return (const struct mlx4_en_xdp_buff *)ctx;
}

static struct net_device *mlx4_en_xdp_dev(const struct xdp_md *ctx)
{
	return mlx4_en_xdp_hints(ctx)->xdp.rxq->dev;
}

static int mlx4_en_xdp_rx_timestamp(const struct xdp_md *ctx, u64 *timestamp)
{
	struct mlx4_en_priv *priv = netdev_priv(mlx4_en_xdp_dev(ctx));
	struct mlx4_cqe *cqe = mlx4_en_xdp_hints(ctx)->cqe;

	if (priv->hwtstamp_config.rx_filter != HWTSTAMP_FILTER_ALL)
		return -ENODATA;

	*timestamp = mlx4_en_get_hwtstamp(priv->mdev, mlx4_en_get_cqe_ts(cqe));

	return 0;
}

static enum xdp_rss_hash_type mlx4_en_xdp_l3_type(const struct mlx4_cqe *cqe)
{
	if (cqe->status & cpu_to_be16(MLX4_CQE_STATUS_IPV4 |
				      MLX4_CQE_STATUS_IPV4F))
		return XDP_RSS_L3_IPV4;

	if (!(cqe->status & cpu_to_be16(MLX4_CQE_STATUS_IPV6)))
		return XDP_RSS_TYPE_NONE;

	return XDP_RSS_L3_IPV6 | (cqe->ipv6_ext_mask ? XDP_RSS_L3_DYNHDR : 0);
}

/* The ports of a UDP datagram are hashed where the module was told so. */
static enum xdp_rss_hash_type mlx4_en_xdp_l4_type(const struct mlx4_en_priv *priv,
						  const struct mlx4_cqe *cqe)
{
	if (cqe->status & cpu_to_be16(MLX4_CQE_STATUS_TCP))
		return XDP_RSS_L4 | XDP_RSS_L4_TCP;

	if (cqe->status & cpu_to_be16(MLX4_CQE_STATUS_UDP) &&
	    priv->mdev->profile.udp_rss)
		return XDP_RSS_L4 | XDP_RSS_L4_UDP;

	return XDP_RSS_TYPE_NONE;
}

static int mlx4_en_xdp_rx_hash(const struct xdp_md *ctx, u32 *hash,
			       enum xdp_rss_hash_type *rss_type)
{
	const struct mlx4_cqe *cqe = mlx4_en_xdp_hints(ctx)->cqe;
	struct net_device *dev = mlx4_en_xdp_dev(ctx);
	struct mlx4_en_priv *priv = netdev_priv(dev);
	enum xdp_rss_hash_type l3;

	/* frames of a single ring are not hashed */
	if (!(dev->features & NETIF_F_RXHASH) || priv->rx_ring_num == 1)
		return -ENODATA;

	l3 = mlx4_en_xdp_l3_type(cqe);
	if (l3 == XDP_RSS_TYPE_NONE)
		return -ENODATA;

	*hash = be32_to_cpu(cqe->immed_rss_invalid);
	*rss_type = l3 | mlx4_en_xdp_l4_type(priv, cqe);

	return 0;
}

static int mlx4_en_xdp_rx_vlan_tag(const struct xdp_md *ctx, __be16 *vlan_proto,
				   u16 *vlan_tci)
{
	const struct mlx4_cqe *cqe = mlx4_en_xdp_hints(ctx)->cqe;

	return mlx4_en_cqe_vlan(mlx4_en_xdp_dev(ctx), cqe, vlan_proto,
				vlan_tci) ? 0 : -ENODATA;
}

const struct xdp_metadata_ops mlx4_en_xdp_metadata_ops = {
	.xmo_rx_timestamp	= mlx4_en_xdp_rx_timestamp,
	.xmo_rx_hash		= mlx4_en_xdp_rx_hash,
	.xmo_rx_vlan_tag	= mlx4_en_xdp_rx_vlan_tag,
};
