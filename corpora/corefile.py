"""corefile: reads words of a 64-bit core by address."""

import struct


def read(path, address, size):
    """Bytes at an address of a core's memory; ValueError if the core does not have them."""
    with open(path, "rb") as stream:
        head = stream.read(64)
        table, entry, count = struct.unpack_from("<Q", head, 32)[0], *struct.unpack_from("<HH", head, 54)
        stream.seek(table)
        raw = stream.read(entry * count)
        for i in range(count):
            kind, _, offset, low, _, length = struct.unpack_from("<IIQQQQ", raw, i * entry)
            if kind == 1 and low <= address and address + size <= low + length:
                stream.seek(offset + address - low)
                return stream.read(size)
    raise ValueError("0x%x is not in %s" % (address, path))
