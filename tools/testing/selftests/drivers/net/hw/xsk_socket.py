# SPDX-License-Identifier: GPL-2.0

"""
An AF_XDP socket that receives, as much of one as tests need: it gives the driver
buffers and takes frames back. Slow, and what is received by it is in no hurry.
"""

import ctypes
import mmap
import os
import select
import socket
import struct
import subprocess

AF_XDP, SOL_XDP = 44, 283
MMAP_OFFSETS, RX_RING, UMEM_REG, FILL_RING, COMPLETION_RING = 1, 2, 4, 5, 6
PGOFF_RX, PGOFF_FILL = 0, 0x100000000
COPY, ZEROCOPY, NEED_WAKEUP = 2, 4, 8
DESC_SIZE, ADDR_SIZE = 16, 8

libc = ctypes.CDLL(None, use_errno=True)


class Ring:
    """A ring that is shared with the kernel: two counters, then the entries."""

    def __init__(self, fd, pgoff, offsets, size, entry_size):
        producer, consumer, entries, _flags = offsets
        self._map = mmap.mmap(fd, entries + size * entry_size, offset=pgoff)
        self._producer = ctypes.c_uint32.from_buffer(self._map, producer)
        self._consumer = ctypes.c_uint32.from_buffer(self._map, consumer)
        self._entries, self._size, self._entry_size = entries, size, entry_size

    def put(self, address):
        at = self._entries + self._producer.value % self._size * self._entry_size
        struct.pack_into("=Q", self._map, at, address)
        self._producer.value += 1

    def take_all(self):
        """The (address, length) of each new descriptor."""
        while self._consumer.value != self._producer.value:
            at = self._entries + self._consumer.value % self._size * self._entry_size
            address, length = struct.unpack_from("=QI", self._map, at)
            self._consumer.value += 1
            yield address, length


class XskSocket:
    """Receives from one queue of a device, by way of entry 0 of an XSKMAP.

    The map is named as bpftool names it: "pinned PATH" or "name NAME".
    """

    def __init__(self, ifname, flags, xskmap, queue=0, chunk=4096, chunks=1024, entries=1024):
        # pylint: disable=too-many-arguments,too-many-positional-arguments
        self._socket = socket.socket(AF_XDP, socket.SOCK_RAW, 0)
        self._chunk = chunk
        self._umem = mmap.mmap(-1, chunk * chunks)
        address = ctypes.addressof(ctypes.c_char.from_buffer(self._umem))
        self._set(UMEM_REG, struct.pack("=QQIIII", address, chunk * chunks, chunk, 0, 0, 0))
        for ring, size in ((FILL_RING, chunks), (COMPLETION_RING, chunks), (RX_RING, entries)):
            self._set(ring, struct.pack("=I", size))
        offsets = struct.unpack("=16Q", self._socket.getsockopt(SOL_XDP, MMAP_OFFSETS, 128))
        fd = self._socket.fileno()
        self._rx = Ring(fd, PGOFF_RX, offsets[0:4], entries, DESC_SIZE)
        self._fill = Ring(fd, PGOFF_FILL, offsets[8:12], chunks, ADDR_SIZE)
        for i in range(chunks):
            self._fill.put(i * chunk)
        self._bind(ifname, queue, flags)
        value = " ".join(str(b) for b in struct.pack("=I", fd))
        subprocess.run(f"bpftool map update {xskmap} key 0 0 0 0 value {value}",
                       shell=True, check=True, pass_fds=[fd])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _set(self, option, value):
        self._socket.setsockopt(SOL_XDP, option, value)

    def _bind(self, ifname, queue, flags):
        where = struct.pack("=HHIII", AF_XDP, flags, socket.if_nametoindex(ifname), queue, 0)
        if libc.bind(self._socket.fileno(), where, len(where)):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

    def frames(self):
        """What has come since the last call; the chunks go back to the driver."""
        got = []
        for address, length in self._rx.take_all():
            got.append(self._umem[address:address + length])
            self._fill.put(address // self._chunk * self._chunk)
        return got

    def wake_driver(self):
        """For a socket bound with NEED_WAKEUP: there is room, and there are buffers."""
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        poll.poll(0)

    def close(self):
        self._socket.close()
