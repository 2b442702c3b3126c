// SPDX-License-Identifier: GPL-2.0
/*
 * The wire: frames on their way, and who has to wait.
 *
 *   send queue -> fifo of the other port -> receive ring
 *              -> out queue -> peer
 *
 * The fifo is short. When it is full the sender's QPs wait in line, so nothing
 * is lost on the wire. A frame that finds its ring empty stays at the head as
 * long as both ends agreed on pause, and no longer than opt.hold_ns: a ring that
 * nobody fills must not stop the others for ever. The driver posts buffers
 * without telling (a doorbell record), so the card looks again every RETRY_NS.
 *
 * In deterministic mode frames are handed over in batches of a fixed size, with
 * one event for all of them.
 */
#include <stdlib.h>

#include "card.h"
#include "fault.h"

#define FIFO_ROOM	256
#define RETRY_NS	(30 * NS_PER_US)
#define RUN_LIMIT	512	/* frames a call: the driver's messages want their turn */

static struct frame *spare;

struct frame *frame_new(void)
{
	struct frame *frame = spare;

	if (frame)
		spare = frame->next;
	else
		frame = malloc(sizeof(*frame));
	if (!frame)
		abort();
	memset(frame, 0, offsetof(struct frame, data));
	return frame;
}

void frame_free(struct frame *frame)
{
	frame->next = spare;
	spare = frame;
}

void frames_forget(void)
{
	while (spare) {
		struct frame *next = spare->next;

		free(spare);
		spare = next;
	}
}

static void fifo_init(struct fifo *fifo)
{
	fifo->first = NULL;
	fifo->end = &fifo->first;
	fifo->count = 0;
}

static void fifo_put(struct fifo *fifo, struct frame *frame)
{
	frame->next = NULL;
	*fifo->end = frame;
	fifo->end = &frame->next;
	fifo->count++;
}

static void fifo_drop_first(struct fifo *fifo)
{
	struct frame *frame = fifo->first;

	fifo->first = frame->next;
	if (!fifo->first)
		fifo->end = &fifo->first;
	fifo->count--;
	frame_free(frame);
}

void wire_init(struct wire *wire)
{
	fifo_init(&wire->fifo);
	fifo_init(&wire->out);
	wire->waiting = NULL;
	wire->waiting_end = &wire->waiting;
}

void wire_clear(struct wire *wire)
{
	while (wire->fifo.count)
		fifo_drop_first(&wire->fifo);
	while (wire->out.count)
		fifo_drop_first(&wire->out);
	wire->hold_until = 0;
	wire->paused = false;
	wire->batch_until = 0;
}

/* Where a port's frames go first. */
static struct fifo *target(struct card *card, unsigned int port)
{
	struct wire *wire = &card->ports[port].wire;

	return wire->peer ? &wire->out : &card->ports[!port].wire.fifo;
}

static unsigned int room(const struct card *card)
{
	return MAX((unsigned int)FIFO_ROOM, 2 * card->opt.batch);
}

/* Without a link nothing waits: the frames are lost, as on a cable that is out. */
bool wire_room(struct card *card, unsigned int port)
{
	return !card->ports[port].link || target(card, port)->count < room(card);
}

bool wire_has_room(struct card *card, unsigned int port)
{
	return card->ports[port].wire.fifo.count < room(card);
}

void wire_wait(struct card *card, struct qp *qp)
{
	struct wire *wire = &card->ports[qp->port].wire;

	if (qp->waiting)
		return;
	qp->waiting = true;
	qp->next_waiting = NULL;
	*wire->waiting_end = qp;
	wire->waiting_end = &qp->next_waiting;
}

static struct qp *next_in_line(struct wire *wire)
{
	struct qp *qp = wire->waiting;

	if (!qp)
		return NULL;
	wire->waiting = qp->next_waiting;
	if (!wire->waiting)
		wire->waiting_end = &wire->waiting;
	qp->waiting = false;
	return qp;
}

void wire_forget(struct card *card, struct qp *qp)
{
	struct wire *wire = &card->ports[qp->port].wire;
	struct qp **p;

	if (!qp->waiting)
		return;
	for (p = &wire->waiting; *p != qp; p = &(*p)->next_waiting)
		;
	*p = qp->next_waiting;
	if (!*p)
		wire->waiting_end = p;
	qp->waiting = false;
}

static void enter(struct card *card, unsigned int port, struct frame *frame)
{
	struct wire *wire = &card->ports[port].wire;

	if (!wire->fifo.count)
		wire->batch_until = card_now(card) + card->opt.batch_ns;
	fifo_put(&wire->fifo, frame);
}

/* What can go wrong on a cable. False: the frame is gone. */
static bool survives(struct card *card, unsigned int port, struct frame *frame)
{
	if (fault_hit(card, FAULT_RX_LOST, port + 1, NULL)) {
		frame_free(frame);
		return false;
	}
	if (fault_hit(card, FAULT_BAD_FCS, port + 1, NULL))
		frame->bad_fcs = true;
	return true;
}

