# SPDX-License-Identifier: GPL-2.0
"""Files as git sees them, (mode, content), with any bytes in them."""
import os


def text(data):
    return data.decode('utf-8', 'surrogateescape')


def raw(string):
    return string.encode('utf-8', 'surrogateescape')


def load(path):
    """None where there is no file."""
    if path.is_symlink():
        return '120000', raw(os.readlink(path))
    if not path.is_file():
        return None
    return '100755' if path.stat().st_mode & 0o100 else '100644', path.read_bytes()


def store(path, file):
    """Leaves a file alone that is like this already: make goes by its date."""
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
