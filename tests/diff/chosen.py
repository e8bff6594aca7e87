"""The cases of each test of this folder in `make test`: each claim is tested once. The grids (all compilers,
optimisation levels and versions of DWARF, other machines, real programs) are for --long. tests/suites.py reads this
file too."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(HERE)), "corpora", "programs"))
import table  # noqa: E402  pylint: disable=wrong-import-position

STACKS = """
null-call jump-return                 a pc that is no code; no return address
overflow-mutual overflow-thread       stacks of thousands of frames; a page that was not dumped
abort stack-smash fortify throw       through the C and C++ libraries
handler-reraise handler-nested        signal frames, on another stack and within another
threads-8 blocked fork-child          threads by depth and by system call; a child's
inline-o2 inline-o3-clang lto         inlined frames, by both compilers and across units
tail-call tail-call-clang tails       frames that are not there any more
frames frames-omit-fp frames-clang    frames of every shape
frames-debug-frame frames-no-hdr      CFI elsewhere, without an index
frames-no-cfi frames-no-cfi-fp        none, without and with a frame pointer
hot-leaf hot-frame hot-chain          none, in a function that was stopped anywhere
hot-no-tables                         and none of its callers'
static no-pie deleted sysroot         where the program is
dlopen dlmopen dlclosed vdso          and its libraries
debuglink debug-build-id minidebug    where the debug information is
stripped line-tables-only             how much of it
compressed-zstd type-units-dwarf4     in what form
split-dwarf types-dwz
"""
VALUES = """
scalars-gcc-o0 scalars-clang-o2       each family of values unoptimised and optimised, by one compiler and by the other
structs-gcc-o0 structs-clang-o2
arrays-gcc-o0 arrays-clang-o2
scopes-gcc-o0 scopes-clang-o2
types-gcc-o0 types-clang-o2
cxx-gcc-o0 cxx-clang-o2
classes-gcc-o0 classes-clang-o2
optimised-gcc-o2 optimised-clang-o2
structs-gcc-dwarf4 types-gcc-dwarf3   older DWARF
rust-o0
"""


def words(text):
    """The names in the first 38 columns of each line."""
    return [word for line in text.splitlines() for word in line[:38].split()]


TEST = {
    "run": words(STACKS) + words(VALUES),
    # Expressions do not depend on stacks, only on families of values and languages.
    "print": ["scalars-gcc-o0", "structs-clang-o2", "arrays-gcc-o0", "scopes-gcc-o0", "types-gcc-o0", "cxx-gcc-o0", "classes-clang-o2",
              "optimised-gcc-o2", "rust-o0"],
    "expressions": ["scalars-gcc-o0", "structs-gcc-o0", "arrays-clang-o2", "scopes-gcc-o0", "cxx-gcc-o0", "optimised-gcc-o2"],
    "views": ["views-gcc", "views-rust"],
    "types": ["types-gcc-o0", "structs-gcc-o0", "types-gcc-dwarf3"],
    "scripted": ["scalars-gcc-o0", "structs-gcc-o0", "arrays-gcc-o0", "scopes-gcc-o0", "types-gcc-o0", "cxx-gcc-o0", "classes-gcc-o0",
                 "optimised-gcc-o2", "threads-8", "inline-o2"],
}
# These are for `make test-long` only.
TEST.update({"forms": ["templates-big"], "hotspot": ["libjvm-big"]})
# Tests for which --long does not mean every case.
LONG = {
    "forms": TEST["forms"], "hotspot": TEST["hotspot"],
    "expressions": ["redis", "luajit", "python3", "nginx", "libstdcxx", "scalars-gcc-o0", "structs-gcc-o0", "arrays-clang-o0", "cxx-gcc-o0",
                    "cxx-clang-o0", "scopes-gcc-o0", "optimised-gcc-o2"],
    "types": ["redis", "luajit"],
}


def names(test, long):
    """The cases to look at; None for all existing ones."""
    return LONG.get(test) if long else TEST[test]


def required(test, long):
    """The cases that must exist (or were skipped by their builder)."""
    return [row.name for row in table.rows()] if long and test == "run" else names(test, long) or TEST[test]


def cores(test, long=False):
    """The cores that a test needs, for tests/suites.py."""
    builders = {row.name: "programs" for row in table.rows()}
    everything = {"views": ["programs:views-*", "recipes:views-libcxx"]}.get(test, ["programs:*", "recipes:*"])
    return ["%s:%s" % (builders.get(name, "recipes"), name) for name in names(test, long) or []] or everything
