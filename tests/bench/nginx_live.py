"""bench --only nginx-live: the loss of a worker under load while it is inspected.

The server of corpora/build-nginx with everything its cores have in flight, and a heap of a hundred thousand users. The
worker is alone on processor 0; wrk and xcore are on processor 1, xcore at idle priority. wrk requests a page that takes
Lua a tenth of a millisecond, for SECONDS without and SECONDS with a report each second, in alternating order; the loss
is the median over the pairs. If a report takes longer than a second, the next one starts when it ends. Nothing traces
the worker: TracerPid is checked throughout, and strace shows a report's system calls.

A page of almost no work is a separate measurement, without a goal: there the worker mostly wakes wrk, which is free
when processor 1 is idle and costs an interrupt (in a virtual machine: an exit to the host) when anything runs there.
For comparison, a loop that computes without reading the worker is measured as well."""

import importlib.machinery
import importlib.util
import os
import re
import subprocess
import sys
import time

PAIRS, SECONDS, USERS, CLIENTS = 7, 5, 100, 16
MOST = 0.05  # of requests per second
QUIET = 0.15  # processors that others may use: with more, the pairs are meaningless
REPORTS = {"analyze": ["analyze"], "luajit.gc": ["run", "luajit.gc"], "nginx.reqs": ["run", "nginx.reqs"]}
IDLE = ["chrt", "-i", "0"]
WORDS, FEW_WORDS = 200, 20  # of a page
LOOP = ["perl", "-e", "1 while (times)[0] < 0.1"]
UNLIMITED = ["--max-read-rate", "0", "--max-read-time", "0"]
FORBIDDEN = "ptrace,process_vm_writev,kill,tkill,tgkill,rt_sigqueueinfo,rt_tgsigqueueinfo,pidfd_send_signal,process_madvise"
PAGE = """
		location /made {
			content_by_lua_block {
				local user = app.users[math.random(#app.users)]
				local words = {}
				for i = 1, tonumber(ngx.var.arg_words) do words[i] = user.name .. " " .. i end
				ngx.say(table.concat(words, ","), ngx.shared.known:get("key 1"))
			}
		}
"""


def recipe(root):
    """corpora/build-nginx as a module: it starts nginx and its clients."""
    path = os.path.join(root, "corpora", "build-nginx")
    loader = importlib.machinery.SourceFileLoader("build_nginx", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("build_nginx", loader))
    loader.exec_module(module)
    return module


def runner(build):
    """The recipe's Run with that page."""

    class Run(build.Run):
        def edited(self, text):
            return text.replace("\t\tlocation /ping", PAGE + "\t\tlocation /ping", 1)

    return Run


def of_status(pid, field):
    with open("/proc/%d/status" % pid, encoding="ascii", errors="replace") as stream:
        return int(re.search(field + r":\s*(\d+)", stream.read()).group(1))


