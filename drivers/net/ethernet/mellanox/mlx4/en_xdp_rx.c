// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Receiving into buffers that an XDP program can work on.
 *
 * There are two layouts of a receive descriptor. Without a program (en_rx.c) a
 * frame takes as little of a page as it needs. With one, each buffer is a page:
 *
 *	| headroom |        what the card writes       | shared_info |	first
 *	|                   what the card writes                     |	others
 *
 * Each descriptor has its own addresses and sizes, and its slot in rx_info says
 * which layout they are of. So a ring changes over while it runs: from the first
 * poll that finds a program, or no longer finds one, descriptors are posted in
 * the other layout, and those that the card has still are used up. A frame in
 * one of them is copied, since a program needs its headroom and must not write
 * where an skb may have its data. The poll is here as long as there is a program
 * or a descriptor of this layout, and in en_rx.c otherwise. Nobody else touches
 * the slots, so nothing of this needs a lock.
 *
 * A page belongs to its slot, and is posted again from there as it was, until a
 * frame takes it along. That happens to all pages of a frame but the first
 * before a program runs, since a program may free them, and to the first when
 * the frame is passed on, sent or redirected. While no page is missing and all
 * descriptors are of this layout, posting is moving the producer on.
 */

#include <linux/bpf_trace.h>
#include <linux/etherdevice.h>
#include <linux/filter.h>
#include <linux/if_vlan.h>
#include <linux/mlx4/cq.h>
#include <net/page_pool/helpers.h>
#include <net/xdp.h>

#include "mlx4_en.h"

/* Fewer are not worth a doorbell record. */
#define MLX4_EN_XDP_REFILL	8

/* what a poll works with, and what it has done */
struct mlx4_en_xdp_poll {
	struct mlx4_en_xdp_buff frame;
	struct mlx4_en_priv *priv;
	struct mlx4_en_rx_ring *ring;
	struct mlx4_en_cq *cq;
	struct bpf_prog *prog;
	unsigned int bytes;
	unsigned int ignored;	/* frames that are bad, or not for us */
	unsigned int unseen;	/* frames that could not be shown to a program */
	unsigned int dropped;	/* frames lost on their way for want of memory */
	u32 verdicts[NUM_XDP_STATS];
	u8 fcs_del;		/* bytes behind a frame that count as received */
	bool inspect;		/* some frames are not for us */
	bool sync;		/* the device needs its buffers synced */
	bool redirected;
	bool sent;
};

/* How much of a frame the card writes to its i-th buffer, at most. */
static unsigned int mlx4_en_xdp_frag_size(int i)
{
	return i ? PAGE_SIZE : MLX4_EN_XDP_FIRST_SIZE;
}

static unsigned int mlx4_en_xdp_frag_offset(int i)
{
	return i ? 0 : XDP_PACKET_HEADROOM;
}

/**
 * mlx4_en_xdp_num_frags - how many buffers a frame may need under a program
 * @size: length of the longest frame, with all that the card may write
 *
 * Return: number of buffers.
 */
int mlx4_en_xdp_num_frags(unsigned int size)
{
	if (size <= MLX4_EN_XDP_FIRST_SIZE)
		return 1;

	return 1 + DIV_ROUND_UP(size - MLX4_EN_XDP_FIRST_SIZE, PAGE_SIZE);
}

static void mlx4_en_xdp_init_desc(const struct mlx4_en_priv *priv,
				  const struct mlx4_en_rx_ring *ring,
				  struct mlx4_en_rx_desc *desc)
{
	int count = ring->stride / DS_SIZE;
	int i;

	for (i = 0; i < priv->xdp_num_frags; i++) {
		desc->data[i].byte_count = cpu_to_be32(mlx4_en_xdp_frag_size(i));
		desc->data[i].lkey = cpu_to_be32(priv->mdev->mr.key);
	}
	for (; i < count; i++) {
		desc->data[i].byte_count = 0;
		desc->data[i].lkey = cpu_to_be32(MLX4_EN_MEMTYPE_PAD);
		desc->data[i].addr = 0;
	}
}

