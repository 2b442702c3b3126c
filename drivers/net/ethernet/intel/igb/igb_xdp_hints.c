// SPDX-License-Identifier: GPL-2.0
/* What a device-bound XDP program can ask about the frame it runs on.
 *
 * The answers stand in the last descriptor of the frame, which the ring keeps
 * until the poll has gone past it, and in struct igb_xdp_buff. In the AF_XDP
 * path that struct lies over the private area of struct xdp_buff_xsk.
 */

#include <linux/if_vlan.h>
#include <net/xdp.h>

#include "e1000_hw.h"
#include "igb.h"

/* RSS Type in the write-back format of the advanced receive descriptor, as the
 * datasheets list it; the field has four bits.
 */
static const enum xdp_rss_hash_type igb_xdp_rss_types[] = {
	[E1000_RSS_TYPE_NO_HASH]		= XDP_RSS_TYPE_NONE,
	[E1000_RSS_TYPE_HASH_TCP_IPV4]		= XDP_RSS_TYPE_L4_IPV4_TCP,
	[E1000_RSS_TYPE_HASH_IPV4]		= XDP_RSS_TYPE_L3_IPV4,
	[E1000_RSS_TYPE_HASH_TCP_IPV6]		= XDP_RSS_TYPE_L4_IPV6_TCP,
	[E1000_RSS_TYPE_HASH_IPV6_EX]		= XDP_RSS_TYPE_L3_IPV6_EX,
	[E1000_RSS_TYPE_HASH_IPV6]		= XDP_RSS_TYPE_L3_IPV6,
	[E1000_RSS_TYPE_HASH_TCP_IPV6_EX]	= XDP_RSS_TYPE_L4_IPV6_TCP_EX,
	[E1000_RSS_TYPE_HASH_UDP_IPV4]		= XDP_RSS_TYPE_L4_IPV4_UDP,
	[E1000_RSS_TYPE_HASH_UDP_IPV6]		= XDP_RSS_TYPE_L4_IPV6_UDP,
	[E1000_RSS_TYPE_HASH_UDP_IPV6_EX]	= XDP_RSS_TYPE_L4_IPV6_UDP_EX,
	[E1000_RSS_TYPE_MASK]			= XDP_RSS_TYPE_NONE,
};

static const struct igb_xdp_buff *igb_xdp_frame(const struct xdp_md *ctx)
{
	return (const struct igb_xdp_buff *)ctx;
}

static int igb_xdp_rx_timestamp(const struct xdp_md *ctx, u64 *timestamp)
{
	const struct igb_xdp_buff *frame = igb_xdp_frame(ctx);

	if (!frame->timestamp)
		return -ENODATA;

	*timestamp = ktime_to_ns(frame->timestamp);

	return 0;
}

static int igb_xdp_rx_hash(const struct xdp_md *ctx, u32 *hash,
			   enum xdp_rss_hash_type *rss_type)
{
	const struct igb_xdp_buff *frame = igb_xdp_frame(ctx);
	const union e1000_adv_rx_desc *end = frame->end;
	enum xdp_rss_hash_type type;
	u16 info;

	if (!(frame->xdp.rxq->dev->features & NETIF_F_RXHASH))
		return -ENODATA;

	info = le16_to_cpu(end->wb.lower.lo_dword.pkt_info);
	type = igb_xdp_rss_types[info & E1000_RSS_TYPE_MASK];
	if (type == XDP_RSS_TYPE_NONE)
		return -ENODATA;

	*hash = le32_to_cpu(end->wb.lower.hi_dword.rss);
	*rss_type = type;

	return 0;
}

static int igb_xdp_rx_vlan_tag(const struct xdp_md *ctx, __be16 *vlan_proto,
			       u16 *vlan_tci)
{
	const struct igb_xdp_buff *frame = igb_xdp_frame(ctx);
	struct igb_ring *ring;

	ring = container_of(frame->xdp.rxq, struct igb_ring, xdp_rxq);
	if (!igb_rx_vlan_tag(ring, frame->end, vlan_tci))
		return -ENODATA;

	*vlan_proto = htons(ETH_P_8021Q);

	return 0;
}

const struct xdp_metadata_ops igb_xdp_metadata_ops = {
	.xmo_rx_timestamp	= igb_xdp_rx_timestamp,
	.xmo_rx_hash		= igb_xdp_rx_hash,
	.xmo_rx_vlan_tag	= igb_xdp_rx_vlan_tag,
};
