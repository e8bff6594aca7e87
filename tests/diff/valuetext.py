"""Parses the text of a value as written by gdb and xcore.

parse() turns `{a = 1, b = {2, 3 <repeats 4 times>}, c = "hi"}` into a tree, lookup() finds the leaf at a path (`.b`
`[0]`), scalar() converts a leaf to a Python value for comparison. Rust's notation is parsed too:
`Shape::Circle{radius: 2.5}`, `Some((1, [2, 3]))`. The path contains the variant's name, `.Circle` `.radius`; `::`
means the name itself; tuples have members `__0`, `__1`. Annotations (`65 'A'`, `0x1234 <main+4>`, `0x1234 "text"`)
are accepted and dropped. The value itself is strict: a text that does not have the form of its kind is None, which
equals nothing.
"""

import re
import struct
from decimal import Decimal

NUMBER = re.compile(r"-?\d+$")
CHAR = re.compile(r"(-?\d+) (?:L|u8|u|U)?'.*'$", re.S)
HEX = re.compile(r"0x[0-9a-fA-F]+$")
POINTER = re.compile(r"(?:[({][^{}=]*[)}] )?@?(0x[0-9a-fA-F]+|NULL)(?:(?: |: ).*)?$", re.S)
FLOAT = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$")
REPEAT = re.compile(r" <repeats (\d+) times>")
CUT = re.compile(r"\.\.\.(?:\+0x[0-9a-f]+)?>(?=[,}]|$| \"| <repeats )")  # the end of a truncated symbol name
SYMBOL = re.compile(r"0x[0-9a-f]+ $")  # stands before one
NAME = re.compile(r"(<(?!No data fields>)[^=]*?>|[A-Za-z_$][\w$.:<>]*) = ")
FIELD = re.compile(r"([A-Za-z_][\w$]*): ")
RUST = re.compile(r"(?!nan\()((?:[A-Za-z_]\w*::)?[A-Za-z_]\w*)(?=[({])")
NO_TUPLE = re.compile(r"\((?:[^()]*(?: \| |unknown: )|(?:[^()]|\([^()]*\))*\) 0x)")  # flags, or a cast before a pointer
CLOSING = {"{": "}", "(": ")", "[": "]"}
ESCAPES = {"n": 10, "t": 9, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11, "e": 27}
MAX_REPEAT = 64  # more equal elements than the oracle keeps of any array


class Group:
    """`{...}`: items are (name or None, node) and elided tells that `...` or its one-character form left some out.
    variant is the name before it in Rust."""

    def __init__(self):
        self.items = []
        self.elided = False
        self.variant = None


class Chars:
    """A string literal: character codes, and whether `...` follows."""

    def __init__(self, codes, elided):
        self.codes = codes
        self.elided = elided

    def code(self, step):
        """The element at `[n]` as text; past the end itself: a string may be cut at its first NUL."""
        index = int(step[1:-1]) if step.startswith("[") else len(self.codes)
        return Code(self.codes[index]) if index < len(self.codes) else self


class Code(str):
    """The number of a character of a string: without sign, whatever the element type's is."""


class Reader:
    def __init__(self, text):
        self.text = text
        self.at = 0

    def take(self, word):
        if self.text.startswith(word, self.at):
            self.at += len(word)
            return True
        return False

    def match(self, pattern):
        found = pattern.match(self.text, self.at)
        if found:
            self.at = found.end()
        return found

    def peek(self, *words):
        return any(self.text.startswith(word, self.at) for word in words)

    def value(self, depth=0):
        if self.peek("{") and not self.is_function():
            return self.group(depth)
        named = self.match(RUST)
        if named or self.peek("[") or (self.peek("(") and not NO_TUPLE.match(self.text, self.at)):
            out = self.group(depth)
            out.variant = named.group(1).rsplit("::", 1)[-1] if named else None
            return out
        if self.peek('"', "'", 'L"', 'u"', 'U"'):
            return self.chars()
        return self.leaf()

    def is_function(self):
        """gdb writes a function as `{int (char *)} 0x1234 <name>`."""
        return re.match(r"\{[^{}=]*\} 0x", self.text[self.at:self.at + 400]) is not None

    def group(self, depth):
        out = Group()
        opening = self.text[self.at]
        self.at += 1
        if depth > 64:
            raise ValueError("braces nested too deep")
        while not self.take(CLOSING[opening]):
            if self.at >= len(self.text):
                raise ValueError("unclosed brace")
            if self.elided():
                out.elided = True
                self.take(", ")
                continue
            name = self.match(NAME) or (opening == "{" and self.match(FIELD)) or None
            name = name.group(1) if name else "__%d" % len(out.items) if opening == "(" else None
            node = self.value(depth + 1)
            times = self.match(REPEAT)
            count = min(int(times.group(1)), MAX_REPEAT) if times else 1
            out.items += [(name, node)] * count
            out.elided = self.elided() or out.elided
            if not self.take(", ") and not self.peek(CLOSING[opening]):
                raise ValueError("no comma after a member")
        return out

    def elided(self):
        return self.take("...") or self.take("\u2026")

    def quoted(self, wide=False):
        """Codes of one literal in single or double quotes: bytes, or code points of a wide one."""
        quote = self.text[self.at]
        self.at += 1
        out = []
        while not self.take(quote):
            if self.at >= len(self.text):
                raise ValueError("unclosed quote")
            if self.take("\\"):
                out.append(self.escape())
            else:
                char = self.text[self.at]
                out += [ord(char)] if wide else char.encode("utf-8", "surrogateescape")
                self.at += 1
        return out

    def escape(self):
        octal = self.match(re.compile(r"[0-7]{1,3}"))
        if octal:
            return int(octal.group(0), 8) & 255
        hexa = self.match(re.compile(r"x([0-9a-fA-F]{2})"))
        if hexa:
            return int(hexa.group(1), 16)
        char = self.text[self.at:self.at + 1]
        self.at += 1
        return ESCAPES.get(char, ord(char) if char else 0)

    def chars(self):
        """A string; gdb splits long runs: `"ab", '\\000' <repeats 30 times>, "c"`."""
        codes = []
        while True:
            wide = self.take("L") or self.take("u") or self.take("U")
            single = self.peek("'")
            piece = self.quoted(wide)
            times = self.match(REPEAT)
            codes += piece * (min(int(times.group(1)), 1 << 16) if times else 1)
            if self.elided():
                return Chars(codes, True)
            joined = (", '",) if not single else (', "', ", '")
            if wide or not self.peek(*joined):
                return Chars(codes, False)
            self.at += 2

    def leaf(self):
        """Up to the `,` or `}` that ends it; quotes and brackets inside are skipped whole."""
        start = self.at
        level = outside = 0
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in "\"'":
                self.quoted()
                continue
            if level == 0 and (char in ",})]" or self.peek(" <repeats ")):
                break
            if char == "<" and SYMBOL.search(self.text[max(start, self.at - 20):self.at]):
                outside = level
            elif char == "." and level > outside and self.match(CUT):
                level = outside  # brackets of the name may have been open
                continue
            level += (char in "(<{") - (char in ")>}")
            self.at += 1
        return self.text[start:self.at]


