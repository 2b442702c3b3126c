# SPDX-License-Identifier: GPL-2.0
"""The series as it stands on the branch in build/linux, and which of its
commits takes in what is not committed."""
import dataclasses
import os
import re

from .git import changed, git, run
from .linux import LINUX, busy
from .say import die, say


@dataclasses.dataclass
class Step:
    commit: str
    name: str   # of the patch file that it becomes
    paths: set  # what it changes
    takes: set = dataclasses.field(default_factory=set)  # what it takes in


def check_branch(base):
    if busy():
        die('build/linux has a rebase or merge under way; finish it first')
    branch = run(LINUX, 'symbolic-ref', '-q', '--short', 'HEAD').stdout.decode().strip()
    if branch != 'rxhook':
        die(f'build/linux is on {branch or "no branch"}; git checkout rxhook there first')
    if run(LINUX, 'merge-base', '--is-ancestor', base, 'HEAD').returncode:
        die('the branch in build/linux does not stand on the base kernel')
    if git(LINUX, 'rev-list', '--merges', f'{base}..HEAD'):
        die('build/linux has a merge; a series cannot hold one')


def read_branch(base):
    rows = git(LINUX, 'log', '--reverse', '--format=%H %f', f'{base}..HEAD').splitlines()
    steps = []
    for number, row in enumerate(rows, 1):
        oid, slug = row.split(' ', 1)
        if re.match('(fixup|squash|amend)-', slug):
            die(f'build/linux has the commit {slug}; git rebase -i --autosquash base takes it in')
        name = f'{number:04}-{slug}'[:58] + '.patch'
        steps.append(Step(oid, name, set(changed(LINUX, f'{oid}^', oid))))
    return steps


def fold(steps, paths):
    """Gives each uncommitted edit to the last patch that touches the file.

    No later patch touches it, so the edit always fits and nothing conflicts.
    """
    for path in paths:
        touching = [step for step in steps if path in step.paths]
        step = touching[-1] if touching else chosen(steps)
        step.takes.add(path)
        say(f'{path} goes into {step.name}')


def chosen(steps):
    """The patch that takes in files which no patch touches."""
    want = os.environ.get('PATCH')
    if not want:
        return steps[-1]
    for number, step in enumerate(steps, 1):
        if want in (step.name, step.name.removesuffix('.patch'), str(number), f'{number:04}'):
            return step
    die(f'there is no patch {want} in build/linux; its last one is {steps[-1].name}')
