/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the card's fields are: registers, mailboxes, queue entries.
 *
 * After each block stands the place that gives the layout: a file of the base
 * kernel (mlx4/ is drivers/net/ethernet/mellanox/mlx4/, inc/ is
 * include/linux/mlx4/), or "own" where the firmware may choose and tells the
 * driver. All fields are big-endian. Offsets are bytes.
 */
#ifndef CX3_LAYOUT_H
#define CX3_LAYOUT_H

#include "bits.h"

/* -- PCI: pci_ids.h, mlx4/main.c ------------------------------------------ */
#define CX3_VENDOR_ID		0x15b3
#define CX3_DEVICE_ID		0x1003
#define CX3_REVISION		0x01
#define CX3_CLASS_ETHERNET	0x020000
#define CX3_NUM_PORTS		2
#define CX3_NUM_VECTORS		128	/* own */
#define CX3_BAR0_SIZE		(1u << 20)
#define CX3_BAR2_SIZE		(8u << 20)	/* UARs below, BlueFlame above */
#define CX3_LOG_UAR_MB		2	/* 4 MiB of UARs */

/* -- BAR0: mlx4/mlx4.h, mlx4/reset.c, mlx4/main.c -------------------------- */
#define REG_MSIX_TABLE		0x7c000	/* own */
#define REG_MSIX_PBA		0x7d000	/* own */
#define REG_HCR			0x80680
#define HCR_WORDS		7
#define REG_HCR_END		(REG_HCR + 4 * HCR_WORDS)
#define REG_OWNERSHIP		0x8069c
#define REG_RESET		0xf0010
#define RESET_NOW		1
#define REG_SEMAPHORE		0xf03fc
#define REG_ERROR_BUF		0x1f000	/* own, QUERY_FW */
#define ERROR_BUF_WORDS		16	/* own, QUERY_FW */
#define REG_ERROR_BUF_END	(REG_ERROR_BUF + 4 * ERROR_BUF_WORDS)
#define REG_CLOCK_HI		0x1f100	/* own, QUERY_FW */
#define REG_CLOCK_LO		0x1f104
#define REG_CLEAR_INT		0xf00d8	/* own, QUERY_FW; 8 bytes */

/* the HCR's words, and the fields of the last: mlx4/cmd.c */
enum hcr_word { HCR_IN_HI, HCR_IN_LO, HCR_IN_MOD, HCR_OUT_HI, HCR_OUT_LO, HCR_TOKEN, HCR_GO_WORD };
#define HCR_TOKEN_M		BITS(31, 16)
#define HCR_STATUS_M		BITS(31, 24)
#define HCR_GO			BIT(23)
#define HCR_EVENT		BIT(22)
#define HCR_TOGGLE		BIT(21)
#define HCR_OPMOD_M		BITS(15, 12)
#define HCR_OPCODE_M		BITS(11, 0)
#define CX3_MAILBOX_SIZE	4096

/* -- UAR pages: inc/doorbell.h, inc/cq.h, mlx4/eq.c ------------------------ */
#define UAR_PAGE_SHIFT		12
#define UAR_PAGE_M		BITS(11, 0)
#define UAR_SEND_DB		0x14
#define SEND_DB_QPN_M		BITS(31, 8)
#define UAR_CQ_DB		0x20
#define CQ_DB_CMD_M		BITS(25, 24)
#define CQ_DB_CMD_SOLICITED	1
#define CQ_DB_CMD_NEXT		2
#define CQ_DB_CQN_M		BITS(23, 0)
#define UAR_EQ_DB		0x800
#define UAR_EQ_DB_STRIDE	8
#define UAR_EQS_A_PAGE		4
#define EQ_DB_ARM		BIT(31)
#define EQ_DB_CI_M		BITS(23, 0)

