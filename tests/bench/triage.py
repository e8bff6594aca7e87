"""bench --only batch: 200 small cores of five programs: `xcore triage`, and loops of gdb and eu-stack that print the
crashed stacks of the same cores; a worker's memory; cached results; 20,000 stacks to group (traces.py).

The programs come from build-deaths, each run 40 times. All in one session, on a machine that may be busy: xcore before
and after the others."""

import glob
import json
import os
import shutil
import subprocess
import sys
import time

import traces

PROGRAMS = ("null-field-read-gcc-o0", "abort-assert-gcc-o2", "heap-double-tcache-gcc-o2", "throw-runtime-gcc-o0", "panic-unwrap-rustc-o2")
EACH = 40
RUNS = 3
MEMORY = (16, 256)  # megabytes per worker; the search range for the minimum
GDB = 'gdb -nx -q --batch -iex "set debuginfod enabled off" -ex bt -c "$core" "$exe"'
EU_STACK = 'eu-stack -i -s --core="$core" --executable="$exe"'
LOOP = 'while read -r exe core; do %s || exit 1; done <"$1"'


class Batch:
    """The cores, as files in one directory, and as lines of program and core."""

    def __init__(self, root, work, environment):
        self.root, self.work = root, os.path.join(work, "batch")
        self.cores, self.list = os.path.join(self.work, "cores"), os.path.join(self.work, "list")
        self.cache = os.path.join(self.work, "cache")
        self.environment = {**environment, "XDG_CACHE_HOME": self.cache, "XCORE_SYMBOLS": ""}
        self.count = len(PROGRAMS) * EACH

    def make(self):
        """False if the programs are missing."""
        deaths = os.path.join(self.root, "build", "deaths")
        if not all(os.path.exists(os.path.join(deaths, one, "program")) for one in PROGRAMS):
            return False
        with open(self.list + ".tmp", "w", encoding="utf-8") as lines:
            for one in PROGRAMS:
                program = os.path.realpath(os.path.join(deaths, one, "program"))
                folder = os.path.join(self.cores, one)
                os.makedirs(folder, exist_ok=True)
                for i in range(EACH):
                    self.take(program, one, os.path.join(folder, "core.%d" % i))
                    lines.write("%s %s\n" % (program, os.path.join(folder, "core.%d" % i)))
        os.rename(self.list + ".tmp", self.list)
        return True

    def take(self, program, name, core):
        if os.path.exists(core) and os.path.getmtime(core) > os.path.getmtime(program):
            return
        death = name.split("-", 1)[1].rsplit("-", 2)[0]  # null-field-read-gcc-o0 dies of field-read
        subprocess.run([os.path.join(self.root, "corpora", "take-core"), "--out", core, "--", program, death],
                       stdout=subprocess.DEVNULL, check=True, env={**self.environment, "RUST_BACKTRACE": "0"})

    def ask(self, argv):
        """The output, and (seconds, CPU seconds)."""
        before, start = os.times(), time.monotonic()
        done = subprocess.run(argv, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        seconds, after = time.monotonic() - start, os.times()
        if done.returncode:
            sys.exit("bench: %s: exit status %d" % (" ".join(argv)[:120], done.returncode))
        busy = after.children_user + after.children_system - before.children_user - before.children_system
        return done.stdout, (seconds, busy)

    def loop(self, command):
        """The time of a sh loop over all cores."""
        return self.ask(["sh", "-c", LOOP % command, "sh", self.list])[1]

    def forget(self, *names):
        shutil.rmtree(os.path.join(self.cache, "xcore", *names), ignore_errors=True)


def median(numbers):
    return sorted(numbers)[len(numbers) // 2]


def put(bench, name, times, count):
    """Medians of several times; other load affects wall seconds more than CPU seconds."""
    seconds, busy = (median([one[i] for one in times]) for i in range(2))
    print("  %-58s %8.2f s %8.2f s of CPU %8.1f ms each%s" % (
        name, seconds, busy, seconds / count * 1e3, "  (median of %d)" % len(times) if len(times) > 1 else ""))
    sys.stdout.flush()
    bench.rows.append({"title": "batch", "name": name, "median_s": seconds, "cpu_s": busy, "runs": len(times), "count": count})
    return seconds


def rounds(bench, batch, argv, times):
    """Runs with an empty xcore cache; with the cache that `analyze` fills for one core of each program; and with their
    own cached answers."""
    for _ in range(RUNS):
        batch.forget()
        times["cold"].append(batch.ask(argv)[1])
        for one in PROGRAMS:
            batch.ask(bench.xcore("analyze", "-q", os.path.join(batch.cores, one, "core.0")))
        batch.forget("triage")
        times["warm"].append(batch.ask(argv)[1])
        times["again"].append(batch.ask(argv)[1])


def check(batch, answer):
    """A fast wrong answer is not a result: each program's cores form one cluster."""
    found = json.loads(answer)
    sizes = sorted(one["cores"] for one in found["clusters"])
    if found["cores"] != batch.count or found["failed"] or sizes != [EACH] * len(PROGRAMS):
        sys.exit("bench: batch: %d cores, clusters of %s" % (found["cores"], sizes))


def measure_time(bench, batch):
    argv = bench.xcore("triage", "--resume", "-q", "--format", "json", batch.cores)
    check(batch, batch.ask(argv)[0])
    times = {"cold": [], "warm": [], "again": []}
    rounds(bench, batch, argv, times)
    rivals = {"gdb": put(bench, "a loop of gdb -ex bt", [batch.loop(GDB)], batch.count),
              "eu-stack -i -s": put(bench, "a loop of eu-stack -i -s", [batch.loop(EU_STACK)], batch.count)}
    rounds(bench, batch, argv, times)
    mine = {name: put(bench, title, times[name], batch.count) for name, title in (
        ("cold", "xcore triage, empty cache"), ("warm", "xcore triage, warm cache"), ("again", "xcore triage --resume, all finished"))}
    for rival, wanted in (("gdb", 40), ("eu-stack -i -s", 8)):
        for name in ("cold", "warm"):
            print("  %s cache: %.1f times as fast as %s (wanted: %d)" % (name, rivals[rival] / mine[name], rival, wanted))
            bench.goal("batch: 200 cores, %s cache, against %s" % (name, rival), mine[name] / rivals[rival], 1 / wanted)
    bench.goal("batch: --resume when all is finished: seconds", mine["again"], 1)


def answer_with(bench, batch, megabytes):
    """The result for each core if its worker is limited to that much data (RLIMIT_DATA: all private writable memory,
    touched or not). A core that needs more is analysed without its heap, and its record says so."""
    answer, _ = batch.ask(bench.xcore("triage", "-q", "--no-cache", "--format", "json", "--worker-memory", str(megabytes), batch.cores))
    return [json.loads(answer)[part] for part in ("clusters", "failed")]


def measure_memory(bench, batch):
    low, high = MEMORY
    whole = answer_with(bench, batch, 2048)
    if answer_with(bench, batch, high) != whole:
        sys.exit("bench: batch: a worker needs more than %d MB" % high)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if answer_with(bench, batch, middle) == whole else (middle + 1, high)
    result = os.path.join(batch.work, "rss")
    batch.ask(["/usr/bin/time", "-f", "%M", "-o", result, *bench.xcore("triage", "-q", batch.cores)])
    with open(result, encoding="utf-8") as stream:
        peak = int(stream.read().split()[-1]) / 1e3
    print("  a worker has enough of %d MB of its own (--worker-memory); in memory it has at most %.1f MB, pages of files that all share with it"
          % (high, peak))
    bench.goal("batch: a worker's own memory: MB", high, 64)
    bench.goal("batch: a worker's peak RSS: MB", peak, 64)


def measure_clustering(bench, batch):
    for name, write in traces.SHAPES.items():
        part = os.path.join(batch.work, "part-%s.jsonl" % name)
        with open(part, "w", encoding="utf-8") as stream:
            write(stream)
        answer, taken = batch.ask(bench.xcore("triage", "--merge", "-q", "--format", "jsonl", part))
        clusters = sum(b'"type":"cluster"' in line for line in answer.splitlines())
        seconds = put(bench, "%d stacks of %d frames, %s: %d clusters" % (traces.COUNT, traces.FRAMES, name, clusters), [taken], traces.COUNT)
        bench.goal("batch: grouping 20,000 stacks, %s: seconds" % name, seconds, 60)
        os.unlink(part)


def bench_batch(bench, root, work, environment):
    batch = Batch(root, work, environment)
    os.makedirs(batch.work, exist_ok=True)
    if not batch.make():
        print("\nbatch: no programs below build/deaths: corpora/build-deaths")
        bench.goals.append({"goal": "batch: not measured, no cores", "value": None, "bound": None, "met": False})
        return
    sizes = [os.path.getsize(one) for one in glob.glob(os.path.join(batch.cores, "*", "core.*"))]
    print("\nbatch: %d cores of %d programs  (%.1f to %.1f MiB)" % (batch.count, len(PROGRAMS), min(sizes) / 2**20, max(sizes) / 2**20))
    measure_time(bench, batch)
    measure_memory(bench, batch)
    measure_clustering(bench, batch)
