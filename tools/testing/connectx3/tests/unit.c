// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the model, without a guest. The first half is of packets alone,
 * the second drives a whole card with the little driver in mini.c.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>

#include "../fault.h"
#include "../packet.h"
#include "../steer.h"
#include "mini.h"

static unsigned int failures, checks;
static const char *current;

#define CHECK(wish) do {								\
	checks++;									\
	if (!(wish)) {									\
		failures++;								\
		printf("not ok %s: line %d: %s\n", current, __LINE__, #wish);		\
	}										\
} while (0)

static const struct card_options options = {
	.clock_mhz = 1000, .hold_ns = 200 * NS_PER_MS, .link_up_ns = NS_PER_MS, .rx_page = 4096,
};

/* -- packets ------------------------------------------------------------------------------ */

/* the verification suite of Microsoft's RSS specification */
static const u8 ms_key[RSS_KEY_SIZE] = {
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
	0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
	0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
};

static const struct {
	int family;
	const char *dst, *src;
	u16 dport, sport;
	u32 by_address, by_port;
} ms_vectors[] = {
	{ AF_INET, "161.142.100.80", "66.9.149.187", 1766, 2794, 0x323e8fc2, 0x51ccc178 },
	{ AF_INET, "65.69.140.83", "199.92.111.2", 4739, 14230, 0xd718262a, 0xc626b0ea },
	{ AF_INET, "12.22.207.184", "24.19.198.95", 38024, 12898, 0xd2d0a5de, 0x5c2b394a },
	{ AF_INET, "209.142.163.6", "38.27.205.30", 2217, 48228, 0x82989176, 0xafc7327f },
	{ AF_INET, "202.188.127.2", "153.39.163.191", 1303, 44251, 0x5d1809c5, 0x10e828a2 },
	{ AF_INET6, "3ffe:2501:200:3::1", "3ffe:2501:200:1fff::7", 1766, 2794, 0x2cc18cd5, 0x40207d3d },
	{ AF_INET6, "ff02::1", "3ffe:501:8::260:97ff:fe40:efab", 4739, 14230, 0x0f0c461c, 0xdde51bbf },
	{ AF_INET6, "fe80::200:f8ff:fe21:67cf", "3ffe:1900:4545:3:200:f8ff:fe21:67cf", 38024, 44251,
	  0x4b61e985, 0x02d1feef },
};

/* A TCP frame with addresses and ports, nothing else in it. */
static u32 make_tcp(u8 *frame, int family, const char *src, const char *dst, u16 sport, u16 dport,
		    u32 payload)
{
	bool v4 = family == AF_INET;
	u8 *ip = frame + ETH_HEADER;
	u8 *tcp = ip + (v4 ? IPV4_HEADER : IPV6_HEADER);

	memset(frame, 0, ETH_HEADER + IPV6_HEADER + TCP_HEADER + payload);
	frame[0] = 2;
	put_be16(frame, ETH_TYPE, v4 ? TYPE_IPV4 : TYPE_IPV6);
	ip[0] = v4 ? 0x45 : 0x60;
	ip[v4 ? IPV4_PROTO : IPV6_NEXT] = PROTO_TCP;
	put_be16(ip, v4 ? IPV4_LEN : IPV6_LEN, (u16)((v4 ? IPV4_HEADER : 0) + TCP_HEADER + payload));
	inet_pton(family, src, ip + (v4 ? IPV4_SRC : IPV6_SRC));
	inet_pton(family, dst, ip + (v4 ? IPV4_DST : IPV6_DST));
	put_be16(tcp, 0, sport);
	put_be16(tcp, 2, dport);
	tcp[TCP_OFFSET] = 0x50;
	return (u32)(tcp - frame) + TCP_HEADER + payload;
}

static void toeplitz_of_microsofts_vectors(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ms_vectors); i++) {
		struct headers h;
		struct flow flow;
		u8 frame[256];
		u32 len = make_tcp(frame, ms_vectors[i].family, ms_vectors[i].src, ms_vectors[i].dst,
				   ms_vectors[i].sport, ms_vectors[i].dport, 0);

		headers_parse(&h, frame, len);
		flow_of(&flow, &h, frame, RSS_FLAG_IPV4 | RSS_FLAG_IPV6);
		CHECK(toeplitz(ms_key, flow.bytes, flow.len) == ms_vectors[i].by_address);
		flow_of(&flow, &h, frame, RSS_FLAG_TCP_IPV4 | RSS_FLAG_TCP_IPV6);
		CHECK(toeplitz(ms_key, flow.bytes, flow.len) == ms_vectors[i].by_port);
		flow_of(&flow, &h, frame, RSS_FLAG_UDP_IPV4 | RSS_FLAG_UDP_IPV6);
		CHECK(!flow.len);
	}
}

static void fcs_of_the_usual_string(void)
{
	CHECK(fcs("123456789", 9) == 0xcbf43926);
	CHECK(fcs("", 0) == 0);
}

