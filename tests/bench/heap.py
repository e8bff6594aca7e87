"""bench --only heap: heap queries on cores of one to fifteen million blocks (corpora/build-heap --big) and on redis.

A core is mapped, and its pages count as resident. The relevant figure is our own memory, RssAnon, sampled during the
run."""

import os
import shlex
import subprocess
import sys
import tempfile
import time

QUESTIONS = {"summary": ["summary"], "leaks": ["leaks", "--no-types"], "typed leaks": ["leaks"], "types": ["types"], "retained": ["top", "--retained"]}
CASES = ("million-o2-1", "million-o2-4", "million-o2-15", "tables-o2-1", "tables-o2-10", "chain-o2-single", "chain-o2-double")
LARGE = 300 << 20  # cores above this size run three times, others --runs times
GIB = float(1 << 30)


def anonymous(pid):
    """RssAnon of a process and its children: plugins run in a child."""
    try:
        with open("/proc/%d/task/%d/children" % (pid, pid), encoding="ascii") as stream:
            total = sum(anonymous(int(child)) for child in stream.read().split())
        with open("/proc/%d/status" % pid, encoding="ascii") as stream:
            for line in stream:
                if line.startswith("RssAnon:"):
                    total += int(line.split()[1]) << 10
        return total
    except (OSError, ValueError):
        return 0


def ask(argv, environment):
    """(seconds, CPU seconds, peak of RssAnon in bytes, exit status, stderr) of one run; sampled every 5 ms."""
    start, peak, ended = time.monotonic(), 0, 0
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(argv, env=environment, stdout=subprocess.DEVNULL, stderr=said)  # pylint: disable=consider-using-with
        while not ended:
            peak = max(peak, anonymous(child.pid))
            time.sleep(0.005)
            ended, status, usage = os.wait4(child.pid, os.WNOHANG)
        child.returncode = os.waitstatus_to_exitcode(status)
        took = time.monotonic() - start
        said.seek(0)
        return took, usage.ru_utime + usage.ru_stime, peak, child.returncode, said.read().decode(errors="replace")


