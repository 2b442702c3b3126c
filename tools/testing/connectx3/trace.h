/* SPDX-License-Identifier: GPL-2.0 */
/* What the model says on stderr: messages, a trace, numbered violations. */
#ifndef CX3_TRACE_H
#define CX3_TRACE_H

#include "bits.h"

/* Numbers are for ever: a new violation gets a new number at the end. */
#define VIOLATIONS(X)									\
	X(1, DMA_OUTSIDE, "DMA outside the guest's memory")				\
	X(2, ICM_UNMAPPED, "context memory that is not mapped")				\
	X(3, MTT_ABSENT, "a translation entry that is not present")			\
	X(4, BAD_LKEY, "an lkey of no enabled memory region")				\
	X(5, LKEY_RANGE, "an address outside of its lkey's memory region")		\
	X(6, LKEY_RIGHTS, "an access that the lkey's region or domain forbids")		\
	X(7, RX_CROSSES_PAGE, "a receive scatter entry that crosses the end of its page") \
	X(8, RX_TOO_SMALL, "receive buffers smaller than the port's MTU")		\
	X(9, RX_PRODUCER, "a receive producer ahead by more than the ring's size")	\
	X(10, RX_BAD_ENTRY, "a receive scatter entry that is inline or too long")	\
	X(11, WQE_SIZE, "a send WQE of a size that cannot be")				\
	X(12, WQE_OPCODE, "a send WQE with an opcode that raw Ethernet does not have")	\
	X(13, WQE_INLINE, "an inline segment that crosses 64 bytes or the WQE's end")	\
	X(14, WQE_LSO, "an LSO segment whose header or MSS cannot be")			\
	X(15, WQE_FRAME, "a frame that is too short or longer than the card's maximum")	\
	X(16, WQE_OFFLOAD, "a checksum or tunnel offload on a frame it does not apply to") \
	X(17, DB_NO_QP, "a send doorbell for a QP that is not ready to send")		\
	X(18, DB_WRONG_UAR, "a doorbell on a page that is not the queue's")		\
	X(19, DB_NO_CQ, "a doorbell for a CQ or EQ that does not exist")		\
	X(20, CQ_OVERRUN, "a completion queue overrun")					\
	X(21, EQ_OVERRUN, "an event queue overrun")					\
	X(22, CQ_CONSUMER, "a CQ consumer ahead of its producer")			\
	X(23, CMD_BUSY, "a command posted while one is running")			\
	X(24, CMD_UNKNOWN, "a command that the card does not have")			\
	X(25, CMD_STATE, "a command in a state that forbids it")			\
	X(26, CMD_PARAM, "a command with a parameter that cannot be")			\
	X(27, CMD_MAILBOX, "a mailbox that is not aligned or not in memory")		\
	X(28, BAR_ACCESS, "an access to a register of the wrong size or nowhere")	\
	X(29, STILL_OWNED, "a queue taken away that others still use")			\
	X(30, EQ_CONSUMER, "an EQ consumer ahead of its producer")			\
	X(31, NO_MASTER, "work for a card that may not be bus master")

enum violation {
#define X(number, name, text) V_##name = number,
	VIOLATIONS(X)
#undef X
	V_COUNT,
};

void violation(enum violation v, const char *fmt, ...) PRINTF(2, 3);
u64 violation_count(void);
void violations_reset(void);
const char *violation_text(unsigned int number);
u64 violation_times(unsigned int number);

extern bool trace_on;
extern bool trace_silent;	/* for tests that break rules on purpose */
void trace_line(const char *fmt, ...) PRINTF(1, 2);
/* costs nothing while the trace is off */
#define trace(...) do { if (trace_on) trace_line(__VA_ARGS__); } while (0)

void say(const char *fmt, ...) PRINTF(1, 2);

#endif
