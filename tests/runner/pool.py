"""pool: runs tests and builds their cores in parallel. A core is built once, when the first test needs it."""

import threading

import command
from outcome import Outcome


class Job:
    """A core to build or a test to run. `waits` are the keys of cores that are not built yet."""

    def __init__(self, key, argv, limit, waits=(), alone=False):
        self.key, self.argv, self.limit, self.waits, self.alone = key, argv, limit, set(waits), alone
        self.state = "waiting"


class Pool:
    """Runs jobs in the given order, as their dependencies allow. Calls `ended(job, outcome)` for each job, one call at
    a time; if it returns false, no further job starts."""

    def __init__(self, tests, cores, count, xcore, ended):
        self.tests, self.cores, self.count, self.xcore, self.ended = tests, cores, count, xcore, ended
        self.changed, self.running, self.stopped = threading.Condition(), command.Running(), False

    def next_job(self):
        """The first test if its cores are built, else a core it waits for, else the same for the next test. None if no
        job can start now."""
        for test in self.tests:
            if test.state != "waiting" or (test.alone and self.together_left()):
                continue
            missing = [self.cores[key] for key in sorted(test.waits) if self.cores[key].state != "done"]
            if not missing:
                return test
            for core in missing:
                if core.state == "waiting":
                    return core
        return None

    def together_left(self):
        return any(test.state != "done" for test in self.tests if not test.alone)

    def worker(self, alone):
        while True:
            with self.changed:
                job = None
                while not self.stopped and self.left(alone):
                    job = self.next_job()
                    if job and (not alone or job.alone or job.key in self.cores):
                        break
                    job = None
                    self.changed.wait()
                if job is None:
                    return
                job.state = "running"
            outcome = command.run(job.key, job.argv, self.xcore, job.limit,
                                  self.running)
            with self.changed:
                job.state = "done"
                if not self.stopped and not self.ended(job, outcome):
                    self.stopped = True
                    self.running.end_all()
                self.changed.notify_all()

    def left(self, alone):
        return any(test.state == "waiting" for test in self.tests if test.alone == alone)

    def run(self):
        """Runs the parallel tests, then the others one by one. An interrupt kills the running commands."""
        try:
            for alone, count in ((False, self.count), (True, 1)):
                threads = [threading.Thread(target=self.worker, args=(alone,), daemon=True) for _ in range(count)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    while thread.is_alive():
                        thread.join(0.2)
        finally:
            with self.changed:
                self.stopped = True
                self.changed.notify_all()
            self.running.end_all()


def missing_tool(test, which):
    """The Outcome of a test whose tools are missing; None if none is missing."""
    missing = [tool for tool in test.tools if not which(tool)]
    return Outcome.skipped(test.path, "%s: there is no %s here" % (test.path, " and no ".join(missing))) if missing else None
