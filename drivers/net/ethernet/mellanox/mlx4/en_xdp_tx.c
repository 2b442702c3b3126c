// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Sending for XDP: frames that a program sends back, and frames from others.
 *
 * While a program is attached there is a transmit ring for each receive ring.
 * The receive ring's poll sends back on its own; ndo_xdp_xmit() takes the one of
 * its CPU's number. Either holds the ring's xdp_lock to write descriptors.
 *
 * Completions are processed by the poll of the receive ring, without the lock:
 * it is the only consumer. The completion queue is armed all the time, so that a
 * frame from elsewhere, whose pages are not ours to keep, is given back soon on
 * a port that receives nothing. An event fires once; the poll arms again when it
 * has nothing left to do.
 *
 * A frame that was sent back is pages of the receive ring's page_pool, mapped
 * already; its tx_info has nr_maps 0. Others are unmapped and returned.
 */

#include <linux/bpf_trace.h>
#include <linux/etherdevice.h>
#include <linux/mlx4/qp.h>
#include <net/page_pool/helpers.h>
#include <net/xdp.h>

#include "mlx4_en.h"

static struct skb_shared_info *mlx4_en_xdp_shinfo(struct page *page)
{
	return page_address(page) + MLX4_EN_XDP_FRAME_SIZE;
}

/* Like mlx4_en_xmit(): the card's switch looks at the address in the WQE. */
static void mlx4_en_xdp_set_dmac(struct mlx4_wqe_ctrl_seg *ctrl,
				 const void *data)
{
	const struct ethhdr *ethh = data;

	ctrl->srcrb_flags16[0] = get_unaligned((__be16 *)ethh->h_dest);
	ctrl->imm = get_unaligned((__be32 *)(ethh->h_dest + 2));
}

/* The i-th data segment of the next descriptor. A descriptor may go over the end
 * of the ring, a segment does not.
 */
static struct mlx4_wqe_data_seg *
mlx4_en_xdp_seg(const struct mlx4_en_tx_ring *ring, int i)
{
	u32 at = (ring->prod & ring->size_mask) << LOG_TXBB_SIZE;

	at += CTRL_SIZE + i * DS_SIZE;

	return ring->buf + (at & ((ring->size << LOG_TXBB_SIZE) - 1));
}

static void mlx4_en_xdp_set_seg(struct mlx4_en_tx_ring *ring, int i,
				dma_addr_t dma, unsigned int len)
{
	struct mlx4_wqe_data_seg *seg = mlx4_en_xdp_seg(ring, i);

	seg->addr = cpu_to_be64(dma);
	seg->lkey = ring->mr_key;
	/* the byte count may stand where the card looks for a stamp */
	dma_wmb();
	seg->byte_count = cpu_to_be32(len);
}

static struct mlx4_en_tx_info *
mlx4_en_xdp_next_info(const struct mlx4_en_tx_ring *ring)
{
	return &ring->tx_info[ring->prod & ring->size_mask];
}

/* Hands the descriptor of which all segments are written to the card. */
static void mlx4_en_xdp_post_desc(struct mlx4_en_priv *priv,
				  struct mlx4_en_tx_ring *ring, int segs,
				  const void *data, unsigned int len)
{
	struct mlx4_en_tx_info *info = mlx4_en_xdp_next_info(ring);
	unsigned int size = CTRL_SIZE + segs * DS_SIZE;
	u32 index = ring->prod & ring->size_mask;
	struct mlx4_en_tx_desc *desc;
	__be32 owner;

	info->nr_txbb = DIV_ROUND_UP(size, TXBB_SIZE);
	info->nr_bytes = max_t(unsigned int, len, ETH_ZLEN);
	info->ts_requested = 0;

	desc = ring->buf + (index << LOG_TXBB_SIZE);
	desc->ctrl.qpn_vlan = (union mlx4_wqe_qpn_vlan) {
		.fence_size = (size / 16) & 0x3f,
	};
	desc->ctrl.srcrb_flags = priv->ctrl_flags;
	if (unlikely(priv->flags & MLX4_EN_FLAG_ENABLE_HW_LOOPBACK))
		mlx4_en_xdp_set_dmac(&desc->ctrl, data);

	owner = cpu_to_be32(MLX4_OPCODE_SEND |
			    (ring->prod & ring->size ?
			     MLX4_EN_BIT_DESC_OWN : 0));

	ring->packets++;
	ring->bytes += info->nr_bytes;
	ring->xmit_more++;
	WRITE_ONCE(ring->prod, ring->prod + info->nr_txbb);

	/* the rest of the descriptor before its owner */
	dma_wmb();
	desc->ctrl.owner_opcode = owner;
}

static bool mlx4_en_xdp_ring_full(const struct mlx4_en_tx_ring *ring)
{
	return ring->prod - READ_ONCE(ring->cons) > ring->full_size;
}

/**
 * mlx4_en_xdp_xmit_back - send a frame out of the port that it came in on
 * @priv: the port
 * @rx_ring: receive ring whose poll this is
 * @xdp: the frame, whose pages are taken over
 *
 * The caller rings the doorbell, once per poll.
 *
 * Return: false where there is no room; the frame stays the caller's.
 */
