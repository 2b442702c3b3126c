/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Small types and the bytes of a big-endian card.
 *
 * The card's structures are never overlaid with C structs: a field is an
 * offset of layout.h, read and written with the helpers here, so alignment and
 * the host's byte order do not matter.
 */
#ifndef CX3_BITS_H
#define CX3_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define BIT(n)		(1ULL << (n))
#define BITS(hi, lo)	((~0ULL >> (63 - (hi))) & (~0ULL << (lo)))
#define MIN(a, b)	((a) < (b) ? (a) : (b))
#define MAX(a, b)	((a) > (b) ? (a) : (b))
#define ALIGN_UP(n, to)	(((n) + (to) - 1) / (to) * (to))
#define PRINTF(f, a)	__attribute__((format(printf, f, a)))

/* The value of the field that a mask of BITS() names. */
static inline u64 field(u64 mask, u64 word)
{
	return (word & mask) >> __builtin_ctzll(mask);
}

static inline u64 in_field(u64 mask, u64 value)
{
	return value << __builtin_ctzll(mask) & mask;
}

static inline u8 get_u8(const void *p, size_t off)
{
	return ((const u8 *)p)[off];
}

static inline u16 get_be16(const void *p, size_t off)
{
	u16 v;

	memcpy(&v, (const u8 *)p + off, sizeof(v));
	return __builtin_bswap16(v);
}

static inline u32 get_be32(const void *p, size_t off)
{
	u32 v;

	memcpy(&v, (const u8 *)p + off, sizeof(v));
	return __builtin_bswap32(v);
}

static inline u64 get_be64(const void *p, size_t off)
{
	u64 v;

	memcpy(&v, (const u8 *)p + off, sizeof(v));
	return __builtin_bswap64(v);
}

static inline void put_u8(void *p, size_t off, u8 v)
{
	((u8 *)p)[off] = v;
}

static inline void put_be16(void *p, size_t off, u16 v)
{
	v = __builtin_bswap16(v);
	memcpy((u8 *)p + off, &v, sizeof(v));
}

static inline void put_be32(void *p, size_t off, u32 v)
{
	v = __builtin_bswap32(v);
	memcpy((u8 *)p + off, &v, sizeof(v));
}

static inline void put_be64(void *p, size_t off, u64 v)
{
	v = __builtin_bswap64(v);
	memcpy((u8 *)p + off, &v, sizeof(v));
}

/* A field of 1, 2, 4 or 8 bytes, for tables of fields. */
static inline void put_be(void *p, size_t off, unsigned int size, u64 v)
{
	while (size--) {
		put_u8(p, off + size, (u8)v);
		v >>= 8;
	}
}

#endif
