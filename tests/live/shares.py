#!/usr/bin/env python3
"""shares.py PROFILE.json ACCOUNT SUMS: compare the shares of a profile with those that tests/live/shares.c measured.

A share may differ by 3 percentage points, at 3,000 samples; with fewer the bound is four standard deviations, which is
wider. Hardly a stack breaks off (in rt_sigreturn it does); of all calls with the same file SUMS, at most 1 % of the
stacks are cut. On a busy host the outer part of deep stacks is read later, perhaps when a short-lived thread has ended,
and more may be cut or break off. Prints a line for each."""
import json
import math
import sys

report = json.load(open(sys.argv[1], encoding="utf-8"))
sections = {section["key"]: section for section in report["sections"]}
account = sections["profile"]["fields"]
table = sections["functions"]["tables"]["functions"]
total = {row["function"]: row["total"] for row in table}
spent = {}
for line in open(sys.argv[2], encoding="utf-8"):
    words = line.split()
    if len(words) == 2:
        spent[words[0]] = int(words[1])
samples, whole, bad = account["samples"], sum(spent.values()), 0
print("%d samples; %s" % (samples, {key: account[key] for key in ("lost", "cut", "broken", "read_later", "in_kernel")}))
for name, ns in spent.items():
    truth, shown = ns / whole, total.get(name, 0)
    bound = max(0.03, 4 * math.sqrt(truth * (1 - truth) / max(samples, 1)))
    wrong = abs(shown - truth) > bound
    bad += wrong
    print("%-12s truth %5.1f %%, shown %5.1f %%%s" % (name, 100 * truth, 100 * shown, "  WRONG" if wrong else ""))
if samples < 200:
    sys.exit("too few samples to tell: %d" % samples)
threads = sections["threads"]["tables"]["threads"]
if sum(row["samples"] for row in threads) != samples:
    sys.exit("the threads have other sums: %s" % threads)
busy = account["cpu"] < 0.95 * account["seconds"]  # the program would use a whole processor
if account["broken"] > (0.01 if busy else 0.001) * samples or account["cut"] > (0.25 if busy else 0.05) * samples:
    sys.exit("%d of %d stacks cut, %d broken off" % (account["cut"], samples, account["broken"]))
if not spent or bad:
    sys.exit("%d wrong shares" % bad)

# Each call adds a line to the sums; chance evens out over them.
with open(sys.argv[3], "a", encoding="utf-8") as stream:
    stream.write("%d %d\n" % (account["cut"], samples))
sums = [sum(column) for column in zip(*(map(int, line.split()) for line in open(sys.argv[3], encoding="utf-8")))]
print("%d of %d stacks cut so far%s" % (*sums, ", on a busy machine" if busy else ""))
if sums[1] > 6000 and not busy and sums[0] > 0.01 * sums[1]:
    sys.exit("too many stacks cut")
