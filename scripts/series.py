#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The series: patches/ and the added files on one side, build/linux on the other.

    scripts/series.py tree        make or update build/linux
    scripts/series.py refresh     take what was done in build/linux back
    scripts/series.py mails       write the mails into build/series and check them
    scripts/series.py checkpatch  run the kernel's checkpatch over every patch
    scripts/series.py dirty       fail where build/linux holds what patches/ does not

FORCE=1 lets tree drop what is only in build/linux, and lets refresh overwrite
what changed only here. PATCH=number-or-name tells refresh where a file goes
that no patch touches yet; without it that is the last patch.

Commits are made from plain files. What the patches edit is taken out of the
base kernel into a temporary folder and patched there, and fast-import turns
that into commits. So nothing in build/linux moves before the whole series
applies, and then only files with new content are written. Names and dates
come from the patches alone: the same series gives the same commit ids.
"""
import argparse
import dataclasses
import email.utils
import fcntl
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# Every file in these folders belongs to a patch, but for READMEs ...
SERIES = ('drivers', 'include', 'net', 'Documentation', 'samples', 'tools/net', 'tools/testing/selftests')
# ... and for what in them is the fork's own: no patch has to add that.
OWN = ('samples/bpf',)

BASE = 'refs/rxhook/base'  # the base kernel's commit
MADE = 'refs/rxhook/made'  # where the last tree or refresh left the branch
NEXT = 'refs/rxhook/next'  # where the run under way will leave it
BUSY = ('rebase-merge', 'rebase-apply', 'MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD')
PATCH_NAME = re.compile(r'\d{4}-.*\.patch')
FORCE = os.environ.get('FORCE') == '1'

WHO = {'GIT_COMMITTER_NAME': 'rxhook', 'GIT_COMMITTER_EMAIL': 'rxhook@localhost'}


def die(text):
    sys.exit(f'rxhook: {text}')


# git and files


def run(where, *args, data=b'', **env):
    # A hook's GIT_DIR and the like would lead git to another repository.
    clean = {k: v for k, v in os.environ.items() if not k.startswith('GIT_') or 'CONFIG' in k}
    return subprocess.run(['git', *args], cwd=where, input=data, capture_output=True,
                          env=clean | WHO | {'GIT_LITERAL_PATHSPECS': '1'} | env)


def text(data):
    return data.decode('utf-8', 'surrogateescape')


def raw(data):
    return data.encode('utf-8', 'surrogateescape')


def git(where, *args, data=b'', **env):
    done = run(where, *args, data=data, **env)
    if done.returncode:
        die(f'git {args[0]} failed in {where}: {text(done.stderr).strip()}')
    return text(done.stdout)


def rev(repo, name):
    """A name's commit or tree, None where there is none."""
    done = run(repo, 'rev-parse', '-q', '--verify', name)
    return None if done.returncode else text(done.stdout).strip()


def entries(repo, tree, paths):
    """{path: (mode, object)} of those paths that the tree holds."""
    if not paths:
        return {}
    rows = git(repo, 'ls-tree', '-z', tree, '--', *paths).split('\0')[:-1]
    return {path: (mode, oid) for mode, _, oid, path in (re.split('[ \t]', r, maxsplit=3) for r in rows)}


def changed(repo, old, new):
    """{path: A, M, D or T} between two trees."""
    words = git(repo, 'diff-tree', '-r', '-z', '--no-renames', '--name-status', old, new).split('\0')
    return dict(zip(words[1::2], words[0::2]))


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


def load(path):
    """(mode, content) of a file as git sees it, None where there is none."""
    if path.is_symlink():
        return '120000', raw(os.readlink(path))
    if not path.is_file():
        return None
    return '100755' if path.stat().st_mode & 0o100 else '100644', path.read_bytes()


def store(path, file):
    if load(path) == file:
        return
    mode, content = file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    if mode == '120000':
        path.symlink_to(text(content))
    else:
        path.write_bytes(content)
        path.chmod(0o755 if mode == '100755' else 0o644)


def names(paths):
    paths = sorted(paths)
    return ', '.join(paths[:3]) + (f' and {len(paths) - 3} more' if len(paths) > 3 else '')


