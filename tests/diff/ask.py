"""gdb's answers about a case, by one of the gdb_*.py of this folder. Cached beside the core until a dependency
changes."""

import contextlib
import fcntl
import functools
import hashlib
import os
import shutil
import subprocess

from cases import HERE

SECONDS = 600


def gdb_command(case, *words):
    """Starts gdb on a case with the files that xcore uses."""
    command = ["gdb-multiarch" if case.foreign else "gdb", "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off",
               "-iex", "set auto-load python-scripts off",
               # gdb 13 has assertions that real programs break (coerce_pieced_ref, on libjvm): one variable less, not all.
               "-iex", "maint set internal-error quit no", "-iex", "maint set internal-error corefile no"]
    sysroots = case.option_values("--sysroot")
    for sysroot in sysroots:
        command += ["-iex", "set sysroot " + sysroot]
    # gdb looks for debug files below its own /usr/lib/debug even with a sysroot; xcore stays inside.
    system = [sysroot + "/usr/lib/debug" for sysroot in sysroots] or ["/usr/lib/debug"]
    command += ["-iex", "set debug-file-directory " + ":".join(case.option_values("--debug-dir") + system)]
    return command + ["-iex", "python import sys; sys.path.insert(0, %r)" % HERE, *words]


@functools.lru_cache(None)
def digest_of(path):
    with open(path, "rb") as stream:
        return hashlib.sha256(stream.read()).hexdigest()


def stamp(case, command, settings):
    """The dependencies of an answer."""
    digest = hashlib.sha256(repr((command, sorted(settings.items()))).encode())
    for name in sorted(os.listdir(HERE)):
        if name.startswith("gdb_") or name == "pahole.py":
            digest.update(digest_of(os.path.join(HERE, name)).encode())
    for path in (case.core, case.exe, shutil.which(command[0])):
        info = os.stat(path)
        digest.update(b"%d %d " % (info.st_mtime_ns, info.st_size))
    return digest.hexdigest()


@contextlib.contextmanager
def locked(path):
    """Serialises tests that need the same answer."""
    with open(path, "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def answer(case, script, name, with_core=True, **settings):
    """The text that a script wrote to XC_ORACLE_OUT; settings are environment variables. RuntimeError without a text."""
    command = gdb_command(case, "-x", os.path.join(HERE, script), case.exe, *([case.core] if with_core else []))
    settings = {key: str(value) for key, value in settings.items()}
    kept, want = os.path.join(case.dir, name), stamp(case, command, settings)
    with locked(os.path.join(case.dir, "." + name + ".lock")):
        try:
            with open(kept, encoding="utf-8") as stream:
                if stream.readline() == want + "\n":
                    return stream.read()
        except FileNotFoundError:
            pass
        fresh = kept + ".fresh"
        with contextlib.suppress(FileNotFoundError):
            os.unlink(fresh)
        done = subprocess.run(command, env={**os.environ, **settings, "XC_ORACLE_OUT": fresh, "XC_CORE": case.core, "LC_ALL": "C.UTF-8"},
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS, check=False)
        if not os.path.exists(fresh):
            raise RuntimeError("gdb gave no answer: " + done.stdout.decode(errors="replace")[-600:])
        with open(fresh, encoding="utf-8", errors="surrogateescape") as stream:
            told = stream.read()
        os.unlink(fresh)
        with open(kept + ".new", "w", encoding="utf-8", errors="surrogateescape") as stream:
            stream.write(want + "\n" + told)
        os.rename(kept + ".new", kept)
        return told


def xcore(binary, arguments, case, *more, seconds=60):
    """xcore's output for a case; RuntimeError when it fails. Further arguments are after --."""
    done = subprocess.run([binary, *arguments, *case.files, *(["--", *more] if more else [])], cwd=case.dir, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=seconds, check=False)
    if done.returncode != 0:
        raise RuntimeError("xcore %s exits %d: %s" % (arguments[0], done.returncode, done.stderr.decode(errors="replace").strip()[-400:]))
    return done.stdout.decode()