static void checksum_of_a_known_header(void)
{
	/* the example of RFC 1071's usual explanation: 0xb861 belongs in the hole */
	static const u8 header[IPV4_HEADER] = {
		0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0xb8, 0x61, 0xc0, 0xa8,
		0x00, 0x01, 0xc0, 0xa8, 0x00, 0xc7,
	};
	u8 frame[ETH_HEADER + 0x73] = { 0 };
	struct headers h;

	memcpy(frame + ETH_HEADER, header, sizeof(header));
	put_be16(frame, ETH_TYPE, TYPE_IPV4);
	headers_parse(&h, frame, sizeof(frame));
	CHECK(h.ipv4 && h.ip_ok && h.proto == PROTO_UDP && h.l4_len == 0x73 - IPV4_HEADER);
	put_be16(frame, ETH_HEADER + IPV4_CSUM, 0);
	headers_parse(&h, frame, sizeof(frame));
	CHECK(!h.ip_ok);
	CHECK(csum_fill_ip(&h, frame) && get_be16(frame, ETH_HEADER + IPV4_CSUM) == 0xb861);
}

static void checksum_of_tcp_and_udp(void)
{
	u8 frame[512];
	struct headers h;
	u32 len = make_tcp(frame, AF_INET6, "fe80::1", "fe80::2", 1, 2, 33);

	headers_parse(&h, frame, len);
	CHECK(csum_receive(&h, frame) != CQE_CSUM_GOOD);
	CHECK(csum_fill_l4(&h, frame) && csum_l4(&h, frame) == CQE_CSUM_GOOD);
	frame[len - 1] ^= 1;
	CHECK(csum_receive(&h, frame) != CQE_CSUM_GOOD);
	/* a UDP checksum that comes out as zero is written as ones */
	len = make_tcp(frame, AF_INET, "0.0.0.0", "0.0.0.0", 0, 0, 0);
	frame[ETH_HEADER + IPV4_PROTO] = PROTO_UDP;
	headers_parse(&h, frame, len);
	put_be16(frame, h.l4, (u16)(0xffff - h.l4_len - PROTO_UDP));
	memset(frame + h.l4 + 2, 0, h.l4_len - 2);
	CHECK(csum_fill_l4(&h, frame) && get_be16(frame, h.l4 + UDP_CSUM) == 0xffff);
}

static void headers_of_short_and_wrong_frames(void)
{
	u8 frame[128];
	struct headers h;
	u32 len, cut;

	len = make_tcp(frame, AF_INET6, "fe80::1", "fe80::2", 1, 2, 0);
	for (cut = 0; cut <= len; cut++) {
		headers_parse(&h, frame, cut);
		CHECK(!h.l3 || (h.l4 <= cut && h.l4 + h.l4_len <= cut));
	}
	frame[ETH_HEADER + IPV6_NEXT] = PROTO_HOPOPTS;
	headers_parse(&h, frame, len);
	CHECK(h.ipv6_ext && h.l4 + h.l4_len <= len);
	len = make_tcp(frame, AF_INET, "1.2.3.4", "5.6.7.8", 1, 2, 0);
	put_be16(frame, ETH_HEADER + IPV4_FRAG, 1);
	headers_parse(&h, frame, len);
	CHECK(h.fragment && !csum_fill_l4(&h, frame));
}

static void tags_put_in_and_found(void)
{
	u8 frame[128];
	struct headers h;
	u32 len = make_tcp(frame, AF_INET, "1.2.3.4", "5.6.7.8", 1, 2, 6);

	len = vlan_insert(frame, len, TYPE_CVLAN, 0x2064);
	len = vlan_insert(frame, len, TYPE_SVLAN, 0x0bad);
	headers_parse(&h, frame, len);
	CHECK(h.svlan && !h.cvlan && h.tci == 0x0bad && h.type == TYPE_IPV4);
	CHECK(h.l3 == ETH_HEADER + 2 * VLAN_TAG && h.proto == PROTO_TCP);
}

static void check_segment(const u8 *frame, u32 len, u32 number, u32 part, bool last)
{
	struct headers h;
	u8 copy[2048];

	memcpy(copy, frame, len);
	headers_parse(&h, copy, len);
	CHECK(csum_fill_ip(&h, copy) && csum_fill_l4(&h, copy));
	headers_parse(&h, copy, len);
	CHECK(h.ip_ok && csum_l4(&h, copy) == CQE_CSUM_GOOD && h.l4_len == TCP_HEADER + part);
	CHECK(get_be16(copy, h.l3 + IPV4_ID) == 0x1000 + number);
	CHECK(get_be32(copy, h.l4 + TCP_SEQ) == 0xfffffff0 + number * 1000);
	CHECK(!!(copy[h.l4 + TCP_FLAGS] & (TCP_FIN | TCP_PSH)) == last);
	CHECK(!!(copy[h.l4 + TCP_FLAGS] & TCP_CWR) == !number);
	CHECK(copy[h.l4 + TCP_HEADER] == (u8)(number * 1000 % 251));
}

