// SPDX-License-Identifier: GPL-2.0
/*
 * The firmware's command interface: seven registers (the HCR), of which the
 * write to the last posts a command; mailboxes in the guest's memory.
 *
 * A command runs at once, inside of that write. The table has a row a command;
 * its handler parses the inbox, does the work and formats the outbox. An opcode
 * without a row is refused and reported, a row says from which state of the
 * card on its command may come.
 */
#include "cmd.h"
#include "fault.h"

#define MAILBOX_ALIGN	256
#define FOREVER		(NEVER - 1)

struct row {
	u16 opcode;
	const char *name;
	cmd_handler *run;
	enum hca_state from;
	u16 in_size, out_size;
};

static const struct row table[] = {
	{ 0x003, "QUERY_DEV_CAP", cmd_query_dev_cap, HCA_FW_RUNNING, 0, 0x100 },
	{ 0x004, "QUERY_FW", cmd_query_fw, HCA_RESET, 0, 0x100 },
	{ 0x006, "QUERY_ADAPTER", cmd_query_adapter, HCA_FW_RUNNING, 0, 0x120 },
	{ 0x007, "INIT_HCA", cmd_init_hca, HCA_FW_RUNNING, HCA_SIZE, 0 },
	{ 0x008, "CLOSE_HCA", cmd_close_hca, HCA_UP, 0, 0 },
	{ 0x009, "INIT_PORT", cmd_init_port, HCA_UP, 0, 0 },
	{ 0x00a, "CLOSE_PORT", cmd_close_port, HCA_UP, 0, 0 },
	{ 0x00b, "QUERY_HCA", cmd_query_hca, HCA_FW_RUNNING, 0, HCA_SIZE },
	{ 0x00c, "SET_PORT", cmd_set_port, HCA_UP, CX3_MACS * sizeof(u64), 0 },
	{ 0x00d, "SW2HW_MPT", cmd_sw2hw_mpt, HCA_UP, MPT_SIZE, 0 },
	{ 0x00f, "HW2SW_MPT", cmd_hw2sw_mpt, HCA_UP, 0, 0 },
	{ 0x012, "MAP_EQ", cmd_map_eq, HCA_UP, 0, 0 },
	{ 0x013, "SW2HW_EQ", cmd_sw2hw_eq, HCA_UP, EQC_SIZE, 0 },
	{ 0x014, "HW2SW_EQ", cmd_hw2sw_eq, HCA_UP, 0, 0 },
	{ 0x016, "SW2HW_CQ", cmd_sw2hw_cq, HCA_UP, CQC_SIZE, 0 },
	{ 0x017, "HW2SW_CQ", cmd_hw2sw_cq, HCA_UP, 0, 0 },
	{ 0x019, "RST2INIT_QP", cmd_rst2init_qp, HCA_UP, QPC_IN_MAILBOX + QPC_SIZE, 0 },
	{ 0x01a, "INIT2RTR_QP", cmd_init2rtr_qp, HCA_UP, QPC_IN_MAILBOX + QPC_SIZE, 0 },
	{ 0x01b, "RTR2RTS_QP", cmd_rtr2rts_qp, HCA_UP, QPC_IN_MAILBOX + QPC_SIZE, 0 },
	{ 0x01e, "2ERR_QP", cmd_2err_qp, HCA_UP, 0, 0 },
	{ 0x021, "2RST_QP", cmd_2rst_qp, HCA_UP, 0, 0 },
	{ 0x023, "CONF_SPECIAL_QP", cmd_conf_special_qp, HCA_UP, 0, 0 },
	{ 0x024, "MAD_IFC", cmd_mad_ifc, HCA_UP, MAD_SIZE, MAD_SIZE },
	{ 0x02c, "MODIFY_CQ", cmd_modify_cq, HCA_UP, CQC_SIZE, 0 },
	{ 0x02f, "SYNC_TPT", cmd_sync_tpt, HCA_UP, 0, 0 },
	{ 0x031, "NOP", cmd_nop, HCA_FW_RUNNING, 0, 0 },
	{ 0x034, "MOD_STAT_CFG", cmd_mod_stat_cfg, HCA_FW_RUNNING, 0, 0x100 },
	{ 0x03a, "CONFIG_DEV", cmd_config_dev, HCA_UP, 0x100, 0x100 },
	{ 0x03b, "ACCESS_REG", cmd_access_reg, HCA_UP, 0x100, 0x100 },
	{ 0x043, "QUERY_PORT", cmd_query_port, HCA_FW_RUNNING, 0, 0x100 },
	{ 0x047, "SET_VLAN_FLTR", cmd_set_vlan_fltr, HCA_UP, VLAN_FILTER_WORDS * sizeof(u32), 0 },
	{ 0x048, "SET_MCAST_FLTR", cmd_set_mcast_fltr, HCA_UP, 0, 0 },
	{ 0x049, "DUMP_ETH_STATS", cmd_dump_eth_stats, HCA_UP, 0, STATS_SIZE },
	{ 0x050, "HW_HEALTH_CHECK", cmd_health_check, HCA_UP, 0, 0 },
	{ 0x054, "QUERY_IF_STAT", cmd_query_if_stat, HCA_UP, 0, IF_STAT_SIZE },
	{ 0x065, "FLOW_STEERING_ATTACH", cmd_flow_attach, HCA_UP, CX3_MAILBOX_SIZE, 0 },
	{ 0x066, "FLOW_STEERING_DETACH", cmd_flow_detach, HCA_UP, 0, 0 },
	{ 0xff6, "RUN_FW", cmd_run_fw, HCA_FW_MAPPED, 0, 0 },
	{ 0xff9, "UNMAP_ICM", cmd_unmap_icm, HCA_FW_RUNNING, 0, 0 },
	{ 0xffa, "MAP_ICM", cmd_map_icm, HCA_FW_RUNNING, CX3_MAILBOX_SIZE, 0 },
	{ 0xffb, "UNMAP_ICM_AUX", cmd_unmap_icm_aux, HCA_FW_RUNNING, 0, 0 },
	{ 0xffc, "MAP_ICM_AUX", cmd_map_icm_aux, HCA_FW_RUNNING, CX3_MAILBOX_SIZE, 0 },
	{ 0xffd, "SET_ICM_SIZE", cmd_set_icm_size, HCA_FW_RUNNING, 0, 0 },
	{ 0xffe, "UNMAP_FA", cmd_unmap_fa, HCA_FW_MAPPED, 0, 0 },
	{ 0xfff, "MAP_FA", cmd_map_fa, HCA_RESET, CX3_MAILBOX_SIZE, 0 },
};

