#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0

"""
XDP on frames of every size up to the largest MTU, in one buffer and in several.

Numbered datagrams with a payload that follows from their number are sent in
sizes around every place where a frame may need another buffer, the sizes in
turn. What arrives, in a socket here or back at the sender, must be what was
sent.
"""

from lib.py import ksft_disruptive, ksft_eq, ksft_exit, ksft_in, ksft_run
from lib.py import ksft_variants, KsftNamedVariant, KsftSkipEx, NetDrvEpEnv
from lib.py import cmd, defer, ip
from seqstream import HEADERS, PIN_DIR, attach, detach, expect_unharmed, load_programs
from seqstream import numbered_stream, send, send_and_get_back, send_and_receive, settle, stats

MTU = 9000
COUNT = 20
# frame lengths, without FCS, of which drivers put the last byte in a buffer
BOUNDARIES = (2048, 3072, 3520, 6144, 7040, 7168)


def _sizes(cfg):
    """Payload sizes: shortest, longest, and those that just fit and just do not."""
    headers = HEADERS[cfg.addr_ipver]
    frames = [60, MTU + 14] + [b + d for b in BOUNDARIES for d in (0, 1)]
    return sorted({max(f - headers, 9) for f in frames})


def _jumbo(cfg):
    """Both ends at the large MTU; skips where the driver has none with XDP."""
    for ifname, host in ((cfg.ifname, None), (cfg.remote_ifname, cfg.remote)):
        defer(ip, f"link set dev {ifname} mtu {cfg.dev['mtu']}", host=host)
        ip(f"link set dev {ifname} mtu {MTU}", host=host)
    settle(cfg)
    load_programs(cfg, "xdp_frags.bpf.o")


@ksft_variants([KsftNamedVariant("no_program", None, "0"), KsftNamedVariant("pass", "mark_a", "A")])
@ksft_disruptive
def arrives_whole(cfg, prog, mark):
    """Frames of every size reach the socket as they were sent."""
    _jumbo(cfg)
    if prog:
        attach(cfg, prog)
    sizes = _sizes(cfg)
    report = send_and_receive(cfg, COUNT * len(sizes), sizes)
    expect_unharmed(report, COUNT * len(sizes))
    ksft_eq(report["runs"], mark)


@ksft_variants(["tx", "redirect"])
@ksft_disruptive
def comes_back_whole(cfg, prog):
    """Frames of every size that a program sends out again arrive as they were sent."""
    _jumbo(cfg)
    attach(cfg, prog)
    sizes = _sizes(cfg)
    expect_unharmed(send_and_get_back(cfg, COUNT * len(sizes), sizes, rate=1000), COUNT * len(sizes))


@ksft_disruptive
def drops_whole(cfg):
    """A frame in several buffers is one frame to the program and to its counter."""
    _jumbo(cfg)
    attach(cfg, "drop")
    for size in _sizes(cfg):
        before = stats(cfg)["rx_xdp_drop"]
        send(cfg, COUNT, size, rate=1000)
        after = stats(cfg)["rx_xdp_drop"]
        ksft_eq(after - before, COUNT, comment=f"{size} bytes")


@ksft_disruptive
def single_buffer_program_is_refused(cfg):
    """A program without frags does not get an MTU it cannot see, in either order."""
    _jumbo(cfg)
    refused = cmd(f"ip link set dev {cfg.ifname} xdp pinned {PIN_DIR}/single", fail=False)
    ksft_eq(refused.ret != 0, True, comment="attach at a large MTU")
    ksft_in("MTU", refused.stderr)
    limit = int(refused.stderr.split("may be")[1].split()[0].rstrip("."))

    ip(f"link set dev {cfg.ifname} mtu {limit}")
    attach(cfg, "single")
    ksft_eq(ip(f"-d link show dev {cfg.ifname}", json=True)[0]["max_mtu"], limit)
    refused = cmd(f"ip link set dev {cfg.ifname} mtu {limit + 1}", fail=False)
    ksft_eq(refused.ret != 0, True, comment="larger MTU under the program")
    settle(cfg)
    expect_unharmed(send_and_receive(cfg, COUNT, limit - HEADERS[cfg.addr_ipver] + 14), COUNT)

    detach(cfg)
    ip(f"link set dev {cfg.ifname} mtu {MTU}")


def main() -> None:
    with NetDrvEpEnv(__file__, nsim_test=False) as cfg:
        if ip(f"-d link show dev {cfg.ifname}", json=True)[0]["max_mtu"] < MTU:
            raise KsftSkipEx(f"no MTU {MTU}")
        with numbered_stream(cfg):
            ksft_run([arrives_whole, comes_back_whole, drops_whole, single_buffer_program_is_refused],
                     args=(cfg, ))
    ksft_exit()


if __name__ == "__main__":
    main()
