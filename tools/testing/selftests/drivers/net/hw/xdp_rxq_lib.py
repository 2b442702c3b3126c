# SPDX-License-Identifier: GPL-2.0

"""
A program per receive queue: queue-set, and what a test needs around it.
"""

import ctypes
import os
import platform
import time

from lib.py import NetdevFamily, NlError
from lib.py import bpftool, cmd, defer
from lib.py import ksft_eq, ksft_in, ksft_raises

PIN_DIR = "/sys/fs/bpf/xdp_rxq"

BPF_PROG_LOAD = 5
BPF_OBJ_GET = 7
BPF_LINK_CREATE = 28
BPF_PROG_TYPE_XDP = 6
BPF_F_XDP_DEV_BOUND_ONLY = 1 << 6
BPF_XDP = 37
# r0 = XDP_PASS; exit
PASS = bytes((0xb7, 0, 0, 0, 2, 0, 0, 0, 0x95, 0, 0, 0, 0, 0, 0, 0))
SYS_BPF = {"x86_64": 321, "aarch64": 280, "riscv64": 280, "s390x": 351, "ppc64le": 361}


class _ObjGet(ctypes.Structure):
    _fields_ = [("pathname", ctypes.c_uint64), ("bpf_fd", ctypes.c_uint32),
                ("file_flags", ctypes.c_uint32)]


class _ProgLoad(ctypes.Structure):
    _fields_ = [("prog_type", ctypes.c_uint32), ("insn_cnt", ctypes.c_uint32),
                ("insns", ctypes.c_uint64), ("license", ctypes.c_uint64),
                ("log_level", ctypes.c_uint32), ("log_size", ctypes.c_uint32),
                ("log_buf", ctypes.c_uint64), ("kern_version", ctypes.c_uint32),
                ("prog_flags", ctypes.c_uint32), ("prog_name", ctypes.c_char * 16),
                ("prog_ifindex", ctypes.c_uint32), ("expected_attach_type", ctypes.c_uint32)]


class _LinkCreate(ctypes.Structure):
    _fields_ = [("prog_fd", ctypes.c_uint32), ("target_ifindex", ctypes.c_uint32),
                ("attach_type", ctypes.c_uint32), ("flags", ctypes.c_uint32)]


def _bpf(command, attr):
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.syscall(SYS_BPF[platform.machine()], command, ctypes.byref(attr),
                      ctypes.sizeof(attr))
    if fd < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return fd


def open_program(name):
    """A file descriptor of a pinned program; the caller closes it."""
    path = ctypes.create_string_buffer(f"{PIN_DIR}/{name}".encode())
    return _bpf(BPF_OBJ_GET, _ObjGet(pathname=ctypes.addressof(path)))


def load_for_device(ifindex, offload):
    """A file descriptor of a program that is bound to a device, or offloaded to it."""
    insns = ctypes.create_string_buffer(PASS, len(PASS))
    gpl = ctypes.create_string_buffer(b"GPL")
    return _bpf(BPF_PROG_LOAD, _ProgLoad(
        prog_type=BPF_PROG_TYPE_XDP, insn_cnt=len(PASS) // 8, insns=ctypes.addressof(insns),
        license=ctypes.addressof(gpl), prog_ifindex=ifindex, prog_name=b"for_device",
        prog_flags=0 if offload else BPF_F_XDP_DEV_BOUND_ONLY, expected_attach_type=BPF_XDP))


def link_device(name, ifindex):
    """A BPF link of a pinned program to a device."""
    prog = open_program(name)
    try:
        return _bpf(BPF_LINK_CREATE, _LinkCreate(prog_fd=prog, target_ifindex=ifindex,
                                                 attach_type=BPF_XDP))
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
    """Waits until of the programs here the kernel holds these: they go late."""
    deadline = time.monotonic() + 10
    while (held := _held()) != sorted(names) and time.monotonic() < deadline:
        time.sleep(0.05)
    ksft_eq(held, sorted(names), comment="programs that the kernel holds")


def _held():
    return sorted(p["name"] for p in bpftool("prog show", json=True)
                  if p["type"] == "xdp" and p.get("name", "").startswith("mark_"))


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
