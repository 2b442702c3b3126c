#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0

"""
What an XDP program is told about a frame: its timestamp, its hash, its VLAN tag.

Single frames are put on the wire at the remote end, from a source address that
the program (xdp_hints.bpf.c) knows them by. It keeps what the driver answers.
"""

import ipaddress
import os
import struct
import sys
import time

from lib.py import ksft_eq, ksft_exit, ksft_ge, ksft_lt, ksft_run
from lib.py import ksft_variants, KsftNamedVariant, KsftSkipEx, NetDrvEpEnv, NetdevFamily
from lib.py import bpf_prog_map_ids, bpftool, cmd, defer, ethtool, ip
from seqstream import driver_name, program_id, wait_link

# What differs from card to card: how a hash of fewer or more fields is asked for,
# whether a frame gets a timestamp although it is not PTP
UDP_FIELDS = {"igb": ("sd", "sdfn"), "mlx4_core": ("", "")}
STAMPS_ALL = {"igb": False, "mlx4_core": True}

PIN_DIR = "/sys/fs/bpf/xdp_hints"
HINTS_MAC = b"\x02hints"
ENODATA = 61
ETH_P_IP, ETH_P_IPV6, ETH_P_8021Q, ETH_P_1588 = 0x0800, 0x86dd, 0x8100, 0x88f7

# enum answer in xdp_hints.bpf.c
(SEEN, TIMESTAMP_ERR, TIMESTAMP, HASH_ERR, HASH, HASH_TYPE,
 VLAN_ERR, VLAN_PROTO, VLAN_TCI) = range(9)

# enum xdp_rss_hash_type in include/net/xdp.h
L3_IPV4, L3_IPV6, L4, L4_TCP, L4_UDP = 1 << 0, 1 << 1, 1 << 3, 1 << 4, 1 << 5


def _ethernet(cfg, proto, payload, tags=b""):
    return bytes.fromhex(cfg.dev["address"].replace(":", "")) + HINTS_MAC + tags + \
        struct.pack("!H", proto) + payload


def _addresses(cfg):
    """Source and destination, as the frames and the hash have them."""
    return ipaddress.ip_address(cfg.remote_addr).packed + ipaddress.ip_address(cfg.addr).packed


def _ip_frame(cfg, l4proto, l4):
    if cfg.addr_ipver == "4":
        header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(l4), 1, 0, 64, l4proto, 0)
        return _ethernet(cfg, ETH_P_IP, header + _addresses(cfg) + l4)
    header = struct.pack("!IHBB", 6 << 28, len(l4), l4proto, 64)
    return _ethernet(cfg, ETH_P_IPV6, header + _addresses(cfg) + l4)


def _tcp(sport, dport):
    return struct.pack("!HHIIBBHHH", sport, dport, 1, 0, 5 << 4, 0x10, 1024, 0, 0) + b"hints"


def _udp(sport, dport):
    return struct.pack("!HHHH", sport, dport, 13, 0) + b"hints"


def _ptp_sync(cfg):
    """A PTP version 2 Sync message straight over Ethernet."""
    return _ethernet(cfg, ETH_P_1588, struct.pack("!BBH", 0, 2, 44) + bytes(40))


def _put_on_wire(cfg, frame):
    send = "import socket, sys; s = socket.socket(17, 3); s.bind((sys.argv[1], 0)); " \
        "s.send(bytes.fromhex(sys.argv[2]))"
    cmd(f"python3 -c '{send}' {cfg.remote_ifname} {frame.hex()}", host=cfg.remote)


def _ask(cfg, prog):
    """Attaches a program that asks; returns its map."""
    bpftool(f"prog loadall {cfg.test_dir / 'xdp_hints.bpf.o'} {PIN_DIR} type xdp xdpmeta_dev {cfg.ifname}")
    defer(cmd, f"rm -r {PIN_DIR}")
    ip(f"link set dev {cfg.ifname} xdp pinned {PIN_DIR}/{prog}")
    defer(ip, f"link set dev {cfg.ifname} xdp off")
    return bpf_prog_map_ids(program_id(cfg))["answers"]


def _number(octets):
    return int.from_bytes(bytes(int(o, 16) for o in octets), sys.byteorder)


def _dump(map_id):
    """The map as {key: value}; it has no types where the device is bound."""
    return {_number(e["key"]): _number(e["value"]) for e in bpftool(f"map dump id {map_id}", json=True)}


def _answers(cfg, map_id, frame):
    """What the driver says of this frame."""
    bpftool(f"map update id {map_id} key {SEEN} 0 0 0 value 0 0 0 0 0 0 0 0")
    _put_on_wire(cfg, frame)
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        answers = _dump(map_id)
        if answers[SEEN]:
            return answers
    raise TimeoutError("the program has not seen the frame")


def _toeplitz(key, data):
    """The hash as Microsoft's specification of receive side scaling has it."""
    bits, key_bits = int.from_bytes(data, "big"), int.from_bytes(key, "big")
    key_len, data_len, result = len(key) * 8, len(data) * 8, 0
    for i in range(data_len):
        if bits >> (data_len - 1 - i) & 1:
            result ^= key_bits >> (key_len - 32 - i) & 0xffffffff
    return result


def _rss_key(cfg):
    return bytes(ethtool(f"-x {cfg.ifname}", json=True)[0]["rss-hash-key"])


def features(cfg):
    """The driver says which hints it has."""
    dev = NetdevFamily().dev_get({"ifindex": cfg.ifindex})
    ksft_eq(set(dev["xdp-rx-metadata-features"]), {"timestamp", "hash", "vlan-tag"})


