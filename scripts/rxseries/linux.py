# SPDX-License-Identifier: GPL-2.0
"""build/linux: what stands in it, and what of that patches/ does not have."""
import os
import pathlib
import tempfile

from .git import git, holds, rev, stage
from .patchfile import sources
from .say import die, names

TOP = pathlib.Path(__file__).resolve().parents[2]
LINUX = TOP / 'build/linux'

BASE = 'refs/rxhook/base'       # the base kernel's commit
MADE = 'refs/rxhook/made'       # where the last tree or refresh left the branch
INPUTS = 'refs/rxhook/inputs'   # the tree of what it was made from on this side
NEXT = 'refs/rxhook/next'       # where the run under way will leave it

BUSY = ('rebase-merge', 'rebase-apply', 'MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD')
FORCE = os.environ.get('FORCE') == '1'


def need_base():
    """The base kernel's commit in a build/linux that can be worked with."""
    if not (LINUX / '.git').is_dir():
        die('there is no build/linux; make tree makes it')
    base = rev(LINUX, BASE) or die('build/linux is not from make tree; run that first')
    return base if holds(LINUX, base) else die('the base kernel of build/linux is gone')


def untracked(repo):
    # Debian's .gitignore ends in "/*", which would hide every new file.
    listed = git(repo, 'ls-files', '-o', '-z', '--exclude-standard', '-x', '!/*/', '-x', '/.*/')
    return [path for path in listed.split('\0')[:-1] if not path.endswith('/')]


def edited():
    """Paths that differ from HEAD, in the index or in the folder, or are new."""
    if holds(LINUX, BASE):
        rows = git(LINUX, 'status', '--porcelain', '-z', '--no-renames', '-uno').split('\0')[:-1]
        found = {row[3:] for row in rows}
    else:
        # Another KERNEL_TREE took the base's place: only the index is left to compare with.
        found = set(git(LINUX, 'ls-files', '-z', '-m').split('\0')[:-1])
    return sorted(found | set(untracked(LINUX)))


def busy():
    return any((LINUX / '.git' / name).exists() for name in BUSY)


def only_there(base):
    """What a new build/linux would lose, in words."""
    if busy():
        return 'a rebase or merge under way'
    ours = {base} | {rev(LINUX, name) for name in (BASE, MADE, NEXT)}
    if {rev(LINUX, 'HEAD'), rev(LINUX, 'refs/heads/rxhook') or base} - ours:
        return 'commits that are not in patches/'
    paths = edited()
    return f'uncommitted changes in {names(paths)}' if paths else None


def refuse_to_lose(base):
    lost = not FORCE and only_there(base)
    if lost:
        die(f'build/linux has {lost}; make refresh takes them in, FORCE=1 drops them')


def inputs(repo, series):
    """What the series is made from on this side, as a tree in the repository."""
    with tempfile.TemporaryDirectory() as tmp:
        env = {'GIT_DIR': f'{repo}/.git', 'GIT_WORK_TREE': str(TOP), 'GIT_INDEX_FILE': f'{tmp}/index'}
        stage(TOP, sources(series), **env)
        return git(TOP, 'write-tree', **env).strip()


def remember(repo, head, series):
    git(repo, 'update-ref', MADE, head)
    git(repo, 'update-ref', INPUTS, inputs(repo, series))
