# SPDX-License-Identifier: GPL-2.0

"""
Numbered datagrams from the remote end (seqstream.c) and programs that act on
these alone (xdp_seq.bpf.h), for tests of what arrives.
"""

import json
import os
import re
import time
from contextlib import ExitStack, contextmanager

from lib.py import EthtoolFamily, KsftSkipEx, NetdevFamily, ksft_eq, ksft_gt, ksft_true
from lib.py import bkg, bpftool, cmd, defer, ethtool, ip

PORT = 34567
# bytes of a frame in front of a datagram, by IP version
HEADERS = {"4": 14 + 20 + 8, "6": 14 + 40 + 8}
PIN_DIR = "/sys/fs/bpf/xdp_seq"
# descriptors, where not the most; a card with many queues takes long to fill those
LONG_RING = {"mlx4_core": 2048}


def _long_rings(stack, ifname, host, driver):
    """So that a burst, or a guest that is slow, loses nothing in the card."""
    rings = ethtool(f"-g {ifname}", json=True, host=host)[0]
    wanted = LONG_RING.get(driver, rings["rx-max"])
    if rings["rx"] != wanted:
        ethtool(f"-G {ifname} rx {wanted}", host=host)
        stack.callback(ethtool, f"-G {ifname} rx {rings['rx']}", host=host)


def _long_queue(stack, ifname, host):
    """Where the host is slow, datagrams wait in the sender's qdisc, and must not be lost there."""
    old = ip(f"link show dev {ifname}", json=True, host=host)[0]["txqlen"]
    ip(f"link set dev {ifname} txqueuelen 30000", host=host)
    stack.callback(ip, f"link set dev {ifname} txqueuelen {old}", host=host)


def _neighbours(cfg):
    """(device, host, address, MAC) of what each end knows of the other."""
    remote_mac = ip(f"link show dev {cfg.remote_ifname}", json=True, host=cfg.remote)[0]["address"]
    return ((cfg.ifname, None, cfg.remote_addr, remote_mac),
            (cfg.remote_ifname, cfg.remote, cfg.addr, cfg.dev["address"]))


def ready(cfg):
    """Fixes the neighbours; to be called again where a link has been down.

    What waits for a neighbour to be found is overtaken by what comes after.
    """
    for ifname, host, addr, mac in _neighbours(cfg):
        ip(f"neigh replace {addr} lladdr {mac} dev {ifname} nud permanent", host=host)


def read_file(path):
    with open(path, encoding="ascii") as f:
        return f.read().strip()


def write_file(path, text):
    """One write, as sysfs and debugfs want it."""
    with open(path, "w", encoding="ascii") as f:
        f.write(text)


def _operstate(cfg, host):
    if host:
        return ip(f"link show dev {cfg.remote_ifname}", json=True, host=host)[0]["operstate"]
    return read_file(f"/sys/class/net/{cfg.ifname}/operstate").upper()


def wait_link(cfg):
    """Waits until both ends have their link, for some seconds at most."""
    for host, ifname in ((None, cfg.ifname), (cfg.remote, cfg.remote_ifname)):
        deadline = time.monotonic() + 20
        while _operstate(cfg, host) != "UP":
            if time.monotonic() > deadline:
                raise TimeoutError(f"{ifname} has no link")
            time.sleep(0.1)


def settle(cfg):
    """After a change that may have taken the link down, or restarted the rings."""
    wait_link(cfg)
    ready(cfg)


@contextmanager
def numbered_stream(cfg):
    """Both ends ready for datagrams of which each one is accounted for."""
    cfg.bin_remote = cfg.remote.deploy(str(cfg.test_dir / "seqstream"))
    with ExitStack() as stack:
        _long_rings(stack, cfg.ifname, None, driver_name(cfg))
        _long_rings(stack, cfg.remote_ifname, cfg.remote, driver_name(cfg))
        _long_queue(stack, cfg.remote_ifname, cfg.remote)
        for ifname, host, addr, _ in _neighbours(cfg):
            # a test that set the interface down has flushed it
            stack.callback(cmd, f"ip neigh del {addr} dev {ifname}", fail=False, host=host)
        settle(cfg)
        yield


