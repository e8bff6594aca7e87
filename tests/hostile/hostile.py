"""Shared by cut and mutate: the cases, the run of xcore, and the rules for a run.

A run is good if it ends within the limits with status 0 and one JSON document on stdout, or with status 4, nothing on
stdout and one `xcore: WHAT: WHY` line (optionally with hints) on stderr. A signal, a sanitizer report, another status,
more memory than MAX_RSS or a leftover file is a failure.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import threading

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SECONDS = 5  # of CPU time
PATIENCE = 120  # seconds of wall time: a longer run is not slow, but stuck
MAX_RSS = 1 << 30  # bytes, sanitizer included
MAX_OUTPUT = 256 << 20
SANITIZER_STATUS = 99
COMMANDS = {
    "analyze": ["analyze", "--format", "json"],
    "bt": ["bt", "--format", "json", "--thread", "all", "--full"],
}
# A request beyond 1 GiB means that an unchecked length was used: the sanitizer reports it.
SANITIZERS = {
    "ASAN_OPTIONS": "exitcode=%d:detect_leaks=1:max_allocation_size_mb=1024" % SANITIZER_STATUS,
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1:exitcode=%d" % SANITIZER_STATUS,
}
REPORTS = (b"AddressSanitizer", b"LeakSanitizer", b"runtime error:", b"UndefinedBehavior")


class Case:
    """A small core with its program."""

    def __init__(self, directory, meta):
        self.name = meta["name"]
        self.core = os.path.join(directory, meta["core"])
        self.exe = os.path.join(directory, meta["exe"])
        self.options = absolute(directory, meta.get("options", []))

    def read(self, path):
        with open(path, "rb") as stream:
            return stream.read()


def absolute(directory, options):
    """Options of meta.json with absolute paths, because xcore runs in a private directory; the caller sets --exe."""
    out = []
    words = iter(options)
    for word in words:
        if word == "--exe":
            next(words, None)
        elif word in ("--debug-dir", "--sysroot"):
            out += [word, os.path.join(directory, next(words, ""))]
        else:
            out.append(word)
    return out


def commands(options, number):
    """Names of the commands for the input of this number."""
    return list(COMMANDS) if options.both else [list(COMMANDS)[number % len(COMMANDS)]]


def find_cases(options, names=()):
    """Cases with a plain core of at most --max-size bytes, by name; `names` selects cases regardless of size."""
    found = []
    for directory, _, files in os.walk(options.out):
        if "meta.json" not in files:
            continue
        with open(os.path.join(directory, "meta.json"), encoding="utf-8") as stream:
            case = Case(directory, json.load(stream))
        with open(case.core, "rb") as stream:
            plain = stream.read(4) == b"\x7fELF"
        if plain and (case.name in names if names else os.path.getsize(case.core) <= options.max_size):
            found.append(case)
    if not found:
        sys.exit("hostile: no core of at most %d bytes below %s: build the corpora first" % (options.max_size, options.out))
    found.sort(key=lambda case: case.name)
    count = min(options.cases, len(found)) or len(found)
    return [found[number * len(found) // count] for number in range(count)]


def add_options(parser):
    parser.add_argument("--out", default=os.path.join(ROOT, "build", "corpora"), help="the corpora")
    parser.add_argument("--max-size", type=int, default=1 << 20, help="largest core taken, bytes")
    parser.add_argument("--xcore", default=os.environ.get("XCORE", os.path.join(ROOT, "build", "asan", "xcore")))
    parser.add_argument("--cases", type=int, default=0, help="that many of the cores, evenly spread (default all)")
    parser.add_argument("--both", action="store_true", help="analyze and bt on each input, instead of in turn")
    parser.add_argument("-j", type=int, default=2)


def limit_children():
    """Limits the size of written files; set here because a hook between fork and exec is not safe with threads."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_OUTPUT, MAX_OUTPUT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Run:
    """One xcore process, run to its end or to the limit."""

    def __init__(self, binary, arguments, workdir):
        env = {**os.environ, **SANITIZERS, "LC_ALL": "C.UTF-8", "XDG_CACHE_HOME": os.path.join(workdir, "cache")}
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            child = subprocess.Popen([binary] + arguments, cwd=workdir, env=env, stdin=subprocess.DEVNULL,
                                     stdout=out, stderr=err)
            timer = threading.Timer(PATIENCE, child.kill)
            timer.start()
            _, status, usage = os.wait4(child.pid, 0)
            self.seconds = usage.ru_utime + usage.ru_stime
            self.endless = not timer.is_alive()
            timer.cancel()
            child.returncode = self.status = os.waitstatus_to_exitcode(status)
            self.rss = usage.ru_maxrss << 10
            out.seek(0)
            err.seek(0)
            self.out, self.err = out.read(), err.read()

    def fault(self):
        """The fault of this run, or None."""
        if any(report in self.err for report in REPORTS):
            return "sanitizer: " + next(line for line in self.err.decode(errors="replace").splitlines()
                                        if any(report.decode() in line for report in REPORTS))[:300]
        if self.seconds > SECONDS:
            return "not done after %.1f s of processor time" % self.seconds
        if self.endless:
            return "not done after %d s" % PATIENCE
        if self.status < 0:
            return "killed by signal %d" % -self.status
        if self.rss > MAX_RSS:
            return "took %d MiB" % (self.rss >> 20)
        if self.status == 0:
            return json_fault(self.out)
        if self.status == 4:
            return error_fault(self.out, self.err)
        return "exit status %d: %s" % (self.status, self.err.decode(errors="replace").strip()[:200])


def json_fault(out):
    def refuse(word):
        raise ValueError("%s is no JSON" % word)
    try:
        document = json.loads(out.decode("utf-8"), parse_constant=refuse)
    except ValueError as error:
        return "status 0, stdout is not JSON: %s" % error
    known = isinstance(document, dict) and str(document.get("schema", "")).startswith("xcore.")
    return None if known else "status 0, JSON without a schema"


def error_fault(out, err):
    if out:
        return "status 4 and something on stdout"
    lines = [line for line in err.decode(errors="replace").splitlines() if not line.startswith("  hint")]
    if len(lines) != 1 or not lines[0].startswith("xcore: ") or lines[0].count(": ") < 2:
        return "status 4 without one clear line: %r" % lines[:3]
    return None


def check(binary, case, core, exe, command, workdir):
    """Runs one command on these files; returns the fault as text, or None. workdir is the run's private directory,
    empty."""
    arguments = COMMANDS[command] + [core, "--exe", exe] + case.options
    run = Run(binary, arguments, workdir)
    fault = run.fault()
    if fault is None:
        left = sorted(set(os.listdir(workdir)) - {"cache", os.path.basename(core), os.path.basename(exe)})
        fault = "left behind: %s" % left if left else None
    return fault
