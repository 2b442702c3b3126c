// SPDX-License-Identifier: GPL-2.0
/* What the command asks of the kernel: rtnetlink for a device's program,
 * generic netlink (family netdev) for its queues.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/genetlink.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <libmnl/libmnl.h>

#include "netdev_uapi.h"
#include "rxhook.h"

#define REQUEST_SIZE	4096

/* one request: room for it, and where its answer goes */
struct request {
	char buf[REQUEST_SIZE];
	struct nlmsghdr *nlh;
	int bus;
	mnl_cb_t each;
	void *arg;
};

static void request_init(struct request *r, int bus, uint16_t type,
			 uint16_t flags)
{
	memset(r, 0, sizeof(*r));
	r->bus = bus;
	r->nlh = mnl_nlmsg_put_header(r->buf);
	r->nlh->nlmsg_type = type;
	r->nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	r->nlh->nlmsg_seq = 1;
}

static void request_genl(struct request *r, uint16_t family, uint8_t cmd,
			 uint8_t version, uint16_t flags)
{
	struct genlmsghdr *genl;

	request_init(r, NETLINK_GENERIC, family, flags);
	genl = mnl_nlmsg_put_extra_header(r->nlh, sizeof(*genl));
	genl->cmd = cmd;
	genl->version = version;
}

/* The text of an NLMSG_ERROR, which follows the request that it repeats. */
static void read_error(const struct nlmsghdr *nlh, struct answer *a)
{
	const struct nlmsgerr *err = mnl_nlmsg_get_payload(nlh);
	unsigned int offset = sizeof(*err);
	const struct nlattr *attr;

	a->error = -err->error;
	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
		offset += MNL_ALIGN(err->msg.nlmsg_len - sizeof(err->msg));
	mnl_attr_for_each(attr, nlh, offset)
		if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_MSG)
			snprintf(a->message, sizeof(a->message), "%s",
				 mnl_attr_get_str(attr));
}

/* Hands the messages of one read on. True when the answer is complete. */
static bool take_messages(struct request *r, const void *buf, int len,
			  struct answer *a)
{
	const struct nlmsghdr *nlh = buf;

	for (; mnl_nlmsg_ok(nlh, len); nlh = mnl_nlmsg_next(nlh, &len)) {
		if (nlh->nlmsg_type == NLMSG_DONE)
			return true;
		if (nlh->nlmsg_type == NLMSG_ERROR) {
			read_error(nlh, a);
			return true;
		}
		if (r->each)
			r->each(nlh, r->arg);
	}

	return false;
}

static int exchange(struct mnl_socket *nl, struct request *r, struct answer *a)
{
	size_t size = MNL_SOCKET_DUMP_SIZE;
	char *buf = malloc(size);
	ssize_t len = -1;

	if (buf && mnl_socket_sendto(nl, r->nlh, r->nlh->nlmsg_len) >= 0) {
		do {
			len = mnl_socket_recvfrom(nl, buf, size);
		} while (len > 0 && !take_messages(r, buf, len, a));
	}
	if (len < 0)
		a->error = errno;
	free(buf);

	return a->error ? -1 : 0;
}

static int ask(struct request *r, struct answer *a)
{
	struct mnl_socket *nl = mnl_socket_open(r->bus);
	int on = 1, ret = -1;

	memset(a, 0, sizeof(*a));
	if (!nl) {
		a->error = errno;
		return -1;
	}

	mnl_socket_setsockopt(nl, NETLINK_EXT_ACK, &on, sizeof(on));
	/* a dump ends with a message of its own */
	if (!(r->nlh->nlmsg_flags & NLM_F_DUMP))
		r->nlh->nlmsg_flags |= NLM_F_ACK;
	if (mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) < 0)
		a->error = errno;
	else
		ret = exchange(nl, r, a);
	mnl_socket_close(nl);

	return ret;
}

/* ---- the device's program ---- */

int device_set_prog(int ifindex, int fd, bool replace, struct answer *a)
{
	struct ifinfomsg *ifi;
	struct nlattr *nest;
	struct request r;

	request_init(&r, NETLINK_ROUTE, RTM_SETLINK, 0);
	ifi = mnl_nlmsg_put_extra_header(r.nlh, sizeof(*ifi));
	ifi->ifi_index = ifindex;
	nest = mnl_attr_nest_start(r.nlh, IFLA_XDP);
	mnl_attr_put_u32(r.nlh, IFLA_XDP_FD, fd);
	mnl_attr_put_u32(r.nlh, IFLA_XDP_FLAGS, XDP_FLAGS_DRV_MODE |
			 (replace ? 0 : XDP_FLAGS_UPDATE_IF_NOEXIST));
	mnl_attr_nest_end(r.nlh, nest);

	return ask(&r, a);
}

struct device_arg {
	void (*each)(const struct device *d, void *arg);
	void *arg;
};

static void read_xdp(const struct nlattr *xdp, struct device *d)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, xdp) {
		switch (mnl_attr_get_type(attr)) {
		case IFLA_XDP_DRV_PROG_ID:
			d->driver_id = mnl_attr_get_u32(attr);
			break;
		case IFLA_XDP_SKB_PROG_ID:
			d->generic_id = mnl_attr_get_u32(attr);
			break;
		case IFLA_XDP_HW_PROG_ID:
			d->offload_id = mnl_attr_get_u32(attr);
			break;
		}
	}
}

