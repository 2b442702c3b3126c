/* SPDX-License-Identifier: GPL-2.0 */
/* The guest's memory as the card reaches it: see mem.c. */
#ifndef CX3_MEM_H
#define CX3_MEM_H

#include "bits.h"

struct mem_map {
	u64 start;
	u64 size;
	u8 *host;	/* NULL: known, but not reachable (a ROM, flash) */
	bool write;
};

struct guest_mem {
	struct mem_map *maps;
	unsigned int count;
	unsigned int last;	/* where the last access hit */
};

/* fd < 0: a region without memory behind it. Returns 0 or -errno. */
int mem_add(struct guest_mem *mem, u64 start, u64 size, int fd, u64 offset, bool write);
int mem_remove(struct guest_mem *mem, u64 start, u64 size);
void mem_clear(struct guest_mem *mem);

/* A host pointer to all of the range, or NULL. */
void *mem_ptr(struct guest_mem *mem, u64 addr, u64 len, bool write);
/* These may cross from one map into the next. false: not all of it is memory. */
bool mem_read(struct guest_mem *mem, u64 addr, void *buf, u64 len);
bool mem_write(struct guest_mem *mem, u64 addr, const void *buf, u64 len);

#endif
