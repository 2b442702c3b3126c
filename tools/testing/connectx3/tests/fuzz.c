// SPDX-License-Identifier: GPL-2.0
/*
 * A libFuzzer target: feeds the card with commands, doorbells and queue memory.
 *
 * An input is a sequence of operations, a byte that says what and its arguments.
 * The card is up, with queues and ports, when the first one comes.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../fault.h"
#include "mini.h"

#define MAX_OPERATIONS	64

struct input {
	const u8 *data;
	size_t len;
};

static const u16 opcodes[] = {
	0x003, 0x004, 0x006, 0x007, 0x008, 0x009, 0x00a, 0x00b, 0x00c, 0x00d, 0x00f, 0x012, 0x013,
	0x014, 0x016, 0x017, 0x019, 0x01a, 0x01b, 0x01e, 0x021, 0x024, 0x02c, 0x034, 0x03a, 0x03b,
	0x043, 0x047, 0x048, 0x049, 0x050, 0x054, 0x065, 0x066, 0xff6, 0xff9, 0xffa, 0xffb, 0xffc,
	0xffd, 0xffe, 0xfff,
};

static u32 eat(struct input *in, unsigned int bytes)
{
	u32 value = 0;

	while (bytes-- && in->len) {
		value = value << 8 | *in->data++;
		in->len--;
	}
	return value;
}

static void eat_into(struct input *in, void *to, size_t len)
{
	len = MIN(len, in->len);
	memcpy(to, in->data, len);
	in->data += len;
	in->len -= len;
}

static void command(struct mini *m, struct input *in)
{
	u8 box[CX3_MAILBOX_SIZE] = { 0 }, out[CX3_MAILBOX_SIZE];
	u16 opcode = opcodes[eat(in, 1) % ARRAY_SIZE(opcodes)];
	u32 in_mod = eat(in, 1);
	u8 op_mod = (u8)eat(in, 1) & 0xf;
	u32 size = eat(in, 1);

	if (in_mod & 0x80)
		in_mod = eat(in, 4);
	eat_into(in, box, size);
	mini_cmd(m, opcode, in_mod, op_mod, box, sizeof(box), size & 1 ? out : NULL);
}

static void doorbell(struct mini *m, struct input *in)
{
	static const u16 places[] = { UAR_SEND_DB, UAR_CQ_DB, UAR_EQ_DB, UAR_EQ_DB + 8 };
	u8 raw[8] = { 0 };
	u8 place = (u8)eat(in, 1);
	unsigned int which = place & 3;

	eat_into(in, raw, sizeof(raw));
	bar_write(m->card, 2, (place & 4 ? MINI_UAR : 0) * 4096u + places[which], raw, which == 1 ? 8 : 4);
}

/* Overwrites a WQE, a doorbell record, an MTT: all within the queues' memory. */
static void poke(struct mini *m, struct input *in)
{
	u64 at = 0x10000 + eat(in, 2);
	u8 bytes[64] = { 0 };

	eat_into(in, bytes, sizeof(bytes));
	memcpy(mini_ptr(m, at), bytes, sizeof(bytes));
}

static void send_wqe(struct mini *m, struct input *in)
{
	u8 wqe[MAX_WQE_SIZE] = { 0 };
	u32 len = WQE_UNIT * (1 + eat(in, 1) % 16);
	u32 opcode = eat(in, 1) & 1 ? WQE_OP_LSO : WQE_OP_SEND;
	unsigned int port = eat(in, 1) & 1;

	eat_into(in, wqe + WQE_VLAN_TAG, len - WQE_VLAN_TAG);
	mini_post_receive(m, !port, 1);
	mini_send(m, port, wqe, len, opcode);
	mini_poll(m, &m->cq_send[port]);
	mini_poll(m, &m->cq_recv[!port]);
}

static void frame_in(struct mini *m, struct input *in)
{
	u8 frame[256] = { 0 };
	u32 len = 14 + eat(in, 1) % 200;

	eat_into(in, frame, len);
	mini_post_receive(m, 0, 1);
	wire_receive(m->card, 0, frame, len, false);
	mini_run(m);
	mini_poll(m, &m->cq_recv[0]);
}

static void operate(struct mini *m, struct input *in)
{
	switch (eat(in, 1) % 8) {
	case 0:
	case 1:
		command(m, in);
		break;
	case 2:
		doorbell(m, in);
		break;
	case 3:
		poke(m, in);
		break;
	case 4:
	case 5:
		send_wqe(m, in);
		break;
	case 6:
		frame_in(m, in);
		break;
	case 7:
		m->now += eat(in, 2) * NS_PER_US;
		mini_run(m);
		break;
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len);

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	static const struct card_options opt = { .clock_mhz = 427, .rx_page = 4096, .hold_ns = NS_PER_MS };
	struct input in = { data, len };
	struct mini m;
	int i;

	trace_silent = true;
	violations_reset();
	mini_start(&m, &opt);
	mini_ready(&m, len & 1);
	for (i = 0; i < MAX_OPERATIONS && in.len; i++)
		operate(&m, &in);
	mini_stop(&m);
	return 0;
}
