// SPDX-License-Identifier: GPL-2.0
/* The commands of a port: what it can, what it is to do, what it counted. */
#include <stdlib.h>

#include "cmd.h"

#define QPORT_CAN_MACS_VLANS	(CX3_LOG_MACS << 4 | CX3_LOG_MACS)
#define QPORT_TCS_VLS		(8 << 4 | 4)
#define TRANSCEIVER_QSFP	0x0d
#define MAX_MCAST		4096

/* The port that a modifier names, counted from 1; NULL if there is none. */
static struct port *port_of(struct card *card, struct cmd *cmd, unsigned int *number)
{
	u32 port = (u32)field(PORT_MOD_PORT_M, cmd->in_mod);

	if (port < 1 || port > CX3_NUM_PORTS) {
		cmd_refuse(cmd, CMD_BAD_INDEX, "no such port");
		return NULL;
	}
	if (number)
		*number = port - 1;
	return &card->ports[port - 1];
}

enum cmd_status cmd_query_port(struct card *card, struct cmd *cmd)
{
	struct port *port = port_of(card, cmd, NULL);
	u8 *out = cmd->out;

	if (!port)
		return CMD_BAD_INDEX;
	put_u8(out, QPORT_TYPES, QPORT_TYPE_ETH | (port->link ? QPORT_LINK_UP : 0));
	put_be16(out, QPORT_ETH_MTU, CX3_MAX_MTU);
	put_u8(out, QPORT_SPEED, port->eth_proto & PTYS_40G ? QPORT_SPEED_40G : QPORT_SPEED_10G);
	put_u8(out, QPORT_MACS_VLANS, QPORT_CAN_MACS_VLANS);
	put_u8(out, QPORT_MAX_VL, QPORT_TCS_VLS);
	put_be64(out, QPORT_MAC, port->mac);
	put_u8(out, QPORT_TRANSCEIVER, TRANSCEIVER_QSFP);
	return CMD_OK;
}

enum cmd_status cmd_init_port(struct card *card, struct cmd *cmd)
{
	unsigned int number;

	if (!port_of(card, cmd, &number))
		return CMD_BAD_INDEX;
	port_enable(card, number, true);
	return CMD_OK;
}

enum cmd_status cmd_close_port(struct card *card, struct cmd *cmd)
{
	unsigned int number;

	if (!port_of(card, cmd, &number))
		return CMD_BAD_INDEX;
	port_enable(card, number, false);
	return CMD_OK;
}

static enum cmd_status set_general(struct port *port, struct cmd *cmd)
{
	u8 flags = get_u8(cmd->in, SPG_FLAGS);
	u8 flags2 = get_u8(cmd->in, SPG_FLAGS2);
	u16 mtu = get_be16(cmd->in, SPG_MTU);

	if (flags & SPG_V_MTU) {
		if (mtu < ETH_MIN_FRAME + ETH_FCS || mtu > CX3_MAX_FRAME)
			return cmd_refuse(cmd, CMD_BAD_PARAM, "MTU");
		port->mtu = mtu;
	}
	if (flags & SPG_V_PPTX)
		port->pause_tx = get_u8(cmd->in, SPG_PPTX) & SPG_PAUSE_ON;
	if (flags & SPG_V_PPRX)
		port->pause_rx = get_u8(cmd->in, SPG_PPRX) & SPG_PAUSE_ON;
	if (flags2 & SPG_V_IGNORE_FCS)
		port->ignore_fcs = get_u8(cmd->in, SPG_IGNORE_FCS) & SPG_IGNORE_FCS_ON;
	return CMD_OK;
}

static enum cmd_status set_rqp_calc(struct port *port, const u8 *in)
{
	port->base_qpn = (u32)field(QPN_M, get_be32(in, RQP_BASE_QPN));
	port->base_valid = true;
	port->promisc = get_be32(in, RQP_PROMISC) & RQP_PROMISC_ON;
	return CMD_OK;
}

static enum cmd_status set_mac_table(struct port *port, const u8 *in)
{
	unsigned int i;

	for (i = 0; i < CX3_MACS; i++)
		port->macs[i] = get_be64(in, i * sizeof(u64));
	return CMD_OK;
}

