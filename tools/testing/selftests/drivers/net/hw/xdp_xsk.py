#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0

"""
AF_XDP sockets get whole frames, and those that they have no room for wait.

The remote end sends numbered datagrams, and a program redirects them to a
socket on queue 0.
"""

import struct
import time

from lib.py import ksft_disruptive, ksft_eq, ksft_exit, ksft_ge, ksft_lt, ksft_run
from lib.py import ksft_variants, KsftNamedVariant, NetDrvEpEnv
from lib.py import cmd, defer, ip
from seqstream import HEADERS, attach, carrier_changes, channels, load_programs, numbered_stream
from seqstream import require_zerocopy, send, settle, stats, steer, unsteer
from xsk_socket import COPY, NEED_WAKEUP, ZEROCOPY, XskSocket

PIN_DIR = "/sys/fs/bpf/xdp_xsk"
COUNT = 200


def _prepare(cfg, flags):
    """Everything to queue 0, and the program there."""
    if flags & ZEROCOPY:
        require_zerocopy(cfg)
    load_programs(cfg, "xdp_xsk.bpf.o", maps=PIN_DIR)
    queues, _ = channels(cfg)
    if queues > 1:
        defer(unsteer, cfg)
        steer(cfg, 0, queues)
    attach(cfg, "to_socket")


def _socket(cfg, flags, **size):
    xsk = XskSocket(cfg.ifname, flags, f"pinned {PIN_DIR}/sockets", **size)
    defer(xsk.close)
    # a queue that changes its buffers may lose what comes in meanwhile
    settle(cfg)
    return xsk


def _numbers(cfg, frames, size):
    """The numbers of datagrams that are there whole."""
    headers = HEADERS[cfg.addr_ipver]
    return [struct.unpack_from(">Q", frame, headers)[0] for frame in frames
            if len(frame) == headers + size]


def _collect(xsk, count):
    """The frames that come until there are as many, or no more for a second."""
    frames, last = [], time.monotonic()
    while len(frames) < count and time.monotonic() - last < 1:
        new = xsk.frames()
        if new:
            xsk.wake_driver()
            frames, last = frames + new, time.monotonic()
        time.sleep(0.01)
    return frames


@ksft_variants([KsftNamedVariant("copy", COPY), KsftNamedVariant("zerocopy", ZEROCOPY)])
def receives_frames(cfg, flags):
    """Each datagram is in the socket once, in order."""
    _prepare(cfg, flags)
    xsk = _socket(cfg, flags)
    send(cfg, COUNT, 200, rate=2000)
    ksft_eq(_numbers(cfg, _collect(xsk, COUNT), 200), list(range(COUNT)))


def frames_wait_for_room(cfg):
    """More frames than the socket has room for wait until they are taken."""
    _prepare(cfg, ZEROCOPY)
    xsk = _socket(cfg, ZEROCOPY | NEED_WAKEUP, entries=64)
    before = stats(cfg).get("rx_xdp_redirect_fail", 0)
    send(cfg, COUNT, 200, rate=2000)
    ksft_eq(_numbers(cfg, _collect(xsk, COUNT), 200), list(range(COUNT)))
    ksft_eq(stats(cfg).get("rx_xdp_redirect_fail", 0) - before, 0, comment="counted as failed")


@ksft_variants(["200", "1000", "1400"])
def whole_frames_in_small_chunks(cfg, size):
    """A frame of any size that the MTU allows is in one chunk of 2 KiB."""
    _prepare(cfg, ZEROCOPY)
    xsk = _socket(cfg, ZEROCOPY, chunk=2048)
    send(cfg, COUNT, int(size), rate=2000)
    frames = _collect(xsk, COUNT)
    ksft_eq({len(frame) for frame in frames}, {HEADERS[cfg.addr_ipver] + int(size)})
    ksft_eq(_numbers(cfg, frames, int(size)), list(range(COUNT)))


@ksft_disruptive
def too_long_for_a_chunk(cfg):
    """What is longer than the chunk is not received, and harms nothing."""
    _prepare(cfg, ZEROCOPY)
    defer(ip, f"link set dev {cfg.remote_ifname} mtu {cfg.dev['mtu']}", host=cfg.remote)
    ip(f"link set dev {cfg.remote_ifname} mtu 9000", host=cfg.remote)
    xsk = _socket(cfg, ZEROCOPY, chunk=2048)
    links = carrier_changes(cfg)
    send(cfg, 20, 4000, rate=500)
    ksft_eq(len(_collect(xsk, 1)), 0, comment="pieces of long frames")
    send(cfg, COUNT, 200, rate=2000)
    ksft_eq(_numbers(cfg, _collect(xsk, COUNT), 200), list(range(COUNT)))
    ksft_eq(carrier_changes(cfg), links, comment="carrier changes")


@ksft_disruptive
def mtu_keeps_to_the_chunk(cfg):
    """No MTU beyond what a chunk holds: the largest is told, and works."""
    _prepare(cfg, ZEROCOPY)
    _socket(cfg, ZEROCOPY, chunk=2048)
    most = ip(f"-d link show dev {cfg.ifname}", json=True)[0]["max_mtu"]
    ksft_ge(most, 1500)
    ksft_lt(most, 2048)
    defer(ip, f"link set dev {cfg.ifname} mtu {cfg.dev['mtu']}")
    refused = cmd(f"ip link set dev {cfg.ifname} mtu {most + 1}", fail=False)
    ksft_eq(refused.ret != 0, True, comment=f"MTU {most + 1}")
    ip(f"link set dev {cfg.ifname} mtu {most}")


def main() -> None:
    with NetDrvEpEnv(__file__, nsim_test=False) as cfg, numbered_stream(cfg):
        ksft_run([receives_frames, frames_wait_for_room, whole_frames_in_small_chunks,
                  too_long_for_a_chunk, mtu_keeps_to_the_chunk], args=(cfg, ))
    ksft_exit()


if __name__ == "__main__":
    main()
