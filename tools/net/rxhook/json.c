// SPDX-License-Identifier: GPL-2.0
/* A JSON writer: one document on stdout. */

#include <inttypes.h>
#include <stdio.h>

#include "rxhook.h"

static bool pretty, first = true;
static int depth;

static void break_line(void)
{
	if (pretty)
		printf("\n%*s", 4 * depth, "");
}

static void print_string(const char *s)
{
	putchar('"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			printf("\\%c", *s);
		else if ((unsigned char)*s < ' ')
			printf("\\u%04x", *s);
		else
			putchar(*s);
	}
	putchar('"');
}

/* what stands before each value: a comma, a name */
static void before(const char *name)
{
	if (!first)
		putchar(',');
	if (depth)
		break_line();
	first = false;
	if (name) {
		print_string(name);
		fputs(pretty ? ": " : ":", stdout);
	}
}

void json_start(bool with_lines)
{
	pretty = with_lines;
	first = true;
	depth = 0;
}

void json_end(void)
{
	putchar('\n');
	fflush(stdout);
}

void json_open(const char *name, char bracket)
{
	before(name);
	putchar(bracket);
	depth++;
	first = true;
}

void json_close(char bracket)
{
	depth--;
	if (!first)
		break_line();
	putchar(bracket);
	first = false;
}

void json_string(const char *name, const char *value)
{
	before(name);
	print_string(value);
}

void json_number(const char *name, double value)
{
	before(name);
	printf("%.1f", value);
}

void json_uint(const char *name, uint64_t value)
{
	before(name);
	printf("%" PRIu64, value);
}

void json_null(const char *name)
{
	before(name);
	fputs("null", stdout);
}
