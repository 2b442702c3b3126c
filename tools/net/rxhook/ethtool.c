// SPDX-License-Identifier: GPL-2.0
/* A driver's counters (ethtool -S), read by their names. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/ethtool.h>
#include <linux/if.h>
#include <linux/sockios.h>

#include "rxhook.h"

static int ethtool(int sock, const char *dev, void *command)
{
	struct ifreq ifr = {};

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", dev);
	ifr.ifr_data = command;

	return ioctl(sock, SIOCETHTOOL, &ifr);
}

static unsigned int counters_number(int sock, const char *dev)
{
	struct {
		struct ethtool_sset_info info;
		uint32_t n;
	} query = {
		.info.cmd = ETHTOOL_GSSET_INFO,
		.info.sset_mask = 1ULL << ETH_SS_STATS,
	};

	if (ethtool(sock, dev, &query) || !query.info.sset_mask)
		return 0;

	return query.n;
}

static int read_names(int sock, const char *dev, struct counters *c)
{
	struct ethtool_gstrings *strings;
	int err;

	strings = calloc(1, sizeof(*strings) + (size_t)c->n * ETH_GSTRING_LEN);
	if (!strings)
		return -1;
	strings->cmd = ETHTOOL_GSTRINGS;
	strings->string_set = ETH_SS_STATS;
	strings->len = c->n;
	err = ethtool(sock, dev, strings);
	if (!err)
		memcpy(c->names, strings->data,
		       (size_t)c->n * ETH_GSTRING_LEN);
	free(strings);

	return err;
}

static int read_values(int sock, const char *dev, struct counters *c)
{
	struct ethtool_stats *stats;
	int err;

	stats = calloc(1, sizeof(*stats) + c->n * sizeof(uint64_t));
	if (!stats)
		return -1;
	stats->cmd = ETHTOOL_GSTATS;
	stats->n_stats = c->n;
	err = ethtool(sock, dev, stats);
	if (!err)
		memcpy(c->values, stats->data, c->n * sizeof(uint64_t));
	free(stats);

	return err;
}

/* All counters of a device; none where the driver has none. */
int counters_read(const char *dev, struct counters *c)
{
	int sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int err = -1;

	memset(c, 0, sizeof(*c));
	if (sock < 0)
		return -1;

	c->n = counters_number(sock, dev);
	/* room for the end of the last name */
	c->names = calloc(c->n + 1, sizeof(*c->names));
	c->values = calloc(c->n + 1, sizeof(*c->values));
	if (c->names && c->values)
		err = c->n ? read_names(sock, dev, c) ||
			     read_values(sock, dev, c) : 0;
	close(sock);
	if (err)
		counters_free(c);

	return err ? -1 : 0;
}

void counters_free(struct counters *c)
{
	free(c->names);
	free(c->values);
	memset(c, 0, sizeof(*c));
}

bool counters_find(const struct counters *c, const char *name, uint64_t *value)
{
	unsigned int i;

	for (i = 0; i < c->n; i++) {
		if (strncmp(c->names[i], name, ETH_GSTRING_LEN))
			continue;
		*value = c->values[i];
		return true;
	}

	return false;
}
