#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Bad input and bad surroundings: one clear line, a bad exit status, nothing
half-made left behind.

Each case runs in a mount namespace of its own with an empty cache, and with
stubs in front of PATH for the tools whose answer it needs.
"""
import os
import shutil
import subprocess
import tempfile
import unittest

TOP = os.path.dirname(os.path.abspath(__file__)).removesuffix('/tools/testing')
SCRIPTS = ('room', 'room-packages', 'base', 'base.env', 'kernel', 'kernel-make', 'deb', 'deb-in-room')


class BadInput(unittest.TestCase):
    def setUp(self):
        self.top = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.top)
        for name in ('scripts', 'stubs', 'cache', 'build', 'tools'):
            os.mkdir(f'{self.top}/{name}')
        for name in SCRIPTS:
            shutil.copy(f'{TOP}/scripts/{name}', f'{self.top}/scripts/{name}')
        for name in ('scripts/rxseries', 'tools/testing'):
            shutil.copytree(f'{TOP}/{name}', f'{self.top}/{name}')

    def stub(self, name, body):
        path = f'{self.top}/stubs/{name}'
        with open(path, 'w', encoding='ascii') as f:
            f.write(f'#!/bin/sh\n{body}\n')
        os.chmod(path, 0o755)

    def run_in(self, command, wrap=()):
        """Runs with our empty folder as /cache too, where the room has the cache."""
        setup = f'mkdir -p /cache; mount --bind {self.top}/cache /cache; cd {self.top}; exec "$@"'
        env = {**os.environ, 'PATH': f'{self.top}/stubs:{os.environ["PATH"]}', 'RXHOOK_CACHE': f'{self.top}/cache',
               'HOME': self.top}
        return subprocess.run(['unshare', '--mount', '--propagation', 'unchanged', *wrap, 'sh', '-c', setup, 'sh',
                               *command], env=env, check=False, capture_output=True, text=True, timeout=120)

    def expect(self, command, *says, wrap=()):
        done = self.run_in(command, wrap)
        self.assertNotEqual(done.returncode, 0)
        last = done.stderr.strip().splitlines()[-1]
        for text in says:
            self.assertIn(text, last)
        self.assertEqual([n for n in os.listdir(f'{self.top}/cache') if 'partial' in n], [])

    def test_not_root(self):
        self.stub('id', 'echo 1000')
        self.expect(['scripts/room', 'make'], 'as root')

    def test_wrong_architecture(self):
        self.stub('uname', 'echo aarch64')
        self.expect(['scripts/room', 'make'], 'aarch64', 'x86_64')

    def test_no_space(self):
        self.stub('df', 'printf "Avail\\n1G\\n"')
        self.expect(['scripts/room', 'make'], '1 GiB', 'RXHOOK_CACHE')

    def test_no_network(self):
        self.stub('mmdebstrap', 'for a; do case $a in *.partial) mkdir "$a" ;; esac; done; exit 1')
        self.expect(['scripts/room', 'make'], 'network', 'MIRROR')

    def test_no_network_for_mmdebstrap(self):
        self.stub('apt-get', 'exit 100')
        self.expect(['scripts/room', 'make'], 'mmdebstrap', 'network')

    def test_no_network_for_base(self):
        self.stub('apt-get', 'echo "E: no route" >&2; exit 100')
        self.expect(['scripts/base'], 'network', 'no route')

    def test_mirror_that_only_warns(self):
        """apt-get update ends well when no list could be fetched, unless told not to."""
        self.stub('apt-get', 'echo "W: Failed to fetch" >&2; case "$*" in *Error-Mode=any*) exit 100 ;; esac')
        self.stub('apt-cache', 'exit 0')
        self.expect(['scripts/base'], 'network', 'Failed to fetch')

    def test_no_kernel_tree(self):
        self.expect(['env', 'KERNEL_TREE=/nowhere', 'scripts/room', 'run', 'true'], '/nowhere', 'Linux tree')

    def test_kernel_tree_that_git_ignores(self):
        """Debian's unpacked source; what is imported is the tree, and a new file is seen."""
        os.mkdir(f'{self.top}/debian')
        for name, text in (('Makefile', 'VERSION = 7\nPATCHLEVEL = 3\nSUBLEVEL = 4\n'), ('.gitignore', '*.o\n/*\n')):
            with open(f'{self.top}/debian/{name}', 'w', encoding='ascii') as f:
                f.write(text)
        done = self.run_in(['sh', '-c', f'mkdir -p /base; mount --bind -o ro {self.top}/debian /base && '
                                        f'mount --bind {self.top} /rxhook && scripts/base && '
                                        'git --git-dir="$(scripts/base path)" show base:.gitignore base:Makefile'])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('*.o\nVERSION', done.stdout)

    def test_package_moved_on(self):
        self.stub('apt-get', 'exit 0')
        self.stub('apt-cache', 'echo "linux-source-7.3 | 7.3.9-1~bpo13+1 | somewhere"')
        self.expect(['scripts/base'], '7.3.9-1~bpo13+1', 'KERNEL_TREE', 'scripts/base.env')

    def test_wrong_checksum(self):
        with open(f'{TOP}/scripts/base.env', encoding='ascii') as f:
            version = next(line.split('=')[1].strip() for line in f if line.startswith('BASE_PACKAGE_VERSION'))
        self.stub('apt-get', 'case "$*" in *download*) echo bad >linux-source.deb ;; esac')
        self.stub('apt-cache', f'echo "linux-source-7.3 | {version} | somewhere"')
        self.expect(['scripts/base'], 'checksum', 'not used')

    def test_kernel_tree_of_another_version(self):
        os.mkdir(f'{self.top}/other')
        with open(f'{self.top}/other/Makefile', 'w', encoding='ascii') as f:
            f.write('VERSION = 6\nPATCHLEVEL = 1\nSUBLEVEL = 2\n')
        done = self.run_in(['sh', '-c', f'mount --bind {self.top}/other /base && exec scripts/base'])
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('6.1.2', done.stderr)
        self.assertIn('7.3', done.stderr)

    def test_unknown_suite(self):
        self.expect(['tools/testing/check/main.py', '--suite', 'nope'])
        done = self.run_in(['tools/testing/check/main.py', '--suite', 'nope'])
        self.assertIn('no suite nope', done.stderr)
        self.assertIn('upstream', done.stderr)

    def test_unknown_kernel(self):
        self.expect(['scripts/kernel', 'fast'], 'fast', 'release, debug and base')

    def test_no_kernel_yet(self):
        self.expect(['tools/testing/vm/rig.py', 'run', 'true'], 'make kernel')

    def test_old_qemu(self):
        self.stub('qemu-system-x86_64', 'echo "QEMU emulator version 7.2.1 (Debian)"')
        self.expect(['tools/testing/vm/rig.py', 'run', 'true'], '7.2', '11.1')

    def test_no_configuration_for_deb(self):
        self.expect(['scripts/deb'], 'CONFIG=')
        self.expect(['env', 'CONFIG=/nowhere', 'scripts/deb'], '/nowhere')


if __name__ == '__main__':
    unittest.main()
