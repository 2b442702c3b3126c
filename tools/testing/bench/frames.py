# SPDX-License-Identifier: GPL-2.0
"""Frames, and a socket in another namespace that sends them."""
import os
import socket
import struct

ETH_P_IP, UDP = 0x0800, 17
SOL_PACKET, PACKET_QDISC_BYPASS = 263, 20


def checksum(data):
    total = sum(struct.unpack(f'!{len(data) // 2}H', data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def udp_frame(size, macs, addresses, ports=(1000, 2000)):
    """An Ethernet frame of `size` bytes, without FCS; pairs are (to, from)."""
    to, source = (socket.inet_aton(a) for a in addresses)
    payload = bytes(size - 14 - 20 - 8)
    datagram = struct.pack('!HHHH', ports[1], ports[0], 8 + len(payload), 0) + payload
    pseudo = source + to + struct.pack('!BBH', 0, UDP, len(datagram))
    datagram = datagram[:6] + struct.pack('!H', checksum(pseudo + datagram) or 0xffff) + datagram[8:]
    header = struct.pack('!BBHHHBBH4s4s', 0x45, 0, 20 + len(datagram), 0, 0, 64, UDP, 0, source, to)
    header = header[:10] + struct.pack('!H', checksum(header)) + header[12:]
    link = b''.join(bytes.fromhex(m.replace(':', '')) for m in macs) + struct.pack('!H', ETH_P_IP)
    return link + header + datagram


def packet_socket(namespace, device):
    """A raw socket on a device of a namespace, past its qdisc."""
    home = os.open('/proc/self/ns/net', os.O_RDONLY)
    there = os.open(f'/run/netns/{namespace}', os.O_RDONLY)
    try:
        os.setns(there)
        sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        sock.setsockopt(SOL_PACKET, PACKET_QDISC_BYPASS, 1)
        sock.bind((device, 0))
    finally:
        os.setns(home)
        os.close(there)
        os.close(home)
    return sock
