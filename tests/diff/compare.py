#!/usr/bin/env python3
"""compare.py ORACLE.json XCORE.json [--case NAME] [--exceptions FILE] [-v]

Compares xcore's stacks (`bt --format json --thread all --full`, schema xcore.bt/1) with gdb's (gdb_oracle.py): for
each frame pc, function, file, line, inline and signal flag, and every scalar argument and local. Scalar members of
structs and arrays are counted separately.

These differences of the texts are ignored, and no others:
  names    parameters, `[clone ...]` and spaces are dropped. gdb respells integer types in template
           arguments (`short int` is `short`), which DWARF has as the compiler wrote them. glibc's `__GI_` alias prefix
           is dropped (gdb shows the linkage name, which is private to glibc's build)
           The demangler's short names are expanded: std::ostream is basic_ostream<char>
           (gdb asks for the long ones with DMGL_VERBOSE; the short ones are easier to read)
  rust     only the function's own name is compared, without modules, impl and generic arguments
  files    only the last path component is compared; gdb and DWARF spell directories differently
  signal   in gdb a signal trampoline has no function: name, file and line are not compared
  folded   of a very deep stack both sides keep both ends; frames that one side omits (a jump in the
           numbering of a stack of at least 512 rows) are counted as `folded`, neither equal nor different
  values   see valuetext.py: annotations are dropped, values are strict
  strings  a char array may be cut at its first NUL; elements after it are counted as `cut`
  order    variables with one name in a frame are matched in order, innermost block first; if one side
           has more of them, from the end that matches better

Exceptions file (rules.py): WHAT is frame, tail, value, extra, member, stale, behind, theirs or lost, PATTERN a glob
on `function` (frame, tail, behind) or `function:variable` (the rest).
  stale    a value or member that xcore does not show because it would be in a caller-saved register
  behind   the first frame of gdb's that matches is the last one compared; later frames are counted as `folded`
  tail     a frame that gdb lacks and xcore marks as left by a tail call: not compared, counted as `wrong in gdb`
  theirs   gdb's value or member is wrong, as other frames show: not compared, counted as `wrong in gdb`
  lost     the same for values of kind stale

A value that both sides have and that differs fails unless it is explained. Values that only xcore lacks are allowed
up to the bounds in verdict().
"""

import argparse
import difflib
import fnmatch
import json
import os
import re
import sys
from collections import Counter

import rules as known
import valuetext

SCALARS = ("int", "bool", "enum", "pointer", "float", "ref", "variant")
FOLD_ROWS = 512  # a shorter stack has no excuse for a jump in its numbering
WHATS = ("frame", "tail", "value", "extra", "member", "stale", "behind", "theirs", "lost")
# x86-64 psABI 1.0, figure 3.4: what a call may change. A script's text names the member before it.
STALE = re.compile(r"<?(?:[\w.\[\]]+: )?(?:synthetic pointer to .*)?\b(?:r(?:ax|dx|cx|si|di|8|9|10|11)|xmm\d+) not saved by this frame\b")


def strip_parameters(name):
    """`ns::f<int(char)>(long) const` -> `ns::f<int(char)>`: cut at a `(` outside `<>` that is no part of a name."""
    level = 0
    for at, char in enumerate(name):
        if char == "<" and not name[:at].endswith(("operator", "operator<")):
            level += 1
        elif char == ">" and level > 0 and name[at - 1] != "-":
            level -= 1
        elif char == "(" and level == 0 and at > 0:
            if name.startswith("(anonymous namespace)", at) or name[:at].endswith("operator"):
                continue
            return name[:at]
    return name


def plain_integers(name):
    """gdb's spelling of integer types in template arguments: `short int` -> `short`, `long unsigned` -> `unsigned long`."""
    name = re.sub(r"\b(short|long)( long)? unsigned( int)?\b", r"unsigned \1\2", name)
    return re.sub(r"\b(short|long) int\b", r"\1", name)


