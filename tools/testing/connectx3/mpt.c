// SPDX-License-Identifier: GPL-2.0
/*
 * Memory regions: an lkey names one, and says which addresses a queue of the
 * same protection domain may reach through it and how. The Ethernet driver has
 * one region over all of physical memory.
 */
#include <stdlib.h>

#include "cmd.h"

static struct mpt *mpt_find(struct card *card, u32 lkey)
{
	u32 index = (u32)field(LKEY_INDEX_M, lkey);
	struct mpt *mpt;

	if (!card->mpts || index >= BIT(card->hca.log_mpts))
		return NULL;
	mpt = card->mpts[index];
	return mpt && mpt->key_top == field(LKEY_TOP_M, lkey) ? mpt : NULL;
}

void mpt_free_all(struct card *card)
{
	u32 i;

	for (i = 0; card->mpts && i < BIT(card->hca.log_mpts); i++)
		free(card->mpts[i]);
	free(card->mpts);
	card->mpts = NULL;
}

static struct mpt *allowed(struct card *card, const struct qp *qp, u32 lkey, u64 addr, u32 len,
			   bool write)
{
	struct mpt *mpt = mpt_find(card, lkey);
	u64 right = write ? MPT_FLAG_LOCAL_WRITE : MPT_FLAG_LOCAL_READ;

	if (!mpt) {
		violation(V_BAD_LKEY, "QP 0x%x: lkey 0x%x", qp->qpn, lkey);
		return NULL;
	}
	if (mpt->pd != qp->pd || !(mpt->flags & right)) {
		violation(V_LKEY_RIGHTS, "QP 0x%x: lkey 0x%x, %s", qp->qpn, lkey,
			  write ? "write" : "read");
		return NULL;
	}
	if (addr < mpt->start || addr - mpt->start > mpt->length ||
	    mpt->length - (addr - mpt->start) < len) {
		violation(V_LKEY_RANGE, "QP 0x%x: lkey 0x%x, 0x%llx + %u", qp->qpn, lkey,
			  (unsigned long long)addr, len);
		return NULL;
	}
	return mpt;
}

/* The guest address of addr, and how many bytes from there lie together. */
static bool resolve(struct card *card, const struct mpt *mpt, u64 addr, u64 *phys, u32 *len)
{
	struct queue_mem pages = { .mtt = mpt->mtt_addr, .page_shift = mpt->page_shift };
	u64 offset = addr - mpt->start;
	u64 left;

	if (mpt->flags & MPT_FLAG_PHYSICAL) {
		*phys = addr;
		return true;
	}
	left = BIT(mpt->page_shift) - (offset & (BIT(mpt->page_shift) - 1));
	*len = (u32)MIN(*len, left);
	return queue_addr(card, &pages, offset, phys);
}

static void outside(const struct qp *qp, u64 addr, u32 len)
{
	violation(V_DMA_OUTSIDE, "QP 0x%x: 0x%llx + %u", qp->qpn, (unsigned long long)addr, len);
}

bool mr_read(struct card *card, const struct qp *qp, u32 lkey, u64 addr, void *buf, u32 len)
{
	struct mpt *mpt = allowed(card, qp, lkey, addr, len, false);
	u8 *to = buf;

	while (mpt && len) {
		u32 part = len;
		u64 phys;

		if (!resolve(card, mpt, addr, &phys, &part))
			return false;
		if (!mem_read(&card->mem, phys, to, part)) {
			outside(qp, phys, part);
			return false;
		}
		addr += part;
		to += part;
		len -= part;
	}
	return mpt;
}

bool mr_write(struct card *card, const struct qp *qp, u32 lkey, u64 addr, const void *buf, u32 len)
{
	struct mpt *mpt = allowed(card, qp, lkey, addr, len, true);
	const u8 *from = buf;

	while (mpt && len) {
		u32 part = len;
		u64 phys;

		if (!resolve(card, mpt, addr, &phys, &part))
			return false;
		if (!mem_write(&card->mem, phys, from, part)) {
			outside(qp, phys, part);
			return false;
		}
		addr += part;
		from += part;
		len -= part;
	}
	return mpt;
}

bool mr_check(struct card *card, const struct qp *qp, u32 lkey, u64 addr, u32 len, bool write)
{
	return allowed(card, qp, lkey, addr, len, write);
}

static void parse_mpt(struct mpt *mpt, const u8 *in)
{
	mpt->flags = get_be32(in, MPT_FLAGS);
	mpt->pd = (u32)field(MPT_PD_M, get_be32(in, MPT_PD));
	/* the lkey is the index, turned left by a byte */
	mpt->key_top = (u8)field(MPT_KEY_TOP_M, get_be32(in, MPT_KEY));
	mpt->start = get_be64(in, MPT_START);
	mpt->length = get_be64(in, MPT_LENGTH);
	mpt->mtt_addr = get_be64(in, MPT_MTT_ADDR);
	mpt->page_shift = get_be32(in, MPT_ENTITY_SIZE);
}

enum cmd_status cmd_sw2hw_mpt(struct card *card, struct cmd *cmd)
{
	struct mpt *mpt;

	if (cmd->in_mod >= BIT(card->hca.log_mpts))
		return cmd_refuse(cmd, CMD_BAD_INDEX, "no such MPT");
	if (card->mpts[cmd->in_mod])
		return cmd_refuse(cmd, CMD_BAD_RES_STATE, "the MPT is the card's already");
	mpt = calloc(1, sizeof(*mpt));
	if (!mpt)
		return CMD_INTERNAL_ERR;
	parse_mpt(mpt, cmd->in);
	if (!(mpt->flags & MPT_FLAG_PHYSICAL) &&
	    (mpt->page_shift < ICM_PAGE_SHIFT || mpt->page_shift > ICM_LOG_SIZE)) {
		free(mpt);
		return cmd_refuse(cmd, CMD_BAD_PARAM, "page size of the MPT");
	}
	card->mpts[cmd->in_mod] = mpt;
	return CMD_OK;
}

enum cmd_status cmd_hw2sw_mpt(struct card *card, struct cmd *cmd)
{
	if (cmd->in_mod >= BIT(card->hca.log_mpts))
		return cmd_refuse(cmd, CMD_BAD_INDEX, "no such MPT");
	if (!card->mpts[cmd->in_mod])
		return cmd_refuse(cmd, CMD_BAD_RES_STATE, "the MPT is not the card's");
	free(card->mpts[cmd->in_mod]);
	card->mpts[cmd->in_mod] = NULL;
	return CMD_OK;
}
