/* SPDX-License-Identifier: GPL-2.0 */
/* Firmware commands: what a handler gets and gives. */
#ifndef CX3_CMD_H
#define CX3_CMD_H

#include "card.h"

enum cmd_status {		/* mlx4/cmd.c */
	CMD_OK = 0x00,
	CMD_INTERNAL_ERR = 0x01,
	CMD_BAD_OP = 0x02,
	CMD_BAD_PARAM = 0x03,
	CMD_BAD_SYS_STATE = 0x04,
	CMD_BAD_RESOURCE = 0x05,
	CMD_RESOURCE_BUSY = 0x06,
	CMD_EXCEED_LIM = 0x08,
	CMD_BAD_RES_STATE = 0x09,
	CMD_BAD_INDEX = 0x0a,
	CMD_ICM_ERROR = 0x0c,
	CMD_BAD_QP_STATE = 0x10,
	CMD_BAD_SIZE = 0x40,
};

struct cmd {
	u16 opcode;
	u8 op_mod;
	u32 in_mod;
	u64 in_param;
	u64 out_param;		/* where the outbox is, or the immediate answer */
	u8 in[CX3_MAILBOX_SIZE];
	u8 out[CX3_MAILBOX_SIZE];
};

typedef enum cmd_status cmd_handler(struct card *card, struct cmd *cmd);

/* Says what is wrong with a parameter; the value of a handler that refuses it. */
enum cmd_status cmd_refuse(const struct cmd *cmd, enum cmd_status status, const char *why);
const char *cmd_name(u16 opcode);

cmd_handler cmd_query_fw, cmd_map_fa, cmd_unmap_fa, cmd_run_fw, cmd_mod_stat_cfg;
cmd_handler cmd_query_dev_cap, cmd_query_adapter, cmd_set_icm_size, cmd_map_icm_aux;
cmd_handler cmd_unmap_icm_aux, cmd_map_icm, cmd_unmap_icm, cmd_init_hca, cmd_close_hca;
cmd_handler cmd_query_hca, cmd_config_dev, cmd_nop, cmd_conf_special_qp, cmd_mad_ifc;
cmd_handler cmd_health_check, cmd_access_reg, cmd_sync_tpt;
cmd_handler cmd_sw2hw_eq, cmd_hw2sw_eq, cmd_map_eq;
cmd_handler cmd_sw2hw_cq, cmd_hw2sw_cq, cmd_modify_cq;
cmd_handler cmd_sw2hw_mpt, cmd_hw2sw_mpt;
cmd_handler cmd_rst2init_qp, cmd_init2rtr_qp, cmd_rtr2rts_qp, cmd_2rst_qp, cmd_2err_qp;
cmd_handler cmd_query_port, cmd_set_port, cmd_init_port, cmd_close_port;
cmd_handler cmd_set_vlan_fltr, cmd_set_mcast_fltr, cmd_dump_eth_stats, cmd_query_if_stat;
cmd_handler cmd_flow_attach, cmd_flow_detach;

#endif