# patches/ to commits


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


def split_adds(body):
    """The message without the Adds lines in its last paragraph, and their paths."""
    head, _, last = body.strip('\n').rpartition('\n\n')
    lines = last.split('\n')
    kept = [line for line in lines if not line.startswith('Adds: ')]
    adds = [line.removeprefix('Adds: ').strip() for line in lines if line not in kept]
    return '\n\n'.join(filter(None, (head, '\n'.join(kept)))), adds


def read_patch(path):
    with tempfile.TemporaryDirectory() as tmp:
        head = git(tmp, 'mailinfo', '--encoding=UTF-8', 'message', 'diff', data=path.read_bytes())
        field = dict(re.findall('^(Author|Email|Subject|Date): (.*)$', head, re.M))
        if len(field) < 4:
            die(f'patches/{path.name} is not a mail with From, Date and Subject')
        body, adds = split_adds(text((pathlib.Path(tmp) / 'message').read_bytes()))
        for added in adds:
            if added.startswith('/') or '..' in added.split('/'):
                die(f'patches/{path.name} says Adds: {added}, which is no path in the kernel')
        message = '\n\n'.join(filter(None, (field['Subject'], body))) + '\n'
        return Patch(path.name, f'{field["Author"]} <{field["Email"]}>', field['Date'],
                     message, adds, (pathlib.Path(tmp) / 'diff').read_bytes())


def read_series(root):
    paths = sorted((root / 'patches').glob('*.patch'))
    for path in paths:
        if not PATCH_NAME.fullmatch(path.name):
            die(f'patches/{path.name} is not named like 0001-subject.patch')
    return [read_patch(path) for path in paths]


def inputs(root, series):
    """{path: digest} of everything that the series is made from."""
    paths = [f'patches/{p.name}' for p in series] + [path for p in series for path in p.adds]
    found = {path: load(root / path) for path in paths}
    return {path: hashlib.sha256(raw(file[0]) + file[1]).hexdigest()
            for path, file in found.items() if file}


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


def check_strays(series, root):
    listed = run(root, 'ls-files', '-co', '-z', '--exclude-standard', '--', *SERIES)
    added = {path for p in series for path in p.adds}
    for path in text(listed.stdout).split('\0')[:-1]:
        own = any(f'{path}/'.startswith(f'{folder}/') for folder in OWN)
        readme = os.path.basename(path).startswith('README')
        if path not in added and not own and not readme and (root / path).exists():
            die(f'no patch says Adds: {path}')


def apply_diff(patch, work):
    # Were the temporary folder inside a repository, git would patch that one.
    env = {'GIT_CEILING_DIRECTORIES': str(work.parent)}
    if not patch.edits:
        return
    done = run(work, 'apply', '--whitespace=nowarn', '-', data=patch.diff, **env)
    if done.returncode:
        run(work, 'apply', '--whitespace=nowarn', '--reject', '-', data=patch.diff, **env)
        hunks = ''.join(text(rej.read_bytes()) for rej in sorted(work.rglob('*.rej')))
        die(f'patches/{patch.name} does not apply, and nothing was changed:\n'
            + text(done.stderr) + hunks)


def commit(patch, work):
    """The patch as a command for fast-import, once work holds its files."""
    message = raw(patch.message)
    who = WHO['GIT_COMMITTER_NAME'], WHO['GIT_COMMITTER_EMAIL']
    yield raw(f'commit {NEXT}\nauthor {patch.author} {patch.date}\n'
              f'committer {who[0]} <{who[1]}> {patch.date}\n'
              f'data {len(message)}\n') + message
    for path in sorted({*patch.edits, *patch.adds}):
        file = load(work / path)
        if file:
            yield raw(f'M {file[0]} inline {path}\ndata {len(file[1])}\n') + file[1] + b'\n'
        else:
            yield raw(f'D {path}\n')


