#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""make bench: what a received packet costs, in instructions, on the base kernel
and on the fork. Runs in the room.

Prints a report and ends with status 1 if the fork is above a bar or refuses a case.
Leaves in build/results: bench.tsv, bench.txt with the functions, bench.md with the tables
and a picture bench-NIC-CASE-SIZE.svg of each case. --write-docs puts the tables into
the documents that have a place for them, after a run of everything.
"""
import argparse
import contextlib
import fcntl
import os
import sys
from concurrent.futures import ThreadPoolExecutor

import annotate
import cases
import document
import nic
import report
import run
import sources
import treemap

RESULTS = f'{run.TOP}/build/results'
DOCUMENTS = ('README.md', 'tools/testing/bench/README.md')
PICTURE_SIZE = 60


def parse(argv):
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('--nic', action='append', choices=nic.CARDS, help='igb without any')
    ap.add_argument('--kernel', action='append', choices=(report.BASE, report.FORK))
    ap.add_argument('--case', action='append', default=[], choices=cases.CASES)
    ap.add_argument('--size', action='append', default=[], type=int)
    ap.add_argument('--batches', type=int, default=16)
    ap.add_argument('--no-mem', action='store_true', help='count instructions only, which is faster')
    ap.add_argument('--functions', type=int, default=0, help='print the N functions that cost the most')
    ap.add_argument('--annotate', metavar='FUNCTION', action='append', default=[],
                    help="print a function's instructions and how often a packet executes each")
    ap.add_argument('--write-docs', action='store_true')
    args = ap.parse_args(argv)
    if args.write_docs and (args.kernel or args.case or args.size):
        ap.error('documents get the figures of a run of everything')
    return args


def write(name, lines):
    os.makedirs(RESULTS, exist_ok=True)
    with open(f'{RESULTS}/{name}', 'w', encoding='utf-8') as f:
        f.writelines(line + '\n' for line in lines)


def draw(driver, pair):
    """The picture of a case, of the kernels that have a figure."""
    pictures = []
    for kernel, row in ((report.BASE, pair.base), (report.FORK, pair.fork)):
        if not row or not row['figure']:
            continue
        costs = {name: counts[0] for name, counts in row['figure'].functions.items()}
        folders = sources.folders(run.kernel_dir(kernel), row['symbols'], costs)
        pictures.append(('base' if kernel == report.BASE else 'fork', costs, folders))
    if pictures:
        write(f'bench-{driver}-{pair.case.name}-{pair.size}.svg',
              treemap.svg(f'{driver}: {pair.case.what}, {pair.size} bytes: instructions a packet', pictures))


def show_code(rows, functions):
    """The functions' instructions in each case and kernel that has them."""
    for kernel, of_kernel in rows.items():
        for row in of_kernel:
            for function in functions:
                if row['figure'] and function in row['figure'].functions:
                    print(f'{function}, {kernel}, {row["case"]}, {row["size"]} bytes')
                    print('\n'.join(annotate.lines(run.kernel_dir(kernel), row['symbols'],
                                                   row['figure'], function)), end='\n\n')


def measure(args):
    """{driver: {kernel: [row]}}. Counts do not depend on time, so two guests run at a
    time."""
    guest = [f'--batches={args.batches}'] + [f'--case={c}' for c in args.case] + [f'--size={s}' for s in args.size]
    with ThreadPoolExecutor(2) as pool:
        runs = {driver: {kernel: pool.submit(run.boot, driver, kernel, guest, mem=not args.no_mem)
                         for kernel in args.kernel or (report.BASE, report.FORK)}
                for driver in args.nic or ('igb',)}
    return {driver: {kernel: one.result() for kernel, one in of_driver.items()}
            for driver, of_driver in runs.items()}


def tables(measured):
    """{name of its place in a document: lines}"""
    found = {}
    for driver, rows in measured.items():
        found[driver] = list(report.markdown(driver, rows))
        found[f'{driver} brief'] = list(report.markdown(driver, rows, brief=True))
        found[f'{driver} seeds'] = list(report.seeds(driver, rows))
    return found


@contextlib.contextmanager
def alone():
    """Two runs at the same time would write the same files."""
    os.makedirs(run.OUT, exist_ok=True)
    with open(f'{run.OUT}/{run.NAME}.lock', 'w', encoding='ascii') as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print('rxhook: waiting for another run to end', file=sys.stderr)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def main(argv=None):
    args = parse(argv)
    try:
        with alone():
            return bench(args)
    except RuntimeError as exc:
        print(f'rxhook: {exc}', file=sys.stderr)
        return 1


def bench(args):
    measured = measure(args)
    write('bench.tsv', report.tsv(measured))
    write('bench.md', [line for part in tables(measured).values() for line in [*part, '']])
    write('bench.txt', [line for rows in measured.values() for line in report.text(rows, 40)])
    failed = []
    for driver, rows in measured.items():
        print(f'## {driver}\n' + '\n'.join(report.text(rows, args.functions)))
        show_code(rows, args.annotate)
        for pair in report.pairs(rows):
            if pair.size == PICTURE_SIZE:
                draw(driver, pair)
            if pair.complaint():
                failed.append(f'FAILED {driver}, {pair.complaint()}')
    if args.write_docs:
        for name in DOCUMENTS:
            document.update(f'{run.TOP}/{name}', tables(measured))
    for line in failed:
        print(line)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
