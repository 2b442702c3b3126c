// SPDX-License-Identifier: GPL-2.0
/* Sends numbered UDP datagrams, or receives them, until all are there or a
 * SIGTERM comes. Both report as JSON: how many were sent; how many arrived, out
 * of order, twice, or with another payload than was sent.
 *
 * A datagram holds its number (8 bytes, big endian), a mark (1 byte, sent as
 * zero: a program under test may write there), then bytes that follow from the
 * number and their position.
 *
 * The sender stays on one CPU: the stack picks a transmit queue by CPU, and
 * what is sent on two queues may come out of order without anybody's fault.
 */

#define _GNU_SOURCE

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <error.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../../../net/lib/ksft.h"

#define MARK_OFFSET	8
#define HEADER_LEN	9
#define MAX_LEN		65536
#define MAX_RUNS	4096
#define MAX_SIZES	64
#define SOCKET_BUFFER	(32 << 20)
#define NS_PER_S	1000000000LL

struct options {
	const char *host, *port, *source;
	unsigned long count, rate, idle_ms;
	unsigned long sizes[MAX_SIZES];
	unsigned int nr_sizes;
	bool echo;
};

/* Datagrams take the sizes in turn. */
static unsigned long size_of(const struct options *opt, uint64_t seq)
{
	return opt->sizes[seq % opt->nr_sizes];
}

/* What has arrived. A run is a series of datagrams with the same mark. */
struct report {
	unsigned long received, reordered, duplicate, corrupt;
	uint64_t next;
	unsigned char *seen;
	char runs[MAX_RUNS + 1];
	unsigned int nr_runs;
};

static uint8_t pattern(uint64_t seq, size_t pos)
{
	return (uint8_t)(seq * 31 + pos);
}

static void fill(uint8_t *buf, size_t len, uint64_t seq)
{
	uint64_t be = htobe64(seq);
	size_t i;

	memcpy(buf, &be, sizeof(be));
	buf[MARK_OFFSET] = 0;
	for (i = HEADER_LEN; i < len; i++)
		buf[i] = pattern(seq, i);
}

static bool intact(const uint8_t *buf, size_t len, uint64_t seq)
{
	size_t i;

	for (i = HEADER_LEN; i < len; i++)
		if (buf[i] != pattern(seq, i))
			return false;
	return true;
}

static void note_mark(struct report *r, uint8_t mark)
{
	char c = mark ? mark : '0';

	if (r->nr_runs && r->runs[r->nr_runs - 1] == c)
		return;
	if (r->nr_runs == MAX_RUNS)
		error(1, 0, "more than %d runs of marks", MAX_RUNS);
	r->runs[r->nr_runs++] = c;
}

static void take(struct report *r, const struct options *opt,
		 const uint8_t *buf, size_t len)
{
	uint64_t seq;

	memcpy(&seq, buf, sizeof(seq));
	seq = be64toh(seq);
	if (seq >= opt->count || len != size_of(opt, seq) ||
	    !intact(buf, len, seq)) {
		r->corrupt++;
		return;
	}
	note_mark(r, buf[MARK_OFFSET]);
	if (r->seen[seq]) {
		r->duplicate++;
		return;
	}
	r->seen[seq] = 1;
	r->received++;
	if (seq < r->next)
		r->reordered++;
	else
		r->next = seq + 1;
}

/* Sizes of datagrams that should be there, going by the last that is. */
static void print_missing_sizes(const struct report *r,
				const struct options *opt)
{
	bool missing[MAX_SIZES] = {};
	const char *separator = "";
	unsigned int i;
	uint64_t seq;

	for (seq = 0; seq < r->next; seq++)
		if (!r->seen[seq])
			missing[seq % opt->nr_sizes] = true;
	printf("\"missing_sizes\": [");
	for (i = 0; i < opt->nr_sizes; i++) {
		if (!missing[i])
			continue;
		printf("%s%lu", separator, opt->sizes[i]);
		separator = ", ";
	}
	printf("], ");
}

