# SPDX-License-Identifier: GPL-2.0
"""The folder of the kernel's source that a function comes from."""
import os
import subprocess

BPF, UNKNOWN = 'BPF program', 'other'


def folders(kernel_dir, symbols, names):
    """{function: folder}, from the debug information of vmlinux."""
    own = [n for n in names if not n.startswith('bpf_prog_')]
    addresses = [f'{symbols.range(name)[0]:x}' for name in own]
    lines = subprocess.run(['addr2line', '-e', f'{kernel_dir}/vmlinux', *addresses], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    found = {name: BPF for name in names}
    for name, line in zip(own, lines):
        path = os.path.dirname(os.path.normpath(line.split(':')[0])).removeprefix('/src/')
        found[name] = path if path and '?' not in path else UNKNOWN
    return found
