/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RXHOOK_H
#define RXHOOK_H

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

/* exit codes, those of ip(8) */
#define EXIT_USAGE	1
#define EXIT_KERNEL	2

#define MAX_QUEUES	1024
#define NO_QUEUE	-1

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* what the command line says */
struct options {
	const char *dev;
	int ifindex;
	int queue;		/* or NO_QUEUE: the device */
	const char *obj, *sec, *prog, *pinned;
	uint32_t id;
	bool replace;
	bool json, pretty;
	double interval;	/* seconds between two tables */
	unsigned int count;	/* tables, 0 for no end */
};

/* What the kernel said to a request: 0 or an error, and its words for it. */
struct answer {
	int error;
	char message[256];
};

/* the XDP programs of one device */
struct device {
	int ifindex;
	char name[16];
	uint32_t driver_id, generic_id, offload_id;
};

struct queue {
	uint32_t id;
	uint32_t prog_id;	/* 0: none of its own */
	bool af_xdp;
};

/* attach.c */
int cmd_attach(const struct options *o);
int cmd_detach(const struct options *o);

/* show.c, stats.c */
int cmd_show(const struct options *o);
int cmd_stats(const struct options *o);

/* ethtool.c: the driver's counters, those of one device under their names */
struct counters {
	unsigned int n;
	char (*names)[32];
	uint64_t *values;
};

int counters_read(const char *dev, struct counters *c);
void counters_free(struct counters *c);
bool counters_find(const struct counters *c, const char *name, uint64_t *value);

/* netlink.c */
int device_set_prog(int ifindex, int fd, bool replace, struct answer *a);
int queue_set_prog(int ifindex, unsigned int queue, int fd, bool replace,
		   struct answer *a);
int device_list(int ifindex, void (*each)(const struct device *d, void *arg),
		void *arg);
int queue_list(int ifindex, struct queue *queues, size_t max);
int queue_programs_known(void);

/* json.c: writes to stdout what the calls say, commas where they belong */
void json_start(bool pretty);
void json_end(void);
void json_open(const char *name, char bracket);
void json_close(char bracket);
void json_string(const char *name, const char *value);
void json_number(const char *name, double value);
void json_uint(const char *name, uint64_t value);
void json_null(const char *name);

#endif
