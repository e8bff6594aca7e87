"""stress: background load that exposes timing-dependent tests."""

import os
import subprocess
import sys

# One spins, one forks processes, one writes and syncs; together they exceed the machine's capacity.
HOGS = ("while True: pass",
        "import os\nwhile True:\n pid = os.fork()\n if pid == 0: os._exit(0)\n os.waitpid(pid, 0)",
        "import os, tempfile\nwith tempfile.TemporaryFile() as f:\n while True:\n  f.seek(0); f.write(os.urandom(1 << 20)); f.flush(); os.fsync(f.fileno())")
# Below the tests' priority: the machine is never idle, yet a run takes at most twice its usual time.
TIED = "import ctypes, os, signal\nos.nice(7)\nctypes.CDLL(None).prctl(1, signal.SIGKILL)\n"  # PR_SET_PDEATHSIG: they die with us, even if we are killed


class Stress:
    """A context with background load. Does nothing if `wanted` is false."""

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
