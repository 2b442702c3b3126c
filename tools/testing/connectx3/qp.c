// SPDX-License-Identifier: GPL-2.0
/*
 * Queue pairs: a send ring and a receive ring, taken through the states reset,
 * init, ready to receive and ready to send. One kind has no rings of its own
 * and spreads frames over others by a hash (RSS).
 *
 * Both rings are in one buffer, the one with the larger entries first.
 */
#include <stdlib.h>

#include "cmd.h"

static const char *const state_names[] = { "RST", "INIT", "RTR", "RTS", "SQER", "SQD", "ERR" };

static u32 slot_of(const struct card *card, u32 qpn)
{
	return qpn & (u32)(BIT(card->hca.log_qps) - 1);
}

struct qp *qp_find(struct card *card, u32 qpn)
{
	struct qp *qp = card->qps ? card->qps[slot_of(card, qpn)] : NULL;

	return qp && qp->qpn == qpn ? qp : NULL;
}

bool qp_can_send(const struct qp *qp)
{
	return qp->state == QP_RTS;
}

bool qp_can_receive(const struct qp *qp)
{
	return qp->state == QP_RTR || qp->state == QP_RTS || qp->state == QP_SQD;
}

static void use_cqs(struct card *card, const struct qp *qp, int change)
{
	struct cq *send = cq_find(card, qp->sq.cqn);
	struct cq *recv = cq_find(card, qp->rq.cqn);

	if (send)
		send->users += (unsigned int)change;
	if (recv)
		recv->users += (unsigned int)change;
}

static void forget(struct card *card, struct qp *qp)
{
	wire_forget(card, qp);
	use_cqs(card, qp, -1);
	card->qps[slot_of(card, qp->qpn)] = NULL;
	free(qp);
}

void qp_free_all(struct card *card)
{
	u32 i;

	for (i = 0; card->qps && i < BIT(card->hca.log_qps); i++)
		if (card->qps[i])
			forget(card, card->qps[i]);
	free(card->qps);
	card->qps = NULL;
}

/* What went wrong is in the completion; an event is for what has none. */
void qp_fail(struct qp *qp)
{
	say("QP 0x%x to error from %s", qp->qpn, state_names[qp->state]);
	qp->state = QP_ERR;
}

static void parse_wq(struct wq *wq, u8 size_stride)
{
	wq->log_size = (unsigned int)field(QPC_LOG_SIZE_M, size_stride);
	wq->log_stride = (unsigned int)field(QPC_LOG_STRIDE_M, size_stride) + QPC_UNIT_SHIFT;
}

static void place_rings(struct qp *qp)
{
	bool rq_first = qp->rq.log_stride > qp->sq.log_stride;
	struct wq *first = rq_first ? &qp->rq : &qp->sq;
	struct wq *second = rq_first ? &qp->sq : &qp->rq;

	first->offset = 0;
	second->offset = 1u << (first->log_size + first->log_stride);
}

static void parse_rss(struct rss *rss, const u8 *in)
{
	u32 base = get_be32(in, RSS_BASE_QPN);

	rss->base_qpn = (u32)field(RSS_QPN_M, base);
	rss->log_qps = (unsigned int)field(RSS_LOG_QPS_M, base);
	rss->default_qpn = (u32)field(RSS_QPN_M, get_be32(in, RSS_DEFAULT_QPN));
	rss->hash_fn = get_u8(in, RSS_HASH_FN);
	rss->flags = get_u8(in, RSS_FLAGS);
	memcpy(rss->key, in + RSS_KEY, RSS_KEY_SIZE);
}

