"""builder: shared by the programs corpora/build-*: options, up-to-date checks, a lock per case, the summary.

A case is an object with `name`, `stamp(out)`, a digest of all its inputs, and `make(directory, out)`, which fills an
empty folder. Its stamp is written last, so that an interrupted case is rebuilt. A case that cannot be built on this
host raises Skip: its folder then contains a file `skipped` with the reason."""

import argparse
import concurrent.futures
import contextlib
import fcntl
import fnmatch
import hashlib
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TAKE_CORE = os.path.join(HERE, "take-core")
# Recipes and compilers want it; services and containers often have none.
os.environ.setdefault("HOME", os.path.expanduser("~"))


class Skip(Exception):
    """The case cannot be built here, for reasons outside the corpora."""


def run(argv, **more):
    """The command's output. A failure raises RuntimeError with the end of the output."""
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, **more)
    if done.returncode != 0:
        said = done.stdout.decode(errors="replace").strip()[-2000:]
        raise RuntimeError("%s: exit status %d\n%s" % (" ".join(argv[:3]), done.returncode, said))
    return done.stdout.decode(errors="replace")


def take_core(directory, argv, timeout, *options, **more):
    """Runs a program until it dies; its core and output go to `directory`. Returns what take-core said. A host that gives
    no core of it raises Skip."""
    command = [TAKE_CORE, "--timeout", str(timeout), "--log", os.path.join(directory, "output"), "--out", os.path.join(directory, "core"), *options]
    done = subprocess.run([*command, "--", *argv], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, **more)
    said = done.stdout.decode(errors="replace").strip()
    if done.returncode == 3:
        raise Skip(said.splitlines()[-1].removeprefix("take-core: "))
    if done.returncode != 0:
        raise RuntimeError("take-core %s: exit status %d\n%s" % (argv[0], done.returncode, said[-2000:]))
    return said


def digest(files, *more):
    """A digest of files' bytes, and of values by their repr."""
    whole = hashlib.sha256(repr(more).encode())
    for path in files:
        whole.update(digest_of_file(path, os.stat(path).st_mtime_ns))
    return whole.hexdigest()


DIGESTS = {}


def digest_of_file(path, changed):
    if (path, changed) not in DIGESTS:
        with open(path, "rb") as stream:
            DIGESTS[path, changed] = hashlib.sha256(stream.read()).digest()
    return DIGESTS[path, changed]


def libc():
    """A core is read with the C library that its program had mapped."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        loaded = [line.split()[-1] for line in maps if "libc.so" in line or "libc-2" in line]
    return loaded[:1]


def read(directory, name):
    try:
        with open(os.path.join(directory, name), encoding="utf-8") as stream:
            return stream.read().strip()
    except FileNotFoundError:
        return None


def write(directory, name, text):
    with open(os.path.join(directory, name), "w", encoding="utf-8") as stream:
        stream.write(text + "\n")


def stamp_of(case, out):
    """Of the folder, too: programs and cores name it, so that a tree that was moved is built again."""
    return digest([], case.stamp(out), os.path.realpath(out))


def is_current(directory, stamp):
    return read(directory, "stamp") == stamp


def renew(directory):
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)


@contextlib.contextmanager
def locked(directory):
    """Another builder may need the same case or program. The lock is next to the folder, because the folder is
    replaced."""
    os.makedirs(os.path.dirname(directory), exist_ok=True)
    with open(os.path.join(os.path.dirname(directory), ".%s.lock" % os.path.basename(directory)), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def build(case, out):
    """Builds the case if required. Returns whether it was built."""
    directory = os.path.join(out, case.name)
    with locked(directory):
        try:
            stamp = stamp_of(case, out)
            if is_current(directory, stamp):
                return False
            renew(directory)
            case.make(directory, out)
            write(directory, "stamp", stamp)
        except Skip as why:
            renew(directory)
            write(directory, "skipped", str(why))
            raise
    return True


def is_stale(case, out):
    """Builds nothing: a case without a stamp is stale whatever its inputs."""
    if read(os.path.join(out, case.name), "stamp") is None:
        return True
    try:
        return not is_current(os.path.join(out, case.name), stamp_of(case, out))
    except (Skip, RuntimeError, OSError):
        return True


def parser(doc, out):
    """The options of every builder."""
    made = argparse.ArgumentParser(description=doc.splitlines()[0], epilog="\n".join(doc.splitlines()[2:]),
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--out", default=os.path.join(os.path.dirname(HERE), "build", out), metavar="DIR", help="default build/%s" % out)
    made.add_argument("--only", action="append", metavar="GLOB", help="cases whose name matches one of these")
    made.add_argument("-j", type=int, default=os.cpu_count(), dest="jobs", metavar="N", help="cases at once")
    made.add_argument("--list", action="store_true", help="print the names of the chosen cases")
    made.add_argument("--stale", action="store_true", help="print those that are not up to date; cases on a line are best made together")
    return made


def chosen(cases, options):
    return [case for case in cases if not options.only or any(fnmatch.fnmatchcase(case.name, glob) for glob in options.only)]


def main(name, cases, options, together=lambda case: case.name, jobs=None):
    """Runs the action that the options select on the cases. Returns the exit status: 0 all exist or are skipped, 1 some
    failed, 2 usage error."""
    out, cases = os.path.abspath(options.out), chosen(cases, options)
    if not cases:
        print("%s: no case matches %s" % (name, " ".join(options.only)), file=sys.stderr)
        return 2
    if options.list:
        print("\n".join(case.name for case in cases))
        return 0
    if options.stale:
        lines = {}
        for case in cases:
            if is_stale(case, out):
                lines.setdefault(together(case), []).append(case.name)
        print("".join(" ".join(names) + "\n" for names in lines.values()), end="")
        return 0
    return build_all(name, cases, out, jobs or options.jobs)


def build_all(name, cases, out, jobs):
    failed = skipped = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for case, made in [(case, pool.submit(build, case, out)) for case in cases]:
            try:
                if made.result():
                    print("built %s" % case.name, flush=True)
            except Skip as why:
                skipped += 1
                print("%s: %s: skipped: %s" % (name, case.name, why), file=sys.stderr)
            except (RuntimeError, OSError, subprocess.SubprocessError) as why:
                failed += 1
                print("%s: %s: %s" % (name, case.name, why), file=sys.stderr)
    print("%d cases in %s%s" % (len(cases) - failed - skipped, out, ", %d skipped" % skipped if skipped else ""))
    return 1 if failed else 0
