// SPDX-License-Identifier: GPL-2.0
/* An XDP program per receive queue.
 *
 * There are two levels. A queue that has a program of its own runs that one;
 * every other queue runs the device's native program, or none. The levels do
 * not know each other: attaching and detaching the device's program, by
 * netlink or by a BPF link, leaves the queues' programs alone, and taking a
 * queue's program away brings the device's back.
 *
 * netdev_rx_queue::xdp_prog holds the setting and the only reference. What a
 * queue runs is one pointer in the driver, which its poll loads once as it
 * does without this. xdp_rxq_prog() tells the driver what to store there.
 *
 * Writers hold rtnl_lock and, on devices that have them locked, the instance
 * lock: the device's program, upper devices and the number of channels do not
 * change meanwhile. Readers hold either. The poll does not read the setting.
 *
 * A program is set on queues that exist. ethtool refuses to take away a queue
 * that has one (netdev_queue_busy()). Where a driver does it by itself, after a
 * reset that left it fewer interrupts for instance, the setting sleeps: it can
 * be cleared, and is in force again when the queue is back.
 */

#include <linux/bpf.h>
#include <linux/ethtool_netlink.h>
#include <linux/filter.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/netdev_lock.h>
#include <net/netdev_queues.h>
#include <net/netdev_rx_queue.h>
#include <net/genetlink.h>
#include <net/xdp_rxq_prog.h>

#include "dev.h"
#include "netdev-genl-gen.h"

/* one queue-set */
struct xdp_rxq_req {
	u32 ifindex;
	u32 rxq;
	struct bpf_prog *prog;	/* NULL clears; holds a reference */
	u32 flags;		/* NETDEV_QUEUE_XDP_FLAGS_* */
	u32 expected_id;
};

static void xdp_rxq_assert_readable(const struct net_device *dev)
{
	lockdep_assert(lockdep_rtnl_is_held() || lockdep_is_held(&dev->lock) ||
		       dev->reg_state == NETREG_UNINITIALIZED);
}

static void xdp_rxq_assert_writable(const struct net_device *dev)
{
	ASSERT_RTNL();
	netdev_assert_locked_ops(dev);
}

static u32 xdp_rxq_prog_id(const struct bpf_prog *prog)
{
	return prog ? prog->aux->id : 0;
}

/**
 * xdp_rxq_prog - what a receive queue is to run
 * @dev: network device
 * @rxq: index of the queue, below @dev->num_rx_queues
 * @dev_prog: the device's native program, or NULL
 *
 * For drivers, when they set a queue up and when one of the two programs
 * changes. In ndo_bpf @dev_prog is the program that is being attached.
 *
 * Context: rtnl_lock or the lock around @dev's ndos is held.
 * Return: the queue's program if it has one, otherwise @dev_prog. No reference
 * is taken: the pointer is good until ndo_xdp_rxq_set or ndo_bpf changes it,
 * and for frames in flight until an RCU grace period has passed after that.
 */
struct bpf_prog *xdp_rxq_prog(struct net_device *dev, unsigned int rxq,
			      struct bpf_prog *dev_prog)
{
	struct bpf_prog *prog;

	xdp_rxq_assert_readable(dev);
	prog = __netif_get_rx_queue(dev, rxq)->xdp_prog;

	return prog ? prog : dev_prog;
}
EXPORT_SYMBOL_GPL(xdp_rxq_prog);

/**
 * xdp_rxq_has_prog - does a receive queue have a program of its own?
 * @dev: network device
 * @rxq: index of the queue, of any value
 *
 * Context: rtnl_lock or the lock around @dev's ndos is held.
 * Return: true if it does.
 */
bool xdp_rxq_has_prog(struct net_device *dev, unsigned int rxq)
{
	return rxq < dev->num_rx_queues && xdp_rxq_prog(dev, rxq, NULL);
}

/**
 * xdp_rxq_any_prog - does any receive queue have a program of its own?
 * @dev: network device
 *
 * Queues that do not exist at the moment count: their programs are in force
 * when they are back.
 *
 * Context: rtnl_lock or the lock around @dev's ndos is held.
 * Return: true if one does.
 */
bool xdp_rxq_any_prog(struct net_device *dev)
{
	unsigned int i;

	for (i = 0; i < dev->num_rx_queues; i++)
		if (xdp_rxq_prog(dev, i, NULL))
			return true;

	return false;
}
EXPORT_SYMBOL_GPL(xdp_rxq_any_prog);

/**
 * xdp_rxq_any_sb_prog - does any receive queue have a program of its own that
 * needs each frame in a single buffer?
 * @dev: network device
 *
 * Context: rtnl_lock or the lock around @dev's ndos is held.
 * Return: true if one has a program that does not declare fragments.
 */
bool xdp_rxq_any_sb_prog(struct net_device *dev)
{
	struct bpf_prog *prog;
	unsigned int i;

	for (i = 0; i < dev->num_rx_queues; i++) {
		prog = xdp_rxq_prog(dev, i, NULL);
		if (prog && !prog->aux->xdp_has_frags)
			return true;
	}

	return false;
}
EXPORT_SYMBOL_GPL(xdp_rxq_any_sb_prog);

