#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0

"""
A program per receive queue: what the core promises, on netdevsim.
"""

import errno
import itertools
import os
import random
import socket
import subprocess

from lib.py import ksft_eq, ksft_exit, ksft_in, ksft_not_in, ksft_raises, ksft_run, ksft_true
from lib.py import ksft_variants, KsftNamedVariant, KsftSkipEx
from lib.py import CmdExitFailure, NetNS, NetNSEnter, NetdevFamily, NlError, UserNetNS
from lib.py import bkg, cmd, defer, ethtool, ip
from xdp_rxq_lib import PIN_DIR, Queues, expect_error, link_device, load_for_device, open_program
from xdp_rxq_lib import program_id, wait_programs
from xdp_rxq_nsim import BUS, QUEUES, Cable, Nsim

# the full number takes a debug kernel without KVM ten minutes
OPERATIONS = 10000 if os.environ.get("SOAK") else 2000
NO_PROGRAM = os.open("/dev/null", os.O_RDONLY)


def queue_runs_its_program(cable):
    """A queue with a program runs it, the others do not, and queue-get tells."""
    cable.prepare()
    ksft_eq(cable.met(), "0000")
    cable.queues.set(2, "mark_c")
    ksft_eq(cable.met(), "00C0")
    ksft_eq([cable.queues.own(q) for q in range(QUEUES)], [None, None, program_id("mark_c"), None])
    cable.queues.set(2, "mark_d_frags")
    ksft_eq(cable.met(), "00D0")
    cable.queues.set(0, "drop")
    ksft_eq(cable.met(), "-0D0")
    cable.queues.set(2, None)
    ksft_eq(cable.met(), "-000")
    cable.queues.set(0, None)
    ksft_eq(cable.met(), "0000")


def two_levels(cable):
    """Device none, A or B and queue none or C, in each order of changes."""
    cable.prepare()
    states = list(itertools.product((None, "mark_a", "mark_b"), (None, "mark_c")))
    marks = {None: "0", "mark_a": "A", "mark_b": "B", "mark_c": "C"}
    cable.steer(1)
    for before, after in itertools.permutations(states, 2):
        for device_first in (True, False):
            for dev_prog, queue_prog in (before, after):
                steps = [lambda p=dev_prog: cable.attach(p),
                         lambda p=queue_prog: cable.queues.set(1, p)]
                for step in steps if device_first else reversed(steps):
                    step()
                ksft_eq(cable.receive(), marks[queue_prog or dev_prog],
                        comment=f"{before} to {after}: device {dev_prog}, queue {queue_prog}")


def device_program_leaves_queues_alone(cable):
    """Attach, replace and detach on the device, by netlink and by a link."""
    cable.prepare()
    cable.queues.set(3, "mark_c")
    cable.attach("mark_a")
    ksft_eq(cable.met(), "AAAC")
    cable.attach("mark_b")
    ksft_eq(cable.met(), "BBBC")
    # without a mode: queue programs do not make this ambiguous
    ip(f"link set dev {cable.ifname} xdp off")
    ksft_eq(cable.met(), "000C")
    link = link_device("mark_a", cable.ifindex)
    ksft_eq(cable.met(), "AAAC")
    cable.queues.set(0, "mark_d_frags")
    ksft_eq(cable.met(), "DAAC")
    cable.queues.set(3, None)
    ksft_eq(cable.met(), "DAAA")
    os.close(link)
    ksft_eq(cable.met(), "D000")


