/* SPDX-License-Identifier: GPL-2.0 */
/* What programs do to the datagrams of seqstream.c, and to these alone: UDP to
 * SEQ_PORT. Everything else passes.
 */
#ifndef XDP_SEQ_H
#define XDP_SEQ_H

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <stddef.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#define SEQ_PORT	34567
#define NO_SUCH_DEVICE	0x7ffffff0

/* what seqstream.c sends */
struct seq {
	__be64 number;
	__u8 mark;
};

struct frame {
	struct ethhdr *eth;
	struct iphdr *ip4;
	struct ipv6hdr *ip6;
	struct udphdr *udp;
	struct seq *seq;
};

static __always_inline int parse(struct xdp_md *ctx, struct frame *f)
{
	void *data = (void *)(long)ctx->data;
	void *end = (void *)(long)ctx->data_end;
	int proto;

	f->eth = data;
	if ((void *)(f->eth + 1) > end)
		return -1;
	f->ip4 = (void *)(f->eth + 1);
	f->ip6 = (void *)(f->eth + 1);
	if (f->eth->h_proto == bpf_htons(ETH_P_IP)) {
		f->ip6 = NULL;
		if ((void *)(f->ip4 + 1) > end)
			return -1;
		proto = f->ip4->protocol;
		f->udp = (void *)(f->ip4 + 1);
	} else if (f->eth->h_proto == bpf_htons(ETH_P_IPV6)) {
		f->ip4 = NULL;
		if ((void *)(f->ip6 + 1) > end)
			return -1;
		proto = f->ip6->nexthdr;
		f->udp = (void *)(f->ip6 + 1);
	} else {
		return -1;
	}
	f->seq = (void *)(f->udp + 1);
	if (proto != IPPROTO_UDP || (void *)(&f->seq->mark + 1) > end ||
	    f->udp->dest != bpf_htons(SEQ_PORT))
		return -1;
	return 0;
}

static __always_inline int mark(struct xdp_md *ctx, char with)
{
	struct frame f;

	if (!parse(ctx, &f))
		f.seq->mark = with;
	return XDP_PASS;
}

static __always_inline int is_other(struct xdp_md *ctx)
{
	struct frame f;

	return parse(ctx, &f);
}

static __always_inline int act(struct xdp_md *ctx, int action)
{
	return is_other(ctx) ? XDP_PASS : action;
}

/* Addresses swapped, so that the sender's own socket takes the datagram. */
static __always_inline int turn_back(struct xdp_md *ctx)
{
	unsigned char mac[ETH_ALEN];
	struct frame f;

	if (parse(ctx, &f))
		return -1;
	__builtin_memcpy(mac, f.eth->h_dest, ETH_ALEN);
	__builtin_memcpy(f.eth->h_dest, f.eth->h_source, ETH_ALEN);
	__builtin_memcpy(f.eth->h_source, mac, ETH_ALEN);
	if (f.ip4) {
		__be32 addr = f.ip4->daddr;

		f.ip4->daddr = f.ip4->saddr;
		f.ip4->saddr = addr;
	} else if (f.ip6) {
		struct in6_addr addr = f.ip6->daddr;

		f.ip6->daddr = f.ip6->saddr;
		f.ip6->saddr = addr;
	}
	return 0;
}

static __always_inline int send_back(struct xdp_md *ctx)
{
	return turn_back(ctx) ? XDP_PASS : XDP_TX;
}

static __always_inline int redirect_back(struct xdp_md *ctx)
{
	if (turn_back(ctx))
		return XDP_PASS;
	return bpf_redirect(ctx->ingress_ifindex, 0);
}

#endif
