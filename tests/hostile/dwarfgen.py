"""Debug information written by hand, put into a real program; cores with other notes. For tests/hostile/structures."""

import struct
import zlib

import elfcore

ADDR, STRING, DATA1, DATA4, DATA8, UDATA, REF4, SEC, EXPR, PRESENT = 0x01, 0x08, 0x0b, 0x06, 0x07, 0x0f, 0x13, 0x17, 0x18, 0x19
STRP = 0x0e
NAME, SIZE, LOW, HIGH, LANG, TYPE, OFFSET, ENCODING = 0x03, 0x0b, 0x11, 0x12, 0x13, 0x49, 0x38, 0x3e
LOCATION, RANGES, COUNT, ORIGIN, SPECIFICATION, IMPORT, VALUE, LINES, MACROS, FRAME = 0x02, 0x55, 0x37, 0x31, 0x47, 0x18, 0x1c, 0x10, 0x79, 0x40
SHF_COMPRESSED, SHT_PROGBITS, SHT_STRTAB = 0x800, 1, 3
PT_LOAD, PT_NOTE, NT_PRSTATUS, NT_FILE = 1, 4, 1, 0x46494c45


def uleb(number):
    out = bytearray()
    while True:
        out.append(number & 0x7f | (0x80 if number > 0x7f else 0))
        number >>= 7
        if not number:
            return bytes(out)


FIXED = {ADDR: "<Q", DATA1: "<B", DATA4: "<I", DATA8: "<Q", SEC: "<I", STRP: "<I"}


class Unit:
    """One unit of DWARF 5. A reference is the offset of an entry, or a list whose one item is set later."""

    def __init__(self):
        self.info = bytearray(12)
        self.abbrevs, self.codes, self.later = bytearray(), {}, []

    def die(self, tag, children, *attributes):
        """Begins an entry; returns its offset."""
        key = (tag, children, tuple((name, form) for name, form, _ in attributes))
        if key not in self.codes:
            self.codes[key] = len(self.codes) + 1
            self.abbrevs += uleb(self.codes[key]) + uleb(tag) + bytes([children])
            self.abbrevs += b"".join(uleb(name) + uleb(form) for name, form in key[2]) + b"\0\0"
        at = len(self.info)
        self.info += uleb(self.codes[key])
        for _, form, value in attributes:
            self.value(form, value)
        return at

    def value(self, form, value):
        if form == STRING:
            self.info += value.encode() + b"\0"
        elif form == UDATA:
            self.info += uleb(value)
        elif form == EXPR:
            self.info += uleb(len(value)) + value
        elif form == REF4:
            if isinstance(value, list):
                self.later.append((len(self.info), value))
                value = 0
            self.info += struct.pack("<I", value)
        elif form != PRESENT:
            self.info += struct.pack(FIXED[form], value)

    def end(self, count=1):
        self.info += bytes(count)

    def sections(self):
        for at, cell in self.later:
            struct.pack_into("<I", self.info, at, cell[0])
        struct.pack_into("<IHBBI", self.info, 0, len(self.info) - 4, 5, 1, 8, 0)
        return {".debug_info": bytes(self.info), ".debug_abbrev": bytes(self.abbrevs) + b"\0"}


def rows_of(exe):
    at, size, count, names = struct.unpack_from("<Q", exe, 40)[0], *struct.unpack_from("<HHH", exe, 58)
    rows = [list(struct.unpack_from("<IIQQQQIIQQ", exe, at + size * i)) for i in range(count)]
    text = exe[rows[names][4]:rows[names][4] + rows[names][5]]
    return [(text[row[0]:text.index(b"\0", row[0])].decode(), row) for row in rows]


def symbols(exe):
    """name -> (address, size)."""
    rows = dict(rows_of(exe))
    table, strings = rows[".symtab"], exe[rows[".strtab"][4]:][:rows[".strtab"][5]]
    found = {}
    for at in range(table[4], table[4] + table[5], 24):
        name, _, _, _, value, size = struct.unpack_from("<IBBHQQ", exe, at)
        found[strings[name:strings.index(b"\0", name)].decode()] = (value, size)
    return found