@ksft_variants([
    KsftNamedVariant("ifindex", errno.ENODEV, "no such device", {"ifindex": 0x7ffffff0}),
    KsftNamedVariant("ifindex_0", errno.ERANGE, "integer out of range", {"ifindex": 0}),
    KsftNamedVariant("type", errno.EINVAL, "only receive queues run programs", {"type": "tx"}),
    KsftNamedVariant("type_unknown", errno.ERANGE, "integer out of range", {"type": 7}),
    KsftNamedVariant("queue", errno.ERANGE, f"no receive queue {QUEUES}, there are {QUEUES}",
                     {"id": QUEUES}),
    KsftNamedVariant("flags_unknown", errno.EINVAL, "reserved bit set", {"xdp-flags": 4}),
    KsftNamedVariant("both_flags", errno.EINVAL, "replace and if-noexist exclude each other",
                     {"xdp-flags": ["replace", "if-noexist"], "xdp-expected-id": 1}),
    KsftNamedVariant("replace_what", errno.EINVAL, "xdp-expected-id and replace need each other",
                     {"xdp-flags": "replace"}),
    KsftNamedVariant("expects_for_what", errno.EINVAL,
                     "xdp-expected-id and replace need each other", {"xdp-expected-id": 1}),
    KsftNamedVariant("fd", errno.EBADF, "no such file descriptor", {"xdp-fd": 1000}),
    KsftNamedVariant("fd_negative", errno.EBADF, "no such file descriptor", {"xdp-fd": -2}),
    KsftNamedVariant("fd_of_a_file", errno.EINVAL, "file descriptor is not of an XDP program",
                     {"xdp-fd": NO_PROGRAM}),
])
def refuses_request(cable, error, text, attrs):
    """Each bad attribute has its error and its text."""
    cable.prepare()
    fd = open_program("mark_c")
    defer(os.close, fd)
    with ksft_raises(NlError) as cm:
        cable.queues.nl.queue_set({"ifindex": cable.ifindex, "type": "rx", "id": 0, "xdp-fd": fd,
                                   **attrs})
    if cm.exception:
        expect_error(cm.exception, error, text)


@ksft_variants(["ifindex", "type", "id", "xdp-fd"])
def refuses_incomplete(cable, missing):
    """All four are needed."""
    request = {"ifindex": cable.ifindex, "type": "rx", "id": 0, "xdp-fd": -1}
    del request[missing]
    with ksft_raises(NlError) as cm:
        cable.queues.nl.queue_set(request)
    if cm.exception:
        ksft_eq(cm.exception.error, errno.EINVAL)
        ksft_eq(cm.exception.nl_msg.extack.get("miss-type"), missing)


@ksft_variants([
    KsftNamedVariant("tc", "not_xdp", "file descriptor is not of an XDP program"),
    KsftNamedVariant("devmap", "for_devmap", "program is made for entries of a map"),
    KsftNamedVariant("cpumap", "for_cpumap", "program is made for entries of a map"),
])
def refuses_program(cable, name, text):
    """Programs that are for something else."""
    cable.prepare()
    cable.queues.refused(errno.EINVAL, text, 1, name)


@ksft_variants([KsftNamedVariant("bound", False), KsftNamedVariant("offloaded", True)])
def refuses_program_of_a_device(cable, offload):
    """Programs that are bound to a device, were it this one."""
    fd = load_for_device(cable.ifindex, offload)
    defer(os.close, fd)
    cable.queues.refused(errno.EINVAL, "program is bound to a device", 1, fd)


def refuses_driver_without(cable):
    """A driver without programs per queue says so, in xdp-features too."""
    cable.prepare()
    ip("link add name dummyrxq type dummy")
    defer(ip, "link del dev dummyrxq")
    ip("link set dev dummyrxq up")
    dummy = Queues(socket.if_nametoindex("dummyrxq"))
    dummy.refused(errno.EOPNOTSUPP, "driver has one program for all queues", 0, "mark_c")
    dummy.refused(errno.EOPNOTSUPP, "driver has one program for all queues", 0, None)
    features = {dev["ifindex"]: dev["xdp-features"] for dev in dummy.nl.dev_get({}, dump=True)}
    ksft_not_in("rxq-prog", features[dummy.ifindex])
    ksft_in("rxq-prog", features[cable.ifindex])