void wire_send(struct card *card, unsigned int port, struct frame *frame)
{
	struct wire *wire = &card->ports[port].wire;

	if (!card->ports[port].link) {
		card->ports[port].stats.tx_drop++;
		frame_free(frame);
		return;
	}
	stats_tx(&card->ports[port], frame);
	if (wire->peer)
		fifo_put(&wire->out, frame);
	else if (survives(card, !port, frame))
		enter(card, !port, frame);
}

void wire_loop(struct card *card, unsigned int port, struct frame *frame)
{
	frame->looped = true;
	enter(card, port, frame);
}

bool wire_receive(struct card *card, unsigned int port, const void *data, size_t len, bool bad_fcs)
{
	struct frame *frame;

	if (!wire_has_room(card, port))
		return false;
	if (!card->ports[port].link || len < ETH_HEADER || len > CX3_MAX_FRAME)
		return true;
	frame = frame_new();
	memcpy(frame->data, data, len);
	frame->len = (u32)len;
	frame->bad_fcs = bad_fcs;
	while (frame->len < ETH_MIN_FRAME)	/* a peer need not pad */
		frame->data[frame->len++] = 0;
	if (survives(card, port, frame))
		enter(card, port, frame);
	return true;
}

/* Both ends have to agree: one to send pause frames, the other to heed them. */
static bool pause_works(const struct card *card, unsigned int port)
{
	const struct port *here = &card->ports[port];

	return here->pause_tx && (here->wire.peer || card->ports[!port].pause_rx);
}

static bool may_hold(struct card *card, unsigned int port)
{
	struct wire *wire = &card->ports[port].wire;

	if (!pause_works(card, port))
		return false;
	return !wire->hold_until || card_now(card) < wire->hold_until;
}

static void pause(struct card *card, unsigned int port)
{
	struct wire *wire = &card->ports[port].wire;

	if (!wire->hold_until)
		wire->hold_until = card_now(card) + card->opt.hold_ns;
	if (wire->paused)
		return;
	wire->paused = true;
	card->ports[port].stats.tx_pause++;
	if (!wire->peer)
		card->ports[!port].stats.rx_pause++;
}

/* Hands over the frame at the head; false if it has to stay. */
static bool hand_over(struct card *card, unsigned int port)
{
	struct wire *wire = &card->ports[port].wire;
	enum rx_verdict verdict = rx_frame(card, port, wire->fifo.first, may_hold(card, port));

	if (verdict == RX_NO_BUFFER) {
		pause(card, port);
		return false;
	}
	/* after the time is up the rest follows at once, until a ring has buffers again */
	if (verdict == RX_TAKEN) {
		wire->hold_until = 0;
		wire->paused = false;
	}
	fifo_drop_first(&wire->fifo);
	return true;
}

static unsigned int drain(struct card *card, unsigned int port, unsigned int limit)
{
	struct wire *wire = &card->ports[port].wire;
	unsigned int done = 0;

	while (done < limit && wire->fifo.count && hand_over(card, port))
		done++;
	return done;
}

static unsigned int drain_batch(struct card *card, unsigned int port)
{
	struct wire *wire = &card->ports[port].wire;
	bool full = wire->fifo.count >= card->opt.batch;
	unsigned int done;

	if (!wire->fifo.count || (!full && card_now(card) < wire->batch_until))
		return 0;
	card->quiet = true;
	done = drain(card, port, full ? card->opt.batch : wire->fifo.count);
	cq_end_quiet(card);
	wire->batch_until = card_now(card) + card->opt.batch_ns;
	return done;
}

static unsigned int send_out(struct wire *wire)
{
	unsigned int done = 0;

	while (wire->out.count) {
		struct frame *frame = wire->out.first;

		if (!wire->peer->send(wire->peer->arg, frame->data, frame->len))
			break;
		fifo_drop_first(&wire->out);
		done++;
	}
	return done;
}

static void wake(struct card *card, unsigned int port)
{
	struct wire *wire = &card->ports[port].wire;

	while (wire->waiting && wire_room(card, port))
		sq_run(card, next_in_line(wire));
}

static unsigned int run_port(struct card *card, unsigned int port)
{
	struct wire *wire = &card->ports[port].wire;
	unsigned int done;

	done = card->opt.batch ? drain_batch(card, port) : drain(card, port, FIFO_ROOM);

	if (wire->peer)
		done += send_out(wire);
	wake(card, wire->peer ? port : !port);
	return done;
}

void wire_run(struct card *card)
{
	unsigned int total = 0;
	unsigned int done;

	do {
		done = run_port(card, 0) + run_port(card, 1);
		total += done;
	} while (done && total < RUN_LIMIT);
}

u64 wire_next(struct card *card)
{
	u64 now = card_now(card);
	u64 next = NEVER;
	unsigned int i;

	for (i = 0; i < CX3_NUM_PORTS; i++) {
		const struct wire *wire = &card->ports[i].wire;

		if (!wire->fifo.count)
			continue;
		if (wire->paused)
			next = MIN(next, now + RETRY_NS);
		else if (card->opt.batch && wire->fifo.count < card->opt.batch)
			next = MIN(next, wire->batch_until);
		else
			next = MIN(next, now);
	}
	return next;
}
