"""checks: what the cpython plugin says of a case against the program's own report. Each check yields complaints."""

import collections
import os
import re
import subprocess

from account import PATHS


def same_frames(want, got, name):
    """The crashing frame, below the recorded ones, may be new."""
    above = len(got) - len(want)
    if above not in (0, 1):
        yield "%s: %d frames, wanted %d" % (name, len(got), len(want))
        return
    for i, (wanted, had) in enumerate(zip(want, got[above:])):
        if (wanted["file"], wanted["name"], wanted["line"]) != (had["file"], had["function"], had["line"]):
            yield "%s: frame %d is %r, wanted %r" % (name, i, had, {k: wanted[k] for k in ("file", "name", "line")})


def check_stacks(case):
    """Every thread's stack, and the values of its simple variables."""
    sections = {s["fields"]["thread"]: s for s in case.run("bt", "--locals", "--limit", "100000") if s["key"].startswith("thread_")}
    if len(sections) != len(case.account["threads"]):
        yield "%d threads, wanted %d" % (len(sections), len(case.account["threads"]))
    for thread in case.account["threads"]:
        section = sections.get(thread["tid"])
        if not section:
            yield "no thread %d" % thread["tid"]
            continue
        if thread["name"] not in section["title"]:
            yield "%s is called %s" % (thread["name"], section["title"])
        frames = section["tables"]["frames"]
        yield from same_frames(thread["frames"], frames, thread["name"])
        above, had = len(frames) - len(thread["frames"]), collections.defaultdict(dict)
        for row in section["tables"].get("variables", []):
            had[row["frame"] - above][row["name"]] = row["value"]
        for i, wanted in enumerate(thread["frames"]):
            if wanted["names"] and sorted(had[i]) != wanted["names"]:
                yield "%s: variables of %s: %r, wanted %r" % (thread["name"], wanted["name"], sorted(had[i]), wanted["names"])
            for name, text in wanted["locals"].items():
                if had[i].get(name) != text:
                    yield "%s: %s of %s is %r, wanted %r" % (thread["name"], name, wanted["name"], had[i].get(name), text)


def check_merged(case):
    """All Python frames appear among the C frames, in order, each below its own evaluator."""
    wanted = {thread["tid"]: thread for thread in case.account["threads"]}
    for thread in case.bt()["threads"]:
        want = wanted.pop(thread["tid"], None)
        if not want:
            continue
        rows, evaluator = [], None
        for one in thread["frames"]:
            if one.get("language") == "python":
                if evaluator != "_PyEval_EvalFrameDefault":
                    yield "%s: %s is after %s" % (want["name"], one.get("function"), evaluator)
                rows.append(one)
            elif not one.get("inlined"):
                evaluator = one.get("function")
        names = [one.get("function") for one in rows]
        if [f["name"] for f in want["frames"]] != names[len(names) - len(want["frames"]):]:
            yield "%s: %r, wanted %r" % (want["name"], names, [f["name"] for f in want["frames"]])
    yield from ("no stack of thread %d" % tid for tid in wanted)


def check_threads(case):
    """Names, and the holder of the GIL: the crashed thread had it; if all threads wait, nobody holds it."""
    rows = {row["thread"]: row for row in case.run("threads")[0]["tables"]["threads"]}
    for thread in case.account["threads"]:
        if rows.get(thread["tid"], {}).get("name") != thread["name"]:
            yield "%d: %r, wanted %s" % (thread["tid"], rows.get(thread["tid"]), thread["name"])
    holders = [tid for tid, row in rows.items() if row["gil"] == "holds"]
    wanted = [case.account["tid"]] if case.name.endswith("-crash") else []
    if holders != wanted:
        yield "the GIL is held by %r, wanted %r" % (holders, wanted)
    doing = {row["name"]: row["doing"] for row in rows.values()}
    for name, wanted in (("wait_in_lock", "waits for a lock"), ("wait_in_condition", "waits for a lock"), ("sleep_long", "sleeps")):
        # Without symbols of static functions, 3.9's sleep appears as the select() that it calls.
        if doing.get(name) != wanted and not (re.match("3.(9|10)-(path-)?bare", case.name) and doing.get(name) == "waits for files (select)"):
            yield "%s %s, wanted %s" % (name, doing.get(name), wanted)
    # In C, a thread that waits for the GIL is in the function that takes it, or waits to see who took it.
    if "spin" in doing and doing["spin"] not in ("waits for the GIL", "gives up the GIL") and "-bare" not in case.name:
        yield "spin %s" % doing["spin"]
    gil = case.run("gil")[0]["tables"]["interpreters"][0]
    if gil["held"] != bool(holders) or gil["thread"] != (holders[0] if holders else None):
        yield "gil: %r" % gil


