// SPDX-License-Identifier: GPL-2.0
/*
 * The receive side: from a frame on the wire to buffers and a completion.
 *
 *   MAC (length, FCS, counters) -> steering -> RSS -> receive ring -> scatter -> CQE
 *
 * A ring that has no buffer may hold the frame up, and with it the wire, where
 * pause allows it; otherwise the frame is dropped and counted.
 */
#include "fault.h"
#include "steer.h"

#define MAX_PIECES	3
#define MAX_STRIDE	2048
#define VENDOR_MODEL	0x77

/* What goes into the buffers, in pieces: a tag may be taken out, an FCS added. */
struct cargo {
	struct { const u8 *data; u32 len; } piece[MAX_PIECES];
	unsigned int count;
	u32 len;
	u8 fcs[ETH_FCS];
};

struct arrival {
	struct frame *frame;
	struct headers h;
	u32 hash;
};

static bool mac_accepts(struct port *port, const struct frame *frame)
{
	u32 len = frame->len + ETH_FCS;

	if (!frame->looped)
		stats_rx(port, frame);
	if (frame->bad_fcs && !port->ignore_fcs)
		return false;
	return len <= port->mtu;
}

static void add_piece(struct cargo *cargo, const u8 *data, u32 len)
{
	cargo->piece[cargo->count].data = data;
	cargo->piece[cargo->count++].len = len;
	cargo->len += len;
}

static bool strips(const struct qp *qp, const struct headers *h)
{
	return qp->strip_vlan && (h->cvlan || h->svlan);
}

static void load(struct cargo *cargo, const struct qp *qp, const struct arrival *a)
{
	const struct frame *frame = a->frame;
	u32 check;
	int i;

	memset(cargo, 0, sizeof(*cargo));
	if (strips(qp, &a->h)) {
		add_piece(cargo, frame->data, ETH_TYPE);
		add_piece(cargo, frame->data + ETH_TYPE + VLAN_TAG,
			  frame->len - ETH_TYPE - VLAN_TAG);
	} else {
		add_piece(cargo, frame->data, frame->len);
	}
	if (!qp->keep_fcs)
		return;
	/* of the frame as it was on the wire, tag and all */
	check = fcs(frame->data, frame->len);
	if (frame->bad_fcs)
		check = ~check;
	for (i = 0; i < ETH_FCS; i++)
		cargo->fcs[i] = (u8)(check >> 8 * i);
	add_piece(cargo, cargo->fcs, ETH_FCS);
}

static u32 take(struct cargo *cargo, const u8 **data, u32 want)
{
	unsigned int i;

	for (i = 0; i < cargo->count; i++) {
		u32 part = MIN(want, cargo->piece[i].len);

		if (!part)
			continue;
		*data = cargo->piece[i].data;
		cargo->piece[i].data += part;
		cargo->piece[i].len -= part;
		return part;
	}
	return 0;
}

/* Fills one scatter entry as far as the cargo goes. */
static bool fill(struct card *card, const struct qp *qp, u32 lkey, u64 addr, u32 len,
		 struct cargo *cargo)
{
	while (len) {
		const u8 *data;
		u32 part = take(cargo, &data, len);

		if (!part)
			return true;
		if (!mr_write(card, qp, lkey, addr, data, part))
			return false;
		addr += part;
		len -= part;
	}
	return true;
}

static void check_page(const struct card *card, const struct qp *qp, u64 addr, u32 len)
{
	u32 page = card->opt.rx_page;

	if (page && len && (addr & (page - 1)) + len > page)
		violation(V_RX_CROSSES_PAGE, "QP 0x%x WQE 0x%x: 0x%llx + %u", qp->qpn, qp->rq.index,
			  (unsigned long long)addr, len);
}

static bool is_padding(const u8 *entry)
{
	return !get_be32(entry, SEG_BYTE_COUNT) && get_be32(entry, SEG_LKEY) == LKEY_INVALID;
}

