# SPDX-License-Identifier: GPL-2.0
"""What differs from card to card, and a card's own counters."""
import array
import fcntl
import re
import socket
import struct
from dataclasses import dataclass

SIOCETHTOOL = 0x8946
ETHTOOL_GSTRINGS, ETHTOOL_GSTATS, ETHTOOL_GSSET_INFO = 0x1b, 0x1d, 0x37
ETH_SS_STATS, GSTRING_LEN = 1, 32


@dataclass(frozen=True)
class Card:
    driver: str
    receives: str       # interrupt of a receive queue, as in /proc/interrupts
    sends: str          # and of any transmit queue
    received: str       # its counter of frames, those that a program drops among them
    buffer: int         # bytes of a frame that one descriptor takes, at least
    ring: int           # descriptors of a ring, as the driver sets it up


CARDS = {
    'igb': Card('igb', r'{device}-(TxRx|rx)-{queue}$', r'{device}-(TxRx|tx)-\d+$',
                'rx_queue_{queue}_packets', 2048, 256),
}


def irqs(name=r'\beth\d+(-\S*)?$'):
    """The interrupts whose name matches; all ports' without one."""
    with open('/proc/interrupts', encoding='ascii') as f:
        return [int(line.split(':')[0]) for line in f if re.search(name, line.rstrip())]


def pin(irq, cpu):
    with open(f'/proc/irq/{irq}/smp_affinity_list', 'w', encoding='ascii') as f:
        f.write(str(cpu))


class Counters:
    """What `ethtool -S` prints, without a process for each look."""

    def __init__(self, device):
        self._device = device.encode()
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._count = self._set_size()
        self._names = self._strings()

    def _ioctl(self, request):
        data = array.array('B', request)
        fcntl.ioctl(self._socket, SIOCETHTOOL,
                    struct.pack('16sP16x', self._device, data.buffer_info()[0]))
        return data.tobytes()

    def _set_size(self):
        request = struct.pack('=IIQI', ETHTOOL_GSSET_INFO, 0, 1 << ETH_SS_STATS, 0)
        return struct.unpack_from('=I', self._ioctl(request), 16)[0]

    def _strings(self):
        head = struct.pack('=III', ETHTOOL_GSTRINGS, ETH_SS_STATS, self._count)
        names = self._ioctl(head + bytes(GSTRING_LEN * self._count))[len(head):]
        return [names[i:i + GSTRING_LEN].split(b'\0')[0].decode()
                for i in range(0, len(names), GSTRING_LEN)]

    def read(self):
        head = struct.pack('=II', ETHTOOL_GSTATS, self._count)
        values = self._ioctl(head + bytes(8 * self._count))[len(head):]
        return dict(zip(self._names, struct.unpack(f'={self._count}Q', values)))
