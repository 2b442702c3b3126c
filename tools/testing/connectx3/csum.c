// SPDX-License-Identifier: GPL-2.0
/* The internet checksum, as the card takes and gives it. */
#include "packet.h"

/* Sums 16-bit words in the host's order; the fold turns the result round once. */
u32 csum_add(u32 sum, const void *data, u32 len)
{
	const u8 *p = data;
	u64 wide = sum;

	while (len >= sizeof(u32)) {
		u32 word;

		memcpy(&word, p, sizeof(word));
		wide += word;
		p += sizeof(word);
		len -= sizeof(word);
	}
	if (len) {
		u32 word = 0;

		memcpy(&word, p, len);
		wide += word;
	}
	wide = (wide & 0xffffffff) + (wide >> 32);
	return (u32)((wide & 0xffffffff) + (wide >> 32));
}

u16 csum_fold(u32 sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return __builtin_bswap16((u16)sum);
}

static u32 add_word(u32 sum, u32 value)
{
	u8 raw[sizeof(u32)];

	put_be32(raw, 0, value);
	return csum_add(sum, raw, sizeof(raw));
}

static u32 addresses(const struct headers *h, const u8 *frame)
{
	if (h->ipv4)
		return csum_add(0, frame + h->l3 + IPV4_SRC, 2 * 4);
	return csum_add(0, frame + h->l3 + IPV6_SRC, 2 * 16);
}

u16 csum_l4(const struct headers *h, const u8 *frame)
{
	u32 sum = addresses(h, frame);

	sum = add_word(sum, h->l4_len);
	sum = add_word(sum, h->proto);
	return csum_fold(csum_add(sum, frame + h->l4, h->l4_len));
}

/*
 * For a packet that is neither TCP nor UDP the driver makes the sum of the IP
 * payload from the card's: of IPv4 it takes the pseudo header off, to IPv6 it
 * adds the header's first word, next header and hop limit.
 */
u16 csum_receive(const struct headers *h, const u8 *frame)
{
	const u8 *ip = frame + h->l3;
	u32 sum;

	if (h->ipv4 || h->proto == PROTO_TCP || h->proto == PROTO_UDP)
		return csum_l4(h, frame);
	sum = csum_add(0, ip + IPV6_LEN, sizeof(u16));
	sum = csum_add(sum, ip + IPV6_SRC, 2 * 16);
	return csum_fold(csum_add(sum, ip + IPV6_HEADER, h->l4 + h->l4_len - h->l3 - IPV6_HEADER));
}

bool csum_fill_ip(const struct headers *h, u8 *frame)
{
	u8 *ip = frame + h->l3;

	if (h->ipv6)	/* has none */
		return true;
	if (!h->ipv4)
		return false;
	put_be16(ip, IPV4_CSUM, 0);
	put_be16(ip, IPV4_CSUM, (u16)~csum_fold(csum_add(0, ip, h->l4 - h->l3)));
	return true;
}

static bool csum_place(const struct headers *h, u32 *at)
{
	if (h->proto == PROTO_TCP && h->l4_len >= TCP_HEADER)
		*at = h->l4 + TCP_CSUM;
	else if (h->proto == PROTO_UDP && h->l4_len >= UDP_HEADER)
		*at = h->l4 + UDP_CSUM;
	else
		return false;
	return true;
}

bool csum_fill_l4(const struct headers *h, u8 *frame)
{
	u16 sum;
	u32 at;

	if (!h->l4 || h->fragment || !csum_place(h, &at))
		return false;
	put_be16(frame, at, 0);
	sum = (u16)~csum_l4(h, frame);
	/* for UDP zero would mean that there is no checksum */
	put_be16(frame, at, !sum && h->proto == PROTO_UDP ? CQE_CSUM_GOOD : sum);
	return true;
}