/* Looks at all entries, also at those that this frame leaves empty. */
static bool scatter(struct card *card, const struct qp *qp, const u8 *wqe, struct cargo *cargo,
		    u32 *capacity)
{
	u32 at;

	for (at = 0; at < 1u << qp->rq.log_stride; at += SEG_SIZE) {
		u32 len = get_be32(wqe + at, SEG_BYTE_COUNT);
		u64 addr = get_be64(wqe + at, SEG_ADDR);
		u32 lkey = get_be32(wqe + at, SEG_LKEY);

		if (is_padding(wqe + at))
			continue;
		if (!len || len & SEG_INLINE) {
			violation(V_RX_BAD_ENTRY, "QP 0x%x WQE 0x%x: byte_count 0x%x", qp->qpn,
				  qp->rq.index, len);
			return false;
		}
		check_page(card, qp, addr, len);
		if (!mr_check(card, qp, lkey, addr, len, true) ||
		    !fill(card, qp, lkey, addr, len, cargo))
			return false;
		*capacity += len;
	}
	return true;
}

static bool read_wqe(struct card *card, struct qp *qp, u8 *wqe)
{
	u32 mask = (1u << qp->rq.log_size) - 1;
	u32 at = (qp->rq.index & mask) << qp->rq.log_stride;

	return queue_read(card, &qp->mem, qp->rq.offset + at, wqe, 1u << qp->rq.log_stride);
}

/* Buffers that the driver has posted, from its doorbell record. */
static u32 posted(struct card *card, struct qp *qp)
{
	u8 raw[sizeof(u32)];
	u32 count;

	if (!mem_read(&card->mem, qp->db_rec, raw, sizeof(raw))) {
		violation(V_DMA_OUTSIDE, "QP 0x%x: doorbell record", qp->qpn);
		return 0;
	}
	/* pairs with the driver's barrier between the WQEs and the record */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	count = (get_be32(raw, 0) - qp->rq.index) & (u32)RQ_DB_REC_M;
	if (count > 1u << qp->rq.log_size) {
		violation(V_RX_PRODUCER, "QP 0x%x: %u posted in a ring of %u", qp->qpn, count,
			  1u << qp->rq.log_size);
		return 0;
	}
	return count;
}

static u16 status_of(const struct headers *h)
{
	u64 status = 0;

	if (h->ipv6)
		status |= CQE_STATUS_IPV6;
	else if (h->ipv4)
		status |= h->fragment ? CQE_STATUS_IPV4F : CQE_STATUS_IPV4;
	if (h->options)
		status |= CQE_STATUS_IPV4OPT;
	if (h->ip_ok)
		status |= CQE_STATUS_IPOK;
	if (!h->fragment && h->proto == PROTO_TCP && h->l4)
		status |= CQE_STATUS_TCP;
	if (!h->fragment && h->proto == PROTO_UDP && h->l4)
		status |= CQE_STATUS_UDP;
	return (u16)status;
}

static void describe(struct completion *c, const struct arrival *a)
{
	const struct headers *h = &a->h;

	c->vlan_flags = (u32)(h->cvlan ? CQE_CVLAN_PRESENT : h->svlan ? CQE_SVLAN_PRESENT : 0);
	c->vlan_tci = h->tci;
	c->hash = a->hash;
	c->status = status_of(h);
	c->ipv6_ext = h->ipv6_ext;
	c->badfcs_enc = a->frame->bad_fcs ? CQE_BAD_FCS : 0;
	if (h->l3)
		c->checksum = csum_receive(h, a->frame->data);
	if (c->checksum == CQE_CSUM_GOOD && c->status & (CQE_STATUS_TCP | CQE_STATUS_UDP))
		c->badfcs_enc |= CQE_L4_CSUM_OK;
}

static void finish(struct card *card, struct qp *qp, const struct arrival *a, u32 len, u8 syndrome)
{
	struct cq *cq = cq_find(card, qp->rq.cqn);
	struct completion c = {
		.qpn = qp->qpn,
		.opcode = syndrome ? CQE_OP_ERROR : CQE_OP_RECV_SEND,
		.wqe_index = (u16)(qp->rq.index & ((1u << qp->rq.log_size) - 1)),
		.byte_cnt = len,
		.stamp = card_cycles(card),
		.syndrome = syndrome,
		.vendor_syndrome = VENDOR_MODEL,
	};
	u32 extra;

	if (!syndrome)
		describe(&c, a);
	if (fault_hit(card, FAULT_WRONG_LENGTH, qp->port + 1, &extra))
		c.byte_cnt += extra;
	qp->rq.index++;
	if (cq)
		cq_complete(card, cq, &c);
}

