"""stress: a machine that is busy with something else, so that what depends on time shows."""

import os
import subprocess
import sys

# One spins, one starts processes, one writes and syncs; together they want more than the machine has.
HOGS = ("while True: pass",
        "import os\nwhile True:\n pid = os.fork()\n if pid == 0: os._exit(0)\n os.waitpid(pid, 0)",
        "import os, tempfile\nwith tempfile.TemporaryFile() as f:\n while True:\n  f.seek(0); f.write(os.urandom(1 << 20)); f.flush(); os.fsync(f.fileno())")
# Below the tests' priority: the machine is never idle, and a run still takes no more than twice its time.
TIED = "import ctypes, os, signal\nos.nice(7)\nctypes.CDLL(None).prctl(1, signal.SIGKILL)\n"  # PR_SET_PDEATHSIG: they end with us, also when we are killed


class Stress:
    """A context in which the machine is busy; nothing is done when `wanted` is false."""

    def __init__(self, wanted):
        self.wanted, self.hogs = wanted, []

    def __enter__(self):
        if self.wanted:
            texts = [HOGS[0]] * os.cpu_count() + list(HOGS[1:])
            self.hogs = [subprocess.Popen([sys.executable, "-c", TIED + text], stdin=subprocess.DEVNULL) for text in texts]
        return self

    def __exit__(self, *_):
        for hog in self.hogs:
            hog.kill()
            hog.wait()
