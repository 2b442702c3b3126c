// SPDX-License-Identifier: GPL-2.0
/*
 * connectx3: a ConnectX-3 for QEMU's vfio-user-pci device.
 *
 * Plugs the card into the sockets: vfio-user on one side, the control socket and
 * peers on the other, one thread and ppoll() around all of it. Ends when the
 * client has gone; the status says whether the driver broke a rule.
 */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "card.h"
#include "ctl.h"
#include "fault.h"
#include "peer.h"
#include "vfu.h"

#define EXIT_USAGE	2
#define EXIT_VIOLATION	3
#define NS_PER_S	1000000000ULL
#define MESSAGES_A_TURN	64
#define DEFAULT_MAC	0x525400000001ULL
#define BAR_OF(region)	(region)

static volatile sig_atomic_t stop;

struct server {
	struct card *card;
	struct vfu *vfu;
	struct ctl *ctl;
	struct peer *peers[CX3_NUM_PORTS];
	const char *socket_path, *control_path;
	int listen_fd;
	bool stay;
};

/* -- the card's side of the machine, and the machine's of the card ------------------- */

static u64 clock_now(void *arg)
{
	struct timespec ts;

	(void)arg;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * NS_PER_S + (u64)ts.tv_nsec;
}

static void host_interrupt(void *arg, unsigned int vector)
{
	struct server *s = arg;

	if (s->vfu)
		vfu_interrupt(s->vfu, vector);
}

static bool dev_read(void *arg, unsigned int region, u64 off, void *buf, size_t len)
{
	struct server *s = arg;

	return region == VFU_CONFIG ? pci_read(s->card, off, buf, len) :
				      bar_read(s->card, BAR_OF(region), off, buf, len);
}

static bool dev_write(void *arg, unsigned int region, u64 off, const void *buf, size_t len)
{
	struct server *s = arg;

	return region == VFU_CONFIG ? pci_write(s->card, off, buf, len) :
				      bar_write(s->card, BAR_OF(region), off, buf, len);
}

static void dev_reset(void *arg)
{
	struct server *s = arg;

	card_reset(s->card);
}

static int dev_dma_map(void *arg, u64 start, u64 size, int fd, u64 off, bool writable)
{
	struct server *s = arg;

	return mem_add(&s->card->mem, start, size, fd, off, writable);
}

static int dev_dma_unmap(void *arg, u64 start, u64 size)
{
	struct server *s = arg;

	return mem_remove(&s->card->mem, start, size);
}

static void dev_dma_unmap_all(void *arg)
{
	struct server *s = arg;

	mem_clear(&s->card->mem);
}

/* -- sockets --------------------------------------------------------------------------- */

static int listen_at(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0 || strlen(path) >= sizeof(addr.sun_path)) {
		say("%s: %s", path, fd < 0 ? strerror(errno) : "the path is too long for a socket");
		exit(EXIT_USAGE);
	}
	memcpy(addr.sun_path, path, strlen(path) + 1);
	unlink(path);
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) || listen(fd, 1)) {
		say("%s: %s", path, strerror(errno));
		exit(EXIT_USAGE);
	}
	return fd;
}

/* -- the loop ---------------------------------------------------------------------------- */

enum { POLL_VFU, POLL_PEERS, POLL_CTL = POLL_PEERS + CX3_NUM_PORTS, POLLS = POLL_CTL + CTL_POLLS };

static void prepare(struct server *s, struct pollfd *pfds)
{
	int i;

	for (i = 0; i < POLLS; i++)
		pfds[i] = (struct pollfd){ .fd = -1 };
	pfds[POLL_VFU].fd = vfu_fd(s->vfu) >= 0 ? vfu_fd(s->vfu) : s->listen_fd;
	pfds[POLL_VFU].events = POLLIN;
	for (i = 0; i < CX3_NUM_PORTS; i++)
		if (s->peers[i])
			peer_poll(s->peers[i], &pfds[POLL_PEERS + i]);
	if (s->ctl)
		ctl_poll(s->ctl, &pfds[POLL_CTL]);
}

static void sleep_until_something(struct server *s, struct pollfd *pfds, const sigset_t *mask)
{
	u64 next = card_next(s->card);
	u64 now = card_now(s->card);
	u64 ns = next > now ? next - now : 0;
	struct timespec ts = {
		.tv_sec = (time_t)(ns / NS_PER_S),
		.tv_nsec = (long)(ns % NS_PER_S),
	};

	if (ppoll(pfds, POLLS, next == NEVER ? NULL : &ts, mask) < 0)
		pfds[POLL_VFU].revents = 0;
}