/* A driver that has nothing to do for a queue has no say in it either. */
static int xdp_rxq_check_queue(const struct net_device *dev,
			       const struct xdp_rxq_req *req,
			       struct netlink_ext_ack *extack)
{
	unsigned int count = req->prog ? dev->real_num_rx_queues :
					 dev->num_rx_queues;

	if (!dev->netdev_ops->ndo_xdp_rxq_set) {
		NL_SET_ERR_MSG(extack, "driver has one program for all queues");
		return -EOPNOTSUPP;
	}

	if (req->rxq >= count) {
		NL_SET_ERR_MSG_FMT(extack, "no receive queue %u, there are %u",
				   req->rxq, dev->real_num_rx_queues);
		return -ERANGE;
	}

	return 0;
}

/* flags are those of IFLA_XDP_FLAGS in their meaning */
static int xdp_rxq_check_flags(const struct xdp_rxq_req *req,
			       const struct bpf_prog *cur,
			       struct netlink_ext_ack *extack)
{
	if (req->flags & NETDEV_QUEUE_XDP_FLAGS_REPLACE &&
	    xdp_rxq_prog_id(cur) != req->expected_id) {
		NL_SET_ERR_MSG_FMT(extack, "queue %u has program %u, not %u",
				   req->rxq, xdp_rxq_prog_id(cur),
				   req->expected_id);
		return -EEXIST;
	}

	if (req->flags & NETDEV_QUEUE_XDP_FLAGS_IF_NOEXIST && req->prog && cur) {
		NL_SET_ERR_MSG_FMT(extack, "queue %u has program %u already",
				   req->rxq, xdp_rxq_prog_id(cur));
		return -EBUSY;
	}

	return 0;
}

static int xdp_rxq_check_prog(const struct bpf_prog *prog,
			      struct netlink_ext_ack *extack)
{
	if (bpf_prog_is_dev_bound(prog->aux)) {
		NL_SET_ERR_MSG(extack, "program is bound to a device");
		return -EINVAL;
	}

	if (prog->expected_attach_type == BPF_XDP_DEVMAP ||
	    prog->expected_attach_type == BPF_XDP_CPUMAP) {
		NL_SET_ERR_MSG(extack, "program is made for entries of a map");
		return -EINVAL;
	}

	return 0;
}

/* What else runs on the device or uses the queue. AF_XDP sockets do not
 * matter: they get what the queue's program redirects to them.
 */
static int xdp_rxq_check_neighbours(struct net_device *dev,
				    const struct xdp_rxq_req *req,
				    struct netlink_ext_ack *extack)
{
	struct net_device *upper;
	struct list_head *iter;

	if (dev_xdp_prog_id(dev, XDP_MODE_SKB)) {
		NL_SET_ERR_MSG(extack, "device has a generic XDP program");
		return -EEXIST;
	}

	netdev_for_each_upper_dev_rcu(dev, upper, iter) {
		if (!dev_xdp_prog_count(upper))
			continue;
		NL_SET_ERR_MSG_FMT(extack, "%s above has an XDP program",
				   upper->name);
		return -EEXIST;
	}

	if (netif_rxq_is_leased(dev, req->rxq)) {
		NL_SET_ERR_MSG_FMT(extack, "queue %u is leased", req->rxq);
		return -EBUSY;
	}

	if (dev_get_min_mp_channel_count(dev)) {
		NL_SET_ERR_MSG(extack, "device has a memory provider");
		return -EBUSY;
	}

	if (dev->cfg->hds_config == ETHTOOL_TCP_DATA_SPLIT_ENABLED &&
	    !req->prog->aux->xdp_has_frags) {
		NL_SET_ERR_MSG(extack, "program without frags: tcp-data-split is on");
		return -EBUSY;
	}

	return 0;
}

/* Stores, then calls, so that the driver may work from the setting alone. */
static int xdp_rxq_install(struct net_device *dev, unsigned int rxq,
			   struct bpf_prog *prog,
			   struct netlink_ext_ack *extack)
{
	struct netdev_rx_queue *queue = __netif_get_rx_queue(dev, rxq);
	struct bpf_prog *old = queue->xdp_prog;
	int err;

	xdp_rxq_assert_writable(dev);

	queue->xdp_prog = prog;
	err = dev->netdev_ops->ndo_xdp_rxq_set(dev, rxq, prog, extack);
	if (err) {
		queue->xdp_prog = old;
		return err;
	}

	if (prog)
		bpf_prog_inc(prog);
	bpf_prog_change_xdp(old, prog);
	if (old)
		bpf_prog_put(old);

	return 0;
}

/**
 * xdp_rxq_uninstall - take the programs of all receive queues away
 * @dev: network device that is being unregistered
 *
 * Context: rtnl_lock and the lock around @dev's ndos are held, the device is
 * closed.
 */
void xdp_rxq_uninstall(struct net_device *dev)
{
	unsigned int i;

	for (i = 0; i < dev->num_rx_queues; i++)
		if (xdp_rxq_has_prog(dev, i))
			WARN_ON(xdp_rxq_install(dev, i, NULL, NULL));
}

