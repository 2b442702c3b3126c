#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0

"""
An attached XDP program stays, and runs on every queue, whatever is reconfigured.

After each change numbered datagrams (seqstream.c) must come through the
program, whole and in order, and the program must be the same one.
"""

import os
import struct
import time

from lib.py import ksft_disruptive, ksft_eq, ksft_exit, ksft_ge, ksft_run
from lib.py import ksft_variants, KsftNamedVariant, KsftSkipEx, NetDrvEpEnv
from lib.py import cmd, defer, ethtool, ip, wait_file
from seqstream import attach, channels, detach, driver_name, expect_unharmed, load_programs
from seqstream import numbered_stream, program_id, queue_packets, read_file
from seqstream import send_and_receive, set_channels, settle, steer, unsteer, write_file

COUNT = 100
# drivers that come back from these with a new device, which has no program
NEW_DEVICE = ("mlx4_core",)
PM_TEST = "/sys/power/pm_test"
# a bit of the Uncorrectable Error Status register that is not fatal
POISONED_TLP = 1 << 12


def _pci(cfg):
    """The sysfs folder of the card's PCI function."""
    path = f"/sys/class/net/{cfg.ifname}/device"
    if not os.path.exists(f"{path}/vendor"):
        raise KsftSkipEx("not a PCI device")
    return os.path.realpath(path)


def _skip_new_device(cfg):
    if driver_name(cfg) in NEW_DEVICE:
        raise KsftSkipEx(f"{driver_name(cfg)} makes new devices, of both ports")


def _expect_on_queue(cfg, mark, what, queue):
    """Datagrams that come in on one queue meet the program."""
    before = queue_packets(cfg)[queue]
    report = send_and_receive(cfg, COUNT, 200)
    expect_unharmed(report, COUNT)
    ksft_eq(report["runs"], mark, comment=f"{what}, queue {queue}")
    ksft_ge(queue_packets(cfg)[queue] - before, COUNT, comment=f"{what}, came in on queue {queue}")


def _queues(cfg):
    """Receive queues that the RSS table reaches."""
    vfs = f"/sys/class/net/{cfg.ifname}/device/sriov_numvfs"
    if os.path.exists(vfs) and int(read_file(vfs)):
        # the card sorts by address then, and this function's frames go to its first queue
        return 1
    return channels(cfg)[0]


def _expect_program(cfg, mark, what):
    """Datagrams meet the program on every queue."""
    settle(cfg)
    queues = _queues(cfg)
    for queue in range(queues):
        if queues > 1:
            steer(cfg, queue, queues)
        _expect_on_queue(cfg, mark, what, queue)
    if queues > 1:
        unsteer(cfg)


def _change_mtu(cfg):
    ip(f"link set dev {cfg.ifname} mtu {cfg.dev['mtu'] + 200}")
    yield "larger MTU"
    ip(f"link set dev {cfg.ifname} mtu {cfg.dev['mtu']}")
    yield "MTU as before"


def _change_channels(cfg):
    now, most = channels(cfg)
    if not most or most < 2:
        raise KsftSkipEx("one channel")
    defer(set_channels, cfg, now)
    for count in (1, most):
        if count != channels(cfg)[0]:
            set_channels(cfg, count)
        yield f"{count} channels"


def _change_rings(cfg):
    rings = ethtool(f"-g {cfg.ifname}", json=True)[0]
    defer(ethtool, f"-G {cfg.ifname} rx {rings['rx']} tx {rings['tx']}")
    for rx, tx in ((256, 256), (rings["rx-max"], 128)):
        ethtool(f"-G {cfg.ifname} rx {rx} tx {tx}")
        yield f"{rx} receive and {tx} transmit descriptors"


def _change_features(cfg):
    features = ethtool(f"-k {cfg.ifname}", json=True)[0]
    for name, state in sorted(features.items()):
        if not isinstance(state, dict) or state["fixed"] or not name.startswith(("rx-", "ntuple")):
            continue
        on, off = ("on", "off") if state["active"] else ("off", "on")
        defer(cmd, f"ethtool -K {cfg.ifname} {name} {on}", fail=False)
        for value in (off, on):
            # one that follows another feature does not change alone
            if not cmd(f"ethtool -K {cfg.ifname} {name} {value}", fail=False).ret:
                yield f"{name} {value}"


def _run_selftest(cfg):
    cmd(f"ethtool -t {cfg.ifname} offline", fail=False, timeout=60)
    yield "ethtool -t"


