# SPDX-License-Identifier: GPL-2.0

"""
Two netdevsims as a cable. The far end picks the transmit queue, which is the
receive queue of the near end, by XPS; the mark in a datagram tells which
program it has met.
"""

import os
import random
import socket
import threading
import time
from contextlib import contextmanager
from pathlib import Path

from lib.py import NetNS, NetNSEnter
from lib.py import cmd, defer, ip
from seqstream import PORT
from xdp_rxq_lib import PIN_DIR, Queues, load_programs

QUEUES = 4
SO_NO_CHECK = 11
MARK_OFFSET = 8
NEAR, FAR, IDLE = "192.0.2.65", "192.0.2.66", "192.0.2.67"
BUS = Path("/sys/bus/netdevsim")


class Nsim:
    """One netdevsim with one port."""

    def __init__(self):
        self.nr = random.randrange(1 << 15)
        (BUS / "new_device").write_text(f"{self.nr} 1 {QUEUES}")
        self.ifname = self._wait_name()
        self.ifindex = socket.if_nametoindex(self.ifname)

    def _wait_name(self):
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            names = list((BUS / f"devices/netdevsim{self.nr}/net").glob("*"))
            if names:
                return names[0].name
            time.sleep(0.01)
        raise TimeoutError("no netdevsim")

    def debugfs(self, name, value):
        path = f"/sys/kernel/debug/netdevsim/netdevsim{self.nr}/ports/0/{name}"
        Path(path).write_text(value)

    def remove(self):
        if self.nr is not None:
            (BUS / "del_device").write_text(str(self.nr))
            self.nr = None


class Cable:
    """Two netdevsims; the far one in a namespace."""

    def __init__(self):
        self.test_dir = Path(__file__).parent.resolve()
        self.net_lib_dir = (self.test_dir / "../../../net/lib").resolve()
        self.ns = NetNS()
        self.dev = Nsim()
        self.peer = Nsim()
        self.ifname, self.ifindex = self.dev.ifname, self.dev.ifindex
        self.queues = Queues(self.ifindex)
        ip(f"link set dev {self.peer.ifname} netns {self.ns.name}")
        self._connect()
        self._configure(self.ifname, NEAR, None)
        # for traffic that nobody waits for
        ip(f"addr add {IDLE}/26 dev {self.ifname}")
        self._configure(self.peer.ifname, FAR, self.ns)
        near_mac = ip(f"link show dev {self.ifname}", json=True)[0]["address"]
        for address in (NEAR, IDLE):
            ip(f"neigh replace {address} lladdr {near_mac} dev {self.peer.ifname} nud permanent",
               ns=self.ns)
        with NetNSEnter(self.ns.name):
            self._out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._out.setsockopt(socket.SOL_SOCKET, SO_NO_CHECK, 1)
        self._in = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._in.bind((NEAR, PORT))
        self._in.settimeout(1)

    def _connect(self):
        with open("/proc/self/ns/net", "rb") as here, \
             open(f"/var/run/netns/{self.ns.name}", "rb") as there:
            peer = ip(f"link show dev {self.peer.ifname}", json=True, ns=self.ns)[0]["ifindex"]
            (BUS / "link_device").write_text(f"{here.fileno()}:{self.ifindex} "
                                             f"{there.fileno()}:{peer}")

    @staticmethod
    def _configure(ifname, addr, ns):
        ip(f"addr add {addr}/26 dev {ifname}", ns=ns)
        ip(f"link set dev {ifname} up", ns=ns)

    def steer(self, queue):
        """What the far end sends comes in on one queue."""
        queues = f"/sys/class/net/{self.peer.ifname}/queues"
        cpus = f"{(1 << os.cpu_count()) - 1:x}"
        script = " && ".join(f"echo {cpus if q == queue else 0} > {queues}/tx-{q}/xps_cpus"
                             for q in range(QUEUES))
        cmd(f"sh -c '{script}'", shell=True, ns=self.ns)

    def receive(self):
        """The mark of a datagram sent now; None if it does not arrive."""
        number = random.randrange(1 << 62).to_bytes(MARK_OFFSET, "big")
        self._out.sendto(number + b"0" + bytes(50), (NEAR, PORT))
        try:
            while True:
                data = self._in.recv(200)
                if data[:MARK_OFFSET] == number:
                    return chr(data[MARK_OFFSET])
        except TimeoutError:
            return None

    @contextmanager
    def traffic(self):
        """Datagrams without end while the block runs, on the queue of the moment."""
        stop = threading.Event()

        def send():
            while not stop.wait(0.001):
                try:
                    self._out.sendto(bytes(60), (IDLE, PORT))
                except OSError:
                    # the far end has no link while the near one is down
                    pass

        sender = threading.Thread(target=send)
        sender.start()
        try:
            yield
        finally:
            stop.set()
            sender.join()

    def met(self):
        """The marks of datagrams on all queues, in their order."""
        marks = []
        for queue in range(QUEUES):
            self.steer(queue)
            marks.append(self.receive() or "-")
        return "".join(marks)

    def attach(self, name, mode="xdpdrv"):
        what = f"pinned {PIN_DIR}/{name}" if name else "off"
        ip(f"-force link set dev {self.ifname} {mode} {what}")

    def prepare(self):
        """Programs loaded, and nothing left of them after the test."""
        load_programs(self.test_dir)
        defer(ip, f"link set dev {self.ifname} xdpdrv off")
        defer(self.queues.clear)

    def remove(self):
        self._in.close()
        self._out.close()
        self.dev.remove()
        self.peer.remove()
        del self.ns
