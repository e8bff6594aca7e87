"""forms: the same core with reduced inputs, for tests/verdict/run and bugs."""

import os
import shutil
import struct
import subprocess

FORMS = ("full", "stripped", "no-exe", "cut")


def heap_offset(core):
    """The file offset of the heap in the core, or without a heap that of the program's data."""
    with open(core, "rb") as stream:
        start = stream.read(64 << 10)
    table_at, = struct.unpack_from("<Q", start, 32)
    size, count = struct.unpack_from("<HH", start, 54)
    low = 0
    for number in range(min(count, (len(start) - table_at) // size)):
        kind, flags, offset, addr, _, filed = struct.unpack_from("<IIQQQQ", start, table_at + number * size)
        if kind == 1 and flags & 2 and filed and addr < 0x700000000000:
            low = max(low, offset)
    return low


def options_of(form, core, scratch):
    """The (options, core) for a query."""
    if form == "stripped":
        program = os.path.join(scratch, "program")
        subprocess.run(["strip", "--strip-all", "-o", program, os.path.join(os.path.dirname(core), "program")], check=True)
        return ["--exe", program], core
    if form == "no-exe":
        return ["--sysroot", scratch], core
    if form == "cut":
        short = os.path.join(scratch, "core")
        shutil.copyfile(core, short)
        os.truncate(short, heap_offset(core))
        return [], short
    return [], core