def measure(bench, case, core, question, runs, environment):
    """The row of one query on one core, or None if this xcore does not support it."""
    argv = bench.xcore("heap", *QUESTIONS[question], core)
    seconds, peaks, cpus = [], [], []
    for i in range(runs + 1):  # the first one fills the page cache
        took, cpu, peak, status, said = ask(argv, environment)
        if status == 2:
            print("  %-28s %-11s not there: %s" % (case, question, said.strip().splitlines()[0] if said else ""))
            return None
        if status != 0:
            sys.exit("bench: a failing xcore is not fast: %s: %s" % (shlex.join(argv), said[-300:]))
        if i:
            seconds.append(took)
            peaks.append(peak)
            cpus.append(cpu)
    row = {"title": "heap", "name": "%s %s" % (case, question), "command": shlex.join(argv), "runs": runs,
           "median_s": sorted(seconds)[len(seconds) // 2], "min_s": min(seconds), "max_s": max(seconds),
           "cpu_s": sorted(cpus)[len(cpus) // 2], "peak_anonymous_bytes": max(peaks)}
    print("  %-28s %-11s %8.0f ms  (%.0f to %.0f)  %8.0f ms of CPU  %7.1f MiB of its own" % (
        case, question, row["median_s"] * 1e3, row["min_s"] * 1e3, row["max_s"] * 1e3, row["cpu_s"] * 1e3,
        row["peak_anonymous_bytes"] / 2**20))
    sys.stdout.flush()
    bench.rows.append(row)
    return row


def cases(bench, root):
    """name -> core"""
    out = {name: os.path.join(root, "build", "heap", name, "core") for name in CASES}
    for name in ("redis-big", "redis-libc-big"):
        out[name] = os.path.join(bench.options.out, name, "core")
    return {name: core for name, core in out.items() if os.path.exists(core)}


def accuracy(bench, root, environment):
    """The share of the programs' recorded blocks that is found; tests/heap/run checks the single cores."""
    done = subprocess.run([os.path.join(root, "tests", "heap", "run"), "--xcore", bench.options.xcore], env=environment,
                          stdout=subprocess.PIPE, check=False)
    lines = done.stdout.decode(errors="replace").splitlines()
    good = sum(line.startswith("ok ") and "# SKIP" not in line for line in lines)
    bad = sum(line.startswith("not ok ") for line in lines)
    print("\nheap: against the accounts of %d programs: %d miss the requirements" % (good + bad, bad))
    print("  " + (lines[-1].lstrip("# ") if lines else "nothing was said"))


# xcore shell's work for a line, once everything is loaded: a thousand addresses, and the references of some blocks.
LOADED = """
local h = xcore.target:heap()
local blocks, what, refs = {}, 0, 0
for b in h:blocks() do blocks[#blocks + 1] = b if #blocks == 20000 then break end end
h:whatis(blocks[1].addr) h:refs(blocks[1])
for i = 1, 1000 do
  local addr, start = blocks[i * 20].addr + 8, xcore.clock()
  h:whatis(addr)
  what = math.max(what, xcore.clock() - start)
end
for i = 1, 100 do
  local block, start = blocks[i * 200], xcore.clock()
  h:refs(block)
  refs = math.max(refs, xcore.clock() - start)
end
print(what, refs)"""


def loaded(bench, case, core, environment):
    """The slowest of many queries on a loaded heap."""
    done = subprocess.run(bench.xcore("run", "-e", LOADED, core), env=environment, stdout=subprocess.PIPE, check=True)
    what, refs = map(float, done.stdout.split())
    print("  %-28s once loaded: whatis at most %.3f ms, refs at most %.3f ms" % (case, what * 1e3, refs * 1e3))
    bench.goal("heap: whatis once loaded, slowest of 1,000, seconds", what, 0.005)
    bench.goal("heap: refs once loaded, slowest of 100, seconds", refs, 0.05)


def bench_heap(bench, runs, root, environment):
    accuracy(bench, root, environment)
    there, rows = cases(bench, root), {}
    missing = [name for name in CASES if name not in there]
    if missing:
        print("\nheap: not there (corpora/build-heap --big): %s" % ", ".join(missing))
    print("\nheap: questions to large heaps  (medians; peak of RssAnon, sampled)")
    for name, core in there.items():
        often = min(runs, 3) if os.path.getsize(core) > LARGE else runs
        for question in QUESTIONS:
            row = measure(bench, name, core, question, often, environment)
            if row:
                rows[name, question] = row
    for name in ("million-o2-15", "million-o2-1"):
        if name in there:
            loaded(bench, name, there[name], environment)
            break
    goals(bench, rows)


def goals(bench, rows):
    def bound(what, key, seconds, gib=None):
        if key in rows:
            bench.goal("heap: %s: seconds" % what, rows[key]["median_s"], seconds)
            if gib:
                bench.goal("heap: %s: GiB of its own" % what, rows[key]["peak_anonymous_bytes"] / GIB, gib)

    def ratio(what, large, small, most):
        if large in rows and small in rows:
            bench.goal("heap: " + what, rows[large]["median_s"] / rows[small]["median_s"], most)

    bound("15 million, blocks, graph, leaks", ("million-o2-15", "leaks"), 4, 1.2)
    bound("15 million, typing and retained sizes too", ("million-o2-15", "retained"), 16)
    bound("10 million, walk", ("tables-o2-10", "summary"), 0.3)
    # A model of a heap larger than memory: the relevant figure is xcore's memory for each of 20 million live blocks.
    for question in ("leaks", "retained"):
        if ("redis-libc-big", question) in rows:
            bench.goal("heap: 20 million live blocks, %s: GiB of its own" % question,
                       rows["redis-libc-big", question]["peak_anonymous_bytes"] / GIB, 2e9 / GIB)
    for question in QUESTIONS:
        # Linear: 1, 4, 15 times the blocks, with a tenth for noise; fixed costs only help the smaller one.
        ratio("%s, 15 million over 4" % question, ("million-o2-15", question), ("million-o2-4", question), 3.75 * 1.1)
        ratio("%s, 4 million over 1" % question, ("million-o2-4", question), ("million-o2-1", question), 4 * 1.1)
        ratio("%s, 10 million in tables over 1" % question, ("tables-o2-10", question), ("tables-o2-1", question), 10 * 1.1)
        ratio("%s, one doubly linked list over a singly linked one" % question, ("chain-o2-double", question), ("chain-o2-single", question), 1.5)
        ratio("%s, one list over a million in tables" % question, ("chain-o2-double", question), ("tables-o2-1", question), 1.5)