def flags(cable):
    """if-noexist and replace set under their condition, and only then."""
    cable.prepare()
    a, b = program_id("mark_a"), program_id("mark_b")
    queues = cable.queues

    queues.refused(errno.EEXIST, f"queue 1 has program 0, not {a}", 1, "mark_b",
                   xdp_flags="replace", xdp_expected_id=a)
    queues.set(1, "mark_a", xdp_flags="if-noexist")
    ksft_eq(queues.own(1), a)
    queues.refused(errno.EBUSY, f"queue 1 has program {a} already", 1, "mark_b",
                   xdp_flags="if-noexist")
    queues.refused(errno.EEXIST, f"queue 1 has program {a}, not {b}", 1, "mark_b",
                   xdp_flags="replace", xdp_expected_id=b)
    queues.refused(errno.EEXIST, f"queue 1 has program {a}, not {b}", 1, None,
                   xdp_flags="replace", xdp_expected_id=b)
    queues.refused(errno.EEXIST, f"queue 1 has program {a}, not 0", 1, "mark_b",
                   xdp_flags="replace", xdp_expected_id=0)
    queues.set(1, "mark_b", xdp_flags="replace", xdp_expected_id=a)
    ksft_eq(queues.own(1), b)
    queues.set(1, None, xdp_flags="replace", xdp_expected_id=b)
    ksft_eq(queues.own(1), None)
    queues.set(1, "mark_a", xdp_flags="replace", xdp_expected_id=0)
    ksft_eq(queues.own(1), a)


def generic_program_excludes(cable):
    """Queues run their programs in the driver; generic XDP is not on top of it."""
    cable.prepare()
    defer(ip, f"link set dev {cable.ifname} xdpgeneric off")
    cable.attach("mark_a", "xdpgeneric")
    cable.queues.refused(errno.EEXIST, "device has a generic XDP program", 1, "mark_c")
    cable.attach(None, "xdpgeneric")
    cable.queues.set(1, "mark_c")
    with ksft_raises(CmdExitFailure) as cm:
        cable.attach("mark_a", "xdpgeneric")
    ksft_in("receive queues have native XDP programs", str(cm.exception))
    ksft_eq(cable.met(), "0C00")


def device_above(cable):
    """A program on a device above excludes those on the queues below it."""
    cable.prepare()
    ip(f"link add link {cable.ifname} name vlanrxq type vlan id 10")
    defer(ip, "link del dev vlanrxq")
    ip(f"link set dev vlanrxq xdpgeneric pinned {PIN_DIR}/mark_a")
    cable.queues.refused(errno.EEXIST, "vlanrxq above has an XDP program", 1, "mark_c")
    ip("link set dev vlanrxq xdpgeneric off")
    cable.queues.set(1, "mark_c")
    # what is set stays, and goes
    ip(f"link set dev vlanrxq xdpgeneric pinned {PIN_DIR}/mark_a")
    ksft_eq(cable.met(), "0C00")
    cable.queues.set(1, None)


def fewer_channels(cable):
    """No queue that has a program can go; its program gone, it can."""
    cable.prepare()
    cable.queues.set(2, "mark_c")
    defer(ethtool, f"-L {cable.ifname} combined {QUEUES}")
    ethtool(f"-L {cable.ifname} combined 3")
    with ksft_raises(CmdExitFailure) as cm:
        ethtool(f"-L {cable.ifname} combined 2")
    ksft_in("receive queue 2 has an XDP program", str(cm.exception))
    cable.queues.set(2, None)
    ethtool(f"-L {cable.ifname} combined 2")
    cable.queues.refused(errno.ERANGE, "no receive queue 2, there are 2", 2, "mark_c")
    # there is nothing to be cleared, but the queue could be back
    cable.queues.set(2, None)
    cable.queues.refused(errno.ERANGE, f"no receive queue {QUEUES}", QUEUES, None)


def mtu_and_frags(cable):
    """Neither order gives a program without frags a frame of two buffers."""
    cable.prepare()
    defer(ip, f"link set dev {cable.ifname} mtu 1500")
    cable.queues.set(1, "mark_c")
    with ksft_raises(CmdExitFailure):
        ip(f"link set dev {cable.ifname} mtu 5000")
    cable.queues.set(1, "mark_d_frags")
    ip(f"link set dev {cable.ifname} mtu 5000")
    cable.queues.refused(errno.EINVAL, "MTU too large", 1, "mark_c")
    ksft_eq(cable.met(), "0D00")