static void large_send_in_segments(void)
{
	u8 header[128], payload[2500], frame[2048];
	struct lso lso = { .header = header, .payload = payload, .payload_len = sizeof(payload), .mss = 1000 };
	u32 done, i;

	lso.header_len = make_tcp(header, AF_INET, "1.2.3.4", "5.6.7.8", 1, 2, 0);
	put_be16(header, ETH_HEADER + IPV4_ID, 0x1000);
	put_be32(header, ETH_HEADER + IPV4_HEADER + TCP_SEQ, 0xfffffff0);
	header[ETH_HEADER + IPV4_HEADER + TCP_FLAGS] = (u8)(TCP_FIN | TCP_PSH | TCP_CWR | BIT(4));
	for (i = 0; i < sizeof(payload); i++)
		payload[i] = (u8)(i % 251);
	for (done = 0, i = 0; done < sizeof(payload); done += lso.mss, i++) {
		u32 part = MIN(lso.mss, (u32)sizeof(payload) - done);
		u32 len = lso_segment(&lso, done, frame);

		CHECK(len == lso.header_len + part);
		check_segment(frame, len, i, part, done + part == sizeof(payload));
	}
	header[ETH_HEADER + IPV4_PROTO] = PROTO_UDP;
	CHECK(!lso_segment(&lso, 0, frame));
}

/* -- context memory ------------------------------------------------------------------------- */

static void context_memory(void)
{
	struct icm icm = { 0 };
	u64 phys;

	CHECK(!icm_translate(&icm, 0, &phys));
	CHECK(icm_map(&icm, 0x100000000ULL, 0x40000, 6));
	CHECK(icm.mapped == 64);
	CHECK(icm_translate(&icm, 0x100003123ULL, &phys) && phys == 0x43123);
	CHECK(!icm_translate(&icm, 0x100040000ULL, &phys));
	CHECK(!icm_map(&icm, 0x123, 0, 0) && !icm_map(&icm, 0, 0x123, 0) && !icm_map(&icm, 0, 0, 60));
	CHECK(!icm_map(&icm, BIT(ICM_LOG_SIZE) - ICM_PAGE_SIZE, 0, 1) && !icm_map(&icm, ~0xfffULL, 0, 0));
	CHECK(icm_unmap(&icm, 0x100000000ULL, 1) && !icm_translate(&icm, 0x100000000ULL, &phys));
	CHECK(!icm_unmap(&icm, 0x100000000ULL, 1) && icm_unmap(&icm, 0x100000000ULL, 256));
	CHECK(!icm.mapped);
	icm_free(&icm);
}

static void translation_entries(void)
{
	struct queue_mem mem = { .page_shift = ICM_PAGE_SHIFT };
	struct mini m;
	u64 addr;

	mini_start(&m, &options);
	mini_bring_up(&m, false);
	mem.mtt = mini_mtt(&m, 0x800000, 0x2000);
	CHECK(queue_addr(m.card, &mem, 0x1234, &addr) && addr == 0x801234);
	CHECK(!violation_count());
	CHECK(!queue_addr(m.card, &mem, 0x3000, &addr) && violation_times(V_MTT_ABSENT) == 1);
	mem.mtt = 1u << 30;
	CHECK(!queue_addr(m.card, &mem, 0, &addr) && violation_times(V_ICM_UNMAPPED) == 1);
	mini_stop(&m);
}

/* -- queues ------------------------------------------------------------------------------------ */

static u32 inline_wqe(u8 *wqe, const u8 *frame, u32 len)
{
	u32 at = WQE_CTRL_SIZE;

	memset(wqe, 0, MAX_WQE_SIZE);
	put_be32(wqe, WQE_FLAGS, (u32)WQE_FLAG_CQ_UPDATE);
	while (len) {
		u32 part = MIN(len, ALIGN_UP(at + 1, TXBB_SIZE) - at - SEG_INLINE_DATA);

		put_be32(wqe, at, (u32)SEG_INLINE | part);
		memcpy(wqe + at + SEG_INLINE_DATA, frame, part);
		frame += part;
		len -= part;
		at = ALIGN_UP(at + SEG_INLINE_DATA + part, SEG_SIZE);
	}
	return at;
}

static const u8 *received(struct mini *m, unsigned int port, const u8 *cqe)
{
	return mini_ptr(m, m->rx_buffers[port] + get_be16(cqe, CQE_WQE_INDEX) * MINI_BUFFER);
}

static void inline_frame_and_both_completions(void)
{
	struct mini m;
	u8 wqe[MAX_WQE_SIZE], frame[200];
	const u8 *cqe;
	u32 len = make_tcp(frame, AF_INET, "1.2.3.4", "5.6.7.8", 1, 2, 60);

	mini_start(&m, &options);
	mini_ready(&m, true);
	mini_post_receive(&m, 1, 8);
	mini_send(&m, 0, wqe, inline_wqe(wqe, frame, len), WQE_OP_SEND);
	cqe = mini_poll(&m, &m.cq_send[0]);
	CHECK(cqe && (cqe[CQE_OWNER_OP] & 0x7f) == (CQE_IS_SEND | WQE_OP_SEND));
	CHECK(cqe && !get_be16(cqe, CQE_WQE_INDEX));
	CHECK(!mini_poll(&m, &m.cq_send[0]));
	cqe = mini_poll(&m, &m.cq_recv[1]);
	CHECK(cqe && get_be32(cqe, CQE_BYTE_CNT) == len + ETH_FCS);
	CHECK(cqe && get_be32(cqe, CQE_QPN) == m.qp[1].number);
	CHECK(cqe && !memcmp(received(&m, 1, cqe), frame, len));
	CHECK(cqe && fcs(frame, len) == __builtin_bswap32(get_be32(received(&m, 1, cqe), len)));
	CHECK(cqe && get_be16(cqe, CQE_STATUS) == (CQE_STATUS_IPV4 | CQE_STATUS_TCP));
	CHECK(!violation_count());
	mini_stop(&m);
}

