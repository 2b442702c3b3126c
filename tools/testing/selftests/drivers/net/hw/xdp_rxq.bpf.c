// SPDX-License-Identifier: GPL-2.0
/* Programs for queues, told by their marks from those in xdp_attach.bpf.c, and
 * programs that a queue does not take.
 */

#include "xdp_seq.bpf.h"

SEC("xdp")
int mark_c(struct xdp_md *ctx)
{
	return mark(ctx, 'C');
}

SEC("xdp.frags")
int mark_d_frags(struct xdp_md *ctx)
{
	return mark(ctx, 'D');
}

SEC("xdp/devmap")
int for_devmap(struct xdp_md *ctx)
{
	return XDP_PASS;
}

SEC("xdp/cpumap")
int for_cpumap(struct xdp_md *ctx)
{
	return XDP_PASS;
}

SEC("tc")
int not_xdp(struct __sk_buff *skb)
{
	return 0;
}

char _license[] SEC("license") = "GPL";
