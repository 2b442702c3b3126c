#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The demo, in the guest: a flood arrives, a program in the hook drops it, and
what was counted where is shown once a second."""
import json
import re
import subprocess
import sys
import time

DEVICE, PEER, ADDRESS, PORT = 'eth0', 'peer0', '192.0.2.1', 34567
SEQSTREAM = '/rxhook/build/seqstream'
PROGRAM = 'build/samples/drop.bpf.o'
RATE = 2000             # datagrams a second: what the card loses is not the attach's
SECONDS = 5
PIN = '/sys/fs/bpf/demo_per_queue'


def run(command, check=True):
    return subprocess.run(command, shell=True, check=check, capture_output=True, text=True)


def typed(command):
    """Shows a command as a user would type it, and what it answers."""
    print(f'\n  # {command}', flush=True)
    done = run(command, check=False)
    for line in (done.stdout + done.stderr).splitlines():
        print(f'  {line}', flush=True)
    return done.returncode == 0


def say(text):
    print(f'\n{text}', flush=True)


def carrier_changes():
    with open(f'/sys/class/net/{DEVICE}/carrier_changes', encoding='ascii') as f:
        return int(f.read())


def ethtool_counters():
    """Per queue what the driver counted: {'received': [...], 'dropped': [...]}"""
    text = run(f'ethtool -S {DEVICE}').stdout
    pick = lambda name: [int(v) for v in re.findall(rf'rx_queue_\d+_{name}: (\d+)', text)]
    return {'received': pick('packets'), 'dropped': pick('xdp_drop')}


def map_counters(queues):
    """Per queue what the program counted in its map, all CPUs together."""
    done = run(f'bpftool -j map dump pinned {PIN}', check=False)
    if done.returncode:
        return [0] * queues
    rows = json.loads(done.stdout)[:queues]
    return [sum(cpu['value']['frames'] for cpu in row['formatted']['values']) for row in rows]


def snapshot():
    counters = ethtool_counters()
    counters['map'] = map_counters(len(counters['received']))
    counters['time'] = time.monotonic()
    return counters


def show_second(before, after):
    span = after['time'] - before['time']
    cells = []
    for queue in range(len(after['received'])):
        rates = [(after[k][queue] - before[k][queue]) / span for k in ('received', 'dropped', 'map')]
        cells.append('{:9,.0f} {:9,.0f} {:9,.0f}'.format(*rates))
    print('  ' + '  | '.join(cells), flush=True)


def watch(seconds):
    before = snapshot()
    queues = range(len(before['received']))
    print('  ' + '  | '.join(f'       queue {q}, packets/s      ' for q in queues))
    print('  ' + '  | '.join(' arriving   dropped    in map' for _ in queues), flush=True)
    for _ in range(seconds):
        time.sleep(1)
        after = snapshot()
        show_second(before, after)
        before = after


class Flood:
    """Numbered datagrams from the peer, from several of its ports at once so
    that both queues have work, and a receiver here for each."""

    def __init__(self, streams=4):
        self._receivers = [subprocess.Popen(
            [SEQSTREAM, 'recv', '-p', str(PORT + i), '-n', '2000000', '-i', '600000'],
            stdout=subprocess.PIPE, text=True) for i in range(streams)]
        time.sleep(0.5)
        self._senders = [subprocess.Popen(
            ['ip', 'netns', 'exec', PEER, SEQSTREAM, 'send', '-d', ADDRESS, '-p', str(PORT + i),
             '-n', '2000000', '-r', str(RATE // streams)],
            stdout=subprocess.PIPE, text=True) for i in range(streams)]

    def stop(self):
        """(sent, received by the sockets here, out of order)"""
        for sender in self._senders:
            sender.terminate()
        sent = [json.loads(s.communicate()[0])['sent'] for s in self._senders]
        time.sleep(1)       # for what is on its way
        for receiver in self._receivers:
            receiver.terminate()
        got = [json.loads(r.communicate()[0]) for r in self._receivers]
        return sum(sent), sum(g['received'] for g in got), sum(g['reordered'] for g in got)


def drop_the_flood():
    """Attach under traffic, watch, detach under traffic; returns the bill."""
    changes, before = carrier_changes(), ethtool_counters()
    flood = Flood()
    say(f'From the other end of the cable come {RATE:,} UDP datagrams a second. Nothing drops them yet:')
    watch(2)
    say('Now the program, while the flood goes on:')
    typed(f'ip link set dev {DEVICE} xdp obj {PROGRAM} sec xdp')
    run(f'bpftool map pin name per_queue {PIN}')
    watch(SECONDS)
    say('And off again:')
    typed(f'ip link set dev {DEVICE} xdp off')
    watch(2)
    sent, received, reordered = flood.stop()
    after = ethtool_counters()
    dropped = sum(after['dropped']) - sum(before['dropped'])
    bill = {
        'datagrams sent': sent,
        'reached their sockets': received,
        'dropped in the hook (ethtool -S)': dropped,
        'dropped in the hook (the program\'s map)': sum(map_counters(len(after['dropped']))),
        'lost by attaching and detaching': sent - received - dropped,
        'out of order': reordered,
        'changes of the link': carrier_changes() - changes,
    }
    run(f'rm -f {PIN}', check=False)
    return bill


def try_jumbo():
    say('At MTU 9000 a frame takes several buffers:')
    run(f'ip netns exec {PEER} ip link set dev eth1 mtu 9000')
    took = typed(f'ip link set dev {DEVICE} mtu 9000') and \
        typed(f'ip link set dev {DEVICE} xdp obj {PROGRAM} sec xdp.frags')
    if took:
        run(f'ip netns exec {PEER} ping -c 20 -i 0.01 -w 2 -s 8000 {ADDRESS}', check=False)
        typed(f'ethtool -S {DEVICE} | grep xdp_drop')
        run(f'ip link set dev {DEVICE} xdp off')
    else:
        print('  igb did not take the program there.', flush=True)
    return took


def main():
    say('The link:')
    typed(f'ip -br link show dev {DEVICE}')
    mac = run(f'cat /sys/class/net/{DEVICE}/address').stdout.strip()
    # the sender must not stop because the program drops the answers to its ARP
    run(f'ip netns exec {PEER} ip neigh replace {ADDRESS} lladdr {mac} dev eth1 nud permanent')
    run(f'ethtool -G {DEVICE} rx 4096')
    typed(f'ethtool -N {DEVICE} rx-flow-hash udp4 sdfn')
    time.sleep(5)
    bill = drop_the_flood()
    jumbo = try_jumbo()
    say('In all:')
    for what, value in bill.items():
        print(f'  {what:42}{value:12,}')
    good = bill['dropped in the hook (ethtool -S)'] and not bill['lost by attaching and detaching'] \
        and not bill['changes of the link'] and jumbo
    return 0 if good else 1


if __name__ == '__main__':
    sys.exit(main())