/* -- QUERY_FW: mlx4/fw.c ---------------------------------------------------- */
#define QFW_PAGES		0x00
#define QFW_MAJOR		0x02
#define QFW_SUBMINOR		0x04
#define QFW_MINOR		0x06
#define QFW_CMD_IF_REV		0x0a
#define QFW_LOG_MAX_CMD		0x0f
#define QFW_CLR_INT_BASE	0x20
#define QFW_CLR_INT_BAR		0x28
#define QFW_ERR_START		0x30
#define QFW_ERR_SIZE		0x38
#define QFW_ERR_BAR		0x3c
#define QFW_CLOCK_OFFSET	0x50
#define QFW_CLOCK_BAR		0x58

/* -- MAP_FA, MAP_ICM, MAP_ICM_AUX: mlx4/fw.c, mlx4/icm.h -------------------- */
#define MAP_ENTRY_SIZE		16
#define MAP_VIRT		0
#define MAP_PHYS		8
#define MAP_LOG_M		BITS(11, 0)	/* log2 of the size in ICM pages */
#define ICM_PAGE_SHIFT		12
#define ICM_PAGE_SIZE		(1u << ICM_PAGE_SHIFT)

/* -- INIT_HCA and QUERY_HCA: mlx4/fw.c -------------------------------------- */
#define HCA_SIZE		0x200
#define HCA_VERSION		0x000
#define HCA_VERSION_2		2
#define HCA_CORE_CLOCK		0x00c	/* QUERY_HCA only */
#define HCA_FLAGS		0x014
#define HCA_FLAG_DMFS		BIT(6)
#define HCA_FLAG_RSS_IP_FRAG	BIT(13)
#define HCA_QPC_BASE		0x030
#define HCA_LOG_QP		0x037
#define HCA_CQC_BASE		0x050
#define HCA_LOG_CQ		0x057
#define HCA_EQE_CQE_FLAGS	0x058
#define HCA_EQE_64B		BIT(29)
#define HCA_CQE_64B		BIT(30)
#define HCA_EQC_BASE		0x080
#define HCA_LOG_EQ		0x087
#define HCA_LOG_M		BITS(4, 0)
#define HCA_DMPT_BASE		0x0f0
#define HCA_LOG_MPT		0x0fb
#define HCA_MTT_BASE		0x100
#define HCA_CMPT_BASE		0x108

/* -- QUERY_ADAPTER: mlx4/fw.c ------------------------------------------------ */
#define QAD_INTA_PIN		0x10
#define QAD_VSD			0x20
#define VSD_BOARD_ID		0xd0
#define BOARD_ID_LEN		16

/* -- CONFIG_DEV: mlx4/fw.c --------------------------------------------------- */
#define CDEV_RX_CSUM_MODE	0x83
#define CDEV_CSUM_PORT1_M	BITS(2, 0)
#define CDEV_CSUM_PORT2_M	BITS(6, 4)
#define CDEV_CSUM_NON_TCP_UDP	1

/* -- MPT entry: mlx4/mlx4.h, mlx4/mr.c --------------------------------------- */
#define MPT_SIZE		64
#define MPT_FLAGS		0
#define MPT_FLAG_PHYSICAL	BIT(9)
#define MPT_FLAG_REGION		BIT(8)
#define MPT_FLAG_LOCAL_READ	BIT(10)
#define MPT_FLAG_LOCAL_WRITE	BIT(11)
#define MPT_KEY			8
#define MPT_KEY_TOP_M		BITS(31, 24)
#define MPT_PD			12
#define MPT_PD_M		BITS(16, 0)
#define MPT_START		16
#define MPT_LENGTH		24
#define MPT_MTT_ADDR		44
#define MPT_ENTITY_SIZE		56
#define LKEY_INDEX_M		BITS(31, 8)
#define LKEY_TOP_M		BITS(7, 0)
#define LKEY_INVALID		0x100	/* pads a scatter list: inc/qp.h */
#define MTT_ENTRY_SIZE		8
#define MTT_PRESENT		BIT(0)
#define MTT_ADDR_M		BITS(63, 3)

