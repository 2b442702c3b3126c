#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0

"""
No allocation that fails costs a device its program, its setup or its life.

Each change is made again and again while the first, the second, the third ...
allocation in it fails (failnth.c), until all have. After each the device is as
it was, or as it was to be where the call says so, and datagrams come through
the program. Filling the rings takes hundreds of pages: after the first EACH
allocations some are left out, unless SOAK is set in the environment.
"""

import os

from lib.py import ksft_disruptive, ksft_eq, ksft_exit, ksft_gt, ksft_in, ksft_pr, ksft_run
from lib.py import ksft_variants, KsftNamedVariant, KsftSkipEx, NetDrvEpEnv
from lib.py import cmd, defer, ethtool, ip
from seqstream import PIN_DIR, attach, channels, expect_unharmed, load_programs
from seqstream import numbered_stream, program_id, send_and_receive, settle, write_file

DEBUGFS = "/sys/kernel/debug"
COUNT = 20
EACH = 24


def _let_allocations_fail():
    """All of them, those that may sleep too, and without a word."""
    for kind in ("failslab", "fail_page_alloc"):
        if not os.path.isdir(f"{DEBUGFS}/{kind}"):
            raise KsftSkipEx("no fault injection in this kernel")
        for name, value in (("ignore-gfp-wait", "N"), ("verbose", "0")):
            write_file(f"{DEBUGFS}/{kind}/{name}", value)
    write_file(f"{DEBUGFS}/fail_page_alloc/ignore-gfp-highmem", "N")
    write_file(f"{DEBUGFS}/fail_page_alloc/min-order", "0")


def _call(cfg, nth, what):
    """(errno, whether an allocation has failed) of one call."""
    said = cmd(f"{cfg.test_dir / 'failnth'} {nth} {what}", timeout=60).stdout.split()
    return int(said[1]), said[2] == "failed"


def _expect_alive(cfg, comment):
    """Datagrams come through a program that marks them."""
    settle(cfg)
    report = send_and_receive(cfg, COUNT, 200)
    expect_unharmed(report, COUNT)
    ksft_in(report["runs"], ("A", "B"), comment=comment)


def _numbers():
    """1, 2, 3 ..., then in longer and longer steps."""
    nth = 1
    while True:
        yield nth
        nth += 1 if os.environ.get("SOAK") else max(1, nth // EACH * EACH // 4)


def _walk(cfg, change, undo, state):
    """Lets each allocation of the change fail, one after the other."""
    old = state()
    failed = 0
    for nth in _numbers():
        errno, injected = _call(cfg, nth, change)
        where = f"{change}: allocation {nth}, errno {errno}"
        if errno > 0:
            ksft_eq(state(), old, comment=where)
        _expect_alive(cfg, where)
        if not injected:
            ksft_eq(errno, 0, comment=where)
            break
        failed += 1
        if state() != old:
            ksft_eq(_call(cfg, 0, undo)[0], 0, comment=f"back after {where}")
    _call(cfg, 0, undo)
    ksft_pr(f"{change}: {failed} allocations failed")
    ksft_gt(failed, 0)


def _setup(cfg):
    """All that a failed call must not change."""
    link = ip(f"-d link show dev {cfg.ifname}", json=True)[0]
    rings = ethtool(f"-g {cfg.ifname}", json=True)[0]
    return {"mtu": link["mtu"], "program": program_id(cfg), "flags": "UP" in link["flags"],
            "rings": (rings["rx"], rings["tx"]),
            "channels": channels(cfg),
            "rx-all": ethtool(f"-k {cfg.ifname}", json=True)[0].get("rx-all", {}).get("active")}


def _mtu(cfg):
    mtu = cfg.dev["mtu"]
    return f"mtu {cfg.ifname} {mtu + 200}", f"mtu {cfg.ifname} {mtu}"


def _channels(cfg):
    now, _ = channels(cfg)
    if not now or now < 2:
        raise KsftSkipEx("one channel")
    return f"channels {cfg.ifname} 1", f"channels {cfg.ifname} {now}"


def _rings(cfg):
    now = ethtool(f"-g {cfg.ifname}", json=True)[0]
    return f"rings {cfg.ifname} 512 512", f"rings {cfg.ifname} {now['rx']} {now['tx']}"


def _feature(cfg):
    return f"feature {cfg.ifname} rx-all 1", f"feature {cfg.ifname} rx-all 0"


def _attach(cfg):
    return f"xdp {cfg.ifname} {PIN_DIR}/mark_b", f"xdp {cfg.ifname} {PIN_DIR}/mark_a"


@ksft_variants([KsftNamedVariant(f.__name__.strip("_"), f)
                for f in (_attach, _mtu, _rings, _feature, _channels)])
@ksft_disruptive
def failed_allocation(cfg, change):
    """Whatever fails, the device is as before or as asked for, and runs."""
    _let_allocations_fail()
    load_programs(cfg, "xdp_frags.bpf.o")
    attach(cfg, "mark_a")
    do, undo = change(cfg)
    defer(_call, cfg, 0, undo)
    _walk(cfg, do, undo, lambda: _setup(cfg))


def main() -> None:
    with NetDrvEpEnv(__file__, nsim_test=False) as cfg, numbered_stream(cfg):
        ksft_run([failed_allocation], args=(cfg, ))
    ksft_exit()


if __name__ == "__main__":
    main()