static u32 gather_wqe(struct mini *m, u8 *wqe, const u8 *frame, u32 len, u32 pieces)
{
	u32 at = WQE_CTRL_SIZE;
	u64 addr = 0xc00000;
	u32 i;

	memset(wqe, 0, MAX_WQE_SIZE);
	put_be32(wqe, WQE_FLAGS, (u32)(WQE_FLAG_CQ_UPDATE | WQE_FLAG_IP_CSUM | WQE_FLAG_L4_CSUM));
	for (i = 0; i < pieces; i++) {
		u32 part = i == pieces - 1 ? len : len / pieces;

		memcpy(mini_ptr(m, addr), frame, part);
		put_be32(wqe, at + SEG_BYTE_COUNT, part);
		put_be32(wqe, at + SEG_LKEY, MINI_LKEY);
		put_be64(wqe, at + SEG_ADDR, addr);
		frame += part;
		len -= part;
		addr += 5000;
		at += SEG_SIZE;
	}
	return at;
}

static void gathered_frame_checksummed_and_tagged(void)
{
	struct mini m;
	u8 wqe[MAX_WQE_SIZE], frame[1024];
	const u8 *cqe;
	u32 len = make_tcp(frame, AF_INET, "1.2.3.4", "5.6.7.8", 1, 2, 900);
	u32 size;

	mini_start(&m, &options);
	mini_ready(&m, false);
	mini_post_receive(&m, 1, 8);
	size = gather_wqe(&m, wqe, frame, len, 3);
	put_be16(wqe, WQE_VLAN_TAG, 0x6123);
	put_u8(wqe, WQE_INS_VLAN, (u8)WQE_INS_SVLAN);
	mini_send(&m, 0, wqe, size, WQE_OP_SEND);
	cqe = mini_poll(&m, &m.cq_recv[1]);
	CHECK(cqe && get_be32(cqe, CQE_BYTE_CNT) == len);
	CHECK(cqe && (get_be32(cqe, CQE_QPN) & CQE_SVLAN_PRESENT) && get_be16(cqe, CQE_SL_VID) == 0x6123);
	CHECK(cqe && get_be16(cqe, CQE_CHECKSUM) == CQE_CSUM_GOOD);
	CHECK(cqe && get_be16(cqe, CQE_STATUS) == (CQE_STATUS_IPV4 | CQE_STATUS_TCP | CQE_STATUS_IPOK));
	CHECK(cqe && get_be16(received(&m, 1, cqe), ETH_TYPE) == TYPE_IPV4);
	CHECK(!violation_count());
	mini_stop(&m);
}

/* More WQEs than the ring has, some over its end: owner bits must keep step. */
static void many_passes_through_the_rings(void)
{
	struct mini m;
	u8 wqe[MAX_WQE_SIZE], frame[200];
	u32 i;

	mini_start(&m, &options);
	mini_ready(&m, false);
	for (i = 0; i < 300; i++) {
		u32 len = 60 + i % 100;
		const u8 *cqe;

		memset(frame, (u8)(i | 2), sizeof(frame));
		frame[0] = 2;
		mini_post_receive(&m, 1, 1);
		mini_send(&m, 0, wqe, inline_wqe(wqe, frame, len), WQE_OP_SEND);
		CHECK(mini_poll(&m, &m.cq_send[0]));
		cqe = mini_poll(&m, &m.cq_recv[1]);
		CHECK(cqe && get_be32(cqe, CQE_BYTE_CNT) == len);
		CHECK(cqe && !memcmp(received(&m, 1, cqe), frame, len));
	}
	CHECK(!violation_count());
	mini_stop(&m);
}

static void large_send_through_the_card(void)
{
	struct mini m;
	u8 wqe[MAX_WQE_SIZE] = { 0 }, header[128];
	u32 hlen = make_tcp(header, AF_INET, "1.2.3.4", "5.6.7.8", 1, 2, 0);
	u32 at = WQE_CTRL_SIZE + ALIGN_UP(LSO_HEADER + hlen, SEG_SIZE);
	u32 i;

	mini_start(&m, &options);
	mini_ready(&m, false);
	mini_post_receive(&m, 1, 8);
	put_be32(wqe, WQE_FLAGS, (u32)(WQE_FLAG_CQ_UPDATE | WQE_FLAG_IP_CSUM | WQE_FLAG_L4_CSUM));
	put_be32(wqe, WQE_CTRL_SIZE, 1000 << 16 | hlen);
	memcpy(wqe + WQE_CTRL_SIZE + LSO_HEADER, header, hlen);
	put_be32(wqe, at + SEG_BYTE_COUNT, 4500);
	put_be32(wqe, at + SEG_LKEY, MINI_LKEY);
	put_be64(wqe, at + SEG_ADDR, 0xc00000);
	mini_send(&m, 0, wqe, at + SEG_SIZE, WQE_OP_LSO);
	CHECK(mini_poll(&m, &m.cq_send[0]) && !mini_poll(&m, &m.cq_send[0]));
	for (i = 0; i < 5; i++) {
		const u8 *cqe = mini_poll(&m, &m.cq_recv[1]);

		CHECK(cqe && get_be32(cqe, CQE_BYTE_CNT) == hlen + (i == 4 ? 500 : 1000));
		CHECK(cqe && get_be16(cqe, CQE_CHECKSUM) == CQE_CSUM_GOOD);
	}
	CHECK(!mini_poll(&m, &m.cq_recv[1]) && !violation_count());
	mini_stop(&m);
}

