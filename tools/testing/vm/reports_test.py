#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What counts as a kernel report, and what does not."""
import unittest

import reports

BAD = (
    '[    9.1] WARNING: CPU: 0 PID: 1 at net/core/dev.c:1 x+0x1/0x2',
    '[    9.1] BUG: KASAN: slab-use-after-free in igb_poll+0x1/0x2',
    '[    9.1] UBSAN: array-index-out-of-bounds in x.c:1:2',
    '[    9.1] WARNING: possible circular locking dependency detected',
    '[    9.1] INFO: task ip:12 blocked for more than 60 seconds.',
    '[    9.1] page_pool_release_retry() stalled pool shutdown: id 1, 5 inflight 60 sec',
    '[    9.1] refcount_t: underflow; use-after-free.',
    '[    9.1] unregister_netdevice: waiting for eth0 to become free. Usage count = 2',
    'unreferenced object 0xffff888004123456 (size 32):',
    '[    9.1] igb 0000:01:00.0: Detected Tx Unit Hang',
    '[    9.1] NETDEV WATCHDOG: eth0 (igb): transmit queue 0 timed out 5000 ms',
    '[    9.1] DMA-API: igb 0000:01:00.0: device driver frees DMA memory with different size',
    '[    9.1] INFO: trying to register non-static key.',
    '[    9.1] turning off the locking correctness validator.',
    '[    9.1] INFO: rcu_tasks detected stalls on tasks:',
    '[    9.1] Oops: general protection fault, probably for non-canonical address 0x1a00891388130989: 0000',
)
GOOD = (
    '[    0.1] kmemleak: Kernel memory leak detector initialized (mem pool available: 15679)',
    '[    0.1] DMA-API: preallocated 65536 debug entries',
    '[    0.1] Booting paravirtualized kernel on KVM',
    '[    9.1] igb 0000:01:00.0 eth0: igb: eth0 NIC Link is Up 1000 Mbps Full Duplex',
    '[    0.1] Warning: unused parameter',
)


class Reports(unittest.TestCase):
    def test_each_report_is_found(self):
        for line in BAD:
            with self.subTest(line):
                self.assertEqual(len(reports.find(f'boot\n{line}\nmore\n')), 1)

    def test_harmless_lines_are_not_reports(self):
        self.assertEqual(reports.find('\n'.join(GOOD)), [])

    def test_a_report_keeps_the_lines_that_follow(self):
        log = f'{BAD[0]}\nCall Trace:\n <TASK>\n'
        self.assertIn('Call Trace:', reports.find(log)[0])

    def test_two_reports_far_apart_are_two(self):
        log = BAD[0] + '\nquiet' * 60 + '\n' + BAD[1]
        self.assertEqual(len(reports.find(log)), 2)

    def test_an_announced_report_is_not_counted(self):
        log = f'[    8.0] rig: expect report: net/core/dev.c:1\n{BAD[0]}\n'
        self.assertEqual(reports.find(log), [])


if __name__ == '__main__':
    unittest.main()
