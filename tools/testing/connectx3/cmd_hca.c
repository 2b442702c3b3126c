// SPDX-License-Identifier: GPL-2.0
/*
 * The commands of the way up and down: firmware area, context memory, INIT_HCA.
 */
#include <stdlib.h>

#include "cmd.h"

#define FW_PAGES	512
#define AUX_PAGES	64
#define FW_MAJOR	2
#define FW_MINOR	42
#define FW_SUBMINOR	5000
#define CMD_IF_REV	3
#define LOG_MAX_CMD	4
/* no more than this many objects, whatever the driver asks for */
#define MAX_LOG_QPS	20
#define MAX_LOG_CQS	18
#define MAX_LOG_EQS	10
#define MAX_LOG_MPTS	20
#define LOG_ENTRY_32	5
#define LOG_ENTRY_64	6
#define MOD_STAT_PORT_M	BITS(15, 8)
#define MOD_STAT_GUID_LO 0x1c
enum { MOD_STAT_SET = 0, MOD_STAT_QUERY_GUID = 2, MOD_STAT_QUERY_WOL = 3 };

enum cmd_status cmd_query_fw(struct card *card, struct cmd *cmd)
{
	u8 *out = cmd->out;

	(void)card;
	put_be16(out, QFW_PAGES, FW_PAGES);
	put_be16(out, QFW_MAJOR, FW_MAJOR);
	put_be16(out, QFW_SUBMINOR, FW_SUBMINOR);
	put_be16(out, QFW_MINOR, FW_MINOR);
	put_be16(out, QFW_CMD_IF_REV, CMD_IF_REV);
	put_u8(out, QFW_LOG_MAX_CMD, LOG_MAX_CMD);
	/* the BAR fields stay 0: all of these are in BAR 0 */
	put_be64(out, QFW_CLR_INT_BASE, REG_CLEAR_INT);
	put_be64(out, QFW_ERR_START, REG_ERROR_BUF);
	put_be32(out, QFW_ERR_SIZE, ERROR_BUF_WORDS);
	put_be64(out, QFW_CLOCK_OFFSET, REG_CLOCK_HI);
	return CMD_OK;
}

/* Counts the pages of a MAP command and looks that all of them are memory. */
static bool count_pages(struct card *card, struct cmd *cmd, unsigned int *pages)
{
	u32 i;

	if (cmd->in_mod > CX3_MAILBOX_SIZE / MAP_ENTRY_SIZE)
		return false;
	for (i = 0; i < cmd->in_mod; i++) {
		u64 phys = get_be64(cmd->in, i * MAP_ENTRY_SIZE + MAP_PHYS);
		u64 size = BIT(ICM_PAGE_SHIFT + (field(MAP_LOG_M, phys) & 31));

		if (!mem_ptr(&card->mem, phys & ~MAP_LOG_M, size, true))
			return false;
		*pages += (unsigned int)(size >> ICM_PAGE_SHIFT);
	}
	return true;
}

enum cmd_status cmd_map_fa(struct card *card, struct cmd *cmd)
{
	if (card->hca.state > HCA_FW_MAPPED)
		return cmd_refuse(cmd, CMD_BAD_SYS_STATE, "the firmware runs");
	if (!count_pages(card, cmd, &card->icm.fa_pages))
		return cmd_refuse(cmd, CMD_BAD_PARAM, "not the guest's memory");
	card->hca.state = HCA_FW_MAPPED;
	return CMD_OK;
}

enum cmd_status cmd_unmap_fa(struct card *card, struct cmd *cmd)
{
	if (card->hca.state == HCA_UP || card->icm.mapped || card->icm.aux_pages)
		return cmd_refuse(cmd, CMD_BAD_SYS_STATE, "context memory is still mapped");
	card->icm.fa_pages = 0;
	card->hca.state = HCA_RESET;
	return CMD_OK;
}