static enum cmd_status set_eth(struct port *port, struct cmd *cmd)
{
	switch (field(SET_PORT_WHAT_M, cmd->in_mod)) {
	case SET_PORT_GENERAL:
		return set_general(port, cmd);
	case SET_PORT_RQP_CALC:
		return set_rqp_calc(port, cmd->in);
	case SET_PORT_MAC_TABLE:
		return set_mac_table(port, cmd->in);
	case SET_PORT_VLAN_TABLE:	/* for what the card does not do: steering by VLAN, */
	case SET_PORT_PRIO_MAP:		/* priorities and rate limits */
	case SET_PORT_PRIO2TC:
	case SET_PORT_SCHEDULER:
	case SET_PORT_GID_TABLE:
		return CMD_OK;
	}
	return cmd_refuse(cmd, CMD_BAD_OP, "what to set");
}

enum cmd_status cmd_set_port(struct card *card, struct cmd *cmd)
{
	struct port *port = port_of(card, cmd, NULL);

	if (!port)
		return CMD_BAD_INDEX;
	switch (cmd->op_mod) {
	case SET_PORT_ETH:
		return set_eth(port, cmd);
	case SET_PORT_BEACON:
		say("port %u: beacon for %u s", (u32)field(PORT_MOD_PORT_M, cmd->in_mod),
		    get_be32(cmd->in, 0));
		return CMD_OK;
	}
	return cmd_refuse(cmd, CMD_BAD_OP, "the ports are Ethernet");
}

/* The filter's words come last first. */
enum cmd_status cmd_set_vlan_fltr(struct card *card, struct cmd *cmd)
{
	struct port *port = port_of(card, cmd, NULL);
	unsigned int i;

	if (!port)
		return CMD_BAD_INDEX;
	for (i = 0; i < VLAN_FILTER_WORDS; i++)
		port->vlans[VLAN_FILTER_WORDS - 1 - i] = get_be32(cmd->in, i * sizeof(u32));
	port->vlan_filter = true;
	return CMD_OK;
}

static enum cmd_status mcast_add(struct port *port, struct cmd *cmd)
{
	u64 mac = cmd->in_param & MAC_M;
	u64 *list;

	if (cmd->in_param & MCAST_CLEAR)
		port->mcast_count = 0;
	if (!mac)
		return CMD_OK;
	if (port->mcast_count == MAX_MCAST)
		return CMD_EXCEED_LIM;
	list = realloc(port->mcast, (port->mcast_count + 1) * sizeof(*list));
	if (!list)
		return CMD_EXCEED_LIM;
	port->mcast = list;
	list[port->mcast_count++] = mac;
	return CMD_OK;
}

enum cmd_status cmd_set_mcast_fltr(struct card *card, struct cmd *cmd)
{
	struct port *port = port_of(card, cmd, NULL);

	if (!port)
		return CMD_BAD_INDEX;
	switch (cmd->op_mod) {
	case MCAST_ADD:
		return mcast_add(port, cmd);
	case MCAST_DISABLE:
	case MCAST_ENABLE:
		port->mcast_filter = cmd->op_mod == MCAST_ENABLE;
		return CMD_OK;
	}
	return cmd_refuse(cmd, CMD_BAD_OP, "mode");
}

enum cmd_status cmd_dump_eth_stats(struct card *card, struct cmd *cmd)
{
	struct port *port = port_of(card, cmd, NULL);

	if (!port)
		return CMD_BAD_INDEX;
	if (cmd->in_mod & DUMP_STATS_FLOW)
		stats_dump_flow(port, cmd->out);
	else
		stats_dump(port, cmd->out);
	if (field(DUMP_STATS_RESET_M, cmd->in_mod))
		memset(&port->stats, 0, sizeof(port->stats));
	return CMD_OK;
}

enum cmd_status cmd_query_if_stat(struct card *card, struct cmd *cmd)
{
	struct if_counter *c = &card->counters[field(IF_STAT_INDEX_M, cmd->in_mod)];

	put_be64(cmd->out, IF_RX_FRAMES, c->rx_frames);
	put_be64(cmd->out, IF_RX_BYTES, c->rx_bytes);
	put_be64(cmd->out, IF_TX_FRAMES, c->tx_frames);
	put_be64(cmd->out, IF_TX_BYTES, c->tx_bytes);
	if (cmd->in_mod & IF_STAT_RESET)
		memset(c, 0, sizeof(*c));
	return CMD_OK;
}
