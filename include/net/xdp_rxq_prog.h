/* SPDX-License-Identifier: GPL-2.0 */
/* An XDP program per receive queue: what a driver asks the core. */

#ifndef _NET_XDP_RXQ_PROG_H
#define _NET_XDP_RXQ_PROG_H

#include <linux/types.h>

struct bpf_prog;
struct net_device;

struct bpf_prog *xdp_rxq_prog(struct net_device *dev, unsigned int rxq,
			      struct bpf_prog *dev_prog);
bool xdp_rxq_any_prog(struct net_device *dev);
bool xdp_rxq_any_sb_prog(struct net_device *dev);

/* the core's own */
bool xdp_rxq_has_prog(struct net_device *dev, unsigned int rxq);
void xdp_rxq_uninstall(struct net_device *dev);

#endif /* _NET_XDP_RXQ_PROG_H */
