#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What a netdev does, done to the model by the unmodified driver, in the guest.

usage: guest.py [GROUP...]     groups: basic offloads steering events
                            lifecycle, and suspend, which runs alone

Each test prints "ok NAME" or "not ok NAME: why". Run it with
  tools/testing/vm/rig.py run --nic mlx4 -- tools/testing/connectx3/tests/guest.py
"""
import contextlib
import fcntl
import os
import random
import re
import socket
import struct
import subprocess
import sys
import time

DEV, PEER_DEV, NS = 'eth0', 'eth1', 'peer0'
HERE, THERE, HERE6, THERE6 = '192.0.2.1', '192.0.2.2', '2001:db8:0::1', '2001:db8:0::2'
CONTROL = '/dev/connectx3.0'
SLOT = '0000:01:00.0'
PCI = f'/sys/bus/pci/devices/{SLOT}'
TESTS = []


class Failed(Exception):
    pass


def test(group):
    def add(function):
        TESTS.append((group, function.__name__, function))
        return function
    return add


def sh(command, check=True):
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    if check and done.returncode:
        raise Failed(f'{command}: {(done.stdout + done.stderr).strip()[-300:]}')
    return done.stdout + done.stderr


def there(command, check=True):
    return sh(f'ip netns exec {NS} {command}', check)


def expect(wish, what):
    if not wish:
        raise Failed(what)


def wait_for(condition, what, seconds=10):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.05)
    raise Failed(f'{what}: not within {seconds} s')


def read(path):
    try:
        with open(path, encoding='ascii') as f:
            return f.read().strip()
    except OSError:
        return ''


def carrier(dev=DEV):
    return read(f'/sys/class/net/{dev}/carrier') == '1'


def peer_carrier():
    return there(f'cat /sys/class/net/{PEER_DEV}/carrier', False).strip() == '1'


def carrier_changes():
    return read(f'/sys/class/net/{DEV}/carrier_changes'), \
        there(f'cat /sys/class/net/{PEER_DEV}/carrier_changes', False)


def wait_link():
    """Up, and not just still up: the driver hears of a change some time later."""
    def settled():
        before = carrier_changes()
        time.sleep(0.25)
        return carrier() and peer_carrier() and carrier_changes() == before
    wait_for(settled, 'link')


def icmp(ns=None):
    """The kernel's counters of ICMP over IPv4."""
    text = there('cat /proc/net/snmp') if ns else read('/proc/net/snmp')
    names, values = [line.split()[1:] for line in text.splitlines() if line.startswith('Icmp:')]
    return dict(zip(names, map(int, values)))


def echo_replies():
    """All that this namespace ever got, of both families."""
    six = re.search(r'Icmp6InEchoReplies\s+(\d+)', read('/proc/net/snmp6'))
    return icmp()['InEchoReps'] + int(six.group(1))


def ping(count=3, target=THERE, size=56, extra='-i 0.01'):
    """Once it has an answer, ping(8) waits two round trips for the others and
    calls them lost then, on a busy machine before they are. So the kernel counts."""
    before = echo_replies()
    out = sh(f'ping -c {count} -W 2 -s {size} {extra} {target}', False)
    wait_for(lambda: echo_replies() - before >= count, f'ping {target} of {size}: {out.strip()[-200:]}', 3)


def stats(dev=DEV):
    out = sh(f'ethtool -S {dev}') if dev == DEV else there(f'ethtool -S {dev}')
    return {k: int(v) for k, v in re.findall(r'(\w+): (\d+)', out)}


def fresh_stats(dev=DEV):
    """The driver asks the card every 250 ms."""
    time.sleep(0.6)
    return stats(dev)


def control(line):
    with open(CONTROL, 'r+b', buffering=0) as port:
        port.write(line.encode() + b'\n')
        answer = b''
        while not re.search(rb'(^|\n)(ok|error: [^\n]*)\n$', answer):
            answer += port.read(4096) or b''
    text = answer.decode()
    expect('error:' not in text, f'{line}: {text}')
    return text


@contextlib.contextmanager
def in_ns(name):
    """This process's sockets are the namespace's for a while."""
    libc_setns = os.setns
    with open('/proc/self/ns/net', 'rb') as old, open(f'/run/netns/{name}', 'rb') as new:
        libc_setns(new.fileno(), 0)
        try:
            yield
        finally:
            libc_setns(old.fileno(), 0)


