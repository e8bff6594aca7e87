#!/usr/bin/env python3
"""corpora/take-core: a program is killed when its threads are at rest; a thread that never rests is reported.

Runs without gdb, xcore or cores: python3 tests/diff/test_take_core.py
"""

import os
import platform
import shutil
import subprocess
import sys
import tempfile
import unittest

TAKE_CORE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "corpora", "take-core")
# Threads that sleep for good, spin, and are woken by a timer again and again; the main thread waits for them.
REST = """
import threading, time
def spin():
    while True:
        pass
def tick():
    while True:
        time.sleep(0.003)
for work in (threading.Event().wait, spin, tick)[%d:%d]:
    threading.Thread(target=work).start()
print("ready", flush=True)
"""
FAKE_GDB = """#!/bin/sh
echo 'warning: Could not trace the inferior process.'
exit 1
"""


class TakeCore(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.core = os.path.join(self.scratch.name, "core")

    def take(self, *words, **environment):
        done = subprocess.run([TAKE_CORE, "--out", self.core, *words], env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if done.returncode == 3 and not environment:
            self.skipTest(done.stderr.decode().splitlines()[-1])
        return done.returncode, done.stderr.decode(errors="replace")

    def test_threads_that_sleep_spin_or_tick_are_at_rest(self):
        for first in range(3):
            status, said = self.take("--kill", "ABRT", "--", sys.executable, "-c", REST % (first, first + 1))
            self.assertEqual((status, said), (0, ""))
            self.assertGreater(os.stat(self.core).st_size, 4096)

    def test_a_thread_that_has_ended_is_not_waited_for(self):
        leave = "ctypes.CDLL(None).syscall(%d, 0)" % {"aarch64": 93}.get(platform.machine(), 60)  # the thread ends, not its process
        script = REST.replace("threading, time", "ctypes, threading, time") % (0, 1) + leave
        status, said = self.take("--timeout", "20", "--kill", "ABRT", "--", sys.executable, "-c", script)
        self.assertEqual((status, said), (0, ""))

    def test_a_thread_that_does_not_come_to_rest_is_told(self):
        way = {"XCORE_TAKE_CORE": "kernel"}  # no core is written; gdb would see the stop first
        status, said = self.take("--timeout", "5", "--kill", "ABRT", "--", "/bin/sh", "-c", "echo ready; kill -STOP $$", **way)
        self.assertEqual(status, 1)
        # R or D: timeout(1) lets it go on to die, and it may be seen on its way; one that is dead (Z) is not seen.
        self.assertRegex(said, r"threads that did not come to rest: \d+ \([TRD]\)")
        self.assertFalse(os.path.exists(self.core))

    def test_a_host_that_gives_no_core_has_a_status_of_its_own(self):
        gdb = os.path.join(self.scratch.name, "gdb")
        with open(gdb, "w", encoding="utf-8") as stream:
            stream.write(FAKE_GDB)
        os.chmod(gdb, 0o755)
        status, said = self.take("--", "/bin/true", XCORE_TAKE_CORE="gdb", PATH=self.scratch.name + ":" + os.environ["PATH"])
        self.assertEqual((status, said.splitlines()[-1]), (3, "take-core: core_pattern leads elsewhere and gdb may not trace"))

    def test_a_program_that_the_kernel_cannot_run_is_the_host_s_fault(self):
        program = os.path.join(self.scratch.name, "program")
        shutil.copy("/bin/true", program)
        with open(program, "r+b") as stream:
            stream.seek(18)  # e_machine
            stream.write(b"\xfe\xfe")
        for way in ("kernel", "gdb"):
            if shutil.which(way) or way == "kernel":
                status, said = self.take("--", program, XCORE_TAKE_CORE=way)
                self.assertEqual((status, said.splitlines()[-1]), (3, "take-core: this kernel does not run programs of that machine"), way)
            self.assertFalse(os.path.exists(self.core))


if __name__ == "__main__":
    unittest.main()