static void wrong_wqes_complete_in_error(void)
{
	static const struct { u32 byte_count, lkey; u64 addr; enum violation v; u8 syndrome; } rows[] = {
		{ 100, 0x300, 0xc00000, V_BAD_LKEY, SYNDROME_LOCAL_PROT },
		{ 100, MINI_LKEY, MINI_MEMORY - 50, V_DMA_OUTSIDE, SYNDROME_LOCAL_PROT },
		{ 5, MINI_LKEY, 0xc00000, V_WQE_FRAME, SYNDROME_LOCAL_LENGTH },
		{ 20000, MINI_LKEY, 0xc00000, V_WQE_FRAME, SYNDROME_LOCAL_PROT },
		{ (u32)SEG_INLINE | 200, 0, 0, V_WQE_INLINE, SYNDROME_LOCAL_PROT },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct mini m;
		u8 wqe[MAX_WQE_SIZE] = { 0 };
		const u8 *cqe;

		mini_start(&m, &options);
		mini_ready(&m, false);
		put_be32(wqe, WQE_CTRL_SIZE + SEG_BYTE_COUNT, rows[i].byte_count);
		put_be32(wqe, WQE_CTRL_SIZE + SEG_LKEY, rows[i].lkey);
		put_be64(wqe, WQE_CTRL_SIZE + SEG_ADDR, rows[i].addr);
		mini_send(&m, 0, wqe, WQE_CTRL_SIZE + SEG_SIZE, WQE_OP_SEND);
		cqe = mini_poll(&m, &m.cq_send[0]);
		CHECK(cqe && (cqe[CQE_OWNER_OP] & 0x1f) == CQE_OP_ERROR);
		CHECK(cqe && cqe[CQE_SYNDROME] == rows[i].syndrome);
		CHECK(violation_times(rows[i].v) == 1 && violation_count() == 1);
		CHECK(qp_find(m.card, m.qp[0].number)->state == QP_ERR);
		/* what is posted after that comes back unsent */
		mini_send(&m, 0, wqe, WQE_CTRL_SIZE + SEG_SIZE, WQE_OP_SEND);
		cqe = mini_poll(&m, &m.cq_send[0]);
		CHECK(cqe && cqe[CQE_SYNDROME] == SYNDROME_FLUSH && get_be16(cqe, CQE_WQE_INDEX) == 1);
		violations_reset();
		mini_stop(&m);
	}
}

static void receive_without_buffers(void)
{
	struct mini m;
	u8 wqe[MAX_WQE_SIZE], frame[100] = { 2 };

	mini_start(&m, &options);
	mini_ready(&m, false);
	mini_send(&m, 0, wqe, inline_wqe(wqe, frame, sizeof(frame)), WQE_OP_SEND);
	CHECK(!mini_poll(&m, &m.cq_recv[1]) && m.card->ports[1].wire.paused);
	mini_post_receive(&m, 1, 1);
	mini_run(&m);
	CHECK(mini_poll(&m, &m.cq_recv[1]) && !m.card->ports[1].wire.paused);
	mini_send(&m, 0, wqe, inline_wqe(wqe, frame, sizeof(frame)), WQE_OP_SEND);
	m.now += 2 * options.hold_ns;
	mini_run(&m);
	CHECK(m.card->ports[1].stats.rx_overflow == 1);
	m.card->ports[0].pause_rx = false;
	mini_send(&m, 0, wqe, inline_wqe(wqe, frame, sizeof(frame)), WQE_OP_SEND);
	CHECK(m.card->ports[1].stats.rx_overflow == 2 && !violation_count());
	mini_stop(&m);
}

static void receive_entry_over_a_page(void)
{
	struct mini m;
	u8 wqe[MAX_WQE_SIZE], frame[100] = { 2 };
	u8 *rq;

	mini_start(&m, &options);
	mini_ready(&m, false);
	mini_post_receive(&m, 1, 1);
	rq = mini_ptr(&m, m.qp[1].buf + (TXBB_SIZE << MINI_LOG_SQ));
	put_be64(rq, SEG_ADDR, m.rx_buffers[1] + 4096 - 200);
	mini_send(&m, 0, wqe, inline_wqe(wqe, frame, sizeof(frame)), WQE_OP_SEND);
	/* the frame is short enough, the entry is not */
	CHECK(mini_poll(&m, &m.cq_recv[1]) && violation_times(V_RX_CROSSES_PAGE) == 1);
	mini_stop(&m);
}