bool mlx4_en_xdp_xmit_back(struct mlx4_en_priv *priv,
			   struct mlx4_en_rx_ring *rx_ring,
			   struct xdp_buff *xdp)
{
	struct mlx4_en_tx_ring *ring = rx_ring->xdp_tx_ring;
	unsigned int len = xdp->data_end - xdp->data;
	struct page *page = virt_to_page(xdp->data);
	struct skb_shared_info *sinfo = NULL;
	struct mlx4_en_tx_info *info;
	int nr_frags = 0;
	dma_addr_t dma;
	int i;

	spin_lock(&ring->xdp_lock);
	if (unlikely(mlx4_en_xdp_ring_full(ring))) {
		spin_unlock(&ring->xdp_lock);
		return false;
	}

	if (unlikely(xdp_buff_has_frags(xdp))) {
		sinfo = xdp_get_shared_info_from_buff(xdp);
		nr_frags = sinfo->nr_frags;
	}

	info = mlx4_en_xdp_next_info(ring);
	info->page = page;
	info->nr_maps = 0;
	info->nr_frags = nr_frags;

	dma = page_pool_get_dma_addr(page) + offset_in_page(xdp->data);
	dma_sync_single_for_device(priv->ddev, dma, len, DMA_BIDIRECTIONAL);
	mlx4_en_xdp_set_seg(ring, 0, dma, len);

	for (i = 0; i < nr_frags; i++) {
		const skb_frag_t *frag = &sinfo->frags[i];

		dma = page_pool_get_dma_addr(skb_frag_page(frag)) +
		      skb_frag_off(frag);
		dma_sync_single_for_device(priv->ddev, dma, skb_frag_size(frag),
					   DMA_BIDIRECTIONAL);
		mlx4_en_xdp_set_seg(ring, 1 + i, dma, skb_frag_size(frag));
		len += skb_frag_size(frag);
	}

	mlx4_en_xdp_post_desc(priv, ring, 1 + nr_frags, xdp->data, len);
	spin_unlock(&ring->xdp_lock);

	return true;
}

/* The first segment's address is in tx_info, the others' in the descriptor. */
static void mlx4_en_xdp_unmap(struct mlx4_en_priv *priv,
			      struct mlx4_en_tx_ring *ring,
			      const struct mlx4_en_tx_info *info, u32 index)
{
	u32 mask = (ring->size << LOG_TXBB_SIZE) - 1;
	u32 at = index << LOG_TXBB_SIZE;
	int i;

	dma_unmap_single(priv->ddev, info->map0_dma, info->map0_byte_count,
			 DMA_TO_DEVICE);
	for (i = 1; i < info->nr_maps; i++) {
		struct mlx4_wqe_data_seg *seg;

		seg = ring->buf + ((at + CTRL_SIZE + i * DS_SIZE) & mask);
		dma_unmap_page(priv->ddev, be64_to_cpu(seg->addr),
			       be32_to_cpu(seg->byte_count), DMA_TO_DEVICE);
	}
}

static bool mlx4_en_xdp_map_frags(struct mlx4_en_priv *priv,
				  struct mlx4_en_tx_ring *ring,
				  struct mlx4_en_tx_info *info,
				  struct xdp_frame *xdpf)
{
	struct skb_shared_info *sinfo = xdp_get_shared_info_from_frame(xdpf);
	int i;

	for (i = 0; i < sinfo->nr_frags; i++) {
		const skb_frag_t *frag = &sinfo->frags[i];
		dma_addr_t dma;

		dma = skb_frag_dma_map(priv->ddev, frag, 0, skb_frag_size(frag),
				       DMA_TO_DEVICE);
		if (dma_mapping_error(priv->ddev, dma))
			return false;
		mlx4_en_xdp_set_seg(ring, 1 + i, dma, skb_frag_size(frag));
		info->nr_maps++;
	}

	return true;
}

static bool mlx4_en_xdp_xmit_frame(struct mlx4_en_priv *priv,
				   struct mlx4_en_tx_ring *ring,
				   struct xdp_frame *xdpf)
{
	struct mlx4_en_tx_info *info = mlx4_en_xdp_next_info(ring);
	dma_addr_t dma;

	dma = dma_map_single(priv->ddev, xdpf->data, xdpf->len, DMA_TO_DEVICE);
	if (dma_mapping_error(priv->ddev, dma))
		return false;

	info->xdpf = xdpf;
	info->map0_dma = dma;
	info->map0_byte_count = xdpf->len;
	info->nr_maps = 1;
	mlx4_en_xdp_set_seg(ring, 0, dma, xdpf->len);

	if (unlikely(xdp_frame_has_frags(xdpf)) &&
	    !mlx4_en_xdp_map_frags(priv, ring, info, xdpf)) {
		mlx4_en_xdp_unmap(priv, ring, info,
				  ring->prod & ring->size_mask);
		return false;
	}

