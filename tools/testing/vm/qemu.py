# SPDX-License-Identifier: GPL-2.0
"""The machine that the rig boots, as a QEMU command line.

A plain command line and not virtme-ng: what the tests need is the PCI topology
(a root port per card, two cards on one cable), and virtme-ng would take nine
tenths of this file as --qemu-opts and add a udev and a systemd to the guest.
"""
import fcntl
import os
import shutil
import subprocess

QEMU = 'qemu-system-x86_64'
OLDEST_QEMU = (11, 1)
KVM_GET_API_VERSION = 0xAE00


class RigError(Exception):
    """Something the caller can do something about; its text is one line."""


def check_version():
    if not shutil.which(QEMU):
        raise RigError(f'{QEMU} is missing; run make room')
    text = subprocess.run([QEMU, '--version'], capture_output=True, text=True, check=True).stdout
    version = tuple(int(n) for n in text.split()[3].split('.')[:2])
    if version < OLDEST_QEMU:
        raise RigError(f'QEMU {version[0]}.{version[1]} is too old, {OLDEST_QEMU[0]}.{OLDEST_QEMU[1]} '
                       'or newer is needed; run make distclean, then make room')


def kvm_works():
    """True if /dev/kvm is there, is ours to open and answers."""
    try:
        fd = os.open('/dev/kvm', os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return fcntl.ioctl(fd, KVM_GET_API_VERSION, 0) == 12
    except OSError:
        return False
    finally:
        os.close(fd)


def accelerator():
    """TCG, which is the same on every host, or what ACCEL names.

    KVM is not taken where it is there: nested, on some clouds, it answers and
    then stops at the first instruction that it does not emulate.
    """
    wish = os.environ.get('ACCEL') or 'tcg'
    if wish not in ('kvm', 'tcg'):
        raise RigError(f'ACCEL={wish} is unknown; there are kvm and tcg')
    if wish == 'kvm' and not kvm_works():
        raise RigError('ACCEL=kvm: /dev/kvm cannot be used here; leave ACCEL out')
    return wish


# One thread for all CPUs. With one for each, a CPU can translate code in the moment
# in which another replaces it, and keep what was there before: an int3 that the
# kernel's text patching had put there for a moment. Attaching XDP programs patches
# bpf_dispatcher_xdp_func(). The unpatched kernel dies of it on a veth, after some
# hundred attachments under traffic.
TCG = 'tcg,thread=single'


def igb_ports(count):
    """Ports 0 and 1 are the ends of one cable, so are 2 and 3, and so on.

    Each card has its own root port: its virtual functions take its slot's
    other functions. A hub with two ends is the cable.
    """
    args = []
    for i in range(count):
        args += ['-device', f'pcie-root-port,id=rp{i},chassis={i + 1},slot={i + 1}',
                 '-netdev', f'hubport,id=cable{i},hubid={i // 2}',
                 '-device', f'igb,bus=rp{i},netdev=cable{i},mac=52:54:00:00:00:{i + 1:02x}']
    return args


def command(kernel, *, root, results, cpus, memory, cards, interactive, extra_cmdline=''):
    """The whole command line. The guest's output port is QEMU's stdout.

    cards are the arguments that put the network cards in.
    """
    accel = accelerator()
    console = ['-serial', 'mon:stdio'] if interactive else [
        '-chardev', f'file,id=console,path={results}/console.log', '-serial', 'chardev:console',
        '-device', 'virtio-serial-pci', '-chardev', 'stdio,id=output,signal=off',
        '-device', 'virtconsole,chardev=output', '-monitor', 'none']
    cmdline = ('console=ttyS0 root=rxroot rootfstype=9p ro '
               'rootflags=trans=virtio,version=9p2000.L,cache=loose,msize=512000 '
               'init=/rxhook/tools/testing/vm/init panic=-1 oops=panic net.ifnames=0 '
               f'rxhook.mode={"shell" if interactive else "run"} {extra_cmdline}')
    return [QEMU, '-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot',
            '-machine', 'q35', '-cpu', 'max', '-smp', str(cpus), '-m', memory,
            '-accel', TCG if accel == 'tcg' else 'kvm',
            '-kernel', kernel, '-append', cmdline.strip(),
            '-fsdev', f'local,id=root,path={root},security_model=none,readonly=on,multidevs=remap',
            '-device', 'virtio-9p-pci,fsdev=root,mount_tag=rxroot',
            '-fsdev', f'local,id=results,path={results},security_model=none',
            '-device', 'virtio-9p-pci,fsdev=results,mount_tag=results',
            '-device', 'virtio-rng-pci',
            *console, *cards]
