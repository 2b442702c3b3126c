// SPDX-License-Identifier: GPL-2.0
/* One record an instruction, by its address. Records are never freed, so that
 * translated code can point at them; code that comes to lie at the same address
 * later, a BPF program say, takes the record over.
 *
 * Both vCPUs translate, at the same time, so looking up takes a lock. Only the
 * vCPU that is watched counts.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#include "counts.h"

#define NR_BUCKETS	(1U << 18)
#define PER_CHUNK	4096

static struct insn_count *buckets[NR_BUCKETS];
static struct insn_count *used;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct insn_count *new_count(uint64_t pc)
{
	static struct insn_count *chunk;
	static unsigned int left;

	if (!left) {
		chunk = calloc(PER_CHUNK, sizeof(*chunk));
		if (!chunk)
			abort();
		left = PER_CHUNK;
	}
	left--;
	chunk->pc = pc;
	return chunk++;
}

struct insn_count *counts_get(uint64_t pc)
{
	/* the multiplier spreads addresses that differ in few bits */
	struct insn_count **bucket =
		&buckets[(pc * 0x9e3779b97f4a7c15ULL) >> 46];
	struct insn_count *insn;

	pthread_mutex_lock(&lock);
	for (insn = *bucket; insn && insn->pc != pc; insn = insn->next)
		;
	if (!insn) {
		insn = new_count(pc);
		insn->next = *bucket;
		*bucket = insn;
	}
	pthread_mutex_unlock(&lock);
	return insn;
}

/* The caller has counted the first execution. */
void counts_used(struct insn_count *insn)
{
	insn->next_used = used;
	used = insn;
}

void counts_reset(void)
{
	struct insn_count *insn;

	for (insn = used; insn; insn = insn->next_used) {
		insn->execs = 0;
		insn->loads = 0;
		insn->stores = 0;
		insn->fetch_misses = 0;
		insn->l1_misses = 0;
		insn->l2_misses = 0;
	}
	used = NULL;
}

void counts_print(FILE *out)
{
	const struct insn_count *insn;

	for (insn = used; insn; insn = insn->next_used) {
		fprintf(out, "%" PRIx64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64,
			insn->pc, insn->execs, insn->loads, insn->stores);
		fprintf(out, "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n",
			insn->fetch_misses, insn->l1_misses, insn->l2_misses);
	}
}
