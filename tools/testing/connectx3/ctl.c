// SPDX-License-Identifier: GPL-2.0
/*
 * The control socket: a command a line, the answer ends with "ok" or with
 * "error: why". What a hand does to a card: pull the cable, break things, look.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ctl.h"
#include "fault.h"

#define LINE_MAX_LEN	256

struct client {
	int fd;
	char line[LINE_MAX_LEN];
	size_t len;
	bool overlong;
};

struct ctl {
	struct card *card;
	int listen_fd;
	struct client clients[CTL_CLIENTS];
};

static void reply(struct client *client, const char *fmt, ...) PRINTF(2, 3);

static void reply(struct client *client, const char *fmt, ...)
{
	char text[512];
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	/* a reader that is too slow, or gone, misses what it does not read */
	if (send(client->fd, text, MIN((size_t)len, sizeof(text) - 1),
		 MSG_DONTWAIT | MSG_NOSIGNAL) < 0 && errno == EPIPE)
		client->len = 0;
}

static void reply_line(void *arg, const char *line)
{
	reply(arg, "%s\n", line);
}

/* Parses "PORT up" or "PORT down". */
static const char *do_link(struct ctl *ctl, struct client *client, const char *args)
{
	unsigned int port = (unsigned int)(args[0] - '1');

	(void)client;
	if (port >= CX3_NUM_PORTS || args[1] != ' ')
		return "link PORT up|down";
	if (strcmp(args + 2, "up") && strcmp(args + 2, "down"))
		return "link PORT up|down";
	port_plug(ctl->card, port, args[2] == 'u');
	return NULL;
}

static const char *do_fault(struct ctl *ctl, struct client *client, const char *args)
{
	if (!strcmp(args, "help")) {
		fault_help(reply_line, client);
		return NULL;
	}
	if (!strcmp(args, "clear")) {
		fault_clear(ctl->card);
		return NULL;
	}
	return fault_add(ctl->card, args);
}

static const char *do_error(struct ctl *ctl, struct client *client, const char *args)
{
	u32 code = (u32)strtoul(args, NULL, 0);

	(void)client;
	if (!code)
		return "internal-error CODE, not 0";
	card_internal_error(ctl->card, code);
	return NULL;
}

static const char *do_trace(struct ctl *ctl, struct client *client, const char *args)
{
	(void)ctl;
	(void)client;
	trace_on = !strcmp(args, "on");
	return NULL;
}

static const char *do_violations(struct ctl *ctl, struct client *client, const char *args)
{
	unsigned int i;

	(void)ctl;
	for (i = 0; i < V_COUNT; i++)
		if (violation_times(i))
			reply(client, "%u %llu %s\n", i, (unsigned long long)violation_times(i),
			      violation_text(i));
	if (!strcmp(args, "forget"))
		violations_reset();
	return NULL;
}

static const char *do_stats(struct ctl *ctl, struct client *client, const char *args)
{
	unsigned int i;

	(void)args;
	for (i = 0; i < CX3_NUM_PORTS; i++) {
		const struct port *port = &ctl->card->ports[i];
		const struct port_stats *s = &port->stats;

		reply(client, "port %u: %s %s link %s mtu %u pause tx %d rx %d\n", i + 1,
		      port->plugged ? "plugged" : "unplugged",
		      port->enabled ? "enabled" : "disabled", port->link ? "up" : "down", port->mtu, port->pause_tx, port->pause_rx);
		reply(client, "port %u: good %llu crc %llu drop %llu overflow %llu long %llu "
		      "paused %llu queued %u\n", i + 1, (unsigned long long)s->rx_good,
		      (unsigned long long)s->rx_crc, (unsigned long long)s->rx_drop,
		      (unsigned long long)s->rx_overflow, (unsigned long long)s->rx_too_long,
		      (unsigned long long)s->tx_pause, port->wire.fifo.count);
	}
	return NULL;
}

