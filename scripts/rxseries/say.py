# SPDX-License-Identifier: GPL-2.0
"""What the commands tell their user."""
import sys


def say(message):
    print(f'rxhook: {message}')


def die(message):
    sys.exit(f'rxhook: {message}')


def names(paths):
    paths = sorted(paths)
    return ', '.join(paths[:3]) + (f' and {len(paths) - 3} more' if len(paths) > 3 else '')