/* -- EQ context and entry: mlx4/mlx4.h, inc/device.h ------------------------- */
#define EQC_SIZE		64
#define EQC_FLAGS		0
#define EQC_STATE_M		BITS(11, 8)
#define EQC_STATE_ARMED		9
#define EQC_LOG_SIZE		12
#define EQC_LOG_SIZE_M		BITS(4, 0)
#define EQC_INTR		23
#define EQC_LOG_PAGE		24
#define EQC_LOG_PAGE_M		BITS(5, 0)
#define EQC_MTT_HI		27
#define EQC_MTT_LO		28

#define EQE_SIZE		32
#define EQE_TYPE		1
#define EQE_SUBTYPE		3
#define EQE_NUMBER		4	/* of the CQ or QP */
#define EQE_CQ_SYNDROME		15
#define EQE_CMD_TOKEN		6
#define EQE_CMD_STATUS		15
#define EQE_CMD_OUT		16
#define EQE_PORT		12
#define EQE_PORT_M		BITS(31, 28)
#define EQE_OWNER		31
#define OWNER_HW		0x80

enum event_type {		/* inc/device.h */
	EVENT_COMP = 0x00,
	EVENT_CQ_ERROR = 0x04,
	EVENT_PORT_CHANGE = 0x09,
	EVENT_CMD = 0x0a,
	EVENT_TYPES = 64,
};
#define PORT_CHANGE_DOWN	1
#define PORT_CHANGE_ACTIVE	4
#define CQ_ERROR_OVERRUN	1
#define CQ_ERROR_ACCESS		2
#define MAP_EQ_UNMAP		BIT(31)	/* of MAP_EQ's input modifier: mlx4/eq.c */
#define MAP_EQ_EQN_M		BITS(9, 0)

/* -- CQ context and entry: mlx4/mlx4.h, inc/cq.h ----------------------------- */
#define CQC_SIZE		64
#define CQC_FLAGS		0
#define CQC_FLAG_OVERRUN_OK	BIT(17)
#define CQC_FLAG_TIMESTAMP	BIT(19)
#define CQC_SIZE_UAR		12
#define CQC_LOG_SIZE_M		BITS(28, 24)
#define CQC_UAR_M		BITS(23, 0)
#define CQC_PERIOD		16
#define CQC_MAX_COUNT		18
#define CQC_EQN			23
#define CQC_LOG_PAGE		24
#define CQC_LOG_PAGE_M		BITS(5, 0)
#define CQC_MTT_HI		27
#define CQC_MTT_LO		28
#define CQC_DB_REC		56
#define CQ_DB_REC_CI		0
#define CQ_DB_REC_ARM		4
#define CQ_INDEX_M		BITS(23, 0)
#define SW2HW_CQ_SW_INIT	1	/* op modifier: software set the owners */
#define MODIFY_CQ_RESIZE	0
#define MODIFY_CQ_MODERATE	1

#define CQE_SIZE		32
#define CQE_QPN			0
#define CQE_CVLAN_PRESENT	BIT(29)
#define CQE_SVLAN_PRESENT	BIT(30)
#define CQE_RSS_HASH		4
#define CQE_SL_VID		12
#define CQE_TIME_HI		12	/* replaces sl_vid in a CQ with timestamps */
#define CQE_STATUS		16
#define CQE_IPV6_EXT		18
#define CQE_BADFCS_ENC		19
#define CQE_BYTE_CNT		20
#define CQE_WQE_INDEX		24
#define CQE_CHECKSUM		26
#define CQE_VENDOR_SYNDROME	26	/* in an error CQE */
#define CQE_SYNDROME		27
#define CQE_TIME_LO		29
#define CQE_OWNER_OP		31
#define CQE_IS_SEND		0x40
#define CQE_OP_RECV_SEND	0x01
#define CQE_OP_ERROR		0x1e
#define CQE_STATUS_IPV4		BIT(6)
#define CQE_STATUS_IPV4F	BIT(7)
#define CQE_STATUS_IPV6		BIT(8)
#define CQE_STATUS_IPV4OPT	BIT(9)
#define CQE_STATUS_TCP		BIT(10)
#define CQE_STATUS_UDP		BIT(11)
#define CQE_STATUS_IPOK		BIT(12)
#define CQE_L4_CSUM_OK		BIT(2)	/* of badfcs_enc */
#define CQE_BAD_FCS		BIT(4)	/* of badfcs_enc */
#define CQE_CSUM_GOOD		0xffff

