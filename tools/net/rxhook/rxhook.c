// SPDX-License-Identifier: GPL-2.0
/* rxhook: XDP programs of a device and of its receive queues.
 *
 * The command line, in the manner of ip(8): an action, then pairs of words.
 */

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "rxhook.h"

#define VERSION "1"

static const char usage_text[] =
	"Usage: rxhook [ -j[son] ] [ -p[retty] ] ACTION ...\n"
	"       rxhook attach dev NAME [ queue N ] PROGRAM [ replace ]\n"
	"       rxhook detach dev NAME [ queue N ]\n"
	"       rxhook show [ [ dev ] NAME ]\n"
	"       rxhook stats [ dev ] NAME [ interval SECONDS ] [ count N ]\n"
	"       rxhook help\n"
	"PROGRAM := { obj FILE [ sec NAME | prog NAME ] | pinned PATH | id N }\n";

enum action { ATTACH, DETACH, SHOW, STATS, HELP };

static const struct {
	const char *name;
	int (*run)(const struct options *o);
} actions[] = {
	[ATTACH] = { "attach", cmd_attach },
	[DETACH] = { "detach", cmd_detach },
	[SHOW] = { "show", cmd_show },
	[STATS] = { "stats", cmd_stats },
	[HELP] = { "help", NULL },
};

static int usage(void)
{
	fputs(usage_text, stderr);

	return EXIT_USAGE;
}

static int bad(const char *what, const char *value)
{
	fprintf(stderr, "rxhook: %s \"%s\"\n", what, value);

	return -1;
}

static int read_number(const char *text, unsigned long max,
		       unsigned long *value)
{
	char *end;

	errno = 0;
	*value = strtoul(text, &end, 0);
	if (!*text || *end || *text == '-' || errno || *value > max)
		return bad("not a number, or too large:", text);

	return 0;
}

static int set_dev(struct options *o, const char *name)
{
	if (o->dev)
		return bad("a second device:", name);
	o->dev = name;
	o->ifindex = if_nametoindex(name);
	if (!o->ifindex)
		return bad("Cannot find device", name);

	return 0;
}

static int set_number(struct options *o, const char *key, const char *value)
{
	unsigned long n;
	char *end;

	if (!strcmp(key, "interval")) {
		o->interval = strtod(value, &end);
		if (*end || !(o->interval >= 0.01 && o->interval <= 86400))
			return bad("interval is not 0.01 to 86400 seconds:", value);
		return 0;
	}
	if (read_number(value, !strcmp(key, "queue") ? 65535 : UINT32_MAX, &n))
		return -1;
	if (!strcmp(key, "queue"))
		o->queue = n;
	else if (!strcmp(key, "id"))
		o->id = n;
	else
		o->count = n;

	return 0;
}

static int set_text(struct options *o, const char *key, const char *value)
{
	if (!strcmp(key, "obj"))
		o->obj = value;
	else if (!strcmp(key, "sec"))
		o->sec = value;
	else if (!strcmp(key, "prog"))
		o->prog = value;
	else
		o->pinned = value;

	return 0;
}

/* the words that an action takes, and what sets their value */
static const struct word {
	const char *name;
	int (*set)(struct options *o, const char *key, const char *value);
	unsigned int actions;
} words[] = {
	{ "queue", set_number, 1 << ATTACH | 1 << DETACH },
	{ "obj", set_text, 1 << ATTACH },
	{ "sec", set_text, 1 << ATTACH },
	{ "prog", set_text, 1 << ATTACH },
	{ "pinned", set_text, 1 << ATTACH },
	{ "id", set_number, 1 << ATTACH },
	{ "interval", set_number, 1 << STATS },
	{ "count", set_number, 1 << STATS },
};

static const struct word *find_word(const char *name, enum action action)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (words[i].actions & 1 << action &&
		    !strcmp(words[i].name, name))
			return &words[i];

	return NULL;
}

