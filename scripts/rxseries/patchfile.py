# SPDX-License-Identifier: GPL-2.0
"""The files in patches/: mails of git format-patch, but the content of a file
that a patch adds stands in the repository; the patch has a line Adds: with its
path instead."""
import dataclasses
import pathlib
import re
import tempfile

from .files import raw, store, text
from .git import git
from .say import die

FILE_NAME = re.compile(r'\d{4}-.*\.patch')


@dataclasses.dataclass
class Patch:
    name: str
    author: str
    date: str
    message: str
    adds: list
    diff: bytes

    @property
    def edits(self):
        found = re.findall(rb'^(?:diff --git|---|\+\+\+) [ab]/(\S+)', self.diff, re.M)
        return sorted({text(path) for path in found})


def read_series(root):
    paths = sorted((root / 'patches').glob('*.patch'))
    for path in paths:
        if not FILE_NAME.fullmatch(path.name):
            die(f'patches/{path.name} is not named like 0001-subject.patch')
    return [read_patch(path) for path in paths]


def read_patch(path):
    with tempfile.TemporaryDirectory() as tmp:
        head = git(tmp, 'mailinfo', '--encoding=UTF-8', 'message', 'diff', data=path.read_bytes())
        body, diff = ((pathlib.Path(tmp) / name).read_bytes() for name in ('message', 'diff'))
    field = dict(re.findall('^(Author|Email|Subject|Date): (.*)$', head, re.M))
    if len(field) < 4:
        die(f'patches/{path.name} is not a mail with From, Date and Subject')
    body, adds = split_adds(text(body))
    for added in adds:
        if added.startswith('/') or '..' in added.split('/'):
            die(f'patches/{path.name} says Adds: {added}, which is no path in the kernel')
    message = '\n\n'.join(filter(None, (field['Subject'], body))) + '\n'
    return Patch(path.name, f'{field["Author"]} <{field["Email"]}>', field['Date'], message, adds, diff)


def split_adds(body):
    """The message without the Adds lines in its last paragraph, and their paths."""
    head, _, last = body.strip('\n').rpartition('\n\n')
    lines = last.split('\n')
    kept = [line for line in lines if not line.startswith('Adds: ')]
    adds = [line.removeprefix('Adds: ').strip() for line in lines if line not in kept]
    return '\n\n'.join(filter(None, (head, '\n'.join(kept)))), adds


def sources(series):
    """The paths of all that the series is made from."""
    return [f'patches/{p.name}' for p in series] + [path for p in series for path in p.adds]


def write_patch(path, repo, commit, adds, diff):
    """The mail of a commit: mbox's first line is there for git am, the commit id is not."""
    head = git(repo, 'log', '-1', '--format=email', '--no-mailmap', '--encoding=UTF-8', commit)
    lines = head.rstrip('\n').split('\n')
    lines[0] = f'From {"0" * 40} Mon Sep 17 00:00:00 2001'
    trailers = '' in lines and re.match(r'[A-Z][\w-]+: ', lines[-1])
    if not trailers:
        lines.append('')
    lines += [f'Adds: {path}' for path in adds] + ['---', '']
    store(path, ('100644', raw('\n'.join(lines)) + diff))


def diff_of(repo, old, new, paths):
    """Diffstat and diff, without the object ids that change for no visible reason."""
    if not paths:
        return b''
    diff = raw(git(repo, 'diff-tree', '-r', '-p', '--stat=72', '--summary', '--no-renames', '-U3',
                   '--binary', '--full-index', '--no-ext-diff', '--no-textconv', '--no-color',
                   '--diff-algorithm=myers', '--src-prefix=a/', '--dst-prefix=b/',
                   old, new, '--', *paths))
    return re.sub(rb'^index [0-9a-f]{40}\.\.[0-9a-f]{40}( \d{6})?\n(?=--- )', b'', diff, flags=re.M)
