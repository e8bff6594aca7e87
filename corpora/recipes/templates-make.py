#!/usr/bin/env python3
"""templates-make.py DIR: writes the sources of the recipe "templates", always the same ones.

FILES units of PACKED namespaces each, made of templates-unit.cc, and in every namespace MESSAGES
plain classes as a generator of message code writes them, drawn by a fixed seed. A namespace's
enter() ends in the next one's, so that a journey through n of them is n times some 25 frames deep.
"""

import os
import random
import re
import sys

FILES, PACKED, MESSAGES = 34, 4, 900
HERE = os.path.dirname(os.path.abspath(__file__))
SCALARS = ("int", "unsigned", "long", "unsigned char", "short", "double", "float", "bool", "std::int64_t",
           "std::uint16_t", "const char *", "std::string", "std::vector<int>", "std::vector<std::string>")


def member(draw, number, index):
    """One data member of message `index`, as C++ text."""
    kind = draw.random()
    name = "%s_%d" % (draw.choice(("id", "length", "state", "owner", "time", "flags", "items", "next")), number)
    if kind < 0.08:
        return "unsigned %s : %d;" % (name, draw.randint(1, 31))
    if kind < 0.16:
        return "%s %s[%d];" % (draw.choice(SCALARS[:10]), name, draw.randint(1, 40))
    if index and kind < 0.30:
        return "Message%d *%s;" % (draw.randrange(index), name)
    if index and kind < 0.36:
        return "Message%d %s;" % (draw.randrange(max(0, index - 3), index), name) if index % 4 == 0 else "Kind%d %s;" % (
            draw.randrange(index), name)
    return "%s %s;" % (draw.choice(SCALARS), name)


def message(draw, index):
    values = ", ".join("kind_%d_%d = %d" % (index, i, i * draw.randint(1, 5)) for i in range(draw.randint(2, 6)))
    base = " : Message%d" % draw.randrange(index) if index and index % 7 == 0 else ""
    members = "\n".join("\t" + member(draw, i, index) for i in range(draw.randint(2, 16)))
    return "enum Kind%d { %s };\nstruct Message%d%s {\n%s\n\tint size() const;\n\tvoid clear();\n};\n" % (
        index, values, index, base, members)


def main():
    target = sys.argv[1]
    os.makedirs(target, exist_ok=True)
    with open(os.path.join(HERE, "templates-unit.cc"), encoding="utf-8") as stream:
        lines = stream.read().splitlines()
    includes = "\n".join(line for line in lines if line.startswith("#include"))
    body = "\n".join(line for line in lines if not line.startswith("#include"))
    total = FILES * PACKED
    with open(os.path.join(target, "units.h"), "w", encoding="utf-8") as stream:
        stream.write("#pragma once\n" + includes + '\n#include "templates.h"\n#define UNITS %d\n' % total)
        stream.writelines("namespace unit_%d { int enter(Journey &); }\n" % n for n in range(total))
        stream.write("extern int (*const units[UNITS])(Journey &);\n")
    for number in range(FILES):
        with open(os.path.join(target, "unit_%02d.cc" % number), "w", encoding="utf-8") as stream:
            stream.write('#include "units.h"\n')
            for n in range(number * PACKED, (number + 1) * PACKED):
                draw = random.Random(n)
                messages = "".join(message(draw, index) for index in range(MESSAGES))
                text = re.sub("@NEXT@", str((n + 1) % total), body).replace("@N@", str(n))
                stream.write(text.replace("@MESSAGES@", messages))
    with open(os.path.join(target, "units.cc"), "w", encoding="utf-8") as stream:
        stream.write('#include "units.h"\nint (*const units[UNITS])(Journey &) = {\n')
        stream.writelines("\tunit_%d::enter,\n" % n for n in range(total))
        stream.write("};\n")


if __name__ == "__main__":
    main()
