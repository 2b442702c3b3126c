/* SPDX-License-Identifier: GPL-2.0 */
/* A port's cable to another program: see peer.c. */
#ifndef CX3_PEER_H
#define CX3_PEER_H

#include <poll.h>

#include "card.h"

struct peer;

/* spec: PORT=dgram:LOCAL,REMOTE or PORT=stream:PATH or PORT=listen:PATH */
struct peer *peer_new(struct card *card, const char *spec, const char **why);
void peer_free(struct peer *peer);
void peer_poll(const struct peer *peer, struct pollfd *pfd);
void peer_run(struct peer *peer);

#endif
