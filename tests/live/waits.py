#!/usr/bin/env python3
"""waits.py PROFILE.json ACCOUNT: compare the waits of a profile with those that tests/live/waits.c measured.

The share of each function among them may differ by 3 percentage points; each waits for what it is known to wait for. Prints
a line for each."""
import json
import sys

WHAT = {"wait_mutex": "mutex `treasure`", "wait_pipe": "read from descriptor ", "wait_timer": "sleep",
        "wait_condition": "condition `bell`", "wait_socket": "poll on 1 descriptor", "wait_short": "sleep"}

report = json.load(open(sys.argv[1], encoding="utf-8"))
sections = {section["key"]: section for section in report["sections"]}
account = sections["profile"]["fields"]
total = {row["function"]: row["total"] for row in sections["functions"]["tables"]["functions"]}
spent = {}
for line in open(sys.argv[2], encoding="utf-8"):
    words = line.split()
    if len(words) == 2:
        spent[words[0]] = int(words[1])
print(account)
told = [row["what"] for row in sections["waits"]["tables"]["waits"]]
print(told)
shown = {name: total.get(name, 0) for name in spent}
asleep = total.get("sleeper", 0) * account["samples"] / 99
print("a thread that sleeps all the time: %.1f s of %.1f" % (asleep, account["seconds"]))
bad = [] if abs(asleep - account["seconds"]) < 0.2 else ["sleeper"]
bad += [name for name, what in WHAT.items() if not any(text.startswith(what) for text in told)]
for name in spent:
    truth, share = spent[name] / sum(spent.values()), shown[name] / (sum(shown.values()) or 1)
    print("%-16s truth %5.1f %%, shown %5.1f %%" % (name, 100 * truth, 100 * share))
    if abs(truth - share) > 0.03:
        bad.append(name)
if account["samples"] < 1000 or not any("pipe:[" in text and "(at the start)" in text for text in told):
    bad.append("samples, or the pipe")
threads = sections["threads"]["tables"]["threads"]
if sum(row["samples"] for row in threads) != account["samples"]:
    bad.append("the sum of the threads: %s" % threads)
if bad or len(spent) != len(WHAT):
    sys.exit("wrong: %s" % bad)
