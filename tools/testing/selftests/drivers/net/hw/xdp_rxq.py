#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0

"""
A program per receive queue, under traffic that is steered to the queues.

The remote end sends numbered datagrams (seqstream.c), the table of RSS puts
them all on one queue (ethtool -X), and the mark that a program leaves in them
tells which program that queue has run.
"""

import errno
import itertools
import os
import random

from lib.py import ksft_disruptive, ksft_eq, ksft_exit, ksft_gt, ksft_in, ksft_raises, ksft_run
from lib.py import ksft_variants, CmdExitFailure, KsftSkipEx, NetDrvEpEnv
from lib.py import bkg, cmd, defer, ethtool, ip
from seqstream import Stream, carrier_changes, channels, expect_unharmed, numbered_stream
from seqstream import queue_packets, require_zerocopy, send_and_get_back, send_and_receive
from seqstream import set_channels, settle, steer, unsteer, wait_link
from xdp_rxq_lib import PIN_DIR, Queues, link_device, load_programs

MARKS = {None: "0", "mark_a": "A", "mark_b": "B", "mark_c": "C"}


def _prepare(cfg):
    """Programs loaded; the device as it was after the test."""
    cfg.queues = Queues(cfg.ifindex)
    cfg.nr_queues, _ = channels(cfg)
    if cfg.nr_queues < 2:
        raise KsftSkipEx("one receive queue")
    # the test before may have left the port with a reset on its way
    settle(cfg)
    load_programs(cfg.test_dir)
    defer(ip, f"link set dev {cfg.ifname} xdp off")
    defer(cfg.queues.clear)
    defer(unsteer, cfg)


def _attach(cfg, name):
    what = f"pinned {PIN_DIR}/{name}" if name else "off"
    ip(f"-force link set dev {cfg.ifname} xdp {what}")


def _met(cfg, queue):
    """The marks of datagrams that come in on one queue now."""
    steer(cfg, queue, cfg.nr_queues)
    return send_and_receive(cfg, 2, 200)["runs"]


def runs_on_its_queue_only(cfg):
    """Each queue with its own program: each one runs its own."""
    _prepare(cfg)
    queues = range(cfg.nr_queues)
    names = ["mark_a", "mark_b", "mark_c", "mark_d_frags"]
    cfg.queues.set(1, "mark_c")
    ksft_eq([_met(cfg, q) for q in queues], ["C" if q == 1 else "0" for q in queues])
    for queue in queues:
        cfg.queues.set(queue, names[queue % 4])
    ksft_eq([_met(cfg, q) for q in queues], ["ABCD"[q % 4] for q in queues])
    cfg.queues.set(1, None)
    ksft_eq([_met(cfg, q) for q in queues], ["0" if q == 1 else "ABCD"[q % 4] for q in queues])


def _walk(states):
    """From each state to each other one, every way once."""
    ways = {state: [s for s in states if s != state] for state in states}
    path, trail = [], [states[0]]
    while trail:
        if ways[trail[-1]]:
            trail.append(ways[trail[-1]].pop())
        else:
            path.append(trail.pop())
    return itertools.pairwise(reversed(path))


def _change(cfg, old, new, device_first):
    """Both levels from one state to another; returns how many of them differ."""
    changes = []
    if new[0] != old[0]:
        changes.append((_attach, cfg, new[0]))
    if new[1] != old[1]:
        changes.append((cfg.queues.set, 1, new[1]))
    for change, *args in changes if device_first else reversed(changes):
        change(*args)
    return len(changes)


def two_levels(cfg):
    """Device none, A or B and queue none or C, in each order of changes."""
    _prepare(cfg)
    states = list(itertools.product((None, "mark_a", "mark_b"), (None, "mark_c")))
    for device_first in (True, False):
        for old, new in _walk(states):
            # steering restarts the rings of some drivers
            before = carrier_changes(cfg)
            if _change(cfg, old, new, device_first) == 1 and not device_first:
                continue        # seen the first time round
            comment = f"{old} to {new}, device first: {device_first}"
            ksft_eq(carrier_changes(cfg), before, comment=f"carrier changes, {comment}")
            dev_prog, queue_prog = new
            ksft_eq(_met(cfg, 1), MARKS[queue_prog or dev_prog], comment=comment)
            ksft_eq(_met(cfg, 0), MARKS[dev_prog], comment=f"the other queue, {comment}")


