#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0

"""
A flow that ethtool -N puts on a queue meets the program of this queue, and
nothing else does: the recipe of Documentation/networking/xdp-rxq-prog.rst.
"""

import re

from lib.py import ksft_eq, ksft_exit, ksft_run, ksft_true, KsftSkipEx, NetDrvEpEnv
from lib.py import cmd, defer, ethtool, ip
from seqstream import PORT, channels, expect_unharmed, numbered_stream
from seqstream import send_and_receive, set_rss_table, unsteer
from xdp_rxq_lib import PIN_DIR, Queues, load_programs

COUNT = 200


def _prepare(cfg):
    """Programs loaded, and RSS on the lower half of the queues."""
    queues, _ = channels(cfg)
    if queues < 2:
        raise KsftSkipEx("one receive queue")
    load_programs(cfg.test_dir)
    programs = Queues(cfg.ifindex)
    defer(ip, f"link set dev {cfg.ifname} xdp off")
    defer(programs.clear)
    defer(unsteer, cfg)
    ksft_true(set_rss_table(cfg, f"equal {queues // 2}"), comment="ethtool -X equal")
    return programs, queues


def _filter(cfg, queue):
    """Puts the stream of datagrams on a queue; returns what takes that back."""
    added = cmd(f"ethtool -N {cfg.ifname} flow-type udp4 dst-port {PORT} action {queue}", fail=False)
    if added.ret:
        raise KsftSkipEx("no filters for flows")
    rule = re.search(r"ID (\d+)", added.stdout)[1]
    return defer(ethtool, f"-N {cfg.ifname} delete {rule}")


def _met(cfg):
    """The marks of datagrams, all of which must be there."""
    report = send_and_receive(cfg, COUNT, 200)
    expect_unharmed(report, COUNT)
    return report["runs"]


def filtered_flow(cfg):
    """Each queue that RSS leaves out runs its program on the flow put there."""
    programs, queues = _prepare(cfg)
    ip(f"link set dev {cfg.ifname} xdp pinned {PIN_DIR}/mark_a")
    for queue in range(queues // 2, queues):
        rule = _filter(cfg, queue)
        programs.set(queue, "mark_c")
        ksft_eq(_met(cfg), "C", comment=f"queue {queue}")
        programs.set(queue, None)
        ksft_eq(_met(cfg), "A", comment=f"queue {queue}, the device's program")
        programs.set(queue, "mark_c")
        rule.exec()
        ksft_eq(_met(cfg), "A", comment=f"queue {queue}, no filter")
        programs.set(queue, None)


def _over_ipv4(cfg):
    """mlx4 has filters for IPv4 alone."""
    cfg.addr_ipver = "4"
    cfg.addr, cfg.remote_addr = cfg.addr_v["4"], cfg.remote_addr_v["4"]


def main() -> None:
    with NetDrvEpEnv(__file__, nsim_test=False) as cfg:
        if cfg.addr_v["4"]:
            _over_ipv4(cfg)
        with numbered_stream(cfg):
            ksft_run([filtered_flow], args=(cfg, ))
    ksft_exit()


if __name__ == "__main__":
    main()
