"""suites: all tests, with what each suite proves, each test's tier and the cores it needs. Read by tests/run and
tests/readme.

The tier decides when a test runs: `quick` (15 s, no compiler), `check` (60 s), `test` (required for every change),
`long` (the full matrices)."""

import glob
import importlib.util
import os
import re

from catalogue import Suite, Test

LUAJIT, NGINX = ["luajit:openresty-o0-*"], ["nginx:static-o0-*", "nginx:packaged-*"]
BATS = ["bats", "--timing", "--formatter", "tap"]
UNITS_CORES = {"batch/sandbox/test_worker": ["deaths:abort-assert-next-gcc-o2"]}


def module(path):
    """Loads a Python module from its file."""
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def deaths(cases):
    return ["deaths:" + case.name for case in cases]


def heap_few():
    return ["heap:" + name for name in module("corpora/heap/cases.py").few()]


def programs(build, folder, tier):
    """The compiled tests of a folder. Each test is named by its path in the folder."""
    made = []
    for source in sorted(glob.glob("tests/%s/**/test_*.c" % folder, recursive=True)):
        name = os.path.relpath(source, "tests/" + folder)[:-2]
        own_tier = tier if tier == "long" else tier_of(source) or tier
        made.append(Test(name, [os.path.join(build, "tests", folder, name)], own_tier, cores=UNITS_CORES.get(name, ())))
    return made


def tier_of(source):
    """The tier that the first line of a test names: /* layer: dwarf tier: long */. The Makefile reads it, too."""
    with open(source, encoding="utf-8") as stream:
        found = re.search(r"tier: *(\w+)", stream.readline())
    return found and found[1]


def bats(folder, skip=(), cores=None):
    """The bats files of a folder. A file with the tag `long`, and the tests with that tag, are of test-long. `cores` maps
    a file's name to the cores it needs."""
    made = []
    for path in sorted(glob.glob("tests/%s/*.bats" % folder)):
        name, (whole, part) = os.path.basename(path)[:-5], long_tags(path)
        if name in skip:
            continue
        needed = (cores or {}).get(name, ())
        if not whole:
            made.append(Test(name, BATS + ["--filter-tags", "!long"] * part + [path], "test", cores=needed))
        if whole or part:
            made.append(Test(name + " long" * part, BATS + ["--filter-tags", "long"] * part + [path], "long", cores=needed))
    return made


def long_tags(path):
    """Whether the whole file has the tag `long`, and whether tests in it have."""
    with open(path, encoding="utf-8") as stream:
        text = stream.read()
    return "\n# bats file_tags=long\n" in text, "\n# bats test_tags=long\n" in text


def both_tiers(suite, folder, names, cores, long_cores, tier="test"):
    """tests/SUITE/FOLDER/NAME for each name, without and with --long."""
    paths = [(name, "tests/%s/%s/%s" % (suite, folder, name)) for name in names]
    return [Test(name, [path], tier, cores=cores) for name, path in paths] + [
        Test(name + " long", [path, "--long"], "long", cores=long_cores) for name, path in paths]


def script(suite, name, *arguments, tier="test", **more):
    """tests/SUITE/NAME, with arguments."""
    return Test(" ".join([name, *arguments]).replace("--", ""), ["tests/%s/%s" % (suite, name), *arguments], tier, **more)


# CPU seconds of each suite in `make test` on a fresh machine of 2026 (TIMES=1 tests/run), without the 200 of the cores;
# "–": in test-long only.
TAKES = {"unit": "67", "integration": "64", "property": "11", "golden": "9", "canary": "5", "replay": "1", "cli": "77", "live": "57",
         "tools": "8", "diff": "42", "plugin": "29", "luajit": "15", "redis": "9", "nginx": "19", "heap": "15", "verdict": "21",
         "batch": "34", "hostile": "11", "browser": "16", "timing": "14"}