def apply_series(repo, base, root, series):
    """Makes the commits in the repository, returns the last one."""
    base_has = entries(repo, base, sorted({path for p in series for path in p.edits + p.adds}))
    check_adds(series, base_has, root)
    with tempfile.TemporaryDirectory() as tmp:
        work = pathlib.Path(tmp).resolve()
        for path in {path for p in series for path in p.edits} & base_has.keys():
            mode, oid = base_has[path]
            store(work / path, (mode, run(repo, 'cat-file', 'blob', oid).stdout))
        stream = [raw(f'reset {NEXT}\nfrom {base}\n\n')]
        for patch in series:
            apply_diff(patch, work)
            for path in patch.adds:
                store(work / path, load(root / path))
            stream += commit(patch, work)
        git(repo, 'fast-import', '--quiet', '--force', '--done', '--date-format=rfc2822',
            data=b''.join(stream) + b'done\n')
    return rev(repo, NEXT)


# build/linux


@dataclasses.dataclass
class Project:
    top: pathlib.Path
    given_base: str | None

    @property
    def linux(self):
        return self.top / 'build/linux'

    def base(self):
        """The base repository at a path that the host knows as well as the room."""
        if self.given_base:
            return pathlib.Path(self.given_base).resolve()
        script = self.top / 'scripts/base'
        if subprocess.run([script]).returncode:
            sys.exit(1)
        path = subprocess.run([script, 'path'], stdout=subprocess.PIPE, text=True).stdout.strip()
        if path.startswith('/cache/'):
            path = os.environ.get('RXHOOK_CACHE', '/cache') + path.removeprefix('/cache')
        return pathlib.Path(path)

    def need_linux(self):
        if not (self.linux / '.git').is_dir():
            die('there is no build/linux; make tree makes it')
        base = rev(self.linux, BASE) or die('build/linux is not from make tree; run that first')
        return base if holds(self.linux, base) else die('the base kernel of build/linux is gone')


def objects(top, base):
    """The path for a clone's alternates; inside the project it moves with it."""
    path = base / 'objects'
    if path.is_relative_to(top):
        return os.path.relpath(path, top / 'build/linux/.git/objects')
    return str(path)


def borrow(repo, *alternates):
    (repo / '.git/objects/info/alternates').write_text(''.join(f'{a}\n' for a in alternates))


def new_repository(path, *alternates):
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    git(path, 'init', '-q', '-b', 'rxhook')
    borrow(path, *alternates)
    return path


def borrowed(repo):
    lines = (repo / '.git/objects/info/alternates').read_text().splitlines()
    return [repo / '.git/objects' / line for line in lines]


def untracked(repo):
    # Debian's .gitignore ends in "/*", which would hide every new file.
    listed = git(repo, 'ls-files', '-o', '-z', '--exclude-standard', '-x', '!/*/', '-x', '/.*/')
    return [path for path in listed.split('\0')[:-1] if not path.endswith('/')]


def holds(repo, commit):
    return not run(repo, 'cat-file', '-e', f'{commit}^{{tree}}').returncode


def edited(repo):
    """Paths that differ from HEAD, in the index or in the folder, or are new."""
    if holds(repo, BASE):
        rows = git(repo, 'status', '--porcelain', '-z', '--no-renames', '-uno').split('\0')[:-1]
        found = {row[3:] for row in rows}
    else:
        # Another KERNEL_TREE took the base's place: only the index is left to compare with.
        found = set(git(repo, 'ls-files', '-z', '-m').split('\0')[:-1])
    return sorted(found | set(untracked(repo)))


def busy(repo):
    return any((repo / '.git' / name).exists() for name in BUSY)


def only_there(repo, base):
    """What a new build/linux would lose, in words."""
    if busy(repo):
        return 'a rebase or merge under way'
    ours = {base} | {rev(repo, name) for name in (BASE, MADE, NEXT)}
    if {rev(repo, 'HEAD'), rev(repo, 'refs/heads/rxhook') or base} - ours:
        return 'commits that are not in patches/'
    paths = edited(repo)
    return f'uncommitted changes in {names(paths)}' if paths else None


def drop_edits(repo):
    for path in untracked(repo):
        (repo / path).unlink()
    for command in ('rebase', 'am', 'cherry-pick', 'revert'):
        run(repo, command, '--quit')


def switch(repo, head, force):
    git(repo, 'checkout', '-q', '--no-track', *(['-f'] if force else []), '-B', 'rxhook', head)


