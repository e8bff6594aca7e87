"""catalogue: the classes used by tests/suites.py, and the selection of tests."""

import dataclasses
import fnmatch

TIERS = ("quick", "check", "test", "long")  # `check` includes `quick`, `test` includes both; `long` is separate


@dataclasses.dataclass
class Test:
    """One command. `cores` are cases of corpora/build-BUILDER, as BUILDER:GLOB. `tools` are programs that the host may
    lack."""

    name: str
    command: list
    tier: str = "test"
    cores: tuple = ()
    tools: tuple = ()
    alone: bool = False  # runs with no other test: it measures time or needs much memory
    limit: int = 0  # seconds, else the tier's; a command that takes longer is killed and fails
    suite: str = ""

    def __post_init__(self):
        self.limit = self.limit or (1200 if self.tier == "long" else 400)

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
    takes: str = ""  # seconds of all jobs in make test

    def __post_init__(self):
        for test in self.tests:
            test.suite = self.name


def chosen(suites, tier, patterns):
    """The tests of a tier that match a pattern, or all if there are no patterns. Raises ValueError if a pattern matches
    no test."""
    names = ("long",) if tier == "long" else TIERS[:TIERS.index(tier) + 1]
    tests = [test for suite in suites for test in suite.tests if test.tier in names]
    for pattern in patterns:
        if not any(test.matches(pattern) for test in tests):
            raise ValueError("no test of tier %s matches %s" % (tier, pattern))
    return [test for test in tests if not patterns or any(map(test.matches, patterns))]
