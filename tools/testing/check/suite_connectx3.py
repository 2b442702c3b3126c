# SPDX-License-Identifier: GPL-2.0
"""The ConnectX-3 model: its own tests, and the unmodified driver on it."""
import os
import re
import subprocess
import time

import results
from results import Row
from suite_guest import BEDS, TOP, guest_row, read_result, rig

FUZZ = os.environ.get('FUZZ') or '15'       # seconds for each kind of random input
LINE = re.compile(r'^(ok|not ok) (\w+)(?:: (.*)|  ?# SKIP (.*))?$')


def run_model(_args):
    """Unit tests, a client that breaks the protocol and random input, under ASAN and UBSAN."""
    start = time.monotonic()
    run = subprocess.run(['make', '-s', '-C', f'{TOP}/tools/testing/connectx3', f'OUTPUT={TOP}/build/connectx3',
                          f'FUZZ={FUZZ}', 'check'], check=False, capture_output=True, text=True)
    print(run.stdout, end='', flush=True)
    yield Row('connectx3', '-', 'unit tests, protocol abuse, random input', 'fail' if run.returncode else 'pass',
              time.monotonic() - start, results.last_line(run.stdout + run.stderr) if run.returncode else '')


def run_driver(args):
    """What a netdev does, by the base kernel's driver, under both kinds of steering."""
    for driver in ('mlx4', 'mlx4-dmfs'):
        start = time.monotonic()
        run = rig(driver, f'tools/testing/connectx3/tests/guest.py {args.test}'.strip(), 'base', limit=1800,
                  options=BEDS[driver].options())
        for line in read_result(driver, 'output.log').splitlines():
            if m := LINE.match(line):
                result = 'skip' if m[4] else {'ok': 'pass', 'not ok': 'fail'}[m[1]]
                yield Row('mlx4', driver, m[2], result, 0, m[3] or m[4] or '')
        yield guest_row('mlx4', driver, driver, run, start)
