#!/usr/bin/env python3
"""firefox.py FILE FOLDED [THREADS]: is this a profile in Firefox Profiler's processed format, version 48, with the stacks of FOLDED?

The rules are those of src/types/profile.js and docs-developer of github.com/firefox-devtools/profiler: a table has a length, and
columns of that length; numbers of rows are in range; a stack's prefix comes before it; times rise. FOLDED are the same stacks by
`--as folded`, which other tools read: what the samples weigh must be the same. THREADS: so many threads."""

import collections
import json
import sys

TABLES = {
    "samples": "stack time weight threadCPUDelta", "stackTable": "frame prefix category subcategory",
    "frameTable": "address inlineDepth category subcategory func nativeSymbol innerWindowID implementation line column",
    "funcTable": "name isJS relevantForJS resource fileName lineNumber columnNumber", "resourceTable": "lib name host type",
    "nativeSymbols": "libIndex address name functionSize", "markers": "data name startTime endTime phase category",
}
# Columns that hold numbers of rows: of which table, and what else they may hold.
NUMBERS = [
    ("samples", "stack", "stackTable", None), ("stackTable", "frame", "frameTable", ...), ("stackTable", "prefix", "stackTable", None),
    ("stackTable", "category", "categories", ...), ("frameTable", "category", "categories", None), ("frameTable", "func", "funcTable", ...),
    ("funcTable", "name", "stringArray", ...), ("funcTable", "resource", "resourceTable", -1), ("funcTable", "fileName", "stringArray", None),
    ("resourceTable", "name", "stringArray", ...), ("resourceTable", "lib", "libs", None),
]
COLORS = "transparent purple green orange yellow lightblue blue brown magenta red lightred darkgrey grey".split()


def need(holds, what):
    if not holds:
        sys.exit("firefox: " + what)


def check_meta(meta):
    need(meta["preprocessedProfileVersion"] == 48 and isinstance(meta["version"], int), "versions")
    for key in ("interval", "startTime"):
        need(isinstance(meta[key], (int, float)) and meta[key] >= 0, key)
    need(meta["interval"] > 0 and isinstance(meta["product"], str) and meta["processType"] == 0, "meta")
    need(isinstance(meta["markerSchema"], list) and meta["symbolicated"] is True, "meta")
    for one in meta["categories"]:
        need(isinstance(one["name"], str) and one["color"] in COLORS and one["subcategories"][0] == "Other", "category %s" % one)
    need(any(one["color"] == "grey" for one in meta["categories"]), "there is no default category")


def check_thread(thread, profile):
    for key, kind in (("name", str), ("pid", str), ("processType", str), ("isMainThread", bool), ("stringArray", list), ("pausedRanges", list)):
        need(isinstance(thread[key], kind), "thread: " + key)
    need("tid" in thread and "registerTime" in thread and "processStartupTime" in thread, "thread: times")
    for name, columns in TABLES.items():
        for column in columns.split():
            need(len(thread[name][column]) == thread[name]["length"], "%s.%s: its length" % (name, column))
    lengths = {name: thread[name]["length"] for name in TABLES}
    lengths.update(stringArray=len(thread["stringArray"]), categories=len(profile["meta"]["categories"]), libs=len(profile["libs"]))
    for table, column, of, other in NUMBERS:
        for number in thread[table][column]:
            need(number == other or (isinstance(number, int) and 0 <= number < lengths[of]), "%s.%s: %r of %d" % (table, column, number, lengths[of]))
    need(all(isinstance(text, str) for text in thread["stringArray"]), "texts")
    need(len(set(thread["stringArray"])) == len(thread["stringArray"]), "texts are there twice")
    need(all(prefix is None or prefix < row for row, prefix in enumerate(thread["stackTable"]["prefix"])), "a prefix behind its stack")
    need(thread["samples"]["time"] == sorted(thread["samples"]["time"]), "times fall")
    need(thread["samples"]["weightType"] in ("samples", "tracing-ms", "bytes"), "weightType")


def stacks(thread):
    """Stacks as texts, root first, to what they weigh."""
    table, frames, functions, texts = (thread[name] for name in ("stackTable", "frameTable", "funcTable", "stringArray"))
    paths = []
    for frame, prefix in zip(table["frame"], table["prefix"]):
        name = texts[functions["name"][frames["func"][frame]]].replace(";", ":")
        paths.append((paths[prefix] + ";" if prefix is not None else "") + name)
    found = collections.Counter()
    for stack, weight in zip(thread["samples"]["stack"], thread["samples"]["weight"]):
        found[paths[stack] if stack is not None else "[no stack]"] += weight
    return found


def folded(path):
    found = collections.Counter()
    for line in open(path, encoding="utf-8"):
        stack, count = line.rstrip("\n").rsplit(" ", 1)
        found[stack.replace("_[k]", "").replace("_[j]", "")] += int(count)
    return found


def main():
    profile = json.load(open(sys.argv[1], encoding="utf-8"))
    check_meta(profile["meta"])
    need(isinstance(profile["libs"], list) and profile["threads"], "libs, threads")
    found = collections.Counter()
    for thread in profile["threads"]:
        check_thread(thread, profile)
        found += stacks(thread)
    wanted = folded(sys.argv[2])
    need(found == wanted, "stacks differ: %s" % list(((found - wanted) + (wanted - found)).items())[:5])
    need(len(sys.argv) < 4 or len(profile["threads"]) == int(sys.argv[3]), "%d threads" % len(profile["threads"]))
    print("%d threads, %d stacks, %d samples" % (len(profile["threads"]), len(found), sum(found.values())))


main()
