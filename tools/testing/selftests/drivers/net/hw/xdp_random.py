#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0

"""
Random programs on frames of random sizes, against a model of what must come out.

The remote end sends frames of a type that no stack takes. Each program moves
their ends, then passes, drops or sends them on; packet sockets at both ends see
what came of it. It goes on for 30 seconds, or as many as SOAK is in the
environment; SEED repeats a run.
"""

import os
import random
import select
import socket
import struct
import time

from lib.py import ksft_disruptive, ksft_eq, ksft_exit, ksft_gt, ksft_run
from lib.py import ksft_variants, KsftSkipEx, NetDrvEpEnv, NetNSEnter
from lib.py import defer, ip
from bpf_sys import BPF_F_XDP_HAS_FRAGS, link_xdp, load_xdp
from seqstream import wait_link
from xdp_moves import ETH_HLEN, ETH_P_TEST, XDP_DROP, XDP_PASS, XDP_REDIRECT, XDP_TX
from xdp_moves import random_program

ETH_P_FENCE = 0x88b6    # passes every program: what was sent before has been received
FRAMES = 12
SHORTEST = 124
# what programs may make a frame longer by
MARGIN = 256
# frame lengths around which drivers take one buffer more
BOUNDARIES = (1514, 2048, 3072, 3520, 6144, 7040, 7168)


def _mac(text):
    return bytes.fromhex(text.replace(":", ""))


def _packet_socket(ifname, proto):
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(proto))
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
    sock.bind((ifname, proto))
    sock.setblocking(False)
    defer(sock.close)
    return sock


class Wire:
    """The sockets at both ends, and the headers that frames have on their way."""

    def __init__(self, cfg):
        if not os.path.exists(f"/run/netns/{cfg.remote.name}"):
            raise KsftSkipEx("the remote end is not in a namespace here")
        self.near = _packet_socket(cfg.ifname, ETH_P_TEST)
        self.near_fence = _packet_socket(cfg.ifname, ETH_P_FENCE)
        with NetNSEnter(cfg.remote.name):
            self.far = _packet_socket(cfg.remote_ifname, ETH_P_TEST)
        near = _mac(cfg.dev["address"])
        remote = ip(f"link show dev {cfg.remote_ifname}", json=True, host=cfg.remote)[0]
        far = _mac(remote["address"])
        self._there = near + far
        self.headers = {action: (near + far if action in (XDP_PASS, XDP_DROP) else far + near)
                        + struct.pack(">H", ETH_P_TEST)
                        for action in (XDP_DROP, XDP_PASS, XDP_TX, XDP_REDIRECT)}

    def frame(self, payload, proto=ETH_P_TEST):
        """A frame from the far end to the near one."""
        return self._there + struct.pack(">H", proto) + payload

    def send(self, frames):
        """Sends from the far end; returns when all have been received."""
        for frame in [*frames, self.frame(bytes(46), ETH_P_FENCE)]:
            self.far.send(frame)
        return bool(receive(self.near_fence, 1, 10))


def receive(sock, count, seconds):
    """Frames that come, until there are as many or the time is over."""
    got, end = [], time.monotonic() + seconds
    while len(got) < count and select.select([sock], [], [], max(end - time.monotonic(), 0))[0]:
        got.append(sock.recv(1 << 16))
    return got


def _frames(rng, wire, most):
    """Frames of random sizes, and of those where another buffer begins."""
    sizes = [rng.randrange(SHORTEST, most + 1) for _ in range(FRAMES // 2)]
    sizes += [min(max(rng.choice(BOUNDARIES) + rng.randrange(-4, 5), SHORTEST), most)
              for _ in range(FRAMES - len(sizes))]
    return [wire.frame(rng.randbytes(size - ETH_HLEN)) for size in sizes]


def _compare(program, frames, got):
    """Nothing but what must come out, in order; frames that may be missing may."""
    got = list(got)
    for frame in frames:
        if got and program.matches(frame, got[0]):
            got.pop(0)
        elif not program.grows:
            return f"a frame of {len(frame)} bytes is not there"
    return f"{len(got)} frames that nobody sent" if got else ""


def _check(wire, program, frames):
    """Sends frames to an attached program; returns what is wrong."""
    if not wire.send(frames):
        return "the frame after all others has not come"
    near = receive(wire.near, FRAMES, 0)
    if program.action in (XDP_TX, XDP_REDIRECT):
        far = receive(wire.far, FRAMES, 0.3 if program.grows else 3)
        return _compare(program, frames, far) or (near and "frames went to the stack")
    far = receive(wire.far, FRAMES, 0)
    if program.action == XDP_PASS:
        return _compare(program, frames, near) or (far and "frames came back")
    return (near or far) and "dropped frames are there"


def _run_one(cfg, rng, wire, most):
    """One random program; returns what it was and what is wrong."""
    program = random_program(rng, wire.headers, cfg.ifindex)
    fd = load_xdp(program.code(), "random", BPF_F_XDP_HAS_FRAGS)
    try:
        link = link_xdp(fd, cfg.ifindex)
    finally:
        os.close(fd)
    try:
        return program, _check(wire, program, _frames(rng, wire, most))
    finally:
        os.close(link)


@ksft_variants(["1500", "9000"])
@ksft_disruptive
def comes_out_as_modelled(cfg, mtu):
    """Each frame is where it must be, with the bytes that it must have."""
    for ifname, host in ((cfg.ifname, None), (cfg.remote_ifname, cfg.remote)):
        defer(ip, f"link set dev {ifname} mtu {cfg.dev['mtu']}", host=host)
        ip(f"link set dev {ifname} mtu {mtu}", host=host)
    wait_link(cfg)
    wire = Wire(cfg)
    seed = int(os.environ.get("SEED") or random.randrange(1 << 30))
    rng = random.Random(seed)
    end = time.monotonic() + float(os.environ.get("SOAK") or 30)
    programs = 0
    while time.monotonic() < end:
        program, wrong = _run_one(cfg, rng, wire, int(mtu) + ETH_HLEN - MARGIN)
        programs += 1
        ksft_eq(wrong or "", "", comment=f"seed {seed}, program {programs}: {program}")
        if wrong:
            return
    ksft_gt(programs, 0)
    print(f"# {programs} programs, {programs * FRAMES} frames, seed {seed}")


def main() -> None:
    with NetDrvEpEnv(__file__, nsim_test=False) as cfg:
        ksft_run([comes_out_as_modelled], args=(cfg, ))
    ksft_exit()


if __name__ == "__main__":
    main()
