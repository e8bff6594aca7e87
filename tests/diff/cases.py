"""The cases of the corpora, and how gdb is started on one."""

import fnmatch
import json
import os
from collections import Counter

HERE = os.path.dirname(os.path.abspath(__file__))
ORACLE = os.path.join(HERE, "gdb_oracle.py")


class Case:
    """One directory of the corpora."""

    def __init__(self, directory):
        with open(os.path.join(directory, "meta.json"), encoding="utf-8") as stream:
            meta = json.load(stream)
        self.dir = directory
        self.name = meta["name"]
        self.core = os.path.join(directory, meta["core"])
        self.exe = os.path.join(directory, meta["exe"])
        self.options = meta.get("options", [])
        self.foreign = "foreign" in meta.get("tags", [])
        self.alone = bool({"facts", "alone"} & set(meta.get("tags", [])))
        self.long = "long" in meta.get("tags", []) or "-big" in self.name
        self.counts = Counter()
        self.error = None
        self.findings = []

    def option_values(self, name):
        """Values of an option in meta.json, paths made absolute."""
        pairs = zip(self.options, self.options[1:])
        return [os.path.join(self.dir, value) for option, value in pairs if option == name]


def find_cases(out, only, long, foreign=False):
    """A case inside another is the same one with its debug information in another form: tests/diff/forms."""
    found = []
    for directory, below, files in os.walk(out):
        if "meta.json" in files:
            found.append(Case(directory))
            below.clear()
    # Of some machines' cores xcore reports facts and maps only; of others gdb finds no stacks (tests/cli/foreign.bats).
    mine = (case for case in found
            if fnmatch.fnmatch(case.name, only) and not case.alone and (foreign or not case.foreign)
            and (long or only != "*" or not case.long))
    return sorted(mine, key=lambda case: case.name)


def gdb_command(case, script=ORACLE):
    """The command that runs a script in gdb on a case's program and core."""
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
    return command + ["-x", script, case.exe, case.core]
