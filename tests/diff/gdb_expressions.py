"""Generates C expressions over a core and records gdb's results: the oracle of tests/diff/expressions.

Runs inside gdb, after the program was loaded. Environment: XC_ORACLE_OUT (the output file), XC_CORE, XC_SEED,
XC_COUNT and XC_PLAIN (no names with files). Shape (xcore.expressions/1):

  scopes[]       tid, frames (of that thread up to the selected one, as in gdb_oracle.py, without variables)
  expressions[]  at (index of a scope), expr, as (letter or null), and gdb's answer: value or why, kind, type and
                 members as in gdb_oracle.py, `text` with a letter, `error` when gdb has none
  enums[]        as in gdb_oracle.py

An expression starts with a name in scope (global, static of a file, local), a register or a constant, and grows by
steps that its type allows: member, index, dereference, address, cast, sizeof, arithmetic, comparison, `@`. gdb
gives the type after each step, so most expressions have a value. Some without a value are kept (a NULL that is
dereferenced): both must report that.
"""

import json
import os
import random
import re

import gdb

import gdb_oracle
from pahole import declared

MAX_THREADS, MAX_FRAMES, MAX_WALK = 6, 5, 40
MAX_STEPS = 7
MAX_NAMES = 800  # each costs gdb a lookup
TRIES = 12  # per expression wanted
ERRORS = 0.04  # the share of expressions that may have no value
LETTERS = "xdotuc"
RECORDS = (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION)
INTEGERS = (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_BOOL, gdb.TYPE_CODE_ENUM)
SCALAR_CASTS = ("char", "unsigned char", "short", "unsigned short", "int", "unsigned int", "long", "unsigned long",
                "long long", "float", "double")
PLAIN_MEMBER = re.compile(r"[A-Za-z][A-Za-z0-9_]*$")  # no vptr, no part of a base class


def strip(value_type):
    plain = value_type.strip_typedefs()
    if plain.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        plain = plain.target().strip_typedefs()
    return plain


def spelled(name, name_of_file):
    """A static with its file; None when XC_PLAIN asks for plain names and several statics have this one."""
    if not os.environ.get("XC_PLAIN"):
        return "'%s'::%s" % (name_of_file, name)
    return name if len(gdb.lookup_static_symbols(name)) == 1 else None


def variables_of_program():
    """(name, file of a static or None) of globals with debug information. For a gdb without a core: with one it would
    also read all variables of the libraries, which takes seconds."""
    listed, name_of_file = [], None
    for line in gdb.execute("info variables -q", to_string=True).splitlines():
        if line.startswith("Non-debugging"):
            break
        if line.startswith("File "):
            name_of_file = os.path.basename(line[5:].rstrip(":"))
        found = re.match(r"(?:\d+:)?\s+(.*);$", line)
        name = declared(found.group(1)) if found else None
        if not name or "<" in line or "::" in line or "(" in line.replace("(*", ""):
            continue
        if (name_of_file or "").endswith((".c", ".cc", ".cpp", ".C")):
            listed.append((name, name_of_file if "static" in found.group(1).split() else None))
    return listed


def some_names(draw, listed):
    """Some of them, in the syntax of expressions."""
    draw.shuffle(listed)
    out = []
    for name, file in listed:
        spelling = spelled(name, file) if file else name
        out += [spelling] if spelling else []
        if len(out) == MAX_NAMES:
            break
    return out


def locals_of(frame):
    """Names in scope in the frame's own function; of equal names the innermost."""
    try:
        block = frame.block()
    except RuntimeError:
        return []
    out = []
    while block is not None and not block.is_global and not block.is_static:
        out += [one.name for one in block if (one.is_argument or one.is_variable) and one.name not in out]
        if block.function is not None:
            break
        block = block.superblock
    return [name for name in out if re.match(r"[A-Za-z_]\w*$", name)]


class Scope:
    """A frame in which expressions are evaluated. gdb may drop its frame objects, so it is found again by its level."""

    def __init__(self, thread, frames, level):
        self.thread, self.level = thread, level
        self.told = {"tid": thread.ptid[1] or thread.ptid[0], "frames": frames[:level + 1]}
        self.locals = []

    def select(self):
        self.thread.switch()
        frame = gdb.newest_frame()
        for _ in range(self.level):
            frame = frame.older()
        frame.select()
        return frame


def describe_bare(frame, level):
    told = gdb_oracle.describe_frame(frame, level)
    del told["vars"]
    return told


