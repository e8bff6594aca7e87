"""table: corpora/deaths/cases as objects. build-deaths builds their cores, tests/verdict/run compares verdicts with
them."""

import fnmatch
import functools
import os
import re
import shlex
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
COLUMNS = ["program", "death", "builds", "class", "kind", "severity", "expression", "culprit", "origin", "run"]
COMPILERS = {".c": {"gcc": "gcc", "clang": "clang"}, ".cc": {"gcc": "g++", "clang": "clang++"}, ".rs": {"rustc": "rustc"},
             ".go": {"go": "go"}}
LEVELS = {".c": ["o0", "o2", "o3"], ".cc": ["o0", "o2", "o3"], ".rs": ["o0", "o2", "o3"], ".go": ["o0", "o2"]}
LANGUAGE = {".c": ["-std=gnu11", "-g"], ".cc": ["-std=c++17", "-g"], ".rs": ["-g", "--edition", "2018", "-C", "panic=abort"],
            ".go": ["build", "-buildvcs=false"]}
ENVIRONMENT = {".go": {"GOTRACEBACK": "crash"}}  # otherwise it exits
# Environment values of the programs called planted; no redacted answer may print them. For the first, nothing shows
# that its text is a secret; for the others, the variable's name or the text does.
PLANTED = {"PLANTED_TEXT": "tell-nobody-7041", "PLANTED_TOKEN": "hunter2.letmein4", "PLANTED_NAME": "token=k3yhole"}
TURNS = (("gcc-o0", "rustc-o0", "go-o0"), ("clang-o2", "gcc-o2", "rustc-o2", "go-o2"))
SECONDS = {".c": 0.25, ".cc": 1.5, ".rs": 2.5, ".go": 1}  # to compile a program
CXX = ("cxx.cc", "mutex.cc", "throw.cc")  # the programs whose causes are those of C++
EXTRA = re.compile(r"\bbuild ([a-z]+-[a-z0-9]+): ([^\n*]+)")
DIES = re.compile(r"\bdies: ([-a-z0-9 ]+?)\s*(?:\*/|$)")


@functools.lru_cache(None)
def text_of(program):
    with open(os.path.join(HERE, program), encoding="utf-8") as stream:
        return stream.read()


@functools.lru_cache(None)
def lines_of(program):
    """{death: its marked lines}"""
    found = {}
    for number, line in enumerate(text_of(program).splitlines(), 1):
        marked = DIES.search(line)
        for death in marked.group(1).split() if marked else []:
            found.setdefault(death, []).append(number)
    return found


def builds_of(program, patterns):
    """The builds ("gcc-o2") of a program that match the patterns, in a fixed order."""
    compilers = COMPILERS[os.path.splitext(program)[1]]
    every = ["%s-%s" % (compiler, level) for compiler in compilers for level in LEVELS[os.path.splitext(program)[1]]]
    extra = [name for name, _ in EXTRA.findall(text_of(program)) if name in patterns]
    chosen = extra + [b for b in every if any(p == "all" or fnmatch.fnmatch(b, p) or p in b.split("-") for p in patterns)]
    if not chosen:
        raise ValueError("%s: no build matches %s" % (program, " ".join(patterns)))
    return chosen


def flags_of(program, build):
    """The requests in the program's head ("flags: …", or for one build or compiler "flags gcc: …"; "build clang-libcxx:
    …")."""
    extension = os.path.splitext(program)[1]
    compiler, level = build.split("-")
    flags = list(LANGUAGE[extension])
    extra = dict(EXTRA.findall(text_of(program)))
    if build in extra:
        flags += shlex.split(extra[build])
    elif extension == ".go":
        flags += ["-gcflags=-N -l"] if level == "o0" else []
    else:
        flags += ["-C", "opt-level=" + level[1]] if extension == ".rs" else ["-O" + level[1]]
    for which, words in re.findall(r"\bflags ?([-a-z0-9]*): ([^\n*]+)", text_of(program)):
        if which in ("", compiler, level, build):
            flags += words.split()
    return [COMPILERS[extension][compiler]] + flags


class Case:
    """One death of one build, and the truth about it. Missing expectations are None; lists contain equally good
    answers."""

    def __init__(self, row, build):
        self.program, self.death, self.build = row["program"], row["death"], build
        self.name = "%s-%s-%s" % (os.path.splitext(self.program)[0], self.death, build)
        self.classes = alternatives(row["class"])
        self.kinds = alternatives(row["kind"])
        self.severities = alternatives(row["severity"])
        self.expressions = alternatives(row["expression"])
        self.culprits = alternatives(row["culprit"])
        self.origin = None if row["origin"] == "-" else row["origin"]
        self.lines = lines_of(self.program).get(self.death, [])
        words = [] if row["run"] == "-" else row["run"].split()
        self.take_options = [part for word in words if word.startswith("--") for part in word.split("=", 1)]
        self.environment = dict(ENVIRONMENT.get(os.path.splitext(self.program)[1], {}))
        self.environment.update(PLANTED if self.is_planted() else {})
        self.environment.update(word.split("=", 1) for word in words if not word.startswith("--"))

    def is_planted(self):
        return self.program.startswith("planted.")


