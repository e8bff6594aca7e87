"""gdb's view of a core as JSON: the oracle of tests/diff.

Runs inside gdb, after the program and the core were loaded:

    XC_ORACLE_OUT=FILE gdb -nx -q -batch -iex 'set debuginfod enabled off' \\
        -x gdb_oracle.py EXE CORE

Environment: XC_ORACLE_OUT (the output file), XC_ORACLE_FRAMES (most frames per thread, default 2000; of a deeper
stack the innermost and the outermost half, like xcore).

Shape (schema xcore.oracle/1):
  threads[]  tid, crashed, end ("complete", "limit" when MAX_WALK was reached, or gdb's reason), frames[]
  frames[]   level, pc, function, inline, signal, file, path, line, vars[]
  vars[]     name, arg, static, depth, then a value (below)
             depth counts lexical blocks from the innermost: a shadowing name comes first
  value      type, kind, and either value or why; members for structs and arrays: pairs of
             the steps to a scalar (".name", ".<base class>", "[index]") and its value
             kind: int bool enum pointer float ref struct array variant other
             The active variant of a Rust enum is a member, of kind variant at the step "::"
             value: int decimal text, bool true/false/number, pointer hex, float gdb's %g text,
             enum its number, with `text` gdb's name and `enum` an index into enums[]
  enums[]    name -> number, for the names that another debugger may combine differently

The walk continues past main to the first frame (gdb's prompt stops at main), so that a short stack is noticed.
"""

import collections
import json
import os

import gdb

MAX_DEPTH = 3  # members of members of members
MAX_ELEMENTS = 8  # of one array
MAX_MEMBERS = 64  # of one variable, all levels
MAX_VARS = 400  # of one frame

MAX_WALK = 400000  # frames of one thread; an 8 MiB stack of 32-byte frames has 262,144

FRAME_LIMIT = int(os.environ.get("XC_ORACLE_FRAMES", "2000"))

KINDS = {
    gdb.TYPE_CODE_INT: "int",
    gdb.TYPE_CODE_CHAR: "int",
    gdb.TYPE_CODE_BOOL: "bool",
    gdb.TYPE_CODE_ENUM: "enum",
    gdb.TYPE_CODE_PTR: "pointer",
    gdb.TYPE_CODE_FLT: "float",
    gdb.TYPE_CODE_REF: "ref",
    gdb.TYPE_CODE_RVALUE_REF: "ref",
    gdb.TYPE_CODE_STRUCT: "struct",
    gdb.TYPE_CODE_UNION: "struct",
    gdb.TYPE_CODE_ARRAY: "array",
}

enum_tables = []
enum_index = {}


def enum_table(etype):
    """The index in enums[] of this enum type's names."""
    names = {field.name: int(field.enumval) for field in etype.fields()}
    key = json.dumps(names, sort_keys=True)
    if key not in enum_index:
        enum_index[key] = len(enum_tables)
        enum_tables.append(names)
    return enum_index[key]


def scalar_text(value, vtype, kind):
    """Canonical text of a scalar; raises gdb.error when gdb has none."""
    if kind == "pointer":
        return hex(int(value) & (1 << 64) - 1)
    if kind == "ref":
        return hex(int(value.address) & (1 << 64) - 1)
    if kind == "enum" or (kind == "int" and vtype.sizeof <= 8):
        return str(int(value))
    text = value.format_string(raw=True)
    if text.startswith("<"):
        raise ValueError(text)  # <unavailable>, <optimized out> of a part
    return text


def is_synthetic(value, kind):
    """An optimised-out pointer (DW_OP_implicit_pointer): gdb's Python converts it to 0."""
    if kind not in ("pointer", "ref"):
        return False
    number = int(value) if kind == "pointer" else int(value.address)
    return number == 0 and "synthetic pointer" in value.format_string(raw=True)


def first_line(error):
    text = str(error).strip()
    return text.splitlines()[0] if text else type(error).__name__


def describe(value, budget, depth=0):
    """One value as the dict of the module's docstring; budget is a one-element list."""
    vtype = value.type.strip_typedefs()
    kind = KINDS.get(vtype.code, "other") if vtype.sizeof else "other"
    out = {"type": str(value.type), "kind": kind, "size": vtype.sizeof}
    try:
        if kind in ("struct", "array"):
            out["members"] = members(value, vtype, budget, depth)
            return out
        if kind == "other":
            out["text"] = value.format_string(raw=True)[:200]
            return out
        if value.is_optimized_out:
            out["why"] = "optimized out"
            return out
        if is_synthetic(value, kind):
            out["why"] = "synthetic pointer"
            return out
        out["value"] = scalar_text(value, vtype, kind)
        if kind == "enum":
            out["text"] = value.format_string(raw=True)
            out["enum"] = enum_table(vtype)
    except (gdb.error, ValueError, OverflowError) as error:
        text = first_line(error)
        out["why"] = "optimized out" if "optimized out" in text else text
    return out


def children(value, vtype):
    """Yields (path steps, child); an anonymous member has no step of its own."""
    if vtype.code == gdb.TYPE_CODE_ARRAY:
        low, high = vtype.range()
        for index in range(low, min(high, low + MAX_ELEMENTS - 1) + 1):
            yield ["[%d]" % index], value[index]
        return
    for field in vtype.fields():
        if not hasattr(field, "bitpos"):
            continue  # a static member is no part of this object
        if field.artificial and not field.name:
            continue  # a discriminant of Rust
        if field.is_base_class:
            yield [".<%s>" % field.name], value[field]
        else:
            yield ["." + field.name] if field.name else [], value[field]


def variant_name(vtype):
    """The active variant of a Rust enum: gdb gives it an unnamed discriminant and one more field."""
    if vtype.code != gdb.TYPE_CODE_STRUCT:
        return None
    fields = vtype.fields()
    return fields[1].name if len(fields) == 2 and fields[0].artificial and not fields[0].name else None