@contextlib.contextmanager
def undone(do, undo):
    sh(do)
    try:
        yield
    finally:
        sh(undo, False)
        wait_link()


def mac(dev=DEV):
    return read(f'/sys/class/net/{dev}/address')


def raw_socket(dev, ns=None):
    with in_ns(ns) if ns else contextlib.nullcontext():
        s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        s.bind((dev, 0))
    s.settimeout(2)
    return s


def ether(dst, payload=b'', kind=0x88b5, src='02:00:00:00:00:99'):
    address = lambda text: bytes.fromhex(text.replace(':', ''))
    return address(dst) + address(src) + struct.pack('>H', kind) + payload


def arrives(frame, match, dev=DEV, wish=True):
    """Sends a frame from the peer; looks whether it arrives here."""
    rx, tx = raw_socket(dev), raw_socket(PEER_DEV, NS)
    tx.send(frame)
    end = time.monotonic() + (2 if wish else 0.4)
    rx.settimeout(0.1)
    with contextlib.closing(rx), contextlib.closing(tx):
        while time.monotonic() < end:
            try:
                got = rx.recv(65536)
            except TimeoutError:
                continue
            if match(got):
                return True
    return False


# -- basic ----------------------------------------------------------------------------

@test('basic')
def ping_both_families():
    ping()
    ping(target=THERE6)


@test('basic')
def flood_loses_nothing():
    """Under load the kernel itself leaves an echo without a reply (OutErrors), so
    what counts is that all that was sent arrived."""
    count = lambda: (icmp(), icmp(NS))
    start, start_there = count()
    out = sh(f'ping -f -c 3000 -q {THERE}', False)
    time.sleep(1)
    end, end_there = count()
    sent, replies = end['OutEchos'] - start['OutEchos'], end['InEchoReps'] - start['InEchoReps']
    got = end_there['InEchos'] - start_there['InEchos']
    replied = end_there['OutEchoReps'] - start_there['OutEchoReps']
    expect(sent == got and replied == replies > 2900,
           f'{sent} sent, {got} arrived, {replied} replies sent, {replies} arrived: {out[-100:]}')


