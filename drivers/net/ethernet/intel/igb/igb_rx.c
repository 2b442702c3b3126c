// SPDX-License-Identifier: GPL-2.0
/* Receiving: from descriptors to frames, from frames to skbs.
 *
 * Every buffer is one page of the ring's page_pool, or two where the MTU makes
 * it worth it, laid out the same with a program or without:
 *
 *	| headroom | what the card writes, up to rx_buf_len | shared_info |
 *
 * A frame is looked at when its last descriptor has been written back. Until
 * then next_to_clean stays at its first, so nothing is kept between polls.
 *
 * A page belongs to its slot in rx_buffer_info, and is posted again from there
 * as it was, until a frame takes it along. That happens to the pages of all
 * fragments but the first before a program runs, since a program may free
 * them, and to the first one when the frame is passed on, sent or redirected.
 */

#include <linux/bpf_trace.h>
#include <linux/filter.h>
#include <linux/etherdevice.h>
#include <linux/prefetch.h>
#include <net/page_pool/helpers.h>
#include <net/xdp.h>

#include "e1000_hw.h"
#include "igb.h"

/* where in its page the card writes a frame */
#define IGB_RX_HEADROOM		(XDP_PACKET_HEADROOM + NET_IP_ALIGN)

/* A frame in one buffer, without an error and without a timestamp, has the first
 * of these bits alone in its descriptor. All others take the longer way.
 */
#define IGB_RX_PLAIN		E1000_RXD_STAT_EOP
#define IGB_RX_WAY_MASK		(E1000_RXD_STAT_EOP | E1000_RXDADV_STAT_TS | \
				 E1000_RXDADV_STAT_TSIP | \
				 E1000_RXDEXT_ERR_FRAME_ERR_MASK)

/* what is to be done with a frame that is not plain */
enum igb_rx_way {
	IGB_RX_WAIT,	/* the card has not written it to its end */
	IGB_RX_RUN,	/* a program may run */
	IGB_RX_STACK,	/* the stack wants it, with its error */
	IGB_RX_BAD,	/* nobody gets to see it */
};

/* what a poll has done, for the ring's statistics and its last steps */
struct igb_rx_work {
	unsigned int bytes;
	unsigned int bad;	/* frames with an error, dropped unseen */
	unsigned int xdp;	/* IGB_XDP_TX and IGB_XDP_REDIR */
	u16 count;		/* descriptors of a frame that is not plain */
	bool sync;		/* the device needs its buffers synced */
};

static struct page_pool *igb_new_page_pool(struct igb_ring *rx_ring,
					   unsigned int size)
{
	struct igb_q_vector *q_vector = rx_ring->q_vector;
	struct page_pool_params params = {
		.flags		= PP_FLAG_DMA_MAP | PP_FLAG_DMA_SYNC_DEV,
		.order		= get_order(size),
		.pool_size	= rx_ring->count,
		.nid		= NUMA_NO_NODE,
		.dev		= rx_ring->dev,
		/* the ring of the loopback test has no vector */
		.napi		= q_vector ? &q_vector->napi : NULL,
		.netdev		= rx_ring->netdev,
		.queue_idx	= rx_ring->queue_index,
		.dma_dir	= DMA_FROM_DEVICE,
		.offset		= IGB_RX_HEADROOM,
		.max_len	= IGB_RX_BUF_LEN(size),
	};
	struct page_pool *pool;
	int err;

	pool = page_pool_create(&params);
	if (IS_ERR(pool))
		return pool;

	err = xdp_reg_page_pool(pool);
	if (err) {
		page_pool_destroy(pool);
		return ERR_PTR(err);
	}

	return pool;
}

/* The ring's xdp_rxq refers to its pool until the next igb_configure_rx_ring(). */
static void igb_free_page_pool(struct page_pool *pool)
{
	xdp_unreg_page_pool(pool);
	page_pool_destroy(pool);
}

static unsigned int igb_rx_buf_size(unsigned int mtu)
{
	return mtu > IGB_RX_ONE_BUF_MTU(SZ_4K) ? SZ_8K : SZ_4K;
}

static void igb_set_page_pool(struct igb_ring *rx_ring, struct page_pool *pool,
			      unsigned int size)
{
	rx_ring->page_pool = pool;
	rx_ring->rx_buf_size = PAGE_SIZE << get_order(size);
	rx_ring->rx_buf_len = IGB_RX_BUF_LEN(size);
	/* programs may use the rest of a frame's last buffer */
	rx_ring->xdp_rxq.frag_size = rx_ring->rx_buf_size;
}

