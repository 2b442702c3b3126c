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
"""
import argparse
import fcntl

from rxseries.linux import TOP
from rxseries.mails import checkpatch, mails
from rxseries.refresh import refresh
from rxseries.tree import dirty, tree

COMMANDS = {'tree': tree, 'refresh': refresh, 'mails': mails, 'checkpatch': checkpatch, 'dirty': dirty}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('command', choices=COMMANDS)
    args = parser.parse_args()
    (TOP / 'build').mkdir(exist_ok=True)
    with open(TOP / 'build/series.lock', 'a', encoding='utf-8') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        COMMANDS[args.command]()


if __name__ == '__main__':
    main()
