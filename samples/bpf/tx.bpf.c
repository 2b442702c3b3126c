// SPDX-License-Identifier: GPL-2.0
/* Sends every IPv4 or IPv6 frame that is addressed to this port back out of it,
 * its addresses exchanged, and counts it. All others, ARP and multicast among
 * them, go to the stack, so that neighbours still find the port.
 *
 *   ip link set dev eth0 xdp obj tx.bpf.o sec xdp
 *   ip link set dev eth0 xdp obj tx.bpf.o sec xdp.frags   at a large MTU
 *
 * Exchanging the two addresses leaves every checksum as it was.
 */
#include "count.h"

static __always_inline void exchange_mac(struct ethhdr *eth)
{
	unsigned char source[ETH_ALEN];

	__builtin_memcpy(source, eth->h_source, ETH_ALEN);
	__builtin_memcpy(eth->h_source, eth->h_dest, ETH_ALEN);
	__builtin_memcpy(eth->h_dest, source, ETH_ALEN);
}

static __always_inline int turn_back(struct xdp_md *ctx)
{
	void *end = (void *)(long)ctx->data_end;
	struct ethhdr *eth = (void *)(long)ctx->data;
	struct ipv6hdr *ip6 = (void *)(eth + 1);
	struct iphdr *ip4 = (void *)(eth + 1);

	if ((void *)(eth + 1) > end || eth->h_dest[0] & 1)
		return XDP_PASS;

	if (eth->h_proto == bpf_htons(ETH_P_IP) && (void *)(ip4 + 1) <= end) {
		__be32 source = ip4->saddr;

		ip4->saddr = ip4->daddr;
		ip4->daddr = source;
	} else if (eth->h_proto == bpf_htons(ETH_P_IPV6) &&
		   (void *)(ip6 + 1) <= end && ip6->nexthdr != IPPROTO_ICMPV6) {
		struct in6_addr source = ip6->saddr;

		ip6->saddr = ip6->daddr;
		ip6->daddr = source;
	} else {
		return XDP_PASS;
	}

	exchange_mac(eth);
	count(ctx);
	return XDP_TX;
}

SEC("xdp")
int xdp_tx(struct xdp_md *ctx)
{
	return turn_back(ctx);
}

SEC("xdp.frags")
int xdp_tx_frags(struct xdp_md *ctx)
{
	return turn_back(ctx);
}

char _license[] SEC("license") = "GPL";