static const struct {
	const char *name, *args;
	const char *(*run)(struct ctl *ctl, struct client *client, const char *args);
} verbs[] = {
	{ "link", "PORT up|down", do_link },
	{ "fault", "SPEC|clear|help", do_fault },
	{ "internal-error", "CODE", do_error },
	{ "trace", "on|off", do_trace },
	{ "violations", "[forget]", do_violations },
	{ "stats", "", do_stats },
};

static void help(struct client *client)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		reply(client, "%s %s\n", verbs[i].name, verbs[i].args);
	reply(client, "ok\n");
}

static void run_line(struct ctl *ctl, struct client *client, char *line)
{
	size_t len = strcspn(line, " ");
	const char *args = line[len] ? line + len + 1 : line + len;
	const char *why = "unknown command; there is help";
	unsigned int i;

	if (!strcmp(line, "help")) {
		help(client);
		return;
	}
	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		if (strlen(verbs[i].name) == len && !memcmp(line, verbs[i].name, len))
			why = verbs[i].run(ctl, client, args);
	if (why)
		reply(client, "error: %s\n", why);
	else
		reply(client, "ok\n");
}

static void take_char(struct ctl *ctl, struct client *client, char c)
{
	if (c != '\n') {
		if (client->len < sizeof(client->line) - 1)
			client->line[client->len++] = c;
		else
			client->overlong = true;
		return;
	}
	if (client->len && client->line[client->len - 1] == '\r')
		client->len--;
	client->line[client->len] = 0;
	if (client->overlong)
		reply(client, "error: line too long\n");
	else if (client->len)
		run_line(ctl, client, client->line);
	client->len = 0;
	client->overlong = false;
}

static void read_client(struct ctl *ctl, struct client *client)
{
	char buf[LINE_MAX_LEN];
	ssize_t n = recv(client->fd, buf, sizeof(buf), MSG_DONTWAIT);
	ssize_t i;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		close(client->fd);
		client->fd = -1;
		return;
	}
	for (i = 0; i < n; i++)
		take_char(ctl, client, buf[i]);
}

static void welcome(struct ctl *ctl)
{
	int fd = accept4(ctl->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	int i;

	for (i = 0; i < CTL_CLIENTS && fd >= 0; i++) {
		if (ctl->clients[i].fd >= 0)
			continue;
		memset(&ctl->clients[i], 0, sizeof(ctl->clients[i]));
		ctl->clients[i].fd = fd;
		fd = -1;
	}
	if (fd >= 0)
		close(fd);
}

void ctl_poll(const struct ctl *ctl, struct pollfd *pfds)
{
	int i;

	for (i = 0; i < CTL_CLIENTS; i++)
		pfds[i] = (struct pollfd){ .fd = ctl->clients[i].fd, .events = POLLIN };
	pfds[CTL_CLIENTS] = (struct pollfd){ .fd = ctl->listen_fd, .events = POLLIN };
}

void ctl_run(struct ctl *ctl, const struct pollfd *pfds)
{
	int i;

	for (i = 0; i < CTL_CLIENTS; i++)
		if (pfds[i].fd >= 0 && pfds[i].revents)
			read_client(ctl, &ctl->clients[i]);
	if (pfds[CTL_CLIENTS].revents)
		welcome(ctl);
}

struct ctl *ctl_new(struct card *card, int listen_fd)
{
	struct ctl *ctl = calloc(1, sizeof(*ctl));
	int i;

	if (!ctl)
		return NULL;
	ctl->card = card;
	ctl->listen_fd = listen_fd;
	for (i = 0; i < CTL_CLIENTS; i++)
		ctl->clients[i].fd = -1;
	return ctl;
}

void ctl_free(struct ctl *ctl)
{
	int i;

	for (i = 0; i < CTL_CLIENTS; i++)
		if (ctl->clients[i].fd >= 0)
			close(ctl->clients[i].fd);
	close(ctl->listen_fd);
	free(ctl);
}
