// SPDX-License-Identifier: GPL-2.0
/* A small model of caches, to tell code that touches few lines from code that
 * touches many. It is not a model of a certain CPU.
 *
 * L1 is 32 KiB, 8 ways, for instructions and for data; L2 is 1 MiB, 16 ways,
 * for both; lines are 64 bytes; the line that goes is the one that was used
 * least recently. Nothing is prefetched, a store takes its line as a load does,
 * and addresses are virtual, so that a count does not depend on which pages the
 * guest got.
 *
 * What a device writes is not seen here. Every batch begins with empty caches
 * instead, so that each frame and each descriptor is met cold, as after DMA.
 */
#include <stdlib.h>

#include "cache.h"

#define LINE_SHIFT	6

/* ways[] is in the order of use, the latest first */
struct cache {
	unsigned int sets, ways;
	uint64_t *lines;
};

static struct cache l1i = { .sets = 64, .ways = 8 };
static struct cache l1d = { .sets = 64, .ways = 8 };
static struct cache l2 = { .sets = 1024, .ways = 16 };

static struct cache *const caches[] = { &l1i, &l1d, &l2 };
#define NR_CACHES	(sizeof(caches) / sizeof(caches[0]))

void cache_init(void)
{
	unsigned int i;

	for (i = 0; i < NR_CACHES; i++) {
		struct cache *c = caches[i];

		c->lines = calloc((size_t)c->sets * c->ways, sizeof(*c->lines));
		if (!c->lines)
			abort();
	}
}

/* 0 is no line: nothing that is measured lives there */
void cache_flush(void)
{
	unsigned int i, j;

	for (i = 0; i < NR_CACHES; i++)
		for (j = 0; j < caches[i]->sets * caches[i]->ways; j++)
			caches[i]->lines[j] = 0;
}

/* Makes @line the latest of its set. True if it was there. */
static bool touch(struct cache *c, uint64_t line)
{
	uint64_t *way = &c->lines[(line % c->sets) * c->ways];
	unsigned int i = 0;
	bool hit;

	while (i < c->ways - 1 && way[i] != line)
		i++;
	hit = way[i] == line;
	for (; i > 0; i--)
		way[i] = way[i - 1];
	way[0] = line;
	return hit;
}

static enum cache_miss look_up(struct cache *l1, uint64_t line)
{
	if (touch(l1, line))
		return CACHE_HIT;
	return touch(&l2, line) ? CACHE_MISS_L1 : CACHE_MISS_L2;
}

enum cache_miss cache_fetch(uint64_t addr)
{
	return look_up(&l1i, addr >> LINE_SHIFT);
}

/* An access over the end of a line counts as its worse half. */
enum cache_miss cache_access(uint64_t addr, unsigned int size)
{
	uint64_t first = addr >> LINE_SHIFT;
	uint64_t last = (addr + size - 1) >> LINE_SHIFT;
	enum cache_miss miss = look_up(&l1d, first);

	if (last != first) {
		enum cache_miss other = look_up(&l1d, last);

		if (other > miss)
			miss = other;
	}
	return miss;
}
