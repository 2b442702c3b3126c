// SPDX-License-Identifier: GPL-2.0
/*
 * Context memory: the driver lends the card pages of its own, and the card
 * sees them as one address space in which the driver keeps the translation
 * entries (MTTs) of queues and memory regions.
 *
 * The driver writes MTTs straight into those pages; no command tells the card.
 * A queue's pages do not change while the queue exists, so the translation of
 * the page that was used last is kept with the queue.
 */
#include <stdlib.h>

#include "card.h"

#define LEAVES		(1u << (ICM_LOG_SIZE - ICM_PAGE_SHIFT - ICM_LEAF_SHIFT))
#define ENTRY_MAPPED	BIT(0)
/* one entry of MAP_ICM: the driver's largest is 256 KiB */
#define MAX_LOG_PAGES	10

void icm_free(struct icm *icm)
{
	unsigned int i;

	for (i = 0; icm->leaves && i < LEAVES; i++)
		free(icm->leaves[i]);
	free(icm->leaves);
	memset(icm, 0, sizeof(*icm));
}

/* The entry of an ICM page; NULL out of range, or if it is not there and not to be made. */
static u64 *entry(struct icm *icm, u64 virt, bool make)
{
	u64 page = virt >> ICM_PAGE_SHIFT;
	u64 leaf = page >> ICM_LEAF_SHIFT;

	if (leaf >= LEAVES)
		return NULL;
	if (!icm->leaves && make)
		icm->leaves = calloc(LEAVES, sizeof(*icm->leaves));
	if (!icm->leaves)
		return NULL;
	if (!icm->leaves[leaf] && make)
		icm->leaves[leaf] = calloc(ICM_LEAF_PAGES, sizeof(u64));
	if (!icm->leaves[leaf])
		return NULL;
	return &icm->leaves[leaf][page & (ICM_LEAF_PAGES - 1)];
}

static bool in_space(u64 virt, u64 pages)
{
	u64 limit = BIT(ICM_LOG_SIZE - ICM_PAGE_SHIFT);
	u64 first = virt >> ICM_PAGE_SHIFT;

	return !(virt & (ICM_PAGE_SIZE - 1)) && pages <= limit && first <= limit - pages;
}

bool icm_map(struct icm *icm, u64 virt, u64 phys, unsigned int log_pages)
{
	u64 pages, i;

	if (log_pages > MAX_LOG_PAGES)
		return false;
	pages = BIT(log_pages);
	if (!in_space(virt, pages) || phys & (ICM_PAGE_SIZE - 1))
		return false;
	for (i = 0; i < pages; i++) {
		u64 *e = entry(icm, virt + (i << ICM_PAGE_SHIFT), true);

		if (!e)
			return false;
		if (!(*e & ENTRY_MAPPED))
			icm->mapped++;
		*e = (phys + (i << ICM_PAGE_SHIFT)) | ENTRY_MAPPED;
	}
	return true;
}

/* The driver gives back whole chunks, of which it may have lent only the first pages. */
bool icm_unmap(struct icm *icm, u64 virt, u32 pages)
{
	bool any = false;
	u32 i;

	if (pages > BIT(MAX_LOG_PAGES) || !in_space(virt, pages))
		return false;
	for (i = 0; i < pages; i++) {
		u64 *e = entry(icm, virt + ((u64)i << ICM_PAGE_SHIFT), false);

		if (!e || !(*e & ENTRY_MAPPED))
			continue;
		*e = 0;
		icm->mapped--;
		any = true;
	}
	return any;
}

bool icm_translate(const struct icm *icm, u64 virt, u64 *phys)
{
	u64 *e = entry((struct icm *)icm, virt, false);

	if (!e || !(*e & ENTRY_MAPPED))
		return false;
	*phys = (*e & ~ENTRY_MAPPED) | (virt & (ICM_PAGE_SIZE - 1));
	return true;
}

/* Reads translation entry number page of the run that starts at mtt. */
static bool read_mtt(struct card *card, u64 mtt, u32 page, u64 *addr)
{
	u64 virt = card->hca.mtt_base + mtt + (u64)page * MTT_ENTRY_SIZE;
	u64 phys;
	u8 raw[MTT_ENTRY_SIZE];
	u64 value;

	if (!icm_translate(&card->icm, virt, &phys)) {
		violation(V_ICM_UNMAPPED, "translation entry at 0x%llx", (unsigned long long)virt);
		return false;
	}
	if (!mem_read(&card->mem, phys, raw, sizeof(raw))) {
		violation(V_DMA_OUTSIDE, "translation entry at 0x%llx", (unsigned long long)phys);
		return false;
	}
	value = get_be64(raw, 0);
	if (!(value & MTT_PRESENT)) {
		violation(V_MTT_ABSENT, "entry %u of 0x%llx", page, (unsigned long long)mtt);
		return false;
	}
	*addr = value & MTT_ADDR_M;
	return true;
}

bool queue_addr(struct card *card, struct queue_mem *mem, u64 offset, u64 *addr)
{
	u32 page = (u32)(offset >> mem->page_shift);

	if (!mem->cached || mem->page != page) {
		mem->cached = read_mtt(card, mem->mtt, page, &mem->addr);
		mem->page = page;
		if (!mem->cached)
			return false;
	}
	*addr = mem->addr + (offset & (BIT(mem->page_shift) - 1));
	return true;
}

bool queue_read(struct card *card, struct queue_mem *mem, u64 offset, void *buf, u32 len)
{
	u8 *to = buf;

	while (len) {
		u64 left = BIT(mem->page_shift) - (offset & (BIT(mem->page_shift) - 1));
		u32 part = (u32)MIN(left, len);
		u64 addr;

		if (!queue_addr(card, mem, offset, &addr))
			return false;
		if (!mem_read(&card->mem, addr, to, part)) {
			violation(V_DMA_OUTSIDE, "queue memory at 0x%llx",
				  (unsigned long long)addr);
			return false;
		}
		to += part;
		offset += part;
		len -= part;
	}
	return true;
}

void *queue_ptr(struct card *card, struct queue_mem *mem, u64 offset, u32 len)
{
	u64 addr;
	void *p;

	if (!queue_addr(card, mem, offset, &addr))
		return NULL;
	p = mem_ptr(&card->mem, addr, len, true);
	if (!p)
		violation(V_DMA_OUTSIDE, "queue memory at 0x%llx", (unsigned long long)addr);
	return p;
}
