// SPDX-License-Identifier: GPL-2.0
/*
 * Large send: one header and a long payload become frames of at most mss bytes
 * of payload each. What differs from frame to frame is in the IP lengths, the
 * IPv4 identification, the TCP sequence and flags, and the checksums, which the
 * caller fills in as for any frame.
 */
#include "packet.h"

static void fix_tcp(u8 *tcp, u32 done, bool last)
{
	u8 flags = get_u8(tcp, TCP_FLAGS);

	put_be32(tcp, TCP_SEQ, get_be32(tcp, TCP_SEQ) + done);
	if (!last)
		flags &= (u8)~(TCP_FIN | TCP_PSH);
	if (done)
		flags &= (u8)~TCP_CWR;
	put_u8(tcp, TCP_FLAGS, flags);
}

/* Looks that TCP ends the header. */
static bool find_tcp(const struct lso *lso, struct headers *h, const u8 *frame)
{
	headers_parse(h, frame, lso->header_len);
	if (!h->l3 || h->proto != PROTO_TCP || h->fragment || h->l4 + TCP_HEADER > lso->header_len)
		return false;
	return h->l4 + 4 * (u32)field(TCP_OFFSET_M, frame[h->l4 + TCP_OFFSET]) == lso->header_len;
}

/* A packet of more than 64 KiB has no length in its IPv4 header. */
static void seem_complete(u8 *frame, u32 header_len)
{
	if (get_be16(frame, ETH_TYPE) == TYPE_IPV4)
		put_be16(frame, ETH_HEADER + IPV4_LEN, (u16)(header_len - ETH_HEADER));
}

static void fix_ip(const struct headers *h, u8 *ip, u32 len, u32 number)
{
	if (h->ipv6) {
		put_be16(ip, IPV6_LEN, (u16)(len - IPV6_HEADER));
		return;
	}
	put_be16(ip, IPV4_LEN, (u16)len);
	put_be16(ip, IPV4_ID, (u16)(get_be16(ip, IPV4_ID) + number));
}

u32 lso_segment(const struct lso *lso, u32 done, u8 *frame)
{
	u32 part = MIN(lso->mss, lso->payload_len - done);
	struct headers h;

	memcpy(frame, lso->header, lso->header_len);
	seem_complete(frame, lso->header_len);
	if (!find_tcp(lso, &h, frame))
		return 0;
	fix_ip(&h, frame + h.l3, lso->header_len - h.l3 + part, done / lso->mss);
	fix_tcp(frame + h.l4, done, done + part == lso->payload_len);
	memcpy(frame + lso->header_len, lso->payload + done, part);
	return lso->header_len + part;
}