def remember(project, repo, head, series):
    git(repo, 'update-ref', MADE, head)
    (repo / '.git/rxhook-inputs').write_text(json.dumps(inputs(project.top, series), indent=0))


def new_tree(project, base, base_repo):
    """A build/linux beside the old one, without files yet."""
    repo = new_repository(project.top / 'build/linux.new', objects(project.top, base_repo))
    for ref in (BASE, 'refs/heads/base'):
        git(repo, 'update-ref', ref, base)
    return repo


def check_tree(project, base, base_repo):
    """Refuses to go on where build/linux holds work."""
    linux = project.linux
    if not (linux / '.git').is_dir():
        die('build/linux is not a git tree; move it away')
    if not all(path.exists() for path in borrowed(linux)):
        borrow(linux, objects(project.top, base_repo))
    lost = not FORCE and only_there(linux, base)
    if lost:
        die(f'build/linux has {lost}; make refresh takes them in, make tree FORCE=1 drops them')


def replace(new, linux):
    old = linux.with_name('linux.old')
    shutil.rmtree(old, ignore_errors=True)
    if linux.exists():
        linux.rename(old)
    new.rename(linux)
    shutil.rmtree(old, ignore_errors=True)


def tree(project):
    linux, base_repo = project.linux, project.base()
    base = rev(base_repo, 'refs/heads/base') or die(f'{base_repo} has no branch base')
    series = read_series(project.top)
    check_strays(series, project.top)
    if linux.exists():
        check_tree(project, base, base_repo)
    fresh = not linux.exists() or rev(linux, BASE) != base
    repo = new_tree(project, base, base_repo) if fresh else linux
    try:
        head = apply_series(repo, base, project.top, series)
        if FORCE:
            drop_edits(repo)
        switch(repo, head, FORCE or fresh)
        remember(project, repo, head, series)
        if fresh:
            replace(repo, linux)
    finally:
        shutil.rmtree(project.top / 'build/linux.new', ignore_errors=True)
    print(f'rxhook: build/linux holds the series of {len(series)}, {head[:12]}')


def dirty(project):
    lost = not FORCE and only_there(project.linux, project.need_linux())
    if lost:
        die(f'build/linux has {lost}; make refresh takes them in, FORCE=1 drops them')


# build/linux to patches/


@dataclasses.dataclass
class Step:
    """A commit of the series as it stands in build/linux."""
    commit: str
    name: str
    changed: dict


def steps(linux, base):
    if run(linux, 'merge-base', '--is-ancestor', base, 'HEAD').returncode:
        die('the branch in build/linux does not stand on the base kernel')
    if git(linux, 'rev-list', '--merges', f'{base}..HEAD'):
        die('build/linux has a merge; a series cannot hold one')
    rows = git(linux, 'log', '--reverse', '--format=%H %f', f'{base}..HEAD').splitlines()
    found = []
    for number, row in enumerate(rows, 1):
        oid, slug = row.split(' ', 1)
        if re.match('(fixup|squash|amend)-', slug):
            die(f'build/linux has the commit {slug}; git rebase -i --autosquash base takes it in')
        found.append(Step(oid, f'{number:04}-{slug}'[:58] + '.patch', changed(linux, f'{oid}^', oid)))
    return found


def chosen(series):
    """The patch that takes in files which no patch touches."""
    want = os.environ.get('PATCH')
    if not want:
        return series[-1]
    for number, step in enumerate(series, 1):
        if want in (step.name, step.name.removesuffix('.patch'), str(number), f'{number:04}'):
            return step
    die(f'there is no patch {want} in build/linux; its last one is {series[-1].name}')


def fold(series, paths):
    """{path: patch} for uncommitted edits: the last patch that touches the file.

    No later patch touches it, so the edit always fits and nothing conflicts.
    """
    goes = {}
    for path in paths:
        touching = [step for step in series if path in step.changed]
        goes[path] = touching[-1] if touching else chosen(series)
        print(f'rxhook: {path} goes into {goes[path].name}')
    return goes


