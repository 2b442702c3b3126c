# SPDX-License-Identifier: GPL-2.0
"""The instructions of a function with how often a packet executes each."""
import re
import subprocess

CODE = re.compile(r'^\s*([0-9a-f]+):\s+(.*)$')


def lines(kernel_dir, symbols, figure, function):
    first, after = symbols.range(function)
    code = subprocess.run(['objdump', '-d', '--no-show-raw-insn', f'--start-address={first:#x}',
                           f'--stop-address={after:#x}', f'{kernel_dir}/vmlinux'],
                          check=True, capture_output=True, text=True).stdout
    for line in code.splitlines():
        if (m := CODE.match(line)) and (count := figure.insns.get(int(m[1], 16))):
            yield f'{count:9.3f}  {m[1]}  {m[2]}'
