// SPDX-License-Identifier: GPL-2.0
/*
 * Event queues: rings in which the card tells the driver what happened, each
 * with an interrupt vector.
 *
 * The owner byte of an entry says whose it is; its meaning turns over with each
 * pass through the ring. An interrupt goes out when an event finds the queue
 * armed, and disarms it; a doorbell that arms a queue in which events wait sends
 * the interrupt at once.
 */
#include <stdlib.h>

#include "cmd.h"
#include "fault.h"

#define EQ_MAX_LOG_SIZE	20

static u32 eq_size(const struct eq *eq)
{
	return 1u << eq->log_size;
}

struct eq *eq_find(struct card *card, u32 eqn)
{
	return card->eqs && eqn < BIT(card->hca.log_eqs) ? card->eqs[eqn] : NULL;
}

void eq_free_all(struct card *card)
{
	u32 i;

	for (i = 0; card->eqs && i < BIT(card->hca.log_eqs); i++)
		free(card->eqs[i]);
	free(card->eqs);
	card->eqs = NULL;
	card->late_irqs = 0;
	for (i = 0; i < EVENT_TYPES; i++)
		card->event_eq[i] = -1;
}

static u64 entry_offset(const struct card *card, u32 index)
{
	u64 size = BIT(card->hca.eqe_shift);

	/* of an entry of 64 bytes the upper half is the real one */
	return (u64)index * size + (size - EQE_SIZE);
}

static void interrupt(struct card *card, struct eq *eq)
{
	u32 ms;

	eq->armed = false;
	if (fault_hit(card, FAULT_IRQ_LOST, eq->eqn, NULL))
		return;
	if (fault_hit(card, FAULT_IRQ_LATE, eq->eqn, &ms)) {
		card->late_irqs += !eq->irq_at;
		eq->irq_at = card_now(card) + ms * NS_PER_MS;
		return;
	}
	card->host.interrupt(card->host.arg, eq->vector);
	if (fault_hit(card, FAULT_IRQ_TWICE, eq->eqn, NULL))
		card->host.interrupt(card->host.arg, eq->vector);
}

static void overrun(struct card *card, struct eq *eq)
{
	if (!eq->overrun)
		violation(V_EQ_OVERRUN, "EQ %u, %u events", eq->eqn, eq->pi - eq->ci);
	eq->overrun = true;
	if (eq->armed)
		interrupt(card, eq);
}

/* eqe: EQE_SIZE bytes, all but the owner. */
void eq_event(struct card *card, struct eq *eq, u8 *eqe)
{
	u8 *slot;

	if (eq->pi - eq->ci >= eq_size(eq) || fault_hit(card, FAULT_EQ_FULL, eq->eqn, NULL)) {
		overrun(card, eq);
		return;
	}
	slot = queue_ptr(card, &eq->mem, entry_offset(card, eq->pi & (eq_size(eq) - 1)), EQE_SIZE);
	if (!slot)
		return;
	memcpy(slot, eqe, EQE_OWNER);
	/* the owner last: pairs with the barrier after the driver's look at it */
	__atomic_store_n(slot + EQE_OWNER, eq->pi & eq_size(eq) ? OWNER_HW : 0, __ATOMIC_RELEASE);
	eq->pi++;
	if (eq->armed)
		interrupt(card, eq);
}

static struct eq *eq_of_event(struct card *card, enum event_type type)
{
	return card->event_eq[type] < 0 ? NULL : eq_find(card, (u32)card->event_eq[type]);
}

void event_async(struct card *card, enum event_type type, u8 subtype, size_t off, u32 value)
{
	struct eq *eq = eq_of_event(card, type);
	u8 eqe[EQE_SIZE] = { 0 };

	if (!eq)
		return;
	put_u8(eqe, EQE_TYPE, (u8)type);
	put_u8(eqe, EQE_SUBTYPE, subtype);
	put_be32(eqe, off, value);
	if (type == EVENT_CQ_ERROR)
		put_u8(eqe, EQE_CQ_SYNDROME, subtype);
	eq_event(card, eq, eqe);
}

void event_cmd(struct card *card, u16 token, u8 status, u64 out)
{
	struct eq *eq = eq_of_event(card, EVENT_CMD);
	u8 eqe[EQE_SIZE] = { 0 };

	if (!eq)
		return;
	put_u8(eqe, EQE_TYPE, EVENT_CMD);
	put_be16(eqe, EQE_CMD_TOKEN, token);
	put_u8(eqe, EQE_CMD_STATUS, status);
	put_be64(eqe, EQE_CMD_OUT, out);
	eq_event(card, eq, eqe);
}