	mlx4_en_xdp_post_desc(priv, ring, info->nr_maps, xdpf->data,
			      xdp_get_frame_len(xdpf));

	return true;
}

/**
 * mlx4_en_xdp_xmit - send frames that were redirected to this port
 * @dev: the port's device
 * @n: how many
 * @frames: the frames; those that are sent are taken over
 * @flags: XDP_XMIT_FLUSH
 *
 * Return: how many are sent, or a negative error code.
 */
int mlx4_en_xdp_xmit(struct net_device *dev, int n, struct xdp_frame **frames,
		     u32 flags)
{
	struct mlx4_en_priv *priv = netdev_priv(dev);
	struct mlx4_en_tx_ring *ring;
	int i;

	if (unlikely(flags & ~XDP_XMIT_FLAGS_MASK))
		return -EINVAL;

	/* Both are set when the rings run, and cleared before they are
	 * stopped. Who does that waits for this with synchronize_net().
	 */
	if (unlikely(!smp_load_acquire(&priv->port_up)))
		return -ENETDOWN;
	/* and there are rings */
	if (unlikely(!smp_load_acquire(&priv->xdp_enabled)))
		return -ENXIO;

	i = smp_processor_id() % priv->tx_ring_num[TX_XDP];
	ring = priv->tx_ring[TX_XDP][i];
	spin_lock(&ring->xdp_lock);
	for (i = 0; i < n; i++)
		if (mlx4_en_xdp_ring_full(ring) ||
		    !mlx4_en_xdp_xmit_frame(priv, ring, frames[i]))
			break;
	spin_unlock(&ring->xdp_lock);

	/* also where this time there was no room for one */
	if (flags & XDP_XMIT_FLUSH)
		mlx4_en_xmit_doorbell(ring);

	return i;
}

static void mlx4_en_xdp_put_sent_back(struct page_pool *pool,
				      const struct mlx4_en_tx_info *info,
				      bool napi)
{
	struct skb_shared_info *sinfo = mlx4_en_xdp_shinfo(info->page);
	int i;

	for (i = 0; i < info->nr_frags; i++)
		page_pool_put_full_page(pool, skb_frag_page(&sinfo->frags[i]),
					napi);
	page_pool_put_full_page(pool, info->page, napi);
}

/* The free_tx_desc of rings of this kind. napi_mode 0: the ring does not run. */
u32 mlx4_en_free_xdp_desc(struct mlx4_en_priv *priv,
			  struct mlx4_en_tx_ring *ring, int index,
			  u64 timestamp, int napi_mode)
{
	struct mlx4_en_tx_info *info = &ring->tx_info[index];

	if (!info->nr_maps) {
		mlx4_en_xdp_put_sent_back(ring->recycle_ring->pp, info,
					  napi_mode);
	} else {
		mlx4_en_xdp_unmap(priv, ring, info, index);
		xdp_return_frame(info->xdpf);
	}

	return info->nr_txbb;
}

/**
 * mlx4_en_xdp_poll_tx - process completions
 * @priv: the port
 * @ring: transmit ring of the receive ring whose poll this is
 * @budget: of the poll
 *
 * Return: whether all is done for now.
 */
bool mlx4_en_xdp_poll_tx(struct mlx4_en_priv *priv,
			 struct mlx4_en_tx_ring *ring, int budget)
{
	if (!mlx4_en_xdp_tx_pending(ring))
		return true;

	return mlx4_en_process_tx_cq(priv->dev, ring->xdp_cq, budget) < budget;
}

/* The poll has ended: have an event for what completes from now on. */
void mlx4_en_xdp_arm_tx(struct mlx4_en_priv *priv, struct mlx4_en_tx_ring *ring)
{
	struct mlx4_en_cq *cq = ring->xdp_cq;

	if (READ_ONCE(cq->xdp_fired)) {
		WRITE_ONCE(cq->xdp_fired, false);
		mlx4_en_arm_cq(priv, cq);
	}
}

/* An event: something was completed. */
void mlx4_en_xdp_tx_irq(struct mlx4_cq *mcq)
{
	struct mlx4_en_cq *cq = container_of(mcq, struct mlx4_en_cq, mcq);
	struct mlx4_en_priv *priv = netdev_priv(cq->dev);

	WRITE_ONCE(cq->xdp_fired, true);
	if (likely(priv->port_up))
		napi_schedule_irqoff(&priv->rx_cq[cq->ring]->napi);
}

/* Makes a transmit ring that is ready to run known to its receive ring. */
void mlx4_en_xdp_link_ring(struct mlx4_en_priv *priv, int i)
{
	struct mlx4_en_tx_ring *ring = priv->tx_ring[TX_XDP][i];

	ring->recycle_ring = priv->rx_ring[i];
	ring->xdp_cq = priv->tx_cq[TX_XDP][i];
	ring->free_tx_desc = mlx4_en_free_xdp_desc;

	/* paired with READ_ONCE() in mlx4_en_poll_rx_cq() */
	smp_store_release(&priv->rx_ring[i]->xdp_tx_ring, ring);
}
