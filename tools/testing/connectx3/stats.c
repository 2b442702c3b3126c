// SPDX-License-Identifier: GPL-2.0
/* The counters of a port, and the mailbox that the driver reads them from. */
#include "card.h"
#include "packet.h"

/* longest frame, FCS included, of each class of sizes */
static const u32 class_end[] = { 64, 127, 255, 511, 1023, 1518, 1522, 1548 };

static enum stats_class size_class(const struct port *port, u32 len)
{
	unsigned int i;

	if (len > port->mtu)
		return STATS_GIANT;
	for (i = 0; i < ARRAY_SIZE(class_end); i++)
		if (len <= class_end[i])
			return (enum stats_class)i;
	return STATS_TO_MTU;
}

static enum stats_class cast_class(const u8 *frame)
{
	if (is_broadcast(frame))
		return STATS_BROADCAST;
	return is_multicast(frame) ? STATS_MULTICAST : STATS_UNICAST;
}

static unsigned int lane_of(const struct frame *frame)
{
	u16 type = get_be16(frame->data, ETH_TYPE);

	if (type != TYPE_CVLAN && type != TYPE_SVLAN)
		return STATS_NO_VLAN;
	return (unsigned int)field(VLAN_PRIO_M, get_be16(frame->data, ETH_TYPE + 2));
}

static void count(struct lane_stats *lane, const struct frame *frame, bool tagged)
{
	lane->frames++;
	lane->tagged += tagged;
	lane->octets += frame->len + ETH_FCS;
}

void stats_rx(struct port *port, const struct frame *frame)
{
	struct port_stats *s = &port->stats;
	unsigned int lane = lane_of(frame);
	u32 len = frame->len + ETH_FCS;

	count(&s->rx[lane], frame, lane != STATS_NO_VLAN);
	if (frame->bad_fcs) {
		s->rx_crc++;
		return;
	}
	s->rx_class[size_class(port, len)][lane]++;
	if (len > port->mtu) {
		s->rx_too_long++;
		return;
	}
	s->rx_class[cast_class(frame->data)][lane]++;
	s->rx_good++;
}

void stats_tx(struct port *port, const struct frame *frame)
{
	struct port_stats *s = &port->stats;
	unsigned int lane = lane_of(frame);
	enum stats_class size = size_class(port, frame->len + ETH_FCS);

	count(&s->tx[lane], frame, lane != STATS_NO_VLAN);
	/* the limit is for what is received; what is sent longer is no error */
	s->tx_class[size == STATS_GIANT ? STATS_TO_MTU : size][lane]++;
	s->tx_class[cast_class(frame->data)][lane]++;
}

static void dump_classes(const u64 (*classes)[STATS_PRIOS], u8 *out, unsigned int lanes)
{
	unsigned int c, p;

	for (c = 0; c < STATS_CLASSES; c++)
		for (p = 0; p < STATS_PRIOS; p++)
			put_be64(out, (c * lanes + p) * sizeof(u64), classes[c][p]);
}

static void dump_lanes(const struct lane_stats *lanes, u8 *octets, u8 *totals)
{
	unsigned int p;

	for (p = 0; p < STATS_PRIOS; p++) {
		size_t at = p * STATS_TRIPLE;

		put_be64(octets, at, lanes[p].octets + lanes[p].frames * ETH_FRAMING);
		put_be64(octets, at + STATS_OCTETS_UNFRAMED, lanes[p].octets);
		put_be64(octets, at + STATS_OCTETS_GOOD, lanes[p].octets);
		put_be64(totals, at, lanes[p].frames);
		put_be64(totals, at + STATS_TOTALS_TAGGED, lanes[p].tagged);
	}
}

void stats_dump(const struct port *port, u8 *out)
{
	const struct port_stats *s = &port->stats;

	dump_classes(s->rx_class, out + STATS_RX_CLASSES, STATS_PRIOS);
	dump_classes(s->tx_class, out + STATS_TX_CLASSES, STATS_TX_PRIOS);
	dump_lanes(s->rx, out + STATS_RX_OCTETS, out + STATS_RX_TOTALS);
	dump_lanes(s->tx, out + STATS_TX_OCTETS, out + STATS_TX_TOTALS);
	put_be64(out, STATS_RX_CONTROL, s->rx_pause);
	put_be64(out, STATS_RX_TOO_LONG, s->rx_too_long);
	put_be32(out, STATS_RX_CRC, (u32)s->rx_crc);
	put_be32(out, STATS_RX_DROP, (u32)s->rx_drop);
	put_be32(out, STATS_RX_DROP_OVERFLOW, (u32)s->rx_overflow);
	put_be32(out, STATS_RX_DROP_LENGTH, (u32)s->rx_too_long);
	put_be32(out, STATS_RX_TOTAL_GOOD, (u32)s->rx_good);
	put_be32(out, STATS_TX_DROP, (u32)s->tx_drop);
}

/* Pause is the link's, not a priority's: all entries are the same. */
void stats_dump_flow(const struct port *port, u8 *out)
{
	unsigned int i;

	for (i = 0; i < FLOW_STATS_ENTRIES; i++) {
		u8 *entry = out + i * FLOW_STATS_ENTRY;

		put_be64(entry, FLOW_RX_PAUSE, port->stats.rx_pause);
		put_be64(entry, FLOW_RX_TRANSITION, port->stats.rx_pause);
		put_be64(entry, FLOW_TX_PAUSE, port->stats.tx_pause);
		put_be64(entry, FLOW_TX_TRANSITION, port->stats.tx_pause);
	}
}
