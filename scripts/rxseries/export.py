# SPDX-License-Identifier: GPL-2.0
"""The branch in build/linux to a folder that holds patches/ and the added files."""
from .files import store
from .git import blob, changed, entries, git, with_entries
from .linux import LINUX
from .patchfile import diff_of, write_patch
from .say import die, names, say


def export(base, final, steps, root):
    """Writes the series under root, returns the steps that became a patch.

    A file that the base kernel lacks is not in a diff: the first patch that
    touches it adds it as it is in final, the tree of the whole series.
    """
    touched = sorted({path for step in steps for path in step.paths | step.takes})
    base_has, final_has = (entries(LINUX, tree, touched) for tree in (base, final))
    to_add = final_has.keys() - base_has.keys()
    kept = []
    for step in steps:
        paths = step.paths | step.takes
        adds = sorted(paths & to_add)
        diff = diff_of_step(step, base_has, final_has)
        if not diff and not adds:
            say(f'{step.name} has nothing of its own left and is dropped')
            continue
        kept.append(step)
        name = f'{len(kept):04}' + step.name[4:]
        write_patch(root / 'patches' / name, LINUX, step.commit, adds, diff)
        for path in adds:
            mode, oid = final_has[path]
            store(root / path, (mode, blob(LINUX, oid)))
        to_add -= paths
    return kept


def diff_of_step(step, base_has, final_has):
    folded = {path: final_has.get(path) for path in step.takes & base_has.keys()}
    new = with_entries(LINUX, step.commit, folded)
    return diff_of(LINUX, f'{step.commit}^', new, sorted((step.paths | step.takes) & base_has.keys()))


def check_export(base, final, kept, head):
    """Makes sure that the commits made of what was exported are what stood there."""
    for step, oid in zip(kept, git(LINUX, 'rev-list', '--reverse', f'{base}..{head}').split()):
        if story(step.commit) != story(oid):
            die(f'the message of {step.name} does not survive as a mail;'
                ' has it a line of ---, a diff or a [tag] in it?')
    lost = changed(LINUX, final, head)
    if lost:
        die(f'patches/ would not give back {names(lost)}; nothing was changed')


def story(commit):
    lines = git(LINUX, 'log', '-1', '--format=%an <%ae> %ad%n%s%n%b', '--date=raw', commit).split('\n')
    return '\n'.join(line.rstrip() for line in lines).rstrip()