/**
 * igb_create_page_pool - make the pool that a receive ring takes its pages from
 * @rx_ring: ring that has none
 * @mtu: in bytes
 *
 * The pool is registered with XDP once, while the ring's xdp_rxq changes
 * between it and AF_XDP.
 *
 * Return: 0 or a negative error code.
 */
int igb_create_page_pool(struct igb_ring *rx_ring, unsigned int mtu)
{
	unsigned int size = igb_rx_buf_size(mtu);
	struct page_pool *pool;

	pool = igb_new_page_pool(rx_ring, size);
	if (IS_ERR(pool))
		return PTR_ERR(pool);

	igb_set_page_pool(rx_ring, pool, size);

	return 0;
}

/**
 * igb_change_page_pools - make the buffers what another MTU needs
 * @adapter: board private structure, with rings that have their pools and do
 *	not run
 * @mtu: in bytes
 *
 * Return: 0 or a negative error code, with which the pools are as they were.
 */
int igb_change_page_pools(struct igb_adapter *adapter, unsigned int mtu)
{
	struct page_pool *pools[ARRAY_SIZE(adapter->rx_ring)];
	unsigned int size = igb_rx_buf_size(mtu);
	int i, err;

	if (adapter->rx_ring[0]->rx_buf_len == IGB_RX_BUF_LEN(size))
		return 0;

	for (i = 0; i < adapter->num_rx_queues; i++) {
		pools[i] = igb_new_page_pool(adapter->rx_ring[i], size);
		if (IS_ERR(pools[i])) {
			err = PTR_ERR(pools[i]);
			goto err_free;
		}
	}

	for (i = 0; i < adapter->num_rx_queues; i++) {
		igb_destroy_page_pool(adapter->rx_ring[i]);
		igb_set_page_pool(adapter->rx_ring[i], pools[i], size);
	}

	return 0;

err_free:
	while (i--)
		igb_free_page_pool(pools[i]);

	return err;
}

/**
 * igb_destroy_page_pool - give back the pool of a receive ring, if it has one
 * @rx_ring: ring that is clean and does not run
 */
void igb_destroy_page_pool(struct igb_ring *rx_ring)
{
	if (!rx_ring->page_pool)
		return;

	igb_free_page_pool(rx_ring->page_pool);
	rx_ring->page_pool = NULL;
}

static bool igb_fill_rx_buffer(struct igb_ring *rx_ring,
			       struct igb_rx_buffer *buffer)
{
	struct page *page = page_pool_dev_alloc_pages(rx_ring->page_pool);

	if (unlikely(!page)) {
		rx_ring->rx_stats.alloc_failed++;
		set_bit(IGB_RING_FLAG_RX_ALLOC_FAILED, &rx_ring->flags);
		return false;
	}

	buffer->va = page_address(page);
	buffer->dma = page_pool_get_dma_addr(page) + IGB_RX_HEADROOM;

	return true;
}

/**
 * igb_alloc_rx_buffers - post receive buffers
 * @rx_ring: ring to post them to
 * @count: how many, at most igb_desc_unused()
 *
 * Slots that have their page still are posted as they are. Fewer are posted
 * where pages run out; the watchdog tries again.
 */
void igb_alloc_rx_buffers(struct igb_ring *rx_ring, u16 count)
{
	u16 i = rx_ring->next_to_use;
	struct igb_rx_buffer *buffer = &rx_ring->rx_buffer_info[i];
	union e1000_adv_rx_desc *desc = IGB_RX_DESC(rx_ring, i);

	if (!count)
		return;

	do {
		if (unlikely(!buffer->va) &&
		    !igb_fill_rx_buffer(rx_ring, buffer))
			break;

		/* Both fields: the write-back has overwritten them, and the
		 * second one clears the length that tells a written descriptor.
		 */
		desc->read.pkt_addr = cpu_to_le64(buffer->dma);
		desc->read.hdr_addr = 0;

		buffer++;
		desc++;
		if (unlikely(++i == rx_ring->count)) {
			i = 0;
			buffer = rx_ring->rx_buffer_info;
			desc = IGB_RX_DESC(rx_ring, 0);
		}
	} while (--count);

	/* the poll must stop here */
	desc->wb.upper.length = 0;

	if (i == rx_ring->next_to_use)
		return;

	rx_ring->next_to_use = i;

	/* descriptors before the tail that makes the card fetch them */
	dma_wmb();
	writel(i, rx_ring->tail);
}

