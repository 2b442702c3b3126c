# SPDX-License-Identifier: GPL-2.0
"""The ConnectX-3 model beside a QEMU: built, started, watched, ended.

A model is a process with two sockets in a folder of its own in /tmp: QEMU's
device connects to one, a serial port of the guest, /dev/connectx3.N, to the
other, which takes the commands that the model's README lists. What the model
says goes to connectx3.log; a rule that the driver breaks is in it as a line with
VIOLATION and fails the run.
"""
import fcntl
import glob
import os
import shutil
import subprocess
import tempfile
import time

import qemu

TOP = os.path.dirname(os.path.abspath(__file__)).removesuffix('/tools/testing/vm')
SOURCE = f'{TOP}/tools/testing/connectx3'
BUILD = f'{TOP}/build/connectx3'
START_LIMIT = 10
END_LIMIT = 10
VIOLATION_STATUS = 3
SHOWN = 10


def build(binary):
    os.makedirs(BUILD, exist_ok=True)
    with open(f'{BUILD}/lock', 'w', encoding='ascii') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run(['make', '-s', '-C', SOURCE, f'OUTPUT={BUILD}', f'{BUILD}/{binary}'],
                              capture_output=True, text=True, check=False)
    if done.returncode:
        raise qemu.RigError(f'the ConnectX-3 model does not build: {done.stderr.strip()}')


def violations(results):
    """The first lines, of all cards of a run, about rules that the driver broke."""
    lines = []
    for path in sorted(glob.glob(f'{results}/connectx3*.log')):
        with open(path, encoding='utf-8', errors='replace') as f:
            lines += [line.rstrip() for line in f if 'VIOLATION' in line]
    return lines[:SHOWN]


class Model:
    """One card with two ports; a context manager that leaves nothing behind."""

    def __init__(self, number, results, options, sanitize=False):
        self.number = number
        self.results = results
        self.log = f'{results}/connectx3{number or ""}.log'
        self.options = options
        self.binary = 'connectx3-asan' if sanitize else 'connectx3'
        self.folder = self.proc = None

    def __enter__(self):
        build(self.binary)
        self.folder = tempfile.mkdtemp(prefix='connectx3-')
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self):
        mac = f'5254000000{2 * self.number + 1:02x}'
        with open(self.log, 'wb') as log:
            # a session of its own: Ctrl-C is for QEMU, at whose end the model ends
            self.proc = subprocess.Popen(
                [f'{BUILD}/{self.binary}', '--socket', self.socket, '--control', self.control,
                 '--mac', mac, *self.options],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        end = time.monotonic() + START_LIMIT
        while not os.path.exists(self.socket):
            if self.proc.poll() is not None or time.monotonic() > end:
                raise qemu.RigError(f'the ConnectX-3 model does not start: {self.text().strip()}')
            time.sleep(0.01)

    def __exit__(self, *_):
        if self.proc:
            self.proc.kill()
            self.proc.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def socket(self):
        return f'{self.folder}/card.sock'

    @property
    def control(self):
        return f'{self.folder}/control.sock'

    def text(self):
        with open(self.log, encoding='utf-8', errors='replace') as f:
            return f.read()

    def complaint(self):
        """Waits for the model's end; what is wrong with the run as it sees it, or None."""
        try:
            status = self.proc.wait(timeout=END_LIMIT)
        except subprocess.TimeoutExpired:
            self.proc.terminate()
            return 'the ConnectX-3 model did not end with QEMU'
        if not status:
            return None
        if status == VIOLATION_STATUS:
            return 'the driver broke rules of the card:\n' + '\n'.join(violations(self.results))
        return f'the ConnectX-3 model ended with status {status}: ' + '\n'.join(self.text().splitlines()[-SHOWN:])


def qemu_args(models, memory):
    """The cards reach the guest's memory through a file that QEMU hands them."""
    args = ['-object', f'memory-backend-memfd,id=mem,size={memory},share=on', '-machine', 'memory-backend=mem',
            '-device', 'virtio-serial-pci,id=cards']
    for model in models:
        n = model.number
        args += ['-device', f'pcie-root-port,id=rp{n},chassis={n + 1},slot={n + 1}',
                 '-device', f'{{"driver":"vfio-user-pci","bus":"rp{n}",'
                            f'"socket":{{"type":"unix","path":"{model.socket}"}}}}',
                 '-chardev', f'socket,id=card{n},path={model.control}',
                 '-device', f'virtserialport,bus=cards.0,chardev=card{n},name=connectx3.{n}']
    return args
