"""operations: seeded random damage to `size` bytes of data from `low` on."""

import struct

EXTREMES = (0, 1, 2, 4, 7, 8, 15, 16, 0x7f, 0x80, 0xff, 0x1000, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000,
            0xfffffffe, 0xffffffff, 0x7fffffffffffffff, 0x8000000000000000, 0xfffffffffffff000, 0xffffffffffffffff)


def flip_bits(rng, data, low, size):
    for _ in range(rng.randint(1, 8)):
        data[low + rng.randrange(size)] ^= 1 << rng.randrange(8)


def set_bytes(rng, data, low, size):
    at = rng.randrange(size)
    count = min(rng.choice((1, 1, 2, 4, 8, 64)), size - at)
    fill = rng.choice((0, 0xff, 0x7f, 0x80, None))
    for index in range(low + at, low + at + count):
        data[index] = rng.randrange(256) if fill is None else fill


def set_integer(rng, data, low, size):
    """An extreme value, or a small change of the original one, in a field of 1, 2, 4 or 8 bytes."""
    width = rng.choice([w for w in (1, 2, 4, 8, 8) if w <= size])
    at = low + rng.randrange(size - width + 1) // width * width
    code = {1: "<B", 2: "<H", 4: "<I", 8: "<Q"}[width]
    (was,) = struct.unpack_from(code, data, at)
    value = rng.choice(EXTREMES + (len(data), len(data) - 1, was + 1, was - 1, was * 2, was ^ (1 << 8 * width - 1)))
    struct.pack_into(code, data, at, value & (1 << 8 * width) - 1)


def swap_words(rng, data, low, size):
    width = min(rng.choice((4, 8, 16, 56)), size // 2)
    if width == 0:
        return
    one, two = (low + rng.randrange(size - width + 1) for _ in range(2))
    data[one:one + width], data[two:two + width] = data[two:two + width], data[one:one + width]


OPERATIONS = (flip_bits, set_bytes, set_integer, set_integer, swap_words)
