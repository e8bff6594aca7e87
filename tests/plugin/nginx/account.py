"""Shared by the tests of the nginx plugin: the account of a case of corpora/build-nginx, and xcore's answers."""

import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path += [os.path.dirname(HERE), os.path.join(os.path.dirname(HERE), "lib"), os.path.join(ROOT, "corpora", "nginx")]
import ask  # noqa: E402
import cases  # noqa: E402

CASES = os.path.join(ROOT, "build", "nginx")
SERVER = "static-o0"  # these cases, with debug information, are the default


class Account:
    """account.jsonl: the driver's actions and the worker's own report. `seconds` is nginx's maximum age at the end."""

    def __init__(self, directory, seconds=None):
        with open(os.path.join(directory, "account.jsonl"), encoding="utf-8") as stream:
            self.rows = [json.loads(line) for line in stream]
        self.requests = self.all("request")
        self.connections = self.all("connection")
        self.backend = self.one("backend")
        self.seconds = seconds
        if seconds is None:
            with open(os.path.join(directory, "meta.json"), encoding="utf-8") as stream:
                self.seconds = json.load(stream)["seconds"]

    def all(self, what):
        return [row for row in self.rows if row["what"] == what]

    def one(self, what):
        return self.all(what)[-1] if self.all(what) else None

    def coroutines(self):
        """Requests and light threads, by id."""
        return {row["id"]: row for what in ("request-coroutine", "thread-coroutine") for row in self.all(what)}


class Target(ask.Target):
    """Commands belong to the nginx plugin unless they name another."""

    def run(self, command, *args):
        return super().run(command if "." in command or command in ("nginx", "luajit") else "nginx." + command, *args)


def case_target(directory, program="exe"):
    return Target(os.path.join(directory, "core"), "--exe", os.path.join(directory, program))


def names(first, long=False):
    """Names of cases: those of `make test`, or all except the big one."""
    return [case.name for case in cases.chosen(long=True)] if long else first
