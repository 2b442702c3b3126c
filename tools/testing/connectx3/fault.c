// SPDX-License-Identifier: GPL-2.0
/*
 * Faults on request, from the command line and the control socket:
 *
 *   KIND[:match=M,nth=N,count=C,value=V]
 *
 * The fault happens at the N-th occurrence (default 1) whose opcode, port or
 * queue is M (default: any), and at the C-1 occurrences after that (default
 * C=1; 0 is for ever). What V means the table in fault.h says.
 */
#include <stdio.h>
#include <stdlib.h>

#include "fault.h"

#define MATCH_ANY	(~0u)

struct fault {
	struct fault *next;
	enum fault_kind kind;
	u32 match;
	u64 skip;	/* occurrences before the first */
	u64 left;	/* occurrences to go; NEVER: for ever */
	u32 value;
};

static const struct {
	const char *name, *match, *value;
} kinds[FAULT_KINDS] = {
#define X(name, text, match, value) [FAULT_##name] = { text, match, value },
	FAULTS(X)
#undef X
};

static int kind_of(const char *spec, size_t len)
{
	int i;

	for (i = 0; i < FAULT_KINDS; i++)
		if (strlen(kinds[i].name) == len && !memcmp(kinds[i].name, spec, len))
			return i;
	return -1;
}

static bool parse_key(struct fault *fault, const char *key, size_t len, u64 value)
{
	if (len == 5 && !memcmp(key, "match", len))
		fault->match = (u32)value;
	else if (len == 3 && !memcmp(key, "nth", len))
		fault->skip = value ? value - 1 : 0;
	else if (len == 5 && !memcmp(key, "count", len))
		fault->left = value ? value : NEVER;
	else if (len == 5 && !memcmp(key, "value", len))
		fault->value = (u32)value;
	else
		return false;
	return true;
}

static const char *parse_keys(struct fault *fault, const char *p)
{
	while (*p) {
		const char *equals = strchr(p, '=');
		char *end;
		u64 value;

		if (!equals)
			return "a key without a value";
		value = strtoull(equals + 1, &end, 0);
		if (end == equals + 1 || (*end && *end != ','))
			return "a value that is no number";
		if (!parse_key(fault, p, (size_t)(equals - p), value))
			return "unknown key; there are match, nth, count and value";
		p = *end ? end + 1 : end;
	}
	return NULL;
}

const char *fault_add(struct card *card, const char *spec)
{
	struct fault fault = { .match = MATCH_ANY, .left = 1 };
	size_t len = strcspn(spec, ":");
	int kind = kind_of(spec, len);
	struct fault *copy;
	const char *why;

	if (kind < 0)
		return "unknown fault; --fault help lists them";
	fault.kind = (enum fault_kind)kind;
	why = parse_keys(&fault, spec[len] ? spec + len + 1 : spec + len);
	if (why)
		return why;
	copy = malloc(sizeof(*copy));
	if (!copy)
		return "no memory";
	*copy = fault;
	copy->next = card->faults;
	card->faults = copy;
	return NULL;
}

void fault_clear(struct card *card)
{
	while (card->faults) {
		struct fault *next = card->faults->next;

		free(card->faults);
		card->faults = next;
	}
}

static bool happens(struct fault *fault)
{
	if (fault->skip) {
		fault->skip--;
		return false;
	}
	if (!fault->left)
		return false;
	if (fault->left != NEVER)
		fault->left--;
	return true;
}

bool fault_hit(struct card *card, enum fault_kind kind, u32 match, u32 *value)
{
	struct fault *fault;

	for (fault = card->faults; fault; fault = fault->next) {
		if (fault->kind != kind || (fault->match != MATCH_ANY && fault->match != match))
			continue;
		if (!happens(fault))
			continue;
		say("fault: %s at %u", kinds[kind].name, match);
		if (value)
			*value = fault->value;
		return true;
	}
	return false;
}

void fault_help(void (*print)(void *arg, const char *line), void *arg)
{
	char text[128];
	int i;

	print(arg, "KIND[:match=M,nth=N,count=C,value=V]");
	for (i = 0; i < FAULT_KINDS; i++) {
		snprintf(text, sizeof(text), "%-14s match: %-8s value: %s", kinds[i].name,
			 kinds[i].match, kinds[i].value);
		print(arg, text);
	}
}
