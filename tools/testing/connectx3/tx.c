// SPDX-License-Identifier: GPL-2.0
/*
 * The send side: from a doorbell to frames on the wire and a completion.
 *
 * A doorbell names the QP and nothing else. The card goes on from its own index
 * for as long as it finds WQEs whose owner bit is right for this pass through
 * the ring. It reads one, gathers the frame from inline data and memory, does
 * the offloads that the WQE asks for, and gives it to the wire. Where the wire
 * has no room the QP waits, and wire.c calls sq_run() again.
 */
#include <stdlib.h>

#include "card.h"
#include "fault.h"
#include "packet.h"

#define MAX_LSO		(640u << 10)
#define VENDOR_MODEL	0x77	/* vendor syndrome: whatever the violation said */

struct wqe {
	u8 raw[MAX_WQE_SIZE];
	u32 len;		/* as the WQE says */
	u32 first;		/* the ring's index of its first block */
	u32 blocks;
};

static u32 ring_blocks(const struct qp *qp)
{
	return 1u << (qp->sq.log_size + qp->sq.log_stride - TXBB_SHIFT);
}

static bool read_block(struct card *card, struct qp *qp, u32 index, u8 *to)
{
	u32 at = (index & (ring_blocks(qp) - 1)) << TXBB_SHIFT;

	return queue_read(card, &qp->mem, qp->sq.offset + at, to, TXBB_SIZE);
}

/* Software marks blocks that are no WQE with ones. */
static bool is_owned(const struct qp *qp, u32 owner_op)
{
	bool odd_pass = qp->sq.index & ring_blocks(qp);

	return !!(owner_op & WQE_OWNER) == odd_pass && (owner_op & WQE_STAMP_M) != WQE_STAMP_M;
}

/* Reads the next WQE; false if there is none. It may go over the ring's end. */
static bool fetch(struct card *card, struct qp *qp, struct wqe *wqe)
{
	u32 i;

	if (!read_block(card, qp, qp->sq.index, wqe->raw) ||
	    !is_owned(qp, get_be32(wqe->raw, WQE_OWNER_OP)))
		return false;
	/* pairs with the driver's barrier before it sets the owner */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (!read_block(card, qp, qp->sq.index, wqe->raw))
		return false;
	wqe->first = qp->sq.index;
	wqe->len = WQE_UNIT * (u32)field(WQE_SIZE_M, get_u8(wqe->raw, WQE_SIZE));
	wqe->blocks = MAX(ALIGN_UP(wqe->len, TXBB_SIZE) >> TXBB_SHIFT, 1u);
	for (i = 1; i < wqe->blocks; i++)
		if (!read_block(card, qp, qp->sq.index + i, wqe->raw + i * TXBB_SIZE))
			return false;
	return true;
}

static u32 flags_of(const struct wqe *wqe)
{
	return get_be32(wqe->raw, WQE_FLAGS);
}

static void complete(struct card *card, struct qp *qp, const struct wqe *wqe, u64 stamp,
		     u8 syndrome)
{
	struct cq *cq = cq_find(card, qp->sq.cqn);
	struct completion c = {
		.qpn = qp->qpn,
		.send = true,
		.opcode = (u8)field(WQE_OPCODE_M, get_be32(wqe->raw, WQE_OWNER_OP)),
		.wqe_index = (u16)wqe->first,
		.stamp = stamp,
		.solicited = flags_of(wqe) & WQE_FLAG_SOLICITED,
	};

	if (!cq || (!syndrome && (flags_of(wqe) & WQE_FLAG_CQ_UPDATE) != WQE_FLAG_CQ_UPDATE))
		return;
	if (syndrome) {
		c.opcode = CQE_OP_ERROR;
		c.syndrome = syndrome;
		c.vendor_syndrome = VENDOR_MODEL;
	}
	cq_complete(card, cq, &c);
}

