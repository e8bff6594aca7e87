"""damage: cores with words overwritten as bugs do: by other pointers, cycles, endless lengths, garbage."""

import bisect
import random
import struct

SAMPLES = 20000 # words that are scanned for pointers
SIZES = (1, 1 << 15, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 47, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)


class Core:
    """The bytes of a 64-bit core, by offset and by address. tests/hostile damages the part before `begin`: notes and
    headers of modules."""

    def __init__(self, path, begin=100000):
        with open(path, "rb") as stream:
            self.bytes = bytearray(stream.read())
        self.segments, self.begin, self.spared = [], begin, []
        table, count = struct.unpack_from("<Q", self.bytes, 32)[0], struct.unpack_from("<H", self.bytes, 56)[0]
        for i in range(count):
            kind, _, offset, addr, _, size = struct.unpack_from("<IIQQQQ", self.bytes, table + 56 * i)
            if kind == 1 and size >= 16 and offset + size <= len(self.bytes):
                self.segments.append((addr, offset, size))
        self.segments.sort()
        self.addresses = [addr for addr, _, _ in self.segments]

    def offset(self, addr):
        """The file offset of an address; None if it is not in the file."""
        i = bisect.bisect_right(self.addresses, addr) - 1
        if i >= 0 and addr - self.segments[i][0] < self.segments[i][2]:
            return self.segments[i][1] + addr - self.segments[i][0]
        return None

    def word(self, addr):
        return struct.unpack_from("<Q", self.bytes, self.offset(addr))[0]

    def store(self, addr, word):
        struct.pack_into("<Q", self.bytes, self.offset(addr), word & (1 << 64) - 1)

    def spare(self, addr, size):
        """Protects a range from damage: all other data is reached through it."""
        self.spared.append((addr, addr + size))

    def is_spared(self, addr):
        return self.offset(addr) < self.begin or any(lo - 8 < addr < hi for lo, hi in self.spared)

    def save(self, path):
        with open(path, "wb") as stream:
            stream.write(self.bytes)
        return path

    def anywhere(self, rng):
        """An aligned address in the core's memory."""
        addr, _, size = rng.choices(self.segments, [size for _, _, size in self.segments])[0]
        return (addr + 7 & ~7) + rng.randrange(size - 15) // 8 * 8

    def pointers(self, rng):
        """Some addresses that hold pointers into the core's memory."""
        places = (self.anywhere(rng) for _ in range(SAMPLES))
        return [addr for addr in places if self.offset(self.word(addr)) is not None] or [self.anywhere(rng)]


def spoil(core, seed, count):
    """Overwrites words of a Core's memory; half of them are pointers."""
    rng = random.Random(seed)
    pointers = core.pointers(rng)
    for _ in range(count):
        addr = rng.choice(pointers) if rng.random() < 0.5 else core.anywhere(rng)
        if core.is_spared(addr):
            continue
        core.store(addr, rng.choice((
            lambda: core.word(rng.choice(pointers)),                             # of another type
            lambda: core.word(rng.choice(pointers)) + rng.choice((1, 4, 8, -8)), # into the middle of something
            lambda: addr - 8 * rng.randrange(8),                                 # back to itself
            lambda: core.word(addr) ^ 1 << rng.randrange(64),                    # a bit
            lambda: core.anywhere(rng), lambda: 0, lambda: rng.randrange(64), lambda: rng.choice(SIZES), lambda: rng.getrandbits(64)))())


def is_traceback(told):
    """Whether the plugin failed with an error in its own code, rather than report what is wrong with the target."""
    return "traceback" in told or "attempt to" in told or "bad argument" in told
