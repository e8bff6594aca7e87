"""Locations in a 64-bit little-endian ELF file: enough to truncate and damage one on purpose.

Layouts: System V gABI (Elf64_Ehdr, Elf64_Phdr, Elf64_Shdr, Elf64_Nhdr); notes and prstatus as in
Linux 6.x include/uapi/linux/elfcore.h and fs/binfmt_elf.c (x86-64: pr_reg at offset 112).
Ranges are (file offset, size). The files are our own good ones: a broken one raises struct.error.
"""

import struct

PT_LOAD, PT_NOTE = 1, 4
NT_PRSTATUS, NT_AUXV = 1, 6
AT_SYSINFO_EHDR = 33
PR_REG, REG_RSP = 112, 19
UC_RSP, UC_CS, UC_SIZE = 40 + 15 * 8, 40 + 18 * 8, 40 + 23 * 8  # struct ucontext: Linux's asm/ucontext.h, asm/sigcontext.h
USER_CS = 0x33


def is_elf64(data):
    return data[:6] == b"\x7fELF\x02\x01"


class Elf:
    def __init__(self, data):
        if not is_elf64(data):
            raise ValueError("not a 64-bit little-endian ELF file")
        self.data = data
        (self.phoff, self.shoff) = struct.unpack_from("<QQ", data, 32)
        (self.phentsize, self.phnum, self.shentsize, self.shnum, self.shstrndx) = struct.unpack_from("<5H", data, 54)
        self.segments = [self.segment(n) for n in range(self.phnum)]

    def segment(self, number):
        """(type, file offset, address, file size, memory size)."""
        at = self.phoff + number * self.phentsize
        kind, _, offset, addr, _, filesz, memsz = struct.unpack_from("<IIQQQQQ", self.data, at)
        return kind, offset, addr, filesz, memsz

    def headers(self):
        return [(0, 64)]

    def program_headers(self):
        return [(self.phoff, self.phnum * self.phentsize)]

    def note_ranges(self):
        return [(offset, size) for kind, offset, _, size, _ in self.segments if kind == PT_NOTE and size]

    def notes(self):
        """(file offset of the header, type, file offset of the bytes, their size) of each note."""
        out = []
        for start, size in self.note_ranges():
            at, end = start, start + size
            while end - at >= 12:
                namesz, descsz, kind = struct.unpack_from("<III", self.data, at)
                desc = at + 12 + (namesz + 3 & ~3)
                out.append((at, kind, desc, descsz))
                at = desc + (descsz + 3 & ~3)
        return out

    def offset_of(self, addr):
        """(file offset, bytes left in its segment) of an address, or None if it was not dumped."""
        for kind, offset, low, filesz, _ in self.segments:
            if kind == PT_LOAD and low <= addr < low + filesz:
                return offset + addr - low, filesz - (addr - low)
        return None

    def range_at(self, addr, size):
        found = self.offset_of(addr)
        return [(found[0], min(size, found[1]))] if found else []

    def stack_pointers(self):
        """Of each thread, the crashed one first, in the kernel's order."""
        return [struct.unpack_from("<Q", self.data, desc + PR_REG + 8 * REG_RSP)[0] for _, kind, desc, descsz in self.notes()
                if kind == NT_PRSTATUS and descsz >= PR_REG + 8 * (REG_RSP + 1)]

    def is_in_file(self, addr):
        """A file that is cut short has less than its headers say."""
        found = self.offset_of(addr)
        return found is not None and found[0] < len(self.data)

    def interrupted(self, pointer):
        """The stack pointer that a handler on an alternate stack interrupted, or None: the kernel keeps it above the
        handler's frames, with the bounds of the alternate stack."""
        at, left = self.offset_of(pointer) or (0, 0)
        for where in range(at, min(at + left, len(self.data)) - UC_SIZE, 8):
            _, link, low, _, size = struct.unpack_from("<5Q", self.data, where)
            if link == 0 and low <= pointer + where - at < low + size and self.data[where + UC_CS] == USER_CS:
                return struct.unpack_from("<Q", self.data, where + UC_RSP)[0]
        return None

    def stacks(self, size=4096):
        """The live bytes at each thread's stack pointer."""
        return [part for sp in self.stack_pointers() for part in self.range_at(sp, size)]

    def vdso(self):
        for _, kind, desc, descsz in self.notes():
            if kind != NT_AUXV:
                continue
            for at in range(desc, desc + descsz - 15, 16):
                key, value = struct.unpack_from("<QQ", self.data, at)
                if key == AT_SYSINFO_EHDR:
                    return self.range_at(value, 8192)
        return []

    def sections(self, names):
        """Ranges of the sections with one of these names; none in a core."""
        if not self.shnum:
            return []
        entries = [struct.unpack_from("<IIQQQQ", self.data, self.shoff + n * self.shentsize) for n in range(self.shnum)]
        strings = entries[self.shstrndx][4]
        out = []
        for name, _, _, _, offset, size in entries:
            end = self.data.index(b"\0", strings + name)
            if self.data[strings + name:end].decode("latin-1") in names and size:
                out.append((offset, size))
        return out
