"""Random expressions over a core and gdb's values for them, as JSON: the oracle of tests/diff/print.

Runs inside gdb, after the program and the core were loaded. XC_ORACLE_OUT names the output file; XC_ORACLE_SEED and
XC_ORACLE_COUNT select the expressions and their number.

An expression starts with a variable of one of the innermost frames, or of a frame's unit, and follows members,
pointers and elements to a scalar. Some are combined by operators, cast, repeated or shown with a format letter.
Expressions that another debugger may evaluate differently are left out: undefined shifts, floats that do not fit an
integer.

Shape, one object a line (gdb may crash on one): frame, pc, function, expr, then either error, or type, kind and
value (int and enum decimal, pointer hex, float %.17g, bool), or letter and text.
"""

import json
import os
import random

import gdb

FRAMES = 8
DEPTH = 5

# Names in Rust that are keywords of C, since xcore's expressions are C's.
TAKEN = ("signed", "unsigned", "short", "long", "char", "int", "double", "float")

SCALARS = {
    gdb.TYPE_CODE_INT: "int",
    gdb.TYPE_CODE_CHAR: "int",
    gdb.TYPE_CODE_BOOL: "bool",
    gdb.TYPE_CODE_ENUM: "enum",
    gdb.TYPE_CODE_PTR: "pointer",
    gdb.TYPE_CODE_FLT: "float",
}

rng = random.Random(int(os.environ.get("XC_ORACLE_SEED", "1")))


def strip(value):
    return value.type.strip_typedefs().unqualified()


def blocks(frame):
    """The blocks whose names are visible in a frame: up to its function (inlined or not), then its unit's."""
    block = frame.block()
    while block.function is None and block.superblock is not None and not block.is_static:
        yield block
        block = block.superblock
    yield block
    yield block.static_block
    yield block.global_block


def variables(frame):
    """The names visible in a frame, with their values."""
    found = {}
    try:
        for block in blocks(frame):
            for symbol in block:
                usable = (symbol.is_variable or symbol.is_argument) and symbol.name.isidentifier() and symbol.name not in TAKEN
                if usable and symbol.name not in found:
                    try:
                        found[symbol.name] = symbol.value(frame) if symbol.needs_frame else symbol.value()
                    except (gdb.error, TypeError):
                        pass
    except RuntimeError:
        return []
    return sorted(found.items())


def step(path, value):
    """The next step from a value: (path, value) or None."""
    kind = strip(value)
    if kind.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
        fields = [f for f in kind.fields() if f.name and hasattr(f, "bitpos") and not f.is_base_class and
                  not f.artificial]
        if not fields:
            return None
        field = rng.choice(fields)
        return path + "." + field.name, value[field.name]
    if kind.code == gdb.TYPE_CODE_PTR:
        target = kind.target().strip_typedefs().unqualified()
        if int(value) == 0 or target.code in (gdb.TYPE_CODE_VOID, gdb.TYPE_CODE_FUNC) or target.sizeof == 0:
            return None
        if target.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
            fields = [f for f in target.fields() if f.name and hasattr(f, "bitpos") and not f.is_base_class and
                      not f.artificial]
            if fields:
                field = rng.choice(fields)
                return path + "->" + field.name, value.dereference()[field.name]
        return rng.choice([("*" + path, value.dereference()), (path + "[0]", value[0])])
    if kind.code == gdb.TYPE_CODE_ARRAY:
        low, high = kind.range()
        if high < low:
            return None
        index = rng.randint(low, min(high, low + 20))
        return "%s[%d]" % (path, index), value[index]
    return None


def follow(name, value):
    """A path to a scalar, or to the value after some steps; unary operators of the path are in parentheses."""
    path = name
    for _ in range(rng.randint(1, DEPTH)):
        try:
            if value.is_optimized_out:
                break
            value.fetch_lazy()
            after = step(path, value)
        except (gdb.error, RuntimeError, OverflowError, ValueError, TypeError):
            break
        if after is None:
            break
        path, value = after
        if path.startswith("*"):
            path = "(" + path + ")"
    return path, value


