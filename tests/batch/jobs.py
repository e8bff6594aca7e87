"""jobs: shared by the tests of job files: cores in a directory with a name that is special to every shell and template,
the output of one `xcore triage` run on them, and TAP counters."""

import glob
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
XCORE = os.environ.get("XCORE") or os.path.join(ROOT, "build", "release", "xcore")
HOSTILE = "-co res\x1b[31m\r é; $(touch pwned) `touch pwned` {} {1} {#} @shards@ %j \\ \"it's\" #1"
OUT = "xcore-triage"  # the output directory of job files


class Claims:
    """TAP on standard output."""

    def __init__(self):
        self.count = self.failed = 0

    def say(self, good, what, why=""):
        self.count += 1
        self.failed += not good
        print("%sok %d %s" % ("" if good else "not ", self.count, what))
        if not good and why:
            print("".join("# %s\n" % line for line in why.splitlines()[-40:]), end="")
        sys.stdout.flush()
        return good

    def end(self):
        print("1..%d" % self.count)
        return 1 if self.failed or not self.count else 0


class Place:
    """A directory with cores; removed at the end."""

    def __init__(self):
        self.path = tempfile.mkdtemp(prefix="xcore jobs '\"$é-")
        self.cores = os.path.join(self.path, HOSTILE)
        os.makedirs(os.path.join(self.cores, "b"))
        for number, pack in enumerate(sorted(glob.glob(os.path.join(ROOT, "corpora", "golden", "*.pack")))):
            name = "core." + os.path.basename(pack)
            shutil.copy(pack, os.path.join(self.cores, name))
            if number % 4 == 0:
                shutil.copy(pack, os.path.join(self.cores, "b", name + ".$HOME"))
        with open(os.path.join(self.cores, "core.broken"), "wb") as stream:
            stream.write(b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x04\x00" + bytes(40))
        self.env = {**os.environ, "XCORE": XCORE, "XCORE_SYMBOLS": "", "XDG_CACHE_HOME": os.path.join(self.path, "cache")}
        for name in [one for one in self.env if one.startswith(("SLURM_", "SBATCH_", "PARALLEL", "MAKE", "MFLAGS")) or one == "CI"]:
            del self.env[name]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path)

    def run(self, *words, **options):
        return subprocess.run(words, cwd=self.path, env={**self.env, **options.pop("env", {})}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False, **options)

    def xcore(self, *words):
        done = self.run(XCORE, "triage", *words)
        if done.returncode:
            raise SystemExit("xcore triage %s: %d\n%s" % (" ".join(words), done.returncode, done.stdout))
        return done

    def emit(self, system, *options):
        """The name of a job file."""
        self.xcore("--emit", system, "-o", "job." + system, *options, "--", HOSTILE)
        return "job." + system

    def whole(self, *options):
        """Text and JSON of one run on everything."""
        self.xcore("-q", "-o", "whole.txt", "--export", "json=whole.json", *options, "--", HOSTILE)
        return self.read("whole.txt"), self.read("whole.json")

    def merged(self):
        return self.read(OUT, "triage.txt"), self.read(OUT, "triage.json")

    def read(self, *names):
        try:
            with open(os.path.join(self.path, *names), encoding="utf-8") as stream:
                return stream.read()
        except FileNotFoundError:
            return None

    def path_of(self, *names):
        return os.path.join(self.path, *names)

    def has(self, *names):
        return os.path.exists(self.path_of(*names))

    def part(self, shard, of):
        return self.path_of(OUT, "part-%05d-of-%05d.jsonl" % (shard, of))

    def wrapper(self, script):
        """A program in place of xcore: a sh script in which "$REAL" is xcore and $shard the number of the shard, or
        empty."""
        path = self.path_of("wrapper")
        with open(path, "w", encoding="utf-8") as stream:
            stream.write("#!/bin/sh\nshard=\nfor word; do case $word in --shard=*) shard=${word#--shard=} shard=${shard%/*} ;; esac; done\n"
                         "while :; do case $shard in 0?*) shard=${shard#0} ;; *) break ;; esac; done\n" + script)
        os.chmod(path, 0o755)
        self.env.update(XCORE=path, REAL=XCORE)

    def changing_list(self, claims, system, *command):
        """The job file of a list that names another core afterwards."""
        name = HOSTILE + " list"
        for what in ("null-write", "null-call"):
            with open(self.path_of(name), "w", encoding="utf-8") as stream:
                stream.write(os.path.join(HOSTILE, "core.%s.pack\n" % what))
            self.xcore("-q", "-o", "whole.txt", "--export", "json=whole.json", "--", "@" + name)
            if not self.has("list." + system):
                self.xcore("--emit", system, "-o", "list." + system, "--shards", "2", "--", "@" + name)
            done = self.run(*command, "list." + system)
            claims.say(not done.returncode and self.merged() == (self.read("whole.txt"), self.read("whole.json")) and not self.has("pwned"),
                       "the_core_of_a_list_" + what, done.stdout)