/* Copies inline data: it ends with the WQE, and does not cross 64 bytes. */
static u32 gather_inline(const struct qp *qp, const struct wqe *wqe, u32 at, u8 *to, u32 room)
{
	u32 len = (u32)(get_be32(wqe->raw, at + SEG_BYTE_COUNT) & SEG_INLINE_LEN_M);
	u32 end = ALIGN_UP(at + 1, TXBB_SIZE);

	if (len > room || at + SEG_INLINE_DATA + len > MIN(end, wqe->len)) {
		violation(V_WQE_INLINE, "QP 0x%x WQE 0x%x: %u bytes at %u of %u", qp->qpn,
			  wqe->first, len, at, wqe->len);
		return ~0u;
	}
	memcpy(to, wqe->raw + at + SEG_INLINE_DATA, len);
	return len;
}

static u32 gather_memory(struct card *card, const struct qp *qp, const struct wqe *wqe, u32 at,
			 u8 *to, u32 room)
{
	u32 len = get_be32(wqe->raw, at + SEG_BYTE_COUNT);

	if (len > room) {
		violation(V_WQE_FRAME, "QP 0x%x WQE 0x%x: more than %u bytes", qp->qpn, wqe->first,
			  CX3_MAX_FRAME);
		return ~0u;
	}
	return mr_read(card, qp, get_be32(wqe->raw, at + SEG_LKEY),
		       get_be64(wqe->raw, at + SEG_ADDR), to, len) ? len : ~0u;
}

/* Gathers all segments from offset at on. Returns their length, or ~0. */
static u32 gather(struct card *card, const struct qp *qp, const struct wqe *wqe, u32 at, u8 *to,
		  u32 room)
{
	u32 done = 0;

	while (at + SEG_SIZE <= wqe->len) {
		bool is_inline = get_be32(wqe->raw, at + SEG_BYTE_COUNT) & SEG_INLINE;
		u32 len = is_inline ? gather_inline(qp, wqe, at, to + done, room - done) :
				      gather_memory(card, qp, wqe, at, to + done, room - done);

		if (len == ~0u)
			return len;
		done += len;
		at += is_inline ? ALIGN_UP(SEG_INLINE_DATA + len, SEG_SIZE) : SEG_SIZE;
	}
	return done;
}

static bool offload_csum(const struct qp *qp, const struct wqe *wqe, struct frame *frame)
{
	u32 flags = flags_of(wqe);
	struct headers h;
	bool fine = true;

	if (!(flags & (WQE_FLAG_IP_CSUM | WQE_FLAG_L4_CSUM)))
		return true;
	headers_parse(&h, frame->data, frame->len);
	if (flags & WQE_FLAG_IP_CSUM)
		fine = csum_fill_ip(&h, frame->data);
	if (flags & WQE_FLAG_L4_CSUM)
		fine = csum_fill_l4(&h, frame->data) && fine;
	if (!fine)
		violation(V_WQE_OFFLOAD, "QP 0x%x WQE 0x%x: type 0x%x protocol %u", qp->qpn,
			  wqe->first, h.type, h.proto);
	return fine;
}

static void insert_tag(const struct wqe *wqe, struct frame *frame)
{
	u8 wish = get_u8(wqe->raw, WQE_INS_VLAN);
	u16 tci = get_be16(wqe->raw, WQE_VLAN_TAG);

	if (wish & WQE_INS_CVLAN)
		frame->len = vlan_insert(frame->data, frame->len, TYPE_CVLAN, tci);
	else if (wish & WQE_INS_SVLAN)
		frame->len = vlan_insert(frame->data, frame->len, TYPE_SVLAN, tci);
}

static u64 wqe_dmac(const struct wqe *wqe)
{
	return (u64)get_be16(wqe->raw, WQE_DMAC_HI) << 32 | get_be32(wqe->raw, WQE_DMAC_LO);
}