def scopes_of(draw, thread):
    """The innermost frame with debug information, and some of the others."""
    thread.switch()
    frame, frames, good = gdb.newest_frame(), [], []
    while frame is not None and len(frames) < MAX_WALK:
        frames.append(describe_bare(frame, len(frames)))
        if frame.function() is not None and frame.type() != gdb.SIGTRAMP_FRAME and frames[-1]["line"]:
            good.append(len(frames) - 1)
        try:
            frame = frame.older()
        except gdb.error:
            break
    chosen = good[:1] + draw.sample(good[1:], min(MAX_FRAMES - 1, len(good[1:])))
    out = [Scope(thread, frames, level) for level in sorted(chosen)]
    for one in out:
        one.locals = locals_of(one.select())
    return out


def is_null(value):
    try:
        return int(value) == 0
    except gdb.error:
        return True


class Maker:
    """Draws expressions for one scope at a time; the caller selects the frame."""

    def __init__(self, draw, names):
        self.draw, self.names = draw, names

    def base(self, scope):
        draw = self.draw.random()
        if draw < 0.55 and scope.locals:
            return self.draw.choice(scope.locals)
        if draw < 0.93 and self.names:
            return self.draw.choice(self.names)
        if draw < 0.96:
            return self.draw.choice(("$rsp", "$rip", "$pc", "$sp", "*(long *)$rsp", "{int} $rsp", "(unsigned char)$rip"))
        return self.draw.choice(("1", "7u", "0x7fffffff", "2147483648", "1.5", "'a'", "-1L", "3.25f", "0x80000000", "010"))

    def constant(self):
        return self.draw.choice(("1", "2", "3", "7", "0x10", "255", "1000003", "5u", "2L"))

    def make(self, scope):
        """The text of an expression; gdb.error when a step other than the last has no value."""
        text = self.base(scope)
        for _ in range(self.draw.randint(0, MAX_STEPS)):
            value = gdb.parse_and_eval(text)
            grown = self.step(text, value, strip(value.type))
            if grown is None:
                break
            follows = grown.startswith(("*", "(*", group(text) + ".", group(text) + "[", group(text) + "->")) or "->" in grown[-20:]
            text = grown
            if "sizeof" in text or not follows and self.draw.random() < 0.5:
                break
        return text

    def step(self, text, value, plain):
        if plain.code in RECORDS:
            return self.of_record(text, value, plain)
        if plain.code == gdb.TYPE_CODE_PTR:
            return self.of_pointer(text, value, plain)
        if plain.code == gdb.TYPE_CODE_ARRAY:
            return self.of_array(text, value, plain)
        if plain.code in INTEGERS:
            return self.of_integer(text, value, plain)
        if plain.code == gdb.TYPE_CODE_FLT:
            return self.draw.choice(("%s + 1", "%s * 2.5", "-(%s)", "(int)(%s)", "%s > 0", "(float)(%s)")) % group(text)
        return None

    def of_record(self, text, value, plain):
        fields = [one.name for one in plain.fields()
                  if hasattr(one, "bitpos") and not one.is_base_class and PLAIN_MEMBER.match(one.name or "")]
        if self.draw.random() < 0.12 and value.is_lazy is not None and value.address is not None:
            return self.draw.choice(("sizeof(%s)", "&%s", "*&%s")) % group(text)
        if not fields:
            return None
        field = self.draw.choice(fields)
        if text.startswith("*") and self.draw.random() < 0.7:
            return "%s->%s" % (group(text[1:]), field)
        return "%s.%s" % (group(text), field)

    def of_pointer(self, text, value, plain):
        target = plain.target().strip_typedefs()
        follow = target.code not in (gdb.TYPE_CODE_VOID, gdb.TYPE_CODE_FUNC) and target.sizeof > 0
        if follow and not is_null(value) and self.draw.random() < 0.72:
            if target.code in RECORDS:
                return "*" + group(text) if self.draw.random() < 0.9 else "%s[0]" % group(text)
            return self.draw.choice(("*%s", "%s[1]", "%s[0]", "*%s@2", "*(%s + 1)")) % group(text)
        grown = ["(long)%s", "(unsigned long)%s & 0xfff", "%s == 0", "!%s", "%s != 0 && 1", "sizeof(*%s)", "sizeof(%s)"]
        if follow:
            grown += ["%s + 1", "%s + 2 - 1", "(%s + 3) - %s", "&%s[2]", "(char *)%s + 4", "(void *)%s"]
            grown += ["*(unsigned char *)%s", "*(unsigned short *)%s@3"] if not is_null(value) else []
        grown = self.draw.choice([one for one in grown if "sizeof(*" not in one or follow])
        return grown.replace("%s", group(text))

    def of_array(self, text, value, plain):
        low, high = plain.range()
        if high < low or high > 1 << 20:
            return self.draw.choice(("sizeof(%s)", "&%s")) % group(text) if value.address is not None else None
        if self.draw.random() < 0.75:
            return "%s[%d]" % (group(text), self.draw.randint(low, min(high, low + 40)))
        return self.draw.choice(("sizeof(%s)", "&%s[1]", "*%s", "sizeof(%s) / sizeof(%s[0])", "%s[0]@2")).replace("%s", group(text))

    def of_integer(self, text, value, plain):
        if self.draw.random() < 0.15 and value.address is not None:
            return self.draw.choice(("&%s", "*&%s", "sizeof(%s)")) % group(text)
        if self.draw.random() < 0.2:
            return "(%s)%s" % (self.draw.choice(SCALAR_CASTS), group(text))
        shape = self.draw.choice(("%s + %k", "%s - %k", "%s * %k", "%s / %k", "%s %% %k", "%s << 3", "%s >> 1", "%s & 0xff",
                                  "%s | %k", "%s ^ %k", "-%s", "~%s", "!%s", "%s == %k", "%s < %k", "%s >= %k", "%s ? %k : 4",
                                  "%s && %k", "%s || 0", "%k - %s", "%s == %s", "%s * 1.5", "%s > -1"))
        return shape.replace("%%", "\0").replace("%k", self.constant()).replace("%s", group(text)).replace("\0", "%")


