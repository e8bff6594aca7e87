#!/usr/bin/env python3
"""waits.py PROFILE.json ACCOUNT [looks|polled]: compare the waits of a profile with those that tests/live/waits.c measured.

The share of each function among them may differ by 3 percentage points; each waits for what it is known to wait for, the
mutex with its holder. looks: those who wait are looked at meanwhile, and short waits are only counted; polled: there are
no perf events at all, and on a busy host every look may come when a short wait is over: then it is counted, too. Prints a line for each."""
import json
import sys

WHAT = {"wait_mutex": "mutex `treasure`", "wait_pipe": "read from descriptor ", "wait_timer": "sleep",
        "wait_condition": "condition `bell`", "wait_socket": "poll on 1 descriptor", "wait_short": "sleep"}

way = sys.argv[3] if len(sys.argv) > 3 else "samples"
report = json.load(open(sys.argv[1], encoding="utf-8"))
sections = {section["key"]: section for section in report["sections"]}
account = sections["profile"]["fields"]
total = {row["function"]: row["total"] for row in sections["functions"]["tables"]["functions"]}
spent = {}
for line in open(sys.argv[2], encoding="utf-8"):
    words = line.split()
    if len(words) == 2:
        spent[words[0]] = int(words[1])
holder = spent.pop("holder")
print(account)
told = [row["what"] for row in sections["waits"]["tables"]["waits"]]
times = {row["what"]: row["time"] for row in sections["waits"]["tables"]["waits"]}
print(times)
# The program waits for longer than it is profiled.
short = spent["wait_short"] / spent["wait_condition"] * times.get("condition `bell`", 0)
if way != "samples":
    del spent["wait_short"]
shown = {name: total.get(name, 0) for name in spent}
asleep = total.get("sleeper", 0) * account["samples"] / 99
print("a thread that sleeps all the time: %.1f s of %.1f" % (asleep, account["seconds"]))
bad = [] if abs(asleep - account["seconds"]) < 0.2 else ["sleeper"]
bad += [name for name, what in WHAT.items() if name in spent and not any(text.startswith(what) for text in told)]
owned = times.get("mutex `treasure`, held by thread %d" % holder, 0)
mutex = sum(time for what, time in times.items() if "mutex `treasure`" in what)
print("of %.1f s for the mutex the holder is known for %.1f" % (mutex, owned))
if owned < 0.85 * mutex or sum(" held by" in what for what in told) != 1:
    bad.append("the holder")
unseen = sum(time for what, time in times.items() if what.startswith("short waits"))
print("short waits of %.1f s: not looked at %.1f s" % (short, unseen))
queued = times.get("a CPU (it could run)", 0)
some = total.get("wait_short", 0) * account["samples"] / 99
print("seen %.1f s, in the run queue %.1f s" % (some, queued))
if way == "samples" and unseen or way == "looks" and unseen < 0.5 * short:
    bad.append("short waits")
if way == "polled" and not 0.7 * short < some + unseen + queued < 1.3 * short + queued:
    bad.append("short waits")
for name in spent:
    truth, share = spent[name] / sum(spent.values()), shown[name] / (sum(shown.values()) or 1)
    print("%-16s truth %5.1f %%, shown %5.1f %%" % (name, 100 * truth, 100 * share))
    if abs(truth - share) > 0.03:
        bad.append(name)
if account["samples"] < 1000 or not any("pipe:[" in text and ("(at the start)" in text) == (way == "samples") for text in told):
    bad.append("samples, or the pipe")
threads = sections["threads"]["tables"]["threads"]
if sum(row["samples"] for row in threads) != account["samples"]:
    bad.append("the sum of the threads: %s" % threads)
if bad or len(spent) < len(WHAT) - 1:
    sys.exit("wrong: %s" % bad)
