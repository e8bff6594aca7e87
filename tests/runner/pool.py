"""pool: tests and the cores they need, so many at once; a core is made when the first test needs it, and never twice."""

import threading

import command
from outcome import Outcome


class Job:
    """A core to be made or a test to be run. `waits` are the keys of cores that are not there yet."""

    def __init__(self, key, argv, limit, waits=(), alone=False):
        self.key, self.argv, self.limit, self.waits, self.alone = key, argv, limit, set(waits), alone
        self.state = "waiting"


class Pool:
    """Runs jobs in the order given, as far as what they wait for allows; `ended(job, outcome)` is called for each, one at a time;
    no other job starts when it is false."""

    def __init__(self, tests, cores, count, xcore, ended):
        self.tests, self.cores, self.count, self.xcore, self.ended = tests, cores, count, xcore, ended
        self.changed, self.running, self.stopped = threading.Condition(), command.Running(), False

    def next_job(self):
        """The next one: the first test whose cores are there, else a core of the first test that waits. None: none can start now."""
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
        """Those that run together, then the others one by one. An interrupt ends what runs."""
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
    """The Outcome of a test whose tools are not here; None when all are."""
    missing = [tool for tool in test.tools if not which(tool)]
    return Outcome.skipped(test.path, "%s: there is no %s here" % (test.path, " and no ".join(missing))) if missing else None