/* The last steps of a frame: checksums, tag, padding; then it is on its way. */
static bool emit(struct card *card, struct qp *qp, const struct wqe *wqe, struct frame *frame)
{
	struct port *port = &card->ports[qp->port];
	u64 dmac = wqe_dmac(wqe);

	if (!offload_csum(qp, wqe, frame)) {
		frame_free(frame);
		return false;
	}
	insert_tag(wqe, frame);
	if (frame->len < ETH_MIN_FRAME) {
		memset(frame->data + frame->len, 0, ETH_MIN_FRAME - frame->len);
		frame->len = ETH_MIN_FRAME;
	}
	card->counters[qp->counter].tx_frames++;
	card->counters[qp->counter].tx_bytes += frame->len;
	/* the card switches inside a frame whose WQE names the destination */
	if (flags_of(wqe) & WQE_FLAG_LOOPBACK || (dmac && port_is_local_mac(port, dmac)))
		wire_loop(card, qp->port, frame);
	else
		wire_send(card, qp->port, frame);
	return true;
}

static bool valid_length(const struct qp *qp, const struct wqe *wqe, u32 len)
{
	if (len >= ETH_HEADER && len <= CX3_MAX_FRAME - VLAN_TAG)
		return true;
	violation(V_WQE_FRAME, "QP 0x%x WQE 0x%x: %u bytes", qp->qpn, wqe->first, len);
	return false;
}

static enum syndrome send_frame(struct card *card, struct qp *qp, const struct wqe *wqe)
{
	struct frame *frame = frame_new();

	frame->len = gather(card, qp, wqe, WQE_CTRL_SIZE, frame->data, CX3_MAX_FRAME - VLAN_TAG);
	if (frame->len == ~0u) {
		frame_free(frame);
		return SYNDROME_LOCAL_PROT;
	}
	if (!valid_length(qp, wqe, frame->len)) {
		frame_free(frame);
		return SYNDROME_LOCAL_LENGTH;
	}
	return emit(card, qp, wqe, frame) ? 0 : SYNDROME_LOCAL_QP_OP;
}

static bool parse_lso(const struct qp *qp, const struct wqe *wqe, struct lso *lso)
{
	u32 word = get_be32(wqe->raw, WQE_CTRL_SIZE + LSO_MSS_HDR);

	lso->mss = (u32)field(LSO_MSS_M, word);
	lso->header_len = (u32)field(LSO_HDR_M, word);
	lso->header = wqe->raw + WQE_CTRL_SIZE + LSO_HEADER;
	if (lso->mss && lso->header_len >= ETH_HEADER &&
	    WQE_CTRL_SIZE + LSO_HEADER + lso->header_len <= wqe->len &&
	    lso->header_len + lso->mss <= CX3_MAX_FRAME - VLAN_TAG)
		return true;
	violation(V_WQE_LSO, "QP 0x%x WQE 0x%x: header %u, MSS %u", qp->qpn, wqe->first,
		  lso->header_len, lso->mss);
	return false;
}

static enum syndrome segment(struct card *card, struct qp *qp, const struct wqe *wqe,
			     const struct lso *lso)
{
	u32 done;

	for (done = 0; done < lso->payload_len; done += lso->mss) {
		struct frame *frame = frame_new();

		frame->len = lso_segment(lso, done, frame->data);
		if (!frame->len) {
			violation(V_WQE_LSO, "QP 0x%x WQE 0x%x: not TCP", qp->qpn, wqe->first);
			frame_free(frame);
			return SYNDROME_LOCAL_QP_OP;
		}
		if (!emit(card, qp, wqe, frame))
			return SYNDROME_LOCAL_QP_OP;
	}
	return 0;
}

static enum syndrome send_lso(struct card *card, struct qp *qp, const struct wqe *wqe)
{
	static u8 payload[MAX_LSO];
	struct lso lso = { .payload = payload };
	u32 at;

