# SPDX-License-Identifier: GPL-2.0
"""The guest's machine: what has to be still, the ports, their rings and queues."""
import os
import re
import subprocess
import time

import cases

DEVICE, OTHER_DEVICE, PEER_DEVICE, PEER = 'eth0', 'eth2', 'eth1', 'peer0'
PORTS = ('ip link set dev eth0', 'ip -n peer0 link set dev eth1', 'ip link set dev eth2',
         'ip -n peer2 link set dev eth3')
WATCHED_CPU, OTHER_CPU = 1, 0
PROGRAMS = '/rxhook/build/bench/bench.bpf.o'
LONG_RING = 1024        # for frames that take several descriptors, five at most
SETTLE = 0.01           # seconds in which a softirq ends that has counted its frames
LONGEST_WAIT = 10


class Refused(Exception):
    """A driver that does not take a case; its text says why."""


def run(command):
    done = subprocess.run(command, shell=True, check=False, capture_output=True, text=True)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise Refused(f'{command}: {lines[-1] if lines else done.returncode}')
    return done.stdout


def read(path):
    with open(path, encoding='ascii') as f:
        return f.read().strip()


def write(path, value):
    with open(path, 'w', encoding='ascii') as f:
        f.write(str(value))


def quiet_machine():
    """Nothing but the batches may make the watched CPU receive."""
    os.sched_setaffinity(0, {OTHER_CPU})
    for pid in os.listdir('/proc'):
        if pid.isdigit():
            subprocess.run(['taskset', '-cp', str(OTHER_CPU), pid], check=False, capture_output=True)
    # the same for kernel threads that may run anywhere
    write('/sys/devices/virtual/workqueue/cpumask', f'{1 << OTHER_CPU:x}')
    for key in ('all', 'default'):
        write(f'/proc/sys/net/ipv6/conf/{key}/disable_ipv6', 1)
    run(f'ip netns exec {PEER} sysctl -qw net.ipv6.conf.all.disable_ipv6=1')
    # the sender sends a batch for each queue at once
    run(f'ip netns exec {PEER} ethtool -G {PEER_DEVICE} tx {LONG_RING * 2}')
    # under emulation a softirq would be cut off by its time limit
    write('/proc/sys/net/core/netdev_budget_usecs', 10 ** 8)
    write('/proc/sys/net/core/bpf_jit_kallsyms', 1)
    write('/proc/sys/kernel/kptr_restrict', 0)


def fresh_cpu():
    """Takes the watched CPU off and on: its share of the allocator's caches is
    empty then, whatever was measured before, and timers of others have left it."""
    for online in 0, 1:
        write(f'/sys/devices/system/cpu/cpu{WATCHED_CPU}/online', online)


def load_programs():
    run(f'bpftool prog loadall {PROGRAMS} {cases.PROGRAMS} pinmaps {cases.PROGRAMS}/maps')


def wait_until(true):
    """And then as long as it takes a softirq to end; not for ever."""
    end = time.monotonic() + LONGEST_WAIT
    while not true() and time.monotonic() < end:
        time.sleep(SETTLE)
    time.sleep(SETTLE)


def wait_carrier():
    """After a reset the link takes its time; steady for a moment is up."""
    for _ in range(5):
        wait_until(lambda: read(f'/sys/class/net/{DEVICE}/carrier') == '1')
        time.sleep(0.1)


def set_queues(count):
    if f'{count}' not in re.findall(r'Combined:\s*(\d+)', run(f'ethtool -l {DEVICE}'))[-1:]:
        run(f'ethtool -L {DEVICE} combined {count}')


def set_rings(card, frame_size):
    """As the driver makes them, or longer where a batch does not fit."""
    entries = card.ring if frame_size <= card.buffer else LONG_RING
    for device in DEVICE, OTHER_DEVICE:
        if f'{entries}' not in re.findall(r'^[RT]X:\s*(\d+)', run(f'ethtool -g {device}'), re.M)[2:3]:
            run(f'ethtool -G {device} rx {entries} tx {entries}')


def keep_symbols(name):
    """Where BPF programs are now, and the dispatcher, which is made when one is attached."""
    symbols = [line for line in read('/proc/kallsyms').splitlines() if line.endswith('[bpf]')]
    write(f'/results/kallsyms-{name}', ''.join(line + '\n' for line in symbols))
