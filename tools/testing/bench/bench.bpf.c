// SPDX-License-Identifier: GPL-2.0
/* The programs that are measured. They do the least that makes the frame take
 * its path, so that what is counted is the path and not the program.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_helpers.h>

static __always_inline int exchange_mac(struct xdp_md *ctx)
{
	void *end = (void *)(long)ctx->data_end;
	struct ethhdr *eth = (void *)(long)ctx->data;
	unsigned char source[ETH_ALEN];

	if ((void *)(eth + 1) > end)
		return XDP_ABORTED;
	__builtin_memcpy(source, eth->h_source, ETH_ALEN);
	__builtin_memcpy(eth->h_source, eth->h_dest, ETH_ALEN);
	__builtin_memcpy(eth->h_dest, source, ETH_ALEN);
	return XDP_TX;
}

SEC("xdp")
int drop(struct xdp_md *ctx)
{
	return XDP_DROP;
}

SEC("xdp.frags")
int drop_frags(struct xdp_md *ctx)
{
	return XDP_DROP;
}

SEC("xdp")
int pass(struct xdp_md *ctx)
{
	return XDP_PASS;
}

SEC("xdp.frags")
int pass_frags(struct xdp_md *ctx)
{
	return XDP_PASS;
}

SEC("xdp")
int tx(struct xdp_md *ctx)
{
	return exchange_mac(ctx);
}

SEC("xdp.frags")
int tx_frags(struct xdp_md *ctx)
{
	return exchange_mac(ctx);
}

/* the kernel wants one for each kind of program */
struct port_map {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
};

struct port_map port SEC(".maps"), port_frags SEC(".maps");

SEC("xdp")
int redirect(struct xdp_md *ctx)
{
	return bpf_redirect_map(&port, 0, XDP_ABORTED);
}

SEC("xdp.frags")
int redirect_frags(struct xdp_md *ctx)
{
	return bpf_redirect_map(&port_frags, 0, XDP_ABORTED);
}

struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} sockets SEC(".maps");

SEC("xdp")
int to_socket(struct xdp_md *ctx)
{
	return bpf_redirect_map(&sockets, 0, XDP_ABORTED);
}

SEC("tc")
int clsact_drop(struct __sk_buff *skb)
{
	return TC_ACT_SHOT;
}

char _license[] SEC("license") = "GPL";
