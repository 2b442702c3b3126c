# SPDX-License-Identifier: GPL-2.0
"""The figures as text, as a table of tabs and as Markdown, and whether the fork
is within its bars."""
from dataclasses import dataclass

import cases

BASE, FORK = 'base', 'release'
TSV_HEADER = ('driver', 'kernel', 'case', 'frame', 'instructions', 'loads', 'stores',
              'fetch_misses', 'l1_misses', 'l2_misses', 'batches', 'good', 'spread', 'note')
# million packets a second of one core: hook, clsact with the same program, stack
# without a route; the RFC of April 2016 on ConnectX-3
SEED_MPPS = {'hook-drop': 20.0, 'clsact-drop': 6.5, 'no-route': 4.5}


@dataclass
class Pair:
    """A case at a size, on both kernels; a row as run.py gives it, or None."""
    case: cases.Case
    size: int
    base: dict
    fork: dict

    def ratio(self):
        figures = [row and row['figure'] for row in (self.base, self.fork)]
        return figures[1].total() / figures[0].total() if all(figures) else None

    def above_bar(self):
        ratio = self.ratio()
        return ratio is not None and self.case.bar is not None and ratio > self.case.bar

    def complaint(self):
        """What makes the run a failure, or ''. The base kernel may refuse a case; the
        fork may not, unless the room cannot set it up."""
        where = f'{self.case.name}, {self.size} bytes'
        if self.above_bar():
            return f'{where}: {self.ratio():.3f} of base, at most {self.case.bar:.2f}'
        for row in (self.base, self.fork):
            if row and row['arrived'] and not row['figure']:
                return f'{where}: {row["refused"]}'
        if self.fork and not self.fork['figure'] and not self.fork['left_out']:
            return f'{where}: {self.fork["refused"]}'
        return ''


def pairs(rows):
    """rows: {kernel: [row]}, each kernel with the same cases in the same order."""
    kernels = list(rows)
    for i, row in enumerate(rows[kernels[0]]):
        yield Pair(cases.CASES[row['case']], row['size'],
                   rows[BASE][i] if BASE in rows else None, rows[FORK][i] if FORK in rows else None)


def tsv(measured):
    """measured: {driver: {kernel: [row]}}"""
    yield '\t'.join(TSV_HEADER)
    for driver, rows in measured.items():
        for kernel, of_kernel in rows.items():
            for row in of_kernel:
                yield '\t'.join([driver, kernel, row['case'], str(row['size']), *_values(row['figure']),
                                 row['refused'].replace('\t', ' ')])


def _values(figure):
    if not figure:
        return ['-'] * 9
    return [f'{figure.total(column):.3f}' for column in range(6)] + \
        [str(figure.of), str(figure.good), f'{figure.spread:.3f}']


def summary(row):
    figure = row['figure']
    if not figure:
        return row['refused']
    line = (f'{figure.total():9.1f} instructions, {figure.good} of {figure.of} batches good, '
            f'spread {figure.spread:.2f}')
    if not figure.total(1):
        return line     # --no-mem
    return (f'{line}; {figure.total(1):.1f} loads, {figure.total(2):.1f} stores, '
            f'{figure.total(3) + figure.total(4):.1f} L1 misses, {figure.total(5):.1f} L2')


def text(rows, functions):
    """A perf report for each case and size, a packet: the kernels side by side."""
    for pair in pairs(rows):
        yield f'{pair.case.name}, {pair.size} bytes: {pair.case.what}'
        here = {k: row for k, row in ((BASE, pair.base), (FORK, pair.fork)) if row}
        for kernel, row in here.items():
            yield f'  {kernel:8}{summary(row)}'
        if (ratio := pair.ratio()) is not None:
            bar = '' if pair.case.bar is None else f', bar {pair.case.bar:.2f}'
            yield f'  ratio   {ratio:9.3f}{bar}{": ABOVE" if pair.above_bar() else ""}'
        figures = {k: row['figure'] for k, row in here.items() if row['figure']}
        if functions and figures:
            yield from _functions(figures, functions)
        yield ''


def _functions(figures, limit):
    def cost(kernel, name):
        return figures[kernel].functions.get(name, [0])[0]

    names = sorted({n for f in figures.values() for n in f.functions},
                   key=lambda name: (-max(cost(k, name) for k in figures), name))
    yield '  ' + ''.join(f'{k:>10}' for k in figures) + '  function'
    for name in names[:limit]:
        yield '  ' + ''.join(f'{cost(k, name):10.1f}' for k in figures) + f'  {name}'


def _cell(row):
    if not row or not row['figure']:
        return '-'
    return f'{row["figure"].total():.0f}'


def markdown(driver, rows, brief=False):
    """A table of all; brief: of the shortest frames, one sender and one queue."""
    yield f'| {driver}: a received packet costs | frame | base | fork | fork/base |'
    yield '| --- | ---: | ---: | ---: | ---: |'
    for pair in pairs(rows):
        if not any(row and row['figure'] for row in (pair.base, pair.fork)):
            continue
        if brief and (pair.size, pair.case.senders, pair.case.queues) != (cases.SIZES[0], 1, 1):
            continue
        ratio = pair.ratio()
        yield (f'| {pair.case.what} | {pair.size} | {_cell(pair.base)} | {_cell(pair.fork)} | '
               f'{"-" if ratio is None else f"{ratio:.2f}"} |')


def seeds(driver, rows):
    """How much more a packet costs on the later paths, then in time, now in instructions."""
    yield f'| {driver}: times the cost in the hook | 2016, time | base, instructions | fork, instructions |'
    yield '| --- | ---: | ---: | ---: |'
    totals = {(k, r['case']): r['figure'].total() for k, of in rows.items() for r in of
              if r['size'] == 60 and r['figure']}
    for case, rate in SEED_MPPS.items():
        cells = [SEED_MPPS['hook-drop'] / rate]
        for kernel in (BASE, FORK):
            hook, here = totals.get((kernel, 'hook-drop')), totals.get((kernel, case))
            cells.append(here / hook if hook and here else None)
        yield f'| {cases.CASES[case].what} | ' + ' | '.join('-' if c is None else f'{c:.1f}' for c in cells) + ' |'
