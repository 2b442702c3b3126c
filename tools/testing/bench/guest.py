#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Runs the cases, in the guest, on eth0; eth1 in peer0 sends.

  guest.py [--nic NIC] [--case NAME]... [--size BYTES]... [--batches N]

Writes /results/bench.json: for each case and size which of the profiler's batches
are its own, and how many frames arrived in each; and the symbols of BPF
programs to /results/kallsyms-NAME-SIZE.
"""
import argparse
import json
import shutil
import sys

import cases
import nic
from batches import BATCH, BATCHES, Bench
from machine import Refused, keep_symbols, load_programs, quiet_machine, write

WARM_UP = 8


def measure(card, case, size, batches, first):
    """A row of bench.json; `first` is the number of the profiler's next batch."""
    row = {'case': case.name, 'size': size, 'first': first, 'arrived': [], 'refused': '',
           'left_out': False}
    if case.needs and not shutil.which(case.needs):
        return row | {'refused': f'the room has no {case.needs}', 'left_out': True}
    try:
        with Bench(card, case, size) as bench:
            for _ in range(WARM_UP):
                bench.batch(marked=False)
            keep_symbols(f'{case.name}-{size}')
            row['sent'] = BATCH
            row['arrived'] = [bench.batch(marked=True) for _ in range(batches)]
    except Refused as exc:
        row['refused'] = str(exc)
    return row


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('--nic', default='igb', choices=nic.CARDS)
    ap.add_argument('--case', action='append', choices=cases.CASES)
    ap.add_argument('--size', action='append', type=int)
    ap.add_argument('--batches', type=int, default=BATCHES)
    args = ap.parse_args()
    quiet_machine()
    load_programs()
    rows = []
    for name in args.case or cases.CASES:
        for size in args.size or cases.CASES[name].sizes:
            row = measure(nic.CARDS[args.nic], cases.CASES[name], size, args.batches,
                          sum(len(r['arrived']) for r in rows))
            rows.append(row)
            print(f'{name} {size}: {row["refused"] or row["arrived"]}', flush=True)
    write('/results/bench.json', json.dumps(rows, indent=1))
    return 0


if __name__ == '__main__':
    sys.exit(main())
