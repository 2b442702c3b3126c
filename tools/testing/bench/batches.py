# SPDX-License-Identifier: GPL-2.0
"""One case at one size: sets it up, sends batches, has them received.

A batch gathers in the ring while the interrupt is held back, then one softirq
receives it. That runs on CPU 1, everything else on CPU 0. Some of what a frame
costs comes up only now and then, at the end of a ring or when a cache of the
allocator is empty: there are enough batches to come around any ring's end.
"""
import os
import subprocess
import sys
import time

import cases
import frames
import marks
import msix
import nic
from machine import (DEVICE, OTHER_CPU, PEER, PEER_DEVICE, PORTS, SETTLE, WATCHED_CPU, Refused, fresh_cpu,
                     read, run, set_queues, set_rings, wait_carrier, wait_until)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../selftests/drivers/net/hw'))
from xsk_socket import COPY, ZEROCOPY, XskSocket  # pylint: disable=wrong-import-position

NO_ROUTE, SENDERS = '198.51.100.1', '192.0.2.{}'
# Three polls of 64 frames, which fit a ring of 256 descriptors. 16 batches of them
# go around rings of up to 1024 descriptors a whole number of times.
BATCH, BATCHES = 192, 16


class Bench:
    """One case at one size, set up."""

    def __init__(self, card, case, size):
        self.card, self.case, self.size = card, case, size
        self.socket = self.xsk = None
        self.xsk_came = 0
        self.receive, self.send = [], []

    def __enter__(self):
        mtu = max(1500, self.size - 14)
        try:
            for port in PORTS:
                run(f'{port} mtu {mtu}')
            set_queues(self.case.queues)
            set_rings(self.card, self.size)
            frags = '_frags' if self.size > 1514 else ''
            for command in self.case.setup:
                run(command.format(frags=frags))
            wait_carrier()
            if self.case.xsk:
                mode = {'copy': COPY, 'zerocopy': ZEROCOPY}[self.case.xsk]
                self.xsk = XskSocket(DEVICE, mode, f'pinned {cases.PROGRAMS}/maps/sockets')
                wait_carrier()
            fresh_cpu()
            self._take_interrupts()
            self._make_frames()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _take_interrupts(self):
        """Comes after all that resets the card and makes its interrupts anew."""
        receive = [nic.irqs(self.card.receives.format(device=DEVICE, queue=queue))[0]
                   for queue in range(self.case.queues)]
        send = set(nic.irqs(self.card.sends.format(device=self.case.sends_on or '-'))) - set(receive)
        for irq in nic.irqs():
            nic.pin(irq, OTHER_CPU)
        for irq in [receive[0], *send]:
            nic.pin(irq, WATCHED_CPU)
        self.receive = [msix.Vector(DEVICE, irq) for irq in receive]
        self.send = [msix.Vector(self.case.sends_on, irq) for irq in sorted(send)]

    def _make_frames(self):
        """For each queue a list of frames that come to it, one of each sender."""
        self.counters = nic.Counters(DEVICE)
        self.socket = frames.packet_socket(PEER, PEER_DEVICE)
        macs = read(f'/sys/class/net/{DEVICE}/address'), \
            run(f'ip netns exec {PEER} cat /sys/class/net/{PEER_DEVICE}/address').strip()
        self.frames = [[] for _ in range(self.case.queues)]
        for host in range(2, 250):
            frame = frames.udp_frame(self.size, macs, (NO_ROUTE, SENDERS.format(host)))
            into = self.frames[self._queue_of(frame) if self.case.queues > 1 else 0]
            if len(into) < self.case.senders:
                into.append(frame)
            if all(len(of_queue) == self.case.senders for of_queue in self.frames):
                return
        raise Refused(f'no sender whose frames come to each of {self.case.queues} queues')

    def _queue_of(self, frame):
        before = self.received()
        self.socket.send(frame)
        wait_until(lambda: self.received() != before)
        for queue, (old, new) in enumerate(zip(before, self.received())):
            if new > old:
                return queue
        raise Refused('a frame came to no queue')

    def __exit__(self, *_):
        for vector in self.receive + self.send:
            vector.release()
        if self.socket:
            self.socket.close()
        if self.xsk:
            self.xsk.close()
        for command in (f'ip link set dev {DEVICE} xdp off', *self.case.undo):
            subprocess.run(command, shell=True, check=False, capture_output=True)

    def received(self):
        """Frames that the driver has counted, by queue."""
        counters = self.counters.read()
        return [counters[self.card.received.format(queue=queue)] for queue in range(self.case.queues)]

    def arrived(self):
        """Frames of the first queue that have come where the case takes them, as far
        as somebody counts them there."""
        if self.xsk:
            self.xsk_came += len(self.xsk.frames())
            return self.xsk_came
        if self.case.sends_on:
            return int(read(f'/sys/class/net/{self.case.sends_on}/statistics/tx_packets'))
        return self.received()[0]

    def batch(self, marked):
        """Sends a batch and has it received; returns how many arrived."""
        for vector in self.receive + self.send:
            vector.hold()
        before, arrived = self.received(), self.arrived()
        for i in range(BATCH):
            for of_queue in self.frames:
                self.socket.send(of_queue[i % len(of_queue)])
        # the card may be pacing its interrupts; then the last is still to come
        time.sleep(SETTLE)
        if marked:
            marks.start()
        for vector in self.receive:
            vector.release_once()
        wait_until(lambda: self._all_received(before))
        # what has been sent is cleaned up in a softirq of its own
        for vector in self.send:
            vector.release_once()
            time.sleep(SETTLE)
        wait_until(lambda: self.arrived() - arrived >= BATCH)
        if marked:
            marks.stop()
        return self.arrived() - arrived

    def _all_received(self, before):
        return all(new - old >= BATCH for old, new in zip(before, self.received()))