static void parse_qp(struct qp *qp, const u8 *in)
{
	u32 param3 = get_be32(in, QPC_PARAM3);

	qp->is_rss = get_be32(in, QPC_FLAGS) & QPC_FLAG_RSS;
	qp->pd = (u32)field(MPT_PD_M, get_be32(in, QPC_PD));
	qp->uar = (u32)field(QPC_UAR_M, get_be32(in, QPC_UAR));
	qp->port = !!(get_u8(in, QPC_PRI_PATH + PATH_SCHED_QUEUE) & PATH_SCHED_PORT);
	qp->counter = get_u8(in, QPC_PRI_PATH + PATH_COUNTER);
	qp->sq.cqn = (u32)field(QPN_M, get_be32(in, QPC_CQN_SEND));
	qp->rq.cqn = (u32)field(QPN_M, get_be32(in, QPC_CQN_RECV));
	qp->db_rec = get_be64(in, QPC_DB_REC) & QPC_DB_REC_M;
	qp->strip_vlan = !(param3 & QPC_NO_VLAN_STRIP);
	qp->keep_fcs = param3 & QPC_FCS_KEEP;
	qp->mem.page_shift = ICM_PAGE_SHIFT +
		(unsigned int)field(QPC_LOG_PAGE_M, get_u8(in, QPC_LOG_PAGE));
	qp->mem.mtt = (u64)get_u8(in, QPC_MTT_HI) << 32 | get_be32(in, QPC_MTT_LO);
	parse_wq(&qp->sq, get_u8(in, QPC_SQ_SIZE));
	parse_wq(&qp->rq, get_u8(in, QPC_RQ_SIZE));
	place_rings(qp);
	if (qp->is_rss)
		parse_rss(&qp->rss, in + QPC_RSS);
}

static const char *wrong(struct card *card, const struct qp *qp, const u8 *in)
{
	if (field(QPC_SERVICE_M, get_be32(in, QPC_FLAGS)) != QPC_SERVICE_MLX)
		return "service type: only raw Ethernet is modelled";
	if (field(QPN_M, get_be32(in, QPC_LOCAL_QPN)) != qp->qpn)
		return "local_qpn is another QP's";
	if (!cq_find(card, qp->sq.cqn) || !cq_find(card, qp->rq.cqn))
		return "no such CQ";
	if (qp->mem.page_shift > ICM_LOG_SIZE)
		return "page size";
	if (qp->is_rss && (qp->rss.log_qps > card->hca.log_qps ||
			   qp->rss.hash_fn > RSS_HASH_TOEPLITZ))
		return "RSS context";
	return NULL;
}

enum cmd_status cmd_rst2init_qp(struct card *card, struct cmd *cmd)
{
	u32 qpn = (u32)field(QPN_M, cmd->in_mod);
	const u8 *context = cmd->in + QPC_IN_MAILBOX;
	const char *why;
	struct qp *qp;

	if (card->qps[slot_of(card, qpn)])
		return cmd_refuse(cmd, CMD_BAD_QP_STATE, "the QP is not in reset");
	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return CMD_INTERNAL_ERR;
	qp->qpn = qpn;
	qp->state = QP_INIT;
	parse_qp(qp, context);
	why = wrong(card, qp, context);
	if (why) {
		free(qp);
		return cmd_refuse(cmd, CMD_BAD_PARAM, why);
	}
	card->qps[slot_of(card, qpn)] = qp;
	use_cqs(card, qp, 1);
	trace("QP 0x%x: port %u, SQ 2^%u, RQ 2^%u of %u bytes%s", qpn, qp->port + 1,
	      qp->sq.log_size, qp->rq.log_size, 1u << qp->rq.log_stride, qp->is_rss ? ", RSS" : "");
	return CMD_OK;
}

static enum cmd_status step(struct card *card, struct cmd *cmd, enum qp_state from,
			    enum qp_state to)
{
	struct qp *qp = qp_find(card, (u32)field(QPN_M, cmd->in_mod));

	if (!qp || qp->state != from)
		return cmd_refuse(cmd, CMD_BAD_QP_STATE, qp ? state_names[qp->state] : "RST");
	qp->state = to;
	return CMD_OK;
}

enum cmd_status cmd_init2rtr_qp(struct card *card, struct cmd *cmd)
{
	return step(card, cmd, QP_INIT, QP_RTR);
}

enum cmd_status cmd_rtr2rts_qp(struct card *card, struct cmd *cmd)
{
	return step(card, cmd, QP_RTR, QP_RTS);
}

enum cmd_status cmd_2err_qp(struct card *card, struct cmd *cmd)
{
	struct qp *qp = qp_find(card, (u32)field(QPN_M, cmd->in_mod));

	if (!qp)
		return cmd_refuse(cmd, CMD_BAD_QP_STATE, "RST");
	qp->state = QP_ERR;
	return CMD_OK;
}

/* A QP in reset may be reset again. */
enum cmd_status cmd_2rst_qp(struct card *card, struct cmd *cmd)
{
	struct qp *qp = qp_find(card, (u32)field(QPN_M, cmd->in_mod));

	if (qp)
		forget(card, qp);
	return CMD_OK;
}
