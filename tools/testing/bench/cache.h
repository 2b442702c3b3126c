/* SPDX-License-Identifier: GPL-2.0 */
#ifndef CACHE_H
#define CACHE_H

#include <stdbool.h>
#include <stdint.h>

/* which levels had to be left to find a line */
enum cache_miss {
	CACHE_HIT,
	CACHE_MISS_L1,
	CACHE_MISS_L2,	/* and L1 */
};

void cache_init(void);
void cache_flush(void);
enum cache_miss cache_fetch(uint64_t addr);
enum cache_miss cache_access(uint64_t addr, unsigned int size);

#endif
