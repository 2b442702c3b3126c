# SPDX-License-Identifier: GPL-2.0
"""patches/ to commits.

They are made from plain files. What the patches edit is taken out of the base
kernel into a temporary folder and patched there, and fast-import turns that
into commits. So nothing in build/linux moves before the whole series applies.
Names and dates come from the patches alone: the same series gives the same
commit ids.
"""
import pathlib
import tempfile

from .files import load, raw, store, text
from .git import MAIL, NAME, blob, entries, git, rev, run
from .linux import NEXT
from .say import die


def apply_series(repo, base, root, series):
    """Makes the commits in the repository, returns the last one."""
    base_has = entries(repo, base, sorted({path for p in series for path in p.edits + p.adds}))
    check_adds(series, base_has, root)
    with tempfile.TemporaryDirectory() as tmp:
        work = pathlib.Path(tmp).resolve()
        for path in {path for p in series for path in p.edits} & base_has.keys():
            mode, oid = base_has[path]
            store(work / path, (mode, blob(repo, oid)))
        stream = [raw(f'reset {NEXT}\nfrom {base}\n\n')]
        for patch in series:
            apply_diff(patch, work)
            for path in patch.adds:
                store(work / path, load(root / path))
            stream += commit(patch, work)
    git(repo, 'fast-import', '--quiet', '--force', '--done', '--date-format=rfc2822',
        data=b''.join(stream) + b'done\n')
    return rev(repo, NEXT)


def check_adds(series, base_has, root):
    owner = {}
    for patch in series:
        if not patch.adds and not patch.edits:
            die(f'patches/{patch.name} changes nothing')
        for path in patch.adds:
            says = f'patches/{patch.name} says Adds: {path}, '
            if path in owner:
                die(says + f'which {owner[path]} adds as well')
            if path in base_has:
                die(says + 'which the base kernel has already')
            if not load(root / path):
                die(says + 'which does not exist here')
            owner[path] = patch.name


def apply_diff(patch, work):
    if not patch.edits:
        return
    # Were the temporary folder inside a repository, git would patch that one.
    env = {'GIT_CEILING_DIRECTORIES': str(work.parent)}
    done = run(work, 'apply', '--whitespace=nowarn', '-', data=patch.diff, **env)
    if done.returncode:
        run(work, 'apply', '--whitespace=nowarn', '--reject', '-', data=patch.diff, **env)
        hunks = ''.join(text(rej.read_bytes()) for rej in sorted(work.rglob('*.rej')))
        die(f'patches/{patch.name} does not apply, and nothing was changed:\n'
            + text(done.stderr) + hunks)


def commit(patch, work):
    """The patch as a command for fast-import, once work holds its files."""
    message = raw(patch.message)
    yield raw(f'commit {NEXT}\nauthor {patch.author} {patch.date}\n'
              f'committer {NAME} <{MAIL}> {patch.date}\n'
              f'data {len(message)}\n') + message
    for path in sorted({*patch.edits, *patch.adds}):
        file = load(work / path)
        if file:
            yield raw(f'M {file[0]} inline {path}\ndata {len(file[1])}\n') + file[1] + b'\n'
        else:
            yield raw(f'D {path}\n')
