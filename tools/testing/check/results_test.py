#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""How output becomes rows, and rows become the last line."""
import tempfile
import unittest

import results
from results import Row


class Ktap(unittest.TestCase):
    def test_cases(self):
        text = ('TAP version 13\n1..3\nok 1 xdp.a\n# took 1.5\nnot ok 2 xdp.b\nok 3 xdp.c # SKIP no queue\n'
                '# Totals: pass:1 fail:1\n# exit 1 2.5\n')
        self.assertEqual(results.parse_ktap(text, 'xdp.py'),
                         [('xdp.a', 'pass', '', 1.5), ('xdp.b', 'fail', '', 0.0), ('xdp.c', 'skip', 'no queue', 0.0)])
        self.assertEqual(results.seconds(text), 2.5)

    def test_xfail(self):
        self.assertEqual(results.parse_ktap('1..1\nok 1 a # XFAIL known\n# exit 0 1\n', 'p'), [('a', 'xfail', 'known', 0.0)])

    def test_breaking_off_is_a_failure(self):
        cases = results.parse_ktap('1..2\nok 1 a\n# exit 124 900.0\n', 'p')
        self.assertEqual(cases[-1][1], 'fail')

    def test_bad_exit_after_good_cases_is_a_failure(self):
        self.assertEqual(results.parse_ktap('1..1\nok 1 a\n# exit 1 1.0\n', 'p')[-1][1], 'fail')

    def test_program_without_ktap(self):
        self.assertEqual(results.parse_ktap('hello\n# exit 0 1.0\n', 'p.sh'), [('p.sh', 'pass', '', 1.0)])
        self.assertEqual(results.parse_ktap('no card\n# exit 4 1.0\n', 'p.sh'), [('p.sh', 'skip', 'no card', 1.0)])
        self.assertEqual(results.parse_ktap('', 'p.sh'), [('p.sh', 'fail', 'no output', 0.0)])


class Rows(unittest.TestCase):
    def test_there_and_back(self):
        rows = [Row('s', 'igb', 'p.a', 'fail', 1.5, 'why: not'), Row('s', '-', 'p.b', 'pass')]
        with tempfile.TemporaryDirectory() as folder:
            results.write_rows(f'{folder}/new/rows', rows)
            self.assertEqual(results.read_rows(f'{folder}/new/rows'), rows)


class Judge(unittest.TestCase):
    EXPECTED = {'p.b': ('fail', 'not built yet'), 'p.c': ('skip', 'no such card')}

    def judge(self, *pairs, complete=True):
        return results.judge([Row('s', 'igb', t, r) for t, r in pairs], {'igb': self.EXPECTED}, complete)

    def test_as_listed(self):
        self.assertEqual(self.judge(('p.a', 'pass'), ('p.b', 'fail'), ('p.c', 'skip')), (1, 0, 2, []))

    def test_worse_and_better_fail(self):
        self.assertEqual(self.judge(('p.a', 'fail'), ('p.b', 'fail'), ('p.c', 'skip'))[:3], (0, 1, 2))
        self.assertEqual(self.judge(('p.a', 'pass'), ('p.b', 'pass'), ('p.c', 'skip'))[:3], (1, 1, 1))

    def test_unlisted_skip_fails(self):
        self.assertEqual(self.judge(('p.a', 'skip'), ('p.b', 'fail'), ('p.c', 'skip'))[1], 1)

    def test_listed_but_not_run(self):
        self.assertEqual(self.judge(('p.a', 'pass'), ('p.b', 'fail'))[1], 1)
        self.assertEqual(self.judge(('p.a', 'pass'), complete=False)[1], 0)

    def test_case_with_the_name_of_a_program(self):
        self.assertEqual(self.judge(('p', 'pass'), ('p and more', 'pass'))[:2], (2, 0))

    def test_another_driver_has_another_list(self):
        rows = [Row('s', 'mlx4', 'p.b', 'pass')]
        self.assertEqual(results.judge(rows, {'igb': self.EXPECTED}, True)[:3], (1, 0, 0))

    def test_program_that_was_not_asked_for(self):
        self.assertEqual(self.judge(('q.a', 'pass'))[1], 0)


if __name__ == '__main__':
    unittest.main()