def alternatives(cell):
    return None if cell == "-" else cell.split(" or ")


def rows():
    with open(os.path.join(HERE, "cases"), encoding="utf-8") as stream:
        for number, line in enumerate(stream, 1):
            if not line.strip() or line.startswith("#"):
                continue
            cells = [cell.strip() for cell in line.split("|")]
            if len(cells) not in (len(COLUMNS) - 1, len(COLUMNS)) or not all(cells):
                raise ValueError("cases:%d: %d columns, %d or %d are wanted, '-' for none"
                                 % (number, len(cells), len(COLUMNS) - 1, len(COLUMNS)))
            yield dict(zip(COLUMNS, cells + ["-"]))


@functools.lru_cache(None)
def every_case():
    """All cases by their names, in the order of the file."""
    cases = {}
    for row in rows():
        for build in builds_of(row["program"], row["builds"].split()):
            case = Case(row, build)
            if case.name in cases:
                raise ValueError("cases: %s stands there twice" % case.name)
            cases[case.name] = case
    return cases


def all_cases(only="*"):
    return [case for case in every_case().values() if fnmatch.fnmatch(case.name, only)]


def one_build_each():
    """Each death once, one program in one build, the next in another, planted secrets in both."""
    deaths, turns, chosen = {}, {}, []
    for case in all_cases():
        deaths.setdefault((case.program, case.death), []).append(case)
    for (program, _), cases in deaths.items():
        turn = turns.setdefault(program, len(turns)) if not cases[0].is_planted() else len(chosen)
        chosen.append(next((case for build in TURNS[turn % 2] for case in cases if case.build == build), cases[0]))
    return chosen


def cause_of(case):
    """Class and kind in its language; what C++ adds to C is in programs of its own."""
    extension = os.path.splitext(case.program)[1]
    return repr((".c" if extension == ".cc" and case.program not in CXX else extension, case.classes, case.kinds))


def cost_of(program, build, number):
    """About the seconds to compile it; more for a build that it is not the program's turn for."""
    if (program, build) == ("null.c", "gcc-o0"):  # other tests have it, too
        return 0
    slower = {"rustc-o2": 2, "gcc-o2": 1.05}.get(build, 1) * (1 if build in TURNS[number % 2] else 1.1)
    return SECONDS[os.path.splitext(program)[1]] * slower


def one_of_each_cause():
    """A death of each cause, in as few and as cheap builds as have them; all with planted secrets: the cases of `make test`."""
    programs = list(dict.fromkeys(case.program for case in every_case().values()))
    usual = {case.name for case in every_case().values() if case.build in TURNS[0] + TURNS[1]}
    with_usual = {(case.program, case.death) for case in every_case().values() if case.name in usual}
    builds = {}  # {(program, build): {cause: its first case}}
    for case in every_case().values():
        if not case.is_planted() and (case.name in usual or (case.program, case.death) not in with_usual):
            builds.setdefault((case.program, case.build), {}).setdefault(cause_of(case), case)
    costs = {(program, build): cost_of(program, build, programs.index(program)) for program, build in builds}
    chosen = {}
    while any(builds.values()):  # the build that has most causes for its cost, and so on
        best = min((build for build in builds if builds[build]), key=lambda build: costs[build] / len(builds[build]))
        chosen.update(builds[best])
        for left in builds.values():
            for cause in chosen.keys() & left.keys():
                del left[cause]
    names = {case.name for case in chosen.values()} | {case.name for case in one_build_each() if case.is_planted()}
    return [case for case in every_case().values() if case.name in names]


def planted_and_others(only="*"):
    """All deaths with planted secrets, and of the others of one_of_each_cause one of each language."""
    chosen = {}
    for case in one_of_each_cause():
        if fnmatch.fnmatch(case.name, only):
            chosen.setdefault((case.program, case.death) if case.is_planted() else os.path.splitext(case.program)[1], case)
    return list(chosen.values())


@functools.lru_cache(None)
def compiler_version(compiler):
    """None if it is not installed."""
    try:
        done = subprocess.run([compiler, "version" if compiler == "go" else "--version"], stdout=subprocess.PIPE, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.decode(errors="replace")


def too_old(program, compiler):
    """Why the compiler cannot build the program, whose head may say "needs COMPILER VERSION"; or None."""
    needed = re.search(r"\bneeds %s ([0-9.]+)" % re.escape(compiler), text_of(program))
    have = re.search(r"[0-9]+(\.[0-9]+)+", compiler_version(compiler) or "")
    if needed and have and numbers(have.group()) < numbers(needed.group(1)):
        return "%s %s is older than %s" % (compiler, have.group(), needed.group(1))
    return None


def numbers(version):
    return [int(part) for part in version.split(".")]