/**
 * igb_clean_rx_ring - take back all buffers of a stopped receive ring
 * @rx_ring: ring to clean
 */
void igb_clean_rx_ring(struct igb_ring *rx_ring)
{
	u16 i;

	if (rx_ring->xsk_pool) {
		igb_clean_rx_ring_zc(rx_ring);
	} else if (rx_ring->rx_buffer_info) {
		for (i = 0; i < rx_ring->count; i++) {
			struct igb_rx_buffer *buffer;

			buffer = &rx_ring->rx_buffer_info[i];
			if (buffer->va)
				page_pool_put_full_page(rx_ring->page_pool,
							virt_to_page(buffer->va),
							false);
			buffer->va = NULL;
		}
	}

	rx_ring->next_to_clean = 0;
	rx_ring->next_to_use = 0;
}

static u16 igb_next_rx(const struct igb_ring *rx_ring, u16 i)
{
	return i + 1 == rx_ring->count ? 0 : i + 1;
}

/* The last descriptor of the frame that begins at @i, or NULL while the card
 * has not written it. @count is set to how many the frame has.
 */
static union e1000_adv_rx_desc *igb_rx_frame_end(struct igb_ring *rx_ring,
						 u16 i, u16 *count)
{
	union e1000_adv_rx_desc *desc = IGB_RX_DESC(rx_ring, i);

	*count = 1;
	while (!igb_test_staterr(desc, E1000_RXD_STAT_EOP)) {
		i = igb_next_rx(rx_ring, i);
		desc = IGB_RX_DESC(rx_ring, i);
		if (!desc->wb.upper.length)
			return NULL;
		/* the other fields after the length, as in the poll */
		dma_rmb();
		(*count)++;
	}

	return desc;
}

/**
 * igb_rx_timestamp - take a frame's timestamp from where the card has put it
 * @rx_ring: ring that the frame came in on
 * @desc: first descriptor of the frame
 * @end: last descriptor of the frame
 * @va: what the card has written first
 * @timestamp: set where the frame has one
 *
 * To be called for each frame, whatever becomes of it: while the timestamp is
 * in the card's register no other frame gets one.
 *
 * Return: length of the timestamp in front of the frame, in bytes.
 */
unsigned int igb_rx_timestamp(struct igb_ring *rx_ring,
			      union e1000_adv_rx_desc *desc,
			      union e1000_adv_rx_desc *end, void *va,
			      ktime_t *timestamp)
{
	if (igb_test_staterr(desc, E1000_RXDADV_STAT_TSIP))
		return igb_ptp_rx_pktstamp(rx_ring->q_vector, va, timestamp);

	if (unlikely(igb_test_staterr(end, E1000_RXDADV_STAT_TS)))
		*timestamp = igb_ptp_rx_rgtstamp(rx_ring->q_vector);

	return 0;
}

static void igb_rx_sync(struct igb_ring *rx_ring,
			const struct igb_rx_work *work,
			struct igb_rx_buffer *buffer, unsigned int size)
{
	if (unlikely(work->sync))
		dma_sync_single_range_for_cpu(rx_ring->dev, buffer->dma, 0,
					      size, DMA_FROM_DEVICE);
}

/* Takes the pages of all buffers of a frame but the first to the xdp_buff.
 * Returns false where there are more than an skb can hold.
 */
static bool igb_rx_add_frags(struct igb_ring *rx_ring,
			     const struct igb_rx_work *work,
			     struct xdp_buff *xdp,
			     union e1000_adv_rx_desc *end, u16 i)
{
	union e1000_adv_rx_desc *desc;

	do {
		struct igb_rx_buffer *buffer;
		unsigned int size;

		i = igb_next_rx(rx_ring, i);
		desc = IGB_RX_DESC(rx_ring, i);
		buffer = &rx_ring->rx_buffer_info[i];
		size = le16_to_cpu(desc->wb.upper.length);

		igb_rx_sync(rx_ring, work, buffer, size);
		if (!xdp_buff_add_frag(xdp, page_to_netmem(virt_to_page(buffer->va)),
				       IGB_RX_HEADROOM, size, rx_ring->rx_buf_size))
			return false;
		buffer->va = NULL;
	} while (desc != end);

	return true;
}

