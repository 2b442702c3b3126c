#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0

"""
Attaching, replacing and detaching XDP programs under traffic.

The remote end sends numbered datagrams (seqstream.c). The programs
(xdp_attach.bpf.c) act on these alone: they mark them, drop them or send them
back, so that what arrives tells which program each datagram met.
"""

import re
import tempfile

from lib.py import ksft_disruptive, ksft_eq, ksft_exit, ksft_ge, ksft_gt, ksft_lt, ksft_run
from lib.py import ksft_variants, KsftNamedVariant, KsftSkipEx, NetDrvEpEnv
from lib.py import bkg, cmd, defer, ip, wait_file
from seqstream import PIN_DIR, Stream, attach, attach_and_settle, carrier_changes, detach
from seqstream import expect_unharmed, load_programs, numbered_stream, queue_packets, send
from seqstream import require_zerocopy, send_and_get_back, send_and_receive, stats, steer, unsteer

CYCLES = 200


def _queue_stat(counters, name):
    """One XDP counter per queue, under the names that the drivers have."""
    pattern = re.compile(rf"(?:rx_queue_|rx)(\d+)_xdp_{name}$")
    found = {int(m[1]): v for k, v in counters.items() if (m := pattern.match(k))}
    if not found:
        raise KeyError(f"no counter per queue for {name}")
    return [found[q] for q in sorted(found)]


def _receive_one(cfg):
    """The mark of one datagram sent now."""
    return send_and_receive(cfg, 1, 200)["runs"]


def attach_keeps_link(cfg):
    """The carrier does not change, whatever is done to the program."""
    load_programs(cfg, "xdp_attach.bpf.o")
    before = carrier_changes(cfg)
    attach(cfg, "mark_a")
    ksft_eq(carrier_changes(cfg), before, comment="attach")
    attach(cfg, "mark_b")
    ksft_eq(carrier_changes(cfg), before, comment="replace")
    detach(cfg)
    ksft_eq(carrier_changes(cfg), before, comment="detach")
    detach(cfg)
    ksft_eq(carrier_changes(cfg), before, comment="detach without a program")


def attach_loses_nothing(cfg):
    """A stream arrives whole and in order across many changes of the program."""
    load_programs(cfg, "xdp_attach.bpf.o")
    before = carrier_changes(cfg)
    with tempfile.NamedTemporaryFile("w", suffix=".batch") as batch:
        for _ in range(CYCLES):
            for what in (f"pinned {PIN_DIR}/mark_a", f"pinned {PIN_DIR}/mark_b", "off"):
                batch.write(f"link set dev {cfg.ifname} xdp {what}\n")
        batch.flush()
        with Stream(cfg, rate=4000) as stream:
            cmd(f"ip -force -batch {batch.name}", timeout=300)
    expect_unharmed(stream.report, stream.sent)
    ksft_eq(carrier_changes(cfg), before, comment="carrier changes")
    ksft_gt(len(stream.report["runs"]), CYCLES, comment="the stream met the programs")
    ksft_lt(len(stream.report["runs"]), 3 * CYCLES + 2,
            comment="no frame met a program that was gone")


def new_program_at_once(cfg):
    """Once the call has returned the next frame meets the new program."""
    load_programs(cfg, "xdp_attach.bpf.o")
    for prog, mark in (("mark_a", "A"), ("mark_b", "B"), ("mark_a", "A"), (None, "0")) * 3:
        if prog:
            attach(cfg, prog)
        else:
            detach(cfg)
        ksft_eq(_receive_one(cfg), mark, comment=f"{prog or 'no program'}")


