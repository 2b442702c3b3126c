# SPDX-License-Identifier: GPL-2.0
"""What the profiler wrote: batches, and what a function costs a packet."""
from collections import defaultdict
from dataclasses import dataclass, field

COLUMNS = ('instructions', 'loads', 'stores', 'fetch_misses', 'l1_misses', 'l2_misses')


@dataclass
class Batch:
    runs: int           # of net_rx_action
    interrupts: int     # left out of the counts
    unbalanced: int     # more than none: the profiler lost track
    insns: dict = field(default_factory=dict)       # {address: counts as in COLUMNS}

    def total(self):
        return sum(counts[0] for counts in self.insns.values())

    def functions(self, symbols):
        """{function: counts}"""
        found = defaultdict(lambda: [0] * len(COLUMNS))
        for pc, counts in self.insns.items():
            into = found[symbols.find(pc)]
            for i, count in enumerate(counts):
                into[i] += count
        return dict(found)


def read(path):
    batches = []
    with open(path, encoding='ascii') as f:
        for line in f:
            fields = line.split()
            if fields[0] == 'batch':
                batches.append(Batch(*(int(n) for n in fields[2:])))
            else:
                batches[-1].insns[int(fields[0], 16)] = tuple(int(n) for n in fields[1:])
    return batches


@dataclass
class Figure:
    """A case at a size on a kernel, a packet: the mean of all good batches."""
    functions: dict     # {function: counts, fractions}
    insns: dict         # {address: executions, a fraction}
    good: int           # batches
    of: int
    spread: float       # between the lowest and the highest batch, in instructions a packet

    def total(self, column=0):
        return sum(counts[column] for counts in self.functions.values())


def _add(into, more):
    for key, counts in more.items():
        into[key] = [a + b for a, b in zip(into[key], counts)] if key in into else list(counts)


def figure(batches, arrived, sent, symbols):
    """None where no batch is good: all frames arrived, nothing unbalanced."""
    good = [b for b, n in zip(batches, arrived) if n == sent and not b.unbalanced and b.runs]
    if not good:
        return None
    functions, insns, packets = {}, {}, sent * len(good)
    for batch in good:
        _add(functions, batch.functions(symbols))
        _add(insns, batch.insns)
    totals = [batch.total() for batch in good]
    return Figure({name: [c / packets for c in counts] for name, counts in functions.items()},
                  {pc: counts[0] / packets for pc, counts in insns.items()},
                  len(good), len(arrived), (max(totals) - min(totals)) / sent)
