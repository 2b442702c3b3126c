// SPDX-License-Identifier: GPL-2.0
/*
 * Ports: whether they are on, and whether there is a link.
 *
 * The two ends of a cable have a link together. It is there when both ends are
 * enabled and plugged in; it goes at once and comes opt.link_up_ns later. Each
 * change is an event, after which the driver asks for the port's state.
 */
#include <stdlib.h>

#include "card.h"

/* before the driver says otherwise, what any driver can take */
#define DEFAULT_MTU	(1500 + ETH_HEADER + 2 * VLAN_TAG + ETH_FCS)

void port_init(struct port *port)
{
	port->plugged = true;
	port->eth_proto = PTYS_40G | PTYS_10G_CR;
	wire_init(&port->wire);
}

static bool wants_link(const struct card *card, unsigned int number)
{
	const struct port *port = &card->ports[number];
	const struct port *other = &card->ports[!number];

	if (!port->enabled || !port->plugged)
		return false;
	/* a port whose neighbour is cabled to a peer has nobody at the other end */
	return port->wire.peer || (!other->wire.peer && other->enabled && other->plugged);
}

static void set_link(struct card *card, unsigned int number, bool up)
{
	struct port *port = &card->ports[number];

	port->link = up;
	port->link_at = 0;
	if (!up)
		wire_clear(&port->wire);
	trace("port %u: link %s", number + 1, up ? "up" : "down");
	event_async(card, EVENT_PORT_CHANGE, up ? PORT_CHANGE_ACTIVE : PORT_CHANGE_DOWN, EQE_PORT,
		    (u32)in_field(EQE_PORT_M, number + 1));
}

static void update_links(struct card *card)
{
	unsigned int i;

	for (i = 0; i < CX3_NUM_PORTS; i++) {
		struct port *port = &card->ports[i];
		bool wish = wants_link(card, i);

		if (!wish)
			port->link_at = 0;
		if (!wish && port->link)
			set_link(card, i, false);
		else if (wish && !port->link && !port->link_at)
			port->link_at = card_now(card) + card->opt.link_up_ns;
	}
}

void port_plug(struct card *card, unsigned int number, bool plugged)
{
	card->ports[number].plugged = plugged;
	update_links(card);
}

void port_enable(struct card *card, unsigned int number, bool on)
{
	card->ports[number].enabled = on;
	update_links(card);
}

/* What the driver has set up goes; the cable stays, and the counters do. */
void port_reset(struct card *card, unsigned int number)
{
	struct port *port = &card->ports[number];

	port->enabled = false;
	port->mtu = DEFAULT_MTU;
	port->pause_tx = port->pause_rx = false;
	port->ignore_fcs = false;
	port->base_valid = false;
	port->promisc = port->all_multicast = false;
	port->vlan_filter = port->mcast_filter = false;
	port->mcast_count = 0;
	memset(port->macs, 0, sizeof(port->macs));
	wire_clear(&port->wire);
	update_links(card);
}

u64 port_next(struct card *card)
{
	u64 next = NEVER;
	unsigned int i;

	for (i = 0; i < CX3_NUM_PORTS; i++)
		if (card->ports[i].link_at)
			next = MIN(next, card->ports[i].link_at);
	return next;
}

void port_run(struct card *card)
{
	u64 now = card_now(card);
	unsigned int i;

	for (i = 0; i < CX3_NUM_PORTS; i++)
		if (card->ports[i].link_at && card->ports[i].link_at <= now)
			set_link(card, i, true);
}