def numbers(paths):
    return [path for path, value in paths if SCALARS.get(strip(value).code) in ("int", "enum", "bool", "float")]


def integers(paths):
    return [path for path, value in paths if SCALARS.get(strip(value).code) in ("int", "enum", "bool")]


def make(paths):
    """An expression, and its letter or None."""
    path, value = rng.choice(paths)
    kind = SCALARS.get(strip(value).code)
    some = numbers(paths) or ["1"]
    whole = integers(paths) or ["1"]
    pick = rng.randrange(14)
    if pick == 0:
        return "sizeof(%s)" % path, None
    if pick == 1 and kind == "pointer":
        return "%s %s %d" % (path, rng.choice("+-"), rng.randint(0, 9)), None
    if pick == 2:
        return "(char)(%s)" % rng.choice(whole), None
    if pick == 3:
        return "(unsigned long)%s + 1" % rng.choice(whole), None
    if pick == 4:
        return "(%s %s %s)" % (rng.choice(some), rng.choice(["+", "-", "*", "<", ">=", "==", "!=", "&&", "||"]),
                               rng.choice(some)), None
    if pick == 5:
        return "(%s %s %s)" % (rng.choice(whole), rng.choice("&|^"), rng.choice(whole)), None
    if pick == 6:
        return "(%s %s (%s | 1))" % (rng.choice(whole), rng.choice("/%"), rng.choice(["5", "7L", "100u"])), None
    if pick == 7:
        return "(%s %s %d)" % (rng.choice(whole), rng.choice(["<<", ">>"]), rng.randint(0, 6)), None
    if pick == 8:
        return "-(%s)" % rng.choice(some), None
    if pick == 9:
        return "!%s ? %s : %s" % (rng.choice(whole), "1", "2"), None
    if pick == 10:
        return "&%s" % path, None
    if pick in (11, 12) and kind in ("int", "pointer", "enum"):
        return path, rng.choice("xduotcz")
    return path, None


def answer(expr, letter):
    if letter:
        text = gdb.execute("print/%s %s" % (letter, expr), to_string=True)
        return {"letter": letter, "text": text.split(" = ", 1)[1].rstrip("\n")}
    value = gdb.parse_and_eval(expr)
    kind = SCALARS.get(strip(value).code)
    if kind is None:
        return None
    if value.is_optimized_out:
        return {"error": "optimized out"}
    out = {"type": str(value.type), "kind": kind}
    if kind == "float":
        out["value"] = value.format_string(raw=True)
    elif kind == "pointer":
        out["value"] = hex(int(value) & (1 << 64) - 1)
    else:
        out["value"] = str(int(value))
    return out


def expressions(count, stream):
    places = []
    frame = gdb.newest_frame()
    while frame is not None and len(places) < FRAMES:
        found = variables(frame)
        if found:
            places.append((frame.level(), frame, found))
        frame = frame.older()
    seen = set()
    written = tries = 0
    while places and written < count and tries < 20 * count:
        tries += 1
        level, frame, found = rng.choice(places)
        frame.select()
        try:
            paths = [follow(*rng.choice(found)) for _ in range(4)]
        except KeyboardInterrupt:  # gdb's own assertion failed, and its command was aborted
            continue
        expr, letter = make(paths)
        if (level, expr, letter) in seen or len(expr) > 300:
            continue
        seen.add((level, expr, letter))
        try:
            told = answer(expr, letter)
        except (gdb.error, OverflowError, ValueError, TypeError) as error:
            told = {"error": (str(error).strip().splitlines() or ["?"])[0]}
        except KeyboardInterrupt:
            continue
        if told is not None:
            stream.write(json.dumps({"frame": level, "pc": frame.pc(), "function": frame.name(), "expr": expr, **told}) + "\n")
            stream.flush()
            written += 1


def main():
    for setting in ("print repeats 10", "print elements 200", "print pretty off", "width 0", "confirm off",
                    "print symbol on"):
        gdb.execute("set " + setting)
    with open(os.environ["XC_ORACLE_OUT"], "w", encoding="utf-8", errors="surrogateescape") as stream:
        expressions(int(os.environ.get("XC_ORACLE_COUNT", "100")), stream)


main()