def suites(build):
    """The table of suites. `build` is the folder of the compiled programs."""
    gdb, causes = module("tests/diff/chosen.py"), module("corpora/deaths/table.py")
    hostile = ["--xcore", os.path.abspath("build/hostile/xcore")]
    table = [
        Suite("unit", "each source file in isolation, on data that the test constructs", programs(build, "unit", "quick")),
        Suite("integration", "the same on small programs that the test compiles and crashes", programs(build, "integration", "check"),
              needs="gcc clang rustc go"),
        Suite("property", "random cases against an oracle; the seed is printed", programs(build, "property", "check")),
        Suite("golden", "JSON and text output for small checked-in cores is byte-identical on every host",
              [Test(os.path.basename(pack)[:-5], ["tests/golden/run", pack], "check") for pack in sorted(glob.glob("corpora/golden/*.pack"))]),
        Suite("canary", "tests/run detects failures", [Test("run", ["tests/canary/run", build], "test")]),
        Suite("replay", "the fuzz targets pass on their seeds and past findings", [
            Test(name, [os.path.join(build, "tests", "fuzz", "fuzz_" + name), "corpora/fuzz/" + name], "check")
            for name in sorted(os.listdir("corpora/fuzz")) if os.path.exists("tests/fuzz/fuzz_%s.c" % name)]),
        Suite("cli", "every command: options, messages, exit statuses and files",
              bats("cli", cores={"triage_keep": ["deaths:abort-assert-gcc-o0"], "views": ["programs:views-gcc"]}), needs="gcc bats jq"),
        Suite("live", "running processes: no ptrace, no stop, no write; the same answers as for a core",
              bats("live", skip=["busy"], cores={"by": NGINX, "languages": ["luajit:openresty-o0-*", "nginx:static-o0-*"]}), needs="gcc bats strace"),
        Suite("tools", "the oracle scripts are correct themselves", [
            Test(os.path.basename(path)[:-3], ["python3", path], "check") for path in sorted(glob.glob("tests/**/test_*.py", recursive=True))]),
        Suite("diff", "every frame, value, type and expression agrees with gdb", [
            *[script("diff", name, cores=gdb.cores(name)) for name in ("run", "print", "expressions", "views", "types", "scripted")],
            script("diff", "run", "--long", tier="long", alone=True, cores=gdb.cores("run", True)),
            *[script("diff", name, "--long", tier="long", cores=gdb.cores(name, True))
              for name in ("print", "expressions", "views", "types", "scripted", "forms", "hotspot")],
        ], needs="gdb"),
        Suite("plugin", "plugins and the Lua API, against each program's own records", [
            Test("own", ["tests/plugin/run"], cores=["programs:null-read"]),
            *[script("plugin", name, cores=cores) for name, cores in (
                ("adversaries", ["programs:structs-gcc-o0"]), ("guide", []),
                ("heap", ["heap:lists-o0"]), ("walks", ["programs:walk"]),
                ("stubs", ["programs:" + case for case in ("null-read", "threads-8", "cxx-gcc-o0", "no-debug", "optimised-gcc-o2", "deleted", "no-build-id")]),
                ("newcomer", []))],
            script("plugin", "cpython", cores=["python:3.11-crash", "python:3.11-idle"]),
            script("plugin", "cpython", "--long", tier="long", cores=["python:*-crash", "python:*-idle"]),
            script("plugin", "arguments", "--long", tier="long", cores=["luajit:openresty-o0-c", "nginx:static-o0-gcore", "programs:abort"]),
            script("plugin", "newcomer", "--clone", tier="long"),
        ]),
        Suite("luajit", "LuaJIT and Lua: stacks, values, memory, bytecode and traces match the program's own report", [
            *both_tiers("plugin", "luajit", ("code", "frames", "values"), [*LUAJIT, "nginx:static-o0-gcore"], ["luajit:*", "nginx:*"]),
            *both_tiers("plugin", "luajit", ("graph", "replay", "stripped"), [*LUAJIT, "luajit:gc32-o0-*", "nginx:static-o0-gcore"], ["luajit:*", "nginx:*"], "long"),
            Test("puclua", ["tests/plugin/puclua"], cores=["recipes:lua5.4"]),
            Test("puclua long", ["tests/plugin/puclua", "--long"], "long", cores=["recipes:lua5.*"]),
        ]),
        Suite("redis", "keys, clients and memory match what redis reports", [
            *both_tiers("plugin", "redis", ("cores", "live"), ["recipes:redis-quick"], ["recipes:redis", "recipes:redis-libc"]),
            Test("cores big", ["tests/plugin/redis/cores", "--big"], "long", cores=["recipes:redis-big"], alone=True),
            Test("heap", ["tests/heap/redis"], cores=["recipes:redis-quick"]),
            Test("heap long", ["tests/heap/redis", "--long"], "long", cores=["recipes:redis", "recipes:redis-libc"]),
            Test("heap big", ["tests/heap/redis", "--big"], "long", cores=["recipes:redis-big", "recipes:redis-libc-big"], alone=True),
        ]),
        Suite("nginx", "requests, connections, pools and shared memory match the records of nginx and its clients",
              both_tiers("plugin", "nginx", ("live", "memory", "requests", "stripped", "zones"), NGINX, ["nginx:*"]) +
              both_tiers("plugin", "nginx", ("chains",), NGINX, ["nginx:*"], "long")),
        Suite("heap", "blocks, leaks and types match the program's allocation log", [
            script("heap", "run", cores=heap_few()),
            script("heap", "cuts", cores=["heap:threads-o2", "heap:threads-o2-bare-stripped", "heap:leaks-o2-jemalloc"]),
            script("heap", "growth"),
            script("heap", "run", "--long", tier="long", cores=["heap:*"]),
            script("heap", "cuts", "--long", tier="long", cores=["heap:*-o2*"]),
            script("heap", "truth", tier="long", cores=["heap:*"]),
        ]),
        Suite("heap-big", "heaps of millions of blocks", [
            Test("run", ["tests/heap/run", "--big"], "long", cores=["heap:million-*", "heap:tables-*", "heap:chain-*"], alone=True)]),
        Suite("verdict", "the causes of known crashes; no certain verdict is wrong, no secret is printed", [
            script("verdict", "run", "--as", "full", cores=deaths(causes.one_of_each_cause())),
            script("verdict", "redacted", cores=deaths(causes.planted_and_others())),
            script("verdict", "run", "--long", tier="long", alone=True, cores=["deaths:*"]),
            script("verdict", "redacted", "--long", tier="long", cores=["deaths:*"]),
            script("verdict", "bugs", tier="long", cores=["bugs:*"]),
        ], needs="gcc clang rustc go"),
        Suite("batch", "clusters match the planted causes; output is byte-identical when sharded, reordered or resumed after kills", [
            script("batch", "truth", cores=["batch:some"]),
            script("batch", "same", cores=["batch:some"]),
            script("batch", "shards"), script("batch", "make"),
            script("batch", "parallel", tools=["parallel"]),
            script("batch", "k8s"),
            script("batch", "readme", tools=["slurmctld"], cores=["deaths:" + case for case in (
                "null-field-read-gcc-o0", "abort-assert-gcc-o2", "heap-double-tcache-gcc-o2", "wild-unmapped-write-gcc-o0")]),
            script("batch", "slurm", tools=["slurmctld", "munged"]),
            script("batch", "truth", "--long", tier="long", cores=["batch:all"]),
            Test("same long", ["tests/batch/same", "--batch", "build/batch/all", "--count", "60", "--kills", "5"], "long", cores=["batch:all"]),
        ]),
        Suite("hostile", "truncated cores, damaged cores and heaps, and files that are not cores: one clear answer, no crash", [
            script("hostile", "cut", "--cases", "3", cores=gdb.cores("run")),
            script("hostile", "mutate", "--count", "60", cores=gdb.cores("run")),
            script("hostile", "batch", "--count", "60", cores=gdb.cores("run")),
            script("hostile", "inputs", cores=gdb.cores("run")),
            script("hostile", "cutstacks", cores=["programs:threads-8*"]),
            script("hostile", "structures", tier="long", cores=["programs:null-read"]),
            script("hostile", "structures", "--long", tier="long", cores=["programs:null-read"]),
        ]),
        Suite("sanitized", "the same and all unit tests under ASan and UBSan, with small limits", [
            Test("cut", ["tests/hostile/cut", *hostile, "--both"], "long", cores=["programs:*"]),
            Test("mutate", ["tests/hostile/mutate", *hostile, "--count", "2000"], "long", cores=["programs:*"]),
            Test("batch", ["tests/hostile/batch", *hostile, "--count", "5000"], "long", cores=["programs:*"]),
            Test("vms", ["tests/hostile/vms", *hostile, "--count", "400"], "long", cores=["luajit:*"]),
            Test("heaps", ["tests/hostile/heaps", "--count", "1000"], "long"),
            Test("inputs", ["tests/hostile/inputs", *hostile], "long", cores=["programs:*"]),
            *programs("build/hostile", "unit", "long"), *programs("build/hostile", "integration", "long"),
            *programs("build/hostile", "property", "long"),
            Test("golden", ["env", "XCORE=" + hostile[1], "tests/golden/run"], "long"),
            *[Test("replay " + name, [os.path.join("build/hostile/tests/fuzz/fuzz_" + name), "corpora/fuzz/" + name], "long")
              for name in sorted(os.listdir("corpora/fuzz")) if os.path.exists("tests/fuzz/fuzz_%s.c" % name)],
        ]),
        Suite("browser", "HTML output works in a browser", [
            script("browser", "flame", tools=["chromium"], cores=["heap:leaks-o0"]),
            script("browser", "profile", tools=["chromium", "zstd"]),
            script("browser", "viewers", tier="long", tools=["chromium", "zstd", "npm", "node"]),
            script("browser", "profile", "--long", tier="long", tools=["chromium", "zstd"]),
            script("browser", "triage", tools=["chromium"]),
            script("browser", "triage", "--long", tier="long", tools=["chromium"]),
        ], needs="chromium"),
        Suite("timing", "promised times, each compared with another measurement of the same run", [
            Test("busy", BATS + ["--filter-tags", "!long", "tests/live/busy.bats"], alone=True),
            Test("busy long", BATS + ["--filter-tags", "long", "tests/live/busy.bats"], "long", alone=True)]),
    ]
    for suite in table:
        suite.takes = TAKES.get(suite.name, "–")
    return table
