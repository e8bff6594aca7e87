"""rules: the exceptions files: differences that are known, each by its place and with its reason.

A line is `CASE-GLOB WHAT PATTERN REASON...`; # begins a comment line. What WHAT may be, and what PATTERN is searched in, is said in the head of
the test that reads the file. A `!` behind WHAT: in the cases that the glob names this must occur, and when it does not, that is an error, for then
one of the two debuggers has changed. Without it, it may occur, as where an address or what random expressions are drawn decides."""

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
    """The rules of a file; SystemExit on a line that is not one."""
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
    """The first rule for this kind of difference in this case whose pattern fits; it counts as used."""
    for rule in rules:
        if rule.what == what and fnmatch.fnmatchcase(case, rule.case) and fits(rule.pattern):
            rule.used += 1
            return rule
    return None


def globbed(*subjects):
    """For `find`: whether one of the subjects matches the pattern, a glob."""
    return lambda pattern: any(fnmatch.fnmatchcase(subject, pattern) for subject in subjects)


def unneeded(rules, names):
    """Rules that had to occur in the cases of these names and did not."""
    return [rule for rule in rules if rule.must and not rule.used and any(fnmatch.fnmatchcase(name, rule.case) for name in names)]


def told_unneeded(rules, names):
    """Prints them; returns their number, or 0 when they are of another gdb than this host's."""
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
