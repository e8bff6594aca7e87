"""rules: the exceptions files: known differences, each with its place and its reason.

A line is `CASE-GLOB WHAT PATTERN REASON...`; # starts a comment line. The docstring of the test that reads the file
defines WHAT and the subject of PATTERN. With a `!` after WHAT, the difference must occur in the cases that match
the glob; if it does not, one of the two debuggers has changed, which is an error. Without it, the difference may
occur, for example when it depends on an address or on random expressions."""

import fnmatch
import os
import subprocess
import sys

CHECKED_WITH = "13."  # the gdb of which the rows marked `!` are true


class Rule:
    def __init__(self, number, case, what, pattern, reason, file=""):
        self.file, self.number, self.case, self.pattern, self.reason, self.used = file, number, case, pattern, reason, 0
        self.what, self.must = what.removesuffix("!"), what.endswith("!")

    def __str__(self):
        return "%s %s %s" % (self.case, self.what, self.pattern)


def load(path, whats):
    """The rules of a file; SystemExit for an invalid line."""
    rules = []
    with open(path, encoding="utf-8") as stream:
        for number, line in enumerate(stream, 1):
            words = line.split(None, 3)
            if not words or line.startswith("#"):
                continue
            rule = Rule(number, *words, os.path.basename(path)) if len(words) == 4 else None
            if not rule or rule.what not in whats:
                sys.exit("%s:%d: want CASE-GLOB %s PATTERN REASON" % (path, number, "|".join(whats)))
            rules.append(rule)
    return rules


def find(rules, case, what, fits):
    """The first rule for this kind of difference in this case whose pattern matches; it is marked as used."""
    for rule in rules:
        if rule.what == what and fnmatch.fnmatchcase(case, rule.case) and fits(rule.pattern):
            rule.used += 1
            return rule
    return None


def globbed(*subjects):
    """A test for `find`: does one of the subjects match the pattern, a glob?"""
    return lambda pattern: any(fnmatch.fnmatchcase(subject, pattern) for subject in subjects)


def unneeded(rules, names):
    """Rules that had to occur in these cases and did not."""
    return [rule for rule in rules if rule.must and not rule.used and any(fnmatch.fnmatchcase(name, rule.case) for name in names)]


def told_unneeded(rules, names):
    """Prints them; returns their number, or 0 when they are for another gdb than this host's."""
    left = unneeded(rules, names)
    for rule in left:
        print("%s:%d: not needed any more: %s" % (rule.file, rule.number, rule))
    if left and not gdb_version().startswith(CHECKED_WITH):
        print("(these rows are true of gdb %s, this is gdb %s)" % (CHECKED_WITH.rstrip("."), gdb_version()))
        return 0
    return len(left)


def gdb_version():
    told = subprocess.run(["gdb", "--version"], stdout=subprocess.PIPE, check=True).stdout.decode()
    return told.splitlines()[0].split()[-1]