def members(value, vtype, budget, depth):
    """Scalars below a struct or array as [steps, value] pairs, bounded in depth and number."""
    out = []
    if depth >= MAX_DEPTH:
        return out
    variant = variant_name(vtype)
    if variant:
        out.append([["::"], {"type": "", "kind": "variant", "size": 0, "value": variant}])
    for steps, child in children(value, vtype):
        if budget[0] <= 0:
            break
        one = describe(child, budget, depth + 1)
        if "members" in one:
            out += [[steps + below, leaf] for below, leaf in one["members"]]
        else:
            budget[0] -= 1
            out.append([steps, one])
    return out


def variable(symbol, frame, depth):
    out = {
        "name": symbol.name,
        "arg": bool(symbol.is_argument),
        "static": symbol.addr_class == gdb.SYMBOL_LOC_STATIC,
        "depth": depth,
    }
    try:
        value = symbol.value(frame) if symbol.needs_frame else symbol.value()
        out.update(describe(value, [MAX_MEMBERS]))
    except (gdb.error, ValueError, TypeError) as error:
        text = first_line(error)
        vtype = symbol.type
        out["type"] = str(vtype)
        out["kind"] = KINDS.get(vtype.strip_typedefs().code, "other") if vtype else "other"
        out["why"] = "optimized out" if "optimized out" in text else text
    return out


def frame_vars(frame):
    """Arguments and locals in scope, innermost block first, this (inline) function only."""
    out = []
    try:
        block = frame.block()
    except RuntimeError:
        return out
    depth = 0
    while block is not None and not block.is_global and not block.is_static:
        for symbol in block:
            if len(out) >= MAX_VARS:
                return out
            if symbol.is_argument or symbol.is_variable:
                out.append(variable(symbol, frame, depth))
        if block.function is not None:
            break
        block = block.superblock
        depth += 1
    return out


def frame_name(frame):
    """gdb's name of the frame's function.

    gdb takes a name that is only in the ELF symbol table and ends in digits for Ada's, and cuts it (`f.constprop.0`
    becomes `f.constprop`). For these the symbol itself is used.
    """
    name = frame.name()
    if name is None or frame.function() is not None:
        return name
    gdb.execute("set print demangle off")
    raw = frame.name()
    gdb.execute("set print demangle on")
    return name if raw.startswith(("_Z", "_R")) else raw


def is_in_data(frame):
    """Without CFI gdb takes any word of the stack for a return address, also one that chance has made an address of data. The
    innermost frame is none: there the program itself may have jumped to data."""
    named = frame.newer() is not None and frame.name() is not None and frame.function() is None
    said = gdb.execute("info symbol 0x%x" % (frame.pc() - 1), to_string=True) if named else ""  # it would return behind its call
    return " in section ." in said and said.split(" in section .")[1].startswith(("rodata", "data", "bss", "eh_frame", "got", "dyn"))


def describe_frame(frame, level):
    if is_in_data(frame):
        return {"level": level, "pc": "0x0", "function": None, "inline": False, "signal": False, "file": None, "path": None, "line": None,
                "vars": []}
    frame.select()  # gdb evaluates the lengths of arrays in the selected frame, whatever frame a value is read from
    sal = frame.find_sal()
    symtab = sal.symtab
    return {
        "level": level,
        "pc": hex(frame.pc()),
        "function": frame_name(frame),
        "inline": frame.type() == gdb.INLINE_FRAME,
        "signal": frame.type() == gdb.SIGTRAMP_FRAME,
        "file": symtab.filename if symtab else None,
        "path": symtab.fullname() if symtab else None,
        "line": sal.line if symtab and sal.line else None,
        "vars": frame_vars(frame),
    }


def walk(frame):
    """Both ends of the stack as (level, frame) pairs, and the reason of its end."""
    head, tail = [], collections.deque(maxlen=FRAME_LIMIT // 2)
    for level in range(MAX_WALK):
        if level < FRAME_LIMIT // 2:
            head.append((level, frame))
        else:
            tail.append((level, frame))
        if is_in_data(frame):
            return head + list(tail), "complete"
        try:
            older = frame.older()
        except gdb.error as error:
            return head + list(tail), first_line(error)
        if older is None:
            reason = frame.unwind_stop_reason()
            known = reason in (gdb.FRAME_UNWIND_NO_REASON, gdb.FRAME_UNWIND_OUTERMOST)
            return head + list(tail), "complete" if known else gdb.frame_stop_reason_string(reason)
        frame = older
    return head + list(tail), "limit"


def describe_thread(thread, crashed):
    thread.switch()
    found, end = walk(gdb.newest_frame())
    frames = [describe_frame(frame, level) for level, frame in found]
    return {"tid": thread.ptid[1] or thread.ptid[0], "crashed": crashed, "end": end, "frames": frames}


def main():
    for setting in ("backtrace past-main on", "backtrace limit unlimited", "width 0",
                    "print repeats unlimited", "max-value-size unlimited"):
        gdb.execute("set " + setting)
    crashed = gdb.selected_thread()
    number = crashed.num if crashed else None
    threads = sorted(gdb.selected_inferior().threads(), key=lambda thread: thread.num)
    out = {
        "schema": "xcore.oracle/1",
        "gdb": gdb.VERSION,
        "threads": [describe_thread(thread, thread.num == number) for thread in threads],
        "enums": enum_tables,
    }
    path = os.environ["XC_ORACLE_OUT"]
    with open(path + ".tmp", "w", encoding="utf-8") as stream:
        json.dump(out, stream, separators=(",", ":"))
    os.rename(path + ".tmp", path)


if __name__ == "__main__":
    main()
