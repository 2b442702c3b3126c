// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mini.h"

#define INBOX		0x1000
#define OUTBOX		0x3000
#define FIRST_FREE	0x10000
#define FW_AREA		(16u << 20)
#define FW_LOG_PAGES	9
#define ICM_AREA	(20u << 20)
#define ICM_LOG_PAGES	6
#define LOG_OBJECTS	8
#define PAGE		4096u
#define PCI_COMMAND	4
#define PCI_COMMAND_MASTER 4

enum { OP_QUERY_FW = 0x4, OP_INIT_HCA = 0x7, OP_INIT_PORT = 0x9, OP_SET_PORT = 0xc, OP_SW2HW_MPT = 0xd,
       OP_MAP_EQ = 0x12, OP_SW2HW_EQ = 0x13, OP_SW2HW_CQ = 0x16, OP_RST2INIT = 0x19, OP_INIT2RTR,
       OP_RTR2RTS, OP_RUN_FW = 0xff6, OP_MAP_ICM = 0xffa, OP_MAP_AUX = 0xffc, OP_MAP_FA = 0xfff };

static u64 mini_now(void *arg)
{
	return ((struct mini *)arg)->now;
}

static void mini_interrupt(void *arg, unsigned int vector)
{
	((struct mini *)arg)->interrupts[vector]++;
}

