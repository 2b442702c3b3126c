# SPDX-License-Identifier: GPL-2.0
"""Holds a receive queue's interrupt back and lets it go, with the mask bit that
every MSI-X vector has.

While it is held frames gather in the ring, so that one softirq receives a whole
batch, whatever the timing was. The bit belongs to PCI and not to a driver; the
kernel leaves it alone except when it moves an interrupt to another CPU.
"""
import ctypes
import mmap
import os
import struct

from machine_code import function

CAP_POINTER, CAP_MSIX = 0x34, 0x11
ENTRY_SIZE, VECTOR_CONTROL = 16, 12
MASKED, UNMASKED = 1, 0

# movl $UNMASKED,(%rdi); movl $MASKED,(%rdi); ret: between two statements of
# Python there would be time for a second interrupt
_blink = function(b'\xc7\x07\x00\x00\x00\x00' b'\xc7\x07\x01\x00\x00\x00' b'\xc3', ctypes.c_void_p)


def _find_table(config):
    """(number of the BAR, offset in it) of the MSI-X table."""
    at = config[CAP_POINTER]
    while at:
        if config[at] == CAP_MSIX:
            where = struct.unpack_from('<I', config, at + 4)[0]
            return where & 7, where & ~7
        at = config[at + 1]
    raise RuntimeError('the card has no MSI-X')


class Vector:
    """The vector of an interrupt of a network device."""

    def __init__(self, device, irq):
        pci = f'/sys/class/net/{device}/device'
        with open(f'{pci}/config', 'rb') as f:
            bar, offset = _find_table(f.read())
        # vectors are numbered in the order of their interrupts
        index = sorted(int(n) for n in os.listdir(f'{pci}/msi_irqs')).index(irq)
        fd = os.open(f'{pci}/resource{bar}', os.O_RDWR | os.O_SYNC)
        self._bar = mmap.mmap(fd, os.fstat(fd).st_size)
        os.close(fd)
        # a c_uint32 is written with one store of 32 bits, as PCI asks
        self._control = ctypes.c_uint32.from_buffer(
            self._bar, offset + index * ENTRY_SIZE + VECTOR_CONTROL)

    def hold(self):
        self._control.value = MASKED

    def release_once(self):
        """Lets one interrupt through, the one that is pending."""
        _blink(ctypes.addressof(self._control))

    def release(self):
        self._control.value = UNMASKED
