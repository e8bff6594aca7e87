"""Compares xcore's JSON of a value (dwarf/format/value_json.h) with gdb's description of it (gdb_oracle.py).

Integers are numbers or decimal strings, pointers "0x…" or {"addr": …}, enums {"name", "value"}, NaN and infinities
strings. Structs are objects (base classes under their type name, members of anonymous members as own ones), arrays
are arrays. Arrays of characters are strings, in which a byte that is not UTF-8 is written as \\xNN.
"""

import re

import compare
import valuetext

NOTHING = object()


def base_key(name):
    return compare.plain_integers(name).replace(" ", "")


def codes(text):
    """The bytes of a string."""
    out = bytearray()
    for piece in re.split(r"(\\x[0-9a-fA-F]{2})", text):
        if re.fullmatch(r"\\x[0-9a-fA-F]{2}", piece):
            out.append(int(piece[2:], 16))
        else:
            out += piece.encode("utf-8", "surrogatepass")
    return out


def lookup(value, steps):
    """The value at the steps (`.name`, `.<Base>`, `[n]`); NOTHING when it is not shown."""
    for step in steps:
        if step.startswith("["):
            index = int(step[1:-1])
            if isinstance(value, str):
                data = codes(value)
                value = data[index] if index < len(data) else NOTHING  # cut at its NUL
            elif isinstance(value, list) and index < len(value):
                value = value[index]
            else:
                return NOTHING
        elif isinstance(value, dict):
            name = step[1:]
            if name.startswith("<"):
                wanted = base_key(name[1:-1])
                value = next((one for key, one in value.items() if base_key(key) == wanted), NOTHING)
            else:
                value = value.get(name, NOTHING)
        else:
            return NOTHING
        if value is NOTHING:
            return NOTHING
    return value


def address(value):
    if isinstance(value, dict):
        value = value.get("addr")
    return int(value, 16) if isinstance(value, str) and re.fullmatch(r"0x[0-9a-f]+", value) else None


def integer(value):
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, str) and re.fullmatch(r"-?\d+", value):
        return int(value)
    return value if isinstance(value, int) else None


def leaf_equal(theirs, value):
    """Whether a scalar of the JSON equals gdb's."""
    kind = theirs["kind"]
    if kind == "pointer":
        return address(value) == int(theirs["value"], 16)
    if kind == "enum":
        return integer(value.get("value") if isinstance(value, dict) else value) == int(theirs["value"])
    if kind == "float":
        text = value if isinstance(value, str) else repr(value) if isinstance(value, (int, float)) else None
        mine = valuetext.float_key(text) if text is not None and not isinstance(value, bool) else None
        return valuetext.same(valuetext.scalar(theirs["value"], kind), mine, kind, theirs["size"])
    mine = integer(value)
    if mine is None:
        return False
    wanted = valuetext.scalar(theirs["value"], kind)
    return mine == wanted or theirs["size"] == 1 and wanted is not None and mine % 256 == wanted % 256


def difference(theirs, value, unknown):
    """None when equal, otherwise the difference as text. Members that only one side shows are not compared."""
    if theirs["kind"] == "ref" or theirs["kind"] == "other":
        return None
    if "members" in theirs:
        for steps, leaf in theirs["members"]:
            mine = lookup(value, steps)
            path = "".join(steps)
            if mine is NOTHING or leaf["kind"] not in compare.SCALARS or leaf["kind"] == "ref":
                continue
            if "value" not in leaf:
                if mine is not None:
                    return "%s: gdb %s, xcore %r" % (path, leaf["why"], mine)
            elif mine is None:
                return "%s: gdb %s, xcore none (%s)" % (path, leaf["value"], (unknown or {}).get(path.lstrip("."), "?"))
            elif not leaf_equal(leaf, mine):
                return "%s: gdb %s, xcore %r" % (path, leaf["value"], mine)
        return None
    return None if leaf_equal(theirs, value) else "gdb %s, xcore %r" % (theirs["value"], value)
