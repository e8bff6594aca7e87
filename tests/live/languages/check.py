"""check.py PROFILE SAID: are the shares of functions in a profile (--format json, --top 1000) those that the program says?
Prints them, and what was torn; exits with 1 when one is off by more than 4 %. Of a torn stack the outer functions are
not known: on a machine with other work to do, many are read too late, and that much may be missing. What is not torn
has one of the functions that the program says."""

import json
import sys

MOST = 0.04
SCRIPTS = ("shares", "requests")  # files of programs that say shares; others may have functions of the same names


def said(path):
    found = {}
    for line in open(path, encoding="utf-8"):
        words = line.split()
        if len(words) == 2:
            found.setdefault(words[0], []).append(float(words[1]))
    return {name: sum(shares) / len(shares) for name, shares in found.items()}


def is_of_script(row):
    return row["line"] is None or any(script in row["line"] for script in SCRIPTS)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        sections = {s["key"]: s for s in json.load(file)["sections"]}
    account = sections["profile"]["fields"]
    print("samples %(samples)d, of interpreted languages %(guests)d, torn %(torn)d, lost %(lost)d; %(unwinding)g s for a stack" % account)
    rows = sections["functions"]["tables"]["functions"]
    bad = 0
    torn = account["torn"] / account["samples"]
    told = torn + 1 - account["guests"] / account["samples"]
    for name, share in said(sys.argv[2]).items():
        total = sum(r["total"] for r in rows if r["function"] == name and is_of_script(r))
        print("%-12s said %.3f sampled %.3f" % (name, share, total))
        bad |= abs(total - share) > MOST + torn
        told += total
    bad |= account["guests"] < account["samples"] * 0.9 or told < 0.9 or torn > 0.9
    return int(bad)


sys.exit(main())
