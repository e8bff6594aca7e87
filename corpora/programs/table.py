"""table: the rows of programs/cases."""

import dataclasses
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TABLE = os.path.join(HERE, "cases")


@dataclasses.dataclass
class Row:
    """A line of the table; lists are the words of a column."""

    name: str
    sources: list
    compiler: str
    flags: list
    steps: list
    run: list
    signal: str
    function: str
    tags: list

    @property
    def program(self):
        return os.path.splitext(self.sources[0])[0]

    @property
    def guest(self):
        """The machine that qemu is to be, or None."""
        return next((step[len("guest="):] for step in self.steps if step.startswith("guest=")), None)

    @property
    def sysroot(self):
        """Where the distribution puts the C library of the machine that the compiler compiles for."""
        return "/usr/" + self.compiler.removesuffix("-gcc")

    @property
    def environment(self):
        return [word for word in self.run if re.match(r"[A-Z]\w*=", word)]

    @property
    def take_options(self):
        return [part for word in self.run if word.startswith("--") for part in word.split("=", 1)]

    @property
    def arguments(self):
        return [word for word in self.run if not word.startswith("--") and word not in self.environment]


def fail(number, why):
    sys.exit("%s:%d: %s" % (TABLE, number, why))


def parse(number, line):
    if set(line) & set("\"'\\"):
        fail(number, "quotes and backslashes have no place in the table")
    columns = [column.strip() for column in line.split("|")]
    if len(columns) != 9:
        fail(number, "%d columns instead of 9" % len(columns))
    if not re.fullmatch(r"[a-z0-9-][a-z0-9.-]*", columns[0]):
        fail(number, "bad name")
    name, sources, compiler, flags, steps, run, signal, function, tags = columns
    return Row(name, sources.split(), compiler, flags.split(), steps.split(), run.split(), signal, function, tags.split())


def rows():
    """All rows, in the table's order."""
    found = {}
    with open(TABLE, encoding="utf-8") as stream:
        for number, line in enumerate(stream, 1):
            if line.strip() and not line.lstrip().startswith("#"):
                row = parse(number, line)
                if row.name in found:
                    fail(number, "%s: twice in the table" % row.name)
                found[row.name] = row
    return list(found.values())
