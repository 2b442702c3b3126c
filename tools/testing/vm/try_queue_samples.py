#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""In the guest: the samples that are for one queue, attached as their head
comments say, with datagrams steered to that queue and beside it. Prints KTAP."""
import json
import os
import socket
import subprocess
import sys
import time

TOP = os.path.dirname(os.path.abspath(__file__)).removesuffix('/tools/testing/vm')
sys.path.insert(0, f'{TOP}/tools/testing/selftests/drivers/net/hw')
import xsk_socket  # pylint: disable=wrong-import-position

RXHOOK = f'{TOP}/build/rxhook/rxhook'
SAMPLES = f'{TOP}/build/samples'
DEVICE, PORT, COUNT = 'eth0', 7000, 300
LIMIT = 10      # datagrams a second that udp_guard lets pass here
SEND = f'''
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range({COUNT}):
    s.sendto(bytes(100), ("192.0.2.1", {PORT}))
'''


def run(command):
    return subprocess.run(command, shell=True, check=True, capture_output=True, text=True).stdout


def attach(queue, sample):
    run(f'{RXHOOK} attach dev {DEVICE} queue {queue} obj {SAMPLES}/{sample}.bpf.o')


def detach(queue):
    run(f'{RXHOOK} detach dev {DEVICE} queue {queue}')


def send_to(queue):
    """Steers everything to a queue and sends; seconds that took."""
    run(f'ethtool -X {DEVICE} weight {"1 0" if queue == 0 else "0 1"}')
    start = time.monotonic()
    subprocess.run(['ip', 'netns', 'exec', 'peer0', 'python3', '-c', SEND], check=True)
    return time.monotonic() - start


def received(sock):
    """How many datagrams wait in a socket, taken out of it."""
    time.sleep(0.2)
    count = 0
    while True:
        try:
            sock.recv(2048)
        except BlockingIOError:
            return count
        count += 1


def frames_seen(queue):
    """What the program on a queue has counted there."""
    counters = json.loads(run('bpftool -j map dump name per_queue'))
    return sum(v['value']['frames'] for v in counters[queue]['formatted']['values'])


def guards_its_queue(sock):
    """udp_guard on queue 1 limits what comes in there, and sees nothing of queue 0."""
    attach(1, 'udp_guard')
    run(f'bpftool map update name limit key 0 0 0 0 value {LIMIT} 0 0 0')
    took = send_to(1)
    passed = received(sock)
    # a second that has begun and one that ends
    limited = 0 < passed <= LIMIT * (took + 2) and passed < COUNT
    guarded = frames_seen(1)
    send_to(0)
    beside = received(sock)
    unseen = frames_seen(0) + frames_seen(1) - guarded
    detach(1)
    return limited and guarded >= COUNT and beside == COUNT and unseen == 0, \
        f'{passed} of {COUNT} passed in {took:.1f} s, {beside} beside it, {unseen} of them seen'


def feeds_its_socket(sock):
    """to_socket on queue 1 fills an AF_XDP socket; queue 0 stays with the stack."""
    attach(1, 'to_socket')
    with xsk_socket.XskSocket(DEVICE, xsk_socket.COPY, 'name socket', queue=1) as xsk:
        send_to(1)
        time.sleep(0.2)
        came, stolen = len(xsk.frames()), received(sock)
        send_to(0)
        beside = received(sock)
    detach(1)
    return came >= COUNT and stolen == 0 and beside == COUNT, \
        f'{came} of {COUNT} in the socket, {stolen} in the stack; {beside} beside it'


def main():
    tests = (guards_its_queue, feeds_its_socket)
    with open(f'/sys/class/net/{DEVICE}/address', encoding='ascii') as f:
        run(f'ip netns exec peer0 ip neigh replace 192.0.2.1 lladdr {f.read().strip()} dev eth1 nud permanent')
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setblocking(False)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
    sock.bind(('192.0.2.1', PORT))
    print(f'TAP version 13\n1..{len(tests)}')
    failed = 0
    for number, test in enumerate(tests, 1):
        good, what = test(sock)
        print(f'{"ok" if good else "not ok"} {number} {test.__name__}' + ('' if good else f' # {what}'), flush=True)
        failed += not good
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
