// SPDX-License-Identifier: GPL-2.0
/* Asks the driver what it knows of each frame that comes from a made up
 * address, and keeps the answers of the last one.
 */

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <bpf/bpf_helpers.h>

/* source address of the frames of xdp_hints.py */
#define HINTS_MAC	"\x02hints"

enum answer {
	SEEN,
	TIMESTAMP_ERR, TIMESTAMP,
	HASH_ERR, HASH, HASH_TYPE,
	VLAN_ERR, VLAN_PROTO, VLAN_TCI,
	ANSWERS,
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, ANSWERS);
	__type(key, __u32);
	__type(value, __u64);
} answers SEC(".maps");

/* what the kernel offers for each of a frame's hints */
#define HINT(what, ...)							\
	int bpf_xdp_metadata_rx_##what(const struct xdp_md *frame,	\
				       __VA_ARGS__) __ksym

HINT(timestamp, __u64 *ns);
HINT(hash, __u32 *value, enum xdp_rss_hash_type *type);
HINT(vlan_tag, __be16 *proto, __u16 *tci);

static __always_inline void keep(__u32 what, __u64 value)
{
	bpf_map_update_elem(&answers, &what, &value, BPF_ANY);
}

static __always_inline int ask(struct xdp_md *ctx, int verdict)
{
	struct ethhdr *eth = (void *)(long)ctx->data;
	__u64 timestamp = 0;
	__u32 type = 0;
	__be16 proto = 0;
	__u32 hash = 0;
	__u16 tci = 0;

	if ((void *)(eth + 1) > (void *)(long)ctx->data_end ||
	    __builtin_memcmp(eth->h_source, HINTS_MAC, ETH_ALEN))
		return XDP_PASS;

	keep(TIMESTAMP_ERR, -bpf_xdp_metadata_rx_timestamp(ctx, &timestamp));
	keep(TIMESTAMP, timestamp);
	keep(HASH_ERR, -bpf_xdp_metadata_rx_hash(ctx, &hash, (void *)&type));
	keep(HASH, hash);
	keep(HASH_TYPE, type);
	keep(VLAN_ERR, -bpf_xdp_metadata_rx_vlan_tag(ctx, &proto, &tci));
	keep(VLAN_PROTO, proto);
	keep(VLAN_TCI, tci);
	keep(SEEN, 1);

	return verdict;
}

SEC("xdp.frags")
int hints_pass(struct xdp_md *ctx)
{
	return ask(ctx, XDP_PASS);
}

SEC("xdp.frags")
int hints_drop(struct xdp_md *ctx)
{
	return ask(ctx, XDP_DROP);
}

char _license[] SEC("license") = "GPL";