def group(text):
    """In parentheses, unless it is a primary expression."""
    return text if re.match(r"(?:'[^']+'::)?\$?\w+(?:(?:\.|->)\w+|\[\d+\])*$", text) else "(%s)" % text


def with_letter(draw, text, value):
    """(letter, gdb's text) for some integers and pointers, else (None, None)."""
    plain = strip(value.type)
    if plain.code not in INTEGERS or plain.sizeof > 8 or draw.random() > 0.12:
        return None, None
    letter = draw.choice(LETTERS)
    return letter, gdb.execute("print/%s %s" % (letter, text), to_string=True).strip().split(" = ", 1)[1]


def answer(draw, text):
    """gdb's answer as a dict, or the reason why it has none."""
    try:
        value = gdb.parse_and_eval(text)
        told = gdb_oracle.describe(value, [gdb_oracle.MAX_MEMBERS])
        if "why" not in told and "members" not in told and "value" in told:
            letter, shown = with_letter(draw, text, value)
            if letter:
                told = {**told, "as": letter, "text": shown}
    except (gdb.error, OverflowError, ValueError) as error:
        return {"error": gdb_oracle.first_line(error)}
    except KeyboardInterrupt:  # gdb's own assertion failed, and its command was aborted
        return None
    return told


def make_all(draw, points, names, wanted):
    maker, out, seen, errors = Maker(draw, names), [], set(), 0
    for _ in range(wanted * TRIES):
        if len(out) >= wanted:
            break
        at = draw.randrange(len(points))
        points[at].select()
        try:
            text = maker.make(points[at])
        except (gdb.error, OverflowError, ValueError, KeyboardInterrupt):
            continue
        if (at, text) in seen or len(text) > 200:
            continue
        seen.add((at, text))
        told = answer(draw, text)
        if told is None:
            continue
        if "error" in told:
            errors += 1
            if errors > ERRORS * wanted:
                continue
        out.append({"at": at, "expr": text, **told})
    return out


def main():
    for setting in ("backtrace past-main on", "width 0", "print repeats unlimited", "max-value-size unlimited",
                    "language auto", "confirm off"):
        gdb.execute("set " + setting)
    draw = random.Random(int(os.environ["XC_SEED"]))
    listed = variables_of_program()
    gdb.execute("core-file " + os.environ["XC_CORE"])
    crashed = gdb.selected_thread()
    threads = sorted(gdb.selected_inferior().threads(), key=lambda thread: (thread.num != crashed.num, thread.num))
    points = [point for thread in threads[:MAX_THREADS] for point in scopes_of(draw, thread)]
    names = some_names(draw, listed)
    out = {"schema": "xcore.expressions/1", "gdb": gdb.VERSION, "scopes": [point.told for point in points],
           "expressions": make_all(draw, points, names, int(os.environ["XC_COUNT"])) if points else [],
           "enums": gdb_oracle.enum_tables}
    path = os.environ["XC_ORACLE_OUT"]
    with open(path + ".tmp", "w", encoding="utf-8") as stream:
        json.dump(out, stream, separators=(",", ":"))
    os.rename(path + ".tmp", path)


if __name__ == "__main__":
    main()