static void completion_queue_overrun(void)
{
	struct mini m;
	u8 wqe[MAX_WQE_SIZE], frame[60] = { 2 };
	unsigned int i;

	mini_start(&m, &options);
	mini_ready(&m, false);
	for (i = 0; i < (1u << MINI_LOG_CQ) + 1; i++) {
		mini_post_receive(&m, 1, 1);
		mini_send(&m, 0, wqe, inline_wqe(wqe, frame, sizeof(frame)), WQE_OP_SEND);
		mini_poll(&m, &m.cq_recv[1]);
	}
	CHECK(violation_times(V_CQ_OVERRUN) == 1 && cq_find(m.card, m.cq_send[0].number)->failed);
	mini_stop(&m);
}

static void arm(struct mini *m, const struct mini_queue *cq)
{
	u8 raw[8];

	put_be32(raw, 0, (u32)in_field(CQ_DB_CMD_M, CQ_DB_CMD_NEXT) | cq->number);
	put_be32(raw, 4, cq->next);
	bar_write(m->card, 2, MINI_UAR * 4096 + UAR_CQ_DB, raw, sizeof(raw));
}

static void arm_eq(struct mini *m, u32 ci)
{
	u8 raw[4];

	put_be32(raw, 0, (u32)EQ_DB_ARM | ci);
	bar_write(m->card, 2, UAR_EQ_DB + UAR_EQ_DB_STRIDE * m->eq.number, raw, sizeof(raw));
}

static void events_once_an_arming(void)
{
	struct mini m;
	u8 wqe[MAX_WQE_SIZE], frame[60] = { 2 };
	struct eq *eq;
	u32 before;

	mini_start(&m, &options);
	mini_ready(&m, false);
	eq = eq_find(m.card, m.eq.number);
	arm_eq(&m, eq->pi);
	before = eq->pi;
	mini_post_receive(&m, 1, 8);
	mini_send(&m, 0, wqe, inline_wqe(wqe, frame, sizeof(frame)), WQE_OP_SEND);
	CHECK(eq->pi == before);
	arm(&m, &m.cq_recv[1]);		/* behind already: fires at once */
	CHECK(eq->pi == before + 1 && m.interrupts[1] && !eq->armed);
	mini_poll(&m, &m.cq_recv[1]);
	arm(&m, &m.cq_recv[1]);
	CHECK(eq->pi == before + 1);
	mini_send(&m, 0, wqe, inline_wqe(wqe, frame, sizeof(frame)), WQE_OP_SEND);
	mini_send(&m, 0, wqe, inline_wqe(wqe, frame, sizeof(frame)), WQE_OP_SEND);
	CHECK(eq->pi == before + 2 && !violation_count());
	mini_stop(&m);
}

static void arming_what_is_not_there(void)
{
	struct mini_queue never = { .number = 0x77 };
	struct mini m;
	u8 rst[8];

	mini_start(&m, &options);
	mini_ready(&m, false);
	CHECK(mini_cmd(&m, 0x17, m.cq_recv[1].number, 0, NULL, 0, NULL) == CMD_RESOURCE_BUSY);
	CHECK(violation_times(V_STILL_OWNED) == 1);
	CHECK(mini_cmd(&m, 0x21, m.qp[1].number, 2, NULL, 0, NULL) == CMD_OK);
	CHECK(mini_cmd(&m, 0x17, m.cq_recv[1].number, 0, NULL, 0, NULL) == CMD_OK);
	arm(&m, &m.cq_recv[1]);
	CHECK(!violation_times(V_DB_NO_CQ));
	arm(&m, &never);
	CHECK(violation_times(V_DB_NO_CQ) == 1);
	put_be32(rst, 0, m.qp[1].number << 8);
	bar_write(m.card, 2, MINI_UAR * 4096 + UAR_SEND_DB, rst, 4);
	CHECK(violation_times(V_DB_NO_QP) == 1);
	mini_stop(&m);
}

static void event_queue_overrun(void)
{
	struct mini m;
	u8 wqe[MAX_WQE_SIZE], frame[60] = { 2 };
	unsigned int i;

	mini_start(&m, &options);
	mini_ready(&m, false);
	for (i = 0; i < (2u << MINI_LOG_CQ); i++) {
		mini_post_receive(&m, 1, 1);
		arm(&m, &m.cq_recv[1]);
		mini_send(&m, 0, wqe, inline_wqe(wqe, frame, sizeof(frame)), WQE_OP_SEND);
		mini_poll(&m, &m.cq_send[0]);
		mini_poll(&m, &m.cq_recv[1]);
	}
	CHECK(violation_times(V_EQ_OVERRUN) == 1 && violation_count() == 1);
	mini_stop(&m);
}