static const struct row *find(u16 opcode)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(table); i++)
		if (table[i].opcode == opcode)
			return &table[i];
	return NULL;
}

const char *cmd_name(u16 opcode)
{
	const struct row *row = find(opcode);

	return row ? row->name : "unknown";
}

enum cmd_status cmd_refuse(const struct cmd *cmd, enum cmd_status status, const char *why)
{
	violation(V_CMD_PARAM, "%s: in_mod 0x%x op_mod %u in_param 0x%llx: %s",
		  cmd_name(cmd->opcode), cmd->in_mod, cmd->op_mod,
		  (unsigned long long)cmd->in_param, why);
	return status;
}

/* An address of 0 says that there is no mailbox; some commands take one or not. */
static bool read_inbox(struct card *card, const struct row *row, struct cmd *cmd)
{
	if (!row->in_size || !cmd->in_param)
		return true;
	if (!(cmd->in_param & (MAILBOX_ALIGN - 1)) &&
	    mem_read(&card->mem, cmd->in_param, cmd->in, row->in_size))
		return true;
	violation(V_CMD_MAILBOX, "%s: inbox at 0x%llx", row->name,
		  (unsigned long long)cmd->in_param);
	return false;
}

static bool write_outbox(struct card *card, const struct row *row, struct cmd *cmd, u64 addr)
{
	if (!row->out_size || !addr)
		return true;
	if (!(addr & (MAILBOX_ALIGN - 1)) && mem_write(&card->mem, addr, cmd->out, row->out_size))
		return true;
	violation(V_CMD_MAILBOX, "%s: outbox at 0x%llx", row->name, (unsigned long long)addr);
	return false;
}

static enum cmd_status run(struct card *card, struct cmd *cmd)
{
	const struct row *row = find(cmd->opcode);
	u64 outbox = cmd->out_param;
	enum cmd_status status;
	u32 wish;