static void print_report(const struct report *r, const struct options *opt)
{
	printf("{\"received\": %lu, ", r->received);
	printf("\"reordered\": %lu, ", r->reordered);
	printf("\"duplicate\": %lu, ", r->duplicate);
	printf("\"corrupt\": %lu, ", r->corrupt);
	print_missing_sizes(r, opt);
	printf("\"runs\": \"%s\"}\n", r->runs);
}

/* SIGTERM no longer ends the process, but can be waited for. */
static void block_term(sigset_t *term)
{
	sigemptyset(term);
	sigaddset(term, SIGTERM);
	sigprocmask(SIG_BLOCK, term, NULL);
}

/* Until all numbers are there, nothing has come for the idle time, or a SIGTERM
 * has come and the socket is empty.
 */
static void receive_all(int fd, struct report *r, const struct options *opt,
			int first_wait_ms)
{
	static uint8_t buf[MAX_LEN];
	struct pollfd pfd[] = {
		{ .fd = fd, .events = POLLIN },
		{ .events = POLLIN },
	};
	int wait_ms = first_wait_ms;
	sigset_t term;

	block_term(&term);
	pfd[1].fd = signalfd(-1, &term, 0);
	if (pfd[1].fd < 0)
		error(1, errno, "signalfd");

	while (r->received < opt->count) {
		ssize_t len;

		if (poll(pfd, 2, wait_ms) == 0 || !pfd[0].revents)
			break;
		len = recv(fd, buf, sizeof(buf), 0);
		if (len < 0)
			error(1, errno, "recv");
		if (len >= HEADER_LEN)
			take(r, opt, buf, len);
		wait_ms = opt->idle_ms;
	}
	close(pfd[1].fd);
}

static int open_socket(const struct options *opt, bool bind_it,
		       struct addrinfo **peer)
{
	struct addrinfo hints = {
		.ai_socktype = SOCK_DGRAM,
		.ai_flags = bind_it ? AI_PASSIVE : 0,
		.ai_family = opt->host ? AF_UNSPEC : AF_INET6,
	};
	int size = SOCKET_BUFFER, one = 1, err, fd;
	struct addrinfo *ai;

	err = getaddrinfo(opt->host, opt->port, &hints, &ai);
	if (err)
		error(1, 0, "%s: %s", opt->host, gai_strerror(err));
	fd = socket(ai->ai_family, SOCK_DGRAM, 0);
	if (fd < 0)
		error(1, errno, "socket");
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
	/* a program that marks the payload cannot keep the checksum right */
	setsockopt(fd, SOL_SOCKET, SO_NO_CHECK, &one, sizeof(one));
	if (ai->ai_family == AF_INET6) {
		setsockopt(fd, SOL_UDP, UDP_NO_CHECK6_TX, &one, sizeof(one));
		setsockopt(fd, SOL_UDP, UDP_NO_CHECK6_RX, &one, sizeof(one));
	}
	if (bind_it && bind(fd, ai->ai_addr, ai->ai_addrlen))
		error(1, errno, "bind");
	if (peer)
		*peer = ai;
	else
		freeaddrinfo(ai);
	return fd;
}

static void bind_source(int fd, const struct addrinfo *peer, const char *port)
{
	struct sockaddr_storage any = { .ss_family = peer->ai_family };
	in_port_t be_port = htons(atoi(port));

	if (peer->ai_family == AF_INET6)
		((struct sockaddr_in6 *)&any)->sin6_port = be_port;
	else
		((struct sockaddr_in *)&any)->sin_port = be_port;
	if (bind(fd, (struct sockaddr *)&any, peer->ai_addrlen))
		error(1, errno, "bind");
}

static int64_t ns_since(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - start->tv_sec) * NS_PER_S + now.tv_nsec - start->tv_nsec;
}

/* Waits until the next one is due; false if a SIGTERM came before. */
static bool wait_turn(const sigset_t *term, const struct timespec *start,
		      unsigned long sent, unsigned long rate)
{
	struct timespec left = {};

	if (rate) {
		int64_t ns = NS_PER_S * sent / rate - ns_since(start);

		if (ns > 0) {
			left.tv_sec = ns / NS_PER_S;
			left.tv_nsec = ns % NS_PER_S;
		}
	}
	return sigtimedwait(term, NULL, &left) != SIGTERM;
}

