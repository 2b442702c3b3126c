// SPDX-License-Identifier: GPL-2.0
/* rxhook attach, rxhook detach */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "rxhook.h"

static bool section_fits(const struct bpf_program *prog, const struct options *o)
{
	if (o->sec)
		return !strcmp(bpf_program__section_name(prog), o->sec);
	if (o->prog)
		return !strcmp(bpf_program__name(prog), o->prog);

	return bpf_program__type(prog) == BPF_PROG_TYPE_XDP;
}

/* Only the wanted program is loaded: others may be of types that this kernel
 * does not know.
 */
static struct bpf_program *choose(struct bpf_object *obj,
				  const struct options *o)
{
	struct bpf_program *prog, *chosen = NULL;

	bpf_object__for_each_program(prog, obj) {
		bool take = !chosen && section_fits(prog, o);

		bpf_program__set_autoload(prog, take);
		if (take)
			chosen = prog;
	}
	if (!chosen)
		fprintf(stderr, "rxhook: %s has no such program\n", o->obj);
	else
		bpf_program__set_type(chosen, BPF_PROG_TYPE_XDP);

	return chosen;
}

/* The object goes at the end of this process; the program stays where it is
 * attached, its maps with it.
 */
static int load_object(const struct options *o)
{
	struct bpf_object *obj = bpf_object__open_file(o->obj, NULL);
	struct bpf_program *prog;

	if (!obj) {
		fprintf(stderr, "rxhook: %s: %s\n", o->obj, strerror(errno));
		return -1;
	}
	prog = choose(obj, o);
	if (!prog)
		return -1;
	if (bpf_object__load(obj)) {
		fprintf(stderr, "rxhook: %s does not load: %s\n", o->obj,
			strerror(errno));
		return -1;
	}

	return bpf_program__fd(prog);
}

static int open_program(const struct options *o)
{
	int fd;

	if (o->obj)
		return load_object(o);
	if (o->pinned)
		fd = bpf_obj_get(o->pinned);
	else
		fd = bpf_prog_get_fd_by_id(o->id);
	if (fd < 0 && o->pinned)
		fprintf(stderr, "rxhook: %s: %s\n", o->pinned, strerror(errno));
	else if (fd < 0)
		fprintf(stderr, "rxhook: no program %u: %s\n", o->id,
			strerror(errno));

	return fd;
}

static int report(const struct answer *a)
{
	if (!a->error)
		return 0;
	if (a->message[0])
		fprintf(stderr, "Error: %s.\n", a->message);
	else
		fprintf(stderr, "rxhook: the kernel answers: %s\n", strerror(a->error));

	return EXIT_KERNEL;
}

static int set(const struct options *o, int fd)
{
	struct answer a;

	if (o->queue == NO_QUEUE) {
		device_set_prog(o->ifindex, fd, o->replace || fd < 0, &a);
		return report(&a);
	}
	if (!queue_programs_known()) {
		fprintf(stderr,
			"rxhook: this kernel has no programs per queue (netdev queue-set)\n");
		return EXIT_KERNEL;
	}
	queue_set_prog(o->ifindex, o->queue, fd, o->replace, &a);

	return report(&a);
}

int cmd_attach(const struct options *o)
{
	int fd = open_program(o);

	return fd < 0 ? EXIT_KERNEL : set(o, fd);
}

int cmd_detach(const struct options *o)
{
	return set(o, -1);
}
