"""Random Lua programs for luajit/replay: a hot loop over lists with function calls that a trace inlines.

The place of death must not depend on what the compiler removes or reorders. So each number that is read goes into the
result, an element is read in only one way, given by its list's kind (the compiler merges two reads of the same
element), and is written only after it was read.
"""

# The expression for an element's number.
NUMBER = {"numbers": "%s[0]", "cells": "%s.value", "chains": "%s.next.value", "arrays": "%s[1]", "fields": "%s.value"}
OPTIONS = ["-fold", "-cse", "-dce", "-fwd", "-dse", "-narrow", "-loop", "-abc", "-sink", "-fuse", "hotloop=5", "hotexit=2"]
# Without these, the same value is read again, and the second read may come first if the first is fused into its user.
READ_AGAIN = {"-fold", "-cse", "-fwd"}


class Scope:
    """The names that a statement can use: numbers, lists and elements with their kinds, and the index that is valid for
    lists."""

    def __init__(self, lists, index, numbers, elements=()):
        self.lists, self.index, self.numbers, self.elements = list(lists), index, list(numbers), list(elements)

    def inner(self):
        return Scope(self.lists, self.index, self.numbers, self.elements)


class Function:
    def __init__(self, name, kinds, elements, results):
        self.name, self.kinds, self.elements, self.results = name, kinds, elements, results


