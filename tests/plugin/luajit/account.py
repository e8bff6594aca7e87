"""Shared by the tests of the luajit plugin: cases of corpora/build-luajit with their accounts, and xcore's answers."""

import atexit
import functools
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path += [os.path.dirname(HERE), os.path.join(os.path.dirname(HERE), "lib"), os.path.join(ROOT, "corpora", "luajit")]
import ask  # noqa: E402
import cases  # noqa: E402

CASES = os.path.join(ROOT, "build", "luajit")
TAKE_CORE = os.path.join(ROOT, "corpora", "take-core")
ENGINES = list(cases.FIRST)  # used by `make test`
LONG_ENGINES = [*cases.FIRST, *cases.LONG]
EMPTY = tempfile.TemporaryDirectory()
atexit.register(EMPTY.cleanup)


def names(long=False):
    """Names of cases: those of `make test`, or all except the big ones."""
    return [case.name for case in cases.chosen(long=long)]


def files_of(case, exe):
    """Options for the program's file. The stripped one has no libraries, because inside.so contains LuaJIT's debug
    information."""
    return ["--exe", os.path.join(case, exe)] + (["--sysroot", EMPTY.name] if exe == "stripped" else [])


@functools.lru_cache(None)
def target_of(case, exe="exe"):
    """A case's core with one of its programs. Answers obtained ahead are kept."""
    return ask.Target(os.path.join(case, "core"), *files_of(case, exe))


def case_run(case, command, *arguments, exe="exe"):
    return target_of(case, exe).run("luajit." + command, *arguments)


def section_of(case, command, *arguments, exe="exe"):
    return case_run(case, command, *arguments, exe=exe)["sections"][0]


def account_of(case):
    with open(os.path.join(case, "account.jsonl"), encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def meta_of(case):
    with open(os.path.join(case, "meta.json"), encoding="utf-8") as stream:
        return json.load(stream)


class NoEngine(Exception):
    """Whether it cannot be built on this host for reasons outside the tests."""


def engine_of(name, program="engine"):
    """The folder of a LuaJIT built by corpora/luajit/engine, or of one for another machine (foreign)."""
    done = subprocess.run([os.path.join(ROOT, "corpora", "luajit", program), name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode == 3:
        raise NoEngine(done.stderr.decode(errors="replace").strip().splitlines()[-1])
    if done.returncode != 0:
        raise RuntimeError("%s %s: %s" % (program, name, done.stderr.decode(errors="replace")[-2000:]))
    return done.stdout.decode().strip()
