// SPDX-License-Identifier: GPL-2.0
/* One system call of which the Nth allocation fails (fault injection).
 *
 *   failnth N write PATH TEXT      a sysfs file
 *   failnth N mtu DEV MTU
 *   failnth N up|down DEV
 *   failnth N rings DEV RX TX
 *   failnth N channels DEV COMBINED
 *   failnth N feature DEV NAME 0|1
 *   failnth N selftest DEV
 *   failnth N xdp DEV PINNED       "none" takes the program off
 *
 * Prints "errno E", 0 for success and -1 where what failed was the kernel's
 * answer, so that nobody knows, and then "failed" if an allocation has been
 * made to fail or "none" if the call makes fewer than N. N = 0 lets all succeed.
 */
#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static int fail_fd;

static void arm(unsigned int nth)
{
	char text[16];
	int len;

	len = snprintf(text, sizeof(text), "%u", nth);
	if (pwrite(fail_fd, text, len, 0) != len)
		error(1, errno, "fail-nth");
}

/* What is left of the count is how far the call has not come. */
static unsigned int disarm(void)
{
	char text[16] = "";

	if (pread(fail_fd, text, sizeof(text) - 1, 0) < 0)
		error(1, errno, "fail-nth");
	arm(0);

	return strtoul(text, NULL, 10);
}

static int report(unsigned int nth, int err, unsigned int left)
{
	printf("errno %d\n%s\n", err, nth && !left ? "failed" : "none");

	return 0;
}

static int do_ioctl(unsigned int nth, unsigned long request, struct ifreq *ifr)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	int err;

	arm(nth);
	err = ioctl(fd, request, ifr) < 0 ? errno : 0;

	return report(nth, err, disarm());
}

static int do_ethtool(unsigned int nth, const char *dev, void *data)
{
	struct ifreq ifr = { .ifr_data = data };

	strncpy(ifr.ifr_name, dev, IFNAMSIZ - 1);

	return do_ioctl(nth, SIOCETHTOOL, &ifr);
}

static void get_ethtool(const char *dev, void *data)
{
	struct ifreq ifr = { .ifr_data = data };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	strncpy(ifr.ifr_name, dev, IFNAMSIZ - 1);
	if (ioctl(fd, SIOCETHTOOL, &ifr))
		error(1, errno, "%s", dev);
	close(fd);
}

static int do_write(unsigned int nth, const char *path, const char *text)
{
	int fd = open(path, O_WRONLY), err;

	if (fd < 0)
		error(1, errno, "%s", path);
	arm(nth);
	err = write(fd, text, strlen(text)) < 0 ? errno : 0;

	return report(nth, err, disarm());
}

static int do_mtu(unsigned int nth, const char *dev, int mtu)
{
	struct ifreq ifr = { .ifr_mtu = mtu };

	strncpy(ifr.ifr_name, dev, IFNAMSIZ - 1);

	return do_ioctl(nth, SIOCSIFMTU, &ifr);
}

static int do_up(unsigned int nth, const char *dev, int up)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	struct ifreq ifr = {};

	strncpy(ifr.ifr_name, dev, IFNAMSIZ - 1);
	if (ioctl(fd, SIOCGIFFLAGS, &ifr))
		error(1, errno, "%s", dev);
	ifr.ifr_flags = up ? ifr.ifr_flags | IFF_UP : ifr.ifr_flags & ~IFF_UP;

	return do_ioctl(nth, SIOCSIFFLAGS, &ifr);
}

static int do_rings(unsigned int nth, const char *dev, int rx, int tx)
{
	struct ethtool_ringparam rings = { .cmd = ETHTOOL_GRINGPARAM };

	get_ethtool(dev, &rings);
	rings.cmd = ETHTOOL_SRINGPARAM;
	rings.rx_pending = rx;
	rings.tx_pending = tx;

	return do_ethtool(nth, dev, &rings);
}

static int do_channels(unsigned int nth, const char *dev, int combined)
{
	struct ethtool_channels channels = { .cmd = ETHTOOL_GCHANNELS };

	get_ethtool(dev, &channels);
	channels.cmd = ETHTOOL_SCHANNELS;
	channels.combined_count = combined;

	return do_ethtool(nth, dev, &channels);
}

