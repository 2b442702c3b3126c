# SPDX-License-Identifier: GPL-2.0
"""Boots a kernel with the profiler and brings back its figures."""
import json
import os
import shlex
import subprocess

import figures
import symbols

TOP = os.path.dirname(os.path.abspath(__file__)).removesuffix('/tools/testing/bench')
RIG = f'{TOP}/tools/testing/vm/rig.py'
GUEST = 'tools/testing/bench/guest.py'
NAME = 'bench'
OUT = f'{TOP}/build/bench'


def kernel_dir(kernel):
    return f'{TOP}/build/kernel-{kernel}'


def plugin_arguments(kernel, out, mem):
    caller = kernel.range('handle_softirqs')
    return ['out=' + out, 'cpu=1', f'entry={kernel.range("net_rx_action")[0]:x}',
            f'caller={caller[0]:x}-{caller[1]:x}', f'iret={kernel.range("native_irq_return_iret")[0]:x}',
            *(['mem=on'] if mem else [])]


def boot(nic, kernel, guest_arguments, *, mem=True, limit=3600):
    """Runs the guest; returns the rows of its bench.json with a Figure in each.

    Without nokaslr the addresses would not be those of System.map. The watched
    CPU takes no interrupt but those that a case gives it.
    """
    name = f'{NAME}-{nic}-{kernel}'
    out = f'{OUT}/{name}.counts'
    if not os.path.exists(f'{kernel_dir(kernel)}/arch/x86/boot/bzImage'):
        raise RuntimeError(f'there is no {kernel} kernel yet; run make bench')
    lines = symbols.read(f'{kernel_dir(kernel)}/System.map')
    plugin = ','.join([f'{OUT}/rxprof.so', *plugin_arguments(symbols.Symbols(lines), out, mem)])
    done = subprocess.run([RIG, 'run', '--nic', nic, '--name', name, '--limit', str(limit),
                           '--kernel', kernel, '--image', f'{kernel_dir(kernel)}/arch/x86/boot/bzImage',
                           '--ports', '4', '--cpus', '4', '--append', 'nokaslr irqaffinity=0',
                           '--qemu=-plugin', f'--qemu={plugin}',
                           '--quiet', '--', f'{GUEST} --nic={nic} {shlex.join(guest_arguments)}'], check=False)
    results = f'{TOP}/build/results/{name}'
    if done.returncode:
        raise RuntimeError(f'the {kernel} kernel: status {done.returncode}, see {results}/output.log')
    with open(f'{results}/bench.json', encoding='utf-8') as f:
        rows = json.load(f)
    batches = figures.read(out)
    for row in rows:
        own = batches[row['first']:row['first'] + len(row['arrived'])]
        row['figure'] = None
        if own:
            bpf = symbols.read(f'{results}/kallsyms-{row["case"]}-{row["size"]}')
            row['symbols'] = symbols.Symbols(lines + bpf)
            row['figure'] = figures.figure(own, row['arrived'], row['sent'], row['symbols'])
        if own and not row['figure']:
            row['refused'] = f'no good batch: {row["arrived"]} of {row["sent"]} frames arrived'
    return rows