static bool mlx4_en_xdp_alloc(const struct mlx4_en_priv *priv,
			      struct mlx4_en_rx_ring *ring,
			      struct mlx4_en_rx_alloc *frag, int i, gfp_t gfp)
{
	frag->page = page_pool_alloc_pages(ring->pp, gfp);
	if (unlikely(!frag->page)) {
		ring->alloc_fail++;
		return false;
	}
	frag->page_offset = mlx4_en_xdp_frag_offset(i);
	ring->rx_alloc_pages++;

	return true;
}

/**
 * mlx4_en_xdp_prepare_rx_desc - make a descriptor ready for a program's frames
 * @priv: the port
 * @ring: the ring, of which nobody uses this descriptor now
 * @index: which one
 * @gfp: how to allocate pages
 *
 * Pages that are there stay. Those that could not be had are asked for again
 * when this is called again.
 *
 * Return: 0 or -ENOMEM.
 */
int mlx4_en_xdp_prepare_rx_desc(struct mlx4_en_priv *priv,
				struct mlx4_en_rx_ring *ring, int index,
				gfp_t gfp)
{
	struct mlx4_en_rx_desc *desc = ring->buf + (index << ring->log_stride);
	struct mlx4_en_rx_alloc *frags = mlx4_en_rx_frags(priv, ring, index);
	int i;

	if (unlikely(!frags->xdp)) {
		mlx4_en_free_rx_desc(priv, ring, index);
		mlx4_en_xdp_init_desc(priv, ring, desc);
		frags->xdp = true;
		ring->xdp_descs++;
	}

	for (i = 0; i < priv->xdp_num_frags; i++) {
		dma_addr_t dma;

		if (frags[i].page)
			continue;
		if (!mlx4_en_xdp_alloc(priv, ring, &frags[i], i, gfp))
			return -ENOMEM;
		dma = page_pool_get_dma_addr(frags[i].page);
		desc->data[i].addr = cpu_to_be64(dma + frags[i].page_offset);
	}

	return 0;
}

/* The way back: a descriptor as en_rx.c posts it. */
static int mlx4_en_plain_prepare_rx_desc(struct mlx4_en_priv *priv,
					 struct mlx4_en_rx_ring *ring,
					 int index, gfp_t gfp)
{
	if (mlx4_en_rx_frags(priv, ring, index)->xdp) {
		mlx4_en_free_rx_desc(priv, ring, index);
		mlx4_en_init_rx_desc(priv, ring, index);
	}

	return mlx4_en_prepare_rx_desc(priv, ring, index, gfp);
}

/* Posts what is missing as far as there is memory. Returns what is left. */
static u32 mlx4_en_xdp_post(struct mlx4_en_priv *priv,
			    struct mlx4_en_rx_ring *ring, bool xdp, u32 missing)
{
	gfp_t gfp = GFP_ATOMIC | __GFP_MEMALLOC;

	for (; missing; missing--, ring->prod++) {
		int index = ring->prod & ring->size_mask;
		int err;

		err = xdp ? mlx4_en_xdp_prepare_rx_desc(priv, ring, index, gfp) :
			    mlx4_en_plain_prepare_rx_desc(priv, ring, index, gfp);
		if (err)
			break;
	}

	return missing;
}

static void mlx4_en_xdp_refill(struct mlx4_en_priv *priv,
			       struct mlx4_en_rx_ring *ring, bool xdp)
{
	u32 missing = ring->actual_size - (ring->prod - ring->cons);

	if (missing < MLX4_EN_XDP_REFILL)
		return;

	if (likely(!ring->xdp_holes && xdp &&
		   ring->xdp_descs == ring->actual_size))
		ring->prod += missing;
	else
		ring->xdp_holes = mlx4_en_xdp_post(priv, ring, xdp, missing);

	/* descriptors before the record that makes the card fetch them */
	dma_wmb();
	mlx4_en_update_rx_prod_db(ring);
}