static int xdp_rxq_set(struct net_device *dev, const struct xdp_rxq_req *req,
		       struct netlink_ext_ack *extack)
{
	struct bpf_prog *cur;
	int err;

	err = xdp_rxq_check_queue(dev, req, extack);
	if (err)
		return err;

	cur = xdp_rxq_prog(dev, req->rxq, NULL);
	err = xdp_rxq_check_flags(req, cur, extack);
	if (err)
		return err;

	if (req->prog == cur)
		return 0;

	if (req->prog) {
		err = xdp_rxq_check_prog(req->prog, extack);
		if (!err)
			err = xdp_rxq_check_neighbours(dev, req, extack);
		if (err)
			return err;
	}

	err = xdp_rxq_install(dev, req->rxq, req->prog, extack);
	if (!err)
		netdev_genl_queue_notify(dev, req->rxq);

	return err;
}

static int xdp_rxq_parse_flags(const struct genl_info *info,
			       struct xdp_rxq_req *req)
{
	struct nlattr *expected = info->attrs[NETDEV_A_QUEUE_XDP_EXPECTED_ID];
	struct nlattr *flags = info->attrs[NETDEV_A_QUEUE_XDP_FLAGS];

	if (flags)
		req->flags = nla_get_u32(flags);
	if (expected)
		req->expected_id = nla_get_u32(expected);

	if (req->flags & NETDEV_QUEUE_XDP_FLAGS_REPLACE &&
	    req->flags & NETDEV_QUEUE_XDP_FLAGS_IF_NOEXIST) {
		NL_SET_ERR_MSG_ATTR(info->extack, flags,
				    "replace and if-noexist exclude each other");
		return -EINVAL;
	}

	if (!!expected != !!(req->flags & NETDEV_QUEUE_XDP_FLAGS_REPLACE)) {
		GENL_SET_ERR_MSG(info,
				 "xdp-expected-id and replace need each other");
		return -EINVAL;
	}

	return 0;
}

static int xdp_rxq_parse_prog(const struct genl_info *info,
			      struct xdp_rxq_req *req)
{
	struct nlattr *attr = info->attrs[NETDEV_A_QUEUE_XDP_FD];
	struct bpf_prog *prog;
	int fd;

	fd = nla_get_s32(attr);
	if (fd == -1)
		return 0;

	/* bound programs too: they are refused by name later */
	prog = bpf_prog_get_type_dev(fd, BPF_PROG_TYPE_XDP, true);
	if (PTR_ERR_OR_ZERO(prog) == -EBADF)
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "no such file descriptor");
	else if (IS_ERR(prog))
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "file descriptor is not of an XDP program");
	if (IS_ERR(prog))
		return PTR_ERR(prog);

	req->prog = prog;

	return 0;
}

/* On success the caller has a reference to req->prog to put. */
static int xdp_rxq_parse(const struct genl_info *info, struct xdp_rxq_req *req)
{
	struct nlattr **tb = info->attrs;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, NETDEV_A_QUEUE_IFINDEX) ||
	    GENL_REQ_ATTR_CHECK(info, NETDEV_A_QUEUE_TYPE) ||
	    GENL_REQ_ATTR_CHECK(info, NETDEV_A_QUEUE_ID) ||
	    GENL_REQ_ATTR_CHECK(info, NETDEV_A_QUEUE_XDP_FD))
		return -EINVAL;

	if (nla_get_u32(tb[NETDEV_A_QUEUE_TYPE]) != NETDEV_QUEUE_TYPE_RX) {
		NL_SET_ERR_MSG_ATTR(info->extack, tb[NETDEV_A_QUEUE_TYPE],
				    "only receive queues run programs");
		return -EINVAL;
	}

	req->ifindex = nla_get_u32(tb[NETDEV_A_QUEUE_IFINDEX]);
	req->rxq = nla_get_u32(tb[NETDEV_A_QUEUE_ID]);

	err = xdp_rxq_parse_flags(info, req);
	if (err)
		return err;

	return xdp_rxq_parse_prog(info, req);
}

static int xdp_rxq_set_locked(const struct genl_info *info,
			      const struct xdp_rxq_req *req)
{
	struct net_device *dev;
	int err;

	ASSERT_RTNL();

	dev = __dev_get_by_index(genl_info_net(info), req->ifindex);
	if (!dev || !netif_device_present(dev)) {
		NL_SET_ERR_MSG_ATTR(info->extack,
				    info->attrs[NETDEV_A_QUEUE_IFINDEX],
				    "no such device");
		return -ENODEV;
	}

	netdev_lock_ops(dev);
	err = xdp_rxq_set(dev, req, info->extack);
	netdev_unlock_ops(dev);

	return err;
}

/* NETDEV_CMD_QUEUE_SET */
int netdev_nl_queue_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct xdp_rxq_req req = {};
	int err;

	err = xdp_rxq_parse(info, &req);
	if (err)
		return err;

	rtnl_lock();
	err = xdp_rxq_set_locked(info, &req);
	rtnl_unlock();

	if (req.prog)
		bpf_prog_put(req.prog);

	return err;
}
