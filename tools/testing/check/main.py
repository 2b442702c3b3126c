#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""make check: runs the suites, compares with what is expected, counts.

  main.py [--suite NAME] [--test NAME] [--base]

Runs in the room. Writes build/results/summary.tsv, a row a test, and ends with
the line `N passed, N failed, N skipped`.
"""
import argparse
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Callable

import parallel
import results
import suite_connectx3
import suite_guest
import suite_host
import suite_series

TOP = os.path.dirname(os.path.abspath(__file__)).removesuffix('/tools/testing/check')
EXPECTED = f'{TOP}/tools/testing/expected'


@dataclass
class Suite:
    what: str
    run: Callable               # yields rows
    needs: tuple[str, ...]      # goals of make that have to be there
    by_name: bool = False       # only with --suite
    fills: bool = False         # compiles: runs beside the guests, with what they leave over
    programs: tuple[str, ...] = ()      # what TEST= may name


# in the order they begin: what takes long first
SUITES = {
    'rxhook': Suite('our selftests, on the debug kernel; SOAK=seconds of random programs', suite_guest.run_own,
                    ('kernel DEBUG=1', 'selftests'), programs=suite_guest.LEAKS + suite_guest.OWN),
    'rxhook-mlx4': Suite('our selftests, on the debug kernel and the ConnectX-3 model', suite_guest.run_own_mlx4,
                         ('kernel DEBUG=1', 'selftests'), programs=suite_guest.LEAKS + suite_guest.OWN_MLX4),
    # their own time limits are too short for a debug kernel under TCG that has not a CPU to itself
    'upstream': Suite("the kernel's own driver selftests", suite_guest.run_upstream,
                      ('kernel', 'selftests'), programs=suite_guest.UPSTREAM),
    'leaks': Suite('our selftests that set up and take down, under kmemleak', suite_guest.run_leaks,
                   ('kernel DEBUG=1', 'selftests')),
    'series': Suite('each patch: checkpatch, builds alone; W=1, sparse, kernel-doc', suite_series.run,
                    ('kernel DEBUG=1',), fills=True),
    'command': Suite('the command rxhook, as its users type it', suite_guest.run_command,
                     ('kernel DEBUG=1', 'samples', 'rxhook')),
    'samples': Suite('samples/bpf attached to a port with traffic', suite_guest.run_samples,
                     ('kernel DEBUG=1', 'samples', 'rxhook')),
    'rig': Suite('a kernel report, a hang, a crash and Ctrl-C each end a run as they should', suite_guest.run_rig,
                 ('kernel DEBUG=1',)),
    'tools': Suite('tests of what is in scripts/ and tools/testing/', suite_host.run, ()),
    'connectx3': Suite('the ConnectX-3 model: unit tests, protocol abuse, random input; FUZZ=seconds',
                       suite_connectx3.run_model, ()),
    'upstream-debug': Suite("the kernel's own driver selftests, on the debug kernel", suite_guest.run_upstream_debug,
                            ('kernel DEBUG=1', 'selftests'), by_name=True),
    'upstream-mlx4': Suite("the kernel's own driver selftests, on the ConnectX-3 model", suite_guest.run_upstream_mlx4,
                           ('kernel DEBUG=1', 'selftests'), by_name=True),
    'command-elsewhere': Suite('the command rxhook on the unpatched kernel, and on mlx4',
                               suite_guest.run_command_elsewhere,
                               ('kernel DEBUG=1', 'kernel BASE=1', 'samples', 'rxhook'), by_name=True),
    'faults': Suite('each allocation of a reconfiguration fails once; SOAK=1 leaves none out',
                    suite_guest.run_faults, ('kernel DEBUG=1', 'selftests'), by_name=True),
    'mlx4': Suite("the unpatched mlx4 driver on the ConnectX-3 model", suite_connectx3.run_driver,
                  ('kernel BASE=1',), by_name=True),
    'deb': Suite('the kernel package installs and boots', suite_guest.run_deb, ('deb CONFIG=small',),
                 by_name=True),
}
DEFAULT = [name for name, suite in SUITES.items() if not suite.by_name]
# with BASE=1: our selftests on the unpatched kernel
BASE_SUITES = ['rxhook']
BASE_NEEDS = ('kernel BASE=1', 'selftests')


def parse(argv):
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('--suite', default='')
    ap.add_argument('--test', default='')
    ap.add_argument('--base', action='store_true', help='our selftests, on the unpatched kernel')
    ap.add_argument('--rows', help='write the rows here, and judge nothing')
    ap.add_argument('--plan', action='store_true', help="print what make has to build first, a goal a line")
    args = ap.parse_args(argv)
    if args.suite and args.suite not in SUITES:
        listing = '\n'.join(f'  {name:14}{suite.what}' for name, suite in SUITES.items())
        sys.exit(f'rxhook: there is no suite {args.suite}; there are:\n{listing}')
    return args


def run_suite(name, args):
    """The rows of one suite; what goes wrong in the suite itself is a failed row."""
    print(f'## {name}: {SUITES[name].what}', flush=True)
    start = time.monotonic()
    try:
        rows = list(SUITES[name].run(args))
    except (OSError, RuntimeError, subprocess.SubprocessError) as exc:
        rows = [results.Row(name, '-', f'{name} runs', 'fail', 0, str(exc))]
    if not rows:
        rows = [results.Row(name, '-', f'{name} runs', 'fail', 0, 'no test ran')]
    print(f'## {name}: {time.monotonic() - start:.0f} s', flush=True)
    return rows


def run_suites(names, args):
    """One suite on this terminal, several side by side."""
    if len(names) == 1:
        return run_suite(names[0], args)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    fillers = [name for name in names if SUITES[name].fills]
    guests = [name for name in names if name not in fillers]
    return parallel.Runner().run(guests, fillers)


def chosen(args):
    """The suites to run: with TEST alone the first that has it."""
    if args.suite:
        return [args.suite]
    names = BASE_SUITES if args.base else DEFAULT
    if not args.test:
        return names
    found = [name for name in names if any(suite_guest.matches(p, args.test) for p in SUITES[name].programs)]
    if not found:
        sys.exit(f'rxhook: no suite that runs by default has a test {args.test}; SUITE= names another')
    return found[:1]


def plan(args):
    """Each goal once, in the order of the suites."""
    if args.base:
        return BASE_NEEDS
    names = chosen(args)
    return list(dict.fromkeys(goal for name in names for goal in SUITES[name].needs))


def expected_of(rows, base=False):
    """The lists of the drivers that the rows are of. One list is for both kinds of
    steering of a card, which the name has after a dash."""
    drivers = sorted({row.driver for row in rows} - {'-'})
    return {driver: results.read_expected(f'{EXPECTED}/{"base-" if base else ""}{driver.split("-")[0]}.tsv')
            for driver in drivers}


def main(argv=None):
    args = parse(argv)
    if args.plan:
        print('\n'.join(plan(args)))
        return 0
    names = chosen(args)
    rows = run_suites(names, args)
    if args.rows:
        results.write_rows(args.rows, rows)
        return 0
    expected = expected_of(rows, args.base)
    passed, failed, skipped, complaints = results.judge(rows, expected, complete=not args.test)
    results.write_rows(f'{TOP}/build/results/summary.tsv', rows)
    for line in complaints:
        print(f'FAILED {line}')
    if args.base:
        print('On the unpatched kernel these fail, as listed:')
        print('\n'.join(f'  {row.driver}: {row.test}' for row in rows
                        if row.result == 'fail' and row.test in expected[row.driver]))
    print(f'{passed} passed, {failed} failed, {skipped} skipped', flush=True)
    return 1 if failed or not rows else 0


if __name__ == '__main__':
    sys.exit(main())
