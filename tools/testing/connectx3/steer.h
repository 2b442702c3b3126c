/* SPDX-License-Identifier: GPL-2.0 */
/* Where a frame goes: see steer.c and dmfs.c. */
#ifndef CX3_STEER_H
#define CX3_STEER_H

#include "card.h"
#include "packet.h"

#define MAX_COPIES	4

/* QPs that get a copy. Returns how many; 0: the filters do not want the frame. */
unsigned int steer(struct card *card, unsigned int port, const u8 *frame,
		   const struct headers *h, u32 *qpns);
unsigned int dmfs_steer(struct card *card, unsigned int port, const u8 *frame,
			const struct headers *h, u32 *qpns);
void dmfs_free_all(struct card *card);

#endif