static void mlx4_en_xdp_sync_for_cpu(const struct mlx4_en_xdp_poll *poll,
				     const struct mlx4_en_rx_alloc *frag,
				     unsigned int size)
{
	if (unlikely(poll->sync))
		dma_sync_single_range_for_cpu(poll->priv->ddev,
					      page_pool_get_dma_addr(frag->page),
					      frag->page_offset, size,
					      DMA_FROM_DEVICE);
}

/* The buffer stays in its slot, ready for the card. */
static void mlx4_en_xdp_repost(const struct mlx4_en_xdp_poll *poll,
			       const struct mlx4_en_rx_alloc *frag)
{
	if (unlikely(poll->sync))
		dma_sync_single_range_for_device(poll->priv->ddev,
						 page_pool_get_dma_addr(frag->page),
						 0, PAGE_SIZE, DMA_BIDIRECTIONAL);
}

static void mlx4_en_xdp_take(struct mlx4_en_xdp_poll *poll,
			     struct mlx4_en_rx_alloc *frag)
{
	frag->page = NULL;
	poll->ring->xdp_holes = true;
}

static void mlx4_en_xdp_put_frags(struct mlx4_en_rx_ring *ring,
				  struct xdp_buff *xdp)
{
	struct skb_shared_info *sinfo = xdp_get_shared_info_from_buff(xdp);
	int i;

	for (i = 0; i < sinfo->nr_frags; i++)
		page_pool_put_full_page(ring->pp,
					skb_frag_page(&sinfo->frags[i]), true);
}

/* The frame ends here. Inline, like all that a frame meets which a program drops:
 * calls would be a third of what it costs.
 */
static __always_inline void mlx4_en_xdp_drop(struct mlx4_en_xdp_poll *poll,
					     struct mlx4_en_rx_alloc *frags)
{
	struct xdp_buff *xdp = &poll->frame.xdp;

	if (unlikely(xdp_buff_has_frags(xdp)))
		mlx4_en_xdp_put_frags(poll->ring, xdp);
	mlx4_en_xdp_repost(poll, frags);
}

static void mlx4_en_xdp_add_frags(struct mlx4_en_xdp_poll *poll,
				  struct mlx4_en_rx_alloc *frag,
				  unsigned int left)
{
	unsigned int size;

	for (; left; left -= size) {
		frag++;
		size = min_t(unsigned int, left, PAGE_SIZE);
		mlx4_en_xdp_sync_for_cpu(poll, frag, size);
		/* cannot fail: a descriptor has fewer than an skb can hold */
		xdp_buff_add_frag(&poll->frame.xdp, page_to_netmem(frag->page),
				  0, size, PAGE_SIZE);
		mlx4_en_xdp_take(poll, frag);
	}
}

/* What the card says of a frame, into its skb. */
static void mlx4_en_xdp_fill_skb(struct mlx4_en_xdp_poll *poll,
				 struct sk_buff *skb)
{
	struct mlx4_cqe *cqe = poll->frame.cqe;
	struct net_device *dev = poll->priv->dev;
	enum pkt_hash_types hash_type = PKT_HASH_TYPE_L3;
	__be16 vlan_proto;
	u16 vlan_tci;

	if (unlikely(poll->ring->hwtstamp_rx_filter == HWTSTAMP_FILTER_ALL))
		mlx4_en_fill_hwtstamps(poll->priv->mdev, skb_hwtstamps(skb),
				       mlx4_en_get_cqe_ts(cqe));

	if (dev->features & NETIF_F_RXCSUM && mlx4_en_cqe_csum_ok(cqe)) {
		skb->ip_summed = CHECKSUM_UNNECESSARY;
		skb->csum_level = mlx4_en_cqe_inner_csum(dev, cqe);
		hash_type = PKT_HASH_TYPE_L4;
		poll->ring->csum_ok++;
	} else {
		poll->ring->csum_none++;
	}

	if (dev->features & NETIF_F_RXHASH)
		skb_set_hash(skb, be32_to_cpu(cqe->immed_rss_invalid),
			     hash_type);