def long_streams(name):
    """`std::ostream::operator<<` -> `std::basic_ostream<char,std::char_traits<char>>::operator<<`."""
    return re.sub(r"\bstd::(istream|ostream|iostream)\b", r"std::basic_\1<char,std::char_traits<char>>", name)


def plain_name(name):
    if not name:
        return None
    name = plain_integers(re.sub(r" ?\[clone [^]]*\]", "", name))
    name = long_streams(strip_parameters(name).replace(" ", ""))
    return name[len("__GI_"):] if name.startswith("__GI_") else name


def rust_name(name):
    """The function's own name: gdb composes it from DWARF (`{impl#0}::f<i32>`), xcore demangles the name by rustc
    (`<impl *mut T>::f`). Closures are `{closure#0}` and `{{closure}}`."""
    out, level = "", 0
    for at, char in enumerate(name or ""):
        level -= char == ">" and name[at - 1] != "-"
        out += char if level == 0 and char not in "<>" else ""
        level += char == "<"
    return re.sub(r"\{+closure(#\d+)?\}+", "{closure}", out.rstrip(":")).rsplit("::", 1)[-1]


def own_lambda(name):
    """A lambda of gcc is `operator()` in gdb, `f::{lambda}::operator()` in xcore."""
    return name.rsplit("{lambda}::", 1)[-1] if name else name


def same_function(theirs, ours):
    if (theirs["file"] or "").endswith(".rs"):
        return rust_name(theirs["function"]) == rust_name(ours.get("function"))
    return plain_name(theirs["function"]) == own_lambda(plain_name(ours.get("function")))


def base_name(path):
    return os.path.basename(path) if path else None


def frame_key(frame):
    return (int(frame["pc"], 16) if frame.get("pc") else None, bool(frame.get("inline")))


def frame_differences(theirs, ours):
    """Names of the facts in which gdb's frame (theirs) and xcore's (ours) differ."""
    out = []
    for fact in ("inline", "signal"):
        if bool(theirs.get(fact)) != bool(ours.get(fact)):
            out.append(fact)
    if frame_key(theirs)[0] != frame_key(ours)[0]:
        out.append("pc")
    if theirs.get("signal") and ours.get("signal"):
        return out
    if not same_function(theirs, ours):
        out.append("function")
    if base_name(theirs["file"]) != base_name(ours.get("file")):
        out.append("file")
    if (theirs["line"] or None) != (ours.get("line") or None):
        out.append("line")
    return out


def align(theirs, ours):
    """Pairs (gdb frame or None, xcore frame or None), in order."""
    mine, other = [frame_key(f) for f in theirs], [frame_key(f) for f in ours]
    if mine == other or len(mine) == len(other) and len(mine) > 4000:
        return list(zip(theirs, ours))
    pairs = []
    matcher = difflib.SequenceMatcher(None, mine, other, autojunk=False)
    for op, a1, a2, b1, b2 in matcher.get_opcodes():
        left, right = theirs[a1:a2], ours[b1:b2]
        both = min(len(left), len(right)) if op in ("equal", "replace") else 0
        pairs += zip(left[:both], right[:both])
        pairs += [(frame, None) for frame in left[both:]]
        pairs += [(None, frame) for frame in right[both:]]
    return pairs


def has_gap(numbers):
    return len(numbers) >= FOLD_ROWS and any(b != a + 1 for a, b in zip(numbers, numbers[1:]))


def fold(theirs, ours):
    """Drops from both sides the frames that the other side omits; returns the lists and the number dropped."""
    levels = [frame["level"] for frame in theirs]
    indexes = [frame.get("index") for frame in ours]
    if None in indexes or not (has_gap(levels) or has_gap(indexes)):
        return theirs, ours, 0
    common = set(levels) & set(indexes)
    kept = [f for f in theirs if f["level"] in common], [f for f in ours if f["index"] in common]
    return kept[0], kept[1], len(theirs) - len(kept[0])


