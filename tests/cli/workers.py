"""workers: the workers of `xcore triage --jobs 1`, each while stopped: the run cannot end before the test is done."""

import os
import signal
import time


def state_of(pid):
    """The state letter in /proc; None if the process has ended."""
    try:
        with open("/proc/%d/stat" % pid, encoding="ascii", errors="replace") as stream:
            return stream.read().rpartition(")")[2].split()[0]
    except OSError:
        return None


def children_of(pid):
    try:
        with open("/proc/%d/task/%d/children" % (pid, pid), encoding="ascii") as stream:
            return [int(child) for child in stream.read().split()]
    except OSError:
        return []


def working(run):
    """The working process: the child of the watchdog, which is the process that was started. None before it exists."""
    return next(iter(children_of(run.pid)), None)


def worker_of(run):
    """The last of three children: the earlier ones open files for it."""
    children = children_of(working(run) or 0)
    return children[2] if len(children) == 3 else None


def is_stopped(pid):
    """Stops it, and returns whether it is stopped."""
    try:
        os.kill(pid, signal.SIGSTOP)
    except ProcessLookupError:
        return False
    while state_of(pid) not in ("T", "Z", "X", None):
        time.sleep(0.0001)
    return state_of(pid) == "T"


def stopped(run):
    """Yields each worker, some several times, until the run (a subprocess.Popen) ends."""
    while run.poll() is None:
        pid = worker_of(run)
        if pid and is_stopped(pid):
            try:
                yield pid
            finally:
                try:
                    os.kill(pid, signal.SIGCONT)
                except ProcessLookupError:
                    pass
        time.sleep(0.0005)