static void frames_that_the_mac_refuses(void)
{
	struct mini m;
	u8 wqe[MAX_WQE_SIZE], frame[2100] = { 2 };
	const struct port_stats *stats;

	mini_start(&m, &options);
	mini_ready(&m, false);
	stats = &m.card->ports[1].stats;
	mini_post_receive(&m, 1, 8);
	CHECK(!fault_add(m.card, "bad-fcs:match=2"));
	mini_send(&m, 0, wqe, inline_wqe(wqe, frame, 60), WQE_OP_SEND);
	CHECK(stats->rx_crc == 1 && !mini_poll(&m, &m.cq_recv[1]));
	memset(wqe, 0, sizeof(wqe));
	gather_wqe(&m, wqe, frame, sizeof(frame), 1);
	put_be32(wqe, WQE_FLAGS, (u32)WQE_FLAG_CQ_UPDATE);
	mini_send(&m, 0, wqe, WQE_CTRL_SIZE + SEG_SIZE, WQE_OP_SEND);
	CHECK(stats->rx_too_long == 1 && !mini_poll(&m, &m.cq_recv[1]));
	CHECK(stats->rx_good == 0 && stats->rx[STATS_NO_VLAN].frames == 2);
	m.card->ports[1].ignore_fcs = true;
	CHECK(!fault_add(m.card, "bad-fcs:match=2"));
	mini_send(&m, 0, wqe, inline_wqe(wqe, frame, 60), WQE_OP_SEND);
	CHECK(mini_poll(&m, &m.cq_recv[1]) && !violation_count());
	mini_stop(&m);
}

static void vlan_filter_of_a_port(void)
{
	u8 filter[VLAN_FILTER_WORDS * sizeof(u32)] = { 0 };
	struct mini m;
	u8 frame[64] = { 2 };
	struct headers h;
	u32 qpns[8];

	mini_start(&m, &options);
	mini_ready(&m, false);
	vlan_insert(frame, 60, TYPE_CVLAN, 0xe000 | 100);
	headers_parse(&h, frame, sizeof(frame));
	CHECK(steer(m.card, 1, frame, &h, qpns) == 1);
	/* words come last first: VLAN 100 is bit 4 of word 127 - 3 */
	CHECK(mini_cmd(&m, 0x47, 2, 0, filter, sizeof(filter), NULL) == CMD_OK);
	CHECK(steer(m.card, 1, frame, &h, qpns) == 0);
	put_be32(filter, (VLAN_FILTER_WORDS - 1 - 100 / 32) * sizeof(u32), 1u << 100 % 32);
	CHECK(mini_cmd(&m, 0x47, 2, 0, filter, sizeof(filter), NULL) == CMD_OK);
	CHECK(steer(m.card, 1, frame, &h, qpns) == 1);
	mini_stop(&m);
}

static void moderation_counts_and_waits(void)
{
	struct mini m;
	u8 wqe[MAX_WQE_SIZE], frame[60] = { 2 };
	u8 c[CQC_SIZE] = { 0 };
	struct eq *eq;
	u32 before;

	mini_start(&m, &options);
	mini_ready(&m, false);
	eq = eq_find(m.card, m.eq.number);
	before = eq->pi;
	put_be16(c, CQC_PERIOD, 50);
	put_be16(c, CQC_MAX_COUNT, 2);
	CHECK(mini_cmd(&m, 0x2c, m.cq_recv[1].number, MODIFY_CQ_MODERATE, c, sizeof(c), NULL) == CMD_OK);
	mini_post_receive(&m, 1, 8);
	arm(&m, &m.cq_recv[1]);
	mini_send(&m, 0, wqe, inline_wqe(wqe, frame, sizeof(frame)), WQE_OP_SEND);
	CHECK(eq->pi == before && card_next(m.card) == m.now + 50 * NS_PER_US);
	mini_send(&m, 0, wqe, inline_wqe(wqe, frame, sizeof(frame)), WQE_OP_SEND);
	CHECK(eq->pi == before + 1);
	mini_poll(&m, &m.cq_recv[1]);
	mini_poll(&m, &m.cq_recv[1]);
	arm(&m, &m.cq_recv[1]);
	mini_send(&m, 0, wqe, inline_wqe(wqe, frame, sizeof(frame)), WQE_OP_SEND);
	m.now += 51 * NS_PER_US;
	mini_run(&m);
	CHECK(eq->pi == before + 2);
	mini_stop(&m);
}

static void commands_out_of_order(void)
{
	struct mini m;
	u8 box[CX3_MAILBOX_SIZE] = { 0 };

	mini_start(&m, &options);
	CHECK(mini_cmd(&m, 0x7, 0, 0, box, HCA_SIZE, NULL) == CMD_BAD_SYS_STATE);
	CHECK(violation_times(V_CMD_STATE) == 1);
	CHECK(mini_cmd(&m, 0x999, 0, 0, NULL, 0, NULL) == CMD_BAD_OP);
	CHECK(violation_times(V_CMD_UNKNOWN) == 1);
	mini_bring_up(&m, false);
	CHECK(mini_cmd(&m, 0x1b, 7, 0, box, 256, NULL) == CMD_BAD_QP_STATE);
	CHECK(mini_cmd(&m, 0x65, 4, 0, box, 256, NULL) == CMD_BAD_SYS_STATE);
	CHECK(mini_cmd(&m, 0x43, 3, 0, NULL, 0, box) == CMD_BAD_INDEX);
	mini_stop(&m);
}

static void work_without_bus_mastering(void)
{
	struct mini m;
	u8 box[CX3_MAILBOX_SIZE], off[2] = { 0 };

	mini_start(&m, &options);
	CHECK(mini_cmd(&m, 0x4, 0, 0, NULL, 0, box) == CMD_OK && !violation_count());
	CHECK(pci_write(m.card, 4, off, sizeof(off)));
	mini_cmd(&m, 0x4, 0, 0, NULL, 0, box);
	CHECK(violation_times(V_NO_MASTER) == 1);
	mini_stop(&m);
}