def worktree(linux, paths):
    """The tree of what stands in the folder; the real index stays as it is."""
    with tempfile.TemporaryDirectory() as tmp:
        index = shutil.copy2(linux / '.git/index', tmp)
        stage(linux, paths, GIT_INDEX_FILE=index)
        return git(linux, 'write-tree', GIT_INDEX_FILE=index).strip()


def stage(linux, paths, **env):
    git(linux, 'update-index', '--add', '--remove', '-z', '--stdin',
        data=raw(''.join(f'{path}\0' for path in paths)), **env)


def with_ours(project, final, ours):
    """The tree with the added files that were edited here and not in build/linux."""
    linux, take, clash = project.linux, {}, []
    here = [path for path in ours if not path.startswith('patches/')]
    was, theirs = (entries(linux, name, here) for name in (MADE, final))
    for path in here:
        file = load(project.top / path)
        mine = file and (file[0], git(linux, 'hash-object', '-w', '--stdin', data=file[1]).strip())
        if mine and theirs.get(path) == was.get(path):
            take[path] = mine
        elif mine != theirs.get(path):
            clash.append(path)
    clash += [path for path in ours if path.startswith('patches/')]
    if clash and not FORCE:
        die(f'{names(clash)} changed here since build/linux was made, and build/linux has edits too;'
            ' FORCE=1 make refresh takes those from there, FORCE=1 make tree those from here')
    return with_entries(linux, final, take)


def edits_diff(linux, old, new, paths):
    """Diffstat and diff, without the object ids that change for no visible reason."""
    if not paths:
        return b''
    diff = raw(git(linux, 'diff-tree', '-r', '-p', '--stat=72', '--summary', '--no-renames', '-U3',
                   '--binary', '--full-index', '--no-ext-diff', '--no-textconv', '--no-color',
                   '--diff-algorithm=myers', '--src-prefix=a/', '--dst-prefix=b/',
                   old, new, '--', *paths))
    return re.sub(rb'^index [0-9a-f]{40}\.\.[0-9a-f]{40}( \d{6})?\n(?=--- )', b'', diff, flags=re.M)


def mail(linux, step, adds, diff):
    """A patch file; mbox's first line is there for git am, the commit id is not."""
    head = git(linux, 'log', '-1', '--format=email', '--no-mailmap', '--encoding=UTF-8', step.commit)
    lines = head.rstrip('\n').split('\n')
    lines[0] = f'From {"0" * 40} Mon Sep 17 00:00:00 2001'
    if '' not in lines or not re.match(r'[A-Z][\w-]+: ', lines[-1]):
        lines.append('')
    lines += [f'Adds: {path}' for path in adds] + ['---', '']
    return raw('\n'.join(lines)) + diff


def export(linux, base, final, series, goes, root):
    """Writes the series under root as the repository holds it, returns its steps."""
    todo = {path for path, how in changed(linux, base, final).items() if how == 'A'}
    all_paths = sorted({path for step in series for path in step.changed} | goes.keys())
    base_has = entries(linux, base, all_paths)
    kept = []
    for step in series:
        mine = [path for path in goes if goes[path] is step]
        adds = sorted(p for p in todo if step.changed.get(p) == 'A' or p in mine)
        todo.difference_update(adds)
        edits = sorted({*step.changed, *mine} & base_has.keys())
        folded = entries(linux, final, mine)
        new = with_entries(linux, step.commit, {p: folded.get(p) for p in mine if p in base_has})
        diff = edits_diff(linux, f'{step.commit}^', new, edits)
        if not diff and not adds:
            print(f'rxhook: {step.name} has nothing of its own left and is dropped')
            continue
        name = f'{len(kept) + 1:04}' + step.name[4:]
        store(root / 'patches' / name, ('100644', mail(linux, step, adds, diff)))
        kept.append(step)
        for path, (mode, oid) in entries(linux, final, adds).items():
            store(root / path, (mode, run(linux, 'cat-file', 'blob', oid).stdout))
    return kept


def story(linux, commit):
    lines = git(linux, 'log', '-1', '--format=%an <%ae> %ad%n%s%n%b', '--date=raw', commit).split('\n')
    return '\n'.join(line.rstrip() for line in lines).rstrip()