static void igb_rx_put_frags(struct igb_ring *rx_ring, struct xdp_buff *xdp)
{
	struct skb_shared_info *sinfo = xdp_get_shared_info_from_buff(xdp);
	int i;

	for (i = 0; i < sinfo->nr_frags; i++)
		page_pool_put_full_page(rx_ring->page_pool,
					skb_frag_page(&sinfo->frags[i]), true);
}

/* The buffer stays in its slot, ready for the card. */
static void igb_rx_repost(struct igb_ring *rx_ring,
			  const struct igb_rx_work *work,
			  struct igb_rx_buffer *buffer)
{
	if (unlikely(work->sync))
		dma_sync_single_range_for_device(rx_ring->dev, buffer->dma, 0,
						 rx_ring->rx_buf_len,
						 DMA_FROM_DEVICE);
}

/* The frame ends here: what it has taken along goes back to the pool. Inline,
 * since a call is a fifth of what a program that drops a frame costs.
 */
static __always_inline void igb_rx_drop(struct igb_ring *rx_ring,
					const struct igb_rx_work *work,
					struct xdp_buff *xdp,
					struct igb_rx_buffer *buffer)
{
	if (unlikely(xdp_buff_has_frags(xdp)))
		igb_rx_put_frags(rx_ring, xdp);
	igb_rx_repost(rx_ring, work, buffer);
}

/* Runs the program. IGB_XDP_PASS, or what became of the frame instead. */
static unsigned int igb_rx_run_xdp(struct igb_ring *rx_ring,
				   struct bpf_prog *prog, struct xdp_buff *xdp)
{
	struct net_device *netdev = rx_ring->netdev;
	unsigned int result = IGB_XDP_CONSUMED;
	enum igb_xdp_stat stat;
	u32 act;

	act = bpf_prog_run_xdp(prog, xdp);
	switch (act) {
	case XDP_PASS:
		stat = IGB_XDP_STAT_PASS;
		result = IGB_XDP_PASS;
		break;
	case XDP_DROP:
		stat = IGB_XDP_STAT_DROP;
		break;
	case XDP_TX:
		stat = IGB_XDP_STAT_TX;
		result = igb_xdp_xmit_back(netdev_priv(netdev), xdp);
		if (result == IGB_XDP_TX)
			break;
		stat = IGB_XDP_STAT_TX_FULL;
		goto failure;
	case XDP_REDIRECT:
		stat = IGB_XDP_STAT_REDIRECT;
		result = IGB_XDP_REDIR;
		if (!xdp_do_redirect(netdev, xdp, prog))
			break;
		stat = IGB_XDP_STAT_REDIRECT_FAIL;
		goto failure;
	default:
		bpf_warn_invalid_xdp_action(netdev, prog, act);
		fallthrough;
	case XDP_ABORTED:
		stat = IGB_XDP_STAT_ABORTED;
failure:
		trace_xdp_exception(netdev, prog, act);
		result = IGB_XDP_CONSUMED;
		break;
	}
	igb_xdp_count(rx_ring, stat);

	return result;
}

/* What xdp_build_skb_from_buff() does, without what a frame in one buffer of a
 * page_pool does not need. Of the callers one has constants.
 */
static __always_inline struct sk_buff *
igb_rx_build_skb(struct igb_ring *rx_ring, void *va, unsigned int offset,
		 unsigned int len)
{
	struct sk_buff *skb = napi_build_skb(va, rx_ring->rx_buf_size);

	if (unlikely(!skb))
		return NULL;

	skb_reserve(skb, offset);
	__skb_put(skb, len);
	skb_mark_for_recycle(skb);
	skb_record_rx_queue(skb, rx_ring->queue_index);
	skb->protocol = eth_type_trans(skb, rx_ring->netdev);

	return skb;
}

/* ... and for a frame in several */
static struct sk_buff *igb_rx_build_frags_skb(struct igb_ring *rx_ring,
					      const struct xdp_buff *xdp)
{
	const struct skb_shared_info *sinfo;
	struct sk_buff *skb;
	u8 nr_frags;

	/* what is not cleared when the skb is built is still to be read */
	sinfo = xdp_get_shared_info_from_buff(xdp);
	nr_frags = sinfo->nr_frags;

	skb = igb_rx_build_skb(rx_ring, xdp->data_hard_start,
			       xdp->data - xdp->data_hard_start,
			       xdp->data_end - xdp->data);
	if (unlikely(!skb))
		return NULL;

	xdp_update_skb_frags_info(skb, nr_frags, sinfo->xdp_frags_size,
				  sinfo->xdp_frags_truesize,
				  xdp_buff_get_skb_flags(xdp));

	return skb;
}