static int read_device(const struct nlmsghdr *nlh, void *arg)
{
	const struct ifinfomsg *ifi = mnl_nlmsg_get_payload(nlh);
	struct device d = { .ifindex = ifi->ifi_index };
	const struct device_arg *da = arg;
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, sizeof(*ifi)) {
		if (mnl_attr_get_type(attr) == IFLA_IFNAME)
			snprintf(d.name, sizeof(d.name), "%s",
				 mnl_attr_get_str(attr));
		else if (mnl_attr_get_type(attr) == IFLA_XDP)
			read_xdp(attr, &d);
	}
	da->each(&d, da->arg);

	return MNL_CB_OK;
}

/* Calls each for one device, or for all of them with ifindex 0. */
int device_list(int ifindex, void (*each)(const struct device *d, void *arg),
		void *arg)
{
	struct device_arg da = { each, arg };
	struct ifinfomsg *ifi;
	struct request r;
	struct answer a;

	request_init(&r, NETLINK_ROUTE, RTM_GETLINK, ifindex ? 0 : NLM_F_DUMP);
	ifi = mnl_nlmsg_put_extra_header(r.nlh, sizeof(*ifi));
	ifi->ifi_index = ifindex;
	r.each = read_device;
	r.arg = &da;

	return ask(&r, &a) ? -a.error : 0;
}

/* ---- the programs of queues ---- */

static int read_family(const struct nlmsghdr *nlh, void *arg)
{
	const struct nlattr *attr;
	uint16_t *family = arg;

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID)
			*family = mnl_attr_get_u16(attr);

	return MNL_CB_OK;
}

/* What the kernel says of the family netdev goes to each(). */
static int ask_family(mnl_cb_t each, void *arg)
{
	struct request r;
	struct answer a;

	request_genl(&r, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1, 0);
	mnl_attr_put_strz(r.nlh, CTRL_ATTR_FAMILY_NAME, FAMILY_NAME);
	r.each = each;
	r.arg = arg;

	return ask(&r, &a);
}

/* The number of the family netdev, 0 where the kernel has none. */
static uint16_t netdev_family(void)
{
	uint16_t family = 0;

	return ask_family(read_family, &family) ? 0 : family;
}

int queue_set_prog(int ifindex, unsigned int queue, int fd, bool replace,
		   struct answer *a)
{
	struct request r;

	request_genl(&r, netdev_family(), CMD_QUEUE_SET, FAMILY_VERSION, 0);
	mnl_attr_put_u32(r.nlh, ATTR_QUEUE_IFINDEX, ifindex);
	mnl_attr_put_u32(r.nlh, ATTR_QUEUE_TYPE, QUEUE_TYPE_RX);
	mnl_attr_put_u32(r.nlh, ATTR_QUEUE_ID, queue);
	mnl_attr_put_u32(r.nlh, ATTR_QUEUE_XDP_FD, fd);
	if (fd >= 0 && !replace)
		mnl_attr_put_u32(r.nlh, ATTR_QUEUE_XDP_FLAGS, XDP_IF_NOEXIST);

	return ask(&r, a);
}

struct queue_arg {
	struct queue *queues;
	size_t n, max;
};

static int read_queue(const struct nlmsghdr *nlh, void *arg)
{
	struct queue_arg *qa = arg;
	const struct nlattr *attr;
	struct queue q = {};
	uint32_t type = 0;

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		switch (mnl_attr_get_type(attr)) {
		case ATTR_QUEUE_ID:
			q.id = mnl_attr_get_u32(attr);
			break;
		case ATTR_QUEUE_TYPE:
			type = mnl_attr_get_u32(attr);
			break;
		case ATTR_QUEUE_XSK:
			q.af_xdp = true;
			break;
		case ATTR_QUEUE_XDP_ID:
			q.prog_id = mnl_attr_get_u32(attr);
			break;
		}
	}
	if (type == QUEUE_TYPE_RX && qa->n < qa->max)
		qa->queues[qa->n++] = q;

	return MNL_CB_OK;
}

/* The receive queues of an interface that is up; their number, or an error. */
int queue_list(int ifindex, struct queue *queues, size_t max)
{
	struct queue_arg qa = { queues, 0, max };
	uint16_t family = netdev_family();
	struct request r;
	struct answer a;

	if (!family)
		return -EOPNOTSUPP;

	request_genl(&r, family, CMD_QUEUE_GET, FAMILY_VERSION, NLM_F_DUMP);
	mnl_attr_put_u32(r.nlh, ATTR_QUEUE_IFINDEX, ifindex);
	r.each = read_queue;
	r.arg = &qa;

	return ask(&r, &a) ? -a.error : (int)qa.n;
}

static int read_op(const struct nlattr *op, bool *found)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, op)
		if (mnl_attr_get_type(attr) == CTRL_ATTR_OP_ID &&
		    mnl_attr_get_u32(attr) == CMD_QUEUE_SET)
			*found = true;

	return MNL_CB_OK;
}

static int read_ops(const struct nlmsghdr *nlh, void *arg)
{
	const struct nlattr *attr, *op;

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		if (mnl_attr_get_type(attr) != CTRL_ATTR_OPS)
			continue;
		mnl_attr_for_each_nested(op, attr)
			read_op(op, arg);
	}

	return MNL_CB_OK;
}

/* Does this kernel know programs of queues at all? */
int queue_programs_known(void)
{
	bool found = false;

	ask_family(read_ops, &found);

	return found;
}
