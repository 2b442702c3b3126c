# SPDX-License-Identifier: GPL-2.0
"""Suites that boot the rig."""
import os
import re
import signal
import subprocess
import time
from dataclasses import dataclass

import results
from results import Row

TOP = os.path.dirname(os.path.abspath(__file__)).removesuffix('/tools/testing/check')
RIG = f'{TOP}/tools/testing/vm/rig.py'
TRY_RXHOOK = 'tools/net/rxhook/try-rxhook build/rxhook/rxhook build/samples eth0'
RUNNER = '/rxhook/tools/testing/vm/guest_selftests.py'



def programs_in(folder, *names):
    return tuple(f'{folder}/{name}.py' for name in names)


UPSTREAM = (*programs_in('drivers/net', 'xdp', 'ping', 'queues', 'stats', 'ring_reconfig'),
            *programs_in('drivers/net/hw', 'xsk_reconfig', 'nic_timestamp', 'csum'))
# what sets up and takes down: memory that nobody points to any more comes from there
LEAKS = programs_in('drivers/net/hw', 'xdp_reconfig')
OWN = programs_in('drivers/net/hw', 'xdp_attach', 'xdp_frags', 'xdp_headroom', 'xdp_hints', 'xdp_random',
                  'xdp_rxq', 'xdp_rxq_core', 'xdp_rxq_ntuple', 'xdp_xsk')
# what depends on no driver, or on what no mlx4 card has, is not run twice
OWN_MLX4 = tuple(path for path in LEAKS + OWN if not path.endswith(('_core.py', '_ntuple.py', '_xsk.py')))
# what the kind of steering has a part in
OWN_STEERING = programs_in('drivers/net/hw', 'xdp_attach', 'xdp_rxq_ntuple')
FAULTS = programs_in('drivers/net/hw', 'xdp_faults')
# how many kernel reports the row of a guest names
REPORTS_NAMED = 3
# seconds of one guest
LIMIT = 2700
# kmemleak makes a new process cost 2.2 times as much, and a test is mostly those;
# the suite leaks has it
NO_KMEMLEAK = 'kmemleak=off'


@dataclass
class Bed:
    """Cards to test on."""
    cards: tuple[str, ...] = ()     # options of the rig
    append: str = ''                # to the kernel's command line

    def options(self, append=''):
        append = f'{append} {self.append}'.strip()
        return (*self.cards, *(('--append', append) if append else ()))


# by the name of the driver, and of the steering where the card has two kinds
BEDS = {
    'igb': Bed(),
    'mlx4': Bed(('--nic', 'mlx4')),
    'mlx4-dmfs': Bed(('--nic', 'mlx4'), 'mlx4_core.log_num_mgm_entry_size=-1'),
}


def rig(name, command, kernel='debug', limit=LIMIT, quiet=False, options=()):
    argv = [RIG, 'run', '--kernel', kernel, '--name', name, '--limit', str(limit), *options,
            *(['--quiet'] if quiet else []), '--', command]
    return subprocess.run(argv, check=False, capture_output=quiet, text=True)


def read_result(name, file):
    try:
        with open(f'{TOP}/build/results/{name}/{file}', encoding='utf-8', errors='replace') as f:
            return f.read()
    except FileNotFoundError:
        return ''


def guest_row(suite, name, driver, run, start):
    """The row for the guest itself, which names the kernel's first reports."""
    lines = read_result(name, 'reports.log').splitlines()
    return Row(suite, driver, f'{suite}: no kernel report, no hang', 'fail' if run.returncode else 'pass',
               time.monotonic() - start, '; '.join(lines[:REPORTS_NAMED]))


def matches(program, test):
    return not test or test.split('.')[0] == os.path.basename(program).split('.')[0]


def selftests(suite, programs, args, kernel, append='', driver='igb'):
    """Runs the programs in one guest; rows for their cases and for the guest.

    Under TCG the tests' own time limits are short: what costs much is turned off
    at boot where another suite has it.
    """
    programs = [p for p in programs if matches(p, args.test)]
    if not programs:
        raise RuntimeError(f'no test {args.test} in the suite {suite}')
    cases = ['--case', args.test.split('.', 1)[1]] if '.' in args.test else []
    name = f'{suite}-dmfs' if driver.endswith('-dmfs') else suite
    soak = os.environ.get('SOAK')
    command = ' '.join([*([f'SOAK={soak}'] if soak else []), RUNNER, *cases, *programs])
    start = time.monotonic()
    run = rig(name, command, kernel, LIMIT + 2 * int(soak or 0), options=BEDS[driver].options(append))
    for program in programs:
        text = read_result(name, f'tap/{program.replace("/", "_")}.tap')
        for test, result, reason, seconds in results.parse_ktap(text, program):
            yield Row(suite, driver, test, result, seconds, reason)
    yield guest_row(suite, name, driver, run, start)


def run_upstream(args):
    yield from selftests('upstream', UPSTREAM, args, 'release')


def run_upstream_debug(args):
    yield from selftests('upstream-debug', UPSTREAM, args, 'debug', NO_KMEMLEAK)


