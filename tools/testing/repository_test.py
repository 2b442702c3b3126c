#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What the repository says about itself is so."""
import os
import re
import subprocess
import sys
import unittest

TOP = os.path.dirname(os.path.abspath(__file__)).removesuffix('/tools/testing')
sys.path.insert(0, f'{TOP}/tools/testing/check')
import results          # noqa: E402  pylint: disable=wrong-import-position
import suite_guest      # noqa: E402  pylint: disable=wrong-import-position

# patches are mails and the licence is the licence
NO_SPDX = re.compile(r'^(COPYING|patches/.*|.*\.(png|svg))$')
TABLE = re.compile(r'<!-- works -->\n(.*?)<!-- /works -->', re.S)
ANSWERS = ('yes', 'no', '-')


def tracked():
    return subprocess.run(['git', 'ls-files', '-co', '--exclude-standard'], cwd=TOP, check=True,
                          capture_output=True, text=True).stdout.split('\n')[:-1]


def read(path):
    with open(f'{TOP}/{path}', encoding='utf-8') as f:
        return f.read()


def works_table():
    """(feature, {driver: answer}, [tests]) of each line of the README's table."""
    rows = TABLE.search(read('README.md'))[1].strip().splitlines()
    drivers = [c.strip(' `') for c in rows[0].strip('|').split('|')][1:-1]
    for row in rows[2:]:
        cells = [c.strip() for c in row.strip('|').split('|')]
        yield cells[0], dict(zip(drivers, cells[1:-1])), re.findall(r'`([^`]+)`', cells[-1])


def known(test):
    """True for a case of a program that make check runs; variants follow a dot."""
    program, case = test.split('.')[:2]
    for path in suite_guest.UPSTREAM + suite_guest.LEAKS + suite_guest.OWN:
        if os.path.basename(path) == f'{program}.py':
            ours = f'tools/testing/selftests/{path}'
            # the kernel's own programs are not in this repository to look into
            return not os.path.exists(f'{TOP}/{ours}') or f'def {case}(cfg' in read(ours)
    return False


class Repository(unittest.TestCase):
    def test_spdx_in_every_file(self):
        missing = [p for p in tracked() if not NO_SPDX.match(p) and os.path.isfile(f'{TOP}/{p}')
                   and 'SPDX-License-Identifier' not in read(p)[:400]]
        self.assertEqual(missing, [])

    def test_every_command_has_help(self):
        targets = re.findall(r'^\.PHONY: (.*)$', read('Makefile'), re.M)[0].split()
        described = re.findall(r'^([a-z-]+):.*## ', read('Makefile'), re.M)
        self.assertEqual(sorted(targets), sorted(described))

    def test_no_command_in_readme_that_is_not_there(self):
        described = re.findall(r'^([a-z-]+):.*## ', read('Makefile'), re.M)
        for command in re.findall(r'\bmake ([a-z]+)\b', '\n'.join(re.findall(r'`[^`]*`|^    .*$', read('README.md'), re.M))):
            self.assertIn(command, described)

    def test_table_of_what_works(self):
        """Each yes has a test that passes, each no has none that does."""
        for feature, answers, tests in works_table():
            self.assertTrue(tests, f'{feature}: no test named')
            for driver, answer in answers.items():
                with self.subTest(feature=feature, driver=driver):
                    self.assertIn(answer, ANSWERS)
                    self.check_answer(driver, answer, tests)

    def check_answer(self, driver, answer, tests):
        lists = f'{TOP}/tools/testing/expected/{driver}.tsv'
        has_rig = os.path.exists(lists)
        listed = results.read_expected(lists)
        for test in tests:
            self.assertTrue(known(test), f'make check runs no test {test}')
            if answer == 'yes':
                self.assertTrue(has_rig, f'nothing tests {driver}, so nothing shows a yes')
                self.assertNotIn(test, listed)
            elif answer == 'no':
                self.assertTrue(has_rig, f'nothing tests {driver}: the answer is -')
                self.assertIn(test, listed)


if __name__ == '__main__':
    unittest.main()
