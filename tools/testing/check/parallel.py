# SPDX-License-Identifier: GPL-2.0
"""Suites side by side: each in a process of its own, that hands its rows over in
a file, and whose output comes out line by line behind the suite's name.

A guest under TCG runs one thing at a time and keeps about one CPU busy. What
compiles runs beside the guests, with what they leave over.
"""
import contextlib
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import results
from results import Row

TOP = os.path.dirname(os.path.abspath(__file__)).removesuffix('/tools/testing/check')
RESULTS = f'{TOP}/build/results'
MAIN = f'{TOP}/tools/testing/check/main.py'
# two guests on two CPUs: with more, the tests' own time limits are too short
GUESTS = os.cpu_count() or 1


class Runner:
    """Runs suites; terminate() ends those that run."""

    def __init__(self):
        self._running = set()
        self._lock = threading.Lock()

    def _suite(self, name, fills):
        path = f'{RESULTS}/{name}.rows'
        os.makedirs(RESULTS, exist_ok=True)
        if os.path.exists(path):
            os.unlink(path)
        argv = [*(['nice', '-n', '19'] if fills else []), sys.executable, '-u', MAIN, '--suite', name, '--rows', path]
        with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors='replace',
                              start_new_session=True) as proc:
            with self._lock:
                self._running.add(proc)
            for line in proc.stdout:
                with self._lock:
                    print(f'{name}| {line}', end='', flush=True)
        with self._lock:
            self._running.discard(proc)
        try:
            return results.read_rows(path)
        except FileNotFoundError:
            return [Row(name, '-', f'{name} runs', 'fail', 0, f'ended with status {proc.returncode}')]

    def run(self, guests, fillers):
        """The rows of all suites, in the order in which they were named."""
        with ThreadPoolExecutor(GUESTS) as lanes, ThreadPoolExecutor(max(len(fillers), 1)) as beside:
            jobs = [lanes.submit(self._suite, name, False) for name in guests]
            jobs += [beside.submit(self._suite, name, True) for name in fillers]
            try:
                return [row for job in jobs for row in job.result()]
            except BaseException:
                for job in jobs:
                    job.cancel()
                self.terminate()
                raise

    def terminate(self):
        """The rig takes its guest down; a SIGKILL would leave it behind."""
        with self._lock:
            for proc in self._running:
                # one may end at this moment
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(proc.pid, signal.SIGTERM)