def run_own(args):
    # a test that was asked for by name runs here too
    programs = LEAKS + OWN if args.base or args.test else OWN
    yield from selftests('rxhook', programs, args, 'base' if args.base else 'debug', NO_KMEMLEAK)


def run_leaks(args):
    yield from selftests('leaks', LEAKS, args, 'debug')


def run_own_mlx4(args):
    kernel = 'base' if args.base else 'debug'
    for driver, programs in (('mlx4', OWN_MLX4), ('mlx4-dmfs', () if args.base else OWN_STEERING)):
        if any(matches(program, args.test) for program in programs):
            yield from selftests('rxhook-mlx4', programs, args, kernel, NO_KMEMLEAK, driver)


def run_upstream_mlx4(args):
    for driver in ('mlx4', 'mlx4-dmfs'):
        yield from selftests('upstream-mlx4', UPSTREAM, args, 'debug', NO_KMEMLEAK, driver)


def run_faults(args):
    yield from selftests('faults', FAULTS, args, 'debug')


def processes(group):
    """The command lines of a process group."""
    return subprocess.run(['pgrep', '-a', '-g', str(group)], check=False, capture_output=True, text=True).stdout


def interrupted():
    """Ctrl-C takes the guest and the card's model along."""
    start = time.monotonic()
    runs = f'{TOP}/build/results/interrupted/runs'
    if os.path.exists(runs):
        os.unlink(runs)
    argv = [RIG, 'run', '--kernel', 'debug', '--nic', 'mlx4', '--append', NO_KMEMLEAK, '--name', 'interrupted', '--quiet',
            '--', 'touch /results/runs; sleep 1000']
    with subprocess.Popen(argv, start_new_session=True) as proc:
        while not os.path.exists(runs) and proc.poll() is None and time.monotonic() - start < 300:
            time.sleep(1)
        models = set(re.findall(r'/tmp/connectx3[^/]*', processes(proc.pid)))
        os.killpg(proc.pid, signal.SIGINT)
        status = proc.wait(timeout=60)
    left = processes(proc.pid).splitlines() + [path for path in models if os.path.exists(path)]
    good = models and status and not left
    return Row('rig', 'mlx4', 'Ctrl-C leaves nothing behind', 'pass' if good else 'fail', time.monotonic() - start,
               '' if good else f'status {status}, left: {" ".join(left)}')


def run_rig(_args):
    """The rig notices what it is there to notice."""
    fast = ('--append', NO_KMEMLEAK)

    def case(test, command, says, limit=600):
        start = time.monotonic()
        run = rig('rig', command, limit=limit, quiet=True, options=fast)
        good = run.returncode == 1 and re.search(says, run.stderr)
        return Row('rig', 'igb', test, 'pass' if good else 'fail', time.monotonic() - start,
                   '' if good else f'status {run.returncode}: {results.last_line(run.stderr)}')

    yield case('a kernel report fails the run', 'echo "WARNING: CPU: 0 made up" >/dev/kmsg', 'made up')
    yield case('a hang is cut', 'echo about to hang >/dev/kmsg; sleep 1000', 'about to hang', limit=120)
    yield case('a crash fails the run', 'echo c >/proc/sysrq-trigger', 'Kernel panic|ended before')
    yield interrupted()
    start = time.monotonic()
    run = rig('rig', 'echo said; exit 3', quiet=True, options=fast)
    good = run.returncode == 3 and 'said' in read_result('rig', 'output.log')
    yield Row('rig', 'igb', "the command's status and output come back", 'pass' if good else 'fail',
              time.monotonic() - start)


def ktap_in_guest(suite, command, kernel='debug', driver='igb'):
    """Runs a command that prints KTAP; rows for its cases and for the guest."""
    start = time.monotonic()
    run = rig(suite, command, kernel, options=BEDS[driver].options(NO_KMEMLEAK))
    # in the form that guest_selftests.py leaves
    text = read_result(suite, 'output.log') + f"# exit {read_result(suite, 'status').strip()} 0\n"
    for test, result, reason, seconds in results.parse_ktap(text, suite):
        yield Row(suite, driver, test, result, seconds, reason)
    yield guest_row(suite, suite, driver, run, start)


def run_samples(_args):
    yield from ktap_in_guest('samples', 'tools/testing/vm/try-samples')
    yield from ktap_in_guest('samples-queue', 'tools/testing/vm/try_queue_samples.py')


def run_command(_args):
    yield from ktap_in_guest('command', TRY_RXHOOK)


def run_command_elsewhere(_args):
    yield from ktap_in_guest('command-base', f'{TRY_RXHOOK} unpatched', 'base')
    yield from ktap_in_guest('command-mlx4', TRY_RXHOOK, driver='mlx4')


def run_deb(_args):
    start = time.monotonic()
    run = subprocess.run([f'{TOP}/tools/testing/vm/try-deb'], check=False, capture_output=True, text=True)
    yield Row('deb', 'igb', 'the package installs and its kernel boots', 'fail' if run.returncode else 'pass',
              time.monotonic() - start, results.last_line(run.stdout + run.stderr) if run.returncode else '')
