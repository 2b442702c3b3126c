/* SPDX-License-Identifier: GPL-2.0 */
#ifndef COUNTS_H
#define COUNTS_H

#include <stdint.h>
#include <stdio.h>

/* What one instruction has done in the batch that is being counted. */
struct insn_count {
	uint64_t pc;
	struct insn_count *next;	/* of the same bucket */
	struct insn_count *next_used;	/* that this batch has executed */
	uint64_t execs, loads, stores;
	uint64_t fetch_misses, l1_misses, l2_misses;
};

struct insn_count *counts_get(uint64_t pc);
void counts_used(struct insn_count *insn);
void counts_reset(void);
void counts_print(FILE *out);

#endif
