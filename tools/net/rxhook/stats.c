// SPDX-License-Identifier: GPL-2.0
/* rxhook stats: what becomes of the frames of each receive queue, per second.
 *
 * The numbers are the driver's own (ethtool -S). A counter that a driver does
 * not have is shown as "-" and said below the table.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "rxhook.h"

/* A column and the names that drivers have for it, with the queue's number. */
static const struct column {
	const char *title;
	const char *names[3];
} columns[] = {
	{ "packets", { "rx_queue_%u_packets", "rx%u_packets" } },
	{ "pass", { "rx_queue_%u_xdp_pass", "rx%u_xdp_pass" } },
	{ "drop", { "rx_queue_%u_xdp_drop", "rx%u_xdp_drop" } },
	{ "tx", { "rx_queue_%u_xdp_tx", "rx%u_xdp_tx" } },
	{ "tx_full", { "rx_queue_%u_xdp_tx_full", "rx%u_xdp_tx_full" } },
	{ "redirect", { "rx_queue_%u_xdp_redirect", "rx%u_xdp_redirect" } },
	{ "redir_fail", { "rx_queue_%u_xdp_redirect_fail",
			  "rx%u_xdp_redirect_fail" } },
	{ "aborted", { "rx_queue_%u_xdp_aborted", "rx%u_xdp_aborted" } },
	{ "nic_drop", { "rx_queue_%u_drops", "rx%u_dropped" } },
	{ "ring_fill", { "rx_queue_%u_ring_fill", "rx%u_ring_fill" } },
};

#define COLUMNS ARRAY_SIZE(columns)

/* the counters of one moment */
struct sample {
	double time;	/* seconds */
	unsigned int queues;
	struct {
		bool known;
		uint64_t value;
	} cell[MAX_QUEUES][COLUMNS];
};

static bool read_cell(const struct counters *c, const struct column *column,
		      unsigned int queue, uint64_t *value)
{
	char name[64];
	size_t i;

	for (i = 0; column->names[i]; i++) {
		snprintf(name, sizeof(name), column->names[i], queue);
		if (counters_find(c, name, value))
			return true;
	}

	return false;
}

static bool read_queue(const struct counters *c, unsigned int queue,
		       struct sample *s)
{
	bool any = false;
	size_t i;

	for (i = 0; i < COLUMNS; i++) {
		s->cell[queue][i].known = read_cell(c, &columns[i], queue,
						    &s->cell[queue][i].value);
		any |= s->cell[queue][i].known;
	}

	return any;
}

static int read_sample(const char *dev, struct sample *s)
{
	struct counters c;
	struct timespec t;

	if (counters_read(dev, &c))
		return -1;
	clock_gettime(CLOCK_MONOTONIC, &t);
	s->time = t.tv_sec + t.tv_nsec / 1e9;
	s->queues = 0;
	while (s->queues < MAX_QUEUES && read_queue(&c, s->queues, s))
		s->queues++;
	counters_free(&c);

	return 0;
}

/* frames per second; false where a counter is not to be had */
static bool rate(const struct sample *old, const struct sample *new,
		 unsigned int queue, size_t column, double *value)
{
	uint64_t a = old->cell[queue][column].value;
	uint64_t b = new->cell[queue][column].value;

	if (!old->cell[queue][column].known || !new->cell[queue][column].known)
		return false;
	/* a queue that was set up anew may count from 0 again */
	*value = b < a ? 0 : (b - a) / (new->time - old->time);

	return true;
}

static void print_table(const struct sample *old, const struct sample *new)
{
	unsigned int queue;
	double value;
	size_t i;

	printf("%5s", "queue");
	for (i = 0; i < COLUMNS; i++)
		printf(" %10s", columns[i].title);
	putchar('\n');
	for (queue = 0; queue < new->queues; queue++) {
		printf("%5u", queue);
		for (i = 0; i < COLUMNS; i++) {
			if (rate(old, new, queue, i, &value))
				printf(" %10.0f", value);
			else
				printf(" %10s", "-");
		}
		putchar('\n');
	}
}

static void print_missing(const struct sample *s, const char *dev)
{
	const char *separator = "";
	size_t i;

	for (i = 0; i < COLUMNS; i++) {
		if (s->cell[0][i].known)
			continue;
		if (!*separator)
			printf("%s: its driver does not count ", dev);
		printf("%s%s", separator, columns[i].title);
		separator = ", ";
	}
	if (*separator)
		putchar('\n');
	fflush(stdout);
}

static void print_json(const struct options *o, const struct sample *old,
		       const struct sample *new)
{
	unsigned int queue;
	double value;
	size_t i;

	json_start(o->pretty);
	json_open(NULL, '{');
	json_string("ifname", o->dev);
	json_open("queues", '[');
	for (queue = 0; queue < new->queues; queue++) {
		json_open(NULL, '{');
		json_uint("queue", queue);
		for (i = 0; i < COLUMNS; i++) {
			if (rate(old, new, queue, i, &value))
				json_number(columns[i].title, value);
			else
				json_null(columns[i].title);
		}
		json_close('}');
	}
	json_close(']');
	json_close('}');
	json_end();
}

static void print_sample(const struct options *o, const struct sample *old,
			 const struct sample *new)
{
	if (o->json) {
		print_json(o, old, new);
		return;
	}
	/* a table on a terminal stays where it is */
	if (isatty(STDOUT_FILENO) && o->count != 1)
		fputs("\033[H\033[J", stdout);
	print_table(old, new);
	print_missing(new, o->dev);
}

static void wait_interval(double seconds)
{
	struct timespec t = {
		.tv_sec = (time_t)seconds,
		.tv_nsec = (seconds - (time_t)seconds) * 1e9,
	};

	nanosleep(&t, NULL);
}

int cmd_stats(const struct options *o)
{
	static struct sample samples[2];
	unsigned int i;

	for (i = 0; ; i++) {
		struct sample *new = &samples[i % 2], *old = &samples[!(i % 2)];

		if (read_sample(o->dev, new)) {
			fprintf(stderr, "rxhook: %s: %s\n", o->dev,
				strerror(errno));
			return EXIT_KERNEL;
		}
		if (!new->queues) {
			fprintf(stderr,
				"rxhook: %s: its driver has no counters per queue\n",
				o->dev);
			return EXIT_KERNEL;
		}
		if (i)
			print_sample(o, old, new);
		if (o->count && i == o->count)
			return 0;
		wait_interval(o->interval);
	}
}