def _set_promiscuous(cfg):
    for value in ("on", "off"):
        ip(f"link set dev {cfg.ifname} promisc {value}")
        yield f"promiscuous {value}"


def _set_down_and_up(cfg):
    ip(f"link set dev {cfg.ifname} down")
    ip(f"link set dev {cfg.ifname} up")
    yield "down and up"


def _make_virtual_functions(cfg):
    path = f"{_pci(cfg)}/sriov_numvfs"
    if not os.path.exists(path):
        raise KsftSkipEx("no SR-IOV")
    defer(write_file, path, "0")
    for count in (2, 0):
        write_file(path, str(count))
        yield f"{count} virtual functions"


def _reset_function(cfg):
    _skip_new_device(cfg)
    path = f"{_pci(cfg)}/reset"
    if not os.path.exists(path):
        raise KsftSkipEx("no PCI reset")
    write_file(path, "1")
    yield "PCI reset"


def _inject_error(cfg, status):
    """An uncorrectable error of PCI Express, as the port above reports it."""
    if not os.path.exists("/dev/aer_inject"):
        raise KsftSkipEx("no /dev/aer_inject")
    domain, bus, devfn = os.path.basename(_pci(cfg)).split(":")
    dev, fn = devfn.split(".")
    # struct aer_error_inj of the kernel's injector
    error = struct.pack("=BBBxIIIIIII", int(bus, 16), int(dev, 16), int(fn, 16),
                        status, 0, 0, 0, 0, 0, int(domain, 16))
    try:
        with open("/dev/aer_inject", "wb", buffering=0) as f:
            f.write(error)
    except OSError as exc:
        raise KsftSkipEx("no Advanced Error Reporting") from exc
    time.sleep(3)


def _report_error(cfg):
    """Not a fatal one: then the port resets its link, which not each port can."""
    _skip_new_device(cfg)
    _inject_error(cfg, POISONED_TLP)
    yield "PCI error"


def _suspend(cfg):
    _skip_new_device(cfg)
    if not os.path.exists(PM_TEST):
        raise KsftSkipEx("no suspend test")
    if cmd("findmnt -n -o FSTYPE /").stdout.strip() == "9p":
        raise KsftSkipEx("the root file system would not survive it")
    defer(write_file, PM_TEST, "none")
    write_file(PM_TEST, "devices")
    write_file("/sys/power/state", "freeze")
    yield "suspend and resume"


@ksft_variants([KsftNamedVariant(change.__name__.strip("_"), change) for change in (
    _change_mtu, _change_channels, _change_rings, _change_features, _run_selftest,
    _set_promiscuous, _set_down_and_up, _make_virtual_functions, _reset_function,
    _report_error, _suspend)])
@ksft_disruptive
def program_stays(cfg, change):
    """The program is there and runs after each step of the change."""
    load_programs(cfg, "xdp_frags.bpf.o")
    attach(cfg, "mark_a")
    program = program_id(cfg)
    for what in change(cfg):
        ksft_eq(program_id(cfg), program, comment=what)
        _expect_program(cfg, "A", what)
    attach(cfg, "mark_b")
    _expect_program(cfg, "B", "another program")
    detach(cfg)
    _expect_program(cfg, "0", "no program")


@ksft_disruptive
def unbind_drops_program(cfg):
    """A driver that goes takes its program along, and comes back without one."""
    _skip_new_device(cfg)
    path = _pci(cfg)
    driver, slot = os.path.realpath(f"{path}/driver"), os.path.basename(path)
    prefix = {"4": 24, "6": 64}
    addrs = [f"{cfg.addr_v[v]}/{prefix[v]}" for v in ("4", "6") if cfg.addr_v[v]]
    load_programs(cfg, "xdp_frags.bpf.o")
    attach(cfg, "mark_a")

    write_file(f"{driver}/unbind", slot)
    write_file(f"{driver}/bind", slot)

    wait_file(f"/sys/class/net/{cfg.ifname}/operstate", lambda _: True)
    ksft_eq(program_id(cfg), None)
    for addr in addrs:
        ip(f"addr add {addr} dev {cfg.ifname}{' nodad' if ':' in addr else ''}")
    ip(f"link set dev {cfg.ifname} up")
    _expect_program(cfg, "0", "bound again")
    attach(cfg, "mark_a")
    _expect_program(cfg, "A", "attached again")


def main() -> None:
    with NetDrvEpEnv(__file__, nsim_test=False) as cfg, numbered_stream(cfg):
        ksft_run([program_stays, unbind_drops_program], args=(cfg, ))
    ksft_exit()


if __name__ == "__main__":
    main()
