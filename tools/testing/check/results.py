# SPDX-License-Identifier: GPL-2.0
"""Results of tests: rows, KTAP, and the lists of what is expected."""
import os
import re
from dataclasses import dataclass

RESULTS = ('pass', 'fail', 'skip', 'xfail')
TEST_LINE = re.compile(r'^(ok|not ok) (\d+) ?-? ?([^#]*?)\s*(?:# ?(SKIP|XFAIL)?\s*(.*))?$')
PLAN = re.compile(r'^1\.\.(\d+)')
EXIT = re.compile(r'^# exit (-?\d+) ([\d.]+)$')
TOOK = re.compile(r'^# took ([\d.]+)$')
KSFT_SKIP = 4


@dataclass
class Row:
    suite: str
    driver: str
    test: str
    result: str
    seconds: float = 0.0
    reason: str = ''

    def tsv(self):
        reason = self.reason.replace('\t', ' ').replace('\n', ' ')
        return f'{self.suite}\t{self.driver}\t{self.test}\t{self.result}\t{self.seconds:.1f}\t{reason}'


HEADER = 'suite\tdriver\ttest\tresult\tseconds\treason'


def write_rows(path, rows):
    """Whole or not at all."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(f'{path}.new', 'w', encoding='utf-8') as f:
        f.write(HEADER + '\n')
        f.writelines(row.tsv() + '\n' for row in rows)
    os.replace(f'{path}.new', path)


def read_rows(path):
    with open(path, encoding='utf-8') as f:
        fields = [line.rstrip('\n').split('\t') for line in f.readlines()[1:]]
    return [Row(suite, driver, test, result, float(secs), reason)
            for suite, driver, test, result, secs, reason in fields]


def parse_ktap(text, program):
    """The (test, result, reason, seconds) of each case in a program's output.

    A program that says nothing in KTAP is one case, judged by its exit status;
    one that breaks off or exits badly after good cases has a failed case more.
    """
    cases, planned, status, notes = [], None, None, []
    for line in text.splitlines():
        if (m := EXIT.match(line)):
            status = int(m[1])
        elif (m := PLAN.match(line)) and planned is None:
            planned = int(m[1])
        elif (m := TEST_LINE.match(line)):
            name = m[3].strip() or f'case {m[2]}'
            result = (m[4] or '').lower() or ('pass' if m[1] == 'ok' else 'fail')
            reason = (m[5] or '').strip() or (notes[-1] if notes and result == 'fail' else '')
            cases.append((name, result, reason, 0.0))
            notes = []
        elif (m := TOOK.match(line)) and cases:
            cases[-1] = (*cases[-1][:3], float(m[1]))
        elif line.startswith('# ') and 'Exception|' in line or 'Check' in line:
            notes.append(line.lstrip('# ').strip())
    if not cases:
        result = {0: 'pass', KSFT_SKIP: 'skip'}.get(status, 'fail')
        return [(program, result, '' if result == 'pass' else last_line(text), seconds(text))]
    if planned is not None and len(cases) < planned:
        cases.append((f'{program} runs to its end', 'fail', f'{len(cases)} of {planned} cases ran', 0.0))
    elif status not in (0, KSFT_SKIP) and all(c[1] != 'fail' for c in cases):
        cases.append((f'{program} exits well', 'fail', f'exit status {status}', 0.0))
    return cases


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip() and not EXIT.match(line)]
    return lines[-1].strip() if lines else 'no output'


def seconds(text):
    m = EXIT.match(text.splitlines()[-1]) if text else None
    return float(m[2]) if m else 0.0


def read_expected(path):
    """{test: (result, reason)} of a list; every line needs a reason."""
    expected = {}
    if not os.path.exists(path):
        return expected
    with open(path, encoding='utf-8') as f:
        for no, line in enumerate(f, 1):
            if line.startswith('#') or not line.strip():
                continue
            fields = line.rstrip('\n').split('\t')
            if len(fields) != 3 or fields[1] not in RESULTS[1:] or not fields[2].strip():
                raise SystemExit(f'rxhook: {path}:{no}: test, {"|".join(RESULTS[1:])} and a reason are needed')
            expected[fields[0]] = (fields[1], fields[2])
    return expected


def judge(rows, expected, complete):
    """(passed, failed, skipped) and a line for each row that is not as listed.

    expected has a list for each driver. What is listed and came out so counts as skipped. Better than listed is a
    failure too: then the list is no longer true.
    """
    passed = failed = skipped = 0
    complaints = []
    for row in rows:
        want, why = expected.get(row.driver, {}).get(row.test, ('pass', ''))
        if row.result != want:
            failed += 1
            complaints.append(f'{row.suite}/{row.driver}: {row.test}: {row.result}, expected {want}'
                              + (f' ({row.reason})' if row.reason else ''))
        elif want == 'pass':
            passed += 1
        else:
            skipped += 1
            row.reason = why
    if complete:
        for line in missing(rows, expected):
            failed += 1
            complaints.append(line)
    return passed, failed, skipped, complaints


def missing(rows, expected):
    """What is listed of the programs that ran, but did not run itself.

    A suite that was not asked for lacks all of its tests.
    """
    for driver, listed in expected.items():
        tests = {row.test for row in rows if row.driver == driver}
        # a case of another suite may have the name of a program, but no case after it
        programs = {test.split('.')[0] for test in tests if '.' in test}
        for test in sorted(set(listed) - tests):
            if test.split('.')[0] in programs:
                yield f'{driver}: {test} is listed as {listed[test][0]} but did not run'
