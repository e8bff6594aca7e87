"""memory: state of earlier runs in this checkout: each test's time, and the tests that passed in an interrupted run."""

import hashlib
import json
import os
import subprocess


def load(path, default):
    try:
        with open(path, encoding="utf-8") as stream:
            value = json.load(stream)
        return value if isinstance(value, type(default)) else default
    except (OSError, ValueError):
        return default


def store(path, value):
    temporary = "%s.%d" % (path, os.getpid())
    try:
        with open(temporary, "w", encoding="utf-8") as stream:
            json.dump(value, stream, indent=0, sort_keys=True)
        os.replace(temporary, path)
    except OSError:
        pass  # only the order of the next run, or --resume, depends on it


class Seconds:
    """The time of each test in its last run."""

    def __init__(self, root):
        self.path = os.path.join(root, "build", ".tests.seconds")
        self.known = {key: value for key, value in load(self.path, {}).items() if isinstance(value, (int, float))}

    def of(self, key):
        """Unknown tests count as slow."""
        return self.known.get(key, float("inf"))

    def keep(self, outcomes):
        self.known.update((one.name, round(one.seconds, 2)) for one in outcomes if not one.skips or one.passed)
        store(self.path, self.known)


def sources(root, tier):
    """A digest of the working tree."""
    digest = hashlib.sha256(tier.encode())
    for words in (["rev-parse", "HEAD"], ["diff", "HEAD"]):
        done = subprocess.run(["git", *words], cwd=root, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        digest.update(done.stdout)
    return digest.hexdigest()


class Passed:
    """The tests that passed in an interrupted run, for --resume. Valid only for the same sources."""

    def __init__(self, root, tier):
        self.path = os.path.join(root, "build", ".tests.passed")
        self.counts, self.sources = {}, sources(root, tier)

    def resume(self):
        kept = load(self.path, {})
        if kept.get("sources") == self.sources:
            self.counts = kept.get("counts", {})

    def add(self, outcome):
        if outcome.good:
            self.counts[outcome.name] = [outcome.passed, outcome.skips]
            store(self.path, {"sources": self.sources, "counts": self.counts})

    def done(self):
        try:
            os.remove(self.path)
        except OSError:
            pass
