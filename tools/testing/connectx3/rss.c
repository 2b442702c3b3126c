// SPDX-License-Identifier: GPL-2.0
/*
 * Which bytes of a frame say what flow it belongs to, and their hash: Toeplitz
 * with the driver's key, or the exclusive or of all bytes.
 */
#include "packet.h"

static bool hashes_l4(const struct headers *h, u8 flags)
{
	if (h->fragment || h->l4_len < L4_PORTS)
		return false;
	if (h->proto == PROTO_TCP)
		return flags & (h->ipv4 ? RSS_FLAG_TCP_IPV4 : RSS_FLAG_TCP_IPV6);
	if (h->proto == PROTO_UDP)
		return flags & (h->ipv4 ? RSS_FLAG_UDP_IPV4 : RSS_FLAG_UDP_IPV6);
	return false;
}

static void append(struct flow *flow, const u8 *from, u32 len)
{
	memcpy(flow->bytes + flow->len, from, len);
	flow->len += len;
}

void flow_of(struct flow *flow, const struct headers *h, const u8 *frame, u8 flags)
{
	bool l4 = h->l3 && hashes_l4(h, flags);

	flow->len = 0;
	if (!h->l3 || !(l4 || flags & (h->ipv4 ? RSS_FLAG_IPV4 : RSS_FLAG_IPV6)))
		return;
	if (h->ipv4)
		append(flow, frame + h->l3 + IPV4_SRC, 2 * 4);
	else
		append(flow, frame + h->l3 + IPV6_SRC, 2 * 16);
	if (l4)
		append(flow, frame + h->l4, L4_PORTS);
}

/* For each bit that is set, the 32 bits of the key that start at its place. */
u32 toeplitz(const u8 *key, const u8 *bytes, u32 len)
{
	u32 window = get_be32(key, 0);
	u32 hash = 0;
	u32 i, bit;

	for (i = 0; i < len; i++) {
		for (bit = 8; bit-- > 0;) {
			if (bytes[i] >> bit & 1)
				hash ^= window;
			window = window << 1 | (key[i + 4] >> bit & 1);
		}
	}
	return hash;
}

u32 xor_hash(const u8 *bytes, u32 len)
{
	u32 hash = 0;

	while (len--)
		hash ^= bytes[len];
	return hash;
}
