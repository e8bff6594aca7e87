#!/usr/bin/env python3
"""shares_diff.py DIFF.json BEFORE AFTER: compare the differences of two profiles with those that two runs of
tests/live/shares.c measured (BEFORE and AFTER are their accounts).

A difference may be wrong by 3 percentage points, or by four standard deviations where that is more. `vectors` has three
times the quota in the second run, which must be told as more; no other function of the program may be told as more."""
import json
import math
import sys


def shares(path):
    spent = {}
    for line in open(path, encoding="utf-8"):
        words = line.split()
        if len(words) == 2:
            spent[words[0]] = int(words[1])
    return {name: ns / sum(spent.values()) for name, ns in spent.items()}


report = json.load(open(sys.argv[1], encoding="utf-8"))
table = {section["key"]: section["tables"]["functions"] for section in report["sections"]}["total"]
rows = {row["function"]: row for row in table}
before, after = shares(sys.argv[2]), shares(sys.argv[3])
whole = {side: max(row["samples_" + side] for row in table) for side in ("before", "after")}
if min(whole.values()) < 200:
    sys.exit("too few samples to tell: %s" % whole)
bad = 0
for name, share in before.items():
    row, truth = rows[name], after[name] - share
    error = math.sqrt(share * (1 - share) / whole["before"] + after[name] * (1 - after[name]) / whole["after"])
    wrong = abs(row["change"] - truth) > max(0.03, 4 * error) or (row["told"] == "more") != (name == "vectors")
    bad += wrong
    print("%-12s truth %+5.1f %%, shown %+5.1f %%, %s%s" % (name, 100 * truth, 100 * row["change"], row["told"],
                                                          "  WRONG" if wrong else ""))
sys.exit(1 if bad or not before else 0)