def check_export(linux, base, final, kept, series, head):
    for step, patch, oid in zip(kept, series, git(linux, 'rev-list', '--reverse', f'{base}..{head}').split()):
        if story(linux, step.commit) != story(linux, oid):
            die(f'the message of {patch.name} does not survive as a mail;'
                ' has it a line of ---, a diff or a [tag] in it?')
    lost = changed(linux, final, head)
    if lost:
        die(f'patches/ would not give back {names(lost)}; nothing was changed')


def publish(project, root, old, new):
    """Writes what refresh made into the repository, and what it no longer holds out of it."""
    there, here = inputs(root, new), inputs(project.top, old)
    for path in there:
        file = load(project.top / path)
        if path not in here and file and file != load(root / path) and not FORCE:
            die(f'{path} is here too, with other content; move it away')
    for path in there:
        store(project.top / path, load(root / path))
    for path in here.keys() - there.keys():
        gone = project.top / path
        gone.unlink()
        while gone.parent not in (project.top, project.top / 'patches') and not any(gone.parent.iterdir()):
            gone = gone.parent
            gone.rmdir()


def settle(linux, paths, final, head):
    """Moves the branch; only files that were edited here are written."""
    stage(linux, paths)
    if changed(linux, final, head):
        git(linux, 'read-tree', '-m', '-u', final, head)
    git(linux, 'update-ref', '-m', 'refresh', 'refs/heads/rxhook', head)


def check_ready(linux):
    if busy(linux):
        die('build/linux has a rebase or merge under way; finish it first')
    branch = run(linux, 'symbolic-ref', '-q', '--short', 'HEAD').stdout.decode().strip()
    if branch != 'rxhook':
        die(f'build/linux is on {branch or "no branch"}; git checkout rxhook there first')


def refresh(project):
    linux, base = project.linux, project.need_linux()
    check_ready(linux)
    old, series, paths = read_series(project.top), steps(linux, base), edited(linux)
    known, now = json.loads((linux / '.git/rxhook-inputs').read_text()), inputs(project.top, old)
    ours = sorted(p for p in known.keys() | now.keys() if known.get(p) != now.get(p))
    if ours and not paths and rev(linux, 'HEAD') == rev(linux, MADE):
        print('rxhook: nothing was done in build/linux; make tree takes what changed here there')
        return
    if paths and not series:
        die(f'{names(paths)}: there is no patch to take this in; commit it in build/linux with a message')
    if old and not series and not FORCE:
        die('build/linux has no commit on the base kernel; FORCE=1 make refresh empties patches/')
    there = worktree(linux, paths)
    final = with_ours(project, there, ours)
    with tempfile.TemporaryDirectory() as tmp:
        root = pathlib.Path(tmp)
        kept = export(linux, base, final, series, fold(series, paths), root)
        new = read_series(root)
        head = apply_series(linux, base, root, new)
        check_export(linux, base, final, kept, new, head)
        publish(project, root, old, new)
    settle(linux, paths, there, head)
    remember(project, linux, head, new)
    print(f'rxhook: patches/ holds the series of {len(new)}, {head[:12]}')


# mails


