"""Parses the output of pahole (dwarves 1.24, `pahole -F dwarf -a FILE`) into a set of layouts (layouts.py).

    struct client {
            uint64_t                   id;                   /*     0     8 */
            unsigned int               count:16;             /*    32: 0  4 */
            union {
                    int        a;                            /*    40     4 */
            };                                               /*    40     8 */

            /* size: 744, cachelines: 12, members: 65 */
    };

Offsets count from the start of the outermost type, the number behind a colon in bits. A member of a type that pahole
does not know (DW_TAG_atomic_type) is an <ERROR...> line: the layout is then not whole. Unions have no size line.
"""

import re

import layouts

START = re.compile(r"(typedef )?(struct|union|class)(?: (\S.*?))? \{$")
MEMBER = re.compile(r"(.*);\s*/\*\s*(\d+)(?::\s*(\d+))?\s+(\d+) \*/$")
OPEN = re.compile(r"(?:struct|union|class) (?:\S+ )?\{$")
SIZE = re.compile(r"/\* size: (\d+), ")
END = re.compile(r"\}(?: (?:__attribute__\(\(.*?\)\)\s*)*([\w$]+)?)?(?:\s*__attribute__\(\(.*\)\))?;$")


def declared(text):
    """The name that a declaration declares: `int (*f)(int)` -> f, `char b[8]` -> b, `unsigned x:3` -> x."""
    text = re.sub(r"\s*__attribute__\(\(.*?\)\)(?!\))", "", text)
    pointer = re.search(r"\(\*+\s*(?:const )?([\w$]+)\s*(?:\[\d*\])*\)", text)
    if pointer:
        return pointer.group(1)
    plain = re.search(r"([\w$]+)\s*(?:\[\d*\])*(?::\d+)?$", text.strip())
    return plain.group(1) if plain else None


class Record:
    """One type being read: members in order, and the open braces as indexes into them."""

    def __init__(self, kind, name):
        self.kind, self.name = kind, name
        self.size, self.known = None, True
        self.members, self.open = [], []

    def line(self, text):
        found = MEMBER.match(text)
        if text.startswith("<ERROR"):
            self.known = False
        elif OPEN.match(text):
            self.open.append(len(self.members))
        elif found and text.startswith("}"):
            self.close(found)
        elif found:
            self.member(declared(found.group(1)), found)
        elif SIZE.match(text) and not self.open:
            self.size = int(SIZE.match(text).group(1))

    def member(self, name, found):
        bit = 8 * int(found.group(2)) + int(found.group(3) or 0)
        width = re.search(r":(\d+)$", found.group(1))
        bits = int(width.group(1)) if width else 0
        if name:
            self.members.append(("." + name, bit, bits, int(found.group(4))))
        else:
            self.known = False

    def close(self, found):
        """The end of a nested type: its members go below the member's name, or beside those of the outer type."""
        first = self.open.pop()
        declarator = re.sub(r"\s*__attribute__\(\(.*?\)\)(?!\))", "", found.group(1)[1:]).strip()
        if not declarator:
            return
        name = declared(declarator)
        if "*" in declarator or "[" in declarator:
            del self.members[first:]  # those of the pointed-to type, and of each element
        self.members[first:] = [("." + name + path, *rest) for path, *rest in self.members[first:]]
        self.member(name, found)


def parse(text):
    """The layouts in pahole's output."""
    telling, record = {}, None
    for line in text.splitlines():
        if record is None:
            start = START.match(line)
            if start:
                record = Record("typedef" if start.group(1) else start.group(2), start.group(3))
            continue
        end = END.match(line)
        if not end:
            record.line(line.strip())
            continue
        name = end.group(1) if record.kind == "typedef" else record.name
        if name:
            layouts.add(telling, layouts.key(record.kind, name), record.size, record.members, record.known)
        record = None
    return telling
