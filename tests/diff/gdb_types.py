"""gdb's view of the types of a program, as JSON: the oracle of tests/diff/types.

Runs inside gdb, after the program was loaded. XC_ORACLE_OUT is the output file: {"types": [[kind, name, size,
[[path, bit, bits, size], ...]], ...]} in the form of layouts.py.

gdb lists the names of types (`info types`). Each word of that list is looked up among the types of every unit, so
that several types with one name are found. C++ classes are global in gdb, and only the first with a name is found.
"""

import json
import os
import re

import gdb

RECORDS = {gdb.TYPE_CODE_STRUCT: "struct", gdb.TYPE_CODE_UNION: "union"}


def names():
    """All parts of `info types` that may be the name of a type."""
    text = gdb.execute("info types", to_string=True)
    out = set(re.findall(r"[A-Za-z_$][\w$]*", text))
    for line in text.splitlines():
        line = re.sub(r"^\d+:", "", line).strip().rstrip(";")
        out.add(re.sub(r"^(struct|union|enum|class) ", "", line))  # `unsigned long`, `ns::C<int>`
        out.update(re.findall(r"^typedef .*?([\w:$]+)$", line))
    return sorted(out - {""})


def symbols(name):
    """The type symbols of a name, in every unit."""
    found = []
    for domain in (gdb.SYMBOL_STRUCT_DOMAIN, gdb.SYMBOL_VAR_DOMAIN):
        found += gdb.lookup_static_symbols(name, domain)
        one = gdb.lookup_global_symbol(name, domain)
        found += [one] if one is not None else []
    return [one for one in found if one.addr_class == gdb.SYMBOL_LOC_TYPEDEF and one.name == name]


def sizeof(one):
    """Bytes, or None for a type of which there is only a declaration or no size."""
    plain = one.strip_typedefs()
    if plain.code in (gdb.TYPE_CODE_FUNC, gdb.TYPE_CODE_VOID):
        return None
    return int(plain.sizeof)


def is_nameless(one):
    plain = one.unqualified()
    return plain.code in RECORDS and not plain.tag


def bit_position(field):
    """None for virtual bases, whose place gdb has to read from an object."""
    try:
        return int(field.bitpos)
    except (AttributeError, gdb.error):
        return None


def plain_base(name):
    return name.replace(" ", "")


def members(one, path="", base=0):
    out = []
    for field in one.fields():
        if not hasattr(field, "bitpos"):
            continue  # a static member
        name = "<%s>" % plain_base(field.name) if field.is_base_class else field.name
        here = path + ("." + name if name else "")
        bit = bit_position(field)
        if is_nameless(field.type) or not name and field.type.strip_typedefs().code in RECORDS:
            out += members(field.type.unqualified(), here, base + (bit or 0))
        if name:
            out.append([here, None if bit is None else base + bit, field.bitsize, sizeof(field.type)])
    return out


def describe(symbol):
    """(kind, name, size, members) or None for a declaration."""
    one = symbol.type
    if one.code == gdb.TYPE_CODE_TYPEDEF:
        target = one.strip_typedefs().unqualified()
        body = members(target) if is_nameless(target) else []
        if target.code == gdb.TYPE_CODE_ENUM and not target.tag:
            body = enumerators(target)
        return ["typedef", symbol.name, sizeof(one), body]
    if one.code in RECORDS:
        declared = not one.fields() and one.sizeof == 0 and "incomplete type" in str_of(one)
        return None if declared else [RECORDS[one.code], symbol.name, sizeof(one), members(one)]
    if one.code == gdb.TYPE_CODE_ENUM:
        return ["enum", symbol.name, sizeof(one), enumerators(one)]
    return ["base", symbol.name, sizeof(one), []]


def str_of(one):
    try:
        return gdb.execute("ptype " + str(one), to_string=True)
    except gdb.error:
        return "incomplete type"


def enumerators(one):
    return [[field.name, int(field.enumval), 0, None] for field in one.fields()]


def main():
    gdb.execute("set max-value-size unlimited")
    seen, out = set(), []
    for name in names():
        for symbol in symbols(name):
            told = describe(symbol)
            text = json.dumps(told)
            if told and text not in seen:
                seen.add(text)
                out.append(told)
    path = os.environ["XC_ORACLE_OUT"]
    with open(path + ".tmp", "w", encoding="utf-8") as stream:
        json.dump({"types": out}, stream, separators=(",", ":"))
    os.rename(path + ".tmp", path)


main()