void eq_doorbell(struct card *card, u32 eqn, u32 value)
{
	struct eq *eq = eq_find(card, eqn);
	u32 behind;

	if (!eq) {
		violation(V_DB_NO_CQ, "doorbell for EQ %u", eqn);
		return;
	}
	behind = (eq->pi - (u32)field(EQ_DB_CI_M, value)) & (u32)EQ_DB_CI_M;
	if (behind > eq_size(eq)) {
		violation(V_EQ_CONSUMER, "EQ %u: consumer 0x%x, producer 0x%x", eqn,
			  (u32)field(EQ_DB_CI_M, value), eq->pi);
		return;
	}
	eq->ci = eq->pi - behind;
	if (!(value & EQ_DB_ARM))
		return;
	eq->armed = true;
	if (eq->pi != eq->ci)
		interrupt(card, eq);
}

u64 eq_next(struct card *card)
{
	u64 next = NEVER;
	u32 i;

	for (i = 0; card->late_irqs && card->eqs && i < BIT(card->hca.log_eqs); i++)
		if (card->eqs[i] && card->eqs[i]->irq_at)
			next = MIN(next, card->eqs[i]->irq_at);
	return next;
}

void eq_run(struct card *card)
{
	u64 now = card_now(card);
	u32 i;

	for (i = 0; card->late_irqs && card->eqs && i < BIT(card->hca.log_eqs); i++) {
		struct eq *eq = card->eqs[i];

		if (eq && eq->irq_at && eq->irq_at <= now) {
			eq->irq_at = 0;
			card->late_irqs--;
			card->host.interrupt(card->host.arg, eq->vector);
		}
	}
}

/* Every entry belongs to the card at first; zeroed memory would say the opposite. */
static bool own_entries(struct card *card, struct eq *eq)
{
	u32 i;

	for (i = 0; i < eq_size(eq); i++) {
		u8 *slot = queue_ptr(card, &eq->mem, entry_offset(card, i), EQE_SIZE);

		if (!slot)
			return false;
		slot[EQE_OWNER] = OWNER_HW;
	}
	return true;
}

static void parse_eq(struct eq *eq, u32 eqn, const u8 *in)
{
	eq->eqn = eqn;
	eq->log_size = (unsigned int)field(EQC_LOG_SIZE_M, get_u8(in, EQC_LOG_SIZE));
	eq->vector = get_u8(in, EQC_INTR);
	eq->armed = field(EQC_STATE_M, get_be32(in, EQC_FLAGS)) == EQC_STATE_ARMED;
	eq->mem.page_shift = ICM_PAGE_SHIFT +
		(unsigned int)field(EQC_LOG_PAGE_M, get_u8(in, EQC_LOG_PAGE));
	eq->mem.mtt = (u64)get_u8(in, EQC_MTT_HI) << 32 | get_be32(in, EQC_MTT_LO);
}

enum cmd_status cmd_sw2hw_eq(struct card *card, struct cmd *cmd)
{
	struct eq *eq;

	if (cmd->in_mod >= BIT(card->hca.log_eqs))
		return cmd_refuse(cmd, CMD_BAD_INDEX, "no such EQ");
	if (card->eqs[cmd->in_mod])
		return cmd_refuse(cmd, CMD_BAD_RES_STATE, "the EQ is the card's already");
	eq = calloc(1, sizeof(*eq));
	if (!eq)
		return CMD_INTERNAL_ERR;
	parse_eq(eq, cmd->in_mod, cmd->in);
	if (eq->log_size > EQ_MAX_LOG_SIZE || eq->vector >= CX3_NUM_VECTORS ||
	    eq->mem.page_shift > ICM_LOG_SIZE || !own_entries(card, eq)) {
		free(eq);
		return cmd_refuse(cmd, CMD_BAD_PARAM, "size, vector or memory of the EQ");
	}
	trace("EQ %u: %u entries, vector %u", eq->eqn, eq_size(eq), eq->vector);
	card->eqs[eq->eqn] = eq;
	return CMD_OK;
}

enum cmd_status cmd_hw2sw_eq(struct card *card, struct cmd *cmd)
{
	struct eq *eq = eq_find(card, cmd->in_mod);

	if (!eq)
		return cmd_refuse(cmd, CMD_BAD_RES_STATE, "the EQ is not the card's");
	card->late_irqs -= !!eq->irq_at;
	card->eqs[eq->eqn] = NULL;
	free(eq);
	return CMD_OK;
}

enum cmd_status cmd_map_eq(struct card *card, struct cmd *cmd)
{
	u32 eqn = (u32)field(MAP_EQ_EQN_M, cmd->in_mod);
	bool unmap = cmd->in_mod & MAP_EQ_UNMAP;
	int i;

	if (!eq_find(card, eqn))
		return cmd_refuse(cmd, CMD_BAD_INDEX, "no such EQ");
	for (i = 0; i < EVENT_TYPES; i++)
		if (cmd->in_param & BIT(i))
			card->event_eq[i] = unmap ? -1 : (int)eqn;
	return CMD_OK;
}