enum syndrome {
	SYNDROME_LOCAL_LENGTH = 0x01,
	SYNDROME_LOCAL_QP_OP = 0x02,
	SYNDROME_LOCAL_PROT = 0x04,
	SYNDROME_FLUSH = 0x05,
};

/* -- QP context: inc/qp.h; in the mailbox after 8 bytes of optpar ------------- */
#define QPC_IN_MAILBOX		8
#define QPC_SIZE		248
#define QPC_FLAGS		0
#define QPC_FLAG_RSS		BIT(13)
#define QPC_SERVICE_M		BITS(19, 16)
#define QPC_SERVICE_MLX		7
#define QPC_PD			4
#define QPC_RQ_SIZE		9
#define QPC_SQ_SIZE		10
#define QPC_LOG_SIZE_M		BITS(6, 3)
#define QPC_LOG_STRIDE_M	BITS(2, 0)	/* in units of 16 bytes */
#define QPC_UNIT_SHIFT		4
#define QPC_UAR			12
#define QPC_UAR_M		BITS(23, 0)
#define QPC_LOCAL_QPN		16
#define QPC_PRI_PATH		24
#define PATH_COUNTER		4
#define PATH_SCHED_QUEUE	32
#define PATH_SCHED_PORT		BIT(6)
#define QPC_CQN_SEND		124
#define QPC_CQN_RECV		156
#define QPC_DB_REC		160
#define QPC_DB_REC_M		BITS(63, 2)
#define QPC_PARAM3		192
#define QPC_NO_VLAN_STRIP	BIT(30)
#define QPC_FCS_KEEP		BIT(29)
#define QPC_LOG_PAGE		200
#define QPC_LOG_PAGE_M		BITS(5, 0)
#define QPC_MTT_HI		203
#define QPC_MTT_LO		204
#define QPN_M			BITS(23, 0)
#define RQ_DB_REC_M		BITS(15, 0)
#define QPC_RSS			(QPC_PRI_PATH + 0x24)	/* the RSS context: mlx4/en_rx.c */
#define RSS_BASE_QPN		0
#define RSS_LOG_QPS_M		BITS(31, 24)
#define RSS_QPN_M		BITS(23, 0)
#define RSS_DEFAULT_QPN		4
#define RSS_HASH_FN		10
#define RSS_HASH_XOR		0
#define RSS_HASH_TOEPLITZ	1
#define RSS_FLAGS		11
#define RSS_FLAG_UDP_IPV6	BIT(0)
#define RSS_FLAG_UDP_IPV4	BIT(1)
#define RSS_FLAG_TCP_IPV6	BIT(2)
#define RSS_FLAG_IPV6		BIT(3)
#define RSS_FLAG_TCP_IPV4	BIT(4)
#define RSS_FLAG_IPV4		BIT(5)
#define RSS_KEY			12
#define RSS_KEY_SIZE		40