enum cmd_status cmd_run_fw(struct card *card, struct cmd *cmd)
{
	if (card->hca.state != HCA_FW_MAPPED)
		return cmd_refuse(cmd, CMD_BAD_SYS_STATE, "the firmware runs");
	if (card->icm.fa_pages < FW_PAGES)
		return cmd_refuse(cmd, CMD_BAD_SYS_STATE, "fewer pages than QUERY_FW asked for");
	card->hca.state = HCA_FW_RUNNING;
	return CMD_OK;
}

enum cmd_status cmd_mod_stat_cfg(struct card *card, struct cmd *cmd)
{
	u32 port = (u32)field(MOD_STAT_PORT_M, cmd->in_mod);

	switch (cmd->op_mod) {
	case MOD_STAT_SET:
		return CMD_OK;
	case MOD_STAT_QUERY_GUID:
		if (port < 1 || port > CX3_NUM_PORTS)
			return cmd_refuse(cmd, CMD_BAD_INDEX, "no such port");
		put_be32(cmd->out, MOD_STAT_GUID_LO, (u32)card->ports[port - 1].mac);
		return CMD_OK;
	case MOD_STAT_QUERY_WOL:
		cmd->out_param = 0;
		return CMD_OK;
	}
	return CMD_BAD_OP;
}

enum cmd_status cmd_set_icm_size(struct card *card, struct cmd *cmd)
{
	(void)card;
	if (cmd->in_param > BIT(ICM_LOG_SIZE))
		return cmd_refuse(cmd, CMD_EXCEED_LIM, "more context memory than there can be");
	cmd->out_param = AUX_PAGES;
	return CMD_OK;
}

enum cmd_status cmd_map_icm_aux(struct card *card, struct cmd *cmd)
{
	if (!count_pages(card, cmd, &card->icm.aux_pages))
		return cmd_refuse(cmd, CMD_BAD_PARAM, "not the guest's memory");
	return CMD_OK;
}

enum cmd_status cmd_unmap_icm_aux(struct card *card, struct cmd *cmd)
{
	(void)cmd;
	card->icm.aux_pages = 0;
	return CMD_OK;
}

enum cmd_status cmd_map_icm(struct card *card, struct cmd *cmd)
{
	unsigned int pages = 0;
	u32 i;

	if (!count_pages(card, cmd, &pages))
		return cmd_refuse(cmd, CMD_BAD_PARAM, "not the guest's memory");
	for (i = 0; i < cmd->in_mod; i++) {
		u64 virt = get_be64(cmd->in, i * MAP_ENTRY_SIZE + MAP_VIRT);
		u64 phys = get_be64(cmd->in, i * MAP_ENTRY_SIZE + MAP_PHYS);

		trace("context memory 0x%llx is at 0x%llx", (unsigned long long)virt,
		      (unsigned long long)phys);
		if (!icm_map(&card->icm, virt, phys & ~MAP_LOG_M,
			     (unsigned int)field(MAP_LOG_M, phys)))
			return cmd_refuse(cmd, CMD_BAD_PARAM, "address or size");
	}
	return CMD_OK;
}

enum cmd_status cmd_unmap_icm(struct card *card, struct cmd *cmd)
{
	trace("context memory 0x%llx taken away", (unsigned long long)cmd->in_param);
	if (!icm_unmap(&card->icm, cmd->in_param, cmd->in_mod))
		return cmd_refuse(cmd, CMD_BAD_PARAM, "that was not mapped");
	return CMD_OK;
}

