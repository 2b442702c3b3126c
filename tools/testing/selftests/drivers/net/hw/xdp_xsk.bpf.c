// SPDX-License-Identifier: GPL-2.0
/* The datagrams of seqstream.c to an AF_XDP socket. */

#include "xdp_seq.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} sockets SEC(".maps");

SEC("xdp")
int to_socket(struct xdp_md *ctx)
{
	if (act(ctx, XDP_REDIRECT) == XDP_PASS)
		return XDP_PASS;
	return bpf_redirect_map(&sockets, 0, XDP_DROP);
}

char _license[] SEC("license") = "GPL";
