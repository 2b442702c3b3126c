#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0

"""
A receive buffer is as it was, whatever a program has done to the frame in it.

Programs (xdp_headroom.bpf.c) move the ends of numbered datagrams. A program that
comes after them must find as much room in front of each frame as one before.
"""

from lib.py import ksft_eq, ksft_exit, ksft_ge, ksft_run
from lib.py import ksft_variants, NetDrvEpEnv
from lib.py import bpf_map_dump, bpf_prog_map_ids, defer, ethtool
from seqstream import HEADERS, attach_and_settle, expect_unharmed, load_programs
from seqstream import numbered_stream, program_id, send, send_and_receive

ETH_HLEN = 14
RING = 256
ROUNDS = 4

# what the map has, in the order of xdp_headroom.bpf.c
FRAMES, LEAST, MOST = range(3)


def _short_ring(cfg):
    """So that each buffer is used soon again."""
    rx = ethtool(f"-g {cfg.ifname}", json=True)[0]["rx"]
    defer(ethtool, f"-G {cfg.ifname} rx {rx}")
    ethtool(f"-G {cfg.ifname} rx {RING}")


def _rooms(cfg):
    """The least and the most room in front of frames, in every buffer of a ring."""
    attach_and_settle(cfg, "probe")
    rooms = bpf_prog_map_ids(program_id(cfg))["rooms"]
    seen = bpf_map_dump(rooms)[FRAMES]
    send(cfg, 2 * RING, rate=4000)
    found = bpf_map_dump(rooms)
    ksft_ge(found[FRAMES] - seen, 2 * RING, comment="frames met the program")
    return found[LEAST], found[MOST]


@ksft_variants(["shift_drop", "shift_aborted", "shift_redirect_nowhere"])
def buffer_stays_where_it_was(cfg, prog):
    """A program that moves the head of frames that go no further moves no buffer."""
    _short_ring(cfg)
    load_programs(cfg, "xdp_headroom.bpf.o")
    before = _rooms(cfg)
    attach_and_settle(cfg, prog)
    # few enough that a buffer which wanders does not leave its page
    send(cfg, ROUNDS * RING, rate=4000)
    ksft_eq(_rooms(cfg), before, comment="room in front of a frame, least and most")


def longer_than_received(cfg):
    """A program can make the longest frame longer and pass it."""
    load_programs(cfg, "xdp_headroom.bpf.o")
    attach_and_settle(cfg, "grow_pass")
    size = cfg.dev["mtu"] + ETH_HLEN - HEADERS[cfg.addr_ipver]
    expect_unharmed(send_and_receive(cfg, 1000, size), 1000)


def main() -> None:
    with NetDrvEpEnv(__file__, nsim_test=False) as cfg, numbered_stream(cfg):
        ksft_run([buffer_stays_where_it_was, longer_than_received], args=(cfg, ))
    ksft_exit()


if __name__ == "__main__":
    main()
