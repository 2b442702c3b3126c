/* SPDX-License-Identifier: GPL-2.0 */
/* Counts of the frames that a program has seen, by receive queue and by
 * protocol, in maps that bpftool shows with their names:
 *
 *   bpftool map dump name per_queue
 *   bpftool map dump name per_protocol
 */
#ifndef COUNT_H
#define COUNT_H

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#define MAX_QUEUES	128

struct counter {
	__u64 frames;
	__u64 bytes;	/* of the whole frame, fragments too, without FCS */
};

enum protocol {
	PROTOCOL_OTHER,
	PROTOCOL_ARP,
	PROTOCOL_ICMP,
	PROTOCOL_ICMPV6,
	PROTOCOL_TCP,
	PROTOCOL_UDP,
	PROTOCOLS
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, MAX_QUEUES);
	__type(key, __u32);
	__type(value, struct counter);
} per_queue SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, PROTOCOLS);
	__type(key, __u32);	/* enum protocol */
	__type(value, struct counter);
} per_protocol SEC(".maps");

static __always_inline enum protocol transport(__u8 ip_protocol)
{
	switch (ip_protocol) {
	case IPPROTO_TCP:
		return PROTOCOL_TCP;
	case IPPROTO_UDP:
		return PROTOCOL_UDP;
	case IPPROTO_ICMP:
		return PROTOCOL_ICMP;
	case IPPROTO_ICMPV6:
		return PROTOCOL_ICMPV6;
	default:
		return PROTOCOL_OTHER;
	}
}

/* Frames with a VLAN tag or an IPv6 extension header count as other. */
static __always_inline enum protocol protocol_of(struct xdp_md *ctx)
{
	void *end = (void *)(long)ctx->data_end;
	struct ethhdr *eth = (void *)(long)ctx->data;
	struct ipv6hdr *ip6 = (void *)(eth + 1);
	struct iphdr *ip4 = (void *)(eth + 1);

	if ((void *)(eth + 1) > end)
		return PROTOCOL_OTHER;
	if (eth->h_proto == bpf_htons(ETH_P_ARP))
		return PROTOCOL_ARP;
	if (eth->h_proto == bpf_htons(ETH_P_IP) && (void *)(ip4 + 1) <= end)
		return transport(ip4->protocol);
	if (eth->h_proto == bpf_htons(ETH_P_IPV6) && (void *)(ip6 + 1) <= end)
		return transport(ip6->nexthdr);
	return PROTOCOL_OTHER;
}

static __always_inline void add(void *map, const void *key, __u64 bytes)
{
	struct counter *c = bpf_map_lookup_elem(map, key);

	if (!c)
		return;
	c->frames++;
	c->bytes += bytes;
}

static __always_inline void count(struct xdp_md *ctx)
{
	__u32 protocol = protocol_of(ctx);
	__u64 bytes = bpf_xdp_get_buff_len(ctx);
	__u32 queue = ctx->rx_queue_index;

	add(&per_queue, &queue, bytes);
	add(&per_protocol, &protocol, bytes);
}

#endif
