# SPDX-License-Identifier: GPL-2.0
"""make refresh: build/linux to patches/ and the added files.

What it is to become is made in a temporary folder first, and made into commits
from there: only where those hold what build/linux holds does anything change.
"""
import pathlib
import shutil
import tempfile

from .branch import check_branch, fold, read_branch
from .commits import apply_series
from .export import check_export, export
from .files import load, store
from .git import changed, entries, git, rev, stage, with_entries
from .linux import FORCE, INPUTS, LINUX, MADE, TOP, edited, inputs, need_base, remember
from .patchfile import read_series, sources
from .say import die, names, say


def refresh():
    base = need_base()
    check_branch(base)
    old, steps, edits = read_series(TOP), read_branch(base), edited()
    here = inputs(LINUX, old)
    ours = changed(LINUX, INPUTS, here)
    if ours and not edits and rev(LINUX, 'HEAD') == rev(LINUX, MADE):
        say('nothing was done in build/linux; make tree takes what changed here there')
        return
    check_not_empty(old, steps, edits)
    there = worktree(edits)
    final = with_ours(there, here, ours)
    fold(steps, edits)
    with tempfile.TemporaryDirectory() as tmp:
        root = pathlib.Path(tmp)
        kept = export(base, final, steps, root)
        new = read_series(root)
        head = apply_series(LINUX, base, root, new)
        check_export(base, final, kept, head)
        publish(root, old, new)
    settle(edits, there, head)
    remember(LINUX, head, new)
    say(f'patches/ holds the series of {len(new)}, {head[:12]}')


def check_not_empty(old, steps, edits):
    if edits and not steps:
        die(f'{names(edits)}: there is no patch to take this in; commit it in build/linux with a message')
    if old and not steps and not FORCE:
        die('build/linux has no commit on the base kernel; FORCE=1 make refresh empties patches/')


def worktree(edits):
    """The tree of what stands in the folder; the real index stays as it is."""
    with tempfile.TemporaryDirectory() as tmp:
        index = shutil.copy2(LINUX / '.git/index', tmp)
        stage(LINUX, edits, GIT_INDEX_FILE=index)
        return git(LINUX, 'write-tree', GIT_INDEX_FILE=index).strip()


def with_ours(there, here, ours):
    """The tree with the added files that were edited here and not in build/linux."""
    patches = [path for path in ours if path.startswith('patches/')]
    added = [path for path in ours if path not in patches]
    was, theirs, mine = (entries(LINUX, tree, added) for tree in (MADE, there, here))
    take = {path: mine[path] for path in added if path in mine and theirs.get(path) == was.get(path)}
    clash = patches + [path for path in added if path not in take and mine.get(path) != theirs.get(path)]
    if clash and not FORCE:
        die(f'{names(clash)} changed here since build/linux was made, and build/linux has edits too;'
            ' FORCE=1 make refresh takes those from there, FORCE=1 make tree those from here')
    return with_entries(LINUX, there, take)


def publish(root, old, new):
    """Writes what was made under root into the repository, and takes out what is no longer made."""
    here, there = sources(old), sources(new)
    for path in there:
        file = load(TOP / path)
        if path not in here and file and file != load(root / path) and not FORCE:
            die(f'{path} is here too, with other content; move it away')
    for path in there:
        store(TOP / path, load(root / path))
    for path in here:
        if path not in there and load(TOP / path):
            remove(TOP / path)


def remove(path):
    """Takes the file away, and the folders that are empty then."""
    path.unlink()
    for folder in path.parents:
        if folder in (TOP, TOP / 'patches') or any(folder.iterdir()):
            return
        folder.rmdir()


def settle(edits, there, head):
    """Moves the branch; only files that were edited here are written."""
    stage(LINUX, edits)
    if changed(LINUX, there, head):
        git(LINUX, 'read-tree', '-m', '-u', there, head)
    git(LINUX, 'update-ref', '-m', 'refresh', 'refs/heads/rxhook', head)
