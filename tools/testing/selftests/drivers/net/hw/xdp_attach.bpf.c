// SPDX-License-Identifier: GPL-2.0
/* Programs whose action a receiver, or the driver's counters, can tell. */

#include "xdp_seq.bpf.h"

SEC("xdp")
int mark_a(struct xdp_md *ctx)
{
	return mark(ctx, 'A');
}

SEC("xdp")
int mark_b(struct xdp_md *ctx)
{
	return mark(ctx, 'B');
}

SEC("xdp")
int drop(struct xdp_md *ctx)
{
	return act(ctx, XDP_DROP);
}

SEC("xdp")
int aborted(struct xdp_md *ctx)
{
	return act(ctx, XDP_ABORTED);
}

SEC("xdp")
int unknown_action(struct xdp_md *ctx)
{
	return act(ctx, 0x1234);
}

SEC("xdp")
int tx(struct xdp_md *ctx)
{
	return send_back(ctx);
}

SEC("xdp")
int redirect(struct xdp_md *ctx)
{
	return redirect_back(ctx);
}

SEC("xdp")
int redirect_nowhere(struct xdp_md *ctx)
{
	if (act(ctx, XDP_REDIRECT) == XDP_PASS)
		return XDP_PASS;
	return bpf_redirect(NO_SUCH_DEVICE, 0);
}

char _license[] SEC("license") = "GPL";
