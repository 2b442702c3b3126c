/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A driver in a few lines, to test the card without a guest: it brings the card
 * up by commands, makes queues in 32 MiB of "guest" memory, posts, rings, looks.
 */
#ifndef CX3_MINI_H
#define CX3_MINI_H

#include "../cmd.h"

#define MINI_MEMORY	(32u << 20)
#define MINI_LKEY	0x200u
#define MINI_PD		5u
#define MINI_UAR	3u
#define MINI_LOG_SQ	4u	/* blocks of 64 bytes */
#define MINI_LOG_RQ	4u
#define MINI_LOG_CQ	5u
#define MINI_BUFFER	2048u

struct mini_queue {
	u32 number;
	u64 buf;		/* guest addresses */
	u64 db_rec;
	u32 next;
};

struct mini {
	struct card *card;
	u8 *memory;
	u64 free;		/* next free guest address */
	u32 free_mtt;
	u64 now;
	unsigned int interrupts[CX3_NUM_VECTORS];
	bool toggle;
	struct mini_queue eq, cq_send[2], cq_recv[2], qp[2];	/* a QP a port */
	u64 rx_buffers[2];
};

void mini_start(struct mini *m, const struct card_options *opt);
void mini_stop(struct mini *m);
/* The card and its context memory are up; no queues, no ports. */
void mini_bring_up(struct mini *m, bool dmfs);
/* Everything: an EQ, and a CQ pair and a QP for each port, both enabled. */
void mini_ready(struct mini *m, bool keep_fcs);

enum cmd_status mini_cmd(struct mini *m, u16 opcode, u32 in_mod, u8 op_mod, const void *in, u32 len,
			 void *out);
enum cmd_status mini_cmd_imm(struct mini *m, u16 opcode, u32 in_mod, u8 op_mod, u64 in, u64 *out);
u64 mini_alloc(struct mini *m, u32 size);
u64 mini_mtt(struct mini *m, u64 addr, u32 size);
void *mini_ptr(struct mini *m, u64 addr);

/* Puts a WQE of len bytes in port's send ring, owner last, and rings. */
void mini_send(struct mini *m, unsigned int port, u8 *wqe, u32 len, u32 opcode);
void mini_post_receive(struct mini *m, unsigned int port, unsigned int count);
/* The next completion, or NULL. */
const u8 *mini_poll(struct mini *m, struct mini_queue *cq);
void mini_run(struct mini *m);

#endif