def with_debug(exe, sections):
    """The program with these debug sections, compressed, instead of its own."""
    kept = [(name, row) for name, row in rows_of(exe) if not name.startswith(".debug") and name != ".shstrtab"]
    out, names, table = bytearray(exe), bytearray(), bytearray()
    number = {old: new for new, old in enumerate(i for i, (name, _) in enumerate(rows_of(exe)) if (name, _) in kept)}
    for name, row in kept:
        row = list(row)
        row[0], row[6] = len(names), number.get(row[6], 0)
        names += name.encode() + b"\0"
        table += struct.pack("<IIQQQQIIQQ", *row)
    for name, data in sections.items():
        out += bytes(-len(out) % 8)
        stored = struct.pack("<IIQQ", 1, 0, len(data), 1) + zlib.compress(data, 9)
        table += struct.pack("<IIQQQQIIQQ", len(names), SHT_PROGBITS, SHF_COMPRESSED, 0, len(out), len(stored), 0, 0, 8, 0)
        names += name.encode() + b"\0"
        out += stored
    table += struct.pack("<IIQQQQIIQQ", len(names), SHT_STRTAB, 0, 0, len(out), len(names) + 10, 0, 0, 1, 0)
    out += names + b".shstrtab\0"
    out += bytes(-len(out) % 8)
    struct.pack_into("<Q", out, 40, len(out))
    struct.pack_into("<HH", out, 60, len(table) // 64, len(table) // 64 - 1)
    return bytes(out + table)


def segments(core):
    at, count = struct.unpack_from("<Q", core, 32)[0], struct.unpack_from("<H", core, 56)[0]
    return [list(struct.unpack_from("<IIQQQQQQ", core, at + 56 * i)) for i in range(count)]


def notes(core):
    """[(type, name, bytes)]"""
    return [(kind, core[at + 12:at + 12 + struct.unpack_from("<I", core, at)[0]], core[body:body + size])
            for at, kind, body, size in elfcore.Elf(core).notes()]


def with_notes(core, new, more=(), flags=6):
    """The core with these notes, and with more program headers of type LOAD: (address, bytes, or a size without bytes)."""
    loads = [row for row in segments(core) if row[0] == PT_LOAD]
    data = b"".join(struct.pack("<III", len(name), len(body), kind) + name + bytes(-len(name) % 4) + body +
                    bytes(-len(body) % 4) for kind, name, body in new)
    count, head = 1 + len(loads) + len(more), bytearray(core[:64])
    at = 64 + 56 * count
    rows, bodies = [struct.pack("<IIQQQQQQ", PT_NOTE, 0, at, 0, 0, len(data), 0, 4)], [data]
    at += len(data)
    for row in loads:
        rows.append(struct.pack("<IIQQQQQQ", PT_LOAD, row[1], at, *row[3:7], 1))
        bodies.append(core[row[2]:row[2] + row[5]])
        at += len(bodies[-1])
    for address, held in more:
        size, held = (held, b"") if isinstance(held, int) else (len(held), held)
        rows.append(struct.pack("<IIQQQQQQ", PT_LOAD, flags, at, address, 0, len(held), size, 1))
        bodies.append(held)
        at += len(held)
    struct.pack_into("<QQ", head, 32, 64, 0)
    struct.pack_into("<HHHH", head, 56, count if count < 0xffff else 0xffff, 0, 0, 0)
    if count >= 0xffff:  # the number is in the first section header
        struct.pack_into("<Q", head, 40, at)
        struct.pack_into("<HH", head, 58, 64, 1)
        bodies.append(struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, 1, 0, count, 0, 0))
    return bytes(head) + b"".join(rows) + b"".join(bodies)
