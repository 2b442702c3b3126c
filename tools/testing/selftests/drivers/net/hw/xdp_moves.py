# SPDX-License-Identifier: GPL-2.0

"""
XDP programs that move the ends of a frame, and what must become of the frame.

A program is a list of moves and an action. code() is the program for the kernel,
apply() does the same to a frame here. Both give the frame a new Ethernet header
in the end, so that it is one wherever the head has moved.
"""

import struct

ETH_P_TEST = 0x88b5     # IEEE 802: for local experiments
ETH_HLEN = 14

XDP_ABORTED, XDP_DROP, XDP_PASS, XDP_TX, XDP_REDIRECT = range(5)
HELPERS = {"redirect": 23, "head": 44, "meta": 54, "tail": 65}
# opcodes, see Documentation/bpf/standardization/instruction-set.rst
MOV_IMM, MOV_REG, ADD_IMM, CALL, EXIT = 0xb7, 0xbf, 0x07, 0x85, 0x95
JNE_IMM, JGT_REG, LOAD_W, LOAD_H, STORE_W, STORE_H = 0x55, 0x2d, 0x61, 0x69, 0x62, 0x6a
PASS_BY, ABORT = "pass by", "abort"


def _insn(opcode, dst=0, src=0, off=0, imm=0):
    return opcode, dst, src, off, imm


def _load_frame():
    """r1: data, r2: data_end, r3: behind the Ethernet header."""
    return [_insn(LOAD_W, 1, 6, 0), _insn(LOAD_W, 2, 6, 4),
            _insn(MOV_REG, 3, 1), _insn(ADD_IMM, 3, imm=ETH_HLEN)]


def _move(name, delta):
    """A helper that moves an end; a move that is refused ends the program."""
    return [_insn(MOV_REG, 1, 6), _insn(MOV_IMM, 2, imm=delta), _insn(CALL, imm=HELPERS[name]),
            _insn(JNE_IMM, 0, off=ABORT)]


def _write_header(header):
    """The header in words and a half, in the byte order of this machine."""
    words = struct.unpack("=iii", header[:12])
    half, = struct.unpack("=h", header[12:])
    return [_insn(STORE_W, 1, off=4 * i, imm=word) for i, word in enumerate(words)] + \
        [_insn(STORE_H, 1, off=12, imm=half)]


def _assemble(insns):
    """Puts in how far each jump to one of the two ends goes."""
    ends = {PASS_BY: len(insns), ABORT: len(insns) + 2}
    insns = insns + [_insn(MOV_IMM, 0, imm=XDP_PASS), _insn(EXIT),
                     _insn(MOV_IMM, 0, imm=XDP_ABORTED), _insn(EXIT)]
    code = b""
    for at, (opcode, dst, src, off, imm) in enumerate(insns):
        off = ends[off] - at - 1 if off in ends else off
        code += struct.pack("=BBhi", opcode, dst | src << 4, off, imm)
    return code


class Program:
    """Moves, each a name of HELPERS and a delta in bytes, then an action."""

    def __init__(self, moves, action, header, ifindex):
        self.moves, self.action, self.header, self.ifindex = moves, action, header, ifindex

    def __str__(self):
        return f"{self.moves}, action {self.action}"

    def code(self):
        """The instructions. Frames of other types pass by."""
        eth_type = struct.unpack("=H", struct.pack(">H", ETH_P_TEST))[0]
        insns = [_insn(MOV_REG, 6, 1), *_load_frame(), _insn(JGT_REG, 3, 2, PASS_BY),
                 _insn(LOAD_H, 4, 1, 12), _insn(JNE_IMM, 4, off=PASS_BY, imm=eth_type)]
        for name, delta in self.moves:
            insns += _move(name, delta)
        insns += [*_load_frame(), _insn(JGT_REG, 3, 2, ABORT), *_write_header(self.header)]
        if self.action == XDP_REDIRECT:
            insns += [_insn(MOV_IMM, 1, imm=self.ifindex), _insn(MOV_IMM, 2),
                      _insn(CALL, imm=HELPERS["redirect"])]
        else:
            insns += [_insn(MOV_IMM, 0, imm=self.action)]
        return _assemble(insns + [_insn(EXIT)])

    @property
    def grows(self):
        """The driver may have no room behind the frame, and the program end."""
        return any(name == "tail" and delta > 0 for name, delta in self.moves)

    def apply(self, frame):
        """What comes out: (bytes at the start that nobody has written, the rest)."""
        unknown = 0
        for name, delta in self.moves:
            if name == "tail":
                frame = frame + bytes(delta) if delta > 0 else frame[:len(frame) + delta]
            elif name == "head":
                frame = frame[max(delta - unknown, 0):]
                unknown = max(unknown - delta, 0)
        frame = frame[max(ETH_HLEN - unknown, 0):]
        return max(unknown - ETH_HLEN, 0), frame

    def matches(self, frame, got):
        """Is what was received what had to come of the frame?"""
        unknown, rest = self.apply(frame)
        return got[:ETH_HLEN] == self.header and got[ETH_HLEN + unknown:] == rest and \
            len(got) == ETH_HLEN + unknown + len(rest)


def random_program(rng, header, ifindex):
    """Moves that leave a frame of 124 bytes and more one of 60 and more.

    Headroom is taken up to 128 bytes, of the 192 that each driver has; of them
    40 are the kernel's when the frame is sent on.
    """
    moves, cut, room = [], 0, 128
    for _ in range(rng.randrange(5)):
        name = rng.choice(("head", "head", "tail", "tail", "meta"))
        if name == "meta":
            delta = -4 * rng.randrange(1, 5)
        else:
            delta = rng.choice((-1, 1)) * rng.randrange(1, 33)
        lost = delta if name == "head" else -delta if name == "tail" else 0
        need = -delta if name in ("head", "meta") else 0
        if cut + max(lost, 0) > 64 or need > room:
            continue
        cut, room = cut + max(lost, 0), room - max(need, 0)
        moves.append((name, delta))
    action = rng.choice((XDP_DROP, XDP_PASS, XDP_PASS, XDP_TX, XDP_TX, XDP_REDIRECT))
    return Program(moves, action, header[action], ifindex)
