"""The cases of the corpora for a test of this folder, its options, and its report.

By default a test takes the cases in chosen.py; with --long those of all programs and recipes; --only GLOB selects
some of the existing ones. A case whose builder left a file `skipped` is skipped with that reason. A required case
that is missing has failed."""

import argparse
import fnmatch
import json
import os
import shutil
import sys
from collections import Counter

import chosen

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
FILES = ("--exe", "--debug-dir", "--sysroot")


class Case:
    """One directory of the corpora."""

    def __init__(self, directory):
        with open(os.path.join(directory, "meta.json"), encoding="utf-8") as stream:
            self.meta = meta = json.load(stream)
        self.dir = directory
        self.name = meta["name"]
        self.core = os.path.join(directory, meta["core"])
        self.exe = os.path.join(directory, meta["exe"])
        before = [""] + meta.get("options", [])
        self.options = [os.path.join(directory, word) if option in FILES else word for option, word in zip(before, before[1:])]
        self.tags = meta.get("tags", [])
        self.foreign = "foreign" in self.tags
        self.long = "long" in self.tags or "schema" not in meta and self.name.endswith("-big")
        self.alone = bool({"facts", "alone"} & set(self.tags))
        self.counts = Counter()
        self.error = None
        self.findings = []

    def option_values(self, name):
        """Values of an option in meta.json."""
        return [value for option, value in zip(self.options, self.options[1:]) if option == name]

    @property
    def files(self):
        """The program and the core as xcore's arguments, with the options for the files beside them."""
        return [self.core] + self.options + ([] if "--exe" in self.options else ["--exe", self.exe])


def walk(out):
    """The folders of all cases. A case inside another is the same case with its debug information in another form (see
    forms)."""
    for directory, below, files in os.walk(out):
        if "meta.json" in files or "skipped" in files:
            yield directory
            below.clear()


def picks(name, names, globs):
    return name in names if names is not None else not globs or any(fnmatch.fnmatchcase(name, glob) for glob in globs)


class Chosen:
    """The cases of one run of a test: selected, skipped, missing."""

    def __init__(self, test, options, wanted=lambda case: True):
        self.skipped, self.missing = {}, []
        names = None if options.only else chosen.names(test, options.long)
        found = {os.path.basename(directory): directory for directory in sorted(walk(options.out))}
        if not options.only:
            self.missing = [name for name in chosen.required(test, options.long) if name not in found]
        cases = [self.case(name, directory) for name, directory in found.items() if picks(name, names, options.only)]
        cases = [case for case in cases if case and (names is not None or options.only or wanted(case))]
        self.cases = [case for case in cases if not self.lacks_gdb(case)]

    def case(self, name, directory):
        skipped = os.path.join(directory, "skipped")
        if not os.path.exists(skipped):
            return Case(directory)
        with open(skipped, encoding="utf-8") as stream:
            self.skipped[name] = stream.read().strip()
        return None

    def lacks_gdb(self, case):
        gdb = "gdb-multiarch" if case.foreign else "gdb"
        if shutil.which(gdb):
            return False
        self.skipped[case.name] = "no " + gdb
        return True

    def close(self, passed, failed):
        """Prints the skipped and missing cases and the closing line; returns the exit status."""
        for name, reason in sorted(self.skipped.items()):
            print("skipped: %s: %s" % (name, reason))
        for name in self.missing:
            print("FAILED %s: missing: build it with corpora/build-programs or corpora/build-recipes" % name)
        failed += len(self.missing)
        if not passed and not failed and not self.skipped:
            print("FAILED: nothing was looked at")
            failed = 1
        print("%d passed, %d failed%s" % (passed, failed, ", %d skipped" % len(self.skipped) if self.skipped else ""))
        return 1 if failed else 0


def parser(doc):
    """The options of all tests of this folder."""
    made = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--out", default=os.path.join(ROOT, "build", "corpora"), help="the corpora")
    made.add_argument("--only", action="append", metavar="GLOB", help="cases whose name matches one of these")
    made.add_argument("--long", action="store_true", help="all programs and recipes")
    made.add_argument("--xcore", default=os.environ.get("XCORE", os.path.join(ROOT, "build", "release", "xcore")))
    made.add_argument("-j", type=int, default=2, help="cases at once")
    return made


def parse(made):
    options = made.parse_args()
    options.out, options.xcore = os.path.abspath(options.out), os.path.abspath(options.xcore)
    options.keep = os.path.join(ROOT, "build", "diff")
    os.makedirs(options.keep, exist_ok=True)
    return options


def keep_findings(options, name, lines):
    with open(os.path.join(options.keep, name), "w", encoding="utf-8") as stream:
        stream.writelines(line + "\n" for line in lines)


def show_some(lines, shown):
    """The first of them, and how many more there are."""
    for line in lines[:shown]:
        print("    " + line[:400])
    if len(lines) > shown:
        print("    ... and %d more" % (len(lines) - shown))
    sys.stdout.flush()