def load_programs(cfg, obj, maps=None):
    """Loads all programs once; attaching is then the only thing a test does."""
    bpftool(f"prog loadall {cfg.test_dir / obj} {PIN_DIR}" + (f" pinmaps {maps}" if maps else ""))
    defer(cmd, f"rm -r {PIN_DIR} {maps or ''}")
    defer(ip, f"link set dev {cfg.ifname} xdp off")


def attach(cfg, prog):
    """Attaches or replaces."""
    ip(f"-force link set dev {cfg.ifname} xdp pinned {PIN_DIR}/{prog}")


def attach_and_settle(cfg, prog):
    """For tests of what a program does: waits for the link, should it be gone."""
    attach(cfg, prog)
    settle(cfg)


def detach(cfg):
    """Detaches, if something is attached."""
    ip(f"link set dev {cfg.ifname} xdp off")


def program_id(cfg):
    """The id of the program that is attached, or None."""
    return ip(f"-d link show dev {cfg.ifname}", json=True)[0].get("xdp", {}).get("prog", {}).get("id")


def driver_name(cfg):
    """The name of the card's driver on its bus."""
    return os.path.basename(os.path.realpath(f"/sys/class/net/{cfg.ifname}/device/driver"))


def require_zerocopy(cfg):
    """Skips where the driver has no zero-copy AF_XDP sockets."""
    features = NetdevFamily().dev_get({"ifindex": cfg.ifindex})["xdp-features"]
    if "xsk-zerocopy" not in features:
        raise KsftSkipEx("no zero-copy AF_XDP")


def _channel_counts(cfg):
    """What the driver says of its channels, and the kind of those that receive."""
    counts = EthtoolFamily().channels_get({"header": {"dev-name": cfg.ifname}})
    return counts, "combined" if counts.get("combined-max") else "rx"


def channels(cfg):
    """(channels that receive, as many as there may be)"""
    counts, kind = _channel_counts(cfg)
    return counts.get(f"{kind}-count"), counts.get(f"{kind}-max")


def set_channels(cfg, count):
    """So many channels that receive."""
    ethtool(f"-L {cfg.ifname} {_channel_counts(cfg)[1]} {count}")


def queue_packets(cfg):
    """Frames received per queue, under the names that the drivers have."""
    found = {int(m[1]): v for k, v in stats(cfg).items()
             if (m := re.match(r"(?:rx_queue_|rx)(\d+)_packets$", k))}
    return [found[q] for q in sorted(found)]


def _source_port_for(cfg, queue, count=10):
    """A port of the sender from which datagrams come in on one queue."""
    for port in range(40000, 40128):
        cfg.source_port = port
        before = queue_packets(cfg)
        send(cfg, count, 64)
        deadline = time.monotonic() + 1
        while time.monotonic() < deadline:
            came = [new - old for old, new in zip(before, queue_packets(cfg))]
            if came[queue] >= count:
                return port
            if max(came) >= count:
                break
    raise KsftSkipEx(f"no way to have datagrams come in on queue {queue}")


def _steer_by_table(cfg, queue, queues):
    """Leaves one queue in the table of RSS; False where the driver does not."""
    weights = " ".join("1" if q == queue else "0" for q in range(queues))
    cfg.source_port = None
    return set_rss_table(cfg, f"weight {weights}")


def set_rss_table(cfg, what):
    """Changes the table of RSS, for which some drivers restart the port; False if refused."""
    before = carrier_changes(cfg)
    if cmd(f"ethtool -X {cfg.ifname} {what}", fail=False).ret:
        return False
    cfg.table_is_default = what == "default"
    if carrier_changes(cfg) != before:
        settle(cfg)
    return True


def steer(cfg, queue, queues):
    """Every datagram to one queue; unsteer() takes it back.

    A driver whose RSS table does not leave a queue out gets a flow whose hash
    leads there, which stays the same as long as there are as many queues.
    """
    ports = cfg.__dict__.setdefault("source_ports", {})
    if not ports and _steer_by_table(cfg, queue, queues):
        return
    if (queue, queues) not in ports:
        unsteer(cfg)
        ports[queue, queues] = _source_port_for(cfg, queue)
    cfg.source_port = ports[queue, queues]