static void faults_at_the_nth_time(void)
{
	struct mini m;
	u8 box[CX3_MAILBOX_SIZE];
	unsigned int i;

	mini_start(&m, &options);
	mini_bring_up(&m, false);
	CHECK(fault_add(m.card, "nonsense") && fault_add(m.card, "cmd-fail:nth=x"));
	CHECK(!fault_add(m.card, "cmd-fail:match=0x43,nth=3,count=2,value=6"));
	for (i = 1; i <= 6; i++)
		CHECK((mini_cmd(&m, 0x43, 1, 0, NULL, 0, box) == 6) == (i == 3 || i == 4));
	mini_stop(&m);
}

/* -- flow steering -------------------------------------------------------------------------------- */

static u64 attach(struct mini *m, u8 *rule, u32 len)
{
	u64 id = 0;

	memcpy(mini_ptr(m, 0x1000), rule, len);
	CHECK(mini_cmd_imm(m, 0x65, len / 4, 0, 0x1000, &id) == CMD_OK && id);
	return id;
}

static void rules_by_priority(void)
{
	u8 rule[FS_CTRL_SIZE + FS_IPV4_SIZE + FS_L4_SIZE] = { 0 };
	u8 all[FS_CTRL_SIZE] = { 0 };
	u8 *ip = rule + FS_CTRL_SIZE, *l4 = ip + FS_IPV4_SIZE;
	struct mini m;
	u8 frame[128];
	struct headers h;
	u32 qpns[8], len = make_tcp(frame, AF_INET, "1.2.3.4", "5.6.7.8", 1, 80, 0);
	u64 id;

	mini_start(&m, &options);
	mini_bring_up(&m, true);
	put_u8(all, FS_TYPE, FS_ALL_DEFAULT);
	put_u8(all, FS_PORT, 1);
	put_be32(all, FS_QPN, 0x11);
	attach(&m, all, sizeof(all));
	put_be16(rule, FS_PRIO, 0x2000);
	put_u8(rule, FS_PORT, 1);
	put_be32(rule, FS_QPN, 0x22);
	put_u8(ip, FS_SPEC_SIZE, FS_IPV4_SIZE / 4);
	put_be16(ip, FS_SPEC_ID, FS_IPV4);
	put_be32(ip, FS_IPV4_DST, 0x05060708);
	put_be32(ip, FS_IPV4_DST_MASK, ~0u);
	put_u8(l4, FS_SPEC_SIZE, FS_L4_SIZE / 4);
	put_be16(l4, FS_SPEC_ID, FS_TCP);
	put_be16(l4, FS_L4_DST, 80);
	put_be16(l4, FS_L4_DST_MASK, 0xffff);
	id = attach(&m, rule, sizeof(rule));
	headers_parse(&h, frame, len);
	CHECK(steer(m.card, 0, frame, &h, qpns) == 1 && qpns[0] == 0x22);
	CHECK(steer(m.card, 1, frame, &h, qpns) == 0);
	put_be16(frame, h.l4 + 2, 81);
	CHECK(steer(m.card, 0, frame, &h, qpns) == 1 && qpns[0] == 0x11);
	CHECK(mini_cmd_imm(&m, 0x66, 0, 0, id, NULL) == CMD_OK);
	CHECK(mini_cmd_imm(&m, 0x66, 0, 0, id, NULL) != CMD_OK);
	mini_stop(&m);
}

#define TEST(name) { #name, name }

static const struct { const char *name; void (*run)(void); } tests[] = {
	TEST(toeplitz_of_microsofts_vectors), TEST(fcs_of_the_usual_string),
	TEST(checksum_of_a_known_header), TEST(checksum_of_tcp_and_udp),
	TEST(headers_of_short_and_wrong_frames), TEST(tags_put_in_and_found),
	TEST(large_send_in_segments), TEST(context_memory), TEST(translation_entries),
	TEST(inline_frame_and_both_completions), TEST(gathered_frame_checksummed_and_tagged),
	TEST(many_passes_through_the_rings), TEST(large_send_through_the_card),
	TEST(wrong_wqes_complete_in_error), TEST(receive_without_buffers),
	TEST(receive_entry_over_a_page), TEST(completion_queue_overrun), TEST(events_once_an_arming),
	TEST(arming_what_is_not_there), TEST(event_queue_overrun), TEST(frames_that_the_mac_refuses), TEST(vlan_filter_of_a_port),
	TEST(moderation_counts_and_waits), TEST(commands_out_of_order), TEST(work_without_bus_mastering), TEST(faults_at_the_nth_time),
	TEST(rules_by_priority),
};

int main(void)
{
	unsigned int i;

	trace_silent = true;
	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		unsigned int before = failures;

		current = tests[i].name;
		violations_reset();
		tests[i].run();
		if (failures == before)
			printf("ok %s\n", current);
	}
	printf("%u checks, %u failed\n", checks, failures);
	return failures ? 1 : 0;
}
