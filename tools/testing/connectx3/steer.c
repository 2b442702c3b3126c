// SPDX-License-Identifier: GPL-2.0
/*
 * Filters and, where the driver did not ask for device-managed steering, the
 * old way ("A0") to a QP: each port has one QP for all that its address table
 * and multicast filter let in.
 *
 * The VLAN filter comes first and is the port's, whatever the steering: the
 * driver leaves it on for a promiscuous port, and so does the card.
 */
#include "steer.h"

bool port_is_local_mac(const struct port *port, u64 mac)
{
	unsigned int i;

	for (i = 0; i < CX3_MACS; i++)
		if (port->macs[i] & MAC_ENTRY_VALID && (port->macs[i] & MAC_M) == mac)
			return true;
	return false;
}

static bool vlan_wanted(const struct port *port, const struct headers *h)
{
	u32 vid = (u32)(h->tci & VLAN_VID_M);

	if (!port->vlan_filter || !(h->cvlan || h->svlan))
		return true;
	return port->vlans[vid / 32] >> vid % 32 & 1;
}

static bool multicast_wanted(const struct port *port, const u8 *frame)
{
	u64 mac = mac_of(frame);
	unsigned int i;

	if (!port->mcast_filter || port->promisc || is_broadcast(frame))
		return true;
	for (i = 0; i < port->mcast_count; i++)
		if (port->mcast[i] == mac)
			return true;
	return false;
}

static unsigned int a0_steer(const struct port *port, const u8 *frame, u32 *qpns)
{
	bool wanted = is_multicast(frame) ? multicast_wanted(port, frame) :
		      port->promisc || port_is_local_mac(port, mac_of(frame));

	if (!wanted || !port->base_valid)
		return 0;
	qpns[0] = port->base_qpn;
	return 1;
}

unsigned int steer(struct card *card, unsigned int port, const u8 *frame,
		   const struct headers *h, u32 *qpns)
{
	if (!vlan_wanted(&card->ports[port], h))
		return 0;
	if (card->hca.dmfs)
		return dmfs_steer(card, port, frame, h, qpns);
	return a0_steer(&card->ports[port], frame, qpns);
}