	if (!parse_lso(qp, wqe, &lso))
		return SYNDROME_LOCAL_QP_OP;
	at = WQE_CTRL_SIZE + ALIGN_UP(LSO_HEADER + lso.header_len, SEG_SIZE);
	lso.payload_len = gather(card, qp, wqe, at, payload, sizeof(payload));
	if (lso.payload_len == ~0u)
		return SYNDROME_LOCAL_PROT;
	return segment(card, qp, wqe, &lso);
}

static enum syndrome execute(struct card *card, struct qp *qp, const struct wqe *wqe)
{
	u32 owner_op = get_be32(wqe->raw, WQE_OWNER_OP);
	u32 wish;

	if (fault_hit(card, FAULT_TX_ERROR, qp->port + 1, &wish))
		return wish ? (enum syndrome)wish : SYNDROME_LOCAL_QP_OP;
	if (wqe->len < WQE_CTRL_SIZE + SEG_SIZE || wqe->blocks > ring_blocks(qp)) {
		violation(V_WQE_SIZE, "QP 0x%x WQE 0x%x: %u bytes", qp->qpn, wqe->first, wqe->len);
		return SYNDROME_LOCAL_QP_OP;
	}
	if (owner_op & WQE_INNER_OFFLOAD) {
		violation(V_WQE_OFFLOAD, "QP 0x%x WQE 0x%x: tunnel", qp->qpn, wqe->first);
		return SYNDROME_LOCAL_QP_OP;
	}
	switch (field(WQE_OPCODE_M, owner_op)) {
	case WQE_OP_SEND:
		return send_frame(card, qp, wqe);
	case WQE_OP_LSO:
		return send_lso(card, qp, wqe);
	}
	violation(V_WQE_OPCODE, "QP 0x%x WQE 0x%x: word 0x%08x", qp->qpn, wqe->first, owner_op);
	return SYNDROME_LOCAL_QP_OP;
}

/* What is posted to a QP that has failed comes back unsent. */
static void flush(struct card *card, struct qp *qp)
{
	struct wqe wqe;
	u32 blocks = 0;

	while (blocks < ring_blocks(qp) && fetch(card, qp, &wqe)) {
		qp->sq.index += wqe.blocks;
		blocks += wqe.blocks;
		complete(card, qp, &wqe, 0, SYNDROME_FLUSH);
	}
}

/* An event for the QP that nothing calls for: a fault. */
static void odd_event(struct card *card, const struct qp *qp)
{
	u32 type;

	if (fault_hit(card, FAULT_QP_EVENT, qp->port + 1, &type))
		event_async(card, (enum event_type)(type % EVENT_TYPES), 0, EQE_NUMBER, qp->qpn);
}

void sq_run(struct card *card, struct qp *qp)
{
	struct wqe wqe;

	while (qp_can_send(qp)) {
		u64 stamp = card_cycles(card);
		enum syndrome syndrome;

		if (!wire_room(card, qp->port)) {
			wire_wait(card, qp);
			return;
		}
		if (!fetch(card, qp, &wqe))
			return;
		syndrome = execute(card, qp, &wqe);
		qp->sq.index += wqe.blocks;
		complete(card, qp, &wqe, stamp, (u8)syndrome);
		odd_event(card, qp);
		if (syndrome)
			qp_fail(qp);
	}
	if (qp->state == QP_ERR)
		flush(card, qp);
}

void send_doorbell(struct card *card, u32 uar, u32 qpn)
{
	struct qp *qp = qp_find(card, qpn);

	if (!qp || (qp->state != QP_RTS && qp->state != QP_ERR)) {
		violation(V_DB_NO_QP, "QP 0x%x on UAR %u", qpn, uar);
		return;
	}
	if (qp->uar != uar)
		violation(V_DB_WRONG_UAR, "QP 0x%x has UAR %u, rung on %u", qpn, qp->uar, uar);
	trace("QP 0x%x: doorbell at 0x%x", qpn, qp->sq.index);
	if (!qp->waiting)
		sq_run(card, qp);
}
