# SPDX-License-Identifier: GPL-2.0

"""
A program per receive queue: queue-set, and what a test needs around it.
"""

import os
import time

from lib.py import NetdevFamily, NlError
from lib.py import bpftool, cmd, defer
from lib.py import ksft_eq, ksft_in, ksft_raises
from bpf_sys import BPF_F_XDP_DEV_BOUND_ONLY, link_xdp, load_xdp, open_pinned

PIN_DIR = "/sys/fs/bpf/xdp_rxq"

# r0 = XDP_PASS; exit
PASS = bytes((0xb7, 0, 0, 0, 2, 0, 0, 0, 0x95, 0, 0, 0, 0, 0, 0, 0))


def open_program(name):
    """A file descriptor of a pinned program; the caller closes it."""
    return open_pinned(f"{PIN_DIR}/{name}")


def load_for_device(ifindex, offload):
    """A file descriptor of a program that is bound to a device, or offloaded to it."""
    return load_xdp(PASS, "for_device", 0 if offload else BPF_F_XDP_DEV_BOUND_ONLY, ifindex)


def link_device(name, ifindex):
    """A BPF link of a pinned program to a device."""
    prog = open_program(name)
    try:
        return link_xdp(prog, ifindex)
    finally:
        os.close(prog)


def load_programs(test_dir):
    """All of xdp_attach.bpf.c and xdp_rxq.bpf.c, pinned until the test ends."""
    defer(cmd, f"rm -rf {PIN_DIR}")
    for obj in ("xdp_attach.bpf.o", "xdp_rxq.bpf.o"):
        bpftool(f"prog loadall {test_dir / obj} {PIN_DIR}")


def program_id(name):
    return bpftool(f"prog show pinned {PIN_DIR}/{name}", json=True)["id"]


def wait_programs(names):
    """Waits until these are all XDP programs that the kernel holds: they go late."""
    deadline = time.monotonic() + 10
    while (held := _held()) != sorted(names) and time.monotonic() < deadline:
        time.sleep(0.05)
    ksft_eq(held, sorted(names), comment="programs that the kernel holds")


def _held():
    return sorted(p.get("name", "") for p in bpftool("prog show", json=True) if p["type"] == "xdp")


class Queues:
    """The receive queues of one device."""

    def __init__(self, ifindex, nl=None):
        self.ifindex = ifindex
        self.nl = nl or NetdevFamily()

    def set_fd(self, queue, fd, **attrs):
        """queue-set as it is; attributes with _ in the place of -."""
        self.nl.queue_set({"ifindex": self.ifindex, "type": "rx", "id": queue, "xdp-fd": fd,
                           **{k.replace("_", "-"): v for k, v in attrs.items()}})

    def set(self, queue, name, **attrs):
        """Gives a queue a pinned program, or takes its own away."""
        if name is None:
            self.set_fd(queue, -1, **attrs)
            return
        fd = open_program(name)
        try:
            self.set_fd(queue, fd, **attrs)
        finally:
            os.close(fd)

    def own(self, queue):
        """ID of a queue's own program, or None."""
        reply = self.nl.queue_get({"ifindex": self.ifindex, "type": "rx", "id": queue})
        return reply.get("xdp-id")

    def clear(self):
        """Takes the programs of all queues away."""
        for queue in self.nl.queue_get({"ifindex": self.ifindex}, dump=True):
            if "xdp-id" in queue:
                self.set(queue["id"], None)

    def refused(self, error, text, queue, name, **attrs):
        """queue-set fails with an error and a text, and changes nothing."""
        before = self.nl.queue_get({"ifindex": self.ifindex}, dump=True)
        with ksft_raises(NlError) as cm:
            if isinstance(name, int):
                self.set_fd(queue, name, **attrs)
            else:
                self.set(queue, name, **attrs)
        if cm.exception:
            expect_error(cm.exception, error, text)
        ksft_eq(self.nl.queue_get({"ifindex": self.ifindex}, dump=True), before)


def expect_error(exception, error, text):
    ksft_eq(os.strerror(exception.error), os.strerror(error))
    ksft_in(text, (exception.nl_msg.extack or {}).get("msg", ""))
