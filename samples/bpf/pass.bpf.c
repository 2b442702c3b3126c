// SPDX-License-Identifier: GPL-2.0
/* Lets every frame through to the stack and counts it.
 *
 *   ip link set dev eth0 xdp obj pass.bpf.o sec xdp
 *   ip link set dev eth0 xdp obj pass.bpf.o sec xdp.frags   at a large MTU
 */
#include "count.h"

SEC("xdp")
int xdp_pass(struct xdp_md *ctx)
{
	count(ctx);
	return XDP_PASS;
}

SEC("xdp.frags")
int xdp_pass_frags(struct xdp_md *ctx)
{
	count(ctx);
	return XDP_PASS;
}

char _license[] SEC("license") = "GPL";
