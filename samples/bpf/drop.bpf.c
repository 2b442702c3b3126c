// SPDX-License-Identifier: GPL-2.0
/* Drops every frame and counts it.
 *
 *   ip link set dev eth0 xdp obj drop.bpf.o sec xdp
 *   ip link set dev eth0 xdp obj drop.bpf.o sec xdp.frags   at a large MTU
 */
#include "count.h"

SEC("xdp")
int xdp_drop(struct xdp_md *ctx)
{
	count(ctx);
	return XDP_DROP;
}

SEC("xdp.frags")
int xdp_drop_frags(struct xdp_md *ctx)
{
	count(ctx);
	return XDP_DROP;
}

char _license[] SEC("license") = "GPL";
