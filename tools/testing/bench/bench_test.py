#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What is made of the profiler's counts, and the frames that are sent."""
import ctypes
import os
import subprocess
import tempfile
import unittest

import cases
import document
import figures
import frames
import report
import symbols
import treemap

MAP = ('ffffffff81000000 t local\nffffffff81000000 T first\nffffffff81000010 T second\n'
       'ffffffff81000010 T alias\nffffffff81000020 d data\n')
COUNTS = ('batch\t0\t1\t0\t0\nffffffff81000000\t10\t1\t0\t0\t1\t0\nffffffff81000014\t5\t0\t2\t0\t0\t0\n'
          'batch\t1\t1\t2\t0\nffffffff81000000\t10\t1\t0\t0\t1\t0\nffffffff81000014\t5\t0\t2\t0\t0\t0\n'
          'batch\t2\t1\t0\t0\nffffffff81000000\t12\t1\t0\t0\t1\t0\n'
          'batch\t3\t1\t0\t1\nffffffff81000000\t99\t1\t0\t0\t1\t0\n')


def file_with(text):
    with tempfile.NamedTemporaryFile('w', delete=False) as f:
        f.write(text)
    return f.name


def row(case, size, figure, left_out=False):
    return {'case': case, 'size': size, 'figure': figure, 'refused': '' if figure else 'refused: MTU',
            'arrived': [1] if figure else [], 'left_out': left_out}


def figure(cost):
    return figures.Figure({'igb_poll': [cost] + [0] * 5}, {}, 10, 10, 0.0)


class Counts(unittest.TestCase):
    def setUp(self):
        paths = [file_with(MAP), file_with(COUNTS)]
        self.addCleanup(lambda: [os.unlink(p) for p in paths])
        self.symbols, self.batches = symbols.Symbols(symbols.read(paths[0])), figures.read(paths[1])

    def test_names(self):
        self.assertEqual([self.symbols.find(0xffffffff81000000 + n) for n in (0, 15, 16, 40)],
                         ['first', 'first', 'second', 'second'])
        self.assertEqual(self.symbols.range('first'), (0xffffffff81000000, 0xffffffff81000010))

    def test_the_mean_of_the_good_batches(self):
        got = figures.figure(self.batches, [5] * 4, 5, self.symbols)
        self.assertEqual((got.total(), got.good, got.of, got.spread), ((15 + 15 + 12) / 15, 3, 4, 0.6))
        self.assertEqual(got.functions['second'][:3], [10 / 15, 0.0, 4 / 15])

    def test_a_batch_with_lost_frames_does_not_count(self):
        self.assertIsNone(figures.figure(self.batches, [4, 6, 0, 5], 5, self.symbols))


class Reports(unittest.TestCase):
    def test_bars(self):
        for cost, above in ((59, False), (60, False), (61, True)):
            rows = {'base': [row('hook-drop', 60, figure(100))], 'release': [row('hook-drop', 60, figure(cost))]}
            self.assertEqual([bool(p.complaint()) for p in report.pairs(rows)], [above])

    def test_only_the_base_may_refuse(self):
        good, refused = row('pass', 60, figure(1)), row('pass', 60, None)
        left_out = row('pass', 60, None, left_out=True)
        for base, fork, fails in ((refused, good, False), (good, refused, True), (left_out, left_out, False)):
            self.assertEqual([bool(p.complaint()) for p in report.pairs({'base': [base], 'release': [fork]})], [fails])

    def test_what_the_base_refuses_has_no_ratio(self):
        rows = {'base': [row('hook-drop', 9000, None)], 'release': [row('hook-drop', 9000, figure(1))]}
        self.assertEqual([(p.ratio(), p.above_bar()) for p in report.pairs(rows)], [(None, False)])
        self.assertIn('| 9000 | - | 1 | - |', '\n'.join(report.markdown('igb', rows)))

    def test_the_brief_table_has_one_line_a_case(self):
        rows = {'base': [row(name, size, figure(2))
                         for name in ('no-route', 'no-route-2-queues') for size in (60, 1500)]}
        self.assertEqual(list(report.markdown('igb', rows, brief=True))[2:],
                         [f'| {cases.CASES["no-route"].what} | 60 | 2 | - | - |'])

    def test_every_row_of_the_table_is_complete(self):
        rows = {'base': [row(name, 60, None) for name in cases.CASES]}
        for line in report.tsv({'igb': rows}):
            self.assertEqual(len(line.split('\t')), len(report.TSV_HEADER))

    def test_document(self):
        text = 'a\n<!-- bench igb -->\nold\n<!-- /bench igb -->\nb\n'
        new = document.replace(text, 'igb', ['1', '2'])
        self.assertEqual(new, 'a\n<!-- bench igb -->\n1\n2\n<!-- /bench igb -->\nb\n')
        self.assertEqual(document.replace(text, 'mlx4', ['1']), text)


class Pictures(unittest.TestCase):
    def test_boxes_have_the_areas_and_stay_inside(self):
        areas = [600, 600, 400, 300, 200, 200, 100]
        boxes = treemap.squarify(areas, treemap.Box(10, 20, 60, 40))
        for area, box in zip(areas, boxes):
            self.assertAlmostEqual(box.w * box.h, area)
            self.assertGreaterEqual(box.x, 10)
            self.assertLessEqual(box.y + box.h, 60.001)


class Caches(unittest.TestCase):
    """cache.c, as a library."""
    HIT, L1, L2 = 0, 1, 2

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'cache.c')
        subprocess.run(['gcc', '-shared', '-fPIC', '-o', f'{folder.name}/cache.so', source], check=True)
        self.lib = ctypes.CDLL(f'{folder.name}/cache.so')
        self.lib.cache_init()

    def access(self, address, size=8):
        return self.lib.cache_access(ctypes.c_uint64(address), size)

    def test_a_line_is_missed_once(self):
        self.assertEqual([self.access(a) for a in (0x1000, 0x1038, 0x1040)], [self.L2, self.HIT, self.L2])

    def test_an_access_over_the_end_of_a_line_touches_both(self):
        self.assertEqual([self.access(a) for a in (0x103c, 0x1000, 0x1040)], [self.L2, self.HIT, self.HIT])

    def test_the_line_used_least_recently_goes(self):
        lines = [0x10000 + 4096 * n for n in range(9)]  # one set of eight ways
        for line in lines[:8] + lines[:1] + lines[8:]:
            self.access(line)
        self.assertEqual([self.access(lines[n]) for n in (0, 1)], [self.HIT, self.L1])

    def test_instructions_and_data_share_the_second_level(self):
        self.access(0x1000)
        self.assertEqual(self.lib.cache_fetch(ctypes.c_uint64(0x1000)), self.L1)

    def test_after_a_flush_all_is_cold(self):
        self.access(0x1000)
        self.lib.cache_flush()
        self.assertEqual(self.access(0x1000), self.L2)


class Frames(unittest.TestCase):
    def test_length_and_checksums(self):
        for size in cases.SIZES:
            frame = frames.udp_frame(size, ('02:00:00:00:00:01', '02:00:00:00:00:02'), ('192.0.2.1', '192.0.2.2'))
            self.assertEqual(len(frame), size)
            self.assertEqual(frames.checksum(frame[14:34]), 0)
            pseudo = frame[26:34] + bytes([0, frames.UDP]) + (size - 34).to_bytes(2, 'big')
            self.assertEqual(frames.checksum(pseudo + frame[34:]), 0)


if __name__ == '__main__':
    unittest.main()
