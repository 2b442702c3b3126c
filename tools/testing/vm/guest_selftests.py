#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Runs selftest programs in the guest, one after the other.

  guest_selftests.py [--case NAME] DIRECTORY/PROGRAM...

Streams what they print and keeps it in /results/tap/DIRECTORY_PROGRAM.tap,
with a line `# took SECONDS` after each case and `# exit STATUS SECONDS` at the
end.
"""
import argparse
import os
import subprocess
import sys
import time

INSTALLED = '/rxhook/build/selftests/install'
# seconds; a program that takes longer is killed and has failed
LIMIT = 1800 + 2 * int(os.environ.get('SOAK') or 0)


def run(name, cases):
    directory, program = os.path.split(name)
    # not every script of the kernel's package can be executed
    start = ['python3', program] if program.endswith('.py') else [f'./{program}']
    argv = ['timeout', '--kill-after=10', str(LIMIT), *start]
    for case in cases:
        argv += ['-t', case]
    print(f'# {name}', flush=True)
    begin = time.monotonic()
    with open(f'/results/tap/{name.replace("/", "_")}.tap', 'w', encoding='utf-8', buffering=1) as log:
        proc = subprocess.Popen(argv, cwd=f'{INSTALLED}/{directory}', stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, errors='replace')
        since = begin
        for line in proc.stdout:
            log.write(line)
            print(line, end='', flush=True)
            if line.startswith(('ok ', 'not ok ')):
                log.write(f'# took {time.monotonic() - since:.1f}\n')
                since = time.monotonic()
        status = proc.wait()
        log.write(f'# exit {status} {time.monotonic() - begin:.1f}\n')
    return status


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('--case', action='append', default=[])
    ap.add_argument('programs', nargs='+')
    args = ap.parse_args()
    os.makedirs('/results/tap', exist_ok=True)
    # the kernel log says which test a report belongs to
    for name in args.programs:
        with open('/dev/kmsg', 'w', encoding='ascii') as kmsg:
            kmsg.write(f'rig: {name}\n')
        run(name, args.case)
    return 0


if __name__ == '__main__':
    sys.exit(main())