def check_exceptions(case):
    """The thread that handles a KeyError shows that exception."""
    for section in case.run("bt"):
        wanted = "KeyError(10), being handled" if '"handle"' in section["title"] else None
        if section["fields"].get("exception") != wanted:
            yield "%s: %r, wanted %r" % (section["title"], section["fields"].get("exception"), wanted)


def check_modules(case):
    rows = {row["module"]: row["address"] for row in case.run("modules")[0]["tables"]["modules"]}
    wanted = case.account["modules"]
    yield from ("%s: %s, wanted %s" % (name, rows.get(name), wanted.get(name)) for name in sorted(set(rows) | set(wanted))
                if rows.get(name) != wanted.get(name))


# Created after the account was written: the arguments of the last call, made by ctypes.
PASSING, COME = {"tuple", "CArgObject", "_ctypes.CArgObject"}, 5
# Types of C extensions with their own __sizeof__.
OWN_SIZES = {"StgDict", "Struct", "PyCSimpleType", "PyCStructType", "PyCPointerType", "PyCFuncPtrType", "PyCArrayType", "UnionType", "BufferedReader",
             "BufferedWriter", "_swapped_struct_meta", "_swapped_union_meta"}


def objects_of(case):
    found = {}
    for words in case.printed("object"):
        if len(words) != 4:
            raise AssertionError("the plugin listed no object here: %r" % words)
        addr, name, size, tracked = words
        found[int(addr, 16)] = (name, int(size), tracked == "1")
    return found


def told_of(case):
    told = {}
    with open(os.path.join(case.directory, "objects"), encoding="utf-8") as stream:
        for line in stream:
            words = line.split()
            if len(words) != 4:
                raise AssertionError("the program listed no object here: %r" % line)
            addr, name, size, _ = words
            told[int(addr, 16)] = (name, int(size))
    return told


def check_objects(case):
    """Each object of gc.get_objects(), with its type's name and sys.getsizeof; others only if they were created to
    write the account."""
    false_types = ["%s at %s" % (name, addr) for addr, name in case.printed("no type")]
    if false_types:
        yield "%d objects that are no types are taken for some: %s" % (len(false_types), ", ".join(false_types[:5]))
    told, found = told_of(case), objects_of(case)
    tracked = {addr for addr, one in found.items() if one[2]}
    gone = collections.Counter(told[addr][0] for addr in set(told) - tracked)
    if gone:
        yield "not found: %r" % gone
    new = collections.Counter(found[addr][0] for addr in tracked - set(told))
    if sum(new.values()) > COME or set(new) - PASSING:
        yield "found, but not in the account: %r" % new
    wrong = collections.Counter()
    for addr in tracked & set(told):
        (name, size), one = told[addr], found[addr]
        if one[0].split(".")[-1] != name:
            yield "%#x is a %s, wanted %s" % (addr, one[0], name)
        if one[1] != size and name not in OWN_SIZES:
            wrong[(name, one[1], size)] += 1
    if case.name.endswith("-crash"):  # a list during a sort has a capacity of -1 elements
        wrong.pop(("list", list.__basicsize__ + 16, list.__basicsize__ + 8), None)
    for (name, size, wanted), count in sorted(wrong.items())[:10]:
        yield "%d %s of %d bytes, wanted %d" % (count, name, size, wanted)


def check_soiled(case, labels):
    """Only a dictionary refers to these objects: any other word with the address is a leftover. If that word is in an
    object of unknown layout, the plugin marks the result as a guess."""
    soiled = {line.split()[0] for line in case.account["soiled"]} | {"reused"}
    if len(soiled) < 6:
        yield "the program has not got the words that it needs: %r" % case.account["soiled"]
    for name in sorted(soiled):
        wanted = {int(text, 16) for text in case.account["referrers"][name]}
        had = {addr: label for addr, label in labels[case.account["kept"][name]].items() if not label.endswith("a guess")}
        if not set(had) <= wanted or list(had.values()) != ["['%s']" % name]:
            yield "%s: %r" % (name, had)