void mini_start(struct mini *m, const struct card_options *opt)
{
	struct card_host host = { .arg = m, .interrupt = mini_interrupt, .now = mini_now };
	int fd = memfd_create("guest", MFD_CLOEXEC);
	u8 master = PCI_COMMAND_MASTER;

	memset(m, 0, sizeof(*m));
	m->now = 1;
	if (fd < 0 || ftruncate(fd, MINI_MEMORY))
		abort();
	m->memory = mmap(NULL, MINI_MEMORY, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	m->card = card_new(&host, opt);
	if (m->memory == MAP_FAILED || !m->card || mem_add(&m->card->mem, 0, MINI_MEMORY, fd, 0, true))
		abort();
	close(fd);
	m->free = FIRST_FREE;
	pci_write(m->card, PCI_COMMAND, &master, sizeof(master));
}

void mini_stop(struct mini *m)
{
	card_free(m->card);
	munmap(m->memory, MINI_MEMORY);
}

void *mini_ptr(struct mini *m, u64 addr)
{
	return m->memory + addr;
}

u64 mini_alloc(struct mini *m, u32 size)
{
	u64 at = m->free;

	m->free += ALIGN_UP(size, PAGE);
	return at;
}

u64 mini_mtt(struct mini *m, u64 addr, u32 size)
{
	u64 first = m->free_mtt * MTT_ENTRY_SIZE;
	u32 at;

	for (at = 0; at < size; at += PAGE)
		put_be64(m->memory + ICM_AREA, MTT_ENTRY_SIZE * m->free_mtt++, (addr + at) | MTT_PRESENT);
	return first;
}

static enum cmd_status post(struct mini *m, u16 opcode, u32 in_mod, u8 op_mod, u64 in, u64 out)
{
	u32 words[HCR_WORDS] = { (u32)(in >> 32), (u32)in, in_mod, (u32)(out >> 32), (u32)out, 0, 0 };
	unsigned int i;

	m->toggle = !m->toggle;
	words[HCR_GO_WORD] = (u32)(HCR_GO | (m->toggle ? HCR_TOGGLE : 0) |
				   in_field(HCR_OPMOD_M, op_mod) | opcode);
	for (i = 0; i < HCR_WORDS; i++) {
		u8 raw[4];

		put_be32(raw, 0, words[i]);
		bar_write(m->card, 0, REG_HCR + 4 * i, raw, sizeof(raw));
	}
	return (enum cmd_status)field(HCR_STATUS_M, hcr_read(m->card, HCR_GO_WORD));
}

enum cmd_status mini_cmd(struct mini *m, u16 opcode, u32 in_mod, u8 op_mod, const void *in, u32 len,
			 void *out)
{
	enum cmd_status status;

	memset(m->memory + INBOX, 0, CX3_MAILBOX_SIZE);
	if (in)
		memcpy(m->memory + INBOX, in, len);
	status = post(m, opcode, in_mod, op_mod, in ? INBOX : 0, out ? OUTBOX : 0);
	if (out)
		memcpy(out, m->memory + OUTBOX, CX3_MAILBOX_SIZE);
	return status;
}

enum cmd_status mini_cmd_imm(struct mini *m, u16 opcode, u32 in_mod, u8 op_mod, u64 in, u64 *out)
{
	enum cmd_status status = post(m, opcode, in_mod, op_mod, in, 0);

	if (out)
		*out = (u64)hcr_read(m->card, HCR_OUT_HI) << 32 | hcr_read(m->card, HCR_OUT_LO);
	return status;
}

static void must(enum cmd_status status, const char *what)
{
	if (status == CMD_OK)
		return;
	fprintf(stderr, "mini: %s: status 0x%x\n", what, status);
	abort();
}

static void map(struct mini *m, u16 opcode, u64 phys, unsigned int log_pages)
{
	u8 entry[MAP_ENTRY_SIZE] = { 0 };

	put_be64(entry, MAP_PHYS, phys | log_pages);
	must(mini_cmd(m, opcode, 1, 0, entry, sizeof(entry), NULL), "map");
}

static void make_mpt(struct mini *m)
{
	u8 mpt[MPT_SIZE] = { 0 };

	put_be32(mpt, MPT_FLAGS, (u32)(MPT_FLAG_PHYSICAL | MPT_FLAG_REGION | MPT_FLAG_LOCAL_READ |
				       MPT_FLAG_LOCAL_WRITE));
	put_be32(mpt, MPT_KEY, (u32)field(LKEY_INDEX_M, MINI_LKEY));
	put_be32(mpt, MPT_PD, MINI_PD);
	put_be64(mpt, MPT_LENGTH, ~0ULL);
	must(mini_cmd(m, OP_SW2HW_MPT, (u32)field(LKEY_INDEX_M, MINI_LKEY), 0, mpt, sizeof(mpt), NULL), "MPT");
}

void mini_bring_up(struct mini *m, bool dmfs)
{
	u8 init[HCA_SIZE] = { 0 };

	map(m, OP_MAP_FA, FW_AREA, FW_LOG_PAGES);
	must(mini_cmd(m, OP_RUN_FW, 0, 0, NULL, 0, NULL), "RUN_FW");
	map(m, OP_MAP_AUX, FW_AREA, ICM_LOG_PAGES);
	map(m, OP_MAP_ICM, ICM_AREA, ICM_LOG_PAGES);
	put_u8(init, HCA_VERSION, HCA_VERSION_2);
	put_u8(init, HCA_LOG_QP, LOG_OBJECTS);
	put_u8(init, HCA_LOG_CQ, LOG_OBJECTS);
	put_u8(init, HCA_LOG_EQ, LOG_OBJECTS);
	put_u8(init, HCA_LOG_MPT, LOG_OBJECTS);
	put_be32(init, HCA_FLAGS, dmfs ? (u32)HCA_FLAG_DMFS : 0);
	must(mini_cmd(m, OP_INIT_HCA, 0, 0, init, sizeof(init), NULL), "INIT_HCA");
	make_mpt(m);
}

static void make_eq(struct mini *m)
{
	u8 c[EQC_SIZE] = { 0 };
	u64 mtt;

	m->eq.number = 1;
	m->eq.buf = mini_alloc(m, EQE_SIZE << MINI_LOG_CQ);
	mtt = mini_mtt(m, m->eq.buf, EQE_SIZE << MINI_LOG_CQ);
	put_be32(c, EQC_FLAGS, (u32)in_field(EQC_STATE_M, EQC_STATE_ARMED));
	put_u8(c, EQC_LOG_SIZE, MINI_LOG_CQ);
	put_u8(c, EQC_INTR, 1);
	put_be32(c, EQC_MTT_LO, (u32)mtt);
	must(mini_cmd(m, OP_SW2HW_EQ, m->eq.number, 0, c, sizeof(c), NULL), "EQ");
	must(mini_cmd_imm(m, OP_MAP_EQ, m->eq.number, 0, ~0ULL, NULL), "MAP_EQ");
}

static void make_cq(struct mini *m, struct mini_queue *cq, u32 number)
{
	u8 c[CQC_SIZE] = { 0 };

	cq->number = number;
	cq->buf = mini_alloc(m, CQE_SIZE << MINI_LOG_CQ);
	cq->db_rec = mini_alloc(m, 8);
	put_be32(c, CQC_SIZE_UAR, (u32)(in_field(CQC_LOG_SIZE_M, MINI_LOG_CQ) | MINI_UAR));
	put_u8(c, CQC_EQN, (u8)m->eq.number);
	put_be32(c, CQC_MTT_LO, (u32)mini_mtt(m, cq->buf, CQE_SIZE << MINI_LOG_CQ));
	put_be64(c, CQC_DB_REC, cq->db_rec);
	must(mini_cmd(m, OP_SW2HW_CQ, number, 0, c, sizeof(c), NULL), "CQ");
}

/* 64 bytes a receive WQE: one buffer and padding; so the send ring comes first. */
static void make_qp(struct mini *m, unsigned int port, bool keep_fcs)
{
	u8 box[QPC_IN_MAILBOX + QPC_SIZE] = { 0 };
	u8 *c = box + QPC_IN_MAILBOX;
	u32 size = TXBB_SIZE << MINI_LOG_SQ;
	struct mini_queue *qp = &m->qp[port];

	qp->number = 0x40 + port;
	qp->buf = mini_alloc(m, 2 * size);
	qp->db_rec = mini_alloc(m, 8);
	memset(mini_ptr(m, qp->buf), 0xff, size);
	put_be32(c, QPC_FLAGS, (u32)in_field(QPC_SERVICE_M, QPC_SERVICE_MLX));
	put_be32(c, QPC_PD, MINI_PD);
	put_u8(c, QPC_RQ_SIZE, (u8)(in_field(QPC_LOG_SIZE_M, MINI_LOG_RQ) | (TXBB_SHIFT - QPC_UNIT_SHIFT)));
	put_u8(c, QPC_SQ_SIZE, (u8)(in_field(QPC_LOG_SIZE_M, MINI_LOG_SQ) | (TXBB_SHIFT - QPC_UNIT_SHIFT)));
	put_be32(c, QPC_UAR, MINI_UAR);
	put_be32(c, QPC_LOCAL_QPN, qp->number);
	put_u8(c, QPC_PRI_PATH + PATH_SCHED_QUEUE, port ? (u8)PATH_SCHED_PORT : 0);
	put_be32(c, QPC_CQN_SEND, m->cq_send[port].number);
	put_be32(c, QPC_CQN_RECV, m->cq_recv[port].number);
	put_be64(c, QPC_DB_REC, qp->db_rec);
	put_be32(c, QPC_PARAM3, keep_fcs ? (u32)QPC_FCS_KEEP : 0);
	put_be32(c, QPC_MTT_LO, (u32)mini_mtt(m, qp->buf, 2 * size));
	must(mini_cmd(m, OP_RST2INIT, qp->number, 0, box, sizeof(box), NULL), "RST2INIT");
	must(mini_cmd(m, OP_INIT2RTR, qp->number, 0, box, sizeof(box), NULL), "INIT2RTR");
	must(mini_cmd(m, OP_RTR2RTS, qp->number, 0, box, sizeof(box), NULL), "RTR2RTS");
}

static void make_port(struct mini *m, unsigned int port)
{
	u8 rqp[64] = { 0 };
	u8 general[64] = { 0 };

	put_be32(rqp, RQP_BASE_QPN, m->qp[port].number);
	put_be32(rqp, RQP_PROMISC, (u32)RQP_PROMISC_ON);
	must(mini_cmd(m, OP_SET_PORT, SET_PORT_RQP_CALC << 8 | (port + 1), SET_PORT_ETH, rqp, sizeof(rqp),
		      NULL), "RQP_CALC");
	put_u8(general, SPG_FLAGS, (u8)(SPG_V_MTU | SPG_V_PPTX | SPG_V_PPRX));
	put_be16(general, SPG_MTU, MINI_BUFFER);
	put_u8(general, SPG_PPTX, (u8)SPG_PAUSE_ON);
	put_u8(general, SPG_PPRX, (u8)SPG_PAUSE_ON);
	must(mini_cmd(m, OP_SET_PORT, SET_PORT_GENERAL << 8 | (port + 1), SET_PORT_ETH, general,
		      sizeof(general), NULL), "GENERAL");
	must(mini_cmd(m, OP_INIT_PORT, port + 1, 0, NULL, 0, NULL), "INIT_PORT");
}

void mini_ready(struct mini *m, bool keep_fcs)
{
	unsigned int i;

	mini_bring_up(m, false);
	make_eq(m);
	for (i = 0; i < 2; i++) {
		make_cq(m, &m->cq_send[i], 2 * i + 1);
		make_cq(m, &m->cq_recv[i], 2 * i + 2);
		make_qp(m, i, keep_fcs);
		make_port(m, i);
		m->rx_buffers[i] = mini_alloc(m, MINI_BUFFER << MINI_LOG_RQ);
	}
	m->now += NS_PER_MS * 1000;
	mini_run(m);
}

void mini_run(struct mini *m)
{
	int i;

	for (i = 0; i < 8; i++)
		card_run(m->card);
}

static void put_block(struct mini *m, const struct mini_queue *qp, u32 index, const u8 *from)
{
	u32 at = (index & ((1u << MINI_LOG_SQ) - 1)) << TXBB_SHIFT;

	memcpy(mini_ptr(m, qp->buf + at), from, TXBB_SIZE);
}

/* What has been sent must not look like a WQE in the next pass. */
static void stamp(struct mini *m, const struct mini_queue *qp, u32 index, u32 blocks)
{
	for (; blocks; blocks--, index++)
		put_be32(mini_ptr(m, qp->buf + ((index & ((1u << MINI_LOG_SQ) - 1)) << TXBB_SHIFT)), 0, ~0u);
}

void mini_send(struct mini *m, unsigned int port, u8 *wqe, u32 len, u32 opcode)
{
	struct mini_queue *qp = &m->qp[port];
	u32 blocks = ALIGN_UP(len, TXBB_SIZE) >> TXBB_SHIFT;
	bool odd = qp->next >> MINI_LOG_SQ & 1;
	u8 raw[4];
	u32 i;

	put_u8(wqe, WQE_SIZE, (u8)(len / WQE_UNIT));
	put_be32(wqe, WQE_OWNER_OP, opcode | (odd ? (u32)WQE_OWNER : 0));
	for (i = blocks; i-- > 0;)
		put_block(m, qp, qp->next + i, wqe + i * TXBB_SIZE);
	qp->next += blocks;
	put_be32(raw, 0, qp->number << 8);
	bar_write(m->card, 2, MINI_UAR * 4096 + UAR_SEND_DB, raw, sizeof(raw));
	mini_run(m);
	stamp(m, qp, qp->next - blocks, blocks);
}

void mini_post_receive(struct mini *m, unsigned int port, unsigned int count)
{
	struct mini_queue *qp = &m->qp[port];
	static u32 posted[2];
	u8 *rq = mini_ptr(m, qp->buf + (TXBB_SIZE << MINI_LOG_SQ));

	if (!get_be32(mini_ptr(m, qp->db_rec), 0))
		posted[port] = 0;
	while (count--) {
		u32 slot = posted[port]++ & ((1u << MINI_LOG_RQ) - 1);
		u8 *wqe = rq + slot * TXBB_SIZE;
		u32 at;

		put_be32(wqe, SEG_BYTE_COUNT, MINI_BUFFER);
		put_be32(wqe, SEG_LKEY, MINI_LKEY);
		put_be64(wqe, SEG_ADDR, m->rx_buffers[port] + slot * MINI_BUFFER);
		for (at = SEG_SIZE; at < TXBB_SIZE; at += SEG_SIZE) {
			put_be32(wqe, at + SEG_BYTE_COUNT, 0);
			put_be32(wqe, at + SEG_LKEY, LKEY_INVALID);
		}
	}
	put_be32(mini_ptr(m, qp->db_rec), 0, posted[port]);
}

const u8 *mini_poll(struct mini *m, struct mini_queue *cq)
{
	const u8 *cqe = mini_ptr(m, cq->buf + (cq->next & ((1u << MINI_LOG_CQ) - 1)) * CQE_SIZE);
	bool odd = cq->next >> MINI_LOG_CQ & 1;

	if (!!(cqe[CQE_OWNER_OP] & OWNER_HW) != odd)
		return NULL;
	cq->next++;
	put_be32(mini_ptr(m, cq->db_rec), CQ_DB_REC_CI, cq->next & (u32)CQ_INDEX_M);
	return cqe;
}
