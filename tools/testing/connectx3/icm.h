/* SPDX-License-Identifier: GPL-2.0 */
/* The card's context memory and the queues' translation: see icm.c. */
#ifndef CX3_ICM_H
#define CX3_ICM_H

#include "bits.h"

struct card;

#define ICM_LOG_SIZE	34	/* 16 GiB of card virtual address space */
#define ICM_LEAF_SHIFT	9
#define ICM_LEAF_PAGES	(1u << ICM_LEAF_SHIFT)

/* ICM page to guest page, two levels: the space is large and almost empty. */
struct icm {
	u64 **leaves;
	unsigned int mapped;
	unsigned int fa_pages, aux_pages;
};

/* The memory of a queue: a run of translation entries. */
struct queue_mem {
	u64 mtt;		/* address of the first entry, relative to mtt_base */
	unsigned int page_shift;
	u32 page;		/* the page that was translated last, and where it is */
	u64 addr;
	bool cached;
};

void icm_free(struct icm *icm);
bool icm_map(struct icm *icm, u64 virt, u64 phys, unsigned int log_pages);
bool icm_unmap(struct icm *icm, u64 virt, u32 pages);
/* Guest address of an ICM address; false: not mapped. */
bool icm_translate(const struct icm *icm, u64 virt, u64 *phys);

/* Guest address of offset in the queue, or a violation and false. */
bool queue_addr(struct card *card, struct queue_mem *mem, u64 offset, u64 *addr);
bool queue_read(struct card *card, struct queue_mem *mem, u64 offset, void *buf, u32 len);
void *queue_ptr(struct card *card, struct queue_mem *mem, u64 offset, u32 len);

#endif