/* -- send WQE: inc/qp.h ------------------------------------------------------- */
#define TXBB_SHIFT		6
#define TXBB_SIZE		(1u << TXBB_SHIFT)
#define WQE_OWNER_OP		0
#define WQE_OWNER		BIT(31)
#define WQE_STAMP_M		BITS(30, 0)	/* all ones: software's, mlx4/mlx4_en.h */
#define WQE_INNER_OFFLOAD	BITS(28, 27)
#define WQE_OPCODE_M		BITS(4, 0)
#define WQE_OP_SEND		0x0a
#define WQE_OP_LSO		0x0e
#define WQE_VLAN_TAG		4
#define WQE_INS_VLAN		6
#define WQE_INS_CVLAN		BIT(6)
#define WQE_INS_SVLAN		BIT(7)
#define WQE_SIZE		7
#define WQE_SIZE_M		BITS(5, 0)	/* in units of 16 bytes */
#define WQE_UNIT		16
#define WQE_FLAGS		8
#define WQE_FLAG_L4_CSUM	BIT(5)
#define WQE_FLAG_IP_CSUM	BIT(4)
#define WQE_FLAG_CQ_UPDATE	BITS(3, 2)
#define WQE_FLAG_SOLICITED	BIT(1)
#define WQE_FLAG_LOOPBACK	BIT(0)
#define WQE_DMAC_HI		8	/* be16: mlx4/en_tx.c, internal switching */
#define WQE_DMAC_LO		12	/* be32 */
#define WQE_CTRL_SIZE		16
#define LSO_MSS_HDR		0
#define LSO_MSS_M		BITS(31, 16)
#define LSO_HDR_M		BITS(15, 0)
#define LSO_HEADER		4
#define SEG_BYTE_COUNT		0
#define SEG_INLINE		BIT(31)
#define SEG_INLINE_LEN_M	BITS(30, 0)
#define SEG_INLINE_DATA		4
#define SEG_LKEY		4
#define SEG_ADDR		8
#define SEG_SIZE		16
#define MAX_WQE_SIZE		1024

/* -- ports: mlx4/fw.c, mlx4/en_port.h, mlx4/mlx4.h ----------------------------- */
#define QPORT_TYPES		0x00
#define QPORT_TYPE_ETH		2
#define QPORT_LINK_UP		0x80
#define QPORT_ETH_MTU		0x02
#define QPORT_SPEED		0x05
#define QPORT_SPEED_40G		0x40
#define QPORT_SPEED_10G		0x01
#define QPORT_MACS_VLANS	0x0a
#define QPORT_MAX_VL		0x0b
#define QPORT_MAC		0x10
#define QPORT_TRANSCEIVER	0x18
#define CX3_MAX_MTU		9978
#define CX3_MAX_FRAME		(CX3_MAX_MTU + 14 + 8 + 4)
#define CX3_LOG_MACS		7
#define CX3_MACS		(1u << CX3_LOG_MACS)

#define PORT_MOD_PORT_M		BITS(7, 0)
#define SET_PORT_WHAT_M		BITS(15, 8)
enum set_port_op { SET_PORT_IB = 0, SET_PORT_ETH = 1, SET_PORT_BEACON = 4 };
enum set_port_what {
	SET_PORT_GENERAL = 0x0,
	SET_PORT_RQP_CALC = 0x1,
	SET_PORT_MAC_TABLE = 0x2,
	SET_PORT_VLAN_TABLE = 0x3,
	SET_PORT_PRIO_MAP = 0x4,
	SET_PORT_GID_TABLE = 0x5,
	SET_PORT_PRIO2TC = 0x8,
	SET_PORT_SCHEDULER = 0x9,
};
#define SPG_FLAGS2		2
#define SPG_V_IGNORE_FCS	BIT(1)
#define SPG_V_PHV		BIT(4)
#define SPG_V_USER_MTU		BIT(5)
#define SPG_V_USER_MAC		BIT(6)
#define SPG_FLAGS		3
#define SPG_V_MTU		BIT(0)
#define SPG_V_PPRX		BIT(1)
#define SPG_V_PPTX		BIT(2)
#define SPG_IGNORE_FCS		4
#define SPG_IGNORE_FCS_ON	BIT(0)
#define SPG_MTU			6
#define SPG_PPTX		8
#define SPG_PFCTX		9
#define SPG_PPRX		12
#define SPG_PFCRX		13
#define SPG_PAUSE_ON		BIT(7)
#define SPG_PHV_EN		20
#define SPG_PHV_ON		BIT(7)
#define SPG_USER_MTU		26
#define RQP_BASE_QPN		0
#define RQP_PROMISC		20
#define RQP_PROMISC_ON		BIT(31)
#define MAC_ENTRY_VALID		BIT(63)
#define MAC_M			BITS(47, 0)
#define VLAN_FILTER_WORDS	128
#define VLAN_VID_M		BITS(11, 0)
#define MCAST_CLEAR		BIT(63)	/* of SET_MCAST_FLTR's input parameter */
enum mcast_mode { MCAST_ADD = 0, MCAST_DISABLE = 1, MCAST_ENABLE = 2 };

