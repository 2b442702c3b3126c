// SPDX-License-Identifier: GPL-2.0
/* The card as a whole: made, reset, run; its clock; its internal error. */
#include <stdlib.h>

#include "card.h"
#include "fault.h"
#include "steer.h"

#define NS_PER_MHZ_CYCLE 1000

u64 card_now(struct card *card)
{
	return card->host.now(card->host.arg);
}

/* The free-running counter of the timestamps. */
u64 card_cycles(struct card *card)
{
	u64 ns = card_now(card) - card->start_ns;

	return (u64)((__uint128_t)ns * card->opt.clock_mhz / NS_PER_MHZ_CYCLE);
}

struct card *card_new(const struct card_host *host, const struct card_options *opt)
{
	struct card *card = calloc(1, sizeof(*card));
	unsigned int i;

	if (!card)
		return NULL;
	card->host = *host;
	card->opt = *opt;
	card->start_ns = card_now(card);
	for (i = 0; i < CX3_NUM_PORTS; i++)
		port_init(&card->ports[i]);
	pci_init(card);
	card_reset(card);
	return card;
}

static void free_objects(struct card *card)
{
	qp_free_all(card);
	cq_free_all(card);
	eq_free_all(card);
	mpt_free_all(card);
	dmfs_free_all(card);
}

/* As after power on, but for the cables, the guest's memory and the PCI header. */
void card_reset(struct card *card)
{
	unsigned int i;

	/* the event queues first: nobody is to hear of what follows */
	eq_free_all(card);
	for (i = 0; i < CX3_NUM_PORTS; i++)
		port_reset(card, i);
	free_objects(card);
	icm_free(&card->icm);
	memset(&card->hca, 0, sizeof(card->hca));
	memset(card->hcr, 0, sizeof(card->hcr));
	memset(card->error_buf, 0, sizeof(card->error_buf));
	card->hcr_until = 0;
	card->quiet = false;
}

void card_free(struct card *card)
{
	unsigned int i;

	card_reset(card);
	for (i = 0; i < CX3_NUM_PORTS; i++)
		free(card->ports[i].mcast);
	fault_clear(card);
	mem_clear(&card->mem);
	frames_forget();
	free(card);
}

void card_internal_error(struct card *card, u32 code)
{
	say("internal error 0x%x", code);
	card->error_buf[0] = code;
}

void card_run(struct card *card)
{
	cmd_run(card);
	port_run(card);
	if (!card->error_buf[0])
		wire_run(card);
	cq_run(card);
	eq_run(card);
}

/* When card_run() has something to do next, in host.now()'s time. */
u64 card_next(struct card *card)
{
	u64 next = MIN(cmd_next(card), port_next(card));

	if (!card->error_buf[0])
		next = MIN(next, wire_next(card));
	return MIN(next, MIN(cq_next(card), eq_next(card)));
}
