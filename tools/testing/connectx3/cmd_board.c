// SPDX-License-Identifier: GPL-2.0
/* The commands about what is on the board: its identity, its registers, its cables. */
#include "cmd.h"

#define CONFIG_DEV_GET	1
#define BOARD_ID	"RXHOOK-CX3-MODEL"
#define MODULE_BYTES	256
#define MODULE_QSFP	0x0d
#define MODULE_VENDOR	148
#define MODULE_VENDOR_LEN 16
#define MODULE_PART	168
#define MAD_METHOD	3
#define MAD_GET_RESPONSE 0x81

/* The firmware turns each word of the name round, as the driver expects. */
enum cmd_status cmd_query_adapter(struct card *card, struct cmd *cmd)
{
	static const char name[BOARD_ID_LEN + 1] = BOARD_ID;
	unsigned int i;

	(void)card;
	for (i = 0; i < BOARD_ID_LEN; i++)
		put_u8(cmd->out, QAD_VSD + VSD_BOARD_ID + (i ^ 3), (u8)name[i]);
	return CMD_OK;
}

enum cmd_status cmd_config_dev(struct card *card, struct cmd *cmd)
{
	(void)card;
	if (cmd->op_mod == CONFIG_DEV_GET)
		put_u8(cmd->out, CDEV_RX_CSUM_MODE,
		       (u8)(in_field(CDEV_CSUM_PORT1_M, CDEV_CSUM_NON_TCP_UDP) |
			    in_field(CDEV_CSUM_PORT2_M, CDEV_CSUM_NON_TCP_UDP)));
	return CMD_OK;
}

static u32 operational(const struct port *port)
{
	if (!port->link)
		return 0;
	return port->eth_proto & PTYS_40G ? PTYS_40G_CR4 : PTYS_10G_CR;
}

static void access_ptys(struct port *port, const u8 *in, u8 *out, bool write)
{
	u32 wish = get_be32(in, PTYS_ETH_ADMIN) & (PTYS_40G | PTYS_10G_CR);

	if (write && wish)
		port->eth_proto = wish;
	put_be32(out, PTYS_ETH_CAP, PTYS_40G | PTYS_10G_CR);
	put_be32(out, PTYS_ETH_ADMIN, port->eth_proto);
	put_be32(out, PTYS_ETH_OPER, operational(port));
	put_be32(out, PTYS_ETH_LP, port->link ? PTYS_40G | PTYS_10G_CR : 0);
}

enum cmd_status cmd_access_reg(struct card *card, struct cmd *cmd)
{
	u8 port = get_u8(cmd->in, AREG_DATA + PTYS_LOCAL_PORT);
	bool write = field(AREG_METHOD_M, get_u8(cmd->in, AREG_METHOD)) != AREG_METHOD_READ;

	memcpy(cmd->out, cmd->in, AREG_DATA + PTYS_SIZE);
	put_u8(cmd->out, AREG_STATUS, 0);
	if (get_be16(cmd->in, AREG_ID) != AREG_ID_PTYS || port < 1 || port > CX3_NUM_PORTS) {
		put_u8(cmd->out, AREG_STATUS, AREG_BAD_REG);
		return CMD_OK;
	}
	access_ptys(&card->ports[port - 1], cmd->in + AREG_DATA, cmd->out + AREG_DATA, write);
	return CMD_OK;
}

/* A byte of the plug's memory: the lower page, then the first upper one. */
static u8 module_byte(unsigned int at)
{
	static const char vendor[] = "rxhook          model QSFP+     ";

	if (at == 0 || at == MODULE_BYTES / 2)
		return MODULE_QSFP;
	if (at >= MODULE_VENDOR && at < MODULE_VENDOR + MODULE_VENDOR_LEN)
		return (u8)vendor[at - MODULE_VENDOR];
	if (at >= MODULE_PART && at < MODULE_PART + MODULE_VENDOR_LEN)
		return (u8)vendor[at - MODULE_PART + MODULE_VENDOR_LEN];
	return 0;
}

static void module_info(const struct port *port, struct cmd *cmd)
{
	const u8 *ask = cmd->in + MAD_DATA;
	unsigned int at = get_be16(ask, CABLE_ADDR);
	unsigned int len = get_be16(ask, CABLE_LEN);
	unsigned int i;

	if (!port->plugged) {
		put_be16(cmd->out, MAD_STATUS, MAD_STATUS_NO_CABLE);
		return;
	}
	for (i = 0; i < MIN(len, (unsigned int)CABLE_MAX_READ); i++)
		put_u8(cmd->out, MAD_DATA + CABLE_DATA + i,
		       get_u8(ask, CABLE_PAGE) ? 0 : module_byte(at + i));
}

/* Of management datagrams only the one that reads a cable's plug has an answer. */
enum cmd_status cmd_mad_ifc(struct card *card, struct cmd *cmd)
{
	u32 port = (u32)field(PORT_MOD_PORT_M, cmd->in_mod);

	if (port < 1 || port > CX3_NUM_PORTS)
		return cmd_refuse(cmd, CMD_BAD_INDEX, "no such port");
	memcpy(cmd->out, cmd->in, MAD_DATA);
	put_u8(cmd->out, MAD_METHOD, MAD_GET_RESPONSE);
	put_be16(cmd->out, MAD_STATUS, 0);
	if (get_be16(cmd->in, MAD_ATTR) == MAD_ATTR_MODULE)
		module_info(&card->ports[port - 1], cmd);
	return CMD_OK;
}