/* ACCESS_REG and the PTYS register: mlx4/fw.c, inc/device.h, mlx4/en_port.h */
#define AREG_STATUS		2
#define AREG_ID			4
#define AREG_METHOD		6
#define AREG_METHOD_M		BITS(6, 0)
#define AREG_METHOD_READ	1
#define AREG_DATA		20
#define AREG_ID_PTYS		0x5004
#define AREG_BAD_REG		4
#define PTYS_LOCAL_PORT		1
#define PTYS_PROTO		3
#define PTYS_PROTO_ETH		BIT(2)
#define PTYS_ETH_CAP		12
#define PTYS_ETH_ADMIN		24
#define PTYS_ETH_OPER		36
#define PTYS_ETH_LP		48
#define PTYS_SIZE		52
#define PTYS_40G_CR4		BIT(6)
#define PTYS_40G_SR4		BIT(15)
#define PTYS_10G_CR		BIT(12)
#define PTYS_40G		(PTYS_40G_CR4 | PTYS_40G_SR4)

/* MAD_IFC's module information: mlx4/port.c, inc/device.h */
#define MAD_STATUS		4
#define MAD_ATTR		16
#define MAD_ATTR_MODULE		0xff60
#define MAD_DATA		64
#define CABLE_PAGE		1
#define CABLE_ADDR		2
#define CABLE_LEN		6
#define CABLE_DATA		16
#define CABLE_MAX_READ		48
#define MAD_SIZE		256
#define MAD_STATUS_NO_CABLE	(3 << 8)

/* -- DUMP_ETH_STATS: mlx4/en_port.h --------------------------------------------- */
#define STATS_SIZE		2988
#define STATS_PRIOS		9	/* eight priorities and untagged */
#define STATS_NO_VLAN		8
#define STATS_RX_CLASSES	0	/* 13 groups of STATS_PRIOS counters */
#define STATS_RX_OCTETS		936	/* per priority: framed, unframed, good */
#define STATS_RX_TOTALS		1152	/* per priority: frames, tagged frames, reserved */
#define STATS_TRIPLE		24
#define STATS_OCTETS_GOOD	16
#define STATS_OCTETS_UNFRAMED	8
#define STATS_TOTALS_TAGGED	8
#define STATS_RX_CONTROL	1368
#define STATS_RX_TOO_LONG	1416
#define STATS_TX_CLASSES	1432	/* 13 groups of STATS_TX_PRIOS counters */
#define STATS_TX_PRIOS		10	/* the same and loopback */
#define STATS_TX_OCTETS		2472
#define STATS_TX_TOTALS		2712
#define STATS_RX_JABBER		2952
#define STATS_RX_CRC		2956
#define STATS_RX_RUNT		2960
#define STATS_RX_SHORT		2964
#define STATS_RX_DROP		2968
#define STATS_RX_DROP_OVERFLOW	2972
#define STATS_RX_DROP_LENGTH	2976
#define STATS_RX_TOTAL_GOOD	2980
#define STATS_TX_DROP		2984
enum stats_class {
	STATS_64, STATS_127, STATS_255, STATS_511, STATS_1023, STATS_1518, STATS_1522, STATS_1548,
	STATS_TO_MTU, STATS_GIANT, STATS_BROADCAST, STATS_MULTICAST, STATS_UNICAST, STATS_CLASSES,
};
#define DUMP_STATS_RESET_M	BITS(11, 8)
#define DUMP_STATS_FLOW		BIT(12)
#define FLOW_STATS_ENTRY	64
#define FLOW_STATS_ENTRIES	8
#define FLOW_RX_PAUSE		0
#define FLOW_RX_TRANSITION	16
#define FLOW_TX_PAUSE		24
#define FLOW_TX_TRANSITION	40

