#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Tests scripts/series.py on a base kernel of a few lines.

    scripts/room run python3 tools/testing/series_test.py
"""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / 'scripts'
LINES = [f'line {n}\n' for n in range(1, 41)]
STUB = '#!/bin/sh\n'
BASE_FILES = {
    'Makefile': 'VERSION = 7\n',
    'drivers/core.c': ''.join(LINES),
    'drivers/other.c': ''.join(LINES),
    'drivers/tool.sh': STUB,
    # As Debian ships it: everything at the top is ignored
    '.gitignore': '*.o\n/*\n',
    'scripts/get_maintainer.pl': STUB + 'case "$*" in *--no-m*) echo netdev@vger.example;;'
                                        ' *) echo "Zoë Müller <zoe@kernel.example>";; esac\n',
    'scripts/checkpatch.pl': STUB + 'for f; do :; done\n'
                                    '! grep -q "^+.*BAD" "$f" || { echo "$f:1: ERROR:BAD: bad"; exit 1; }\n',
}
ENV = {k: v for k, v in os.environ.items() if k not in ('FORCE', 'PATCH', 'KERNEL_TREE')} | {
    'PYTHONDONTWRITEBYTECODE': '1',
    'GIT_AUTHOR_NAME': 'Änne Author', 'GIT_AUTHOR_EMAIL': 'a@kernel.example',
    'GIT_AUTHOR_DATE': '2026-02-03T04:05:06+0100',
    'GIT_COMMITTER_NAME': 'Some One', 'GIT_COMMITTER_EMAIL': 's@kernel.example'}


def git(where, *args, **env):
    return subprocess.run(['git', '-c', 'safe.directory=*', *args], cwd=where, check=True, text=True,
                          env=ENV | env, stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout.strip()


def write(root, path, content):
    path = root / path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding='utf-8')
    return path


def snapshot(root, skip='.git'):
    """Everything that must not change: content, mode and time of each file."""
    return {str(p.relative_to(root)): (p.read_bytes(), p.stat().st_mode, p.stat().st_mtime_ns)
            for p in sorted(root.rglob('*')) if p.is_file() and skip not in p.parts}


class SeriesTest(unittest.TestCase):
    def setUp(self):
        self.tmp = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.tmp)
        self.top, self.base = self.tmp / 'top', self.tmp / 'base.git'
        self.linux = self.top / 'build/linux'
        self.make_base(BASE_FILES)
        (self.top / 'patches').mkdir(parents=True)
        git(self.top, 'init', '-q')
        write(self.top, '.gitignore', 'build/\n')
        self.copy_scripts()

    def copy_scripts(self):
        """series.py works on the repository that it stands in."""
        scripts = self.top / 'scripts'
        shutil.copytree(SCRIPTS / 'rxseries', scripts / 'rxseries',
                        ignore=shutil.ignore_patterns('__pycache__'))
        shutil.copy(SCRIPTS / 'series.py', scripts)
        write(self.top, 'scripts/base', STUB + '[ "$1" != path ] || echo "$TEST_BASE"\n').chmod(0o755)

    def make_base(self, files):
        src = self.tmp / 'src'
        shutil.rmtree(self.base, ignore_errors=True)
        for path, content in files.items():
            write(src, path, content).chmod(0o755 if content.startswith(STUB) else 0o644)
        git(self.tmp, 'init', '-q', '--bare', '-b', 'base', str(self.base))
        where = [f'--git-dir={self.base}', f'--work-tree={src}']
        git(src, *where, 'add', '-Af', '.')
        git(src, *where, 'commit', '-q', '-m', 'Linux')
        shutil.rmtree(src)

    def series(self, command, **env):
        env = ENV | {'TEST_BASE': str(self.base)} | env
        done = subprocess.run([self.top / 'scripts/series.py', command], env=env,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.said = done.stdout
        return done.returncode

    def good(self, command, **env):
        self.assertEqual(self.series(command, **env), 0, self.said)

    def bad(self, command, *words, **env):
        self.assertEqual(self.series(command, **env), 1, self.said)
        self.assertNotIn('Traceback', self.said)
        for word in words:
            self.assertIn(word, self.said)

    def edit(self, path, old, new):
        file = self.linux / path
        text = file.read_text()
        self.assertIn(old, text)
        file.write_text(text.replace(old, new, 1))

    def commit(self, subject):
        git(self.linux, 'add', '-Af', '.')
        git(self.linux, 'commit', '-q', '-m', f'{subject}\n\nWhy so.\n\nSigned-off-by: A <a@kernel.example>')

    def two_patches(self):
        """The series that most tests start with, made the way a user makes it."""
        self.good('tree')
        self.edit('drivers/core.c', 'line 5\n', 'line 5 hook\n')
        write(self.linux, 'drivers/hook.c', 'int hook;\n')
        self.commit('core: add a hook')
        self.edit('drivers/core.c', 'line 30\n', 'line 30 user\n')
        self.edit('drivers/other.c', 'line 7\n', 'line 7 user\n')
        self.commit('core: use the hook')
        self.good('refresh')

    def patches(self):
        return sorted(p.name for p in (self.top / 'patches').iterdir())

    def head(self, what='HEAD'):
        return git(self.linux, 'rev-parse', what)

    def round_trip(self):
        """tree, refresh, tree: no diff here, the same commit there."""
        before, head = snapshot(self.top, 'build'), self.head()
        for command in 'tree', 'refresh', 'tree':
            self.good(command)
            self.assertEqual(snapshot(self.top, 'build'), before)
            self.assertEqual(self.head(), head)
        self.assertEqual(git(self.linux, 'status', '--short'), '')


class Tree(SeriesTest):
    def test_empty_series_is_the_base(self):
        self.good('tree')
        self.assertEqual(self.head(), git(self.base, 'rev-parse', 'base'))
        self.round_trip()

    def test_same_patches_give_the_same_commits_in_a_new_tree(self):
        self.two_patches()
        head = self.head()
        shutil.rmtree(self.linux)
        self.good('tree')
        self.assertEqual(self.head(), head)
        self.assertIn('Änne Author 2026-02-03 04:05:06 +0100 rxhook 2026-02-03 04:05:06 +0100',
                      git(self.linux, 'log', '-1', '--format=%an %ai %cn %ci'))

    def test_writes_only_what_changed(self):
        self.two_patches()
        before = snapshot(self.linux)
        self.good('tree')
        self.assertEqual(snapshot(self.linux), before)
        write(self.top, 'drivers/hook.c', 'int hook = 2;\n')
        self.good('tree')
        after = snapshot(self.linux)
        self.assertEqual([p for p in after if after[p] != before[p]], ['drivers/hook.c'])

    def test_message_has_no_adds_lines(self):
        self.two_patches()
        self.assertNotIn('Adds:', git(self.linux, 'log', '--format=%B'))

    def test_never_drops_edits(self):
        self.two_patches()
        self.edit('drivers/core.c', 'line 9\n', 'mine\n')
        self.bad('tree', 'uncommitted changes in drivers/core.c', 'make refresh', 'FORCE=1')
        self.assertIn('mine', (self.linux / 'drivers/core.c').read_text())
        self.good('tree', FORCE='1')
        self.assertNotIn('mine', (self.linux / 'drivers/core.c').read_text())

    def test_never_drops_new_files(self):
        self.two_patches()
        new = write(self.linux, 'drivers/new.c', 'int new;\n')
        for command in 'tree', 'dirty':
            self.bad(command, 'drivers/new.c', 'FORCE=1')
        self.assertTrue(new.exists())
        self.good('tree', FORCE='1')
        self.assertFalse(new.exists())
        self.good('dirty')

    def test_never_drops_commits_or_a_rebase(self):
        self.two_patches()
        made = self.head()
        self.edit('drivers/core.c', 'line 9\n', 'mine\n')
        self.commit('core: mine')
        mine = self.head()
        self.bad('tree', 'commits that are not in patches/')
        git(self.linux, 'checkout', '-q', '--detach', made)
        self.bad('tree', 'commits that are not in patches/')
        git(self.linux, 'checkout', '-q', 'rxhook')
        git(self.linux, 'rebase', '-q', '-i', made + '^', GIT_SEQUENCE_EDITOR='sed -i s/^pick/edit/')
        self.bad('tree', 'a rebase or merge under way')
        self.bad('refresh', 'a rebase or merge under way')
        git(self.linux, 'rebase', '--abort')
        self.assertEqual(self.head(), mine)
        self.good('tree', FORCE='1')
        self.assertEqual(self.head(), made)

    def test_leaves_build_products_alone(self):
        self.two_patches()
        product = write(self.linux, 'drivers/core.o', 'ELF')
        self.good('tree')
        self.good('tree', FORCE='1')
        self.assertTrue(product.exists())

    def test_patch_that_does_not_apply(self):
        self.two_patches()
        before = snapshot(self.linux), self.head()
        patch = self.top / 'patches/0002-core-use-the-hook.patch'
        patch.write_text(patch.read_text().replace(' line 29\n', ' line twenty-nine\n'))
        self.bad('tree', patch.name, 'does not apply', '-line 30\n+line 30 user', 'line twenty-nine')
        self.assertNotIn('line 7 user', self.said)
        self.assertEqual((snapshot(self.linux), self.head()), before)

    def test_temporary_folders_are_removed(self):
        self.two_patches()
        patch = self.top / 'patches/0002-core-use-the-hook.patch'
        patch.write_text(patch.read_text().replace(' line 29\n', ' line twenty-nine\n'))
        tmp = self.tmp / 'tmp'
        tmp.mkdir()
        self.bad('tree', TMPDIR=str(tmp))
        self.assertEqual(list(tmp.iterdir()), [])

    def adds(self, old, new):
        patch = self.top / 'patches/0001-core-add-a-hook.patch'
        patch.write_text(patch.read_text().replace(old, new))

    def test_added_file_is_missing(self):
        self.two_patches()
        (self.top / 'drivers/hook.c').unlink()
        self.bad('tree', '0001-core-add-a-hook.patch says Adds: drivers/hook.c', 'does not exist here')

    def test_added_file_is_in_the_base(self):
        self.two_patches()
        self.adds('drivers/hook.c\n', 'drivers/hook.c\nAdds: drivers/tool.sh\n')
        write(self.top, 'drivers/tool.sh', STUB)
        self.bad('tree', 'Adds: drivers/tool.sh', 'the base kernel has already')

    def test_added_file_without_patch(self):
        self.two_patches()
        for own in 'drivers/README.md', 'tools/testing/vm/boot.c', 'samples/bpf/a/b.c':
            write(self.top, own, 'ours\n')
        self.good('tree')
        write(self.top, 'drivers/stray.c', 'int stray;\n')
        self.bad('tree', 'no patch says Adds: drivers/stray.c')

    def test_added_twice_or_outside(self):
        self.two_patches()
        self.adds('Adds: drivers/hook.c\n', 'Adds: drivers/hook.c\nAdds: drivers/hook.c\n')
        self.bad('tree', 'drivers/hook.c', 'adds as well')
        self.adds('Adds: drivers/hook.c\nAdds: drivers/hook.c\n', 'Adds: ../hook.c\n')
        (self.top / 'drivers/hook.c').unlink()
        self.bad('tree', '../hook.c', 'no path in the kernel')

    def test_file_that_is_no_patch(self):
        write(self.top, 'patches/0001-x.patch', 'hello\n')
        self.bad('tree', '0001-x.patch is not a mail')
        (self.top / 'patches/0001-x.patch').rename(self.top / 'patches/x.patch')
        self.bad('tree', 'x.patch is not named like')

    def test_a_plain_mail_is_taken_and_put_in_shape(self):
        self.two_patches()
        mail = git(self.linux, 'format-patch', '--stdout', '-2')
        for path in (self.top / 'patches').iterdir():
            path.unlink()
        shutil.rmtree(self.top / 'drivers')
        tree = self.head('HEAD^{tree}')
        for number, part in enumerate(mail.split('\nFrom '), 1):
            write(self.top, f'patches/{number:04}-x.patch', 'From ' * (number > 1) + part + '\n')
        self.good('tree')
        self.assertEqual(self.head('HEAD^{tree}'), tree)
        self.good('refresh')
        self.assertEqual(self.patches(), ['0001-core-add-a-hook.patch', '0002-core-use-the-hook.patch'])
        self.round_trip()

    def test_new_base(self):
        self.two_patches()
        moved = BASE_FILES | {'drivers/core.c': 'first\n' + ''.join(LINES)}
        write(self.linux, 'drivers/new.c', 'int new;\n')
        self.make_base(moved)
        self.bad('tree', 'build/linux has')
        self.good('tree', FORCE='1')
        self.assertEqual((self.linux / 'drivers/core.c').read_text().split('\n')[0], 'first')
        self.good('refresh')
        self.round_trip()

    def test_new_base_in_the_old_one_s_place(self):
        self.two_patches()
        self.make_base({path: f'#!\n{content}' for path, content in BASE_FILES.items()})
        self.edit('drivers/core.c', 'line 9\n', 'mine\n')
        self.bad('tree', 'uncommitted changes in drivers/core.c')
        self.bad('refresh', 'the base kernel of build/linux is gone')
        self.edit('drivers/core.c', 'mine\n', 'line 9\n')
        self.good('tree')
        self.good('refresh')
        self.round_trip()

    def test_new_base_that_does_not_fit_leaves_the_tree(self):
        self.two_patches()
        before = snapshot(self.linux)
        old = self.base.rename(self.tmp / 'old.git')
        self.make_base(BASE_FILES | {'drivers/other.c': 'rewritten\n'})
        (self.linux / '.git/objects/info/alternates').write_text(f'{old}/objects\n')
        self.bad('tree', '0002-core-use-the-hook.patch does not apply')
        self.assertEqual(snapshot(self.linux), before)
        self.assertEqual(sorted(p.name for p in self.linux.parent.iterdir()), ['linux', 'series.lock'])

    def test_base_repository_moved(self):
        self.two_patches()
        self.base = self.base.rename(self.tmp / 'moved.git')
        before = snapshot(self.linux)
        self.good('tree')
        self.assertEqual(snapshot(self.linux), before)
        self.round_trip()

    def test_base_in_the_project_is_borrowed_by_a_relative_path(self):
        (self.top / 'build').mkdir()
        self.base = self.base.rename(self.top / 'build/base-tree.git')
        self.two_patches()
        self.top = self.top.rename(self.tmp / 'moved')
        self.base, self.linux = self.top / 'build/base-tree.git', self.top / 'build/linux'
        self.round_trip()
        write(self.top, 'patches/0000-cover-letter', 'net: a hook\n\nText.\n')
        self.good('mails')


class Refresh(SeriesTest):
    def test_series_from_commits(self):
        self.two_patches()
        self.assertEqual(self.patches(), ['0001-core-add-a-hook.patch', '0002-core-use-the-hook.patch'])
        first = (self.top / 'patches/0001-core-add-a-hook.patch').read_text()
        self.assertIn('\nSigned-off-by: A <a@kernel.example>\nAdds: drivers/hook.c\n---\n drivers/core.c | 2 +-\n', first)
        self.assertNotIn('int hook', first)
        self.assertNotIn('\nindex ', first)
        self.assertEqual((self.top / 'drivers/hook.c').read_text(), 'int hook;\n')
        self.round_trip()

    def test_uncommitted_edits_go_to_the_last_patch_that_touches_the_file(self):
        self.two_patches()
        dates = git(self.linux, 'log', '--format=%ai')
        first = (self.top / 'patches/0001-core-add-a-hook.patch').read_text()
        self.edit('drivers/core.c', 'line 5 hook', 'line 5 hook again')
        write(self.linux, 'drivers/hook.c', 'int hook = 1;\n')
        before = snapshot(self.linux)
        self.good('refresh')
        self.assertEqual(snapshot(self.linux), before, 'refresh wrote files in build/linux')
        self.assertEqual((self.top / 'patches/0001-core-add-a-hook.patch').read_text(), first)
        self.assertIn('+line 5 hook again', (self.top / 'patches/0002-core-use-the-hook.patch').read_text())
        self.assertEqual((self.top / 'drivers/hook.c').read_text(), 'int hook = 1;\n')
        self.assertIn('int hook = 1', git(self.linux, 'show', 'HEAD^:drivers/hook.c'))
        self.assertEqual(git(self.linux, 'log', '--format=%ai'), dates)
        self.round_trip()

    def test_staged_edits_and_a_removed_index_entry(self):
        self.two_patches()
        self.edit('drivers/core.c', 'line 9\n', 'staged\n')
        git(self.linux, 'add', '-f', 'drivers/core.c')
        git(self.linux, 'rm', '-q', 'drivers/hook.c')
        self.good('refresh')
        self.assertFalse((self.top / 'drivers').exists())
        self.assertIn('+staged', (self.top / 'patches/0002-core-use-the-hook.patch').read_text())
        self.round_trip()

    def test_new_file_goes_to_the_last_patch_or_the_named_one(self):
        self.two_patches()
        write(self.linux, 'drivers/late.c', 'int late;\n')
        self.good('refresh')
        self.assertIn('Adds: drivers/late.c', (self.top / 'patches/0002-core-use-the-hook.patch').read_text())
        for number, want in enumerate(('1', '0001', '0001-core-add-a-hook.patch')):
            write(self.linux, f'drivers/new{number}.c', 'int early;\n')
            self.good('refresh', PATCH=want)
            first = (self.top / 'patches/0001-core-add-a-hook.patch').read_text()
            self.assertIn(f'Adds: drivers/new{number}.c', first)
        write(self.linux, 'drivers/lost.c', 'int lost;\n')
        self.bad('refresh', 'there is no patch 77', PATCH='77')
        self.good('refresh')
        self.round_trip()

    def test_untouched_existing_file_goes_to_the_named_patch(self):
        self.two_patches()
        self.edit('drivers/tool.sh', STUB, STUB + 'true\n')
        self.good('refresh', PATCH='1')
        self.assertIn('+true', (self.top / 'patches/0001-core-add-a-hook.patch').read_text())
        self.round_trip()

    def test_uncommitted_and_committed_together(self):
        self.two_patches()
        write(self.linux, 'drivers/third.c', 'int third;\n')
        self.edit('drivers/core.c', 'line 20\n', 'line 20 third\n')
        self.commit('core: add a third')
        self.edit('drivers/other.c', 'line 7 user', 'line 7 you')
        self.edit('drivers/third.c', 'third', 'fourth')
        tree = {p: c[:2] for p, c in snapshot(self.linux).items()}
        self.good('refresh')
        self.assertEqual(len(self.patches()), 3)
        self.assertEqual((self.top / 'drivers/third.c').read_text(), 'int fourth;\n')
        self.assertIn('line 7 you', (self.top / 'patches/0002-core-use-the-hook.patch').read_text())
        self.assertEqual({p: c[:2] for p, c in snapshot(self.linux).items()}, tree)
        self.round_trip()

    def test_commit_that_edits_an_added_file_folds_into_the_one_that_adds_it(self):
        self.two_patches()
        write(self.linux, 'drivers/hook.c', 'int hook = 3;\n')
        self.commit('core: change the hook')
        self.good('refresh')
        self.assertIn('0003-core-change-the-hook.patch has nothing of its own left', self.said)
        self.assertEqual(len(self.patches()), 2)
        self.round_trip()

    def test_stale_patches_and_files_go(self):
        self.two_patches()
        write(self.linux, 'samples/bpf/deep/x.c', 'int x;\n')
        self.commit('samples: add x')
        self.good('refresh')
        self.assertTrue((self.top / 'samples/bpf/deep/x.c').exists())
        git(self.linux, 'rebase', '-q', '-i', 'base', GIT_SEQUENCE_EDITOR="sed -i -e 3d -e '1{h;d}' -e '2G'",
            GIT_EDITOR=':')
        git(self.linux, 'commit', '-q', '--amend', '-m', 'core: add the hook')
        self.good('refresh')
        self.assertEqual(self.patches(), ['0001-core-use-the-hook.patch', '0002-core-add-the-hook.patch'])
        self.assertFalse((self.top / 'samples').exists())
        self.round_trip()

    def test_modes_are_kept(self):
        self.two_patches()
        write(self.linux, 'drivers/run.py', '#!/usr/bin/env python3\n').chmod(0o755)
        (self.linux / 'drivers/link').symlink_to('core.c')
        (self.linux / 'drivers/other.c').chmod(0o755)
        self.good('refresh')
        self.assertTrue(os.access(self.top / 'drivers/run.py', os.X_OK))
        self.assertEqual(os.readlink(self.top / 'drivers/link'), 'core.c')
        self.assertIn('100755', git(self.linux, 'ls-tree', 'HEAD', 'drivers/run.py'))
        self.assertIn('100755', git(self.linux, 'ls-tree', 'HEAD', 'drivers/other.c'))
        self.round_trip()
        (self.top / 'drivers/run.py').chmod(0o644)
        self.good('tree')
        self.assertFalse(os.access(self.linux / 'drivers/run.py', os.X_OK))

    def test_base_file_can_be_deleted(self):
        self.two_patches()
        (self.linux / 'drivers/other.c').unlink()
        self.good('refresh')
        self.assertIn('deleted file mode', (self.top / 'patches/0002-core-use-the-hook.patch').read_text())
        self.round_trip()

    def test_odd_bytes(self):
        self.two_patches()
        for path in 'drivers/core.c', 'drivers/new.bin':
            (self.linux / path).write_bytes(b'\xff\xfe caf\xe9\r\n\0 no end of line')
        (self.linux / 'drivers/other.c').write_bytes(b'caf\xe9\r\nfrom\n\nFrom me\n-- \ndiff --git a/x b/x\n')
        self.good('refresh')
        self.round_trip()

    def test_edits_on_both_sides(self):
        self.two_patches()
        write(self.linux, 'drivers/hook.c', 'int there;\n')
        write(self.top, 'drivers/hook.c', 'int here;\n')
        before = snapshot(self.top), self.head()
        self.bad('refresh', 'drivers/hook.c changed here', 'FORCE=1')
        self.assertEqual((snapshot(self.top), self.head()), before)
        self.good('refresh', FORCE='1')
        self.assertEqual((self.top / 'drivers/hook.c').read_text(), 'int there;\n')
        self.round_trip()

    def test_edits_on_both_sides_in_different_files(self):
        self.two_patches()
        self.edit('drivers/core.c', 'line 9\n', 'there\n')
        write(self.top, 'drivers/hook.c', 'int here;\n')
        self.good('refresh')
        for root in self.top, self.linux:
            self.assertEqual((root / 'drivers/hook.c').read_text(), 'int here;\n')
        self.assertIn('there', (self.linux / 'drivers/core.c').read_text())
        self.round_trip()

    def test_patch_edited_here_and_edits_there(self):
        self.two_patches()
        self.edit('drivers/core.c', 'line 9\n', 'there\n')
        patch = self.top / 'patches/0001-core-add-a-hook.patch'
        patch.write_text(patch.read_text().replace('Why so.', 'Why not.'))
        self.bad('refresh', f'patches/{patch.name} changed here')
        (self.top / 'patches/0002-core-use-the-hook.patch').unlink()
        self.bad('refresh', 'patches/0002-core-use-the-hook.patch changed here')
        self.assertIn('there', (self.linux / 'drivers/core.c').read_text())

    def test_only_this_side_changed(self):
        self.two_patches()
        write(self.top, 'drivers/hook.c', 'int here;\n')
        self.good('refresh')
        self.assertIn('make tree', self.said)
        self.assertEqual((self.top / 'drivers/hook.c').read_text(), 'int here;\n')
        self.good('tree')
        self.assertEqual((self.linux / 'drivers/hook.c').read_text(), 'int here;\n')
        self.round_trip()

    def test_new_file_there_is_another_file_here(self):
        self.two_patches()
        write(self.linux, 'drivers/new.c', 'int there;\n')
        write(self.top, 'drivers/new.c', 'int here;\n')
        self.bad('refresh', 'drivers/new.c is here too')
        self.assertEqual((self.top / 'drivers/new.c').read_text(), 'int here;\n')
        self.assertEqual((self.linux / 'drivers/new.c').read_text(), 'int there;\n')

    def test_failed_refresh_restores_edits_and_index(self):
        self.two_patches()
        self.edit('drivers/core.c', 'line 9\n', 'mine\n')
        write(self.linux, 'drivers/new.c', 'int new;\n')
        git(self.linux, 'add', '-f', 'drivers/core.c')
        self.edit('drivers/core.c', 'line 12\n', 'more\n')
        write(self.top, 'patches/0001-core-add-a-hook.patch', 'broken\n')
        before = snapshot(self.linux), git(self.linux, 'status', '--porcelain'), git(self.linux, 'diff')
        self.bad('refresh', 'not a mail')
        self.assertEqual((snapshot(self.linux), git(self.linux, 'status', '--porcelain'),
                          git(self.linux, 'diff')), before)

    def test_message_that_a_mail_cannot_carry(self):
        self.two_patches()
        self.edit('drivers/core.c', 'line 9\n', 'mine\n')
        self.commit('core: mine\n\n---\nbelow the line')
        before = snapshot(self.top)
        self.bad('refresh', 'message of 0003-core-mine.patch does not survive')
        self.assertEqual(snapshot(self.top), before)

    def test_what_cannot_be_a_series(self):
        self.good('tree')
        self.edit('drivers/core.c', 'line 9\n', 'mine\n')
        self.bad('refresh', 'drivers/core.c', 'commit it in build/linux with a message')
        self.commit('fixup! nothing')
        self.bad('refresh', 'fixup-nothing', '--autosquash')
        self.assertEqual(self.patches(), [])
        git(self.linux, 'checkout', '-q', 'base')
        self.bad('refresh', 'build/linux is on base')

    def test_emptied_branch_does_not_empty_patches(self):
        self.two_patches()
        git(self.linux, 'reset', '-q', '--hard', 'base')
        self.bad('refresh', 'no commit on the base kernel')
        self.assertEqual(len(self.patches()), 2)

    def test_without_a_tree(self):
        self.bad('refresh', 'make tree')


class Mails(SeriesTest):
    def test_mails(self):
        self.two_patches()
        write(self.top, 'patches/0000-cover-letter', 'net: a hook for two\n\nFirst paragraph.\n\nSecond.\n')
        self.good('mails')
        self.assertEqual(self.said.count('\nok '), 4, self.said)
        out = self.top / 'build/series'
        cover, first = ((out / name).read_text() for name in ('0000-cover-letter.patch',
                                                              '0001-core-add-a-hook.patch'))
        self.assertIn('\nSubject: [PATCH net-next 0/2] net: a hook for two\n', cover)
        self.assertIn('\n\nFirst paragraph.\n\nSecond.\n', cover)
        self.assertIn('<a@kernel.example>\n', cover.split('Subject:')[0])
        self.assertIn('\nSubject: [PATCH net-next 1/2] core: add a hook\n', first)
        self.assertIn('+int hook;', first)
        for mail in cover, first:
            self.assertRegex(mail, r'\nTo: =\?utf-8\?.*<zoe@kernel.example>\nCc: netdev@vger.example\n')

    def test_complaints(self):
        self.two_patches()
        write(self.top, 'patches/0000-cover-letter', 'net: a hook\n\nText.\n')
        write(self.top, 'drivers/hook.c', 'int BAD;\n')
        self.bad('mails', 'build/linux is not what patches/ gives')
        self.bad('checkpatch', 'not ok 1 - 0001-core-add-a-hook.patch\n# line 1: ERROR:BAD: bad',
                 'ok 2 - 0002-core-use-the-hook.patch')
        self.good('tree')
        self.bad('mails', 'not ok 2 - 0001-core-add-a-hook.patch', '# line 1: ERROR:BAD: bad')

    def test_nothing_to_send(self):
        self.good('tree')
        self.bad('mails', 'cover letter')


if __name__ == '__main__':
    unittest.main()
