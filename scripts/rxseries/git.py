# SPDX-License-Identifier: GPL-2.0
"""git's plumbing: commits, trees, the index and borrowed objects."""
import os
import re
import shutil
import subprocess
import tempfile

from .files import raw, text
from .say import die

NAME, MAIL = 'rxhook', 'rxhook@localhost'   # who commits; the author is who wrote the patch
ALWAYS = {'GIT_COMMITTER_NAME': NAME, 'GIT_COMMITTER_EMAIL': MAIL, 'GIT_LITERAL_PATHSPECS': '1'}


def run(where, *args, data=b'', **env):
    # A hook's GIT_DIR and the like would lead git to another repository.
    clean = {k: v for k, v in os.environ.items() if not k.startswith('GIT_') or 'CONFIG' in k}
    return subprocess.run(['git', *args], cwd=where, input=data, capture_output=True,
                          check=False, env=clean | ALWAYS | env)


def git(where, *args, data=b'', **env):
    done = run(where, *args, data=data, **env)
    if done.returncode:
        die(f'git {args[0]} failed in {where}: {text(done.stderr).strip()}')
    return text(done.stdout)


def rev(repo, name):
    """A name's commit or tree, None where there is none."""
    done = run(repo, 'rev-parse', '-q', '--verify', name)
    return None if done.returncode else text(done.stdout).strip()


def holds(repo, commit):
    """Whether the commit's files are there, which may be borrowed."""
    return not run(repo, 'cat-file', '-e', f'{commit}^{{tree}}').returncode


def blob(repo, oid):
    return run(repo, 'cat-file', 'blob', oid).stdout


def entries(repo, tree, paths):
    """{path: (mode, object)} of those paths that the tree holds."""
    if not paths:
        return {}
    rows = git(repo, 'ls-tree', '-z', tree, '--', *paths).split('\0')[:-1]
    return {path: (mode, oid) for mode, _, oid, path in (re.split('[ \t]', r, maxsplit=3) for r in rows)}


def changed(repo, old, new):
    """The paths that differ between two trees."""
    return git(repo, 'diff-tree', '-r', '-z', '--no-renames', '--name-only', old, new).split('\0')[:-1]


def with_entries(repo, tree, new):
    """The tree with some of its paths replaced, or taken out where None."""
    if not new:
        return rev(repo, tree + '^{tree}')
    rows = (f'{mode} {oid}\t{path}\0' for path, (mode, oid) in
            ((p, e or ('0', '0' * 40)) for p, e in new.items()))
    with tempfile.TemporaryDirectory() as tmp:
        env = {'GIT_INDEX_FILE': f'{tmp}/index'}
        git(repo, 'read-tree', tree, **env)
        git(repo, 'update-index', '-z', '--index-info', data=raw(''.join(rows)), **env)
        return git(repo, 'write-tree', **env).strip()


def stage(where, paths, **env):
    """Makes the index hold what stands in the folder under these paths."""
    git(where, 'update-index', '--add', '--remove', '-z', '--stdin',
        data=raw(''.join(f'{path}\0' for path in paths)), **env)


def new_repository(path, *alternates):
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    git(path, 'init', '-q', '-b', 'rxhook')
    borrow(path, *alternates)
    return path


def borrow(repo, *alternates):
    """Has the repository read objects from these folders as well."""
    (repo / '.git/objects/info/alternates').write_text(''.join(f'{a}\n' for a in alternates))


def borrowed(repo):
    lines = (repo / '.git/objects/info/alternates').read_text().splitlines()
    return [repo / '.git/objects' / line for line in lines]
