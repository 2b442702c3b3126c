// SPDX-License-Identifier: GPL-2.0
/* A filter for the queue that gets UDP and nothing else: lets so many datagrams
 * a second pass from each source address, IPv4 or the first 64 bits of IPv6,
 * and drops the rest. TCP on the other queues does not meet a program.
 *
 *   ethtool -X eth0 equal 3
 *   ethtool -N eth0 flow-type udp4 action 3
 *   rxhook attach dev eth0 queue 3 obj udp_guard.bpf.o
 *
 * The limit is 1000, or what is in the map:
 *
 *   bpftool map update name limit key 0 0 0 0 value 100 0 0 0
 *   bpftool map dump name per_queue
 */
#include "count.h"

#define DEFAULT_LIMIT	1000
#define SOURCES		65536
#define NS_PER_S	1000000000ULL

/* what a source has sent in the second that began at start */
struct budget {
	__u64 start;
	__u32 used;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_PERCPU_HASH);
	__uint(max_entries, SOURCES);
	__type(key, __u64);
	__type(value, struct budget);
} sources SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} limit SEC(".maps");

/* Who sends; 0 for what is no UDP. */
static __always_inline __u64 source_of(struct xdp_md *ctx)
{
	void *end = (void *)(long)ctx->data_end;
	struct ethhdr *eth = (void *)(long)ctx->data;
	struct ipv6hdr *ip6 = (void *)(eth + 1);
	struct iphdr *ip4 = (void *)(eth + 1);
	__u64 prefix;

	if (protocol_of(ctx) != PROTOCOL_UDP)
		return 0;
	if ((void *)(eth + 1) > end)
		return 0;
	if (eth->h_proto == bpf_htons(ETH_P_IP) && (void *)(ip4 + 1) <= end)
		return ip4->saddr;
	if ((void *)(ip6 + 1) > end)
		return 0;
	__builtin_memcpy(&prefix, &ip6->saddr, sizeof(prefix));
	return prefix;
}

static __always_inline __u32 allowed(void)
{
	__u32 key = 0, *value = bpf_map_lookup_elem(&limit, &key);

	return value && *value ? *value : DEFAULT_LIMIT;
}

/* A queue is polled on one CPU, so the budget of a source is on one, too. */
static __always_inline int over_limit(__u64 source)
{
	struct budget *b = bpf_map_lookup_elem(&sources, &source);
	__u64 now = bpf_ktime_get_ns();

	if (!b) {
		struct budget first = { .start = now, .used = 1 };

		bpf_map_update_elem(&sources, &source, &first, BPF_ANY);
		return 0;
	}
	if (now - b->start >= NS_PER_S) {
		b->start = now;
		b->used = 0;
	}
	return ++b->used > allowed();
}

SEC("xdp")
int udp_guard(struct xdp_md *ctx)
{
	__u64 source = source_of(ctx);

	count(ctx);
	return source && over_limit(source) ? XDP_DROP : XDP_PASS;
}

char _license[] SEC("license") = "GPL";