def tcp_data_split(cable):
    """Split headers and programs without frags exclude each other."""
    cable.prepare()
    defer(ethtool, f"-G {cable.ifname} tcp-data-split off")
    ethtool(f"-G {cable.ifname} tcp-data-split on")
    cable.queues.refused(errno.EBUSY, "program without frags: tcp-data-split is on", 1, "mark_c")
    cable.queues.set(1, "mark_d_frags")
    ethtool(f"-G {cable.ifname} tcp-data-split off")
    cable.queues.set(1, "mark_c")
    with ksft_raises(CmdExitFailure):
        ethtool(f"-G {cable.ifname} tcp-data-split on")


def driver_refuses(cable):
    """After an error of the driver all is as before."""
    cable.prepare()
    cable.queues.set(1, "mark_a")
    defer(cable.dev.debugfs, "bpf_xdpdrv_accept", "Y")
    cable.dev.debugfs("bpf_xdpdrv_accept", "N")
    cable.queues.refused(errno.EOPNOTSUPP, "driver XDP disabled in DebugFS", 1, "mark_c")
    cable.queues.refused(errno.EOPNOTSUPP, "driver XDP disabled in DebugFS", 2, "mark_c")
    ksft_eq(cable.met(), "0A00")
    cable.queues.set(1, None)
    cmd(f"rm -rf {PIN_DIR}")
    wait_programs([])


def notifies(cable):
    """Each change is told once, to the group mgmt."""
    cable.prepare()
    listener = NetdevFamily()
    listener.ntf_subscribe("mgmt")
    a, b = program_id("mark_a"), program_id("mark_b")
    cable.queues.set(1, "mark_a")
    cable.queues.set(1, "mark_a")
    cable.queues.set(1, "mark_b")
    cable.queues.refused(errno.EBUSY, "already", 1, "mark_a", xdp_flags="if-noexist")
    cable.queues.set(1, None)
    cable.queues.set(1, None)
    told = [(n["msg"]["id"], n["msg"]["type"], n["msg"].get("xdp-id"))
            for n in listener.poll_ntf(duration=1)
            if n["name"] == "queue-change-ntf" and n["msg"]["ifindex"] == cable.ifindex]
    ksft_eq(told, [(1, "rx", a), (1, "rx", b), (1, "rx", None)])


def af_xdp_beside(cable):
    """A queue with a socket takes a program, and its program is not in the way."""
    cable.prepare()
    helper = cable.net_lib_dir / "xdp_helper"
    with bkg(f"{helper} {cable.ifindex} 1", ksft_wait=3):
        cable.queues.set(1, "mark_c")
        ksft_eq(cable.met(), "0C00")
        cable.queues.set(1, None)
        ksft_eq(cable.met(), "0000")
    cable.queues.set(1, "mark_c")
    with bkg(f"{helper} {cable.ifindex} 1", ksft_wait=3):
        ksft_eq(cable.met(), "0C00")


def down_and_up(cable):
    """What is set while the device is down runs once it is up."""
    cable.prepare()
    defer(ip, f"link set dev {cable.ifname} up")
    ip(f"link set dev {cable.ifname} down")
    cable.queues.set(1, "mark_c")
    ip(f"link set dev {cable.ifname} up")
    ksft_eq(cable.met(), "0C00")
    ip(f"link set dev {cable.ifname} down")
    cable.queues.set(1, None)
    cable.queues.set(2, "mark_a")
    ip(f"link set dev {cable.ifname} up")
    ksft_eq(cable.met(), "00A0")


@ksft_variants(["0", "1", "2", "3"])
def queue_restart(cable, mode):
    """A queue that is taken down and set up again has its program."""
    cable.prepare()
    cable.queues.set(1, "mark_c")
    cable.attach("mark_a")
    for queue in (1, 2):
        cable.dev.debugfs("queue_reset", f"{queue} {mode}")
    ksft_eq(cable.met(), "ACAA")