	if (mlx4_en_cqe_vlan(dev, cqe, &vlan_proto, &vlan_tci))
		__vlan_hwaccel_put_tag(skb, vlan_proto, vlan_tci);
}

static void mlx4_en_xdp_pass(struct mlx4_en_xdp_poll *poll,
			     struct mlx4_en_rx_alloc *frags)
{
	struct sk_buff *skb = xdp_build_skb_from_buff(&poll->frame.xdp);

	if (unlikely(!skb)) {
		poll->dropped++;
		mlx4_en_xdp_drop(poll, frags);
		return;
	}

	mlx4_en_xdp_take(poll, frags);
	mlx4_en_xdp_fill_skb(poll, skb);
	napi_gro_receive(&poll->cq->napi, skb);
}

/* Does with a frame what the program has said, other than to drop it. */
static noinline void mlx4_en_xdp_act(struct mlx4_en_xdp_poll *poll,
				     struct mlx4_en_rx_alloc *frags, u32 act)
{
	struct net_device *dev = poll->priv->dev;
	struct xdp_buff *xdp = &poll->frame.xdp;
	struct bpf_prog *prog = poll->prog;
	enum mlx4_en_xdp_stat stat;

	switch (act) {
	case XDP_PASS:
		poll->verdicts[MLX4_EN_XDP_STAT_PASS]++;
		mlx4_en_xdp_pass(poll, frags);
		return;
	case XDP_TX:
		stat = MLX4_EN_XDP_STAT_TX_FULL;
		poll->sent = true;
		if (!mlx4_en_xdp_xmit_back(poll->priv, poll->ring, xdp))
			goto failure;
		poll->verdicts[MLX4_EN_XDP_STAT_TX]++;
		mlx4_en_xdp_take(poll, frags);
		return;
	case XDP_REDIRECT:
		stat = MLX4_EN_XDP_STAT_REDIRECT_FAIL;
		if (xdp_do_redirect(dev, xdp, prog))
			goto failure;
		poll->verdicts[MLX4_EN_XDP_STAT_REDIRECT]++;
		poll->redirected = true;
		mlx4_en_xdp_take(poll, frags);
		return;
	default:
		bpf_warn_invalid_xdp_action(dev, prog, act);
		fallthrough;
	case XDP_ABORTED:
		stat = MLX4_EN_XDP_STAT_ABORTED;
		break;
	}
failure:
	poll->verdicts[stat]++;
	trace_xdp_exception(dev, prog, act);
	mlx4_en_xdp_drop(poll, frags);
}

static __always_inline void mlx4_en_xdp_run(struct mlx4_en_xdp_poll *poll,
					    struct mlx4_en_rx_alloc *frags)
{
	u32 act = bpf_prog_run_xdp(poll->prog, &poll->frame.xdp);

	if (likely(act == XDP_DROP)) {
		poll->verdicts[MLX4_EN_XDP_STAT_DROP]++;
		mlx4_en_xdp_drop(poll, frags);
	} else {
		mlx4_en_xdp_act(poll, frags, act);
	}
}

/* More than the card has been given room for cannot be right. */
static bool mlx4_en_xdp_too_long(const struct mlx4_en_xdp_poll *poll,
				 unsigned int len)
{
	return len > poll->priv->rx_skb_size + ETH_FCS_LEN;
}

/* The rest of a frame that is longer than its first buffer, if it may be that. */
static noinline bool mlx4_en_xdp_rest(struct mlx4_en_xdp_poll *poll,
				      struct mlx4_en_rx_alloc *frags,
				      unsigned int len)
{
	/* longer than the MTU: such a program has no way to see it */
	if (mlx4_en_xdp_too_long(poll, len) ||
	    (poll->prog && !poll->prog->aux->xdp_has_frags)) {
		poll->unseen++;
		mlx4_en_xdp_repost(poll, frags);
		return false;
	}

	mlx4_en_xdp_add_frags(poll, frags, len - MLX4_EN_XDP_FIRST_SIZE);

	return true;
}