def by_name(variables):
    out = {}
    for one in variables:
        out.setdefault(one["name"], []).append(one)
    return out


class Comparison:
    """Counts and findings of one case."""

    def __init__(self, case, rules, enums):
        self.case, self.rules, self.enums = case, rules, enums
        self.counts = Counter()
        self.findings = []  # (what, where, text): unexplained only

    def differ(self, what, subject, where, text, count=None):
        """Counts one difference as explained or not, under `count` (default what); findings have the latter. Returns
        whether it is explained."""
        count = count or what
        if known.find(self.rules, self.case, what, known.globbed(subject)):
            self.counts[count + " explained"] += 1
            return True
        self.counts[count + " unexplained"] += 1
        self.findings.append((count, where, text))
        return False

    def threads(self, oracle, mine):
        ours = {thread["tid"]: thread for thread in mine}
        for theirs in oracle:
            self.thread(theirs, ours.pop(theirs["tid"], {"frames": []}))
        for thread in ours.values():
            self.thread({"tid": thread["tid"], "frames": [], "crashed": thread["crashed"]}, thread)

    def thread(self, theirs, ours):
        where = "thread %s" % theirs["tid"]
        if bool(theirs["crashed"]) != bool(ours.get("crashed")):
            self.counts["rule breaks"] += 1
            self.findings.append(("rule", where, "crashed: gdb %s, xcore %s" % (theirs["crashed"], ours.get("crashed"))))
        left, right, folded = fold(theirs["frames"], ours["frames"])
        left, right, behind = self.cut_behind(left, right)
        self.counts["frame folded"] += folded + behind
        for one, two in align(left, right):
            self.frame(one, two, where)

    def cut_behind(self, theirs, ours):
        """Drops the frames after one that gdb cannot unwind; returns the lists and the number dropped."""
        rules = [rule for rule in self.rules if rule.what == "behind" and fnmatch.fnmatchcase(self.case, rule.case)]
        keys = [frame_key(frame) for frame in ours]
        for at, frame in enumerate(theirs):
            name = plain_name(frame["function"]) or "?"
            fits = [rule for rule in rules if fnmatch.fnmatchcase(name, rule.pattern)]
            if fits and frame_key(frame) in keys:
                fits[0].used += 1
                last = keys.index(frame_key(frame))
                return theirs[:at + 1], ours[:last + 1], len(theirs) - at - 1
        return theirs, ours, 0

    def frame(self, theirs, ours, where):
        known = theirs or ours
        name = plain_name(known.get("function")) or "?"
        if not theirs and ours.get("tail_call") and self.hidden("tail", name):
            return
        self.counts["frame"] += 1
        where = "%s #%s %s" % (where, known.get("level", known.get("index")), name)
        if not theirs or not ours:
            missing = "gdb" if not theirs else "xcore"
            self.differ("frame", name, where, "not in %s (%s)" % (missing, known["pc"]))
        else:
            self.same_frame(theirs, ours, name, where)
        if theirs:
            self.variables(theirs, ours or {}, name, where)

    def same_frame(self, theirs, ours, name, where):
        facts = frame_differences(theirs, ours)
        if not facts:
            self.counts["frame equal"] += 1
            return
        text = ", ".join("%s: gdb %s, xcore %s" % (fact, theirs[fact], ours.get(fact)) for fact in facts)
        self.differ("frame", name, where, text)

    def variables(self, theirs, ours, name, where):
        given = by_name((ours.get("args") or []) + (ours.get("locals") or []))
        for variable_name, wanted in by_name(theirs["vars"]).items():
            found = given.pop(variable_name, [])
            self.counts["unknown to gdb"] += max(len(found) - len(wanted), 0)
            for variable, mine in self.partners(wanted, found):
                self.variable(variable, mine, "%s:%s" % (name, variable_name), where)
        self.counts["unknown to gdb"] += sum(len(rest) for rest in given.values())

    def partners(self, wanted, found):
        """Pairs (gdb's variable, xcore's or None) of one name."""
        if len(wanted) == len(found):
            return list(zip(wanted, found))
        lack, over = [None] * (len(wanted) - len(found)), max(len(found) - len(wanted), 0)
        inner = list(zip(wanted, (found + lack)))
        outer = list(zip(wanted, (lack + found[over:])))
        return min(inner, outer, key=lambda pairs: sum(not self.agree(*pair) for pair in pairs))

    def agree(self, theirs, ours):
        """Whether both have a value, the same if it is a scalar, or neither has one."""
        given = ours.get("value") if ours else None
        if "value" in theirs:
            return given is not None and self.equal(theirs, given)
        return (given is None) == ("members" not in theirs)

    def variable(self, theirs, ours, subject, where):
        if theirs["kind"] in SCALARS:
            self.value(theirs, ours, subject, where)
        elif "members" in theirs:
            self.members(theirs, ours, subject, where)

    def is_wrong(self, theirs, ours, subject):
        """Whether a rule excludes gdb's differing value from the comparison; counts it then."""
        given = ours.get("value") if ours else None
        if given is not None:
            return not self.equal(theirs, given) and self.hidden("theirs", subject)
        return bool(ours and STALE.match(ours.get("why") or "")) and self.hidden("lost", subject)

    def hidden(self, what, subject):
        if not known.find(self.rules, self.case, what, known.globbed(subject)):
            return False
        self.counts["wrong in gdb"] += 1
        return True

    def value(self, theirs, ours, subject, where):
        given = ours.get("value") if ours else None
        if "value" in theirs and self.is_wrong(theirs, ours, subject):
            return
        if "value" not in theirs:
            self.counts["hidden"] += 1
            if given is not None and not ours.get("guessed"):  # the oracle asks for current values, not for those at entry
                self.differ("extra", subject, where, "%s: gdb %s, xcore %r" % (theirs["name"], theirs["why"], given))
            return
        self.counts["value"] += 1
        if given is None:
            why = ours.get("why") if ours else "no such variable"
            text = "%s: gdb %s, xcore none (%s)" % (theirs["name"], theirs["value"], why)
            self.differ("stale" if STALE.match(why or "") else "value", subject, where, text, "value")
        elif self.equal(theirs, given):
            self.counts["value equal"] += 1
        elif ours.get("guessed"):
            text = "%s: gdb %s, xcore %r at entry only" % (theirs["name"], theirs["value"], given)
            self.differ("value", subject, where, text, "value")
        else:
            text = "%s: gdb %s, xcore %r" % (theirs["name"], theirs["value"], given)
            self.counts["wrong"] += not self.differ("value", subject, where, text)

    def equal(self, theirs, given):
        try:
            leaf = valuetext.parse(given)
        except ValueError:
            return False
        return isinstance(leaf, str) and self.leaf_equal(theirs, leaf)

    def leaf_equal(self, theirs, leaf):
        kind = theirs["kind"]
        names = self.enums[theirs["enum"]] if "enum" in theirs else None
        if isinstance(leaf, valuetext.Code):
            return int(theirs["value"]) & (1 << 8 * theirs["size"]) - 1 == int(leaf)
        ours = valuetext.scalar(leaf, kind, names)
        if kind == "enum":  # gdb's number of an enumerator is signed, whatever the enum is
            return ours is not None and (ours - int(theirs["value"])) % (1 << 8 * theirs["size"]) == 0
        return valuetext.same(valuetext.scalar(theirs["value"], kind), ours, kind, theirs["size"])

    def members(self, theirs, ours, subject, where):
        """Compares members that both show; members that xcore omits (depth, length) are only counted."""
        try:
            tree = valuetext.parse(ours["value"]) if ours and ours.get("value") is not None else None
        except ValueError as error:
            self.differ("member", subject, where, "%s: %s in %r" % (theirs["name"], error, ours["value"][:200]))
            return
        for steps, leaf in theirs["members"]:
            if leaf["kind"] in SCALARS:
                path = "".join(steps)
                self.member(leaf, valuetext.lookup(tree, steps), (subject + path, where, theirs["name"] + path))

    def member(self, theirs, leaf, names):
        subject, where, shown = names
        if isinstance(leaf, valuetext.Chars):
            self.counts["member cut"] += 1
            return
        if leaf is None or isinstance(leaf, valuetext.Group):
            self.counts["member not shown"] += 1
            return
        unreadable = isinstance(leaf, str) and leaf.startswith("<")
        equal = unreadable if "value" not in theirs else self.leaf_equal(theirs, leaf)
        if not equal and not unreadable and self.hidden("theirs", subject):
            return
        self.counts["member"] += 1
        if equal:
            self.counts["member equal"] += 1
        else:
            text = "%s: gdb %s, xcore %r" % (shown, theirs.get("value", theirs.get("why")), leaf)
            what = "stale" if unreadable and STALE.match(leaf) else "member"
            explained = self.differ(what, subject, where, text, "member")
            self.counts["wrong"] += not explained and not unreadable