def leased_queue(cable):
    """A queue with a program is not leased, a leased one takes no program."""
    cable.prepare()
    if cmd("ip link add name nkrxq0 numrxqueues 3 type netkit peer name nkrxq1 numrxqueues 3",
           fail=False).ret:
        raise KsftSkipEx("no netkit")
    defer(ip, "link del dev nkrxq0")
    ip("link set dev nkrxq0 up")
    ip("link set dev nkrxq1 up")
    guest = socket.if_nametoindex("nkrxq1")
    lease = {"ifindex": guest, "type": "rx",
             "lease": {"ifindex": cable.ifindex, "queue": {"id": 1, "type": "rx"}}}
    cable.queues.set(1, "mark_c")
    with ksft_raises(NlError) as cm:
        cable.queues.nl.queue_create(lease)
    expect_error(cm.exception, errno.EBUSY, "receive queue 1 has an XDP program")
    cable.queues.set(1, None)
    try:
        cable.queues.nl.queue_create(lease)
    except NlError as exc:
        raise KsftSkipEx(f"no lease: {exc}") from exc
    cable.queues.refused(errno.EBUSY, "queue 1 is leased", 1, "mark_c")


def moves_to_namespace(cable):
    """The programs go along to another namespace, as the device's does."""
    cable.prepare()
    dev = Nsim()
    defer(dev.remove)
    ip(f"link set dev {dev.ifname} up")
    queues = Queues(dev.ifindex)
    queues.set(2, "mark_c")
    with NetNS() as ns:
        ip(f"link set dev {dev.ifname} netns {ns.name}")
        ip(f"link set dev {dev.ifname} up", ns=ns)
        with NetNSEnter(ns.name):
            moved = Queues(socket.if_nametoindex(dev.ifname))
        ksft_eq(moved.own(2), program_id("mark_c"))
        moved.set(2, "mark_d_frags")
        ksft_eq(moved.own(2), program_id("mark_d_frags"))
        moved.set(1, "mark_a")
        dev.remove()


SET_SCRIPT = """
import sys
sys.path.insert(0, ".")
from lib.py import NlError
from xdp_rxq_lib import Queues
try:
    Queues(int(sys.argv[1])).set_fd(1, int(sys.argv[2]))
except NlError as exc:
    sys.exit(exc.error)
"""


def _set_as(cable, fd, ifindex, *argv):
    """The error of a queue-set in a process that argv starts; 0 for none."""
    return subprocess.run([*argv, "python3", "-c", SET_SCRIPT, str(ifindex), str(fd)],
                          pass_fds=(fd,), cwd=cable.test_dir, check=False).returncode


def capability(cable):
    """It takes CAP_NET_ADMIN, and over the namespace that the device is in."""
    cable.prepare()
    fd = open_program("mark_c")
    defer(os.close, fd)
    ksft_eq(_set_as(cable, fd, cable.ifindex, "unshare", "--user", "--map-root-user"), errno.EPERM)
    ksft_eq(_set_as(cable, fd, cable.ifindex, "setpriv", "--bounding-set=-net_admin"), errno.EPERM)
    ksft_eq(cable.queues.own(1), None)
    ksft_eq(_set_as(cable, fd, cable.ifindex, "env"), 0)
    ksft_eq(cable.queues.own(1), program_id("mark_c"))


def user_namespace(cable):
    """Who administrates a network namespace by its user namespace sets there."""
    cable.prepare()
    fd = open_program("mark_c")
    defer(os.close, fd)
    dev = Nsim()
    defer(dev.remove)
    with UserNetNS() as ns:
        ip(f"link set dev {dev.ifname} netns {ns.name}")
        link = ip(f"link show dev {dev.ifname}", json=True, ns=ns)[0]
        ip(f"link set dev {dev.ifname} up", ns=ns)
        ksft_eq(_set_as(cable, fd, link["ifindex"], "nsenter", "--preserve-credentials",
                        f"--user={ns.user_ns_path}", f"--net={ns.net_ns_path}"), 0)
        with NetNSEnter(ns.name):
            queues = Queues(link["ifindex"])
        ksft_eq(queues.own(1), program_id("mark_c"))
        dev.remove()


