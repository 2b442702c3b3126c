// SPDX-License-Identifier: GPL-2.0
/* All frames of one queue to one AF_XDP socket. With a program of the device,
 * each frame has to be looked up by its rx_queue_index, in a map that all
 * sockets share; a queue's own program knows its socket.
 *
 *   rxhook attach dev eth0 queue 3 obj to_socket.bpf.o
 *   bpftool map show name socket         # the socket's owner puts it there
 *
 * Without a socket in the map the frames pass.
 */
#include "count.h"

struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} socket SEC(".maps");

SEC("xdp")
int to_socket(struct xdp_md *ctx)
{
	count(ctx);
	return bpf_redirect_map(&socket, 0, XDP_PASS);
}

char _license[] SEC("license") = "GPL";
