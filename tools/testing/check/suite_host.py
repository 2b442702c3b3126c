# SPDX-License-Identifier: GPL-2.0
"""Suites that need no guest: tests of our own scripts, and of what the
repository says about itself."""
import os
import subprocess
import time

import results
from results import Row

TOP = os.path.dirname(os.path.abspath(__file__)).removesuffix('/tools/testing/check')
TESTS = ('series_test', 'check/results_test', 'vm/reports_test', 'bad_input_test', 'repository_test', 'bench/bench_test')


def run(_args):
    for name in TESTS:
        start = time.monotonic()
        proc = subprocess.run(['python3', f'{TOP}/tools/testing/{name}.py'], cwd=TOP, check=False,
                              capture_output=True, text=True)
        print(proc.stderr, end='', flush=True)
        yield Row('tools', '-', name, 'fail' if proc.returncode else 'pass', time.monotonic() - start,
                  results.last_line(proc.stderr) if proc.returncode else '')
