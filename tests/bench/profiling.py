"""bench --only profile: what `xcore profile` costs the target and itself, and perf on the same program in the same run.

1. Against perf: tests/live/shares.c is sampled by both at once, at HZ for SECONDS. Time from the last sample (when the
   events are disabled, by strace, which sees no other call than this and the end) to a folded file, bytes written on the way, and the share of stacks that reach the outermost frame.
2. Cost to a server: the worker of bench --only nginx-live under wrk, without and with a profiler, in alternating order;
   the loss is the median over the pairs.
3. Cost to ourselves: CPU time for a stack, peak memory of a short and a long profile."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import nginx_live

HZ, SECONDS = 999, int(os.environ.get("BENCH_SECONDS", "30"))
OUTERMOST = re.compile(r"_start$|__libc_start_|start_thread$|clone3?$|^__clone")
MOST_LOSS = {99: 0.01, 999: 0.05}


class Program:
    """A running program that spends CPU time until its input ends."""

    def __init__(self, root, work):
        exe = os.path.join(work, "shares")
        subprocess.run(["gcc", "-D_GNU_SOURCE", "-g", "-O2", "-fno-omit-frame-pointer", "-pthread", "-o", exe,
                        os.path.join(root, "tests", "live", "shares.c")], check=True)
        self.process = subprocess.Popen([exe], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.process.stdout.readline()  # "ready"
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.stdin.close()
        self.process.stdout.read()
        self.process.wait()


def folded_stacks(path):
    """(samples, those whose stack reaches the outermost frame) of folded lines."""
    samples = whole = 0
    with open(path, encoding="utf-8", errors="replace") as stream:
        for line in stream:
            stack, _, count = line.rpartition(" ")
            samples += int(count)
            whole += int(count) if OUTERMOST.search(stack.split(";")[1 if stack.startswith("[") else 0]) else 0
    return samples, whole


def script_stacks(path):
    """The same of the text of perf script: a paragraph for each sample, its outermost frame in the last line."""
    samples = whole = 0
    last = None
    with open(path, encoding="utf-8", errors="replace") as stream:
        for line in stream:
            if line.startswith((" ", "\t")):
                last = line.split()[1] if len(line.split()) > 1 else ""
            elif not line.strip() and last is not None:
                samples, whole, last = samples + 1, whole + bool(OUTERMOST.search(last.split("+")[0])), None
    return samples, whole


def after_sampling(path):
    """Seconds from the first call that disables events to the end of the last process, by strace -ttt."""
    disabled = ended = None
    with open(path, encoding="ascii", errors="replace") as stream:
        for line in stream:
            when = float(line.split()[1])
            if "PERF_EVENT_IOC_DISABLE" in line and disabled is None:
                disabled = when
            ended = when if "exit_group(" in line else ended
    return ended - disabled


def against_perf(bench, root, work, environment):
    data, text, folded, calls = (os.path.join(work, name) for name in ("perf.data", "perf.txt", "xcore.folded", "xcore.calls"))
    for path in (data, text, folded, calls):
        if os.path.exists(path):
            os.remove(path)
    with Program(root, work) as program:
        rival = subprocess.Popen(["perf", "record", "-q", "-e", "task-clock:u", "-F", str(HZ), "--call-graph", "dwarf", "-p",
                                  str(program.pid), "-o", data, "--", "sleep", str(SECONDS)],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        subprocess.run(["strace", "-f", "--seccomp-bpf", "-ttt", "-e", "trace=ioctl,exit_group", "-o", calls] +
                       bench.xcore("profile", "pid:%d" % program.pid, "--hz", str(HZ), "--for", "%ds" % SECONDS,
                                   "--no-kernel", "--as", "folded", "-o", folded),
                       env=environment, stderr=subprocess.DEVNULL, check=True)
        mine = after_sampling(calls)
        rival.wait()
        begun = time.monotonic()
        with open(text, "w", encoding="utf-8") as out:
            subprocess.run(["perf", "script", "-i", data, "--no-inline"], stdout=out, stderr=subprocess.DEVNULL, check=True)
        theirs = time.monotonic() - begun
    (samples, whole), (their_samples, their_whole) = folded_stacks(folded), script_stacks(text)
    sizes = os.path.getsize(folded), os.path.getsize(data)
    print("\nprofile: against perf record --call-graph dwarf and perf script --no-inline, %d Hz, %d s, one program" % (HZ, SECONDS))
    print("  xcore  %8.4f s after the last sample           %12d bytes  %6d samples  %5.1f %% of stacks whole" % (
        mine, sizes[0], samples, 100 * whole / samples))
    print("  perf   %8.4f s of perf script                  %12d bytes  %6d samples  %5.1f %% of stacks whole" % (
        theirs, sizes[1], their_samples, 100 * their_whole / max(their_samples, 1)))
    bench.rows.append({"title": "profile", "name": "against perf", "command": "xcore profile", "seconds": [mine, theirs],
                       "bytes": sizes, "samples": [samples, their_samples], "whole": [whole, their_whole]})
    bench.goal("profile: from the last sample to a folded file, against perf script", mine / theirs, 1 / 20)
    bench.goal("profile: bytes on disk, against perf", sizes[0] / sizes[1], 1 / 100)
    bench.goal("profile: stacks that are not whole, against perf", (1 - whole / samples) / max(1 - their_whole / max(their_samples, 1), 1e-9), 1)


class Profiler:
    """A profiler during one window of nginx_live.Worker.rate, which calls step and end."""

    def __init__(self, argv, environment):
        self.argv, self.environment, self.running, self.took, self.cpu = argv, environment, None, [], []

    def step(self):
        if not self.running:
            self.running = subprocess.Popen(  # pylint: disable=consider-using-with
                self.argv, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def end(self):
        if self.running:
            self.running.send_signal(signal.SIGINT)
            _, _, usage = os.wait4(self.running.pid, 0)
            self.running.returncode = 0
            self.cpu.append(usage.ru_utime + usage.ru_stime)
            self.running = None


def cost_to_server(bench, worker, pairs, root, environment):
    target, plugins = "pid:%d" % worker.pid, ["--plugin-path", os.path.join(root, "plugins")]
    data = os.path.join(environment["XDG_CACHE_HOME"], "perf.data")
    cases = {"xcore profile, %d Hz" % hz: (bench.xcore("profile", target, "--hz", str(hz), "--for", "60s", *plugins), hz)
             for hz in MOST_LOSS}
    cases["perf record --call-graph dwarf, 999 Hz"] = (["perf", "record", "-q", "-e", "task-clock", "-F", "999", "--call-graph", "dwarf",
                                                        "-p", str(worker.pid), "-o", data], None)
    print("\nprofile: an nginx worker with Lua under wrk, %d pairs of %d s without and with a profiler" % (pairs, nginx_live.SECONDS))
    losses = {}
    for name, (argv, hz) in cases.items():
        profiler, worker.others = Profiler(argv, environment), []
        measured, cost = worker.pairs(profiler, pairs)
        losses[name] = loss = nginx_live.median([1 - with_it / without for without, with_it in measured])
        dearer = nginx_live.median([with_it / without - 1 for without, with_it in cost])
        print("  %-40s loss %5.1f %% (a request costs the worker %.1f %% more)  %.2f s of CPU in each window  (%s)" % (
            name, loss * 100, dearer * 100, nginx_live.median(profiler.cpu), ", ".join("%.0f %.0f" % pair for pair in measured)))
        sys.stdout.flush()
        bench.rows.append({"title": "profile", "name": name, "command": " ".join(argv), "pairs": measured, "loss": loss,
                           "worker_s_per_request": cost})
        if hz:
            bench.goal("profile: %s: requests lost" % name, loss, MOST_LOSS[hz])
    mine, theirs = (losses[name] for name in cases if "999" in name)
    bench.goal("profile: 999 Hz: requests lost, less perf's", mine - theirs, 0.005)


def cost_to_us(bench, root, work, environment):
    def account(seconds, hz):
        out, rss = os.path.join(work, "profile.json"), os.path.join(work, "rss")
        with Program(root, work) as program:
            subprocess.run(["/usr/bin/time", "-f", "%M", "-o", rss] + bench.xcore(
                "profile", "pid:%d" % program.pid, "--hz", str(hz), "--for", "%ds" % seconds, "--format", "json", "-o", out),
                env=environment, stderr=subprocess.DEVNULL, check=True)
        with open(out, encoding="utf-8") as stream:
            fields = next(one for one in json.load(stream)["sections"] if one["key"] == "profile")["fields"]
        with open(rss, encoding="utf-8") as stream:
            return fields, int(stream.read().split()[-1]) * 1024

    (_, short), (fields, long) = account(3, 99), account(30, HZ)
    print("\nprofile: our own cost: %.1f us of CPU for a stack; peak RSS %.1f MiB after %d samples, %.1f MiB after 3 s at 99 Hz" % (
        fields["unwinding"] * 1e6, long / 2**20, fields["samples"], short / 2**20))
    bench.goal("profile: CPU time for a stack of C frames, us", fields["unwinding"] * 1e6, 30)
    bench.goal("profile: peak RSS at 30,000 samples, MiB", long / 2**20, 64)


def bench_profile(bench, runs, root, environment):
    work = os.path.join(root, "build", "bench", "profile")
    os.makedirs(work, exist_ok=True)
    os.makedirs(environment["XDG_CACHE_HOME"], exist_ok=True)
    against_perf(bench, root, work, environment)
    cost_to_us(bench, root, work, environment)
    nginx_live.with_worker(root, "profile", lambda worker: cost_to_server(bench, worker, min(runs, 9), root, environment))
