// SPDX-License-Identifier: GPL-2.0
/*
 * Completion queues: rings in which the card reports finished work requests.
 *
 * The driver says how far it has read in a doorbell record in its own memory,
 * and asks for one event at a time ("arms") through the UAR page. The event
 * goes to the queue's EQ once there is a completion past the consumer that the
 * arming named; moderation holds it back until max_count completions or
 * period_us have passed.
 */
#include <stdlib.h>

#include "cmd.h"
#include "fault.h"

#define CQ_MAX_LOG_SIZE	22

static u32 cq_size(const struct cq *cq)
{
	return 1u << cq->log_size;
}

struct cq *cq_find(struct card *card, u32 cqn)
{
	return card->cqs && cqn < BIT(card->hca.log_cqs) ? card->cqs[cqn] : NULL;
}

static void forget(struct card *card, struct cq *cq)
{
	struct cq **p;

	for (p = &card->live_cqs; *p != cq; p = &(*p)->next)
		;
	*p = cq->next;
	card->cqs[cq->cqn] = NULL;
	free(cq);
}

void cq_free_all(struct card *card)
{
	while (card->live_cqs)
		forget(card, card->live_cqs);
	free(card->cqs);
	free(card->cq_known);
	card->cqs = NULL;
	card->cq_known = NULL;
}

static void fire(struct card *card, struct cq *cq)
{
	struct eq *eq = eq_find(card, cq->eqn);
	u8 eqe[EQE_SIZE] = { 0 };

	cq->arm = CQ_NOT_ARMED;
	cq->fire_at = 0;
	if (!eq)
		return;
	put_u8(eqe, EQE_TYPE, EVENT_COMP);
	put_be32(eqe, EQE_NUMBER, cq->cqn);
	eq_event(card, eq, eqe);
}

/* Completions past the consumer that the driver armed with. */
static u32 unseen(const struct cq *cq)
{
	return (cq->pi - cq->arm_ci) & (u32)CQ_INDEX_M;
}

/* Sends the event, or starts the timer, if the queue waits for one. */
static void notify(struct card *card, struct cq *cq)
{
	if (cq->arm == CQ_NOT_ARMED || !unseen(cq) || card->quiet)
		return;
	if (!cq->max_count || !cq->period_us || unseen(cq) >= cq->max_count || card->opt.batch)
		fire(card, cq);
	else if (!cq->fire_at)
		cq->fire_at = card_now(card) + cq->period_us * NS_PER_US;
}

void cq_end_quiet(struct card *card)
{
	struct cq *cq;

	card->quiet = false;
	for (cq = card->live_cqs; cq; cq = cq->next)
		notify(card, cq);
}

/*
 * An interrupt that is handled late makes the driver arm a CQ that it has just
 * taken back: nothing comes of it. One that never was the card's is an error.
 */
static void no_cq(struct card *card, u32 cqn)
{
	if (cqn < BIT(card->hca.log_cqs) && card->cq_known[cqn])
		trace("CQ 0x%x: armed after it was taken back", cqn);
	else
		violation(V_DB_NO_CQ, "doorbell for CQ 0x%x", cqn);
}

void cq_doorbell(struct card *card, u32 uar, u64 value)
{
	u32 first = (u32)(value >> 32);
	struct cq *cq = cq_find(card, (u32)field(CQ_DB_CQN_M, first));

	if (!cq) {
		no_cq(card, (u32)field(CQ_DB_CQN_M, first));
		return;
	}
	if (cq->uar != uar)
		violation(V_DB_WRONG_UAR, "CQ 0x%x has UAR %u, rung on %u", cq->cqn, cq->uar, uar);
	cq->arm_ci = (u32)(value & CQ_INDEX_M);
	if (unseen(cq) > cq_size(cq)) {
		violation(V_CQ_CONSUMER, "CQ 0x%x: consumer 0x%x, producer 0x%x", cq->cqn,
			  cq->arm_ci, cq->pi);
		return;
	}
	cq->arm = field(CQ_DB_CMD_M, first) == CQ_DB_CMD_SOLICITED ? CQ_ARMED_SOLICITED : CQ_ARMED;
	trace("CQ 0x%x: armed at 0x%x, producer 0x%x", cq->cqn, cq->arm_ci, cq->pi);
	notify(card, cq);
}

static void fail(struct card *card, struct cq *cq, u8 syndrome)
{
	cq->failed = true;
	event_async(card, EVENT_CQ_ERROR, syndrome, EQE_NUMBER, cq->cqn);
}