def unregister_drops_references(cable):
    """A device that goes takes its queues' references along."""
    cable.prepare()
    dev = Nsim()
    ip(f"link set dev {dev.ifname} up")
    queues = Queues(dev.ifindex)
    for queue in range(QUEUES):
        queues.set(queue, "mark_c" if queue else "mark_d_frags")
    cmd(f"rm -rf {PIN_DIR}")
    wait_programs(["mark_c", "mark_d_frags"])
    dev.remove()
    wait_programs([])


def _random_step(cable, rng, names):
    kind = rng.random()
    if kind < 0.04:
        cable.attach(rng.choice(names))
        return
    if kind < 0.05:
        for state in ("down", "up"):
            ip(f"link set dev {cable.ifname} {state}")
        return
    queue = rng.randrange(QUEUES)
    attrs = rng.choice(({}, {}, {"xdp_flags": "if-noexist"},
                        {"xdp_flags": "replace", "xdp_expected_id": rng.choice((0, 1))}))
    try:
        cable.queues.set(queue, rng.choice(names), **attrs)
    except NlError as exc:
        ksft_in(exc.error, (errno.EBUSY, errno.EEXIST))


def random_operations(cable):
    """Many changes on both levels under traffic; then nothing is left."""
    cable.prepare()
    names = (None, "mark_a", "mark_b", "mark_c", "mark_d_frags", "drop")
    seed = random.randrange(1 << 30)
    rng = random.Random(seed)
    with cable.traffic():
        for step in range(OPERATIONS):
            _random_step(cable, rng, names)
            if step % 100 == 0:
                cable.steer(rng.randrange(QUEUES))
                ksft_in(cable.receive(), ("0", "A", "B", "C", "D", None), comment=f"seed {seed}")
    cable.queues.clear()
    cable.attach(None)
    ksft_eq(cable.met(), "0000", comment=f"seed {seed}")
    cmd(f"rm -rf {PIN_DIR}")
    wait_programs([])


def race(cable):
    """Of processes that set at the same time each one succeeds or is refused."""
    cable.prepare()
    script = (
        "import sys; sys.path.insert(0, '.')\n"
        "from lib.py import NlError\n"
        "from xdp_rxq_lib import Queues\n"
        f"queues, won = Queues({cable.ifindex}), 0\n"
        "for _ in range(200):\n"
        "    try:\n"
        "        queues.set(1, sys.argv[1], xdp_flags='if-noexist')\n"
        "        queues.set(1, None)\n"
        "        won += 1\n"
        "    except NlError as exc:\n"
        "        assert 'already' in str(exc)\n"
        "print(won)\n")
    procs = [subprocess.Popen(["python3", "-c", script, name], cwd=cable.test_dir,
                              stdout=subprocess.PIPE, text=True)
             for name in ("mark_a", "mark_b", "mark_c")]
    for proc in procs:
        out, _ = proc.communicate(timeout=120)
        ksft_eq(proc.returncode, 0)
        ksft_true(int(out or 0) > 0, comment="each has won at times")
    ksft_eq(cable.queues.own(1), None)
    cmd(f"rm -rf {PIN_DIR}")
    wait_programs([])


def main() -> None:
    if not BUS.exists():
        raise SystemExit(4)
    cable = Cable()
    try:
        ksft_run([queue_runs_its_program, two_levels, device_program_leaves_queues_alone,
                  refuses_request, refuses_incomplete, refuses_program,
                  refuses_program_of_a_device, refuses_driver_without, flags,
                  generic_program_excludes, device_above, fewer_channels, mtu_and_frags,
                  tcp_data_split, driver_refuses, notifies, af_xdp_beside, down_and_up,
                  queue_restart, leased_queue, moves_to_namespace, capability, user_namespace,
                  unregister_drops_references, random_operations, race],
                 args=(cable, ))
    finally:
        cable.remove()
    ksft_exit()


if __name__ == "__main__":
    main()
