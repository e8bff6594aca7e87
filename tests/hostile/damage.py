"""The targets and kinds of damage of mutate and batch. Seeded, so that each damage is reproducible."""

import random

import elfcore
from operations import OPERATIONS

CFI = {".eh_frame", ".eh_frame_hdr", ".debug_frame"}
DEBUG = {".debug_info", ".debug_abbrev", ".debug_line", ".debug_str", ".debug_loc", ".debug_loclists",
         ".debug_ranges", ".debug_rnglists", ".debug_aranges", ".debug_addr", ".debug_line_str", ".symtab", ".strtab"}


class Files:
    """The bytes of a case, with the target ranges of each kind of damage."""

    def __init__(self, case):
        self.case = case
        self.core = case.read(case.core)
        self.exe = case.read(case.exe)
        core, exe = elfcore.Elf(self.core), elfcore.Elf(self.exe)
        self.ranges = {
            "ehdr": [("core", r) for r in core.headers()],
            "phdr": [("core", r) for r in core.program_headers()],
            "note": [("core", r) for r in core.note_ranges()],
            "stack": [("core", r) for r in core.stacks()],
            "cfi": [("exe", r) for r in exe.sections(CFI)] + [("core", r) for r in core.vdso()],
            "debug": [("exe", r) for r in exe.sections(DEBUG)],
        }


def damage(seed, index, files, kinds):
    """(case's Files, kind, damaged core, damaged program or None) of one mutation."""
    rng = random.Random("%d:%d" % (seed, index))
    one = files[index % len(files)]
    kind = rng.choice([kind for kind in kinds if one.ranges[kind]])
    data = {"core": bytearray(one.core), "exe": None}
    for _ in range(rng.randint(1, 32 if kind == "debug" else 4)):
        where, (low, size) = rng.choice(one.ranges[kind])
        if data[where] is None:
            data[where] = bytearray(one.exe)
        rng.choice(OPERATIONS)(rng, data[where], low, size)
    return one, kind, data["core"], data["exe"]
