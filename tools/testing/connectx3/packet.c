// SPDX-License-Identifier: GPL-2.0
/* Reading a frame's headers, and writing a VLAN tag into it. */
#include "packet.h"

#define MAX_TAGS	2
#define MAX_EXTENSIONS	8
#define EXT_UNIT	8
#define EXT_HOP		BIT(0)
#define EXT_ROUTING	BIT(1)
#define EXT_DEST	BIT(2)

bool is_broadcast(const u8 *frame)
{
	static const u8 ones[ETH_ADDR] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };

	return !memcmp(frame, ones, ETH_ADDR);
}

u64 mac_of(const u8 *addr)
{
	return (u64)get_be16(addr, 0) << 32 | get_be32(addr, 2);
}

u32 vlan_insert(u8 *frame, u32 len, u16 type, u16 tci)
{
	memmove(frame + ETH_TYPE + VLAN_TAG, frame + ETH_TYPE, len - ETH_TYPE);
	put_be16(frame, ETH_TYPE, type);
	put_be16(frame, ETH_TYPE + 2, tci);
	return len + VLAN_TAG;
}

/* Offset of what follows the tags; h->type says what it is. */
static u32 parse_tags(struct headers *h, const u8 *frame, u32 len)
{
	u32 at = ETH_TYPE;
	int tags;

	h->type = get_be16(frame, at);
	for (tags = 0; tags < MAX_TAGS; tags++) {
		if ((h->type != TYPE_CVLAN && h->type != TYPE_SVLAN) || at + VLAN_TAG + 2 > len)
			break;
		if (!tags) {
			h->cvlan = h->type == TYPE_CVLAN;
			h->svlan = h->type == TYPE_SVLAN;
			h->tci = get_be16(frame, at + 2);
		}
		at += VLAN_TAG;
		h->type = get_be16(frame, at);
	}
	return at + 2;
}

static u32 cut(u32 claimed, u32 at, u32 len)
{
	return MIN(claimed, len - at);
}

static void parse_ipv4(struct headers *h, const u8 *frame, u32 at, u32 len)
{
	u32 size, total;

	if (at + IPV4_HEADER > len)
		return;
	size = 4 * (u32)field(IPV4_IHL_M, frame[at]);
	total = get_be16(frame, at + IPV4_LEN);
	if (frame[at] >> 4 != 4 || size < IPV4_HEADER || at + size > len || total < size)
		return;
	h->ipv4 = true;
	h->l3 = at;
	h->options = size > IPV4_HEADER;
	h->fragment = get_be16(frame, at + IPV4_FRAG) & IPV4_FRAG_M;
	h->ip_ok = csum_fold(csum_add(0, frame + at, size)) == CQE_CSUM_GOOD;
	h->proto = frame[at + IPV4_PROTO];
	h->l4 = at + size;
	h->l4_len = cut(total - size, h->l4, len);
}

static u8 extension(u8 proto)
{
	switch (proto) {
	case PROTO_HOPOPTS:
		return EXT_HOP;
	case PROTO_ROUTING:
		return EXT_ROUTING;
	case PROTO_DSTOPTS:
		return EXT_DEST;
	}
	return 0;
}

static void parse_ipv6(struct headers *h, const u8 *frame, u32 at, u32 len)
{
	u32 end, l4;
	u8 proto;
	int i;

	if (at + IPV6_HEADER > len || frame[at] >> 4 != 6)
		return;
	h->ipv6 = true;
	h->ip_ok = true;
	h->l3 = at;
	l4 = at + IPV6_HEADER;
	end = l4 + cut(get_be16(frame, at + IPV6_LEN), l4, len);
	proto = frame[at + IPV6_NEXT];
	for (i = 0; i < MAX_EXTENSIONS && extension(proto) && l4 + EXT_UNIT <= end; i++) {
		h->ipv6_ext |= extension(proto);
		proto = frame[l4];
		l4 = MIN(l4 + EXT_UNIT * (frame[l4 + 1] + 1u), end);
	}
	h->fragment = proto == PROTO_FRAGMENT;
	h->proto = proto;
	h->l4 = l4;
	h->l4_len = end - l4;
}

void headers_parse(struct headers *h, const u8 *frame, u32 len)
{
	u32 at;

	memset(h, 0, sizeof(*h));
	if (len < ETH_HEADER)
		return;
	at = parse_tags(h, frame, len);
	if (h->type == TYPE_IPV4)
		parse_ipv4(h, frame, at, len);
	else if (h->type == TYPE_IPV6)
		parse_ipv6(h, frame, at, len);
}
