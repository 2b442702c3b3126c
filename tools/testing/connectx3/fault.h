/* SPDX-License-Identifier: GPL-2.0 */
/* Faults on request: see fault.c. */
#ifndef CX3_FAULT_H
#define CX3_FAULT_H

#include "card.h"

/* X(name in the code, name on the command line, what "match" is, what "value" is) */
#define FAULTS(X)								\
	X(CMD_FAIL, "cmd-fail", "opcode", "status")				\
	X(CMD_TIMEOUT, "cmd-timeout", "opcode", "ms, 0: for ever")		\
	X(RX_ERROR, "rx-error", "port", "syndrome")				\
	X(TX_ERROR, "tx-error", "port", "syndrome")				\
	X(QP_EVENT, "qp-event", "port", "event type, after a WQE of the port")	\
	X(BAD_FCS, "bad-fcs", "port", "-")					\
	X(WRONG_LENGTH, "wrong-length", "port", "bytes added to byte_cnt")	\
	X(STALE_OWNER, "stale-owner", "cqn", "-")				\
	X(GARBAGE_CQE, "garbage-cqe", "cqn", "seed")				\
	X(IRQ_LOST, "irq-lost", "eqn", "-")					\
	X(IRQ_TWICE, "irq-twice", "eqn", "-")					\
	X(IRQ_LATE, "irq-late", "eqn", "ms")					\
	X(EQ_FULL, "eq-full", "eqn", "-")					\
	X(RX_LOST, "rx-lost", "port", "-")

enum fault_kind {
#define X(name, text, match, value) FAULT_##name,
	FAULTS(X)
#undef X
	FAULT_KINDS,
};

/* Parses KIND[:key=value,...]; NULL or why not. */
const char *fault_add(struct card *card, const char *spec);
void fault_clear(struct card *card);
/* True if this occurrence is to go wrong; *value is the fault's. */
bool fault_hit(struct card *card, enum fault_kind kind, u32 match, u32 *value);
void fault_help(void (*print)(void *arg, const char *line), void *arg);

#endif
