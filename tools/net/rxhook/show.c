// SPDX-License-Identifier: GPL-2.0
/* rxhook show: the XDP programs of devices and of their receive queues. */

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "rxhook.h"

#define MAX_MAPS	64

/* what the kernel tells about a program */
struct program {
	struct bpf_prog_info info;
	uint32_t maps[MAX_MAPS];
};

static int read_program(uint32_t id, struct program *p)
{
	uint32_t len = sizeof(p->info);
	int fd = bpf_prog_get_fd_by_id(id);
	int err;

	memset(p, 0, sizeof(*p));
	p->info.id = id;
	if (fd < 0)
		return -1;
	p->info.nr_map_ids = MAX_MAPS;
	p->info.map_ids = (uint64_t)(unsigned long)p->maps;
	err = bpf_prog_get_info_by_fd(fd, &p->info, &len);
	close(fd);
	if (p->info.nr_map_ids > MAX_MAPS)
		p->info.nr_map_ids = MAX_MAPS;

	return err;
}

static void map_name(uint32_t id, char *name, size_t size)
{
	struct bpf_map_info info = {};
	uint32_t len = sizeof(info);
	int fd = bpf_map_get_fd_by_id(id);

	name[0] = '\0';
	if (fd < 0)
		return;
	if (!bpf_map_get_info_by_fd(fd, &info, &len))
		snprintf(name, size, "%s", info.name);
	close(fd);
}

/* When a program was loaded: the kernel tells it from boot on. */
static void loaded_at(const struct program *p, char *text, size_t size)
{
	struct timespec boot, real;
	time_t t;

	clock_gettime(CLOCK_BOOTTIME, &boot);
	clock_gettime(CLOCK_REALTIME, &real);
	t = real.tv_sec - boot.tv_sec + p->info.load_time / 1000000000;
	strftime(text, size, "%Y-%m-%dT%H:%M:%S%z", localtime(&t));
}

static void tag_text(const struct program *p, char *text)
{
	int i;

	for (i = 0; i < BPF_TAG_SIZE; i++)
		sprintf(text + 2 * i, "%02x", p->info.tag[i]);
}

static void print_program(const char *where, uint32_t id, const char *note)
{
	char tag[2 * BPF_TAG_SIZE + 1], since[40], name[32];
	struct program p;
	uint32_t i;

	printf("    %-9s id %u%s", where, id, note);
	if (read_program(id, &p)) {
		printf(" (%s)\n", strerror(errno));
		return;
	}
	tag_text(&p, tag);
	loaded_at(&p, since, sizeof(since));
	printf(" name %s tag %s loaded %s", p.info.name, tag, since);
	for (i = 0; i < p.info.nr_map_ids; i++) {
		map_name(p.maps[i], name, sizeof(name));
		printf("%s%u %s", i ? ", " : " maps ", p.maps[i], name);
	}
	putchar('\n');
}

static void json_maps(const struct program *p)
{
	char name[32];
	uint32_t i;

	json_open("maps", '[');
	for (i = 0; i < p->info.nr_map_ids; i++) {
		map_name(p->maps[i], name, sizeof(name));
		json_open(NULL, '{');
		json_uint("id", p->maps[i]);
		json_string("name", name);
		json_close('}');
	}
	json_close(']');
}

/* the fields of a program, into an object that is open */
static void json_program(uint32_t id)
{
	char tag[2 * BPF_TAG_SIZE + 1], since[40];
	struct program p;

	json_uint("id", id);
	if (read_program(id, &p))
		return;
	tag_text(&p, tag);
	loaded_at(&p, since, sizeof(since));
	json_string("name", p.info.name);
	json_string("tag", tag);
	json_string("loaded", since);
	json_maps(&p);
}

struct show {
	const struct options *o;
	bool queues_known;
	struct queue queues[MAX_QUEUES];
};

static bool any_program(const struct device *d, const struct queue *queues,
			int n)
{
	int i;

	for (i = 0; i < n; i++)
		if (queues[i].prog_id)
			return true;

	return d->driver_id || d->generic_id || d->offload_id;
}

static void json_level(const char *mode, uint32_t id)
{
	if (!id)
		return;
	json_open(NULL, '{');
	json_string("mode", mode);
	json_program(id);
	json_close('}');
}

static void show_json(const struct device *d, const struct show *s, int n)
{
	int i;

	json_open(NULL, '{');
	json_uint("ifindex", d->ifindex);
	json_string("ifname", d->name);
	json_open("device", '[');
	json_level("driver", d->driver_id);
	json_level("generic", d->generic_id);
	json_level("offload", d->offload_id);
	json_close(']');
	if (s->queues_known && n >= 0) {
		json_open("queues", '[');
		for (i = 0; i < n; i++) {
			if (!s->queues[i].prog_id)
				continue;
			json_open(NULL, '{');
			json_uint("queue", s->queues[i].id);
			json_program(s->queues[i].prog_id);
			json_close('}');
		}
		json_close(']');
	}
	json_close('}');
}

static void show_text(const struct device *d, const struct show *s, int n)
{
	char where[24];
	int i;

	printf("%d: %s\n", d->ifindex, d->name);
	if (d->driver_id)
		print_program("device", d->driver_id, "");
	if (d->generic_id)
		print_program("device", d->generic_id, " generic");
	if (d->offload_id)
		print_program("device", d->offload_id, " offload");
	for (i = 0; i < n; i++) {
		if (!s->queues[i].prog_id)
			continue;
		snprintf(where, sizeof(where), "queue %u", s->queues[i].id);
		print_program(where, s->queues[i].prog_id,
			      s->queues[i].af_xdp ? " with AF_XDP" : "");
	}
	if (s->o->dev && s->queues_known && n <= 0)
		printf("    queues    are listed while the interface is up\n");
}

static void show_device(const struct device *d, void *arg)
{
	struct show *s = arg;
	int n = queue_list(d->ifindex, s->queues, MAX_QUEUES);

	if (!s->o->dev && !any_program(d, s->queues, n))
		return;
	if (s->o->json)
		show_json(d, s, n);
	else
		show_text(d, s, n);
}

int cmd_show(const struct options *o)
{
	static struct show s;
	int err;

	s.o = o;
	s.queues_known = queue_programs_known();
	if (o->json) {
		json_start(o->pretty);
		json_open(NULL, '[');
	}
	err = device_list(o->dev ? o->ifindex : 0, show_device, &s);
	if (o->json) {
		json_close(']');
		json_end();
	}
	if (!s.queues_known)
		fprintf(stderr,
			"rxhook: this kernel has no programs per queue (netdev queue-set)\n");
	if (err)
		fprintf(stderr, "rxhook: %s\n", strerror(-err));

	return err ? EXIT_KERNEL : 0;
}
