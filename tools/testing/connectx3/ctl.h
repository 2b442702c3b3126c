/* SPDX-License-Identifier: GPL-2.0 */
/* The control socket: see ctl.c. */
#ifndef CX3_CTL_H
#define CX3_CTL_H

#include <poll.h>

#include "card.h"

#define CTL_CLIENTS	4
#define CTL_POLLS	(CTL_CLIENTS + 1)

struct ctl;

struct ctl *ctl_new(struct card *card, int listen_fd);
void ctl_free(struct ctl *ctl);
void ctl_poll(const struct ctl *ctl, struct pollfd *pfds);	/* CTL_POLLS of them */
void ctl_run(struct ctl *ctl, const struct pollfd *pfds);

#endif