def check_referrers(case):
    """The referrers of each known object among the listed objects; for some, also as shown by the command."""
    told, found, labels = set(told_of(case)), objects_of(case), collections.defaultdict(dict)
    for address, holder, label in case.printed("referrer"):
        labels[address][int(holder, 16)] = label
    for name, wanted in case.account["referrers"].items():
        holders = set(labels[case.account["kept"][name]])
        had = {addr for addr in holders if found.get(addr, ("", 0, False))[2] and addr in told}
        want = {addr for addr in (int(text, 16) for text in wanted) if found.get(addr, ("", 0, False))[2] and addr in told}
        had -= {addr for addr in had - want if labels[case.account["kept"][name]][addr].endswith("a guess")}
        if had != want:
            yield "%s: missing %r, too many %r" % (name, [found[a][0] for a in want - had], [found[a][0] for a in had - want])
        if name not in PATHS:
            continue
        section = case.run("refs", case.account["kept"][name], "--limit", "100000")[0]
        if {int(row["address"], 16) for row in section["tables"]["holders"]} != holders:
            yield "%s: the command reports other holders" % name
        # The collector does not scan running frames: a reference from a frame is shown as a root.
        root, path = "frame of blocked" if name == "running" else None, section["tables"].get("path", [])
        if not path or path[-1]["step"] != (root or "['%s']" % name):
            yield "%s: no path: %r" % (name, path)
        if section["fields"].get("root") != root:
            yield "%s: root %r" % (name, section["fields"].get("root"))
    yield from check_soiled(case, labels)


def check_analysis(case):
    """`analyze` shows the version, the threads, the holder of the GIL and the crash location; nothing is suspicious."""
    section, account = case.analysis(), case.account
    fields, crash = section["fields"], case.name.endswith("-crash")
    wanted = {"version": ".".join(map(str, account["version"])), "python_threads": len(account["threads"]),
              "gil_holder": account["tid"] if crash else None}
    for key, value in wanted.items():
        if fields.get(key) != value:
            yield "%s: %r, wanted %r" % (key, fields.get(key), value)
    died = [thread["frames"] for thread in account["threads"] if thread["tid"] == account["tid"]][0]
    if "-live" not in case.name:
        outer = died[-1] if crash else died[0]  # in a crash the innermost one is ctypes' own, below the recorded ones
        if not crash and fields.get("at") != "%s at %s:%d" % (outer["name"], outer["file"], outer["line"]):
            yield "it died at %r, wanted %r" % (fields.get("at"), outer)
        if crash and (not fields.get("at", "").startswith("string_at at ") or fields.get("calls") != len(died) + 1):
            yield "it died at %r, %r calls deep; wanted string_at, %d calls" % (fields.get("at"), fields.get("calls"), len(died) + 1)
    permanent = [row["objects"] for row in case.run("objects")[0]["tables"]["generations"] if row["generation"] == "permanent generation"]
    listed = len(told_of(case)) + sum(permanent)
    if not listed <= fields.get("objects", 0) <= listed + COME:
        yield "%r objects, wanted %d" % (fields.get("objects"), listed)
    rows = {row["thread"] for row in section["tables"]["threads"]}
    if rows != {thread["tid"] for thread in account["threads"]}:
        yield "threads %r" % rows
    yield from ("suspicious: %s" % one["text"] for one in section.get("messages", []) if one["severity"] != "info")


CHECKS = [("stacks and variables", check_stacks), ("stacks among C's", check_merged), ("threads and the GIL", check_threads),
          ("analyze", check_analysis), ("exceptions", check_exceptions), ("modules", check_modules),
          ("objects, their types and sizes", check_objects), ("referrers", check_referrers)]


def check_all(tap, case):
    for name, check in CHECKS:
        try:
            complaints = list(check(case))
        except (AssertionError, KeyError, TypeError, ValueError, IndexError, subprocess.TimeoutExpired) as err:
            complaints = ["%s: %s" % (type(err).__name__, err)]
        tap.tell("%s: %s" % (case.name, name), complaints)
