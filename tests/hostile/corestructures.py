"""Cores whose structure multiplies: notes, threads, mappings, the loader's list, stacks. For tests/hostile/structures."""

import struct

import dwarfgen as d
import elfcore

AT_PHDR, AT_PHNUM = 3, 5
PT_DYNAMIC, PT_PHDR, DT_DEBUG = 2, 6, 21
REG_RBP, REG_RIP = 4, 16
NOWHERE = 0x12345


def threads(core, count, same):
    notes = d.notes(core)
    kind, name, body = next(note for note in notes if note[0] == d.NT_PRSTATUS)
    more = []
    for i in range(count):
        more.append((kind, name, body if same else with_id(body, 100000 + i)))
    return d.with_notes(core, notes + more)


def with_id(status, number):
    return status[:32] + struct.pack("<I", number) + status[36:]


def files(core, count, name):
    body = struct.pack("<QQ", count, 4096) + b"".join(
        struct.pack("<QQQ", 0x10000000 + i * 4096, 0x10001000 + i * 4096, 0) for i in range(count))
    return d.with_notes(core, [note for note in d.notes(core) if note[0] != d.NT_FILE] +
                        [(d.NT_FILE, b"CORE\0", body + b"".join(name(i) for i in range(count)))])


def loaded_files(core, count=16000):
    """The same with long names, each an object that may be executed."""
    page = b"\x7fELF\x02\x01\x01" + bytes(4089)
    long = files(core, count, lambda i: b"/" + b"n" * 4000 + b"/%d\0" % i)
    return d.with_notes(long, d.notes(long), [(0x10000000 + i * 4096, page) for i in range(count)], flags=5)


def r_debug_cell(core):
    """The file offset of DT_DEBUG's value in the program's dynamic section."""
    elf = elfcore.Elf(core)
    auxv = next(dict(struct.iter_unpack("<QQ", body)) for kind, _, body in d.notes(core) if kind == elfcore.NT_AUXV)
    at = elf.offset_of(auxv[AT_PHDR])[0]
    rows = [struct.unpack_from("<IIQQ", core, at + 56 * i) for i in range(auxv[AT_PHNUM])]
    bias = auxv[AT_PHDR] - next(row[3] for row in rows if row[0] == PT_PHDR)
    cell = elf.offset_of(bias + next(row[3] for row in rows if row[0] == PT_DYNAMIC))[0]
    while struct.unpack_from("<Q", core, cell)[0] != DT_DEBUG:
        cell += 16
    return cell + 8


def module_names(core, count=15000):
    """A list of the loader whose entries share one long name."""
    debug, link, name = 0x30000000, 0x30000100, 0x30200000
    changed = bytearray(core)
    struct.pack_into("<Q", changed, r_debug_cell(core), debug)
    head = struct.pack("<QQ", 1, link) + bytes(link - debug - 16)
    entries = b"".join(struct.pack("<QQQQQ", 0x50000000 + i * 4096, name, debug + 8 * i, link + 40 * (i + 1) if i + 1 < count else 0, 0)
                       for i in range(count))
    return d.with_notes(bytes(changed), d.notes(core), [(debug, head + entries), (name, b"/" + b"n" * 8191)])


def one_stack(core, count=1500, frames=20000):
    """Threads at the first frames of one deep stack, which is a chain of frame pointers."""
    low = 0x7ff000000000
    notes = d.notes(core)
    kind, name, body = next(note for note in notes if note[0] == d.NT_PRSTATUS)
    code = struct.unpack_from("<Q", body, elfcore.PR_REG + 8 * REG_RIP)[0]
    chain = b"".join(struct.pack("<QQ", low + 16 * (i + 1), code + i % 8) for i in range(frames))
    more = []
    for i in range(count):
        status = bytearray(with_id(body, 100000 + i))
        for register, value in ((REG_RBP, low + 16 * i), (elfcore.REG_RSP, low + 16 * i), (REG_RIP, NOWHERE)):
            struct.pack_into("<Q", status, elfcore.PR_REG + 8 * register, value)
        more.append((kind, name, bytes(status)))
    return d.with_notes(core, more + [note for note in notes if note[0] != kind], [(low, chain)])


CORES = {
    "same-threads": lambda core: threads(core, 500000, True),
    "threads": lambda core: threads(core, 150000, False),
    "files-one": lambda core: files(core, 1000000, lambda i: b"/x\0"),
    "files-many": lambda core: files(core, 1000000, lambda i: b"/%d\0" % (i % 30000)),
    "files-long": lambda core: files(core, 20000, lambda i: b"/" + b"n" * 4000 + b"/%d\0" % i),
    "files-loaded": loaded_files,
    "module-names": module_names,
    "one-stack": one_stack,
    "long-name": one_stack,
    "headers": lambda core: d.with_notes(core, d.notes(core), [(0x100000000 + i * 8192, 4096) for i in range(1000000)]),
}
