"""catalogue: the words that tests/suites.py is written in, and which tests of it are chosen."""

import dataclasses
import fnmatch

TIERS = ("quick", "check", "test", "long")  # each of the first three holds those before it; `long` is apart


@dataclasses.dataclass
class Test:
    """One command. `cores` are cases that corpora/build-BUILDER makes, as BUILDER:GLOB; `tools` are programs that the host may lack."""

    name: str
    command: list
    tier: str = "test"
    cores: tuple = ()
    tools: tuple = ()
    alone: bool = False  # nothing runs beside it: it measures time or takes much memory
    limit: int = 1200  # seconds; a command that takes longer is ended and has failed
    suite: str = ""

    @property
    def path(self):
        return "%s/%s" % (self.suite, self.name)

    def matches(self, pattern):
        return any(fnmatch.fnmatchcase(word, pattern) for word in (self.suite, self.path, self.path.rsplit("/", 1)[-1]))


@dataclasses.dataclass
class Suite:
    """Tests that prove one thing. `proves` and `needs` are for the reader (tests/README.md)."""

    name: str
    proves: str
    tests: list
    needs: str = "gcc"
    takes: str = ""  # seconds of processors in make test, of a machine of 2026

    def __post_init__(self):
        for test in self.tests:
            test.suite = self.name


def chosen(suites, tier, patterns):
    """The tests of a tier that match one of the patterns (all without any). Raises ValueError for a pattern that matches none."""
    names = ("long",) if tier == "long" else TIERS[:TIERS.index(tier) + 1]
    tests = [test for suite in suites for test in suite.tests if test.tier in names]
    for pattern in patterns:
        if not any(test.matches(pattern) for test in tests):
            raise ValueError("no test of tier %s matches %s" % (tier, pattern))
    return [test for test in tests if not patterns or any(map(test.matches, patterns))]