def parse(value):
    """JSON value of a variable -> str, Chars or Group; ValueError when it is no value text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, dict) and set(value) == {"name", "value"}:
        return str(value["value"])
    if isinstance(value, (dict, list)):
        out = Group()
        pairs = value.items() if isinstance(value, dict) else ((None, one) for one in value)
        out.items = [(name, parse(one)) for name, one in pairs]
        return out
    reader = Reader(value)
    node = reader.value()
    if isinstance(node, str):
        return value  # a scalar keeps its commas: `(A | B)`, `0x1 "a, b"`
    if reader.at != len(value):
        raise ValueError("text after the value")
    return node


def lookup(node, steps):
    """The leaf at steps (`.name` or `[n]`), looking through anonymous members; None if not shown.

    An element past the end of a string is the Chars itself.
    """
    for at, step in enumerate(steps):
        if step == "::":
            return node.variant if isinstance(node, Group) else node
        if isinstance(node, Group) and node.variant == step[1:]:
            continue
        if isinstance(node, Chars):
            return node.code(step) if at + 1 == len(steps) else None
        if not isinstance(node, Group):
            return None
        if step.startswith("["):
            index = int(step[1:-1])
            node = node.items[index][1] if index < len(node.items) else None
            continue
        found = [child for name, child in node.items if name == step[1:]]
        if found:
            node = found[0]
            continue
        for name, child in node.items:
            below = lookup(child, steps[at:]) if name is None and isinstance(child, Group) else None
            if below is not None:
                return below
        return None
    return node


def enum_number(text, names):
    """`RED`, `(A | B)`, `(A | unknown: 0x8)`, `12` -> number; None if a name is not the type's."""
    text = text.strip()
    if text.startswith("(") and text.endswith(")"):
        text = text[1:-1]
    short = {name.rsplit("::", 1)[-1]: number for name, number in names.items()}
    total = 0
    for part in text.split("|"):
        part = part.strip().removeprefix("unknown: ")
        if NUMBER.match(part):
            number = int(part)
        elif HEX.match(part):
            number = int(part, 16)
        else:
            number = short.get(part.rsplit("::", 1)[-1])
        if number is None:
            return None
        total |= number
    return total


def float_key(text):
    if "nan" in text:
        return "nan"
    if text.lstrip("-+") in ("inf", "Infinity", "infinity"):
        return "-inf" if text.startswith("-") else "inf"
    return Decimal(text) if FLOAT.match(text) else None


def scalar(text, kind, names=None):
    """Comparable value of a leaf text of this kind, or None when it does not have its form."""
    if isinstance(text, Chars):
        return None
    text = text.strip()
    if kind == "enum":
        return enum_number(text, names or {})
    if kind == "bool":
        return {"true": 1, "false": 0}.get(text, int(text) if NUMBER.match(text) else None)
    if kind == "variant":
        return text.rsplit("::", 1)[-1]
    if kind in ("pointer", "ref"):
        found = POINTER.match(text)
        if not found:
            return None
        return 0 if found.group(1) == "NULL" else int(found.group(1), 16)
    if kind == "float":
        return float_key(text)
    found = CHAR.match(text)
    if found:
        text = found.group(1)
    return int(text) if NUMBER.match(text) else int(text, 16) if HEX.match(text) else None


def same(mine, theirs, kind, size):
    """Equal, where floats are compared at the precision their type has."""
    if mine is None or theirs is None:
        return False
    if kind != "float" or isinstance(mine, str) or isinstance(theirs, str):
        return mine == theirs
    if size == 4:
        # Any text that reads back as the same single.
        return struct.pack("f", float(mine)) == struct.pack("f", float(theirs))
    if size == 8:
        return float(mine) == float(theirs)
    # long double: gdb gives 18 digits, a text of 17 is still its value
    return abs(mine - theirs) <= abs(mine) * Decimal("1e-16")