class Program:
    """One program: `text` is its source, `about` a short description."""

    def __init__(self, random):
        self.random = random
        self.lines, self.functions, self.names, self.indent = [], [], 0, 0
        self.kinds = [random.choice(list(NUMBER)) for _ in range(random.randint(1, 4))]
        self.limit = random.randint(200, 300)
        self.death = random.randint(100, self.limit - 10)
        self.write()
        self.text = "\n".join(self.lines) + "\n"

    # ---- small parts ----

    def line(self, text):
        self.lines.append("\t" * self.indent + text)

    def new(self, what):
        self.names += 1
        return "%s%d" % (what, self.names)

    def chance(self, percent):
        return self.random.randrange(100) < percent

    def index(self, scope):
        if self.chance(6):
            return str(self.random.choice([self.death, self.random.randint(0, self.limit)]))
        return scope.index if self.chance(80) else "%s + %d" % (scope.index, self.random.randint(1, 3))

    def element(self, scope, kind=None):
        """An element and its kind; None if there is none."""
        there = [(name, k) for name, k in scope.elements if kind in (None, k)]
        if there and self.chance(50):
            return self.random.choice(there)
        of = [(name, k) for name, k in scope.lists if kind in (None, k)]
        if not of:
            return self.random.choice(there) if there else (None, kind)
        name, kind = self.random.choice(of)
        return "%s[%s]" % (name, self.index(scope)), kind

    def read(self, scope):
        element, kind = self.element(scope)
        return NUMBER[kind] % element if element else "1"

    def call(self, scope, depth, results=1):
        """A call of a function with available arguments."""
        able = [f for f in self.functions if f.results == results
                and all(any(k == kind for _, k in scope.lists) for kind in f.kinds)
                and all(any(k == kind for _, k in scope.lists + scope.elements) for kind in f.elements)]
        if not able:
            return None
        function = self.random.choice(able)
        arguments = [self.random.choice([name for name, k in scope.lists if k == kind]) for kind in function.kinds]
        arguments += [self.element(scope, kind)[0] for kind in function.elements]
        arguments += [scope.index, self.number(scope, depth + 1)]
        return "%s(%s)" % (function.name, ", ".join(arguments))

    def number(self, scope, depth=0):
        """An expression that yields a number."""
        what = self.random.randrange(100)
        if depth > 2 or what < 22:
            return self.random.choice(scope.numbers + [scope.index, str(self.random.randint(1, 9))])
        if what < 52:
            return self.read(scope)
        if what < 70:
            return self.call(scope, depth) or self.read(scope)
        left, right = self.number(scope, depth + 1), self.number(scope, depth + 1)
        if what < 88:
            # A value minus itself is zero and would not be read.
            return "%s - %d" % (left, self.random.randint(1, 9)) if self.chance(30) else "%s + (%s)" % (left, right)
        if what < 92:
            return "(%s) %% %d" % (left, self.random.randint(3, 90))
        if what < 96:
            return "math.%s(%s, %s)" % (self.random.choice(["max", "min"]), left, right)
        return self.random.choice(["math.floor((%s) / 2)", "math.abs(%s)", "bit.band(%s, 255)"]) % left

    def condition(self, scope):
        what = self.random.randrange(4)
        if what == 0:
            return "%s %% %d == 0" % (scope.index, self.random.randint(2, 5))
        if what == 1:
            return "%s %s %d" % (scope.index, self.random.choice(["<", ">=", ">", "<="]), self.random.randint(0, self.limit))
        if what == 2:
            return "%s %s %d" % (self.random.choice(scope.numbers), self.random.choice(["<", ">", "~=", "=="]), self.random.randint(0, 30))
        return "%s > %s" % (self.read(scope), self.random.choice(["0", "3", "100"]))

    # ---- statements ----

    def add(self, scope, total):
        """Adds to the total; sometimes over several lines."""
        parts = [self.number(scope) for _ in range(self.random.randint(1, 3))]
        if len(parts) > 1 and self.chance(40):
            self.line("%s = %s + %s" % (total, total, parts[0]))
            for part in parts[1:]:
                self.line("\t+ (%s)" % part)
        else:
            self.line("%s = %s + %s" % (total, total, " + ".join("(%s)" % part for part in parts)))

    def assign(self, scope, total):
        name = self.new("v")
        self.line("local %s = %s" % (name, self.number(scope)))
        scope.numbers.append(name)
        self.line("%s = %s + %s" % (total, total, name))

    def take(self, scope, _):
        element, kind = self.element(scope)
        if element:
            name = self.new("e")
            self.line("local %s = %s" % (name, element))
            scope.elements.append((name, kind))

    def store(self, scope, _):
        element, kind = self.element(scope)
        if element:
            place = NUMBER[kind] % element
            self.line("%s = (%s + %s) %% 50" % (place, place, self.random.choice(scope.numbers)))

    def two(self, scope, total):
        call = self.call(scope, 0, 2)
        if call:
            first, second = self.new("v"), self.new("v")
            self.line("local %s, %s = %s" % (first, second, call))
            self.line("%s = %s + %s + %s" % (total, total, first, second))
            scope.numbers += [first, second]

    def branch(self, scope, total, depth):
        self.line("if %s then" % self.condition(scope))
        self.block(scope.inner(), total, depth + 1)
        if self.chance(50):
            self.line("else")
            self.block(scope.inner(), total, depth + 1)
        self.line("end")

    def inner_loop(self, scope, total, depth):
        name, inside = self.new("k"), scope.inner()
        self.line("for %s = 1, %d do" % (name, self.random.randint(1, 4)))
        inside.numbers.append(name)
        self.block(inside, total, depth + 1)
        self.line("end")

    def block(self, scope, total, depth=0):
        self.indent += 1
        for _ in range(self.random.randint(1, 4 if depth == 0 else 2)):
            what = self.random.randrange(100)
            if what < 12 and depth < 2:
                self.branch(scope, total, depth)
            elif what < 16 and depth < 1:
                self.inner_loop(scope, total, depth)
            else:
                pick = 35 * [self.add] + 25 * [self.assign] + 20 * [self.take] + 12 * [self.store] + 8 * [self.two]
                self.random.choice(pick)(scope, total)
        self.indent -= 1

    # ---- functions and the loop ----

    def function(self):
        kinds = [kind for kind in sorted(set(self.kinds)) if self.chance(50)]
        elements = [kind for kind in sorted(set(self.kinds)) if self.chance(40)]
        made = Function(self.new("f"), kinds, elements, 2 if self.chance(15) else 1)
        lists = [("p%d" % n, kind) for n, kind in enumerate(kinds)]
        members = [("m%d" % n, kind) for n, kind in enumerate(elements)]
        scope = Scope(lists + (list(self.outer) if self.chance(30) else []), "at", ["x"], members)
        self.line("local function %s(%s)" % (made.name, ", ".join([name for name, _ in lists + members] + ["at", "x"])))
        tail = self.call(scope, 0) if made.results == 1 and self.chance(20) else None
        if tail and self.chance(50):
            self.line("\treturn %s" % tail)
        else:
            self.line("\tlocal sum = x")
            self.block(scope, "sum")
            last = tail or "(sum) %% %d" % self.random.randint(50, 2000)
            self.line("\treturn %s" % (last if made.results == 1 else "sum %% 1000, %s" % self.number(scope)))
        self.line("end")
        self.functions.append(made)

    def loop(self):
        scope = Scope(self.outer, "i", ["count"])
        how = self.random.randrange(3)
        self.line("local function loop(from, limit)")
        self.line("\tlocal sum, count = 0, 1")
        self.indent += 1
        if how == 0:
            self.line("local i = from")
            self.line("while i <= limit do")
        elif how == 1:
            self.line("local i = from")
            self.line("repeat")
        else:
            self.line("for i = from, limit do")
        self.block(scope, "sum")
        self.line("\tcount = count + 1")
        if how < 2:
            self.line("\ti = i + 1")
        self.line("until i > limit" if how == 1 else "end")
        self.line("return sum % 100000 + count")
        self.indent -= 1
        self.line("end")

    def write(self):
        self.outer = [("list%d" % n, kind) for n, kind in enumerate(self.kinds)]
        self.line("local function make(%s)" % ", ".join(name for name, _ in self.outer))
        for _ in range(self.random.randint(1, 5)):
            self.function()
        self.loop()
        self.line("return loop")
        self.line("end")
        options = self.random.sample(OPTIONS, self.random.choice([0, 0, 1, 2]))
        if READ_AGAIN & set(options):
            options.append("-fuse")
        self.line("return { make = make, lists = { %s }, victim = %d, death = %d, from = %d, limit = %d, warm = %d, options = { %s } }" % (
            ", ".join('"%s"' % kind for kind in self.kinds), self.random.randint(1, len(self.kinds)), self.death,
            self.random.choice([0, self.death - self.random.randint(1, 30)]), self.limit, self.random.randint(2, 6),
            ", ".join('"%s"' % option for option in options)))
