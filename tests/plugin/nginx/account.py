"""What the tests of the nginx plugin share: the account of a case of corpora/build-nginx, and xcore's answers."""

import glob
import json
import os
import re
import subprocess
import sys

PLUGIN = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.dirname(os.path.dirname(PLUGIN))
sys.path.append(PLUGIN)  # damage.py
CASES = os.path.join(ROOT, "build", "nginx")
PLUGINS = os.path.join(ROOT, "plugins")
XCORE = os.environ.get("XCORE", os.path.join(ROOT, "build", "release", "xcore"))


# What a whole target has given no cause to: the plugin is wrong.
MISTAKE = re.compile(r"cannot be read[^}]*(?:attempt to|bad argument|has no ')[^}]*")


class Account:
    """account.jsonl: what the driver did, and what the worker said of itself."""

    def __init__(self, directory):
        with open(os.path.join(directory, "account.jsonl"), encoding="utf-8") as stream:
            self.rows = [json.loads(line) for line in stream]
        self.requests = self.all("request")
        self.connections = self.all("connection")
        self.backend = self.one("backend")

    def all(self, what):
        return [row for row in self.rows if row["what"] == what]

    def one(self, what):
        return self.all(what)[-1] if self.all(what) else None

    def coroutines(self):
        """Of requests and light threads, by id."""
        return {row["id"]: row for what in ("request-coroutine", "thread-coroutine") for row in self.all(what)}


class Target:
    """A core or a process, and what xcore says of it."""

    def __init__(self, target, *options, whole=True):
        self.target, self.options = target, list(options)
        self.whole = whole and not target.startswith("pid:") # what runs changes while it is read

    def run(self, command, *args, timeout=60):
        words = [XCORE, "run", "--plugin-path", PLUGINS, "--format", "json", *self.options, command, self.target, *args]
        done = subprocess.run(words, capture_output=True, timeout=timeout, check=False)
        if done.returncode != 0:
            raise RuntimeError("%s: exit %d: %s" % (command, done.returncode, done.stderr.decode(errors="replace")[:600]))
        mistake = self.whole and MISTAKE.search(done.stdout.decode())
        if mistake:
            raise RuntimeError("%s: %s" % (command, mistake[0]))
        return json.loads(done.stdout)

    def script(self, code, timeout=60):
        """What a script prints."""
        done = subprocess.run([XCORE, "run", "--plugin-path", PLUGINS, *self.options, "-e", code, self.target], capture_output=True,
                              timeout=timeout, check=True)
        return done.stdout.decode()

    def flame(self, kind, timeout=60):
        """Paths of a flame graph, the outermost first, and their weights."""
        done = subprocess.run([XCORE, "flame", "--plugin-path", PLUGINS, *self.options, kind, self.target], capture_output=True,
                              timeout=timeout, check=False)
        if done.returncode != 0:
            raise RuntimeError("%s: exit %d: %s" % (kind, done.returncode, done.stderr.decode(errors="replace")[:600]))
        lines = [line.rpartition(" ") for line in done.stdout.decode().splitlines()]
        return [(path.split(";"), int(weight)) for path, _, weight in lines]

    def section(self, command, key, *args):
        for section in self.run(command, *args)["sections"]:
            if section["key"] == key:
                return section
        raise RuntimeError("%s has no section %s" % (command, key))

    def table(self, command, key, table, *args):
        return self.section(command, key, *args).get("tables", {}).get(table, [])


def case_target(directory):
    return Target(os.path.join(directory, "core"), "--exe", os.path.join(directory, "exe"))


def cases(only="*"):
    """Folders of built cases whose nginx has debug information."""
    found = []
    for meta in sorted(glob.glob(os.path.join(CASES, only, "meta.json"))):
        with open(meta, encoding="utf-8") as stream:
            if json.load(stream)["server"] != "packaged":
                found.append(os.path.dirname(meta))
    return found


class Plan:
    """TAP."""

    def __init__(self):
        self.count = self.bad = 0

    def check(self, name, claim, *args):
        """A claim gives complaints; what it raises is one."""
        try:
            complaints = list(claim(*args))
        except (RuntimeError, KeyError, IndexError, ValueError, TypeError, AttributeError, OSError, subprocess.SubprocessError) as why:
            complaints = [repr(why)]
        self.count += 1
        self.bad += bool(complaints)
        print("%sok %d - %s" % ("not " if complaints else "", self.count, name), flush=True)
        for complaint in complaints[:10]:
            print("# " + str(complaint)[:1000])

    def skip(self, name, why):
        self.count += 1
        print("ok %d - %s # SKIP %s" % (self.count, name, why))

    def end(self):
        print("1..%d" % self.count)
        return 1 if self.bad else 0
