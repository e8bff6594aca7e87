"""outcome: the result of one test command, from its output and exit status."""

import re

CLOSING = re.compile(r"^(?:.*: )?(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$")
TAP_SKIP = re.compile(r"^(?:not )?ok \d+ -? ?(.*?)(?: in \d+ms)?\s*# SKIP:?\s*(.*)$", re.IGNORECASE)
TAP_REASON = re.compile(r"^# skip reason: (.*)$")
SAID_SKIP = re.compile(r"^skipped: (.*)$")
TIMED = re.compile(r"^(?:not )?ok \d+ (.*) in (\d+)ms$")
TAIL = 60  # lines of a failed command that are shown


class Outcome:
    """Counts of one command. `status` is a shell exit status; `skips` are texts "what: reason"."""

    def __init__(self, name, status=0, output="", seconds=0.0, busy=0.0):
        self.name, self.status, self.seconds, self.busy = name, status, seconds, busy
        self.lines = output.splitlines()
        self.kept = None  # the folder with the files of a failure
        self.passed, self.failed, self.skips = self.counts()

    def counts(self):
        """Counts from TAP if there is any, else from the last closing line, else from the exit status."""
        skips = list(self.tap_skips())
        good, bad = (sum(line.startswith(word) and not TAP_SKIP.match(line) for line in self.lines) for word in ("ok ", "not ok "))
        if good + bad + len(skips) == 0:
            closing = [found for found in map(CLOSING.match, self.lines) if found]
            if closing:
                good, bad = int(closing[-1].group(1)), int(closing[-1].group(2))
                skips = [found.group(1) for found in map(SAID_SKIP.match, self.lines) if found]
                skips += ["without a reason"] * (int(closing[-1].group(3) or 0) - len(skips))
            else:
                good = int(self.status == 0)
        return good, bad or int(self.status != 0), skips

    def tap_skips(self):
        """The skipped tests with reasons. cmocka prints the reason on a line before the skip, and the test's name in
        place of the reason."""
        reason = "without a reason"
        for line in self.lines:
            told, found = TAP_REASON.match(line), TAP_SKIP.match(line)
            reason = told.group(1) if told else reason
            if found:
                name, said = found.groups() if found.group(1) else (found.group(2), "")
                yield "%s: %s" % (name, said or reason)
                reason = "without a reason"

    @classmethod
    def skipped(cls, name, reason):
        """A test that cannot run here."""
        one = cls(name)
        one.passed, one.skips = 0, [reason]
        return one

    @property
    def good(self):
        return self.failed == 0

    def account(self):
        """The last lines of a failed command's output, without passed tests."""
        return [line for line in self.lines if not line.startswith("ok ")][-TAIL:]

    def cases(self):
        """(seconds, name) of the cases that report their time."""
        for found in filter(None, map(TIMED.match, self.lines)):
            yield int(found.group(2)) / 1000, found.group(1)
