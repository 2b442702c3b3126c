// SPDX-License-Identifier: GPL-2.0
/*
 * QUERY_DEV_CAP: what the card says it can do, a row a field. The names are
 * those of the driver's parser (mlx4/fw.c), the offsets its too. Fields that are
 * not listed are zero: BlueFlame, virtual functions, VXLAN, SRQs in hardware,
 * wake on LAN and port type sensing are not offered.
 */
#include "cmd.h"

/* the two 64-bit flag words: inc/device.h */
#define CAP_BLH			BIT(15)
#define CAP_UC_LOOPBACK		BIT(32)
#define CAP_FCS_KEEP		BIT(34)
#define CAP_UDP_RSS		BIT(40)
#define CAP_COUNTERS		BIT(48)
#define CAP_RSS_IP_FRAG		BIT(52)
#define CAP_64B_EQE		BIT(61)
#define CAP_64B_CQE		BIT(62)
#define CAP_FLAGS		(CAP_BLH | CAP_UC_LOOPBACK | CAP_FCS_KEEP | CAP_UDP_RSS | \
				 CAP_COUNTERS | CAP_RSS_IP_FRAG | CAP_64B_EQE | CAP_64B_CQE)
#define CAP2_FLOWSTATS		BIT(28)

#define CAP_RSS_XOR		0x20
#define CAP_RSS_TOEPLITZ	0x10
#define CAP_RSS_LOG_TABLE	7
#define CAP_FS_EN		0x80
#define CAP_FS_LOG_RANGE	7
#define CAP_CONFIG_DEV		0x20
#define CAP_IGNORE_FCS		0x04
#define CAP_PHV_EN		0x80
#define CAP_ETH_PROT_CTRL	0x20
#define CAP_REASSIGN_MAC	0x40
#define CAP_PORT_BEACON		0x80
#define CAP_TIMESTAMPS		0x80

struct cap {
	u16 offset;
	u8 size;
	u64 value;
	const char *name;
};

static const struct cap caps[] = {
	{ 0x10, 1, 14, "log_max_srq_sz" },
	{ 0x11, 1, 14, "log_max_qp_sz" },
	{ 0x12, 1, 6, "log_rsvd_qp" },
	{ 0x13, 1, 19, "log_max_qp" },
	{ 0x14, 1, 6 << 4, "log_rsvd_srq" },
	{ 0x15, 1, 16, "log_max_srq" },
	{ 0x19, 1, 22, "log_max_cq_sz" },
	{ 0x1a, 1, 7, "log_rsvd_cq" },
	{ 0x1b, 1, 16, "log_max_cq" },
	{ 0x1d, 1, 19, "log_max_mpt" },
	{ 0x1e, 1, 4, "log_rsvd_eq" },
	{ 0x1f, 1, 8, "log_max_eq" },
	{ 0x20, 1, 4 << 4, "log_rsvd_mtt" },
	{ 0x22, 1, 4, "log_rsvd_mrw" },
	{ 0x29, 1, 7, "log_max_requester" },
	{ 0x2b, 1, 7, "log_max_responder" },
	{ 0x2d, 1, 17, "log_max_gso" },
	{ 0x2e, 1, CAP_RSS_XOR | CAP_RSS_TOEPLITZ | CAP_RSS_LOG_TABLE, "rss" },
	{ 0x34, 1, CAP_PORT_BEACON, "port_beacon" },
	{ 0x35, 1, 15, "ack_delay" },
	{ 0x37, 1, CX3_NUM_PORTS, "num_ports" },
	{ 0x38, 1, 30, "log_max_msg" },
	{ 0x3b, 1, 7, "log_max_gid" },
	{ 0x3e, 1, CAP_TIMESTAMPS, "cq_timestamps" },
	{ 0x3f, 1, 7, "log_max_pkey" },
	{ 0x40, 4, CAP_FLAGS >> 32, "ext_flags" },
	{ 0x44, 4, CAP_FLAGS & 0xffffffff, "flags" },
	{ 0x49, 1, CX3_LOG_UAR_MB, "log_uar_mb" },
	{ 0x4b, 1, UAR_PAGE_SHIFT, "log_page_sz" },
	{ 0x51, 1, 62, "max_sg_sq" },
	{ 0x52, 2, MAX_WQE_SIZE - WQE_UNIT, "max_desc_sz_sq" },
	{ 0x55, 1, 32, "max_sg_rq" },
	{ 0x56, 2, 512, "max_desc_sz_rq" },
	{ 0x61, 1, 8, "log_max_qp_mcg" },
	{ 0x63, 1, 17, "log_max_mcg" },
	{ 0x65, 1, 15, "log_max_pd" },
	{ 0x68, 4, CX3_NUM_COUNTERS, "max_counters" },
	{ 0x70, 4, CAP2_FLOWSTATS, "ext_2_flags" },
	{ 0x76, 1, CAP_FS_EN | CAP_FS_LOG_RANGE, "flow_steering" },
	/* fewer halve the size of a steering entry, and of the context memory */
	{ 0x77, 1, 56, "flow_steering_max_qp" },
	{ 0x7a, 1, CAP_ETH_PROT_CTRL, "eth_prot_ctrl" },
	{ 0x80, 2, 32, "rdmarc_entry_sz" },
	{ 0x82, 2, 256, "qpc_entry_sz" },
	{ 0x84, 2, 1, "aux_entry_sz" },
	{ 0x86, 2, 64, "altc_entry_sz" },
	{ 0x88, 2, EQC_SIZE, "eqc_entry_sz" },
	{ 0x8a, 2, CQC_SIZE, "cqc_entry_sz" },
	{ 0x8c, 2, 32, "srq_entry_sz" },
	{ 0x8e, 2, 64, "cmpt_entry_sz" },
	{ 0x90, 2, MTT_ENTRY_SIZE, "mtt_entry_sz" },
	{ 0x92, 2, MPT_SIZE, "dmpt_entry_sz" },
	{ 0x94, 1, CAP_CONFIG_DEV | CAP_IGNORE_FCS, "config_dev" },
	{ 0x96, 1, CAP_PHV_EN, "phv_en" },
	{ 0x9d, 1, CAP_REASSIGN_MAC, "reassign_mac" },
	{ 0xa0, 8, BIT(ICM_LOG_SIZE), "max_icm_sz" },
};

enum cmd_status cmd_query_dev_cap(struct card *card, struct cmd *cmd)
{
	unsigned int i;

	(void)card;
	for (i = 0; i < ARRAY_SIZE(caps); i++)
		put_be(cmd->out, caps[i].offset, caps[i].size, caps[i].value);
	return CMD_OK;
}
