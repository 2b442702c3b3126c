# SPDX-License-Identifier: GPL-2.0
"""An AF_XDP socket that receives: as much of one as gives the driver buffers and
takes frames back. Only the softirq's half is measured, so this one may be slow.
"""
import ctypes
import mmap
import os
import socket
import struct
import subprocess

AF_XDP, SOL_XDP = 44, 283
MMAP_OFFSETS, RX_RING, UMEM_REG, FILL_RING, COMPLETION_RING = 1, 2, 4, 5, 6
PGOFF_RX, PGOFF_FILL = 0, 0x100000000
COPY, ZEROCOPY = 2, 4
CHUNK, CHUNKS = 4096, 1024
DESC_SIZE, ADDR_SIZE = 16, 8

libc = ctypes.CDLL(None, use_errno=True)


class Ring:
    """A ring that is shared with the kernel: two counters, then the entries."""

    def __init__(self, fd, pgoff, offsets, entry_size):
        producer, consumer, entries, _flags = offsets
        self._map = mmap.mmap(fd, entries + CHUNKS * entry_size, offset=pgoff)
        self.producer = ctypes.c_uint32.from_buffer(self._map, producer)
        self.consumer = ctypes.c_uint32.from_buffer(self._map, consumer)
        self._entries, self._size = entries, entry_size

    def put(self, address):
        at = self._entries + self.producer.value % CHUNKS * self._size
        struct.pack_into('=Q', self._map, at, address)
        self.producer.value += 1

    def take_all(self):
        """The address of each new entry."""
        while self.consumer.value != self.producer.value:
            at = self._entries + self.consumer.value % CHUNKS * self._size
            address = struct.unpack_from('=Q', self._map, at)[0]
            self.consumer.value += 1
            yield address


class Socket:
    """Receives from one queue of a device, by way of entry 0 of an XSKMAP.

    The map is named as bpftool names it: `pinned PATH` or `name NAME`.
    """

    def __init__(self, device, zerocopy, xskmap, queue=0):
        self._socket = socket.socket(AF_XDP, socket.SOCK_RAW, 0)
        self._umem = mmap.mmap(-1, CHUNK * CHUNKS)
        address = ctypes.addressof(ctypes.c_char.from_buffer(self._umem))
        self._set(UMEM_REG, struct.pack('=QQIIII', address, CHUNK * CHUNKS, CHUNK, 0, 0, 0))
        for ring in (FILL_RING, COMPLETION_RING, RX_RING):
            self._set(ring, struct.pack('=I', CHUNKS))
        offsets = struct.unpack('=16Q', self._socket.getsockopt(SOL_XDP, MMAP_OFFSETS, 128))
        fd = self._socket.fileno()
        self._rx = Ring(fd, PGOFF_RX, offsets[0:4], DESC_SIZE)
        self._fill = Ring(fd, PGOFF_FILL, offsets[8:12], ADDR_SIZE)
        for i in range(CHUNKS):
            self._fill.put(i * CHUNK)
        self._came = 0
        self._bind(device, queue, ZEROCOPY if zerocopy else COPY)
        subprocess.run(f'bpftool map update {xskmap} key 0 0 0 0 value '
                       f'{" ".join(str(b) for b in struct.pack("=I", fd))}',
                       shell=True, check=True, pass_fds=[fd])

    def _set(self, option, value):
        self._socket.setsockopt(SOL_XDP, option, value)

    def _bind(self, device, queue, flags):
        where = struct.pack('=HHIII', AF_XDP, flags, socket.if_nametoindex(device), queue, 0)
        if libc.bind(self._socket.fileno(), where, len(where)):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

    def recycle(self):
        """Gives the frames back that have come; returns how many ever came."""
        for address in self._rx.take_all():
            self._fill.put(address // CHUNK * CHUNK)
            self._came += 1
        return self._came

    def close(self):
        self._socket.close()