static int do_flag(unsigned int nth, const char *dev, const char *name, int on)
{
	struct {
		struct ethtool_gstrings head;
		char names[64][ETH_GSTRING_LEN];
	} strings = { .head = { .cmd = ETHTOOL_GSTRINGS,
				.string_set = ETH_SS_FEATURES } };
	struct {
		struct ethtool_sfeatures head;
		struct ethtool_set_features_block blocks[2];
	} set = { .head = { .cmd = ETHTOOL_SFEATURES, .size = 2 } };
	unsigned int i;

	strings.head.len = 64;
	get_ethtool(dev, &strings);
	for (i = 0; i < 64; i++)
		if (!strcmp(strings.names[i], name))
			break;
	if (i == 64)
		error(1, 0, "%s: no feature %s", dev, name);
	set.blocks[i / 32].valid = 1U << i % 32;
	set.blocks[i / 32].requested = on ? 1U << i % 32 : 0;

	return do_ethtool(nth, dev, &set);
}

static int do_selftest(unsigned int nth, const char *dev)
{
	struct {
		struct ethtool_test head;
		__u64 data[64];
	} test = { .head = { .cmd = ETHTOOL_TEST, .flags = ETH_TEST_FL_OFFLINE } };

	return do_ethtool(nth, dev, &test);
}

static int pinned(const char *path)
{
	union bpf_attr attr = { .pathname = (unsigned long)path };
	int fd;

	if (!strcmp(path, "none"))
		return -1;
	fd = syscall(SYS_bpf, BPF_OBJ_GET, &attr, sizeof(attr));
	if (fd < 0)
		error(1, errno, "%s", path);

	return fd;
}

static int do_xdp(unsigned int nth, const char *dev, const char *path)
{
	struct {
		struct nlmsghdr nlh;
		struct ifinfomsg ifi;
		struct nlattr xdp;
		struct nlattr fd_attr;
		int fd;
	} msg = {
		.nlh = {
			.nlmsg_len = sizeof(msg),
			.nlmsg_type = RTM_SETLINK,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK,
		},
		.ifi.ifi_index = if_nametoindex(dev),
		.xdp = {
			.nla_len = sizeof(msg.xdp) + sizeof(msg.fd_attr) +
				   sizeof(msg.fd),
			.nla_type = IFLA_XDP | NLA_F_NESTED,
		},
		.fd_attr = {
			.nla_len = sizeof(msg.fd_attr) + sizeof(msg.fd),
			.nla_type = IFLA_XDP_FD,
		},
		.fd = pinned(path),
	};
	int sock = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	struct {
		struct nlmsghdr nlh;
		struct nlmsgerr err;
		char more[4096];
	} answer = {};
	unsigned int left;
	int err = 0;

	arm(nth);
	if (send(sock, &msg, sizeof(msg), 0) < 0)
		err = errno;
	left = disarm();
	if (!err) {
		if (recv(sock, &answer, sizeof(answer), 0) < 0)
			err = -1;
		else
			err = -answer.err.error;
	}

	return report(nth, err, left);
}

int main(int argc, char **argv)
{
	unsigned int nth = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	const char *what = argc > 2 ? argv[2] : "";

	fail_fd = open("/proc/thread-self/fail-nth", O_RDWR);
	if (fail_fd < 0)
		error(4, errno, "no fault injection in this kernel");

	if (argc == 5 && !strcmp(what, "write"))
		return do_write(nth, argv[3], argv[4]);
	if (argc == 5 && !strcmp(what, "mtu"))
		return do_mtu(nth, argv[3], atoi(argv[4]));
	if (argc == 4 && (!strcmp(what, "up") || !strcmp(what, "down")))
		return do_up(nth, argv[3], !strcmp(what, "up"));
	if (argc == 6 && !strcmp(what, "rings"))
		return do_rings(nth, argv[3], atoi(argv[4]), atoi(argv[5]));
	if (argc == 5 && !strcmp(what, "channels"))
		return do_channels(nth, argv[3], atoi(argv[4]));
	if (argc == 6 && !strcmp(what, "feature"))
		return do_flag(nth, argv[3], argv[4], atoi(argv[5]));
	if (argc == 4 && !strcmp(what, "selftest"))
		return do_selftest(nth, argv[3]);
	if (argc == 5 && !strcmp(what, "xdp"))
		return do_xdp(nth, argv[3], argv[4]);

	error(1, 0, "usage: see the head of failnth.c");

	return 1;
}