static void igb_rx_deliver(struct igb_ring *rx_ring, struct sk_buff *skb,
			   union e1000_adv_rx_desc *end)
{
	igb_process_skb_fields(rx_ring, end, skb);
	napi_gro_receive(&rx_ring->q_vector->napi, skb);
}

/* A plain frame where no program is attached. */
static void igb_rx_pass_plain(struct igb_ring *rx_ring,
			      const struct igb_rx_work *work,
			      struct igb_rx_buffer *buffer,
			      union e1000_adv_rx_desc *desc, unsigned int size)
{
	struct sk_buff *skb;

	skb = igb_rx_build_skb(rx_ring, buffer->va, IGB_RX_HEADROOM, size);
	if (unlikely(!skb)) {
		rx_ring->rx_stats.alloc_failed++;
		igb_rx_repost(rx_ring, work, buffer);
		return;
	}

	buffer->va = NULL;
	igb_rx_deliver(rx_ring, skb, desc);
}

/* A frame that a program, or what made it not plain, may have changed. */
static void igb_rx_pass(struct igb_ring *rx_ring,
			const struct igb_rx_work *work,
			struct igb_xdp_buff *frame,
			struct igb_rx_buffer *buffer)
{
	struct xdp_buff *xdp = &frame->xdp;
	unsigned int metasize = xdp->data - xdp->data_meta;
	struct sk_buff *skb;

	if (unlikely(xdp_buff_has_frags(xdp)))
		skb = igb_rx_build_frags_skb(rx_ring, xdp);
	else
		skb = igb_rx_build_skb(rx_ring, xdp->data_hard_start,
				       xdp->data - xdp->data_hard_start,
				       xdp->data_end - xdp->data);
	if (unlikely(!skb)) {
		rx_ring->rx_stats.alloc_failed++;
		igb_rx_drop(rx_ring, work, xdp, buffer);
		return;
	}

	buffer->va = NULL;
	if (metasize)
		skb_metadata_set(skb, metasize);
	if (frame->timestamp)
		skb_hwtstamps(skb)->hwtstamp = frame->timestamp;
	igb_rx_deliver(rx_ring, skb, frame->end);
}

static void igb_rx_prepare(struct igb_xdp_buff *frame,
			   struct igb_rx_buffer *buffer,
			   union e1000_adv_rx_desc *end, unsigned int size)
{
	xdp_prepare_buff(&frame->xdp, buffer->va, IGB_RX_HEADROOM, size, true);
	xdp_buff_clear_frags_flag(&frame->xdp);
	frame->end = end;
	frame->timestamp = 0;
}

/* A frame with a timestamp, several buffers or an error. */
static enum igb_rx_way igb_rx_prepare_other(struct igb_ring *rx_ring,
					    struct bpf_prog *prog,
					    struct igb_xdp_buff *frame,
					    struct igb_rx_work *work, u16 i)
{
	union e1000_adv_rx_desc *end, *desc = IGB_RX_DESC(rx_ring, i);
	struct xdp_buff *xdp = &frame->xdp;

	end = igb_rx_frame_end(rx_ring, i, &work->count);
	if (!end)
		return IGB_RX_WAIT;

	igb_rx_prepare(frame, &rx_ring->rx_buffer_info[i], end,
		       le16_to_cpu(desc->wb.upper.length));
	xdp->data += igb_rx_timestamp(rx_ring, desc, end, xdp->data,
				      &frame->timestamp);
	xdp->data_meta = xdp->data;

	if (desc != end) {
		/* longer than the MTU: such a program has no way to see it */
		if (prog && !prog->aux->xdp_has_frags)
			return IGB_RX_BAD;
		if (!igb_rx_add_frags(rx_ring, work, xdp, end, i))
			return IGB_RX_BAD;
	}

	if (!igb_test_staterr(end, E1000_RXDEXT_ERR_FRAME_ERR_MASK))
		return IGB_RX_RUN;

	return rx_ring->netdev->features & NETIF_F_RXALL ? IGB_RX_STACK :
							   IGB_RX_BAD;
}

/* One frame that begins with @desc, at @i. Returns how many descriptors it has,
 * 0 while the card has not written all of them.
 */
