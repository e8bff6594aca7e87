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
    the output."""
    env = {name: value for name, value in os.environ.items() if not OF_THE_HOST.match(name)}
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


def run(name, argv, xcore, limit, running):
    """Runs a command and returns its Outcome. On failure, its temporary directory is kept, including the full
    output."""
    scratch = tempfile.mkdtemp(prefix="xc.")
    os.chmod(scratch, 0o711)  # tests share files in it with other users
    log_path, start = os.path.join(scratch, "output"), time.monotonic()
    timer = None
    with open(log_path, "w+b") as log:
        try:
            child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                                     env=environment(xcore, scratch), start_new_session=True)
            running.add(child)
            late = []
            timer = threading.Timer(limit, lambda: (late.append(True), end(child)))
            timer.start()
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = status = os.waitstatus_to_exitcode(status)
            running.remove(child)
            busy = usage.ru_utime + usage.ru_stime
            if late:
                log.seek(0, os.SEEK_END)
                log.write(b"\nkilled by tests/run: it took more than %d s\n" % limit)
        except OSError as why:
            log.write(("%s\n" % why).encode())
            status, busy = 127, 0.0
        finally:
            if timer:
                timer.cancel()
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
