// SPDX-License-Identifier: GPL-2.0
/*
 * Guest memory: a table of maps, each a piece of the guest's physical address
 * space behind which a file was mapped.
 *
 * The table is looked at on every access and no address is kept beyond it: the
 * BIOS takes maps away and makes them read-only while the guest runs.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "mem.h"

static bool overlaps(const struct mem_map *map, u64 start, u64 size)
{
	return start < map->start + map->size && map->start < start + size;
}

static int map_file(struct mem_map *map, int fd, u64 offset)
{
	void *host = mmap(NULL, map->size, map->write ? PROT_READ | PROT_WRITE : PROT_READ,
			  MAP_SHARED, fd, (off_t)offset);

	if (host == MAP_FAILED)
		return -errno;
	map->host = host;
	return 0;
}

int mem_add(struct guest_mem *mem, u64 start, u64 size, int fd, u64 offset, bool write)
{
	struct mem_map map = { .start = start, .size = size, .write = write };
	struct mem_map *maps;
	unsigned int i;
	int err;

	if (!size || start + size - 1 < start)
		return -EINVAL;
	for (i = 0; i < mem->count; i++)
		if (overlaps(&mem->maps[i], start, size))
			return -EEXIST;
	maps = realloc(mem->maps, (mem->count + 1) * sizeof(*maps));
	if (!maps)
		return -ENOMEM;
	mem->maps = maps;
	if (fd >= 0) {
		err = map_file(&map, fd, offset);
		if (err)
			return err;
	}
	maps[mem->count++] = map;
	return 0;
}

int mem_remove(struct guest_mem *mem, u64 start, u64 size)
{
	unsigned int i;

	for (i = 0; i < mem->count; i++) {
		struct mem_map *map = &mem->maps[i];

		if (map->start != start || map->size != size)
			continue;
		if (map->host)
			munmap(map->host, map->size);
		*map = mem->maps[--mem->count];
		mem->last = 0;
		return 0;
	}
	return -ENOENT;
}

void mem_clear(struct guest_mem *mem)
{
	while (mem->count)
		mem_remove(mem, mem->maps[0].start, mem->maps[0].size);
	free(mem->maps);
	memset(mem, 0, sizeof(*mem));
}

static struct mem_map *find(struct guest_mem *mem, u64 addr)
{
	unsigned int i;

	if (mem->last < mem->count && addr - mem->maps[mem->last].start < mem->maps[mem->last].size)
		return &mem->maps[mem->last];
	for (i = 0; i < mem->count; i++) {
		if (addr - mem->maps[i].start < mem->maps[i].size) {
			mem->last = i;
			return &mem->maps[i];
		}
	}
	return NULL;
}

/* A host pointer to the first *len bytes at addr; *len shrinks to the map's end. */
static u8 *piece(struct guest_mem *mem, u64 addr, u64 *len, bool write)
{
	struct mem_map *map = find(mem, addr);

	if (!map || !map->host || (write && !map->write))
		return NULL;
	*len = MIN(*len, map->start + map->size - addr);
	return map->host + (addr - map->start);
}

void *mem_ptr(struct guest_mem *mem, u64 addr, u64 len, bool write)
{
	u64 part = len;
	u8 *host = piece(mem, addr, &part, write);

	return part == len ? host : NULL;
}

bool mem_read(struct guest_mem *mem, u64 addr, void *buf, u64 len)
{
	u8 *to = buf;

	while (len) {
		u64 part = len;
		u8 *host = piece(mem, addr, &part, false);

		if (!host)
			return false;
		memcpy(to, host, part);
		to += part;
		addr += part;
		len -= part;
	}
	return true;
}

bool mem_write(struct guest_mem *mem, u64 addr, const void *buf, u64 len)
{
	const u8 *from = buf;

	while (len) {
		u64 part = len;
		u8 *host = piece(mem, addr, &part, true);

		if (!host)
			return false;
		memcpy(host, from, part);
		from += part;
		addr += part;
		len -= part;
	}
	return true;
}