@ksft_variants([
    KsftNamedVariant("drop", "drop", "drop"),
    KsftNamedVariant("pass", "mark_a", "pass"),
    KsftNamedVariant("aborted", "aborted", "aborted"),
    KsftNamedVariant("unknown", "unknown_action", "aborted"),
    KsftNamedVariant("tx", "tx", "tx"),
    KsftNamedVariant("redirect", "redirect", "redirect"),
    KsftNamedVariant("redirect_fail", "redirect_nowhere", "redirect_fail"),
])
def counts(cfg, prog, counter):
    """Each frame counts once, for its queue and the device, as what became of it."""
    count = 1000
    others = {"pass", "drop", "tx", "tx_full", "redirect", "redirect_fail", "aborted"} - {counter, "pass"}
    load_programs(cfg, "xdp_attach.bpf.o")
    attach_and_settle(cfg, prog)
    before = stats(cfg)
    send(cfg, count)
    after = stats(cfg)

    per_queue = [b - a for a, b in zip(_queue_stat(before, counter), _queue_stat(after, counter))]
    device = after[f"rx_xdp_{counter}"] - before[f"rx_xdp_{counter}"]
    # other frames, neighbour discovery for one, may pass meanwhile
    check = ksft_ge if counter == "pass" else ksft_eq
    check(device, count, comment="device")
    ksft_eq(sum(per_queue), device, comment="sum of the queues")
    for other in sorted(others):
        ksft_eq(after[f"rx_xdp_{other}"], before[f"rx_xdp_{other}"], comment=other)


def counts_on_the_right_queue(cfg):
    """A frame counts on the queue it came in on."""
    queues = len(_queue_stat(stats(cfg), "drop"))
    if queues < 2:
        raise KsftSkipEx("one receive queue")
    load_programs(cfg, "xdp_attach.bpf.o")
    attach_and_settle(cfg, "drop")
    defer(unsteer, cfg)
    for queue in range(queues):
        steer(cfg, queue, queues)
        before = _queue_stat(stats(cfg), "drop")
        send(cfg, 100)
        after = _queue_stat(stats(cfg), "drop")
        ksft_eq([b - a for a, b in zip(before, after)],
                [100 if q == queue else 0 for q in range(queues)])


@ksft_variants(["tx", "redirect"])
def sends_back(cfg, prog):
    """What a program sends out of the port it came in on arrives, whole."""
    load_programs(cfg, "xdp_attach.bpf.o")
    attach_and_settle(cfg, prog)
    expect_unharmed(send_and_get_back(cfg, 2000), 2000)


@ksft_disruptive
def attach_beside_af_xdp(cfg):
    """A queue with a zero-copy socket restarts, its neighbour loses nothing."""
    require_zerocopy(cfg)
    queues = len(queue_packets(cfg))
    if queues < 2:
        raise KsftSkipEx("one receive queue")
    load_programs(cfg, "xdp_attach.bpf.o")
    defer(unsteer, cfg)
    steer(cfg, 0, queues)
    before = carrier_changes(cfg)
    with bkg(f"{cfg.net_lib_dir / 'xdp_helper'} {cfg.ifindex} 1 -z", ksft_wait=3):
        with Stream(cfg, rate=2000) as stream:
            for _ in range(10):
                attach(cfg, "mark_a")
                detach(cfg)
    expect_unharmed(stream.report, stream.sent)
    ksft_eq(carrier_changes(cfg), before, comment="carrier changes")


@ksft_disruptive
def down_and_up_keeps_program(cfg):
    """A program attached while the interface is down runs once it is up."""
    load_programs(cfg, "xdp_attach.bpf.o")
    defer(ip, f"link set dev {cfg.ifname} up")
    ip(f"link set dev {cfg.ifname} down")
    attach(cfg, "mark_b")
    ip(f"link set dev {cfg.ifname} up")
    wait_file(f"/sys/class/net/{cfg.ifname}/carrier", lambda x: x.strip() == "1")
    ksft_eq(_receive_one(cfg), "B")


def main() -> None:
    with NetDrvEpEnv(__file__, nsim_test=False) as cfg, numbered_stream(cfg):
        ksft_run([attach_keeps_link, attach_loses_nothing, new_program_at_once,
                  counts, counts_on_the_right_queue, sends_back,
                  attach_beside_af_xdp, down_and_up_keeps_program],
                 args=(cfg, ))
    ksft_exit()


if __name__ == "__main__":
    main()
