# SPDX-License-Identifier: GPL-2.0
"""What is measured: one case is one way that a frame takes. Shared by the guest,
which sets a case up, and by the host, which knows its bar from here."""
from dataclasses import dataclass

SIZES = (60, 1500, 9000)
SMALL, ONE_BUFFER = SIZES[:1], SIZES[:2]

# the fork's instructions a packet, as a part of the base kernel's, at most
HOOK_DROP, NO_PROGRAM = 0.6, 1.0

PROGRAMS = '/sys/fs/bpf/bench'
ETH0_XDP = 'ip link set dev eth0 xdp pinned ' + PROGRAMS

# a device map has the number of a device, in bytes
TO_ETH2 = (f'bpftool map update pinned {PROGRAMS}/maps/port{{frags}} key 0 0 0 0 '
           'value $(cat /sys/class/net/eth2/ifindex) 0 0 0')


@dataclass(frozen=True)
class Case:
    name: str
    what: str
    setup: tuple[str, ...] = ()     # {frags}: the suffix of a program that takes fragments
    undo: tuple[str, ...] = ()
    bar: float | None = None
    needs: str = ''                 # a program of the room; without it the case is left out
    xsk: str = ''                   # 'copy' or 'zerocopy': an AF_XDP socket receives
    sizes: tuple[int, ...] = SIZES
    sends_on: str = ''              # the port on which a program sends
    senders: int = 1                # addresses that frames come from
    queues: int = 1                 # that receive at the same time; the first is measured


CASES = {case.name: case for case in (
    Case('hook-drop', 'a program in the hook drops',
         (ETH0_XDP + '/drop{frags}',), bar=HOOK_DROP),
    Case('no-route', 'no program; the stack finds no route', bar=NO_PROGRAM),
    Case('clsact-drop', 'no program; a program in clsact drops (direct action)',
         ('tc qdisc add dev eth0 clsact',
          f'tc filter add dev eth0 ingress bpf direct-action object-pinned {PROGRAMS}/clsact_drop'),
         ('tc qdisc del dev eth0 clsact',), bar=NO_PROGRAM),
    Case('pass', 'a program in the hook passes; the stack finds no route',
         (ETH0_XDP + '/pass{frags}',)),
    Case('hook-tx', 'a program in the hook sends back (XDP_TX)',
         (ETH0_XDP + '/tx{frags}',), sends_on='eth0'),
    Case('nft-drop', 'no program; nftables drops at netdev ingress',
         ('nft add table netdev bench',
          'nft add chain netdev bench in {{ type filter hook ingress device eth0 priority 0 \\; policy drop \\; }}'),
         ('nft delete table netdev bench',), bar=NO_PROGRAM, needs='nft'),
    Case('hook-redirect', 'a program in the hook redirects to another port',
         (TO_ETH2, ETH0_XDP + '/redirect{frags}', 'ip link set dev eth2 xdp pinned ' + PROGRAMS + '/pass{frags}'),
         ('ip link set dev eth2 xdp off',), sends_on='eth2'),
    Case('xsk-copy', 'AF_XDP receives a copy', (ETH0_XDP + '/to_socket',), xsk='copy', sizes=ONE_BUFFER),
    Case('xsk-zerocopy', 'AF_XDP receives without a copy', (ETH0_XDP + '/to_socket',), xsk='zerocopy',
         sizes=ONE_BUFFER),
    # the cost of a packet must not grow with these
    *(Case(f'hook-drop-{n}-senders', f'a program in the hook drops, {n} senders to one queue',
           (ETH0_XDP + '/drop',), bar=HOOK_DROP, sizes=SMALL, senders=n) for n in (4,)),
    *(Case(f'hook-drop-{n}-queues', f'a program in the hook drops, {n} queues at once',
           (ETH0_XDP + '/drop',), bar=HOOK_DROP, sizes=SMALL, queues=n) for n in (2, 4)),
    *(Case(f'no-route-{n}-senders', f'no program; the stack finds no route, {n} senders to one queue',
           bar=NO_PROGRAM, sizes=SMALL, senders=n) for n in (4,)),
    *(Case(f'no-route-{n}-queues', f'no program; the stack finds no route, {n} queues at once',
           bar=NO_PROGRAM, sizes=SMALL, queues=n) for n in (2, 4)),
    # the last: the kernel keeps the table's hook, and the cost of every later packet
    Case('raw-drop', 'no program; iptables drops in raw PREROUTING',
         ('iptables-legacy -t raw -A PREROUTING -i eth0 -j DROP',),
         ('iptables-legacy -t raw -D PREROUTING -i eth0 -j DROP',), bar=NO_PROGRAM, needs='iptables-legacy'),
)}