static void stay_on_this_cpu(void)
{
	cpu_set_t here;

	CPU_ZERO(&here);
	CPU_SET(sched_getcpu(), &here);
	if (sched_setaffinity(0, sizeof(here), &here))
		error(1, errno, "sched_setaffinity");
}

/* Returns how many were sent. */
static unsigned long send_all(const struct options *opt, struct report *r)
{
	static uint8_t buf[MAX_LEN];
	struct addrinfo *peer;
	struct timespec start;
	sigset_t term;
	unsigned long i;
	int fd;

	block_term(&term);
	fd = open_socket(opt, false, &peer);
	bind_source(fd, peer, opt->source ?: opt->port);
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (i = 0; i < opt->count &&
	     wait_turn(&term, &start, i, opt->rate); i++) {
		fill(buf, size_of(opt, i), i);
		if (sendto(fd, buf, size_of(opt, i), 0, peer->ai_addr,
			   peer->ai_addrlen) < 0)
			error(1, errno, "send of number %lu", i);
	}
	if (opt->echo)
		receive_all(fd, r, opt, opt->idle_ms);
	freeaddrinfo(peer);
	close(fd);
	return i;
}

static void die_of_usage(void)
{
	fprintf(stderr,
		"usage: seqstream send|recv [-e] [-d HOST] [-p PORT] [-b SOURCE_PORT] [-n COUNT] [-r PER_SECOND] [-s BYTES[,BYTES]...] [-i IDLE_MS]\n"
		"  -b  send: from this port instead of PORT\n"
		"  -e  send: wait for the datagrams to come back, and report\n"
		"  -i  how long nothing has to come before the report is made\n");
	exit(2);
}

static unsigned long number(const char *arg)
{
	char *end;
	unsigned long n = strtoul(arg, &end, 10);

	if (*end || end == arg || n > INT_MAX)
		die_of_usage();
	return n;
}

static void parse_sizes(struct options *opt, char *list)
{
	char *arg;

	opt->nr_sizes = 0;
	while ((arg = strsep(&list, ","))) {
		unsigned long size = number(arg);

		if (opt->nr_sizes == MAX_SIZES || size < HEADER_LEN ||
		    size > MAX_LEN - 1)
			die_of_usage();
		opt->sizes[opt->nr_sizes++] = size;
	}
}

int main(int argc, char **argv)
{
	struct options opt = {
		.port = "34567", .count = 1, .sizes = { 64 }, .nr_sizes = 1,
		.idle_ms = 1000,
	};
	struct report report = {};
	bool sender;
	int c;

	if (argc < 2)
		die_of_usage();
	sender = !strcmp(argv[1], "send");
	if (!sender && strcmp(argv[1], "recv"))
		die_of_usage();
	while ((c = getopt(argc - 1, argv + 1, "ed:p:b:n:r:s:i:")) != -1) {
		switch (c) {
		case 'e':
			opt.echo = true;
			break;
		case 'd':
			opt.host = optarg;
			break;
		case 'p':
			opt.port = optarg;
			break;
		case 'b':
			opt.source = optarg;
			break;
		case 'n':
			opt.count = number(optarg);
			break;
		case 'r':
			opt.rate = number(optarg);
			break;
		case 's':
			parse_sizes(&opt, optarg);
			break;
		case 'i':
			opt.idle_ms = number(optarg);
			break;
		default:
			die_of_usage();
		}
	}
	if (!opt.count || (sender && !opt.host))
		die_of_usage();
	report.seen = calloc(opt.count, 1);
	if (!report.seen)
		error(1, errno, "calloc");

	if (sender) {
		unsigned long sent;

		stay_on_this_cpu();
		sent = send_all(&opt, &report);
		if (!opt.echo)
			printf("{\"sent\": %lu}\n", sent);
	} else {
		int fd = open_socket(&opt, true, NULL);

		if (getenv("KSFT_READY_FD"))
			ksft_ready();
		/* the first one may take as long as its sender takes to start */
		receive_all(fd, &report, &opt, 30000);
		close(fd);
	}
	if (!sender || opt.echo)
		print_report(&report, &opt);
	free(report.seen);
	return 0;
}
