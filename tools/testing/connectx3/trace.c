// SPDX-License-Identifier: GPL-2.0
/*
 * Everything that the model says goes to stderr, a line each, with its prefix:
 *
 *   connectx3: something happened
 *   connectx3: trace: what the driver did
 *   connectx3: VIOLATION 7: what the manual forbids: where
 *
 * A violation that comes again and again is counted but not repeated for ever.
 */
#include <stdarg.h>
#include <stdio.h>

#include "trace.h"

#define REPEATS_SHOWN 20

static const char *const texts[V_COUNT] = {
#define X(number, name, text) [number] = text,
	VIOLATIONS(X)
#undef X
};
static u64 times[V_COUNT];
bool trace_on, trace_silent;

static void line(const char *prefix, const char *fmt, va_list ap)
{
	char text[512];

	if (trace_silent)
		return;
	vsnprintf(text, sizeof(text), fmt, ap);
	fprintf(stderr, "connectx3: %s%s\n", prefix, text);
}

void violation(enum violation v, const char *fmt, ...)
{
	char prefix[160];
	va_list ap;

	if (++times[v] > REPEATS_SHOWN)
		return;
	snprintf(prefix, sizeof(prefix), "VIOLATION %d: %s: ", v, texts[v]);
	va_start(ap, fmt);
	line(prefix, fmt, ap);
	va_end(ap);
	if (times[v] == REPEATS_SHOWN)
		say("violation %d came %d times, later ones are only counted", v, REPEATS_SHOWN);
}

u64 violation_count(void)
{
	u64 sum = 0;
	int i;

	for (i = 0; i < V_COUNT; i++)
		sum += times[i];
	return sum;
}

void violations_reset(void)
{
	memset(times, 0, sizeof(times));
}

const char *violation_text(unsigned int number)
{
	return number < V_COUNT ? texts[number] : NULL;
}

u64 violation_times(unsigned int number)
{
	return number < V_COUNT ? times[number] : 0;
}

void trace_line(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	line("trace: ", fmt, ap);
	va_end(ap);
}

void say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	line("", fmt, ap);
	va_end(ap);
}
