#!/usr/bin/env python3
"""hands.py PROFILE.json ACCOUNT: compare the owners of a mutex that a profile tells with those that tests/live/hands.c counted.

Of the time that threads waited for the mutex, the share of each owner may differ by 10 percentage points, and at most a
quarter may have none: as the mutex changes hands, nobody has it."""
import json
import re
import sys

report = json.load(open(sys.argv[1], encoding="utf-8"))
sections = {section["key"]: section for section in report["sections"]}
print({row["what"]: row["time"] for row in sections["waits"]["tables"]["waits"]})
rows = [row for row in sections["waits"]["tables"]["waits"] if row["what"].startswith("mutex `one_lock`")]
shown = {}
for row in rows:
    found = re.search(r", held by thread (\d+)$", row["what"])
    shown[int(found.group(1)) if found else 0] = row["time"]
told = {int(words[0]): int(words[1]) for words in map(str.split, open(sys.argv[2], encoding="utf-8")) if len(words) == 2}
print(shown, told)
unknown = shown.pop(0, 0)
bad = [] if set(shown) == set(told) and unknown < sum(shown.values()) / 3 else ["owners"]
for tid, time in told.items():
    truth, share = time / sum(told.values()), shown.get(tid, 0) / (sum(shown.values()) or 1)
    print("thread %d: truth %5.1f %%, shown %5.1f %%" % (tid, 100 * truth, 100 * share))
    if abs(truth - share) > 0.1:
        bad.append(tid)
if bad:
    sys.exit("wrong: %s" % bad)
