#!/usr/bin/env python3
"""Tests of the hostile driver: each bad outcome of a run must be reported as a fault.

Runs without xcore or cores: python3 tests/hostile/test_hostile.py
"""

import importlib.machinery
import importlib.util
import os
import random
import struct
import tempfile
import unittest

import elfcore
import hostile
from operations import OPERATIONS


def script(name):
    """Loads a script without .py as a module."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
    loader = importlib.machinery.SourceFileLoader(name, path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


def note(kind, desc):
    return struct.pack("<III", 5, len(desc), kind) + b"CORE\0\0\0\0" + desc + bytes(-len(desc) % 4)


def small_core():
    """A core of one thread: two notes at 176 and one segment of 4,096 bytes at address 0x10000."""
    status = bytearray(336)
    struct.pack_into("<Q", status, elfcore.PR_REG + 8 * elfcore.REG_RSP, 0x10f00)
    notes = note(elfcore.NT_PRSTATUS, bytes(status))
    notes += note(elfcore.NT_AUXV, struct.pack("<QQQQ", elfcore.AT_SYSINFO_EHDR, 0x10000, 0, 0))
    header = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 4, 62, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    phdrs = struct.pack("<IIQQQQQQ", 4, 0, 176, 0, 0, len(notes), 0, 4)
    phdrs += struct.pack("<IIQQQQQQ", 1, 6, 176 + len(notes), 0x10000, 0, 4096, 4096, 4096)
    return header + phdrs + notes + bytes(4096)


class Runs(unittest.TestCase):
    def fault(self, shell):
        with tempfile.TemporaryDirectory() as workdir:
            return hostile.Run("/bin/sh", ["-c", shell], workdir).fault()

    def test_good_runs_are_good(self):
        self.assertIsNone(self.fault("echo '{\"schema\": \"xcore.bt/1\"}'"))
        self.assertIsNone(self.fault("echo 'xcore: core: cut short' >&2; echo '  hint: copy it again' >&2; exit 4"))

    def test_every_bad_run_is_a_fault(self):
        for shell in ("kill -SEGV $$", "kill -ABRT $$", "exit 1", "exit 2", "exit 5", "exit 99",
                      "true", "echo nothing", "echo '{}'", "echo '{\"schema\": \"xcore.bt/1\", \"x\": NaN}'",
                      "echo '{\"schema\": \"xcore.bt/1\"'", "exit 4", "echo x; echo 'xcore: a: b' >&2; exit 4",
                      "echo 'xcore: a: b' >&2; echo 'xcore: c: d' >&2; exit 4", "echo 'it failed' >&2; exit 4",
                      "echo '{\"schema\": \"xcore.bt/1\"}'; echo 'x.c:1: runtime error: shift' >&2",
                      "printf '{\"schema\": \"xcore.bt/1\", \"x\": \"\\377\"}'"):
            self.assertIsNotNone(self.fault(shell), shell)

    def test_a_late_run_is_a_fault(self):
        good, limits = "echo '{\"schema\": \"xcore.bt/1\"}'; ", (hostile.SECONDS, hostile.PATIENCE)
        hostile.SECONDS = 0.1
        self.assertIn("not done", self.fault(good + "i=0; while [ $i -lt 1000000 ]; do i=$((i + 1)); done"))
        hostile.SECONDS, hostile.PATIENCE = 60, 0.3
        self.assertIn("not done", self.fault(good + "exec sleep 600"))
        hostile.SECONDS, hostile.PATIENCE = limits

    def test_a_file_left_behind_is_a_fault(self):
        class Case:
            options = []
        hostile.COMMANDS["test"] = ["-c", "echo '{\"schema\": \"xcore.bt/1\"}'; touch left"]
        with tempfile.TemporaryDirectory() as workdir:
            self.assertIn("left", hostile.check("/bin/sh", Case, "core", "exe", "test", workdir) or "")


class Layout(unittest.TestCase):
    def test_ranges_of_a_core(self):
        data = small_core()
        core = elfcore.Elf(data)
        self.assertEqual([kind for _, kind, _, _ in core.notes()], [elfcore.NT_PRSTATUS, elfcore.NT_AUXV])
        base = len(data) - 4096
        self.assertEqual(core.stacks(), [(base + 0xf00, 256)])
        self.assertEqual(core.vdso(), [(base, 4096)])

    def test_cuts_fall_on_note_boundaries(self):
        points = script("cut").cut_points(small_core())
        self.assertTrue({0, 176, 176 + 20 + 336} <= set(points))
        self.assertTrue(all(point < len(small_core()) for point in points))

    def test_damage_repeats_and_stays_in_its_range(self):
        for operation in OPERATIONS:
            for seed in range(200):
                one, two = bytearray(small_core()), bytearray(small_core())
                operation(random.Random(seed), one, 64, 112)
                operation(random.Random(seed), two, 64, 112)
                self.assertEqual(one, two)
                self.assertEqual((one[:64], one[176:]), (small_core()[:64], small_core()[176:]))


if __name__ == "__main__":
    unittest.main()