static u16 igb_rx_frame(struct igb_ring *rx_ring, struct bpf_prog *prog,
			struct igb_xdp_buff *frame, struct igb_rx_work *work,
			union e1000_adv_rx_desc *desc, u16 i)
{
	struct igb_rx_buffer *buffer = &rx_ring->rx_buffer_info[i];
	u32 status = le32_to_cpu(desc->wb.upper.status_error);
	unsigned int size = le16_to_cpu(desc->wb.upper.length);
	enum igb_rx_way way;
	u16 count = 1;

	igb_rx_sync(rx_ring, work, buffer, size);
	net_prefetch(buffer->va + IGB_RX_HEADROOM);

	if (unlikely((status & IGB_RX_WAY_MASK) != IGB_RX_PLAIN)) {
		way = igb_rx_prepare_other(rx_ring, prog, frame, work, i);
		if (way == IGB_RX_WAIT)
			return 0;
		count = work->count;
		if (way == IGB_RX_BAD) {
			igb_rx_drop(rx_ring, work, &frame->xdp, buffer);
			work->bad++;
			return count;
		}
		work->bytes += xdp_get_buff_len(&frame->xdp);
		if (!prog || way == IGB_RX_STACK) {
			igb_rx_pass(rx_ring, work, frame, buffer);
			return count;
		}
	} else {
		work->bytes += size;
		if (!prog) {
			igb_rx_pass_plain(rx_ring, work, buffer, desc,
					  size);
			return 1;
		}
		igb_rx_prepare(frame, buffer, desc, size);
	}

	switch (igb_rx_run_xdp(rx_ring, prog, &frame->xdp)) {
	case IGB_XDP_PASS:
		igb_rx_pass(rx_ring, work, frame, buffer);
		break;
	case IGB_XDP_CONSUMED:
		igb_rx_drop(rx_ring, work, &frame->xdp, buffer);
		break;
	case IGB_XDP_TX:
		buffer->va = NULL;
		work->xdp |= IGB_XDP_TX;
		break;
	case IGB_XDP_REDIR:
		buffer->va = NULL;
		work->xdp |= IGB_XDP_REDIR;
		break;
	}

	return count;
}

/**
 * igb_clean_rx_irq - receive what the card has written
 * @q_vector: vector of the ring
 * @budget: how many frames at most; 0 when netpoll calls, maybe with interrupts
 *	off, where the page_pool must not be touched
 *
 * Runs in NAPI context.
 *
 * Return: number of frames received.
 */
int igb_clean_rx_irq(struct igb_q_vector *q_vector, const int budget)
{
	struct igb_ring *rx_ring = q_vector->rx.ring;
	u16 unused = igb_desc_unused(rx_ring);
	struct igb_rx_work work = {
		.sync = dma_dev_need_sync(rx_ring->dev),
	};
	u16 i = rx_ring->next_to_clean;
	struct igb_xdp_buff frame;
	struct bpf_prog *prog;
	int frames = 0;

	if (unlikely(!budget))
		return 0;

	/* paired with WRITE_ONCE() and synchronize_net() in
	 * igb_xdp_set_rings(), which waits for this poll to end
	 */
	prog = READ_ONCE(rx_ring->xdp_prog);
	xdp_init_buff(&frame.xdp, rx_ring->rx_buf_size, &rx_ring->xdp_rxq);

	while (likely(frames < budget)) {
		union e1000_adv_rx_desc *desc;
		u16 count;

		if (unused >= IGB_RX_BUFFER_WRITE) {
			igb_alloc_rx_buffers(rx_ring, unused);
			unused = 0;
		}

		desc = IGB_RX_DESC(rx_ring, i);
		if (!desc->wb.upper.length)
			break;

		/* no other field of the descriptor before its length */
		dma_rmb();

		count = igb_rx_frame(rx_ring, prog, &frame, &work, desc, i);
		if (unlikely(!count))
			break;
		frames++;

		unused += count;
		i += count;
		if (i >= rx_ring->count)
			i -= rx_ring->count;
	}

	rx_ring->next_to_clean = i;

	if (work.xdp)
		igb_finalize_xdp(q_vector->adapter, work.xdp);

	rx_ring->rx_stats.errors += work.bad;
	igb_update_rx_stats(q_vector, frames - work.bad, work.bytes);
	igb_alloc_rx_buffers(rx_ring, unused);

	return frames;
}