def compare(case, oracle, mine, rules):
    """A finished Comparison of gdb's and xcore's JSON."""
    if mine.get("schema") != "xcore.bt/1":
        raise ValueError("schema is %r, not xcore.bt/1" % mine.get("schema"))
    out = Comparison(case, rules, oracle["enums"])
    out.threads(oracle["threads"], mine["threads"])
    return out


def ratio(counts, what):
    return counts[what + " equal"] / counts[what] if counts[what] else 1.0


def broken(counts):
    """The reasons why a case fails by itself; empty when it passes."""
    out = []
    if counts["frame"] == 0:
        out.append("no frames compared")
    if counts["frame unexplained"]:
        out.append("%d frames differ unexplained" % counts["frame unexplained"])
    if counts["extra unexplained"]:
        out.append("%d values where gdb has none" % counts["extra unexplained"])
    if counts["wrong"]:
        out.append("%d values other than gdb's" % counts["wrong"])
    if counts["rule breaks"]:
        out.append("%d rules broken" % counts["rule breaks"])
    return out


def verdict(counts, all_frames=True):
    """broken(), and the shares that must be equal over all cases. The bounds are the project's promise; the one for
    frames applies to ordinary programs, not to a selection of unusual ones."""
    out = broken(counts)
    if all_frames and ratio(counts, "frame") < 0.995:
        out.append("frames equal %.2f %% < 99.5 %%" % (100 * ratio(counts, "frame")))
    if ratio(counts, "value") < 0.99:
        out.append("values equal %.2f %% < 99 %%" % (100 * ratio(counts, "value")))
    if ratio(counts, "member") < 0.99:
        out.append("members equal %.2f %% < 99 %%" % (100 * ratio(counts, "member")))
    if counts["member not shown"] > counts["member"] / 4:
        out.append("%d of %d members not shown" % (counts["member not shown"], counts["member"]))
    return out


def main():
    parser = argparse.ArgumentParser(description="compare xcore's stacks with gdb's")
    parser.add_argument("oracle")
    parser.add_argument("xcore")
    parser.add_argument("--case", default="case")
    parser.add_argument("--exceptions")
    parser.add_argument("-v", action="store_true", help="every finding, not only the first 40")
    options = parser.parse_args()
    with open(options.oracle, encoding="utf-8") as stream:
        oracle = json.load(stream)
    with open(options.xcore, encoding="utf-8") as stream:
        mine = json.load(stream)
    rules = known.load(options.exceptions, WHATS) if options.exceptions else []
    done = compare(options.case, oracle, mine, rules)
    for what, where, text in done.findings[:None if options.v else 40]:
        print("%-6s %s: %s" % (what, where, text))
    for key in sorted(done.counts):
        print("%8d %s" % (done.counts[key], key))
    reasons = verdict(done.counts)
    print("; ".join(reasons) or "equal")
    sys.exit(1 if reasons else 0)


if __name__ == "__main__":
    main()
