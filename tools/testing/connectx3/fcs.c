// SPDX-License-Identifier: GPL-2.0
/* The frame check sequence, eight bytes a step: it is computed for every frame. */
#include "packet.h"

#define POLYNOMIAL	0xedb88320u
#define SLICES		8

static u32 tables[SLICES][256];

static void make_tables(void)
{
	u32 i, s, bit;

	for (i = 0; i < 256; i++) {
		u32 crc = i;

		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
		tables[0][i] = crc;
	}
	for (s = 1; s < SLICES; s++)
		for (i = 0; i < 256; i++)
			tables[s][i] = tables[s - 1][i] >> 8 ^ tables[0][tables[s - 1][i] & 0xff];
}

static u32 eight(u32 crc, const u8 *p)
{
	u32 lo, hi;

	memcpy(&lo, p, sizeof(lo));
	memcpy(&hi, p + sizeof(lo), sizeof(hi));
	lo ^= crc;
	return tables[7][lo & 0xff] ^ tables[6][lo >> 8 & 0xff] ^ tables[5][lo >> 16 & 0xff] ^
	       tables[4][lo >> 24] ^ tables[3][hi & 0xff] ^ tables[2][hi >> 8 & 0xff] ^
	       tables[1][hi >> 16 & 0xff] ^ tables[0][hi >> 24];
}

/* The value whose bytes, the lowest first, follow the frame on the wire. */
u32 fcs(const void *data, u32 len)
{
	const u8 *p = data;
	u32 crc = ~0u;

	if (!tables[0][1])
		make_tables();
	for (; len >= SLICES; len -= SLICES, p += SLICES)
		crc = eight(crc, p);
	for (; len; len--)
		crc = crc >> 8 ^ tables[0][(crc ^ *p++) & 0xff];
	return ~crc;
}