/* False if the ring is full: what comes now would overwrite what was not read. */
static bool has_room(struct card *card, struct cq *cq)
{
	u8 raw[sizeof(u32)];
	u32 used;

	if (!mem_read(&card->mem, cq->db_rec + CQ_DB_REC_CI, raw, sizeof(raw))) {
		violation(V_DMA_OUTSIDE, "CQ 0x%x: doorbell record", cq->cqn);
		fail(card, cq, CQ_ERROR_ACCESS);
		return false;
	}
	used = (cq->pi - get_be32(raw, 0)) & (u32)CQ_INDEX_M;
	if (used < cq_size(cq))
		return true;
	violation(used == cq_size(cq) ? V_CQ_OVERRUN : V_CQ_CONSUMER,
		  "CQ 0x%x: %u of %u entries", cq->cqn, used, cq_size(cq));
	fail(card, cq, CQ_ERROR_OVERRUN);
	return false;
}

static void encode_receive(u8 *cqe, const struct completion *c)
{
	put_be32(cqe, CQE_QPN, c->qpn | c->vlan_flags);
	put_be32(cqe, CQE_RSS_HASH, c->hash);
	put_be16(cqe, CQE_SL_VID, c->vlan_tci);
	put_be16(cqe, CQE_STATUS, c->status);
	put_u8(cqe, CQE_IPV6_EXT, c->ipv6_ext);
	put_u8(cqe, CQE_BADFCS_ENC, c->badfcs_enc);
	put_be16(cqe, CQE_CHECKSUM, c->checksum);
}

/* All but the owner bit. The reader adds 1 to hi when lo is 0, so hi is one less then. */
static void encode(u8 *cqe, const struct cq *cq, const struct completion *c)
{
	u16 lo = (u16)c->stamp;

	put_be32(cqe, CQE_QPN, c->qpn);
	put_be32(cqe, CQE_BYTE_CNT, c->byte_cnt);
	put_be16(cqe, CQE_WQE_INDEX, c->wqe_index);
	put_u8(cqe, CQE_OWNER_OP, c->opcode | (c->send ? CQE_IS_SEND : 0));
	if (c->opcode == CQE_OP_ERROR) {
		put_u8(cqe, CQE_SYNDROME, c->syndrome);
		put_u8(cqe, CQE_VENDOR_SYNDROME, c->vendor_syndrome);
		return;
	}
	if (!c->send)
		encode_receive(cqe, c);
	if (cq->timestamps) {
		put_be32(cqe, CQE_TIME_HI, (u32)(c->stamp >> 16) - !lo);
		put_be16(cqe, CQE_TIME_LO, lo);
	}
}

static void garbage(struct card *card, const struct cq *cq, u8 *cqe)
{
	u32 seed;
	int i;

	if (!fault_hit(card, FAULT_GARBAGE_CQE, cq->cqn, &seed))
		return;
	for (i = 0; i < CQE_SIZE; i++) {
		seed = seed * 1664525 + 1013904223;
		cqe[i] = (u8)(seed >> 24);
	}
}

static void write_cqe(struct card *card, struct cq *cq, u8 *slot, u8 *cqe)
{
	u8 owner = cq->pi & cq_size(cq) ? OWNER_HW : 0;

	garbage(card, cq, cqe);
	if (fault_hit(card, FAULT_STALE_OWNER, cq->cqn, NULL))
		owner ^= OWNER_HW;
	memcpy(slot, cqe, CQE_OWNER_OP);
	/* the owner last: pairs with the barrier after the driver's look at it */
	__atomic_store_n(slot + CQE_OWNER_OP, (u8)((cqe[CQE_OWNER_OP] & ~OWNER_HW) | owner),
			 __ATOMIC_RELEASE);
}

static u64 entry_offset(const struct card *card, const struct cq *cq, u32 index)
{
	u64 size = BIT(card->hca.cqe_shift);

	/* of an entry of 64 bytes the upper half is the real one */
	return (u64)(index & (cq_size(cq) - 1)) * size + (size - CQE_SIZE);
}

void cq_complete(struct card *card, struct cq *cq, const struct completion *c)
{
	u8 cqe[CQE_SIZE] = { 0 };
	u8 *slot;

	if (cq->failed || !(cq->overrun_ok || has_room(card, cq)))
		return;
	slot = queue_ptr(card, &cq->mem, entry_offset(card, cq, cq->pi), CQE_SIZE);
	if (!slot) {
		fail(card, cq, CQ_ERROR_ACCESS);
		return;
	}
	encode(cqe, cq, c);
	write_cqe(card, cq, slot, cqe);
	cq->pi++;
	if (cq->arm == CQ_ARMED || c->solicited || c->opcode == CQE_OP_ERROR)
		notify(card, cq);
}

