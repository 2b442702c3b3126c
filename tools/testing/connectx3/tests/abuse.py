#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Speaks vfio-user wrongly to the server, which must answer with an error or
close the connection, and neither crash nor hang.

usage: abuse.py SERVER [SECONDS]     SERVER is connectx3-asan; SECONDS of random messages
"""
import array
import contextlib
import os
import random
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time

HEADER = struct.Struct('<HHIII')
VERSION, MAP, UNMAP, INFO, REGION, IO_FDS, IRQ, SET_IRQS, READ, WRITE, DMA_READ, DMA_WRITE, RESET = range(1, 14)
NO_REPLY, ERROR = 0x10, 0x20
LIMIT = 3
BAR0, BAR2, CONFIG = 0, 2, 7


class Closed(Exception):
    pass


class Client:
    def __init__(self, path):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(LIMIT)
        self.sock.connect(path)
        self.id = 0

    def close(self):
        self.sock.close()

    def raw(self, data, fds=()):
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', fds))] if fds else []
        try:
            self.sock.sendmsg([data], rights)
        except (BrokenPipeError, ConnectionResetError) as exc:
            raise Closed from exc

    def read(self, count):
        data = b''
        while len(data) < count:
            try:
                part = self.sock.recv(count - len(data))
            except ConnectionResetError as exc:
                raise Closed from exc
            if not part:
                raise Closed
            data += part
        return data

    def reply(self):
        """(error, body) of the next reply."""
        ident, _, size, flags, error = HEADER.unpack(self.read(HEADER.size))
        body = self.read(size - HEADER.size)
        assert ident == self.id and flags & 0xf == 1, f'reply {ident} flags {flags:#x}'
        assert bool(flags & ERROR) == bool(error), f'flags {flags:#x} error {error}'
        return error, body

    def call(self, cmd, body=b'', fds=(), size=None, flags=0):
        self.id = (self.id + 1) & 0xffff
        size = HEADER.size + len(body) if size is None else size
        self.raw(HEADER.pack(self.id, cmd, size, flags, 0) + body, fds)
        return self.reply()

    def hello(self):
        error, body = self.call(VERSION, struct.pack('<HH', 0, 0) + b'{}\0')
        assert not error and b'max_msg_fds' in body and body.endswith(b'\0')
        return self


def access(offset, region, count, data=b''):
    return struct.pack('<QII', offset, region, count) + data


def map_body(start, size, offset=0, flags=3):
    return struct.pack('<IIQQQ', 32, flags, offset, start, size)


def irqs(flags, index, start, count):
    return struct.pack('<IIIII', 20, flags, index, start, count)


def refused(answer):
    assert answer[0], f'not refused: {answer[1][:40]!r}'


def memory(size=1 << 16):
    fd = os.memfd_create('guest')
    os.ftruncate(fd, size)
    return fd


TESTS = []


def test(function):
    TESTS.append(function)
    return function


@test
def before_the_version(c):
    refused(c.call(INFO, bytes(16)))
    refused(c.call(READ, access(0, CONFIG, 4)))
    c.hello()
    refused(c.call(VERSION, struct.pack('<HH', 0, 0) + b'{}\0'))


@test
def wrong_version(c):
    refused(c.call(VERSION, struct.pack('<HH', 1, 0) + b'{}\0'))
    refused(c.call(VERSION, b'\0'))


@test
def bodies_too_short_for_each_command(c):
    c.hello()
    for cmd, least in ((MAP, 32), (UNMAP, 24), (INFO, 16), (REGION, 32), (IRQ, 16), (SET_IRQS, 20),
                       (READ, 16), (WRITE, 16)):
        for length in range(least):
            refused(c.call(cmd, bytes(length)))


@test
def unknown_commands(c):
    c.hello()
    for cmd in (0, IO_FDS, DMA_READ, DMA_WRITE, 14, 15, 255, 65535):
        refused(c.call(cmd, bytes(64)))
    assert not c.call(INFO, bytes(16))[0]


@test
def sizes_that_lie(c):
    path = c.sock.getpeername()
    c.close()
    for size in (0, 1, 15, 0xffffffff, 2 << 20):
        d = Client(path)
        with contextlib.closing(d), contextlib.suppress(Closed):
            refused(d.call(INFO, bytes(16), size=size))
            d.read(1)
            raise AssertionError(f'the connection goes on after a size of {size}')


@test
def replies_sent_to_the_server(c):
    with contextlib.suppress(Closed):
        refused(c.call(INFO, bytes(16), flags=1))
        c.read(1)
        raise AssertionError('the connection goes on')


@test
def messages_in_small_pieces(c):
    c.hello()
    data = HEADER.pack(77, READ, HEADER.size + 16, 0, 0) + access(0, CONFIG, 2)
    c.id = 77
    for i in range(len(data)):
        c.raw(data[i:i + 1])
        time.sleep(0.001)
    error, body = c.reply()
    assert not error and body[16:] == b'\xb3\x15'


@test
def many_messages_in_one_piece(c):
    c.hello()
    one = lambda n: HEADER.pack(n, READ, HEADER.size + 16, 0, 0) + access(2, CONFIG, 2)
    c.raw(b''.join(one(n) for n in range(500)))
    for n in range(500):
        c.id = n
        assert c.reply()[1][16:] == b'\x03\x10'


@test
def half_a_message_and_away(c):
    c.hello()
    c.raw(HEADER.pack(1, WRITE, HEADER.size + 20, 0, 0) + bytes(7))


@test
def regions_out_of_range(c):
    c.hello()
    for region, offset, count in ((9, 0, 4), (1, 0, 4), (0xffffffff, 0, 4), (CONFIG, 4096, 1), (CONFIG, 4095, 2),
                                  (CONFIG, 0, 0), (CONFIG, 0xffffffffffffffff, 4), (BAR0, 1 << 20, 4),
                                  (BAR2, (8 << 20) - 4, 8), (BAR0, 0, 0xffffffff), (BAR0, 0, 2 << 20)):
        refused(c.call(READ, access(offset, region, count)))
        refused(c.call(WRITE, access(offset, region, count, bytes(min(count, 64)))))
    refused(c.call(WRITE, access(0, CONFIG, 8, bytes(4))))
    refused(c.call(WRITE, access(0, CONFIG, 4, bytes(8))))


@test
def registers_of_the_wrong_width(c):
    c.hello()
    for count in (1, 2, 3, 5, 8, 4096):
        assert not c.call(READ, access(0x80680, BAR0, count))[0]
        assert not c.call(WRITE, access(0x80680, BAR0, count, bytes(count)))[0]
        assert not c.call(WRITE, access(0x14, BAR2, count, b'\xff' * count))[0]


@test
def irqs_out_of_range(c):
    c.hello()
    fds = [os.eventfd(0) for _ in range(3)]
    for body in (irqs(0x24, 2, 128, 1), irqs(0x24, 2, 0xffffffff, 2), irqs(0x24, 2, 0, 0xffffffff),
                 irqs(0x24, 9, 0, 1), irqs(0x22, 2, 0, 1), irqs(0xff, 2, 0, 1), irqs(0x24, 2, 0, 2)):
        refused(c.call(SET_IRQS, body, fds))
    assert not c.call(SET_IRQS, irqs(0x24, 2, 0, 3), fds)[0]
    assert not c.call(SET_IRQS, irqs(0x24, 2, 0, 1))[0]
    assert not c.call(SET_IRQS, irqs(0x21, 2, 0, 0))[0]
    for fd in fds:
        os.close(fd)


@test
def descriptors_missing_or_too_many(c):
    c.hello()
    assert not c.call(MAP, map_body(0xc0000, 0x1000))[0]        # a ROM has none
    fds = [memory() for _ in range(20)]
    refused(c.call(MAP, map_body(0x100000, 0x1000), fds))
    assert not c.call(INFO, bytes(16), fds[:5])[0]              # of no use, and closed
    assert not c.call(MAP, map_body(0x200000, 0x1000))[0]       # must not find those
    for fd in fds:
        os.close(fd)


@test
def maps_that_cannot_be(c):
    c.hello()
    fd = memory()
    assert not c.call(MAP, map_body(0x1000, 0x1000), [fd])[0]
    for start, size, offset in ((0x1000, 0x1000, 0), (0x1800, 0x1000, 0), (0, 0, 0), (0xfffffffffffff000, 0x2000, 0),
                                (0x100000, 0x1000, 123), (0x100000, 1 << 63, 0)):
        refused(c.call(MAP, map_body(start, size, offset), [fd]))
    refused(c.call(MAP, map_body(0x300000, 0x1000), [os.open('/dev/null', os.O_RDWR)]))
    refused(c.call(UNMAP, struct.pack('<IIQQ', 24, 0, 0x1000, 0x2000)))
    refused(c.call(UNMAP, struct.pack('<IIQQ', 24, 0, 0x5000, 0x1000)))
    assert not c.call(UNMAP, struct.pack('<IIQQ', 24, 0, 0x1000, 0x1000))[0]
    assert not c.call(UNMAP, struct.pack('<IIQQ', 24, 2, 0, 0))[0]
    os.close(fd)


@test
def memory_taken_away_under_a_command(c):
    c.hello()
    fd = memory(1 << 20)
    assert not c.call(MAP, map_body(0, 1 << 20), [fd])[0]
    assert not c.call(UNMAP, struct.pack('<IIQQ', 24, 0, 0, 1 << 20))[0]
    hcr = struct.pack('>7I', 0, 0x1000, 0, 0, 0x2000, 0, 1 << 23 | 0x4)
    for i in range(7):
        c.call(WRITE, access(0x80680 + 4 * i, BAR0, 4, hcr[4 * i:4 * i + 4]))
    status = c.call(READ, access(0x80698, BAR0, 4))[1][16]
    assert status == 3, f'QUERY_FW without an outbox: status {status}'
    os.close(fd)


@test
def a_client_that_does_not_read(c):
    c.hello()
    c.sock.setblocking(False)
    one = HEADER.pack(1, READ, HEADER.size + 16, 0, 0) + access(0, CONFIG, 4096)
    with contextlib.suppress(BlockingIOError, Closed):
        for _ in range(20000):
            c.raw(one)


def post_command(c, rng):
    """A command of the firmware with random parameters, sometimes of an existing opcode."""
    opcodes = (0x3, 0x4, 0x7, 0x9, 0xc, 0xd, 0xf, 0x12, 0x13, 0x16, 0x19, 0x1a, 0x1b, 0x21, 0x24, 0x2c, 0x3b,
               0x43, 0x47, 0x48, 0x49, 0x54, 0x65, 0x66, 0xff6, 0xff9, 0xffa, 0xffc, 0xffd, 0xffe, 0xfff)
    word = 1 << 23 | rng.choice((0, 0, 1, 2, 3)) << 12 | rng.choice(opcodes + (rng.randrange(4096),))
    hcr = struct.pack('>7I', 0, rng.choice((0, 0x1000, 0x2000, 0x1234)), rng.choice((0, 1, 2, rng.randrange(1 << 32))),
                      0, rng.choice((0, 0x3000, 0xfffff000)), 0, word)
    for i in range(7):
        c.call(WRITE, access(0x80680 + 4 * i, BAR0, 4, hcr[4 * i:4 * i + 4]))


def random_message(c, rng, fd):
    kind = rng.randrange(8)
    if kind < 4:
        post_command(c, rng)
    elif kind == 4:
        data = rng.randbytes(rng.choice((4, 8)))
        where = rng.choice((0x14, 0x20, 0x800, 0x808)) + 4096 * rng.randrange(256)
        c.call(WRITE, access(where, BAR2, len(data), data))
    elif kind == 5:
        c.call(WRITE, access(rng.randrange(4096), CONFIG, 4, rng.randbytes(4)))
    elif kind == 6:
        c.call(rng.randrange(20), rng.randbytes(rng.randrange(64)), [fd] if rng.random() < 0.3 else ())
    else:
        os.pwrite(fd, rng.randbytes(256), rng.randrange(0x1000, 0x4000))


def random_messages(path, seconds, seed):
    """Random bytes where they hurt: mailboxes, doorbells, messages."""
    rng = random.Random(seed)
    end = time.monotonic() + seconds
    count = 0
    while time.monotonic() < end:
        c = Client(path).hello()
        fd = memory(4 << 20)
        c.call(MAP, map_body(0, 4 << 20), [fd])
        with contextlib.closing(c), contextlib.suppress(Closed):
            for _ in range(2000):
                random_message(c, rng, fd)
                count += 1
                if time.monotonic() > end:
                    break
        os.close(fd)
    return count


def alive(server):
    if server.poll() is not None:
        raise SystemExit(f'the server ended with {server.returncode}')


def run(function, path, server):
    c = Client(path)
    with contextlib.closing(c):
        try:
            function(c)
            verdict = 'ok'
        except (AssertionError, TimeoutError, Closed) as exc:
            verdict = f'not ok {function.__name__}: {type(exc).__name__} {exc}'
    time.sleep(0.05)
    alive(server)
    # and it serves the next one
    d = Client(path).hello()
    d.close()
    print(verdict if verdict != 'ok' else f'ok {function.__name__}', flush=True)
    return verdict == 'ok'


def main():
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 5
    seed = int(os.environ.get('SEED', time.time_ns() % 1000000))
    folder = tempfile.mkdtemp(prefix='abuse-')
    path = f'{folder}/card.sock'
    with open(f'{folder}/log', 'w', encoding='ascii') as log:
        server = subprocess.Popen([sys.argv[1], '--socket', path, '--stay'], stderr=log)
    try:
        while not os.path.exists(path):
            alive(server)
            time.sleep(0.01)
        good = [run(function, path, server) for function in TESTS]
        count = random_messages(path, seconds, seed)
        alive(server)
        print(f'ok random_messages: {count} with SEED={seed}')
        server.terminate()
        status = server.wait(timeout=10)
        assert status in (0, 3), f'the server ended with {status}'
        assert os.listdir(folder) == ['log'], f'left behind: {os.listdir(folder)}'
    except SystemExit as exc:
        with open(f'{folder}/log', encoding='ascii', errors='replace') as log:
            print(''.join(log.readlines()[-40:]), f'not ok with SEED={seed}: {exc}')
        good = [False]
    finally:
        server.kill()
        server.wait()
        shutil.rmtree(folder)
    return 0 if all(good) else 1


if __name__ == '__main__':
    sys.exit(main())