/* One word, or a word and its value. The number of words taken, or -1. */
static int parse_word(struct options *o, enum action action, int argc,
		      char **argv)
{
	const struct word *word = find_word(argv[0], action);

	if (!strcmp(argv[0], "replace") && action == ATTACH) {
		o->replace = true;
		return 1;
	}
	if (word || !strcmp(argv[0], "dev")) {
		if (argc < 2)
			return bad("a value is missing after", argv[0]);
		if (word)
			return word->set(o, argv[0], argv[1]) ? -1 : 2;
		return set_dev(o, argv[1]) ? -1 : 2;
	}
	if ((action == SHOW || action == STATS) && !o->dev)
		return set_dev(o, argv[0]) ? -1 : 1;

	return bad("not known here:", argv[0]);
}

static int check(const struct options *o, enum action action)
{
	int programs = !!o->obj + !!o->pinned + !!o->id;

	if (action != SHOW && !o->dev) {
		fprintf(stderr, "rxhook: which device? (dev NAME)\n");
		return -1;
	}
	if (action == ATTACH && programs != 1) {
		fprintf(stderr, "rxhook: one of obj, pinned and id is needed\n");
		return -1;
	}
	if ((o->sec || o->prog) && (!o->obj || (o->sec && o->prog))) {
		fprintf(stderr, "rxhook: sec or prog goes with obj\n");
		return -1;
	}

	return 0;
}

static int find_action(const char *name)
{
	size_t i, len = strlen(name);

	/* as with ip, the beginning of a word does */
	for (i = 0; i < ARRAY_SIZE(actions); i++)
		if (len && !strncmp(actions[i].name, name, len))
			return i;

	return -1;
}

/* -j and -p before the action. The number of words taken, or -1. */
static int parse_flags(struct options *o, int argc, char **argv)
{
	int i;

	for (i = 0; i < argc && argv[i][0] == '-'; i++) {
		if (!strcmp(argv[i], "-j") || !strcmp(argv[i], "-json"))
			o->json = true;
		else if (!strcmp(argv[i], "-p") || !strcmp(argv[i], "-pretty"))
			o->pretty = true;
		else
			return -1;
	}

	return i;
}

static int run(struct options *o, enum action action, int argc, char **argv)
{
	int i, taken;

	for (i = 0; i < argc; i += taken) {
		if (!strcmp(argv[i], "help")) {
			fputs(usage_text, stdout);
			return 0;
		}
		taken = parse_word(o, action, argc - i, argv + i);
		if (taken < 0)
			return EXIT_USAGE;
	}
	if (check(o, action))
		return EXIT_USAGE;

	return actions[action].run(o);
}

/* The verifier's log and what else libbpf has to say of weight. */
static int print_libbpf(enum libbpf_print_level level, const char *format,
			va_list args)
{
	return level == LIBBPF_WARN ? vfprintf(stderr, format, args) : 0;
}

int main(int argc, char **argv)
{
	struct options o = { .queue = NO_QUEUE, .interval = 1 };
	int taken, action;

	libbpf_set_print(print_libbpf);

	if (argc > 1 && (!strcmp(argv[1], "-V") || !strcmp(argv[1], "-Version"))) {
		puts("rxhook " VERSION);
		return 0;
	}
	if (argc > 1 && (!strcmp(argv[1], "-h") || !strcmp(argv[1], "-help"))) {
		fputs(usage_text, stdout);
		return 0;
	}
	taken = parse_flags(&o, argc - 1, argv + 1);
	if (taken < 0 || taken == argc - 1)
		return usage();
	action = find_action(argv[taken + 1]);
	if (action < 0) {
		bad("no such action:", argv[taken + 1]);
		return usage();
	}
	if (action == HELP) {
		fputs(usage_text, stdout);
		return 0;
	}

	return run(&o, action, argc - taken - 2, argv + taken + 2);
}