u64 cq_next(struct card *card)
{
	u64 next = NEVER;
	struct cq *cq;

	for (cq = card->live_cqs; cq; cq = cq->next)
		if (cq->fire_at)
			next = MIN(next, cq->fire_at);
	return next;
}

void cq_run(struct card *card)
{
	u64 now = card_now(card);
	struct cq *cq;

	for (cq = card->live_cqs; cq; cq = cq->next)
		if (cq->fire_at && cq->fire_at <= now)
			fire(card, cq);
}

static void parse_cq(struct cq *cq, u32 cqn, const u8 *in)
{
	u32 flags = get_be32(in, CQC_FLAGS);
	u32 size_uar = get_be32(in, CQC_SIZE_UAR);

	cq->cqn = cqn;
	cq->timestamps = flags & CQC_FLAG_TIMESTAMP;
	cq->overrun_ok = flags & CQC_FLAG_OVERRUN_OK;
	cq->log_size = (unsigned int)field(CQC_LOG_SIZE_M, size_uar);
	cq->uar = (u32)field(CQC_UAR_M, size_uar);
	cq->period_us = get_be16(in, CQC_PERIOD);
	cq->max_count = get_be16(in, CQC_MAX_COUNT);
	cq->eqn = get_u8(in, CQC_EQN);
	cq->mem.page_shift = ICM_PAGE_SHIFT +
		(unsigned int)field(CQC_LOG_PAGE_M, get_u8(in, CQC_LOG_PAGE));
	cq->mem.mtt = (u64)get_u8(in, CQC_MTT_HI) << 32 | get_be32(in, CQC_MTT_LO);
	cq->db_rec = get_be64(in, CQC_DB_REC);
}

static bool own_entries(struct card *card, struct cq *cq)
{
	u32 i;

	for (i = 0; i < cq_size(cq); i++) {
		u8 *slot = queue_ptr(card, &cq->mem, entry_offset(card, cq, i), CQE_SIZE);

		if (!slot)
			return false;
		slot[CQE_OWNER_OP] = OWNER_HW;
	}
	return true;
}

enum cmd_status cmd_sw2hw_cq(struct card *card, struct cmd *cmd)
{
	struct cq *cq;

	if (cmd->in_mod >= BIT(card->hca.log_cqs))
		return cmd_refuse(cmd, CMD_BAD_INDEX, "no such CQ");
	if (card->cqs[cmd->in_mod])
		return cmd_refuse(cmd, CMD_BAD_RES_STATE, "the CQ is the card's already");
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return CMD_INTERNAL_ERR;
	parse_cq(cq, cmd->in_mod, cmd->in);
	if (cq->log_size > CQ_MAX_LOG_SIZE || !eq_find(card, cq->eqn) ||
	    cq->mem.page_shift > ICM_LOG_SIZE ||
	    (cmd->op_mod != SW2HW_CQ_SW_INIT && !own_entries(card, cq))) {
		free(cq);
		return cmd_refuse(cmd, CMD_BAD_PARAM, "size, EQ or memory of the CQ");
	}
	trace("CQ 0x%x: %u entries, EQ %u%s", cq->cqn, cq_size(cq), cq->eqn,
	      cq->timestamps ? ", timestamps" : "");
	card->cqs[cq->cqn] = cq;
	card->cq_known[cq->cqn] = true;
	cq->next = card->live_cqs;
	card->live_cqs = cq;
	return CMD_OK;
}

enum cmd_status cmd_hw2sw_cq(struct card *card, struct cmd *cmd)
{
	struct cq *cq = cq_find(card, cmd->in_mod);

	if (!cq)
		return cmd_refuse(cmd, CMD_BAD_RES_STATE, "the CQ is not the card's");
	if (cq->users) {
		violation(V_STILL_OWNED, "CQ 0x%x: %u QPs complete there", cq->cqn, cq->users);
		return CMD_RESOURCE_BUSY;
	}
	forget(card, cq);
	return CMD_OK;
}

enum cmd_status cmd_modify_cq(struct card *card, struct cmd *cmd)
{
	struct cq *cq = cq_find(card, cmd->in_mod);

	if (!cq)
		return cmd_refuse(cmd, CMD_BAD_RES_STATE, "the CQ is not the card's");
	if (cmd->op_mod != MODIFY_CQ_MODERATE)
		return cmd_refuse(cmd, CMD_BAD_OP, "resizing a CQ is not modelled");
	cq->period_us = get_be16(cmd->in, CQC_PERIOD);
	cq->max_count = get_be16(cmd->in, CQC_MAX_COUNT);
	return CMD_OK;
}
