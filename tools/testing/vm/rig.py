#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Boots a kernel on emulated cards and runs a command in it. Runs in the room.

  rig.py run [OPTIONS] -- COMMAND   streams what the command prints
  rig.py shell [OPTIONS]            an interactive guest on this terminal

A run leaves in build/results/NAME: output.log (what the command printed),
console.log (what the kernel printed), reports.log (the first line of each kernel
report) and whatever the command wrote to /results. Its exit status is the
command's, or 1 after a kernel report, a hang or a crash.
"""
import argparse
import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time

import connectx3
import qemu
import reports

TOP = os.path.dirname(os.path.abspath(__file__)).removesuffix('/tools/testing/vm')
LAST_LINES = 30


def kernel_image(kind):
    path = f'{TOP}/build/kernel-{kind}/arch/x86/boot/bzImage'
    if not os.path.exists(path):
        how = {'debug': ' DEBUG=1', 'base': ' BASE=1'}.get(kind, '')
        raise qemu.RigError(f'there is no {kind} kernel yet; run make kernel{how}')
    return path


def results_dir(name):
    path = f'{TOP}/build/results/{name}'
    shutil.rmtree(path, ignore_errors=True)
    os.makedirs(path)
    return path


def read(path):
    try:
        with open(path, encoding='utf-8', errors='replace') as f:
            return f.read()
    except FileNotFoundError:
        return ''


def tail(path, lines=LAST_LINES):
    return '\n'.join(read(path).splitlines()[-lines:])


def say(text):
    print(f'rig: {text}', file=sys.stderr, flush=True)


def tee(stream, path, quiet):
    with open(path, 'wb') as log:
        while chunk := stream.read1(65536):
            log.write(chunk)
            log.flush()
            if quiet:
                continue
            try:
                sys.stdout.buffer.write(chunk)
                sys.stdout.buffer.flush()
            except BrokenPipeError:
                quiet = True    # nobody reads any more, the log still does


class Hang(Exception):
    pass


def boot_and_wait(argv, results, limit, quiet):
    """Runs QEMU to its end; past the limit it is killed and Hang is raised."""
    proc = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=open(f'{results}/qemu.log', 'wb'))
    reader = threading.Thread(target=tee, args=(proc.stdout, f'{results}/output.log', quiet))
    reader.start()
    try:
        proc.wait(timeout=limit)
    except subprocess.TimeoutExpired as exc:
        raise Hang from exc
    finally:
        proc.kill()
        proc.wait()
        reader.join()
    return proc.returncode


def verdict(results, code):
    """The exit status of a run that ended by itself, with what it means said."""
    console = f'{results}/console.log'
    found = reports.find(read(console))
    with open(f'{results}/reports.log', 'w', encoding='utf-8') as f:
        f.writelines(f'{report[0]}\n' for report in found)
    for report in found:
        say('the kernel reported:')
        print('\n'.join(report), file=sys.stderr, flush=True)
    status = read(f'{results}/status').strip()
    if code:
        say(f'QEMU ended with status {code}: {tail(f"{results}/qemu.log", 3)}')
        return 1
    if not status:
        say(f'the guest ended before the command did; last console lines:\n{tail(console)}')
        return 1
    if found:
        say(f'{len(found)} kernel report(s); the whole console is in {os.path.relpath(console, TOP)}')
        return 1
    return int(status)


def run(args):
    results = results_dir(args.name)
    with open(f'{results}/command', 'w', encoding='utf-8') as f:
        f.write(f'cd /rxhook\n{args.command[0] if len(args.command) == 1 else shlex.join(args.command)}\n')
    start = time.monotonic()
    try:
        with cards(args, results) as (argv, complaints):
            code = boot_and_wait(command(args, results, argv), results, args.limit, args.quiet)
            wrong = complaints()
    except Hang:
        say(f'no end after {args.limit} s, killed; last console lines:\n{tail(f"{results}/console.log")}')
        for line in connectx3.violations(results):
            say(line)
        return 1
    if not args.quiet:
        say(f'{args.kernel} kernel, {qemu.accelerator()}, {time.monotonic() - start:.0f} s')
    for text in wrong:
        say(text)
    return verdict(results, code) or (1 if wrong else 0)


def shell(args):
    results = results_dir('shell')
    with cards(args, results) as (argv, complaints):
        code = subprocess.run(command(args, results, argv), check=False).returncode
        for text in complaints():
            say(text)
    return code


def command(args, results, argv):
    return qemu.command(args.image or kernel_image(args.kernel), root=args.root, results=results, cpus=args.cpus,
                        memory=args.memory, cards=argv, interactive=args.verb == 'shell',
                        extra_cmdline=args.append) + args.qemu


@contextlib.contextmanager
def cards(args, results):
    """QEMU's arguments for the cards, and a function that says, once QEMU has
    ended, what the cards found wrong."""
    if args.nic == 'igb':
        yield qemu.igb_ports(args.ports), lambda: []
        return
    with contextlib.ExitStack() as stack:
        models = [stack.enter_context(connectx3.Model(i, results, args.card, args.sanitize))
                  for i in range(args.ports // 2)]
        yield (connectx3.qemu_args(models, args.memory),
               lambda: [text for text in (model.complaint() for model in models) if text])


def parse(argv):
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('verb', choices=('run', 'shell'))
    ap.add_argument('--kernel', default='release', choices=('release', 'debug', 'base'))
    ap.add_argument('--image', help='a kernel image instead of --kernel')
    ap.add_argument('--root', default='/', help="the guest's root file system")
    ap.add_argument('--name', default='run', help='folder in build/results')
    ap.add_argument('--nic', default='igb', choices=('igb', 'mlx4'), help='an 82576 a port, or a ConnectX-3 a cable')
    ap.add_argument('--card', action='append', default=[], help='one more argument for the ConnectX-3 model')
    ap.add_argument('--sanitize', action='store_true', help='the ConnectX-3 model with ASAN and UBSAN')
    ap.add_argument('--ports', type=int, default=2, help='ports, two a cable')
    ap.add_argument('--cpus', type=int, default=2)
    ap.add_argument('--memory', default='2G')
    ap.add_argument('--limit', type=int, default=600, help='seconds until a run counts as hung')
    ap.add_argument('--append', default='', help='more for the kernel command line')
    ap.add_argument('--qemu', action='append', default=[], help='one more argument for QEMU')
    ap.add_argument('--quiet', action='store_true', help='output only to output.log')
    ap.add_argument('command', nargs='*')
    args = ap.parse_args(argv)
    if args.verb == 'run' and not args.command:
        ap.error('run needs a command')
    return args


def main(argv=None):
    args = parse(argv)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        qemu.check_version()
        return {'run': run, 'shell': shell}[args.verb](args)
    except qemu.RigError as exc:
        print(f'rxhook: {exc}', file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == '__main__':
    sys.exit(main())