/* A whole frame in buffers of this layout. What it takes along is NULL then. */
static __always_inline void mlx4_en_xdp_frame(struct mlx4_en_xdp_poll *poll,
					      struct mlx4_en_rx_alloc *frags,
					      void *va, unsigned int len)
{
	unsigned int size = min_t(unsigned int, len, MLX4_EN_XDP_FIRST_SIZE);
	struct xdp_buff *xdp = &poll->frame.xdp;

	xdp->flags = 0;
	xdp_prepare_buff(xdp, va, XDP_PACKET_HEADROOM, size, true);
	mlx4_en_xdp_sync_for_cpu(poll, frags, size);

	if (unlikely(len > MLX4_EN_XDP_FIRST_SIZE) &&
	    !mlx4_en_xdp_rest(poll, frags, len))
		return;

	poll->bytes += len;

	if (likely(poll->prog))
		mlx4_en_xdp_run(poll, frags);
	else
		mlx4_en_xdp_pass(poll, frags);
}

/* Copies one buffer of the other layout to where the last one has ended. */
static void mlx4_en_xdp_append(struct mlx4_en_rx_alloc *copy,
			       unsigned int done, const void *from,
			       unsigned int len)
{
	while (len) {
		unsigned int first = MLX4_EN_XDP_FIRST_SIZE;
		unsigned int i = 0, at = done, size;

		if (done >= first) {
			i = 1 + (done - first) / PAGE_SIZE;
			at = (done - first) % PAGE_SIZE;
		}
		size = min(len, mlx4_en_xdp_frag_size(i) - at);
		memcpy(page_address(copy[i].page) + copy[i].page_offset + at,
		       from, size);
		done += size;
		from += size;
		len -= size;
	}
}

static bool mlx4_en_xdp_copy(struct mlx4_en_xdp_poll *poll,
			     struct mlx4_en_rx_alloc *copy,
			     const struct mlx4_en_rx_alloc *frag,
			     unsigned int len)
{
	const struct mlx4_en_frag_info *info = poll->priv->frag_info;
	unsigned int done, size;
	int i;

	for (i = 0; i < mlx4_en_xdp_num_frags(len); i++)
		if (!mlx4_en_xdp_alloc(poll->priv, poll->ring, &copy[i], i,
				       GFP_ATOMIC))
			return false;

	for (done = 0; done < len; done += size, frag++, info++) {
		size = min_t(unsigned int, len - done, info->frag_size);
		mlx4_en_xdp_sync_for_cpu(poll, frag, size);
		mlx4_en_xdp_append(copy, done,
				   page_address(frag->page) + frag->page_offset,
				   size);
	}

	return true;
}

/* A frame that came in a descriptor of the other layout. */
static noinline void mlx4_en_xdp_other_frame(struct mlx4_en_xdp_poll *poll,
					     const struct mlx4_en_rx_alloc *frags,
					     unsigned int len)
{
	struct mlx4_en_rx_alloc copy[MLX4_EN_MAX_RX_FRAGS] = {};
	int i;

	if (!mlx4_en_xdp_too_long(poll, len) &&
	    mlx4_en_xdp_copy(poll, copy, frags, len))
		mlx4_en_xdp_frame(poll, copy, page_address(copy->page), len);
	else
		poll->unseen++;

	for (i = 0; i < ARRAY_SIZE(copy); i++)
		if (copy[i].page)
			page_pool_put_full_page(poll->ring->pp, copy[i].page,
						true);
}

/* Frames that the card has looped back, and those of its selftest. */
static bool mlx4_en_xdp_is_ours(const struct mlx4_en_xdp_poll *poll,
				const struct mlx4_en_rx_alloc *frags)
{
	const void *va = page_address(frags->page) + frags->page_offset;
	struct mlx4_en_priv *priv = poll->priv;

	mlx4_en_xdp_sync_for_cpu(poll, frags, MLX4_EN_SMALL_PKT_SIZE);
	if (priv->flags & MLX4_EN_FLAG_RX_FILTER_NEEDED &&
	    mlx4_en_rx_is_own(priv, va))
		return false;

	if (priv->validate_loopback) {
		mlx4_en_validate_loopback(priv, va);
		return false;
	}

	return true;
}

