# SPDX-License-Identifier: GPL-2.0
"""Puts generated text between two marks of a document:

  <!-- bench NAME -->
  <!-- /bench NAME -->
"""
import os
import re


def replace(text, name, lines):
    """The text with new lines between the marks, unchanged where there are none."""
    marks = re.compile(rf'(<!-- bench {re.escape(name)} -->\n).*?(<!-- /bench {re.escape(name)} -->)', re.S)
    return marks.sub(lambda m: m[1] + ''.join(line + '\n' for line in lines) + m[2], text)


def update(path, parts):
    """parts: {name: lines}. True if the document has changed."""
    if not os.path.exists(path):
        return False
    with open(path, encoding='utf-8') as f:
        old = f.read()
    new = old
    for name, lines in parts.items():
        new = replace(new, name, list(lines))
    if new == old:
        return False
    with open(path, 'w', encoding='utf-8') as f:
        f.write(new)
    return True
