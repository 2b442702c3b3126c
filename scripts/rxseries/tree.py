# SPDX-License-Identifier: GPL-2.0
"""make tree: patches/ to build/linux. Only files with new content are written
there, so that the next build has no more to do than it must."""
import os
import pathlib
import shutil
import subprocess
import sys

from .commits import apply_series
from .files import text
from .git import borrow, borrowed, git, new_repository, rev, run
from .linux import BASE, FORCE, LINUX, TOP, need_base, refuse_to_lose, remember, untracked
from .patchfile import read_series
from .say import die, say

# Every file in these folders belongs to a patch, but for READMEs ...
SERIES = ('drivers', 'include', 'net', 'Documentation', 'samples', 'tools/net', 'tools/testing/selftests')
# ... and for what in them is the fork's own: no patch has to add that.
OWN = ('samples/bpf', 'tools/net/rxhook')


def tree():
    base_repo = base_repository()
    base = rev(base_repo, 'refs/heads/base') or die(f'{base_repo} has no branch base')
    series = read_series(TOP)
    check_strays(series)
    if LINUX.exists():
        check_linux(base, base_repo)
    if LINUX.exists() and rev(LINUX, BASE) == base:
        head = fill(LINUX, base, series)
    else:
        head = fill_new(base, base_repo, series)
    say(f'build/linux holds the series of {len(series)}, {head[:12]}')


def dirty():
    # what is too broken to look into, FORCE=1 lets go as well
    if not FORCE:
        refuse_to_lose(need_base())


def base_repository():
    """The base kernel at a path that the host knows as well as the room."""
    script = TOP / 'scripts/base'
    if subprocess.run([script], check=False).returncode:
        sys.exit(1)
    path = subprocess.run([script, 'path'], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    if path.startswith('/cache/'):
        path = os.environ.get('RXHOOK_CACHE', '/cache') + path.removeprefix('/cache')
    return pathlib.Path(path)


def check_strays(series):
    listed = run(TOP, 'ls-files', '-co', '-z', '--exclude-standard', '--', *SERIES)
    added = {path for p in series for path in p.adds}
    for path in text(listed.stdout).split('\0')[:-1]:
        own = any(f'{path}/'.startswith(f'{folder}/') for folder in OWN)
        readme = os.path.basename(path).startswith('README')
        if path not in added and not own and not readme and (TOP / path).exists():
            die(f'no patch says Adds: {path}')


def check_linux(base, base_repo):
    """Refuses to go on where build/linux holds work."""
    if not (LINUX / '.git').is_dir():
        die('build/linux is not a git tree; move it away')
    if not all(path.exists() for path in borrowed(LINUX)):
        borrow(LINUX, objects(base_repo))
    refuse_to_lose(base)


def objects(base_repo):
    """What build/linux borrows; inside the project it moves with the project."""
    path = base_repo / 'objects'
    if path.is_relative_to(TOP):
        return os.path.relpath(path, LINUX / '.git/objects')
    return str(path)


def fill(repo, base, series):
    head = apply_series(repo, base, TOP, series)
    if FORCE:
        drop_edits(repo)
    git(repo, 'checkout', '-q', '--no-track', *(['-f'] if FORCE else []), '-B', 'rxhook', head)
    remember(repo, head, series)
    return head


def drop_edits(repo):
    for path in untracked(repo):
        (repo / path).unlink()
    for command in ('rebase', 'am', 'cherry-pick', 'revert'):
        run(repo, command, '--quit')


def fill_new(base, base_repo, series):
    """Beside build/linux: where the series does not apply, the old tree stays."""
    repo = LINUX.with_name('linux.new')
    try:
        new_repository(repo, objects(base_repo))
        for ref in (BASE, 'refs/heads/base'):
            git(repo, 'update-ref', ref, base)
        head = fill(repo, base, series)
        replace(repo)
        return head
    finally:
        shutil.rmtree(repo, ignore_errors=True)


def replace(repo):
    old = LINUX.with_name('linux.old')
    shutil.rmtree(old, ignore_errors=True)
    if LINUX.exists():
        LINUX.rename(old)
    repo.rename(LINUX)
    shutil.rmtree(old, ignore_errors=True)
