#!/usr/bin/env python3
"""possible.py write FILE.c | check FILE.c FOLDED [LEAST]: a program that wanders through a random graph of calls, and a check
that a profile of it shows only stacks along the graph.

The graph has layers, so that every walk ends; functions are called directly and through pointers. The source lists its
own calls in comments ("call A B"), which are the truth."""
import random
import sys

LAYERS, WIDE, CALLS, SEED = 24, 6, 3, 4711
MOST_ODD = 0.01  # stacks that end before main: cut ones


def write(path):
    rng = random.Random(SEED)
    out = ["#include <pthread.h>", "#include <stdio.h>", "static volatile unsigned sink;", "typedef void step(unsigned);"]
    layer_of = [["f%d_%d" % (layer, i) for i in range(WIDE)] for layer in range(LAYERS)]
    out += ["void %s(unsigned seed);" % name for layer in layer_of for name in layer]
    for layer, names in enumerate(layer_of):
        for name in names:
            targets = rng.sample(layer_of[layer + 1], CALLS) if layer + 1 < LAYERS else []
            out += ["/* call %s %s */" % (name, target) for target in targets]
            out.append("__attribute__((noinline)) void %s(unsigned seed)\n{\n\tvolatile char room[%d];\n\troom[0] = 1;" %
                       (name, rng.choice((8, 40, 200, 900))))
            out.append("\tfor (unsigned i = 0; i < %d; i++)\n\t\tsink += i;" % rng.choice((50, 500, 3000)))
            if targets:
                out.append("\tstatic step *const way[] = {%s};" % ", ".join(targets))
                out.append("\tif (seed & 1)\n\t\t%s(seed * 1103515245 + 12345);\n\telse\n\t\tway[seed / 2 %% %d](seed * 22695477 + 1);" %
                           (targets[0], CALLS))
            out.append("\tsink += (unsigned)room[0];\n}")
    out.append("static void *wander(void *first)\n{\n\tfor (unsigned seed = (unsigned)(unsigned long)first;; seed = seed * 69069 + 1)")
    out.append("\t\tswitch (seed >> 8 & 3) {")
    for i in range(3):
        out.append("\t\tcase %d:\n\t\t\t%s(seed);\n\t\t\tbreak;" % (i, layer_of[0][i]))
    out.append("\t\tdefault:\n\t\t\t%s(seed);\n\t\t}\n\treturn NULL;\n}" % layer_of[0][3])
    out += ["/* call wander %s */" % layer_of[0][i] for i in range(4)]
    out.append("/* call main wander */")
    out.append("int main(void)\n{\n\tpthread_t other;\n\tputs(\"ready\");\n\tfflush(stdout);\n\tpthread_create(&other, NULL, wander, "
               "(void *)7);\n\twander((void *)1);\n\treturn 0;\n}")
    with open(path, "w", encoding="utf-8") as stream:
        stream.write("\n".join(out) + "\n")


def check(source, folded, least=1000):
    with open(source, encoding="utf-8") as stream:
        calls = {tuple(line.split()[2:4]) for line in stream if line.startswith("/* call ")}
    own = {name for call in calls for name in call}
    stacks = odd = impossible = 0
    with open(folded, encoding="utf-8") as stream:
        for line in stream:
            path, count = line.rsplit(" ", 1)
            names = [name for name in path.split(";")]
            first = next((i for i, name in enumerate(names) if name in own), None)
            stacks += int(count)
            if first is None or names[first] not in ("main", "wander"):
                odd += int(count)
                print("odd:", line.strip()[-300:])
                first = first or 0
            for caller, callee in zip(names[first:], names[first + 1:]):
                if (caller, callee) not in calls:
                    impossible += int(count)
                    print("impossible: %s calls %s in %s" % (caller, callee, line.strip()[-300:]))
                    break
    print("%d stacks, %d odd, %d impossible" % (stacks, odd, impossible))
    if stacks < least or impossible or odd > MOST_ODD * stacks:
        sys.exit(1)


if sys.argv[1] == "write":
    write(sys.argv[2])
else:
    check(sys.argv[2], sys.argv[3], *map(int, sys.argv[4:]))