def link_on_the_device(cfg):
    """A BPF link is a program of the device as any other."""
    _prepare(cfg)
    cfg.queues.set(1, "mark_c")
    link = link_device("mark_a", cfg.ifindex)
    ksft_eq([_met(cfg, q) for q in range(2)], ["A", "C"])
    cfg.queues.set(1, None)
    ksft_eq([_met(cfg, q) for q in range(2)], ["A", "A"])
    cfg.queues.set(1, "mark_c")
    os.close(link)
    ksft_eq([_met(cfg, q) for q in range(2)], ["0", "C"])


@ksft_variants(["0", "1"])
def changes_lose_nothing(cfg, queue):
    """A stream arrives whole and in order while the queues' programs change."""
    _prepare(cfg)
    steer(cfg, int(queue), cfg.nr_queues)
    before = carrier_changes(cfg)
    with Stream(cfg, rate=2000) as stream:
        for _ in range(30):
            for name in ("mark_c", "mark_d_frags", None):
                cfg.queues.set(1, name)
            _attach(cfg, "mark_a")
            for name in ("mark_c", None):
                cfg.queues.set(1, name)
            _attach(cfg, None)
    expect_unharmed(stream.report, stream.sent)
    ksft_eq(carrier_changes(cfg), before, comment="carrier changes")
    ksft_in("A", stream.report["runs"])
    if queue == "1":
        ksft_gt(stream.report["runs"].count("C"), 30, comment="runs of the queue's program")
    else:
        ksft_eq(stream.report["runs"].count("C"), 0, comment="another queue's program")


def _queue_of_echo(cfg):
    """The queue for the flow of send_and_get_back(), which has a port of its own."""
    before = queue_packets(cfg)
    send_and_get_back(cfg, 10)
    came = [new - old for old, new in zip(before, queue_packets(cfg))]
    return came.index(max(came))


@ksft_variants(["tx", "redirect"])
def sends_back(cfg, name):
    """A queue's program sends, on a device that has none."""
    _prepare(cfg)
    cfg.queues.set(_queue_of_echo(cfg), name)
    expect_unharmed(send_and_get_back(cfg, 1000), 1000)


def redirect_target(cfg):
    """A device is a target of redirects as long as a queue has a program."""
    _prepare(cfg)

    def target():
        features = cfg.queues.nl.dev_get({"ifindex": cfg.ifindex})["xdp-features"]
        return "ndo-xmit" in features

    before = target()
    cfg.queues.set(1, "mark_c")
    ksft_eq(target(), True)
    _attach(cfg, "mark_a")
    cfg.queues.set(1, None)
    ksft_eq(target(), True)
    cfg.queues.set(0, "mark_c")
    _attach(cfg, None)
    ksft_eq(target(), True)
    cfg.queues.set(0, None)
    ksft_eq(target(), before)


def fewer_channels(cfg):
    """A queue that has a program stays."""
    _prepare(cfg)
    cfg.queues.set(cfg.nr_queues - 1, "mark_c")
    with ksft_raises(CmdExitFailure) as cm:
        set_channels(cfg, cfg.nr_queues - 1)
    ksft_in(f"receive queue {cfg.nr_queues - 1} has an XDP program", str(cm.exception))
    ksft_eq(_met(cfg, cfg.nr_queues - 1), "C")


def _limit(cfg):
    return ip(f"-d link show dev {cfg.ifname}", json=True)[0]["max_mtu"]


@ksft_disruptive
def mtu(cfg):
    """The queues' programs and the device's each limit the MTU."""
    _prepare(cfg)
    without = _limit(cfg)
    defer(wait_link, cfg)
    defer(ip, f"link set dev {cfg.ifname} mtu 1500")
    cfg.queues.set(1, "mark_c")
    limit = _limit(cfg)
    ksft_gt(without, limit)
    with ksft_raises(CmdExitFailure):
        ip(f"link set dev {cfg.ifname} mtu {limit + 1}")
    _attach(cfg, "mark_a")
    cfg.queues.set(1, "mark_d_frags")
    ksft_eq(_limit(cfg), limit)
    _attach(cfg, None)
    ksft_eq(_limit(cfg), without)
    ip(f"link set dev {cfg.ifname} mtu {limit + 1}")
    cfg.queues.refused(errno.EINVAL, f"program without frags: MTU is {limit + 1}, may be {limit}",
                       1, "mark_c")
    settle(cfg)
    ksft_eq(_met(cfg, 1), "D")