	if (!row) {
		violation(V_CMD_UNKNOWN, "opcode 0x%x", cmd->opcode);
		return CMD_BAD_OP;
	}
	if (fault_hit(card, FAULT_CMD_FAIL, cmd->opcode, &wish))
		return (enum cmd_status)(wish ? wish : CMD_INTERNAL_ERR);
	if (card->hca.state < row->from) {
		violation(V_CMD_STATE, "%s in state %d", row->name, card->hca.state);
		return CMD_BAD_SYS_STATE;
	}
	if (!read_inbox(card, row, cmd))
		return CMD_BAD_PARAM;
	status = row->run(card, cmd);
	if (status == CMD_OK && !write_outbox(card, row, cmd, outbox))
		return CMD_BAD_PARAM;
	return status;
}

/* The toggle stays as the driver wrote it: that is how it knows its command from the last. */
static void complete(struct card *card, enum cmd_status status)
{
	u32 *last = &card->hcr[HCR_GO_WORD];

	*last = (u32)((*last & ~(HCR_GO | HCR_STATUS_M)) | in_field(HCR_STATUS_M, status));
}

static void post(struct card *card)
{
	u32 *hcr = card->hcr;
	struct cmd cmd = {
		.opcode = (u16)field(HCR_OPCODE_M, hcr[HCR_GO_WORD]),
		.op_mod = (u8)field(HCR_OPMOD_M, hcr[HCR_GO_WORD]),
		.in_mod = hcr[HCR_IN_MOD],
		.in_param = (u64)hcr[HCR_IN_HI] << 32 | hcr[HCR_IN_LO],
		.out_param = (u64)hcr[HCR_OUT_HI] << 32 | hcr[HCR_OUT_LO],
	};
	u16 token = (u16)field(HCR_TOKEN_M, hcr[HCR_TOKEN]);
	bool event = hcr[HCR_GO_WORD] & HCR_EVENT;
	enum cmd_status status;
	u32 ms;

	pci_needs_master(card, cmd_name(cmd.opcode));
	status = run(card, &cmd);
	trace("%s in_mod 0x%x op_mod %u: status 0x%x", cmd_name(cmd.opcode), cmd.in_mod,
	      cmd.op_mod, status);
	hcr[HCR_OUT_HI] = (u32)(cmd.out_param >> 32);
	hcr[HCR_OUT_LO] = (u32)cmd.out_param;
	if (fault_hit(card, FAULT_CMD_TIMEOUT, cmd.opcode, &ms)) {
		card->cmd_status = status;
		card->hcr_until = ms ? card_now(card) + ms * NS_PER_MS : FOREVER;
		if (event)	/* taken, but not finished */
			complete(card, CMD_OK);
		return;
	}
	complete(card, status);
	if (event)
		event_cmd(card, token, (u8)status, cmd.out_param);
}

void hcr_write(struct card *card, unsigned int word, u32 value)
{
	if (card->hcr[HCR_GO_WORD] & HCR_GO) {
		violation(V_CMD_BUSY, "HCR word %u written", word);
		return;
	}
	card->hcr[word] = value;
	if (word == HCR_GO_WORD && value & HCR_GO)
		post(card);
}

u32 hcr_read(struct card *card, unsigned int word)
{
	return card->hcr[word];
}

u64 cmd_next(struct card *card)
{
	return card->hcr_until && card->hcr_until != FOREVER ? card->hcr_until : NEVER;
}

/* A command that a fault held back comes to its end. */
void cmd_run(struct card *card)
{
	u64 out = (u64)card->hcr[HCR_OUT_HI] << 32 | card->hcr[HCR_OUT_LO];
	u16 token = (u16)field(HCR_TOKEN_M, card->hcr[HCR_TOKEN]);
	bool event = card->hcr[HCR_GO_WORD] & HCR_EVENT;

	if (!card->hcr_until || card->hcr_until == FOREVER || card->hcr_until > card_now(card))
		return;
	card->hcr_until = 0;
	if (event)
		event_cmd(card, token, card->cmd_status, out);
	else
		complete(card, (enum cmd_status)card->cmd_status);
}
