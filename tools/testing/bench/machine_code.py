# SPDX-License-Identifier: GPL-2.0
"""A few instructions of machine code as functions of Python."""
import ctypes
import mmap

_memory = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)


def function(code, *argument_types):
    """A function that runs `code`, which is to end in a ret and returns nothing."""
    at = _memory.tell()
    _memory.write(code)
    return ctypes.CFUNCTYPE(None, *argument_types)(ctypes.addressof(ctypes.c_char.from_buffer(_memory, at)))
