"""bench --only luajit: queries on a virtual machine of three million objects (corpora/build-luajit --big, both widths),
gdb's own way to count them, and nginx's page with half a million users (corpora/build-nginx --big).

The answer of luajit.gc is compared with the program's own count: a fast wrong answer is not a result."""

import json
import os
import shlex
import subprocess
import sys

import heap

QUESTIONS = {"gc": ["run", "luajit.gc"], "path": ["run", "luajit.path"], "retained": ["run", "luajit.retained"],
             "flame gcref": ["flame", "luajit.gcref"], "dead": ["run", "luajit.dead"], "check": ["run", "luajit.check"]}
BOUNDS = {"gc": 2, "path": 10, "retained": 10, "flame gcref": 10}  # seconds; the other queries have no limit
CASES = ("openresty-interp-big", "gc32-interp-big")
PAGES = {"analyze": ["analyze"], "page": ["run", "nginx"], "reqs": ["run", "nginx.reqs"], "memory": ["run", "nginx.memory"]}
RIVAL = "openresty-c"
GDB = ["gdb", "-nx", "-q", "--batch", "-iex", "set debuginfod enabled off"]


class Case:
    """A core with its program and the program's own report."""

    def __init__(self, folder):
        self.name, self.folder = os.path.basename(folder), folder
        self.core, self.exe = os.path.join(folder, "core"), os.path.join(folder, "exe")

    def there(self):
        return os.path.exists(os.path.join(self.folder, "meta.json"))

    def rows(self, what):
        with open(os.path.join(self.folder, "account.jsonl"), encoding="utf-8") as stream:
            return [row for row in map(json.loads, stream) if row["what"] == what]

    def counts(self):
        return {row["type"]: row["count"] for row in self.rows("objects")}


def command(bench, root, words, case):
    return bench.xcore(*words, "--plugin-path", os.path.join(root, "plugins"), case.core, "--exe", case.exe)


def measure(bench, title, name, argv, runs, environment):
    """The row of one query, from several runs. An uncounted first run fills the page cache."""
    several = [heap.ask(argv, environment) for _ in range(runs + 1)]
    for _, _, _, status, said in several:
        if status != 0:
            sys.exit("bench: a failing xcore is not fast: %s: %s" % (shlex.join(argv), said[-300:]))
    seconds, cpus, peaks = ([one[field] for one in several[1:]] for field in range(3))
    row = {"title": title, "name": name, "command": shlex.join(argv), "runs": runs, "median_s": sorted(seconds)[runs // 2],
           "min_s": min(seconds), "max_s": max(seconds), "cpu_s": sorted(cpus)[runs // 2], "peak_anonymous_bytes": max(peaks)}
    print("  %-36s %8.0f ms  (%.0f to %.0f)  %8.0f ms of CPU  %7.1f MiB of its own" % (
        name, row["median_s"] * 1e3, row["min_s"] * 1e3, row["max_s"] * 1e3, row["cpu_s"] * 1e3, row["peak_anonymous_bytes"] / 2**20))
    sys.stdout.flush()
    bench.rows.append(row)
    return row


def objects(bench, root, case, environment):
    """The count of luajit.gc; it must equal the program's count, and add up."""
    argv = command(bench, root, ["run", "luajit.gc", "--format", "json"], case)
    done = subprocess.run(argv, env=environment, stdout=subprocess.PIPE, check=True)
    (section,) = (one for one in json.loads(done.stdout)["sections"] if one["key"] == "gc")
    count = sum(row["count"] for row in section["tables"]["objects"])
    if section["fields"]["difference"] != 0 or count != sum(case.counts().values()):
        sys.exit("bench: %s: luajit.gc is wrong: %s" % (case.name, section))
    return count


def missing(bench, what, how):
    print("\n%s: not there: %s" % (what, how))
    bench.goals.append({"goal": what + ": not measured, no core", "value": None, "bound": None, "met": False})


def bench_case(bench, root, case, runs, environment):
    """Returns the number of objects per second that luajit.gc counts."""
    count = objects(bench, root, case, environment)
    print("\n%s: %d objects  (core of %.0f MiB)" % (case.name, count, os.path.getsize(case.core) / 2**20))
    speed = None
    for question, words in QUESTIONS.items():
        row = measure(bench, "luajit", "%s, %s" % (case.name, question), command(bench, root, words, case), runs, environment)
        if question in BOUNDS:
            bench.goal("%s: %s: seconds" % (case.name, question), row["median_s"], BOUNDS[question])
        if question == "gc":
            speed = count / row["cpu_s"]
    return speed


def bench_gdb(bench, case, speed, runs):
    """Objects per second that gdb's Python counts, without their sizes; excludes gdb's start."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "walk", "gdb_gc.py")
    (vm,) = case.rows("vm")
    argv = GDB + ["-ex", "python STATE = %s" % vm["g"], "-x", script, case.exe, case.core]
    loops = []
    for _ in range(runs):
        done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
        count, _, took = done.stdout.splitlines()[-1].split()
        loops.append(float(took))
        if int(count) != sum(case.counts().values()):
            sys.exit("bench: gdb counts %s objects of %s" % (count, case.name))
    rival = int(count) / sorted(loops)[runs // 2]
    print("\ncounted a second, CPU time: gdb's Python %.0f objects (no sizes, its start left out), xcore's luajit.gc %.0f (all): %.0f times" % (
        rival, speed, speed / rival))
    bench.rows.append({"title": "luajit", "name": "gdb Python, count", "command": shlex.join(argv), "runs": runs, "objects_per_second": rival})
    bench.goal("luajit.gc: against counting in gdb's Python", rival / speed, 1 / 10)


def bench_pages(bench, root, case, runs, environment):
    """A worker with requests in flight and a large heap in Lua."""
    print("\n%s: %d objects of Lua  (core of %.0f MiB)" % (case.name, sum(case.counts().values()), os.path.getsize(case.core) / 2**20))
    for page, words in PAGES.items():
        row = measure(bench, "nginx", "%s, %s" % (case.name, page), command(bench, root, words, case), runs, environment)
        bench.goal("%s: %s: seconds" % (case.name, page), row["median_s"], 2)


def bench_luajit(bench, runs, root, environment):
    runs = min(runs, 3)
    speed = None
    for name in CASES:
        case = Case(os.path.join(root, "build", "luajit", name))
        if case.there():
            speed = bench_case(bench, root, case, runs, environment)
        else:
            missing(bench, name, "corpora/build-luajit --big")
    rival = Case(os.path.join(root, "build", "luajit", RIVAL))
    if speed and rival.there():
        bench_gdb(bench, rival, speed, runs)
    for name, how in (("static-gcore", "corpora/build-nginx"), ("static-gcore-big", "corpora/build-nginx --big")):
        case = Case(os.path.join(root, "build", "nginx", name))
        if case.there():
            bench_pages(bench, root, case, runs, environment)
        else:
            missing(bench, name, how)
