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

# patches are mails and the licence is the licence
NO_SPDX = re.compile(r'^(COPYING|patches/.*|\.gitignore|.*\.(tsv|md|png|svg))$')
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


def our_cases():
    """The names, as in KTAP, of the cases of the selftests in the repository."""
    names = set()
    for path in tracked():
        m = re.match(r'tools/testing/selftests/.*/(\w+)\.py$', path)
        if m:
            names |= {f'{m[1]}.{case}' for case in re.findall(r'^def ([a-z]\w+)\(cfg', read(path), re.M)}
    return names


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
        listed = results.read_expected(f'{TOP}/tools/testing/expected/{driver}.tsv')
        has_rig = os.path.exists(f'{TOP}/tools/testing/expected/{driver}.tsv')
        for test in tests:
            known = test.split('.')[0] in {c.split('.')[0] for c in our_cases()} and \
                any(test == c or test.startswith(f'{c}.') for c in our_cases()) or \
                test.split('.')[0] in ('xdp', 'stats', 'queues', 'xsk_reconfig', 'xdp_metadata', 'ring_reconfig')
            self.assertTrue(known, f'there is no test {test}')
            if answer == 'yes':
                self.assertTrue(has_rig, f'{driver} has no rig, so nothing shows a yes')
                self.assertNotIn(test, listed)
            elif answer == 'no' and has_rig:
                self.assertIn(test, listed)


if __name__ == '__main__':
    unittest.main()