def _hash_udp(cfg, fields, afterwards):
    flow = f"udp{cfg.addr_ipver}"
    ethtool(f"-N {cfg.ifname} rx-flow-hash {flow} {fields}")
    defer(ethtool, f"-N {cfg.ifname} rx-flow-hash {flow} {afterwards}")


@ksft_variants([
    KsftNamedVariant("tcp", 6, _tcp, L4 | L4_TCP),
    KsftNamedVariant("udp", 17, _udp, L4 | L4_UDP),
    KsftNamedVariant("udp_l3", 17, _udp, 0),
])
def rx_hash(cfg, l4proto, l4, l4type):
    """The hash is the one that steers, of the fields that its type names."""
    few, more = UDP_FIELDS[driver_name(cfg)]
    if l4proto == 17 and few:
        _hash_udp(cfg, more if l4type else few, few)
    elif l4proto == 17 and not l4type:
        raise KsftSkipEx("UDP is always hashed with its ports")
    answers = _answers(cfg, _ask(cfg, "hints_pass"), _ip_frame(cfg, l4proto, l4(1234, 4321)))

    covered = _addresses(cfg) + (struct.pack("!HH", 1234, 4321) if l4type else b"")
    ksft_eq(answers[HASH_ERR], 0)
    ksft_eq(answers[HASH], _toeplitz(_rss_key(cfg), covered))
    ksft_eq(answers[HASH_TYPE], (L3_IPV4 if cfg.addr_ipver == "4" else L3_IPV6) | l4type)


def no_hash(cfg):
    """A frame without a hash has none."""
    map_id = _ask(cfg, "hints_pass")
    ksft_eq(_answers(cfg, map_id, _ptp_sync(cfg))[HASH_ERR], ENODATA, comment="not IP")
    ethtool(f"-K {cfg.ifname} rxhash off")
    defer(ethtool, f"-K {cfg.ifname} rxhash on")
    frame = _ip_frame(cfg, 6, _tcp(1234, 4321))
    ksft_eq(_answers(cfg, map_id, frame)[HASH_ERR], ENODATA, comment="rxhash off")


def vlan_tag(cfg):
    """A tag that the card has taken out is told, one left in the frame is not."""
    tci = 5 << 13 | 42
    tagged = _ethernet(cfg, 0x88b5, bytes(46), tags=struct.pack("!HH", ETH_P_8021Q, tci))
    plain = _ethernet(cfg, 0x88b5, bytes(46))
    ip(f"link add link {cfg.ifname} name hints42 type vlan id 42")
    defer(ip, "link del dev hints42")
    map_id = _ask(cfg, "hints_pass")

    answers = _answers(cfg, map_id, tagged)
    ksft_eq(answers[VLAN_ERR], 0)
    ksft_eq(struct.pack("=H", answers[VLAN_PROTO]), struct.pack("!H", ETH_P_8021Q))
    ksft_eq(answers[VLAN_TCI], tci)
    ksft_eq(_answers(cfg, map_id, plain)[VLAN_ERR], ENODATA, comment="no tag")

    ethtool(f"-K {cfg.ifname} rxvlan off")
    defer(ethtool, f"-K {cfg.ifname} rxvlan on")
    ksft_eq(_answers(cfg, map_id, tagged)[VLAN_ERR], ENODATA, comment="rxvlan off")


def _clock(cfg):
    """The card's clock in ns."""
    ptp = os.listdir(f"/sys/class/net/{cfg.ifname}/device/ptp")[0]
    seconds = cmd(f"phc_ctl /dev/{ptp} get").stdout.split("clock time is ")[1].split()[0]
    return int(float(seconds) * 1e9)


def _expect_timestamp(cfg, map_id, comment):
    before = _clock(cfg)
    answers = _answers(cfg, map_id, _ptp_sync(cfg))
    after = _clock(cfg)
    ksft_eq(answers[TIMESTAMP_ERR], 0, comment=comment)
    ksft_ge(answers[TIMESTAMP], before, comment=comment)
    ksft_lt(answers[TIMESTAMP], after, comment=comment)


def _ask_for_timestamps(cfg, prog):
    cfg.require_cmd("hwstamp_ctl")
    cfg.require_cmd("phc_ctl")
    # from a reset on, where there is one: no frame has a timestamp yet
    cmd(f"ethtool -r {cfg.ifname}", fail=False)
    wait_link(cfg)
    map_id = _ask(cfg, prog)
    ksft_eq(_answers(cfg, map_id, _ptp_sync(cfg))[TIMESTAMP_ERR], ENODATA, comment="not asked for")
    cmd(f"hwstamp_ctl -i {cfg.ifname} -r 12")
    defer(cmd, f"hwstamp_ctl -i {cfg.ifname} -r 0")
    wait_link(cfg)
    return map_id


@ksft_variants(["hints_pass", "hints_drop"])
def timestamp(cfg, prog):
    """A PTP frame is told the time it came in, another frame where all have one."""
    map_id = _ask_for_timestamps(cfg, prog)
    _expect_timestamp(cfg, map_id, "PTP")
    frame = _ip_frame(cfg, 6, _tcp(1234, 4321))
    ksft_eq(_answers(cfg, map_id, frame)[TIMESTAMP_ERR], 0 if STAMPS_ALL[driver_name(cfg)] else ENODATA,
            comment="not PTP")


def timestamp_of_each(cfg):
    """A frame that was dropped does not keep the next one from its timestamp."""
    map_id = _ask_for_timestamps(cfg, "hints_drop")
    for i in range(3):
        _expect_timestamp(cfg, map_id, f"frame {i}")


def main() -> None:
    with NetDrvEpEnv(__file__, nsim_test=False) as cfg:
        ksft_run([features, rx_hash, no_hash, vlan_tag, timestamp, timestamp_of_each], args=(cfg, ))
    ksft_exit()


if __name__ == "__main__":
    main()