static bool parse_init_hca(struct hca *hca, const u8 *in)
{
	u32 entries = get_be32(in, HCA_EQE_CQE_FLAGS);

	memcpy(hca->init, in, HCA_SIZE);
	hca->dmfs = get_be32(in, HCA_FLAGS) & HCA_FLAG_DMFS;
	hca->log_qps = (unsigned int)field(HCA_LOG_M, get_u8(in, HCA_LOG_QP));
	hca->log_cqs = (unsigned int)field(HCA_LOG_M, get_u8(in, HCA_LOG_CQ));
	hca->log_eqs = (unsigned int)field(HCA_LOG_M, get_u8(in, HCA_LOG_EQ));
	hca->log_mpts = (unsigned int)field(HCA_LOG_M, get_u8(in, HCA_LOG_MPT));
	hca->mtt_base = get_be64(in, HCA_MTT_BASE);
	hca->cqe_shift = entries & HCA_CQE_64B ? LOG_ENTRY_64 : LOG_ENTRY_32;
	hca->eqe_shift = entries & HCA_EQE_64B ? LOG_ENTRY_64 : LOG_ENTRY_32;
	return get_u8(in, HCA_VERSION) == HCA_VERSION_2 && hca->log_qps <= MAX_LOG_QPS &&
	       hca->log_cqs <= MAX_LOG_CQS && hca->log_eqs <= MAX_LOG_EQS &&
	       hca->log_mpts <= MAX_LOG_MPTS;
}

static void free_objects(struct card *card)
{
	qp_free_all(card);
	cq_free_all(card);
	eq_free_all(card);
	mpt_free_all(card);
}

enum cmd_status cmd_init_hca(struct card *card, struct cmd *cmd)
{
	struct hca hca = { .state = HCA_UP };

	if (card->hca.state == HCA_UP)
		return cmd_refuse(cmd, CMD_BAD_SYS_STATE, "the HCA is up");
	if (!parse_init_hca(&hca, cmd->in))
		return cmd_refuse(cmd, CMD_BAD_PARAM, "version or sizes");
	card->hca = hca;
	card->qps = calloc(BIT(hca.log_qps), sizeof(*card->qps));
	card->cqs = calloc(BIT(hca.log_cqs), sizeof(*card->cqs));
	card->cq_known = calloc(BIT(hca.log_cqs), sizeof(*card->cq_known));
	card->eqs = calloc(BIT(hca.log_eqs), sizeof(*card->eqs));
	card->mpts = calloc(BIT(hca.log_mpts), sizeof(*card->mpts));
	if (!card->qps || !card->cqs || !card->cq_known || !card->eqs || !card->mpts) {
		free_objects(card);
		card->hca.state = HCA_FW_RUNNING;
		return CMD_EXCEED_LIM;
	}
	say("up, %s steering", hca.dmfs ? "device-managed" : "A0");
	return CMD_OK;
}

enum cmd_status cmd_close_hca(struct card *card, struct cmd *cmd)
{
	unsigned int i;

	(void)cmd;
	if (card->live_cqs)
		violation(V_STILL_OWNED, "CLOSE_HCA: CQ 0x%x is still the card's",
			  card->live_cqs->cqn);
	for (i = 0; i < CX3_NUM_PORTS; i++)
		port_reset(card, i);
	free_objects(card);
	card->hca.state = HCA_FW_RUNNING;
	say("closed");
	return CMD_OK;
}

enum cmd_status cmd_query_hca(struct card *card, struct cmd *cmd)
{
	memcpy(cmd->out, card->hca.init, HCA_SIZE);
	put_be16(cmd->out, HCA_CORE_CLOCK, (u16)card->opt.clock_mhz);
	return CMD_OK;
}

enum cmd_status cmd_nop(struct card *card, struct cmd *cmd)
{
	(void)card;
	(void)cmd;
	return CMD_OK;
}

/* The special QPs are InfiniBand's; the driver makes room for them all the same. */
enum cmd_status cmd_conf_special_qp(struct card *card, struct cmd *cmd)
{
	return cmd_nop(card, cmd);
}

/* No translation is kept over a command, so there is nothing to bring in line. */
enum cmd_status cmd_sync_tpt(struct card *card, struct cmd *cmd)
{
	return cmd_nop(card, cmd);
}

enum cmd_status cmd_health_check(struct card *card, struct cmd *cmd)
{
	(void)cmd;
	return card->error_buf[0] ? CMD_INTERNAL_ERR : CMD_OK;
}
