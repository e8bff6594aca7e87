#!/usr/bin/env python3
"""check.py PROFILE SAID [--of-told] [--spins]: has each value of a profile's dimension (--format json, --top 1000) the share that is said?

SAID has lines of a value and what it has spent; "-" is what is of none. --of-told: what was not read is left out of the
profile, and what is of none out of both. Exits with 1 where a share is off by more than 4 %; on a machine with other work
to do, much may be not read, of long requests less: by as much it may be off in addition. --spins: the program would use
a whole processor; where it got less, what is read after a sample is read later, and a share may be off by another
4 %."""

import json
import sys

MOST = 0.04


def said(path):
    found = {}
    for line in open(path, encoding="utf-8"):
        words = line.split()
        if len(words) == 2 and words[1].isdigit():
            found["(none)" if words[0] == "-" else words[0]] = int(words[1])
    return found


def is_whole(account):
    """Whether the program got a whole processor; the account may not know."""
    return isinstance(account["cpu"], (int, float)) and account["cpu"] >= 0.95 * account["seconds"]


def main():
    sections = {s["key"]: s for s in json.load(open(sys.argv[1], encoding="utf-8"))["sections"]}
    values = {row["value"]: row["samples"] for row in sections["values"]["tables"]["values"]}
    truth, account = said(sys.argv[2]), sections["profile"]["fields"]
    if sum(values.values()) != account["samples"]:
        sys.exit("the values have other sums: %s, of %s" % (values, account["samples"]))
    missing = values.get("(not read)", 0) / max(account["samples"], 1)
    print("%d samples, not read %.3f" % (account["samples"], missing))
    late = MOST if "--spins" in sys.argv and not is_whole(account) else 0
    if "--of-told" in sys.argv:
        for one in ("(none)", "(not read)"):
            values.pop(one, None)
            truth.pop(one, None)
    bad = not truth or sum(values.values()) < 50
    for name, spent in truth.items():
        share, shown = spent / sum(truth.values()), values.get(name, 0) / max(sum(values.values()), 1)
        print("%-16s said %.3f sampled %.3f" % (name, share, shown))
        bad |= abs(share - shown) > MOST + missing + late
    for name in values.keys() - truth.keys() - {"(not read)", "(none)", "(no location)"}:
        print("nobody said %s: %d samples" % (name, values[name]))
        bad = True
    return int(bad)


sys.exit(main())
