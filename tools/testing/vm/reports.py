# SPDX-License-Identifier: GPL-2.0
"""Finds kernel reports in a console log: whatever says that the kernel, and so
most likely our driver, did something wrong."""
import re

REPORT = re.compile('|'.join((
    r'WARNING: ', r'\bBUG[: ]', r'KASAN: ', r'UBSAN: ', r'KCSAN: ', r'kernel BUG at',
    r'Oops[: ]', r'general protection fault', r'Kernel panic', r'unable to handle',
    r'possible (circular|recursive) locking', r'inconsistent lock state', r'suspicious RCU usage',
    r'possible irq lock inversion', r'held lock', r'sleeping function called',
    r'scheduling while atomic', r'INFO: task .* blocked for more than', r'soft lockup',
    r'rcu: INFO: ', r'refcount_t: ', r'page_pool.*(stalled|leak|inflight)',
    r'unregister_netdevice: waiting', r'unreferenced object 0x', r'new suspected memory leaks',
    r'DMA-API: ', r'ODEBUG: ', r'list_(add|del) corruption', r'Bad page state',
    r'bad page state', r'Poison overwritten', r'NETDEV WATCHDOG', r'ref_tracker: ',
    r'Detected Tx Unit Hang', r'Detected Hardware Unit Hang',
    r'trying to register non-static key', r'turning off the locking correctness validator',
    r'rcu_tasks detected stalls')))
# What a clean boot of the base kernel says with these words in it.
HARMLESS = re.compile('|'.join((
    r'DMA-API: preallocated', r'DMA-API: debugging enabled', r'Booting paravirtualized',
    r'ODEBUG: selftest passed', r'kmemleak: Kernel memory leak detector initialized')))
# A run that provokes a report on purpose names it in the log before.
ANNOUNCE = re.compile(r'rig: expect report: (.+)$')

# KASAN's memory of the first CPU is not set up before: an interrupt in that
# moment, which TCG likes to deliver, makes it report the kernel's own locks.
KASAN_READY = 'smp: Bringing up secondary CPUs'

LINES_SHOWN = 40


def find(log):
    """The reports in the text of a console log, each a list of its lines."""
    lines = log[max(log.find(KASAN_READY), 0):].splitlines()
    reports, skip_to, expected = [], 0, []
    for no, line in enumerate(lines):
        announced = ANNOUNCE.search(line)
        if announced:
            expected.append(announced.group(1).strip())
            continue
        if no < skip_to or not REPORT.search(line) or HARMLESS.search(line):
            continue
        if any(text in line for text in expected):
            continue
        reports.append(lines[no:no + LINES_SHOWN])
        skip_to = no + LINES_SHOWN
    return reports