static u8 place(struct card *card, struct qp *qp, struct cargo *cargo)
{
	u8 wqe[MAX_STRIDE];
	u32 capacity = 0;
	u32 wish;

	if (fault_hit(card, FAULT_RX_ERROR, qp->port + 1, &wish))
		return wish ? (u8)wish : SYNDROME_LOCAL_LENGTH;
	if (!read_wqe(card, qp, wqe) || !scatter(card, qp, wqe, cargo, &capacity))
		return SYNDROME_LOCAL_PROT;
	if (capacity >= cargo->len)
		return 0;
	violation(V_RX_TOO_SMALL, "QP 0x%x WQE 0x%x: %u bytes for %u", qp->qpn, qp->rq.index,
		  capacity, cargo->len);
	return SYNDROME_LOCAL_LENGTH;
}

static void deliver(struct card *card, struct qp *qp, const struct arrival *a)
{
	struct cargo cargo;
	u32 len;
	u8 syndrome;

	load(&cargo, qp, a);
	len = cargo.len;
	syndrome = place(card, qp, &cargo);
	if (!syndrome) {
		card->counters[qp->counter].rx_frames++;
		card->counters[qp->counter].rx_bytes += a->frame->len;
	}
	finish(card, qp, a, len, syndrome);
}

static u32 hash_of(const struct rss *rss, const struct flow *flow)
{
	return rss->hash_fn == RSS_HASH_TOEPLITZ ? toeplitz(rss->key, flow->bytes, flow->len) :
						   xor_hash(flow->bytes, flow->len);
}

/* From the QP that steering found to the one that has the ring. */
static struct qp *spread(struct card *card, u32 qpn, struct arrival *a)
{
	struct qp *qp = qp_find(card, qpn);
	struct flow flow;
	u32 to;

	if (!qp || !qp->is_rss)
		return qp;
	if (!qp_can_receive(qp))
		return NULL;
	flow_of(&flow, &a->h, a->frame->data, qp->rss.flags);
	to = qp->rss.default_qpn;
	a->hash = 0;
	if (flow.len) {
		a->hash = hash_of(&qp->rss, &flow);
		to = qp->rss.base_qpn + (a->hash & (u32)(BIT(qp->rss.log_qps) - 1));
	}
	return qp_find(card, to);
}

static enum rx_verdict to_queue(struct card *card, unsigned int port, u32 qpn, struct arrival *a,
				bool may_hold)
{
	struct port_stats *stats = &card->ports[port].stats;
	struct qp *qp = spread(card, qpn, a);

	if (!qp || !qp_can_receive(qp) || qp->is_rss) {
		stats->rx_drop++;
		return RX_DROPPED;
	}
	if (posted(card, qp)) {
		deliver(card, qp, a);
		return RX_TAKEN;
	}
	if (may_hold)
		return RX_NO_BUFFER;
	stats->rx_drop++;
	stats->rx_overflow++;
	return RX_DROPPED;
}

enum rx_verdict rx_frame(struct card *card, unsigned int port, struct frame *frame, bool may_hold)
{
	struct arrival a = { .frame = frame };
	enum rx_verdict verdict = RX_DROPPED;
	u32 qpns[MAX_COPIES];
	unsigned int count, i;

	if (!card->ports[port].enabled)
		return RX_DROPPED;
	if (!frame->checked) {
		frame->checked = true;
		if (!mac_accepts(&card->ports[port], frame))
			return RX_DROPPED;
	}
	headers_parse(&a.h, frame->data, frame->len);
	count = steer(card, port, frame->data, &a.h, qpns);
	for (i = 0; i < count; i++) {
		/* only the last may stop the wire: copies for sniffers come before it */
		verdict = to_queue(card, port, qpns[i], &a, may_hold && i == count - 1);
	}
	return verdict;
}