/* QUERY_IF_STAT: inc/device.h, mlx4/cmd.c */
#define IF_STAT_INDEX_M		BITS(7, 0)
#define IF_STAT_RESET		BIT(31)
#define IF_RX_FRAMES		16
#define IF_RX_BYTES		24
#define IF_TX_FRAMES		32
#define IF_TX_BYTES		40
#define IF_STAT_SIZE		48
#define CX3_NUM_COUNTERS	256

/* -- flow steering rules: inc/device.h, mlx4/mcg.c -------------------------------- */
#define FS_CTRL_SIZE		16
#define FS_PRIO			0
#define FS_TYPE			2
enum fs_type {
	FS_REGULAR = 0,
	FS_ALL_DEFAULT = 1,
	FS_MC_DEFAULT = 3,
	FS_UC_SNIFFER = 6,
	FS_MC_SNIFFER = 7,
};
#define FS_PORT			7
#define FS_QPN			8
#define FS_SPEC_SIZE		0	/* in units of 4 bytes */
#define FS_SPEC_UNIT		4
#define FS_SPEC_ID		2
enum fs_spec_id { FS_ETH = 0xe001, FS_IPV4 = 0xe002, FS_TCP = 0xe004, FS_UDP = 0xe006 };
#define FS_ETH_SIZE		48
#define FS_ETH_DMAC		10
#define FS_ETH_DMAC_MASK	18
#define FS_ETH_SMAC		26
#define FS_ETH_SMAC_MASK	34
#define FS_ETH_TYPE_ON		41
#define FS_ETH_TYPE		42
#define FS_ETH_VLAN_MASK	44
#define FS_ETH_VLAN		46
#define FS_IPV4_SIZE		24
#define FS_IPV4_DST		8
#define FS_IPV4_DST_MASK	12
#define FS_IPV4_SRC		16
#define FS_IPV4_SRC_MASK	20
#define FS_L4_SIZE		24
#define FS_L4_DST		10
#define FS_L4_DST_MASK		14
#define FS_L4_SRC		18
#define FS_L4_SRC_MASK		22

/* -- frames ------------------------------------------------------------------------ */
#define ETH_HEADER		14
#define ETH_ADDR		6
#define ETH_TYPE		12
#define ETH_MIN_FRAME		60
#define ETH_FCS			4
#define ETH_FRAMING		20	/* preamble and gap */
#define VLAN_TAG		4
#define TYPE_IPV4		0x0800
#define TYPE_IPV6		0x86dd
#define TYPE_CVLAN		0x8100
#define TYPE_SVLAN		0x88a8
#define VLAN_PRIO_M		BITS(15, 13)
#define IPV4_HEADER		20
#define IPV4_IHL_M		BITS(3, 0)
#define IPV4_LEN		2
#define IPV4_ID			4
#define IPV4_FRAG		6
#define IPV4_FRAG_M		(BIT(13) | BITS(12, 0))	/* more fragments, or an offset */
#define IPV4_PROTO		9
#define IPV4_CSUM		10
#define IPV4_SRC		12
#define IPV4_DST		16
#define IPV6_HEADER		40
#define IPV6_LEN		4
#define IPV6_NEXT		6
#define IPV6_SRC		8
#define IPV6_DST		24
#define PROTO_HOPOPTS		0
#define PROTO_TCP		6
#define PROTO_UDP		17
#define PROTO_ROUTING		43
#define PROTO_FRAGMENT		44
#define PROTO_DSTOPTS		60
#define TCP_HEADER		20
#define TCP_SEQ			4
#define TCP_OFFSET		12
#define TCP_OFFSET_M		BITS(7, 4)
#define TCP_FLAGS		13
#define TCP_FIN			BIT(0)
#define TCP_PSH			BIT(3)
#define TCP_CWR			BIT(7)
#define TCP_CSUM		16
#define UDP_HEADER		8
#define UDP_CSUM		6
#define L4_PORTS		4

#endif
