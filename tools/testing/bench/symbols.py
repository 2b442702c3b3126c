# SPDX-License-Identifier: GPL-2.0
"""Names of functions by address."""
import bisect

# the modules' part of the address space ends here; BPF programs are there too
END = 1 << 64


def read(path):
    """The (address, kind, name) of each line of System.map or kallsyms."""
    with open(path, encoding='ascii') as f:
        return [line.split()[:3] for line in f]


class Symbols:
    """The kernel's text, from System.map, and BPF's, from the guest's kallsyms."""

    def __init__(self, lines):
        named = {}
        # of an address that has several names the first, global ones before others
        for kinds in 'T', 'tWw':
            for address, kind, name in lines:
                if kind in kinds:
                    named.setdefault(int(address, 16), name)
        self._starts = sorted(named)
        self._names = [named[start] for start in self._starts]

    def find(self, pc):
        at = bisect.bisect_right(self._starts, pc) - 1
        return self._names[at] if at >= 0 else f'{pc:x}'

    def range(self, name):
        """(first address, address after the last) of a function."""
        at = self._names.index(name)
        return self._starts[at], (self._starts + [END])[at + 1]

