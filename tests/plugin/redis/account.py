"""redis-server's report about itself, and xcore's answers about it.

A case of the corpora has the account next to its core (corpora/recipes/redis-drive.py); the live test requests it."""

import json
import os
import subprocess
import sys
from collections import namedtuple

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.dirname(HERE), os.path.join(os.path.dirname(HERE), "lib")]
import ask  # noqa: E402

sys.path.append(os.path.join(ask.ROOT, "corpora", "recipes"))
import redis_talk as talk  # noqa: E402

CORPORA = os.path.join(ask.ROOT, "build", "corpora")
Key = namedtuple("Key", "database name type encoding memory sampled expires elements first")
Slow = namedtuple("Slow", "time microseconds words addr name")


def parse_keys(text):
    """The lines of corpora/recipes/redis-keys.lua."""
    keys = []
    for line in text.split("\n"):
        if line:
            database, name, kind, encoding, *numbers = line.split("\t")[:8]
            keys.append(Key(int(database), name, kind, encoding, *map(int, numbers), line.split("\t")[8:]))
    return keys


class Account:
    """The account in a folder."""

    def __init__(self, directory):
        self.directory = directory
        self.info = talk.parse_info(self.text("info.txt"))
        self.clients = talk.parse_clients(self.text("clients.txt"))
        self.keys = parse_keys(self.text("keys.txt"))
        self.slowlog = {number: Slow(*row) for number, *row in json.loads(self.text("slowlog.json"))}
        self.sizes, self.slots = self.by_database("dbsize.txt"), self.by_database("slots.txt")

    def text(self, name):
        with open(os.path.join(self.directory, name), newline="", **talk.TEXT) as f:
            return f.read()

    def by_database(self, name):
        return {int(a[2:]): int(b) for a, b in (line.split() for line in self.text(name).splitlines())}

    def at_rest(self):
        """Whether no client continued to work after the account."""
        return not [row for row in self.clients.values() if row["name"] == "reader"]


class Target(ask.Target):
    """Questions are tuples of a plugin command and its arguments."""

    def answer(self, question):
        return self.run("redis." + question[0], *question[1:])

    def ask(self, questions):
        """Asks all in one process; answer() has the results then."""
        self.ahead(*(("redis." + question[0], *question[1:]) for question in questions))
        return self

    def alone(self, question):
        """The answer of a separate process."""
        return Target(self.target, *self.options, whole=self.whole).answer(question)

    def folded(self):
        return ask.xcore("flame", "redis.memory", "--as", "folded", *self.words(), self.target)

    def analyze(self):
        return json.loads(ask.xcore("analyze", "--format", "json", *self.words(), self.target))


def compress(core, packed):
    subprocess.run(["zstd", "-q", "-f", "-1", core, "-o", packed], check=True, timeout=120)
    return packed


def case(name):
    """A case of the corpora: its core and its account."""
    directory = os.path.join(CORPORA, name)
    return Target(os.path.join(directory, "core"), "--exe", os.path.join(directory, "exe")), Account(directory)
