# SPDX-License-Identifier: GPL-2.0
"""The series as its readers' tools see it: checkpatch on each patch, each patch
builds, and the files that the series touches draw no warning that the base
kernel does not draw."""
import os
import re
import subprocess
import sys
import time
from collections import Counter

from results import Row

TOP = os.path.dirname(os.path.abspath(__file__)).removesuffix('/tools/testing/check')
LINUX = f'{TOP}/build/linux'
TREE = f'{TOP}/build/each-patch'
OUT = f'{TOP}/build/kernel-each-patch'
sys.path.insert(0, f'{TOP}/scripts')
from rxseries.checkpatch import CHECKPATCH     # noqa: E402  pylint: disable=wrong-import-position
WARNING = re.compile(r'^(?:\.\./)*(\S+?):\d+(?::\d+)?: (?:warning|error): (.*)$|^(?:Warning|warning): (\S+?):\d+ (.*)$')


def git(*args, cwd=LINUX):
    return subprocess.run(['git', *args], cwd=cwd, check=True, capture_output=True, text=True).stdout.strip()


def patches():
    return [line.split(' ', 1) for line in git('log', '--reverse', '--format=%h %s', 'base..HEAD').splitlines()]


def touched(commits='base..HEAD'):
    return git('diff', '--name-only', '--diff-filter=d', commits.replace('..', '...')).splitlines()


def checkout(commit):
    """By force: what an interrupted checkout has left is not in the way."""
    git('checkout', '-q', '-f', '--detach', commit, cwd=TREE)


def prepare():
    """A second tree to check out the patches in, so that build/linux stays put."""
    if not os.path.isdir(TREE):
        subprocess.run(['git', 'clone', '-q', '--shared', '--no-checkout', LINUX, TREE], check=True)
    git('fetch', '-q', LINUX, '+HEAD:refs/heads/series', '+base:refs/heads/base', cwd=TREE)
    checkout('base')
    os.makedirs(OUT, exist_ok=True)
    config = f'{TOP}/build/kernel-debug/.config'
    with open(config, encoding='utf-8') as src, open(f'{OUT}/.config', 'w', encoding='utf-8') as dst:
        dst.write(src.read())
    make('olddefconfig', 'prepare', check=True)


def make(*args, check=False):
    """Through kmake, so that ccache knows the objects of the debug kernel."""
    return subprocess.run(['bash', '-c', '. scripts/kernel-make; kmake "$@"', 'kmake', TREE, OUT, '-s', *args],
                          cwd=TOP, check=check, capture_output=True, text=True)


def folders(files):
    """The kernel's build folders that hold these C files."""
    return sorted({os.path.dirname(f) + '/' for f in files
                   if f.startswith(('drivers/', 'net/')) and f.endswith(('.c', '.h', 'Makefile'))})


def row(test, good, start, reason=''):
    return Row('series', '-', test, 'pass' if good else 'fail', time.monotonic() - start, '' if good else reason)


def each_patch():
    for commit, subject in patches():
        start = time.monotonic()
        proc = subprocess.run([*CHECKPATCH, '-g', commit], cwd=LINUX, check=False, capture_output=True, text=True)
        print(proc.stdout if proc.returncode else f'checkpatch ok: {subject}', flush=True)
        yield row(f'checkpatch: {subject}', proc.returncode == 0, start, proc.stdout.strip())

        start = time.monotonic()
        checkout(commit)
        proc = make(*folders(touched(f'{commit}~..{commit}')))
        print(proc.stderr or f'builds alone: {subject}', flush=True)
        yield row(f'builds alone: {subject}', proc.returncode == 0 and not proc.stderr.strip(), start,
                  proc.stderr.strip()[-300:])


def warnings(commit, files, *how):
    """Counted by file and text: line numbers move."""
    checkout(commit)
    there = [f for f in files if os.path.exists(f'{TREE}/{f}')]
    for f in there:
        os.utime(f'{TREE}/{f}')
    output = make(*how, *folders(there)).stderr
    found = Counter()
    for line in output.splitlines():
        if (m := WARNING.match(line)):
            found[((m[1] or m[3]).removeprefix(TREE + '/'), m[2] or m[4])] += 1
    return found


def whole_series():
    files = touched()
    for test, how in (('no new W=1 warning', ('W=1',)), ('no new sparse warning', ('C=2', 'CF=-D__CHECK_ENDIAN__'))):
        start = time.monotonic()
        new = warnings('series', files, *how) - warnings('base', files, *how)
        for (path, text), count in new.items():
            print(f'{path}: {text} ({count} new)', flush=True)
        yield row(test, not new, start, f'{sum(new.values())} new')

    start = time.monotonic()
    c_files = [f for f in files if f.endswith(('.c', '.h')) and not f.startswith('tools/')]
    new = kernel_doc('series', c_files) - kernel_doc('base', c_files)
    print('\n'.join(new), end='', flush=True)
    yield row('no new kernel-doc warning', not new, start, '; '.join(sorted(new)))


def kernel_doc(commit, files):
    checkout(commit)
    there = [f for f in files if os.path.exists(f'{TREE}/{f}')]
    proc = subprocess.run(['scripts/kernel-doc', '-none', '-Wall', *there], cwd=TREE, check=False,
                          capture_output=True, text=True)
    return {re.sub(r':\d+', '', line) for line in proc.stderr.splitlines() if 'arning' in line or 'rror' in line}


def run(_args):
    if not patches():
        return
    prepare()
    yield from each_patch()
    yield from whole_series()
