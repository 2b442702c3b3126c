/* SPDX-License-Identifier: GPL-2.0 */
/* What the card knows of packets, free of any card: headers, sums, hashes, segments. */
#ifndef CX3_PACKET_H
#define CX3_PACKET_H

#include "bits.h"
#include "layout.h"

struct headers {
	bool cvlan, svlan;	/* the outermost tag */
	u16 tci;
	u16 type;		/* after the tags */
	u32 l3, l4;		/* offsets; 0: not there */
	u32 l4_len;		/* as the IP header says, cut to the frame */
	u8 proto;		/* valid with l4 */
	bool ipv4, ipv6, fragment, options;
	bool ip_ok;		/* header complete and its checksum right */
	u8 ipv6_ext;		/* extension headers passed: hop-by-hop, routing, destination */
};

/* packet.c */
void headers_parse(struct headers *h, const u8 *frame, u32 len);
static inline bool is_multicast(const u8 *frame)
{
	return frame[0] & 1;
}
bool is_broadcast(const u8 *frame);
u64 mac_of(const u8 *addr);
u32 vlan_insert(u8 *frame, u32 len, u16 type, u16 tci);

/* csum.c */
u32 csum_add(u32 sum, const void *data, u32 len);	/* len even except at the end */
u16 csum_fold(u32 sum);
/* Folded sum over the pseudo header and len bytes of L4: 0xffff if its checksum is right. */
u16 csum_l4(const struct headers *h, const u8 *frame);
/* What the card puts in a CQE: for TCP and UDP csum_l4, for others the driver's odd sum. */
u16 csum_receive(const struct headers *h, const u8 *frame);
bool csum_fill_ip(const struct headers *h, u8 *frame);
bool csum_fill_l4(const struct headers *h, u8 *frame);

/* fcs.c */
u32 fcs(const void *data, u32 len);

/* rss.c */
struct flow {
	u8 bytes[2 * 16 + 2 * 2];
	u32 len;		/* 0: not a flow, to the default queue */
};
void flow_of(struct flow *flow, const struct headers *h, const u8 *frame, u8 rss_flags);
u32 toeplitz(const u8 *key, const u8 *bytes, u32 len);
u32 xor_hash(const u8 *bytes, u32 len);

/* lso.c */
struct lso {
	const u8 *header;
	u32 header_len;
	const u8 *payload;
	u32 payload_len;
	u32 mss;
};
/* The frame that starts at byte done of the payload; its length, 0 if the header is no TCP. */
u32 lso_segment(const struct lso *lso, u32 done, u8 *frame);

#endif