@ksft_variants(["down_up", "rings", "reset", "offload"])
@ksft_disruptive
def stays(cfg, what):
    """What sets the queues up again leaves them their programs."""
    _prepare(cfg)
    _attach(cfg, "mark_a")
    cfg.queues.set(1, "mark_c")
    if what == "down_up":
        ip(f"link set dev {cfg.ifname} down")
        cfg.queues.set(0, "mark_b")
        ip(f"link set dev {cfg.ifname} up")
    elif what == "rings":
        rings = ethtool(f"-g {cfg.ifname}", json=True)[0]
        defer(ethtool, f"-G {cfg.ifname} rx {rings['rx']}")
        ethtool(f"-G {cfg.ifname} rx {rings['rx'] // 2}")
    elif what == "reset":
        if cmd(f"ethtool -r {cfg.ifname}", fail=False).ret:
            raise KsftSkipEx("no ethtool -r")
    else:
        defer(ethtool, f"-K {cfg.ifname} rxvlan on")
        ethtool(f"-K {cfg.ifname} rxvlan off")
    settle(cfg)
    ksft_eq([_met(cfg, q) for q in range(2)], ["B" if what == "down_up" else "A", "C"])


@ksft_disruptive
def beside_af_xdp(cfg):
    """Changes on a queue that has a zero-copy socket, or beside one."""
    _prepare(cfg)
    require_zerocopy(cfg)
    steer(cfg, 0, cfg.nr_queues)
    before = carrier_changes(cfg)
    with bkg(f"{cfg.net_lib_dir / 'xdp_helper'} {cfg.ifindex} 1 -z", ksft_wait=3):
        with Stream(cfg, rate=2000) as stream:
            for _ in range(5):
                cfg.queues.set(1, "mark_c")
                cfg.queues.set(0, "mark_a")
                _attach(cfg, "mark_b")
                cfg.queues.set(1, None)
                cfg.queues.set(0, None)
                _attach(cfg, None)
    expect_unharmed(stream.report, stream.sent)
    ksft_eq(carrier_changes(cfg), before, comment="carrier changes")
    ksft_in("A", stream.report["runs"])
    # the socket is gone, and the queue is as good as new
    cfg.queues.set(1, "mark_c")
    ksft_eq(_met(cfg, 1), "C")


def _bond(cfg):
    """A bond that has the device as its port, and with it the addresses."""
    ip("link add name bondrxq type bond mode active-backup")
    defer(wait_link, cfg)
    defer(ip, f"link set dev {cfg.ifname} up")
    defer(ip, "link del dev bondrxq")
    ip(f"link set dev {cfg.ifname} down")
    ip(f"link set dev {cfg.ifname} master bondrxq")
    ip("link set dev bondrxq up")


@ksft_disruptive
def bond_above(cfg):
    """The bond's program excludes those of its ports' queues, and the reverse."""
    _prepare(cfg)
    _bond(cfg)
    bond = ip("link show dev bondrxq", json=True)[0]["ifindex"]
    features = cfg.queues.nl.dev_get({"ifindex": bond})["xdp-features"]
    ksft_eq("rxq-prog" in features, False)
    ip(f"link set dev bondrxq xdpdrv pinned {PIN_DIR}/mark_a")
    cfg.queues.refused(errno.EEXIST, "bondrxq above has an XDP program", 1, "mark_c")
    ip("link set dev bondrxq xdpdrv off")
    cfg.queues.set(1, "mark_c")
    with ksft_raises(CmdExitFailure) as cm:
        ip(f"link set dev bondrxq xdpdrv pinned {PIN_DIR}/mark_a")
    ksft_in("Slave has XDP program loaded", str(cm.exception))


def random_operations(cfg):
    """Both levels at random while frames come in on all queues."""
    _prepare(cfg)
    names = (None, "mark_a", "mark_b", "mark_c", "mark_d_frags")
    seed = random.randrange(1 << 30)
    rng = random.Random(seed)
    with Stream(cfg, rate=1000) as stream:
        for _ in range(300):
            if rng.random() < 0.25:
                _attach(cfg, rng.choice(names))
            else:
                cfg.queues.set(rng.randrange(cfg.nr_queues), rng.choice(names))
    ksft_eq(stream.sent - stream.report["received"], 0, comment=f"datagrams lost, seed {seed}")
    cfg.queues.clear()
    _attach(cfg, "mark_b")
    ksft_eq([_met(cfg, q) for q in range(2)], ["B", "B"], comment=f"seed {seed}")
    ksft_eq([cfg.queues.own(q) for q in range(2)], [None, None])


def main() -> None:
    with NetDrvEpEnv(__file__, nsim_test=False) as cfg, numbered_stream(cfg):
        ksft_run([runs_on_its_queue_only, two_levels, link_on_the_device, changes_lose_nothing,
                  sends_back, redirect_target, fewer_channels, mtu, stays, beside_af_xdp,
                  random_operations, bond_above],
                 args=(cfg, ))
    ksft_exit()


if __name__ == "__main__":
    main()
