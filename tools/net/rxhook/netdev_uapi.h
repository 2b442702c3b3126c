/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers of the netdev family that <linux/netdev.h> of the machine may not
 * have yet; they are those of Documentation/netlink/specs/netdev.yaml.
 */
#ifndef NETDEV_UAPI_H
#define NETDEV_UAPI_H

#define FAMILY_NAME		"netdev"
#define FAMILY_VERSION		1

#define CMD_DEV_GET		1
#define CMD_QUEUE_GET		10
#define CMD_QUEUE_SET		17

#define ATTR_QUEUE_ID		1
#define ATTR_QUEUE_IFINDEX	2
#define ATTR_QUEUE_TYPE		3
#define ATTR_QUEUE_XSK		7
#define ATTR_QUEUE_XDP_FD	9
#define ATTR_QUEUE_XDP_FLAGS	10
#define ATTR_QUEUE_XDP_ID	12
#define ATTR_QUEUE_MAX		12

#define QUEUE_TYPE_RX		0

#define XDP_IF_NOEXIST		1

#endif
