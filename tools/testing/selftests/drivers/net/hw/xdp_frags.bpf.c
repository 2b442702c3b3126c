// SPDX-License-Identifier: GPL-2.0
/* Programs for frames in more than one buffer. */

#include "xdp_seq.bpf.h"

SEC("xdp.frags")
int mark_a(struct xdp_md *ctx)
{
	return mark(ctx, 'A');
}

SEC("xdp.frags")
int mark_b(struct xdp_md *ctx)
{
	return mark(ctx, 'B');
}

SEC("xdp.frags")
int drop(struct xdp_md *ctx)
{
	return act(ctx, XDP_DROP);
}

SEC("xdp.frags")
int tx(struct xdp_md *ctx)
{
	return send_back(ctx);
}

SEC("xdp.frags")
int redirect(struct xdp_md *ctx)
{
	return redirect_back(ctx);
}

SEC("xdp")
int single(struct xdp_md *ctx)
{
	return mark(ctx, 'S');
}

char _license[] SEC("license") = "GPL";
