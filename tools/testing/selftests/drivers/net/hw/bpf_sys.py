# SPDX-License-Identifier: GPL-2.0

"""
bpf(2), as far as tests need it that bpftool and ip cannot do.

Each function returns a file descriptor, which the caller closes, or raises
OSError.
"""

import ctypes
import os
import platform

BPF_PROG_LOAD = 5
BPF_OBJ_GET = 7
BPF_LINK_CREATE = 28
BPF_PROG_TYPE_XDP = 6
BPF_F_XDP_HAS_FRAGS = 1 << 5
BPF_F_XDP_DEV_BOUND_ONLY = 1 << 6
BPF_XDP = 37
INSN_SIZE = 8
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


def open_pinned(path):
    """A program that is pinned."""
    path = ctypes.create_string_buffer(path.encode())
    return _bpf(BPF_OBJ_GET, _ObjGet(pathname=ctypes.addressof(path)))


def load_xdp(insns, name, flags=0, ifindex=0):
    """An XDP program from its instructions; ifindex is of the device it is for."""
    code = ctypes.create_string_buffer(insns, len(insns))
    gpl = ctypes.create_string_buffer(b"GPL")
    return _bpf(BPF_PROG_LOAD, _ProgLoad(
        prog_type=BPF_PROG_TYPE_XDP, insn_cnt=len(insns) // INSN_SIZE,
        insns=ctypes.addressof(code), license=ctypes.addressof(gpl), prog_flags=flags,
        prog_name=name.encode(), prog_ifindex=ifindex, expected_attach_type=BPF_XDP))


def link_xdp(prog, ifindex):
    """A BPF link: the program is attached to the device until it is closed."""
    return _bpf(BPF_LINK_CREATE, _LinkCreate(prog_fd=prog, target_ifindex=ifindex,
                                             attach_type=BPF_XDP))
