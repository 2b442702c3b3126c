// SPDX-License-Identifier: GPL-2.0
/* Programs that move the ends of a frame, and one that finds out how much room
 * a frame has in front of it.
 */

#include "xdp_seq.bpf.h"

#define SHIFT		40
#define STEP		4
#define MAX_STEPS	1024

enum {
	FRAMES, LEAST, MOST,
	ROOMS,
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, ROOMS);
	__type(key, __u32);
	__type(value, __u64);
} rooms SEC(".maps");

/* The frame loses what is in front, so it must not be passed on. */
static __always_inline int shift(struct xdp_md *ctx, int action)
{
	if (is_other(ctx))
		return XDP_PASS;
	bpf_xdp_adjust_head(ctx, SHIFT);
	return action;
}

SEC("xdp.frags")
int shift_drop(struct xdp_md *ctx)
{
	return shift(ctx, XDP_DROP);
}

SEC("xdp.frags")
int shift_aborted(struct xdp_md *ctx)
{
	return shift(ctx, XDP_ABORTED);
}

SEC("xdp.frags")
int shift_redirect_nowhere(struct xdp_md *ctx)
{
	if (shift(ctx, XDP_REDIRECT) == XDP_PASS)
		return XDP_PASS;
	return bpf_redirect(NO_SUCH_DEVICE, 0);
}

/* Longer than the card has made it: the stack cuts what IP does not count. */
SEC("xdp.frags")
int grow_pass(struct xdp_md *ctx)
{
	if (!is_other(ctx) && bpf_xdp_adjust_tail(ctx, SHIFT))
		return XDP_DROP;
	return XDP_PASS;
}

static __always_inline void keep(__u64 room)
{
	__u32 frames = FRAMES, least = LEAST, most = MOST;
	__u64 *n = bpf_map_lookup_elem(&rooms, &frames);
	__u64 *min = bpf_map_lookup_elem(&rooms, &least);
	__u64 *max = bpf_map_lookup_elem(&rooms, &most);

	if (!n || !min || !max)
		return;
	if (!*n || room < *min)
		*min = room;
	if (!*n || room > *max)
		*max = room;
	++*n;
}

SEC("xdp.frags")
int probe(struct xdp_md *ctx)
{
	__u64 room = 0;
	int i;

	if (is_other(ctx))
		return XDP_PASS;
	bpf_for(i, 0, MAX_STEPS) {
		if (bpf_xdp_adjust_head(ctx, -STEP))
			break;
		room += STEP;
	}
	/* leaves everything as it was, on a driver that does not either */
	bpf_xdp_adjust_head(ctx, room);
	keep(room);
	return XDP_DROP;
}

char _license[] SEC("license") = "GPL";
