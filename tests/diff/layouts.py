"""Layouts of types in one form, whatever their source, and the differences between two sets of layouts.

A layout is (size or None, tuple of members, whole): not whole when the source omits some members. A member is
(path, bit, bits, size): its first bit from the start of the outermost type (None: in no debug information, as for
virtual bases), the width of a bit-field (0 for others), and the bytes of its type (None when unknown; of a
bit-field those of the declared type). A base class is a member named `<Name>`. Members of anonymous structs and
unions are below the path of their container, those of members whose type has no name below the member's; a named
type has an entry of its own. An enumeration's members are (name, value, 0, None).

A set of layouts maps keys (`struct client`, `typedef sds`, `base unsigned long`) to layouts: one name may mean
several types in a program.
"""

import re
from collections import Counter

import compare

RECORDS = ("struct", "class", "union")


def key(kind, name):
    """One spelling of a type's name; classes are structs."""
    plain = compare.plain_integers(re.sub(r"\s+", " ", name)).replace(" ", "")
    return "%s %s" % ("struct" if kind == "class" else kind, plain)


def nameless(text):
    """Whether a type's text is that of a struct or union without a name: `struct {...}`, `const union {...}`."""
    return re.match(r"(?:(?:const|volatile) )*(?:struct|union|class)(?: \{.*|)$", text or "") is not None


def add(telling, name, size, members, whole=True):
    telling.setdefault(name, set()).add((size, tuple(sorted(members, key=repr)), whole))


def number(value):
    """JSON number, decimal string or null."""
    return None if value is None else int(value)


def flatten(members, path=""):
    """xcore's nested members as the tuples above; gdb and pahole only have the offset of arrays."""
    out = []
    for one in members:
        name = "<%s>" % plain_base(one["name"]) if one.get("base") else one["name"]
        here = path + ("." + name if name else "")
        below = one.get("members")
        if below is not None and (not name or nameless(one["type"])) and not one["type"].endswith("]"):
            out += flatten(below, here)
        if not name:
            continue
        bits = number(one.get("bit_size")) or 0
        offset = number(one["offset"])
        bit = None if offset is None else 8 * offset + (number(one.get("bit_offset")) or 0)
        out.append((here, bit, bits, number(one["size"])))
    return out


def plain_base(name):
    return compare.plain_integers(name or "").replace(" ", "")


def from_xcore(objects):
    """The layouts in `ptype --all --format json`: objects of schema xcore.ptype/1."""
    telling = {}
    for one in objects:
        typedefs = one.get("typedefs")
        name = typedefs[0] if typedefs else one["name"]
        if not name or (one.get("declaration") and not typedefs):
            continue
        kind = "typedef" if typedefs else one["kind"]
        kind = kind if kind in RECORDS + ("enum", "typedef") else "base"
        members = []
        if one.get("members") is not None and (not typedefs or not one["name"]):
            members = flatten(one["members"])
        elif one.get("enumerators") is not None and (not typedefs or not one["name"]):
            members = [(item["name"], number(item["value"]), 0, None) for item in one["enumerators"]]
        add(telling, key(kind, name), number(one["size"]), members)
    return telling


def from_gdb(answer):
    """The layouts written by gdb_types.py."""
    telling = {}
    for kind, name, size, members in answer["types"]:
        add(telling, key(kind, name), size, [tuple(member) for member in members])
    return telling


class Difference:
    """A difference of one key: missing, layout or extra, and a line to show."""

    def __init__(self, what, name, text):
        self.what, self.name, self.text = what, name, text


def same(theirs, ours):
    """Whether the oracle's layout is xcore's; properties that the oracle omits are not compared."""
    if theirs == ours:
        return True
    if theirs[0] is not None and theirs[0] != ours[0]:
        return False
    return theirs[1] == ours[1] if theirs[2] else set(theirs[1]) <= set(ours[1])


def describe(theirs, ours):
    """The properties in which the most similar layouts of a key differ, three a side."""
    best = None
    for one in theirs:
        for two in ours:
            facts = [] if one[0] in (None, two[0]) else ["size %s, xcore %s" % (one[0], two[0])]
            facts += ["%s" % (member,) for member in one[1] if member not in two[1]][:3]
            facts += ["xcore %s" % (member,) for member in two[1] if one[2] and member not in one[1]][:3]
            if best is None or len(facts) < len(best):
                best = facts
    return "; ".join(best or ["another definition"])


def differences(theirs, ours, both=True):
    """(Counter, [Difference]) of an oracle's layouts and xcore's.

    Every layout of the oracle must be one of xcore's. With `both` the reverse holds too, and no type may be only
    xcore's.
    """
    counts, out = Counter(), []
    for name, layouts in sorted(theirs.items()):
        mine = ours.get(name, set())
        equal = {one for one in layouts if any(same(one, two) for two in mine)}
        spare = {two for two in mine if not any(same(one, two) for one in layouts)} if both else set()
        counts["type"] += len(layouts)
        counts["equal"] += len(equal)
        counts["member"] += sum(len(one[1]) for one in layouts)
        counts["member equal"] += sum(len(one[1]) for one in equal)
        if not mine:
            out.append(Difference("missing", name, "xcore has no such type"))
        elif layouts - equal or spare:
            out.append(Difference("layout", name, describe(layouts - equal or layouts, spare or mine)))
    if both:
        out += [Difference("extra", name, "only xcore has such a type") for name in sorted(set(ours) - set(theirs))]
    return counts, out