@test('basic')
def tcp_arrives_whole():
    size = 8 << 20
    listener = socket.create_server((HERE, 5001))
    with in_ns(NS):
        client = socket.create_connection((HERE, 5001))
    server, _ = listener.accept()
    pattern = os.urandom(1 << 16)
    child = os.fork()
    if not child:
        for _ in range(size // len(pattern)):
            client.sendall(pattern)
        os._exit(0)
    client.close()
    got = b''.join(iter(lambda: server.recv(1 << 20), b''))
    os.waitpid(child, 0)
    expect(got == pattern * (size // len(pattern)), f'{len(got)} of {size} bytes, or others')


@test('basic')
def mtu_from_68_to_the_maximum():
    for mtu, size in ((9978, 9950), (9000, 8972), (4000, 3972), (1280, 1252), (1500, 1472)):
        sh(f'ip link set {DEV} mtu {mtu}')
        there(f'ip link set {PEER_DEV} mtu {mtu}')
        wait_link()
        ping(size=size, extra='-i 0.01 -M do')
    sh(f'ip link set {DEV} mtu 68')
    wait_link()
    ping(size=20)
    expect('greater' in sh(f'ip link set {DEV} mtu 9979', False), 'MTU 9979 is taken')
    sh(f'ip link set {DEV} mtu 1500')
    sh(f'ip -6 addr replace {HERE6}/64 dev {DEV} nodad')
    wait_link()


@test('basic')
def different_mtus_count_long_frames():
    with undone('true', f'ip netns exec {NS} ip link set {PEER_DEV} mtu 1500'):
        there(f'ip link set {PEER_DEV} mtu 9000')
        wait_link()
        there(f'ping -c 2 -W 1 -s 4000 -M do {HERE}', False)
        time.sleep(0.6)
        text = sh(f'ip -s -s link show {DEV}')
        counted = re.search(r'RX errors:\s+length.*\n\s+(\d+)', text)
        expect(counted and int(counted.group(1)) > 0, f'no length errors: {text}')
        ping()


@test('basic')
def interface_down_and_up():
    sh(f'ip link set {DEV} down')
    wait_for(lambda: not peer_carrier(), "the peer's carrier to go")
    sh(f'ip link set {DEV} up')
    sh(f'ip -6 addr replace {HERE6}/64 dev {DEV} nodad')
    wait_link()
    ping()


@test('basic')
def driver_information():
    out = sh(f'ethtool -i {DEV}')
    expect('driver: mlx4_en' in out and '2.42.5000' in out, out)
    out = sh(f'ethtool {DEV}')
    expect('Speed: 40000Mb/s' in out and 'Link detected: yes' in out, out)
    expect('rxhook' in sh(f'ethtool -m {DEV}'), 'module')


@test('basic')
def selftest_offline():
    out = sh(f'ethtool -t {DEV} offline', False)
    expect('The test result is PASS' in out, out)
    wait_link()


def phy_counters():
    return fresh_stats()['tx_packets_phy'], fresh_stats(PEER_DEV)['rx_packets_phy']


@test('basic')
def port_statistics_add_up():
    for _ in range(5):      # others send too, and the two are not read at the same moment
        before = phy_counters()
        ping(count=50)
        sent, got = (b - a for a, b in zip(before, phy_counters()))
        if sent == got >= 50:
            return
    raise Failed(f'{sent} sent, {got} received')


# -- rings, channels, moderation --------------------------------------------------------

@test('offloads')
def ring_sizes():
    for rx, tx in ((256, 512), (4096, 2048), (1024, 512)):
        sh(f'ethtool -G {DEV} rx {rx} tx {tx}', False)
        wait_link()
        ping(count=20)


@test('offloads')
def channel_counts():
    most = int(re.search(r'RX:\s+(\d+)', sh(f'ethtool -l {DEV}')).group(1))
    for rx in sorted({1, 2, min(most, 4), min(most, os.cpu_count())}):
        sh(f'ethtool -L {DEV} rx {rx}', False)
        wait_link()
        ping(count=10)
        expect(f'rx{rx - 1}_packets' in stats(), f'no counters for ring {rx - 1}')


@test('offloads')
def moderation():
    with undone(f'ethtool -C {DEV} adaptive-rx off rx-usecs 3000 rx-frames 64',
                f'ethtool -C {DEV} adaptive-rx on rx-usecs 16 rx-frames 44'):
        out = sh(f'ping -c 10 -i 0.05 -q {THERE}')
        rtt = float(re.search(r'= ([\d.]+)/', out).group(1))
        expect(rtt > 2.5, f'the shortest round trip is {rtt} ms in spite of 3 ms')
    ping()


def flood_burst(count):
    tx = raw_socket(PEER_DEV, NS)
    frame = ether(mac(), bytes(46))
    for _ in range(count):
        tx.send(frame)
    tx.close()


@test('offloads')
def empty_ring_without_pause_counts_drops():
    both = f'ethtool -A {DEV} rx off tx off; ip netns exec {NS} ethtool -A {PEER_DEV} rx off tx off'
    back = f'ethtool -A {DEV} rx on tx on; ip netns exec {NS} ethtool -A {PEER_DEV} rx on tx on'
    slow = f'ethtool -G {DEV} rx 256; ethtool -C {DEV} adaptive-rx off rx-usecs 60000 rx-frames 60000'
    fast = f'ethtool -G {DEV} rx 1024; ethtool -C {DEV} adaptive-rx on rx-usecs 16 rx-frames 44'
    with undone(f'{both}; {slow}', f'{back}; {fast}'):
        wait_link()
        flood_burst(3000)
        time.sleep(0.6)
        out = sh(f'ip -s -s link show {DEV}')
        fifo = int(re.search(r'RX errors:\s+length.*\n(?:\s+\d+){3}\s+(\d+)', out).group(1))
        expect(fifo > 0, out)
    ping()


@test('offloads')
def empty_ring_with_pause_loses_nothing():
    with undone(f'ethtool -G {DEV} rx 256', f'ethtool -G {DEV} rx 1024'):
        wait_link()
        before = fresh_stats()
        flood_burst(5000)
        after = fresh_stats()
        got = after['rx_packets_phy'] - before['rx_packets_phy']
        delivered = after['rx_packets'] - before['rx_packets']
        expect(got >= 5000 and delivered >= 5000, f'{got} on the wire, {delivered} delivered')


@test('offloads')
def feature_switches():
    """Each off and on again, and traffic in between."""
    for name in ('rxvlan', 'txvlan', 'tso', 'tx', 'rx', 'rxhash', 'gro'):
        for state in ('off', 'on'):
            sh(f'ethtool -K {DEV} {name} {state}')
            wait_link()
            ping()
            ping(target=THERE6)


@test('offloads')
def rx_fcs_is_right():
    import zlib
    with undone(f'ethtool -K {DEV} rx-fcs on', f'ethtool -K {DEV} rx-fcs off'):
        wait_link()
        frame = ether(mac(), b'fcs test' * 10)
        want = struct.pack('<I', zlib.crc32(frame))
        expect(arrives(frame, lambda got: got == frame + want), 'the frame with its FCS does not arrive')


@test('offloads')
def bad_fcs_counts():
    before = int(read(f'/sys/class/net/{DEV}/statistics/rx_crc_errors'))
    control('fault bad-fcs:match=1')
    frame = ether(mac(), b'bad fcs' * 10)
    expect(not arrives(frame, lambda got: got == frame, wish=False), 'a frame with a bad FCS arrives')
    time.sleep(0.6)
    after = int(read(f'/sys/class/net/{DEV}/statistics/rx_crc_errors'))
    expect(after == before + 1, f'{after - before} counted')


@test('offloads')
def loopback_feature():
    with undone(f'ethtool -K {DEV} loopback on', f'ethtool -K {DEV} loopback off'):
        rx, tx = raw_socket(DEV), raw_socket(DEV)
        frame = ether(mac(), b'loop' * 20, kind=0x88b6)
        tx.send(frame)
        end = time.monotonic() + 2
        seen = 0
        while time.monotonic() < end and seen < 1:
            data, info = rx.recvfrom(65536)
            seen += data == frame and info[2] != 4     # not PACKET_OUTGOING
        expect(seen, 'the frame does not come back')
    ping()


# -- VLANs -----------------------------------------------------------------------------------

def vlan_pair(proto, vid, net):
    sh(f'ip link add link {DEV} name v{vid} type vlan proto {proto} id {vid} && '
       f'ip addr add {net}.1/24 dev v{vid} && ip link set v{vid} up')
    there(f'ip link add link {PEER_DEV} name v{vid} type vlan proto {proto} id {vid}')
    there(f'ip addr add {net}.2/24 dev v{vid}')
    there(f'ip link set v{vid} up')


def vlan_gone(vid):
    sh(f'ip link del v{vid}')
    there(f'ip link del v{vid}')


@test('offloads')
def vlan_tags_inserted_and_stripped():
    for proto, vid, net in (('802.1Q', 100, '198.51.100'), ('802.1ad', 200, '203.0.113')):
        vlan_pair(proto, vid, net)
        try:
            ping(target=f'{net}.2')
            ping(target=f'{net}.2', size=1472, extra='-i 0.01 -M do')
        finally:
            vlan_gone(vid)


@test('offloads')
def vlan_without_offloads():
    with undone(f'ethtool -K {DEV} rxvlan off txvlan off', f'ethtool -K {DEV} rxvlan on txvlan on'):
        wait_link()
        vlan_pair('802.1Q', 101, '198.51.100')
        try:
            ping(target='198.51.100.2')
        finally:
            vlan_gone(101)


@test('offloads')
def vlan_filter():
    tagged = lambda vid: ether(mac(), struct.pack('>HH', vid, 0x88b5) + bytes(46), kind=0x8100)
    there(f'ethtool -K {PEER_DEV} txvlan off')
    expect(not arrives(tagged(77), lambda got: b'\x02\x00\x00\x00\x00\x99' in got[:12], wish=False),
           'a frame of a VLAN that nobody has')
    with undone(f'ip link add link {DEV} name v77 type vlan id 77 && ip link set v77 up', 'ip link del v77'):
        expect(arrives(tagged(77), lambda got: b'\x02\x00\x00\x00\x00\x99' in got[:12]), 'a frame of VLAN 77')
    there(f'ethtool -K {PEER_DEV} txvlan on')


# -- steering ----------------------------------------------------------------------------------

def queue_packets():
    return [v for k, v in sorted(stats().items()) if re.fullmatch(r'rx\d+_packets', k)]


def udp_flows(ports, target=HERE, dport=7000):
    with in_ns(NS):
        for port in ports:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
                s.bind((THERE, port))
                s.sendto(b'x' * 20, (target, dport))


@test('steering')
def rss_spreads_flows():
    before = queue_packets()
    udp_flows(random.Random(1).sample(range(20000, 60000), 256))
    time.sleep(0.3)
    rows = [b - a for a, b in zip(before, queue_packets())]
    expect(len(rows) > 1 and min(rows) > 256 // len(rows) // 4, f'per ring: {rows}')


@test('steering')
def rss_table_key_and_function():
    key = ':'.join(f'{i:02x}' for i in range(40))
    with undone(f'ethtool -X {DEV} hkey {key}', 'true'):
        wait_link()
        expect(key in sh(f'ethtool -x {DEV}'), 'the key')
        ping()
    rings = len(queue_packets())
    with undone(f'ethtool -X {DEV} equal 1', f'ethtool -X {DEV} equal {rings}'):
        wait_link()
        before = queue_packets()
        udp_flows(range(21000, 21064))
        time.sleep(0.3)
        rows = [b - a for a, b in zip(before, queue_packets())]
        expect(rows[0] >= 64 and sum(rows[1:]) < 16, f'per ring: {rows}')
    with undone(f'ethtool -X {DEV} hfunc xor', f'ethtool -X {DEV} hfunc toeplitz'):
        wait_link()
        ping()


@test('steering')
def unicast_of_others_needs_promiscuous():
    frame = ether('02:11:22:33:44:55', b'promisc' * 10)
    expect(not arrives(frame, lambda got: got == frame, wish=False), "a frame for somebody else's address")
    with undone(f'ip link set {DEV} promisc on', f'ip link set {DEV} promisc off'):
        time.sleep(0.3)
        expect(arrives(frame, lambda got: got == frame), 'not even in promiscuous mode')
    time.sleep(0.3)
    expect(not arrives(frame, lambda got: got == frame, wish=False), 'after promiscuous mode')


@test('steering')
def multicast_filter():
    group = '01:00:5e:7f:00:07'
    frame = ether(group, b'multicast' * 8)
    expect(not arrives(frame, lambda got: got == frame, wish=False), 'a group that nobody joined')
    with undone(f'ip maddr add {group} dev {DEV}', f'ip maddr del {group} dev {DEV}'):
        time.sleep(0.3)
        expect(arrives(frame, lambda got: got == frame), 'the group that was joined')
    with undone(f'ip link set {DEV} allmulticast on', f'ip link set {DEV} allmulticast off'):
        time.sleep(0.3)
        expect(arrives(frame, lambda got: got == frame), 'all multicast')


@test('steering')
def address_change():
    old = mac()
    with undone(f'ip link set {DEV} address 02:aa:bb:cc:dd:ee', f'ip link set {DEV} address {old}'):
        there(f'ip neigh flush dev {PEER_DEV}')
        ping()
    there(f'ip neigh flush dev {PEER_DEV}')
    ping()


def ntuple(rule, wanted_ring, send):
    before = queue_packets()
    with undone(f'ethtool -U {DEV} {rule} loc 5', f'ethtool -U {DEV} delete 5'):
        expect('Filter: 5' in sh(f'ethtool -u {DEV}'), 'the rule is not listed')
        send()
        time.sleep(0.3)
        rows = [b - a for a, b in zip(before, queue_packets())]
    expect(rows[wanted_ring] >= 64, f'{rule}: per ring {rows}')


@test('steering')
def ntuple_rules_steer():
    if 'ntuple-filters: on' not in sh(f'ethtool -K {DEV} ntuple on; ethtool -k {DEV}', False):
        return 'A0 steering has no rules'
    last = len(queue_packets()) - 1
    for ring in (0, last):
        ntuple(f'flow-type udp4 dst-ip {HERE} dst-port 7100 action {ring}', ring,
               lambda: udp_flows(range(22000, 22064), dport=7100))
        ntuple(f'flow-type ip4 src-ip {THERE} action {ring}', ring,
               lambda: udp_flows(range(23000, 23064)))
        ntuple(f'flow-type ether dst {mac()} action {ring}', ring,
               lambda: udp_flows(range(24000, 24064)))
    return None


@test('steering')
def ntuple_rule_drops():
    if 'ntuple-filters: on' not in sh(f'ethtool -K {DEV} ntuple on; ethtool -k {DEV}', False):
        return 'A0 steering has no rules'
    with undone(f'ethtool -U {DEV} flow-type udp4 dst-port 7200 action -1 loc 6', f'ethtool -U {DEV} delete 6'):
        before = sum(queue_packets())
        udp_flows(range(25000, 25064), dport=7200)
        time.sleep(0.3)
        got = sum(queue_packets()) - before
        expect(got < 16, f'{got} of 64 arrive')
    return None


# -- time --------------------------------------------------------------------------------------

@test('events')
def clock_runs_like_the_hosts():
    out = sh(f'phc_ctl {DEV} get; sleep 2; phc_ctl {DEV} get')
    a, b = (float(x) for x in re.findall(r'clock time is ([\d.]+)', out))
    expect(1.9 < b - a < 4, f'{b - a} s in 2')
    offset = re.search(r'offset from CLOCK_REALTIME is (-?\d+)ns', sh(f'phc_ctl {DEV} cmp'))
    expect(offset and abs(int(offset.group(1))) < 60e9, 'far from real time')


def timestamps(rx, tx):
    """Frames with hardware stamps: (sent, received) in ns, each 0 if there was none."""
    flags = 0x1 | 0x4 | 0x40        # TX_HARDWARE, RX_HARDWARE, RAW_HARDWARE
    for s in (rx, tx):
        s.setsockopt(socket.SOL_SOCKET, 37, struct.pack('I', flags))
    tx.sendto(b'stamp me', (HERE, 7300))
    stamp = lambda ancillary: next((struct.unpack('6q', data)[4] * 10**9 + struct.unpack('6q', data)[5]
                                    for _, kind, data in ancillary if kind == 37), 0)
    received = stamp(rx.recvmsg(100, 1000)[1])
    time.sleep(0.2)
    sent = stamp(tx.recvmsg(2000, 1000, socket.MSG_ERRQUEUE)[1])
    return sent, received


@test('events')
def frames_get_hardware_timestamps():
    sh(f'hwstamp_ctl -i {DEV} -t 1 -r 1')
    there(f'hwstamp_ctl -i {PEER_DEV} -t 1 -r 1')
    wait_link()
    ping()
    rx = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    rx.bind((HERE, 7300))
    rx.settimeout(3)
    with in_ns(NS):
        tx = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        for _ in range(5):
            sent, received = timestamps(rx, tx)
            expect(sent and received, f'sent {sent}, received {received}')
            expect(0 <= received - sent < 10**9, f'{received - sent} ns on the wire')
    finally:
        sh(f'hwstamp_ctl -i {DEV} -t 0 -r 0; ethtool -K {DEV} rxvlan on', False)
        there(f'sh -c "hwstamp_ctl -i {PEER_DEV} -t 0 -r 0; ethtool -K {PEER_DEV} rxvlan on"', False)
        wait_link()


# -- events --------------------------------------------------------------------------------------

@test('events')
def cable_out_and_in():
    for port in (1, 2):
        control(f'link {port} down')
        wait_for(lambda: not carrier() and not peer_carrier(), 'no carrier')
        control(f'link {port} up')
        wait_link()
        ping()


@test('events')
def command_failure_is_survived():
    control('fault cmd-fail:match=0x49,value=1')
    time.sleep(0.8)
    ping()


@test('events')
def receive_error_is_survived():
    control('fault rx-error:match=1,value=4,count=3')
    sh(f'ping -c 6 -i 0.05 -W 1 {THERE}', False)
    ping()


@test('events')
def transmit_error_restarts_the_port():
    control('fault tx-error:match=1,value=2')
    sh(f'ping -c 3 -i 0.05 -W 1 {THERE}', False)
    wait_for(lambda: 'Scheduling port restart' in sh('dmesg'), 'the restart')
    time.sleep(0.5)
    wait_link()
    ping()


@test('events')
def interrupts_twice_and_late():
    control('fault irq-twice:count=20')
    control('fault irq-late:count=20,value=20')
    ping(count=20)
    control('fault clear')


# -- lifecycle ---------------------------------------------------------------------------------------

def readdress():
    """After the driver made the ports anew."""
    wait_for(lambda: os.path.exists(f'/sys/class/net/{DEV}') and os.path.exists(f'/sys/class/net/{PEER_DEV}'),
             'the ports', 60)
    sh(f'ip link set {PEER_DEV} netns {NS}')
    there(f'ip addr add {THERE}/24 dev {PEER_DEV}', False)
    there(f'ip addr add {THERE6}/64 dev {PEER_DEV} nodad', False)
    there(f'ip link set {PEER_DEV} up')
    sh(f'ip addr add {HERE}/24 dev {DEV}; ip addr add {HERE6}/64 dev {DEV} nodad; ip link set {DEV} up', False)
    wait_link()


@test('lifecycle')
def unbind_and_bind():
    sh(f'echo {SLOT} >{PCI}/driver/unbind')
    expect(not os.path.exists(f'/sys/class/net/{DEV}'), f'{DEV} is still there')
    sh(f'echo {SLOT} >/sys/bus/pci/drivers/mlx4_core/bind')
    readdress()
    ping()


@test('lifecycle')
def internal_error_and_recovery():
    control('internal-error 0x1234')
    wait_for(lambda: 'mlx4_restart_one was ended, ret=0' in sh('dmesg'), 'the restart', 60)
    readdress()
    ping()


@test('lifecycle')
def function_level_reset():
    sh(f'echo {SLOT} >{PCI}/driver/unbind')
    sh(f'echo 1 >{PCI}/reset')
    sh(f'echo {SLOT} >/sys/bus/pci/drivers/mlx4_core/bind')
    readdress()
    ping()


def set_up(dev):
    """Without ip(8), which cannot be started any more."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        name = dev.encode().ljust(16, b'\0')
        fcntl.ioctl(s, 0x8914, name + struct.pack('H14x', 0x1 | 0x40))     # SIOCSIFFLAGS: UP | RUNNING


@test('suspend')
def suspend_and_resume():
    """Runs alone, and last: the root file system, 9p over virtio, does not come
    back from suspend, nor does the output port. All that is needed is in memory
    before, the status is written, success is a line on the console, and a
    failure is a kernel crash, which the rig reports."""
    import ctypes
    expect(not ctypes.CDLL(None).mlockall(3), 'memory cannot be locked')
    log = os.open('/dev/kmsg', os.O_WRONLY)
    with open('/results/status', 'w', encoding='ascii') as f:
        f.write('0')
    trigger = os.open('/proc/sysrq-trigger', os.O_WRONLY)
    sh('echo devices >/sys/power/pm_test')
    with open('/sys/power/state', 'w', encoding='ascii') as state:
        state.write('mem')
    try:
        wait_for(lambda: os.path.exists(f'/sys/class/net/{PEER_DEV}'), 'the ports')
        for dev in (DEV, PEER_DEV):
            set_up(dev)
        wait_for(lambda: carrier() and carrier(PEER_DEV), 'link')
        rx, tx = raw_socket(DEV), raw_socket(PEER_DEV)
        frame = ether(mac(), b'awake again' * 6)
        tx.send(frame)
        while rx.recv(65536) != frame:
            pass
        os.write(log, b'guest.py: ok suspend_and_resume')
        os.write(trigger, b'o')
    except (Failed, OSError) as exc:
        os.write(log, f'guest.py: not ok suspend_and_resume: {exc}'.encode())
        os.write(trigger, b'c')
    time.sleep(60)


def run(name, function):
    try:
        skipped = function()
    except (Failed, OSError, subprocess.SubprocessError) as exc:
        print(f'not ok {name}: {exc}', flush=True)
        return False
    print(f'ok {name}' + (f' # SKIP {skipped}' if skipped else ''), flush=True)
    return True


def main():
    groups = sys.argv[1:]
    wanted = [t for t in TESTS if t[0] in groups or t[1] in groups or (not groups and t[0] != 'suspend')]
    failed = [name for _, name, function in wanted if not run(name, function)]
    print(f'{len(wanted) - len(failed)} of {len(wanted)} passed', flush=True)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
