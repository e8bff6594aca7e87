"""command: runs one command to completion, in a separate session with a private temporary directory."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time

from outcome import Outcome

# Variables that affect xcore: CI systems and their files, schedulers' indexes (batch/shard/scheduler.c), colour
# settings.
OF_THE_HOST = re.compile(r"CI$|CI_|CIRCLE|BUILDKITE|GITHUB_|GITLAB_|SLURM_|SBATCH_|SGE_|PBS_|AWS_BATCH_|PARALLEL|JOB_COMPLETION_INDEX$|"
                         r"NO_COLOR$|DEBUGINFOD_|SOURCE_DATE_EPOCH$|MAKE|MFLAGS$")


def environment(xcore, scratch):
    """An environment in which neither the host (with CI set, xcore redacts values) nor the user's symbol index changes
    the output. HOME is set, as compilers and recipes want it: services and containers often have none."""
    env = {name: value for name, value in os.environ.items() if not OF_THE_HOST.match(name)}
    env.setdefault("HOME", os.path.expanduser("~"))
    return {**env, "CMOCKA_MESSAGE_OUTPUT": "TAP", "XCORE_SYMBOLS": "", "XC_SUITE_RUNS": "1", "XCORE": xcore, "TMPDIR": scratch}


class Running:
    """The running commands, so that an interrupt can kill them."""

    def __init__(self):
        self.lock, self.children, self.ended = threading.Lock(), set(), False

    def add(self, child):
        with self.lock:
            self.children.add(child)
            ended = self.ended
        if ended:
            end(child)

    def remove(self, child):
        with self.lock:
            self.children.discard(child)

    def end_all(self):
        with self.lock:
            self.ended, children = True, list(self.children)
        for child in children:
            end(child)


def end(child):
    """Kills the process group. The command is its leader, because it started a session."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


STEP, MOST = 2, 8  # seconds between two looks at a command; on a busy machine it gets up to so many times its limit


def share():
    """The part of its speed that a command has on this machine now: half of it with two tasks to a processor."""
    return 1 / min(max(os.getloadavg()[0] / os.cpu_count(), 1), MOST)


def watch(child, limit, ended, late):
    """Kills the command when it has had `limit` seconds of an idle machine's time. Sets late."""
    left, last = limit, time.monotonic()
    while not ended.wait(min(STEP, limit)):
        now = time.monotonic()
        left, last = left - (now - last) * share(), now
        if left <= 0:
            late.set()
            end(child)
            return


def run(name, argv, xcore, limit, running):
    """Runs a command and returns its Outcome. On failure, its temporary directory is kept, including the full
    output."""
    scratch = tempfile.mkdtemp(prefix="xc.")
    os.chmod(scratch, 0o711)  # tests share files in it with other users
    log_path, start = os.path.join(scratch, "output"), time.monotonic()
    ended, late = threading.Event(), threading.Event()
    with open(log_path, "w+b") as log:
        try:
            child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                                     env=environment(xcore, scratch), start_new_session=True)
            running.add(child)
            threading.Thread(target=watch, args=(child, limit, ended, late), daemon=True).start()
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = status = os.waitstatus_to_exitcode(status)
            running.remove(child)
            busy = usage.ru_utime + usage.ru_stime
            if late.is_set():
                log.seek(0, os.SEEK_END)
                log.write(b"\nkilled by tests/run: it took more than %d s\n" % limit)
        except OSError as why:
            log.write(("%s\n" % why).encode())
            status, busy = 127, 0.0
        finally:
            ended.set()
        log.seek(0)
        text = log.read().decode(errors="replace")
    outcome = Outcome(name, status if status >= 0 else 128 - status, text, time.monotonic() - start, busy)
    if outcome.good:
        remove(scratch)
    else:
        outcome.kept = scratch
    return outcome


def remove(scratch):
    """Removes a temporary directory, including directories that a test made inaccessible."""
    for folder, _, _ in os.walk(scratch):
        try:
            os.chmod(folder, 0o700)
        except OSError:
            pass
    shutil.rmtree(scratch, ignore_errors=True)