static __always_inline void mlx4_en_xdp_rx(struct mlx4_en_xdp_poll *poll,
					   struct mlx4_cqe *cqe,
					   struct mlx4_en_rx_alloc *frags)
{
	void *va = page_address(frags->page);
	unsigned int len;

	net_prefetch(va + XDP_PACKET_HEADROOM);

	if (unlikely(mlx4_en_rx_is_bad(poll->priv, cqe)) ||
	    (unlikely(poll->inspect) && !mlx4_en_xdp_is_ours(poll, frags))) {
		poll->ignored++;
		return;
	}

	len = be32_to_cpu(cqe->byte_cnt) - poll->fcs_del;
	poll->frame.cqe = cqe;
	if (likely(frags->xdp))
		mlx4_en_xdp_frame(poll, frags, va, len);
	else
		mlx4_en_xdp_other_frame(poll, frags, len);
}

static void mlx4_en_xdp_count(const struct mlx4_en_xdp_poll *poll, int polled)
{
	struct mlx4_en_rx_ring *ring = poll->ring;
	int i;

	ring->packets += polled - poll->ignored - poll->unseen;
	ring->bytes += poll->bytes;
	ring->dropped += poll->unseen + poll->dropped;
	for (i = 0; i < NUM_XDP_STATS; i++)
		ring->xdp_stats.frames[i] += poll->verdicts[i];
}

/**
 * mlx4_en_xdp_process_rx_cq - receive what the card has written
 * @priv: the port, which is up
 * @cq: completion queue of the ring
 * @prog: program to run, or NULL while its last descriptors are used up
 * @budget: how many frames at most
 *
 * Runs in NAPI context.
 *
 * Return: number of completions.
 */
int mlx4_en_xdp_process_rx_cq(struct mlx4_en_priv *priv, struct mlx4_en_cq *cq,
			      struct bpf_prog *prog, int budget)
{
	struct mlx4_en_rx_ring *ring = priv->rx_ring[cq->ring];
	struct mlx4_en_xdp_poll poll = {
		.priv = priv,
		.ring = ring,
		.cq = cq,
		.prog = prog,
		.fcs_del = ring->fcs_del,
		.inspect = priv->flags & MLX4_EN_FLAG_RX_FILTER_NEEDED ||
			   priv->validate_loopback,
		.sync = dma_dev_need_sync(priv->ddev),
	};
	u32 cons = cq->mcq.cons_index;
	int polled;

	xdp_init_buff(&poll.frame.xdp, PAGE_SIZE, &ring->xdp_rxq);

	for (polled = 0; polled < budget; polled++, cons++) {
		int index = cons & ring->size_mask;
		struct mlx4_cqe *cqe;

		cqe = mlx4_en_get_cqe(cq->buf, index, priv->cqe_size) +
		      priv->cqe_factor;
		if (!XNOR(cqe->owner_sr_opcode & MLX4_CQE_OWNER_MASK,
			  cons & cq->size))
			break;

		/* no other field of the CQE before its owner */
		dma_rmb();

		mlx4_en_xdp_rx(&poll, cqe, mlx4_en_rx_frags(priv, ring, index));
	}

	if (poll.redirected)
		xdp_do_flush();
	if (poll.sent)
		mlx4_en_xmit_doorbell(ring->xdp_tx_ring);

	if (polled) {
		mlx4_en_xdp_count(&poll, polled);
		cq->mcq.cons_index = cons;
		mlx4_cq_set_ci(&cq->mcq);
		wmb(); /* ensure HW sees CQ consumer before we post new buffers */
		ring->cons = cons;
	}

	mlx4_en_xdp_refill(priv, ring, prog);

	return polled;
}