def checkpatch(linux, path):
    """Complaints, one a line. Whether MAINTAINERS knows added files, get_maintainer shows."""
    done = subprocess.run(['scripts/checkpatch.pl', '--strict', '--terse', '--show-types', '--no-summary',
                           '--ignore', 'FILE_PATH_CHANGES', path],
                          cwd=linux, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    lines = text(done.stdout).replace(f'{path}:', 'line ').strip().split('\n')
    return lines if done.returncode else []


def report(results):
    """TAP: one line a result, its complaints below it."""
    print(f'1..{len(results)}')
    for number, (name, complaints) in enumerate(results, 1):
        print('not ok' if complaints else 'ok', number, '-', name)
        for line in complaints:
            print('#', line)
    sys.exit(any(complaints for _, complaints in results))


def check_all(project):
    linux, base = project.linux, project.need_linux()
    series = read_series(project.top)
    head = apply_series(linux, base, project.top, series)
    with tempfile.TemporaryDirectory() as tmp:
        git(linux, 'format-patch', '-q', '-N', '--no-signature', '-o', tmp, f'{base}..{head}')
        paths = sorted(pathlib.Path(tmp).iterdir())
        report([(patch.name, checkpatch(linux, path)) for patch, path in zip(series, paths)])


def maintainers(linux, path, *options):
    done = subprocess.run(['scripts/get_maintainer.pl', '--no-git', '--no-git-fallback',
                           '--no-rolestats', *options, path],
                          cwd=linux, capture_output=True, encoding='utf-8')
    # formataddr encodes names beyond ASCII as headers want them
    return [email.utils.formataddr(pair) for pair in email.utils.getaddresses(done.stdout.splitlines())]


def address(path, to, cc):
    head, rest = path.read_bytes().split(b'\n\n', 1)
    for name, people in (('To', to), ('Cc', [who for who in cc if who not in to])):
        if people:
            head += f'\n{name}: '.encode() + ',\n\t'.join(people).encode()
    path.write_bytes(head + b'\n\n' + rest)


def address_all(linux, cover, paths):
    all_to, all_cc = {}, {}
    for path in paths:
        to, cc = maintainers(linux, path, '--no-l', '--no-r'), maintainers(linux, path, '--no-m')
        address(path, to, cc)
        all_to |= dict.fromkeys(to)
        all_cc |= dict.fromkeys(cc)
    address(cover, all_to, all_cc)


def write_mails(project, base, series, out):
    """The cover letter's sender is the last patch's author; git wants it as committer."""
    name, mail_address = email.utils.parseaddr(series[-1].author)
    git(project.linux, 'format-patch', '-q', '-n', '--zero-commit', '--no-signature', '--cover-letter',
        '--cover-from-description=subject', f'--description-file={project.top}/patches/0000-cover-letter',
        '--subject-prefix=PATCH net-next', '-o', str(out), f'{base}..HEAD',
        GIT_COMMITTER_NAME=name, GIT_COMMITTER_EMAIL=mail_address, GIT_COMMITTER_DATE=series[-1].date)
    return sorted(out.iterdir())


def am_tree(linux, base, paths, mails):
    """The tree that git am makes of the mails; only the files in question are checked out."""
    with tempfile.TemporaryDirectory() as tmp:
        repo = new_repository(pathlib.Path(tmp) / 'am', linux.resolve() / '.git/objects',
                              *(path.resolve() for path in borrowed(linux)))
        git(repo, 'sparse-checkout', 'set', '--no-cone', *(f'/{path}' for path in paths))
        git(repo, 'checkout', '-q', '-B', 'rxhook', base)
        done = run(repo, 'am', '-q', *mails)
        if done.returncode:
            return text(done.stdout + done.stderr).strip().split('\n')
        gone = changed(repo, rev(linux, 'HEAD'), 'HEAD')
        return [f'git am gives another {path}' for path in gone]


def mails(project):
    linux, base, out = project.linux, project.need_linux(), project.top / 'build/series'
    series = read_series(project.top)
    if not series or not (project.top / 'patches/0000-cover-letter').is_file():
        die('mails need a patch and a cover letter, patches/0000-cover-letter')
    if apply_series(linux, base, project.top, series) != rev(linux, 'HEAD') or edited(linux):
        die('build/linux is not what patches/ gives; make tree or make refresh first')
    shutil.rmtree(out, ignore_errors=True)
    cover, *paths = write_mails(project, base, series, out)
    address_all(linux, cover, paths)
    results = [(cover.name, [])] + [(path.name, checkpatch(linux, path)) for path in paths]
    files = changed(linux, base, 'HEAD')
    report(results + [('git am of the mails', am_tree(linux, base, files, map(str, paths)))])


COMMANDS = {'tree': tree, 'refresh': refresh, 'mails': mails, 'checkpatch': check_all, 'dirty': dirty}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--top', type=pathlib.Path, help='the repository, where it is not this one',
                        default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument('--base', help='a repository with the base kernel on its branch base')
    parser.add_argument('command', choices=COMMANDS)
    args = parser.parse_args()
    project = Project(args.top.resolve(), args.base)
    (project.top / 'build').mkdir(exist_ok=True)
    with open(project.top / 'build/series.lock', 'a', encoding='utf-8') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        COMMANDS[args.command](project)


if __name__ == '__main__':
    main()