/* false: the client has gone and there is to be no other */
static bool serve_client(struct server *s, const struct pollfd *pfd)
{
	int fd;

	if (!pfd->revents)
		return true;
	if (vfu_fd(s->vfu) >= 0)
		return vfu_process(s->vfu, MESSAGES_A_TURN) || s->stay;
	fd = accept4(s->listen_fd, NULL, NULL, SOCK_CLOEXEC);
	if (fd >= 0)
		vfu_attach(s->vfu, fd);
	return true;
}

static void loop(struct server *s)
{
	struct pollfd pfds[POLLS];
	sigset_t mask;
	int i;

	sigemptyset(&mask);
	while (!stop) {
		prepare(s, pfds);
		sleep_until_something(s, pfds, &mask);
		if (!serve_client(s, &pfds[POLL_VFU]))
			return;
		for (i = 0; i < CX3_NUM_PORTS; i++)
			if (s->peers[i] && pfds[POLL_PEERS + i].revents)
				peer_run(s->peers[i]);
		if (s->ctl)
			ctl_run(s->ctl, &pfds[POLL_CTL]);
		card_run(s->card);
	}
}

/* -- start and end ------------------------------------------------------------------------ */

static const struct option options[] = {
	{ "socket", required_argument, NULL, 's' },
	{ "control", required_argument, NULL, 'c' },
	{ "peer", required_argument, NULL, 'p' },
	{ "fault", required_argument, NULL, 'f' },
	{ "mac", required_argument, NULL, 'm' },
	{ "trace", no_argument, NULL, 't' },
	{ "stay", no_argument, NULL, 'S' },
	{ "hold-ms", required_argument, NULL, 'H' },
	{ "link-up-ms", required_argument, NULL, 'L' },
	{ "rx-page", required_argument, NULL, 'P' },
	{ "batch", required_argument, NULL, 'b' },
	{ "batch-us", required_argument, NULL, 'B' },
	{ "clock-mhz", required_argument, NULL, 'C' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static void usage(void)
{
	fputs("connectx3 --socket PATH [OPTIONS]: a ConnectX-3 for QEMU's vfio-user-pci\n"
	      "  --control PATH    socket for commands; send it \"help\"\n"
	      "  --peer SPEC       PORT=dgram:LOCAL,REMOTE, PORT=stream:PATH or PORT=listen:PATH\n"
	      "                    instead of the cable from port 1 to port 2\n"
	      "  --fault SPEC      break something; --fault help lists what\n"
	      "  --mac MAC         of port 1, 12 hex digits; port 2 has the next\n"
	      "  --trace           say what the driver does\n"
	      "  --stay            wait for another client when one has gone\n"
	      "  --hold-ms N       how long pause holds a frame without a buffer (200)\n"
	      "  --link-up-ms N    from enabled to link (20)\n"
	      "  --rx-page N       receive entries may not cross a page of N bytes (4096; 0: may)\n"
	      "  --batch N         deliver frames in batches of N\n"
	      "  --batch-us N      ... an incomplete one after N us (5000)\n"
	      "  --clock-mhz N     of the timestamps (427)\n"
	      "Status: 0, 2 for a wrong option, 3 if the driver broke a rule.\n", stdout);
}

struct wishes {
	struct card_options opt;
	u64 mac;
	const char *faults[16], *peers[CX3_NUM_PORTS];
	unsigned int fault_count, peer_count;
};

static void help_line(void *arg, const char *line)
{
	(void)arg;
	puts(line);
}

static bool number_option(struct card_options *opt, int c, const char *arg)
{
	char *end;
	u64 n = strtoull(arg, &end, 0);

	if (!*arg || *end)
		return false;
	switch (c) {
	case 'H':
		opt->hold_ns = n * NS_PER_MS;
		return true;
	case 'L':
		opt->link_up_ns = n * NS_PER_MS;
		return true;
	case 'P':
		opt->rx_page = (unsigned int)n;
		return !(n & (n - 1));
	case 'b':
		opt->batch = (unsigned int)n;
		return true;
	case 'B':
		opt->batch_ns = n * NS_PER_US;
		return true;
	case 'C':
		opt->clock_mhz = (unsigned int)n;
		return n > 0 && n <= UINT16_MAX;
	}
	return false;
}

static bool take_option(struct server *s, struct wishes *w, int c)
{
	switch (c) {
	case 's':
		s->socket_path = optarg;
		return true;
	case 'c':
		s->control_path = optarg;
		return true;
	case 'p':
		if (w->peer_count == ARRAY_SIZE(w->peers))
			return false;
		w->peers[w->peer_count++] = optarg;
		return true;
	case 'f':
		if (w->fault_count == ARRAY_SIZE(w->faults))
			return false;
		w->faults[w->fault_count++] = optarg;
		return true;
	case 'm':
		w->mac = strtoull(optarg, NULL, 16) & MAC_M;
		return w->mac;
	case 't':
		trace_on = true;
		return true;
	case 'S':
		s->stay = true;
		return true;
	}
	return number_option(&w->opt, c, optarg);
}

static void parse(struct server *s, struct wishes *w, int argc, char **argv)
{
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'h') {
			usage();
			exit(0);
		}
		if (c == 'f' && !strcmp(optarg, "help")) {
			fault_help(help_line, NULL);
			exit(0);
		}
		if (c == '?')
			exit(EXIT_USAGE);
		if (!take_option(s, w, c)) {
			say("a wrong value, or one too many: %s", optarg);
			exit(EXIT_USAGE);
		}
	}
	if (!s->socket_path || optind < argc) {
		say("--socket PATH is needed, and no argument besides; --help says more");
		exit(EXIT_USAGE);
	}
}

