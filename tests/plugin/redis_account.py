"""What redis-server says of itself, read from redis-cli's answers.

A case of the corpora has them beside its core (corpora/recipes/redis.sh); the live test asks for them.
"""

import os
import re
import subprocess
from collections import namedtuple

Key = namedtuple("Key", "database name type encoding memory sampled expires elements first")


def parse_info(text):
    """INFO's answer as a dict of texts."""
    lines = [line.strip() for line in text.splitlines()]
    return dict(line.split(":", 1) for line in lines if ":" in line and not line.startswith("#"))


def parse_clients(text):
    """CLIENT LIST's answer: dicts by id."""
    rows = [dict(word.split("=", 1) for word in line.split()) for line in text.splitlines() if line.strip()]
    return {int(row["id"]): row for row in rows}


def parse_keys(text):
    """The lines of corpora/recipes/redis-keys.lua."""
    keys = []
    for line in text.split("\n"):
        if line:
            database, name, kind, encoding, *numbers = line.split("\t")[:8]
            keys.append(Key(int(database), name, kind, encoding, *map(int, numbers), line.split("\t")[8:]))
    return keys


def parse_slowlog(text):
    """SLOWLOG GET's answer: {id: (time, microseconds)}. An argument may have several lines, so entries are known by what
    begins one: three numbers."""
    found = {}
    for match in re.finditer(r"^(\d+)\n(\d{10})\n(\d+)\n", text, re.M):
        found[int(match[1])] = (int(match[2]), int(match[3]))
    return found


class Account:
    """The account in a case's directory."""

    def __init__(self, directory):
        self.directory = directory
        self.info = parse_info(self.text("info"))
        self.clients = parse_clients(self.text("clients"))
        self.keys = parse_keys(self.text("keys"))
        self.slowlog = parse_slowlog(self.text("slowlog"))
        self.sizes = {int(a[2:]): int(b) for a, b in (line.split() for line in self.text("dbsize").splitlines())}

    def text(self, name):
        with open(os.path.join(self.directory, name + ".txt"), encoding="utf-8", errors="replace") as f:
            return f.read()

    def types(self):
        """{(type, encoding): count} of database 0."""
        rows = (line.split() for line in self.text("types").splitlines())
        return {(kind, encoding): int(count) for kind, encoding, count in rows}


class Cli:
    """redis-cli on a socket; `take` asks for the same account."""

    def __init__(self, program, socket):
        self.command = [program, "-s", socket]

    def __call__(self, *args, database=0):
        done = subprocess.run(self.command + ["-n", str(database)] + [str(a) for a in args], capture_output=True, timeout=60,
                              check=False)
        return done.stdout.decode("utf-8", "replace")

    def take(self, directory, keys_script, databases):
        os.makedirs(directory, exist_ok=True)

        def keep(name, text):
            with open(os.path.join(directory, name + ".txt"), "w", encoding="utf-8") as f:
                f.write(text)

        keep("keys", "".join(self("eval_ro", keys_script, 0, 1000000, db, database=db) for db in databases))
        keep("dbsize", "".join(f"db{db} {self('dbsize', database=db)}" for db in databases))
        keep("info", self("info", "everything"))
        keep("clients", self("client", "list"))
        keep("slowlog", self("slowlog", "get", 128))
        return Account(directory)
