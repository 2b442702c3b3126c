# SPDX-License-Identifier: GPL-2.0
"""The series as mails to the maintainers, and what their tools say of it."""
import email.utils
import pathlib
import shutil
import subprocess
import sys
import tempfile

from .checkpatch import CHECKPATCH
from .commits import apply_series
from .files import text
from .git import changed, git, new_repository, rev, run
from .linux import LINUX, TOP, edited, need_base
from .patchfile import read_series
from .say import die

OUT = TOP / 'build/series'
COVER = TOP / 'patches/0000-cover-letter'


def mails():
    base, series = need_base(), read_series(TOP)
    if not series or not COVER.is_file():
        die('mails need a patch and a cover letter, patches/0000-cover-letter')
    if apply_series(LINUX, base, TOP, series) != rev(LINUX, 'HEAD') or edited():
        die('build/linux is not what patches/ gives; make tree or make refresh first')
    cover, *paths = write_mails(base, series[-1])
    address_all(cover, paths)
    results = [(cover.name, [])] + [(path.name, complaints(path)) for path in paths]
    report(results + [('git am of the mails', am_complaints(base, paths))])


def checkpatch():
    base, series = need_base(), read_series(TOP)
    head = apply_series(LINUX, base, TOP, series)
    with tempfile.TemporaryDirectory() as tmp:
        git(LINUX, 'format-patch', '-q', '-N', '--no-signature', '-o', tmp, f'{base}..{head}')
        paths = sorted(pathlib.Path(tmp).iterdir())
        report([(patch.name, complaints(path)) for patch, path in zip(series, paths)])


def write_mails(base, last):
    """The cover letter's sender is the last patch's author; git wants it as committer."""
    shutil.rmtree(OUT, ignore_errors=True)
    name, address = email.utils.parseaddr(last.author)
    git(LINUX, 'format-patch', '-q', '-n', '--zero-commit', '--no-signature', '--cover-letter',
        '--cover-from-description=subject', f'--description-file={COVER}',
        '--subject-prefix=PATCH net-next', '-o', str(OUT), f'{base}..HEAD',
        GIT_COMMITTER_NAME=name, GIT_COMMITTER_EMAIL=address, GIT_COMMITTER_DATE=last.date)
    return sorted(OUT.iterdir())


def address_all(cover, paths):
    """Each mail to those who keep its files, the cover letter to all of them."""
    all_to, all_cc = {}, {}
    for path in paths:
        to, cc = maintainers(path, '--no-l', '--no-r'), maintainers(path, '--no-m')
        add_address(path, to, cc)
        all_to |= dict.fromkeys(to)
        all_cc |= dict.fromkeys(cc)
    add_address(cover, all_to, all_cc)


def maintainers(path, *options):
    done = subprocess.run(['scripts/get_maintainer.pl', '--no-git', '--no-git-fallback',
                           '--no-rolestats', *options, path],
                          cwd=LINUX, check=False, capture_output=True, encoding='utf-8')
    # formataddr encodes names beyond ASCII as headers want them
    return [email.utils.formataddr(pair) for pair in email.utils.getaddresses(done.stdout.splitlines())]


def add_address(path, to, cc):
    head, rest = path.read_bytes().split(b'\n\n', 1)
    for name, people in (('To', to), ('Cc', [who for who in cc if who not in to])):
        if people:
            head += f'\n{name}: '.encode() + ',\n\t'.join(people).encode()
    path.write_bytes(head + b'\n\n' + rest)


def complaints(path):
    """checkpatch's, one a line."""
    done = subprocess.run([*CHECKPATCH, '--show-types', '--no-summary', path], cwd=LINUX, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    lines = text(done.stdout).replace(f'{path}:', 'line ').strip().split('\n')
    return lines if done.returncode else []


def am_complaints(base, mail_paths):
    """What git am says, or where it gives other files. Only those in question are checked out."""
    with tempfile.TemporaryDirectory() as tmp:
        repo = new_repository(pathlib.Path(tmp) / 'am', LINUX / '.git/objects')
        files = changed(LINUX, base, 'HEAD')
        git(repo, 'sparse-checkout', 'set', '--no-cone', *(f'/{path}' for path in files))
        git(repo, 'checkout', '-q', '-B', 'rxhook', base)
        done = run(repo, 'am', '-q', *mail_paths)
        if done.returncode:
            return text(done.stdout + done.stderr).strip().split('\n')
        return [f'git am gives another {path}' for path in changed(repo, rev(LINUX, 'HEAD'), 'HEAD')]


def report(results):
    """TAP: one line a result, its complaints below it."""
    print(f'1..{len(results)}')
    for number, (name, lines) in enumerate(results, 1):
        print('not ok' if lines else 'ok', number, '-', name)
        for line in lines:
            print('#', line)
    sys.exit(any(lines for _, lines in results))