static void plug_in(struct server *s, const struct wishes *w)
{
	struct card_host host = { .arg = s, .interrupt = host_interrupt, .now = clock_now };
	struct vfu_device dev = {
		.arg = s, .vectors = CX3_NUM_VECTORS, .read = dev_read, .write = dev_write,
		.reset = dev_reset, .dma_map = dev_dma_map, .dma_unmap = dev_dma_unmap,
		.dma_unmap_all = dev_dma_unmap_all,
	};
	unsigned int i;

	dev.region_size[0] = CX3_BAR0_SIZE;
	dev.region_size[2] = CX3_BAR2_SIZE;
	s->card = card_new(&host, &w->opt);
	if (s->card)
		dev.region_size[VFU_CONFIG] = sizeof(s->card->config);
	s->vfu = s->card ? vfu_new(&dev) : NULL;
	if (!s->vfu) {
		say("no memory");
		exit(EXIT_USAGE);
	}
	for (i = 0; i < CX3_NUM_PORTS; i++)
		s->card->ports[i].mac = w->mac + i;
}

static void set_up(struct server *s, const struct wishes *w)
{
	const char *why;
	unsigned int i;

	plug_in(s, w);
	for (i = 0; i < w->fault_count; i++) {
		why = fault_add(s->card, w->faults[i]);
		if (why) {
			say("--fault %s: %s", w->faults[i], why);
			exit(EXIT_USAGE);
		}
	}
	for (i = 0; i < w->peer_count; i++) {
		s->peers[i] = peer_new(s->card, w->peers[i], &why);
		if (!s->peers[i]) {
			say("--peer %s: %s", w->peers[i], why);
			exit(EXIT_USAGE);
		}
	}
	if (s->control_path)
		s->ctl = ctl_new(s->card, listen_at(s->control_path));
	/* last: whoever waits for this socket may start at once */
	s->listen_fd = listen_at(s->socket_path);
}

static void tear_down(struct server *s)
{
	int i;

	vfu_free(s->vfu);
	s->vfu = NULL;
	for (i = 0; i < CX3_NUM_PORTS; i++)
		if (s->peers[i])
			peer_free(s->peers[i]);
	if (s->ctl)
		ctl_free(s->ctl);
	card_free(s->card);
	close(s->listen_fd);
	unlink(s->socket_path);
	if (s->control_path)
		unlink(s->control_path);
}

static void on_signal(int number)
{
	stop = number;
}

/* Signals arrive in ppoll() only. */
static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGINT);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
}

int main(int argc, char **argv)
{
	struct server s = { .listen_fd = -1 };
	struct wishes w = {
		.mac = DEFAULT_MAC,
		.opt = { .clock_mhz = 427, .hold_ns = 200 * NS_PER_MS, .link_up_ns = 20 * NS_PER_MS,
			 .rx_page = 4096, .batch_ns = 5 * NS_PER_MS },
	};

	setvbuf(stderr, NULL, _IOLBF, 0);
	parse(&s, &w, argc, argv);
	catch_signals();
	prctl(PR_SET_TIMERSLACK, 1UL, 0, 0, 0);
	set_up(&s, &w);
	loop(&s);
	tear_down(&s);
	if (!violation_count()) {
		say("ended, no violations");
		return 0;
	}
	say("ended, %llu violations", (unsigned long long)violation_count());
	return EXIT_VIOLATION;
}