def unsteer(cfg):
    """To the queues that the driver has chosen."""
    cfg.source_port = None
    if not getattr(cfg, "table_is_default", False):
        ksft_true(set_rss_table(cfg, "default"), comment="ethtool -X default")


def carrier_changes(cfg):
    """How often the link has come or gone."""
    return int(read_file(f"/sys/class/net/{cfg.ifname}/carrier_changes"))


def stats(cfg):
    """The driver's counters by their names."""
    text = ethtool(f"-S {cfg.ifname}").stdout
    return {name: int(value) for name, value in re.findall(r"^ +(\S+): (\d+)$", text, re.M)}


def _source(cfg):
    """The sender's option for what steer() has found."""
    port = getattr(cfg, "source_port", None)
    return f"-b {port}" if port else ""


def _receiver(cfg, args):
    """A receiver here that has its socket open."""
    return bkg(f"{cfg.test_dir / 'seqstream'} recv {args}", exit_wait=True, ksft_ready=True)


class Stream:
    """Numbered datagrams from the remote end, for as long as the block runs."""

    def __init__(self, cfg, rate):
        args = f"-n 1000000 -s 200 -p {PORT}"
        self._recv = _receiver(cfg, f"{args} -i 2000")
        self._send = bkg(f"{cfg.bin_remote} send -d {cfg.addr} -r {rate} {_source(cfg)} {args}",
                         host=cfg.remote, exit_wait=True)
        self.sent = None
        self.report = None

    def __enter__(self):
        return self

    def __exit__(self, ex_type, ex_value, ex_tb):
        self._send.process(terminate=True, timeout=60)
        self._recv.process(terminate=bool(ex_type), timeout=60)
        if not ex_type:
            self.sent = json.loads(self._send.stdout)["sent"]
            self.report = json.loads(self._recv.stdout)


def _received(cfg):
    return int(read_file(f"/sys/class/net/{cfg.ifname}/statistics/rx_packets"))


def _numbered(count, size):
    """Options for so many datagrams of a size, or of several sizes in turn."""
    sizes = size if isinstance(size, list) else [size]
    return f"-n {count} -s {','.join(map(str, sizes))} -p {PORT}"


def send(cfg, count, size=200, rate=20000):
    """Sends datagrams that nobody here needs to receive.

    Returns when the card has handed over so many frames and no more come, or
    none for 2 seconds.
    """
    goal, seen = _received(cfg) + count, None
    cmd(f"{cfg.bin_remote} send -d {cfg.addr} {_numbered(count, size)} -r {rate} {_source(cfg)}",
        host=cfg.remote)
    deadline = time.monotonic() + 2
    while time.monotonic() < deadline:
        now = _received(cfg)
        if now >= goal and now == seen:
            break
        if now != seen:
            seen, deadline = now, time.monotonic() + 2
        time.sleep(0.01)


def send_and_receive(cfg, count, size, rate=2000):
    """What the sockets here report of datagrams of one size, or of several in turn."""
    recv = _receiver(cfg, _numbered(count, size))
    send(cfg, count, size, rate)
    recv.process(terminate=False, timeout=60)
    return json.loads(recv.stdout)


def send_and_get_back(cfg, count, size=200, rate=5000):
    """What the sender reports of datagrams that a program here sends back."""
    echo = cmd(f"{cfg.bin_remote} send -e -d {cfg.addr} {_numbered(count, size)} -r {rate}",
               host=cfg.remote)
    return json.loads(echo.stdout)


def expect_unharmed(report, sent):
    ksft_gt(sent, 0)
    ksft_eq(sent - report["received"], 0, comment=f"datagrams lost, of sizes {report['missing_sizes']}")
    ksft_eq(report["reordered"], 0, comment="datagrams out of order")
    ksft_eq(report["duplicate"], 0, comment="datagrams twice")
    ksft_eq(report["corrupt"], 0, comment="datagrams altered")
