# SPDX-License-Identifier: GPL-2.0
"""Pictures: where the instructions of a packet go, two kernels side by side.

Each function is a box; an instruction has the same area in both pictures, so
the smaller picture is the cheaper kernel. Boxes of one folder of the source have
one colour and lie together.
"""
from dataclasses import dataclass
from xml.sax.saxutils import escape

HEIGHT, WIDEST, GAP, HEAD, LEGEND_LINE = 420, 620, 24, 44, 18
COLOURS = ('#4e79a7', '#f28e2b', '#59a14f', '#e15759', '#76b7b2', '#edc948', '#b07aa1', '#9c755f',
           '#bab0ac', '#d37295')
CHAR_WIDTH, LINE = 6.2, 13


@dataclass
class Box:
    x: float
    y: float
    w: float
    h: float


def _worst(row, side):
    """The most elongated box of a row of areas laid along a side."""
    thickness = sum(row) / side
    return max(max(a / thickness ** 2, thickness ** 2 / a) for a in row)


def squarify(areas, box):
    """A Box for each area, all together as large as `box`; areas come sorted,
    the largest first. Rows are laid along the shorter side as long as that
    makes their boxes more square."""
    boxes, rest = [], list(areas)
    while rest:
        side, row = min(box.w, box.h), [rest.pop(0)]
        while rest and _worst(row + rest[:1], side) <= _worst(row, side):
            row.append(rest.pop(0))
        thickness, at = sum(row) / side, 0.0
        for area in row:
            length = area / thickness
            boxes.append(Box(box.x, box.y + at, thickness, length) if box.w >= box.h else
                         Box(box.x + at, box.y, length, thickness))
            at += length
        box = Box(box.x + thickness, box.y, box.w - thickness, box.h) if box.w >= box.h else \
            Box(box.x, box.y + thickness, box.w, box.h - thickness)
    return boxes


def _by_folder(costs, folders):
    """[(folder, [(function, cost)])], the dearest first in both."""
    groups = {}
    for name, cost in costs.items():
        groups.setdefault(folders.get(name, ''), []).append((name, cost))
    for functions in groups.values():
        functions.sort(key=lambda item: (-item[1], item[0]))
    return sorted(groups.items(), key=lambda item: (-sum(c for _, c in item[1]), item[0]))


def _label(box, name, cost):
    lines = [name, f'{cost:.1f}'] if box.h > 2 * LINE + 4 else [f'{name} {cost:.1f}']
    room = int((box.w - 6) / CHAR_WIDTH)
    if box.h < LINE + 2 or room < 4:
        return ''
    return ''.join(f'<text x="{box.x + 3:.1f}" y="{box.y + LINE * (i + 1):.1f}">{escape(text[:room])}</text>'
                   for i, text in enumerate(lines))


def _picture(costs, folders, colours, box):
    scale = box.w * box.h / sum(costs.values())
    groups = _by_folder(costs, folders)
    outer = squarify([sum(c for _, c in functions) * scale for _, functions in groups], box)
    for (folder, functions), area in zip(groups, outer):
        for (name, cost), b in zip(functions, squarify([c * scale for _, c in functions], area)):
            yield (f'<g><title>{escape(name)} ({escape(folder)}): {cost:.2f} instructions</title>'
                   f'<rect x="{b.x:.1f}" y="{b.y:.1f}" width="{b.w:.1f}" height="{b.h:.1f}" '
                   f'fill="{colours[folder]}"/>{_label(b, name, cost)}</g>')


def svg(title, pictures):
    """`pictures`: [(caption, {function: cost}, {function: folder})]"""
    totals = [sum(costs.values()) for _, costs, _ in pictures]
    folders = [f for f, _ in _by_folder({n: c for _, costs, _ in pictures for n, c in costs.items()},
                                        {n: f for _, _, fs in pictures for n, f in fs.items()})]
    colours = {f: COLOURS[i % len(COLOURS)] for i, f in enumerate(folders)}
    widths = [WIDEST * total / max(totals) for total in totals]
    width = max(sum(widths) + GAP * (len(pictures) + 1), WIDEST)
    height = HEAD + HEIGHT + GAP + LEGEND_LINE * -(-len(folders) // 2)
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
           'font-family="monospace" font-size="10">')
    yield f'<style>rect{{stroke:#fff;stroke-width:1}}</style><rect width="{width:.0f}" height="{height}" fill="#fff"/>'
    yield f'<text x="{GAP}" y="16" font-size="13">{escape(title)}</text>'
    x = GAP
    for (caption, costs, where), w, total in zip(pictures, widths, totals):
        yield f'<text x="{x:.1f}" y="36" font-size="12">{escape(caption)}: {total:.1f}</text>'
        yield from _picture(costs, where, colours, Box(x, HEAD, w, HEIGHT))
        x += w + GAP
    for i, folder in enumerate(folders):
        x, y = GAP + (i % 2) * width / 2, HEAD + HEIGHT + LEGEND_LINE * (i // 2 + 1)
        yield (f'<rect x="{x:.1f}" y="{y - 10:.1f}" width="12" height="12" fill="{colours[folder]}"/>'
               f'<text x="{x + 18:.1f}" y="{y:.1f}">{escape(folder)}</text>')
    yield '</svg>'