class Reports:
    """One report per second; ends with its load."""

    def __init__(self, argv, environment, pid):
        self.argv, self.environment, self.pid = argv, environment, pid
        self.took, self.cpu, self.running, self.begun = [], [], None, 0

    def step(self):
        """To be called a few times per second."""
        if of_status(self.pid, "TracerPid"):
            sys.exit("bench: the worker is traced")
        now = time.monotonic()
        if self.running:
            ended, status, usage = os.wait4(self.running.pid, os.WNOHANG)
            if not ended:
                return
            self.running.returncode = os.waitstatus_to_exitcode(status)
            if status:
                sys.exit("bench: %s: %s" % (" ".join(self.argv), self.running.stderr.read().decode(errors="replace")[-300:]))
            self.running.stderr.close()
            self.running = None
            self.took.append(now - self.begun)
            self.cpu.append(usage.ru_utime + usage.ru_stime)
        if now - self.begun >= 1:
            self.begun = now
            self.running = subprocess.Popen(  # pylint: disable=consider-using-with
                self.argv, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def end(self):
        """Does not wait for the running one: the next measurement is without reports."""
        if self.running:
            self.running.terminate()
            self.running.communicate()
            self.running = None


def busy():
    """Busy seconds of all processors."""
    with open("/proc/stat", encoding="ascii") as stream:
        user, nice, system, _, _, irq, softirq = map(int, stream.readline().split()[1:8])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def of_process(pid):
    """CPU seconds of a process."""
    with open("/proc/%d/stat" % pid, encoding="ascii", errors="replace") as stream:
        fields = stream.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Worker:
    """A server under test: its worker on processor 0, everything else on 1."""

    def __init__(self, server, run):
        self.wrk, self.run, self.pid = server.path("wrk"), run, run.worker()
        self.words = WORDS
        self.others = []  # processors used by other programs in each window
        self.cost = []  # CPU seconds of the worker per request in each window

    def strangers(self):
        """CPU seconds of processes outside this measurement."""
        return busy() - of_process(self.pid) - sum(os.times()[:4])

    def rate(self, reports=None):
        """Requests per second, as reported by wrk, during reports."""
        url, before = "http://127.0.0.1:%d/made?words=%d" % (self.run.ports["http"], self.words), self.strangers()
        worked = of_process(self.pid)
        with subprocess.Popen([self.wrk, "-t1", "-c%d" % CLIENTS, "-d%ds" % SECONDS, url], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT) as process:
            while process.poll() is None:
                if reports:
                    reports.step()
                time.sleep(0.02)
            said = process.stdout.read().decode(errors="replace")
        if reports:
            reports.end()
        self.others.append((self.strangers() - before) / SECONDS)
        found, count = re.search(r"Requests/sec:\s*([\d.]+)", said), re.search(r"(\d+) requests in", said)
        if not found or not count or re.search("Non-2xx|Socket errors", said):
            sys.exit("bench: wrk: " + said)
        self.cost.append((of_process(self.pid) - worked) / int(count.group(1)))
        return float(found.group(1))

    def pairs(self, reports, count):
        """[(without, with)] in requests per second, and in CPU seconds of the worker per request."""
        out, cost = [], []
        for number in range(count):
            if number % 2:
                looked_at = self.rate(reports)
                out.append((self.rate(), looked_at))
                cost.append((self.cost[-1], self.cost[-2]))
            else:
                alone = self.rate()
                out.append((alone, self.rate(reports)))
                cost.append((self.cost[-2], self.cost[-1]))
        return out, cost


def median(numbers):
    return sorted(numbers)[len(numbers) // 2]


def measure(bench, worker, name, argv, pairs, environment):
    """Returns the lost share of requests; None if other load disturbed the pairs."""
    reports, worker.others = Reports(argv, environment, worker.pid), []
    measured, cost = worker.pairs(reports, pairs)
    loss = median([1 - with_it / without for without, with_it in measured])
    dearer = median([with_it / without - 1 for without, with_it in cost])
    print("  %-34s loss %5.1f %% (a request costs the worker %.1f %% more)  %3d reports, each %.2f s, %.2f s of CPU; others used %.2f processors  (%s)" % (
        name, loss * 100, dearer * 100, len(reports.took), median(reports.took) if reports.took else float("nan"),
        median(reports.cpu) if reports.cpu else float("nan"), median(worker.others), ", ".join("%.0f %.0f" % pair for pair in measured)))
    sys.stdout.flush()
    bench.rows.append({"title": "nginx-live", "name": name, "command": " ".join(argv), "pairs": measured, "loss": loss, "worker_s_per_request": cost, "strangers": worker.others,
                       "reports": len(reports.took), "median_s": median(reports.took) if reports.took else None,
                       "cpu_s": median(reports.cpu) if reports.cpu else None})
    return loss if median(worker.others) <= QUIET else None


def goal(bench, name, loss):
    if loss is None:
        bench.goals.append({"goal": name + ": not measured, others use the machine", "value": None, "bound": MOST, "met": False})
    else:
        bench.goal(name + ": requests lost", loss, MOST)


def forbidden(argv, environment):
    """strace's lines for forbidden calls."""
    log = os.path.join(environment["XDG_CACHE_HOME"], "forbidden")
    done = subprocess.run(["strace", "-f", "-qq", "-e", "trace=" + FORBIDDEN, "-e", "signal=none", "-o", log, *argv, *UNLIMITED],
                          env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit("bench: %s: %s" % (" ".join(argv), done.stderr.decode(errors="replace")[-300:]))
    with open(log, encoding="utf-8", errors="replace") as stream:
        return [line.strip() for line in stream if "(" in line]


def bench_worker(bench, worker, pairs, root, environment):
    plugins = ["--plugin-path", os.path.join(root, "plugins"), "pid:%d" % worker.pid]
    print("\nnginx-live: worker of %.0f MiB; requests per second without and with a report each second, %d pairs of %d s" % (
        of_status(worker.pid, "VmRSS") / 1024, pairs, SECONDS))
    for name, words in REPORTS.items():
        argv = bench.xcore(*words, *plugins)
        goal(bench, "nginx-live: " + name, measure(bench, worker, name, IDLE + argv, pairs, environment))
        bench.goal("nginx-live: %s: system calls that touch the worker" % name, float(len(forbidden(argv, environment))), 0)
    gc = bench.xcore(*REPORTS["luajit.gc"], *plugins)
    measure(bench, worker, "luajit.gc, at normal priority", gc, pairs, environment)
    measure(bench, worker, "luajit.gc, no limits", IDLE + gc + UNLIMITED, pairs, environment)
    measure(bench, worker, "nothing", ["true"], pairs, environment)
    worker.words = FEW_WORDS
    measure(bench, worker, "small page: analyze", IDLE + bench.xcore(*REPORTS["analyze"], *plugins), pairs, environment)
    measure(bench, worker, "small page: a loop of 0.1 s", IDLE + LOOP, pairs, environment)


def with_worker(root, name, measure_it):
    """Calls measure_it with a Worker, which is under no load yet."""
    build, before = recipe(root), os.sched_getaffinity(0)
    if len(before) < 2:
        print("\n%s: wants two processors" % name)
        return
    case = build.cases.Case("static", "gcore", USERS)
    scratch = os.path.join(root, "build", "bench", name)
    os.makedirs(scratch, exist_ok=True)
    try:
        server = build.Server.get("static")
    except build.Skip as why:
        print("\n%s: %s" % (name, why))
        return
    first, second = sorted(before)[:2]
    os.sched_setaffinity(0, {second})
    try:
        with runner(build)(case, server, scratch) as run:
            run.start(["taskset", "-c", str(first)])
            run.set_up()
            worker = Worker(server, run)
            worker.rate()  # traces are compiled, files are in the page cache
            measure_it(worker)
    finally:
        os.sched_setaffinity(0, before)


def bench_nginx_live(bench, runs, root, environment):
    os.makedirs(environment["XDG_CACHE_HOME"], exist_ok=True)
    with_worker(root, "nginx-live", lambda worker: bench_worker(bench, worker, min(runs, PAIRS), root, environment))
