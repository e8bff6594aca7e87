#!/usr/bin/env python3
"""Tests of compare.py: it must report every kind of wrong answer, and accept the known spellings.

Runs without gdb, xcore or cores: python3 tests/diff/test_compare.py
"""

import copy
import os
import tempfile
import unittest

import compare
import rules
import valuetext


def var(name, kind, value, text, size=4, **more):
    """A gdb variable and xcore's text for it."""
    theirs = {"name": name, "arg": False, "static": False, "depth": 0, "type": kind, "kind": kind, "size": size}
    theirs.update({"value": value} if value is not None else {"why": "optimized out"})
    theirs.update(more)
    return theirs, {"name": name, "type": kind, "value": text, "why": None if text else "optimized out"}


def leaf(kind, value, **more):
    return {"type": kind, "kind": kind, "size": 4, "value": value, **more}


VARS = [
    var("n", "int", "-5", "-5"),
    var("letter", "int", "65", "65 'A'", 1),
    var("p", "pointer", "0x1234", "0x1234 <main+4>", 8),
    var("s", "pointer", "0x55aa", '0x55aa "a, }\\""', 8),
    var("fn", "pointer", "0x77", "(int (*)(char *)) 0x77 <puts>", 8),
    var("color", "enum", "5", "GREEN", enum=0),
    var("flags", "enum", "6", "(FB | FC)", enum=0),
    var("yes", "bool", "true", "true", 1),
    var("d", "float", "0.10000000000000001", "0.1", 8),
    var("f", "float", "0.300000012", "0.3", 4),
    var("bad", "float", "-nan(0x8000000000000)", "-nan(0x8000000000000)", 8),
    var("gone", "int", None, None),
    var("box", "struct", None, '{i = {{x = 1, {u = 7}}, {x = 2, {u = 8}}}, name = "hi", {anon = 3}, <ns::base<int> > = {b = 4}}', 40, members=[
        [[".i", "[0]", ".x"], leaf("int", "1")], [[".i", "[1]", ".x"], leaf("int", "2")],
        [[".i", "[1]", ".u"], leaf("int", "8")], [[".name", "[1]"], leaf("int", "105")],
        [[".name", "[5]"], leaf("int", "0")], [[".anon"], leaf("int", "3")],
        [[".<ns::base<int> >", ".b"], leaf("int", "4")]]),
]


def case():
    """A pair (oracle, xcore) that agrees."""
    def frame(level, pc, function, file, line, **more):
        theirs = {"level": level, "pc": pc, "function": function, "inline": False, "signal": False,
                  "file": file, "path": "/src/" + str(file), "line": line, "vars": [], **more}
        ours = {"index": level, "pc": pc, "function": function, "inline": theirs["inline"], "signal": theirs["signal"],
                "file": theirs["path"] if file else None, "line": line, "args": [], "locals": []}
        return theirs, ours
    pairs = [frame(0, "0x10", "inner", "a.c", 3, inline=True), frame(1, "0x10", "outer", "a.c", 9),
             frame(2, "0x20", "__GI_raise", "../x/raise.c", 7), frame(3, "0x30", "main", "m.c", 1),
             frame(4, "0x40", "_start", None, None)]
    pairs[1][0]["vars"] = [copy.deepcopy(one) for one, _ in VARS]
    pairs[1][1]["args"] = [copy.deepcopy(one) for _, one in VARS[:2]]
    pairs[1][1]["locals"] = [copy.deepcopy(one) for _, one in VARS[2:]]
    oracle = {"enums": [{"RED": 0, "GREEN": 5, "FB": 2, "FC": 4}],
              "threads": [{"tid": 1, "crashed": True, "end": "complete", "frames": [a for a, _ in pairs]}]}
    mine = {"schema": "xcore.bt/1", "threads": [{"tid": 1, "crashed": True, "frames": [b for _, b in pairs]}]}
    return oracle, mine


class Agreement(unittest.TestCase):
    def check(self, change, rules=()):
        oracle, mine = case()
        change(mine["threads"][0])
        return compare.compare("case", oracle, mine, list(rules))

    def test_equal_answers_are_equal(self):
        done = self.check(lambda thread: None)
        self.assertEqual(done.findings, [])
        self.assertEqual(compare.verdict(done.counts), [])
        self.assertEqual(done.counts["frame equal"], 5)
        self.assertEqual(done.counts["value equal"], 11)
        self.assertEqual(done.counts["member equal"], 6)
        self.assertEqual(done.counts["hidden"], 1)

    def test_private_alias_is_the_same_function(self):
        done = self.check(lambda thread: thread["frames"][2].update(function="raise"))
        self.assertEqual(done.findings, [])

    def test_each_wrong_frame_fact_is_seen(self):
        wrong = {"function": "other", "file": "/src/b.c", "line": 4, "inline": False, "signal": True, "pc": "0x11"}
        for fact, value in wrong.items():
            done = self.check(lambda thread: thread["frames"][0].update({fact: value}))
            self.assertTrue(compare.broken(done.counts), fact)

    def test_missing_frames_and_threads_are_seen(self):
        for change in (lambda t: t["frames"].pop(), lambda t: t["frames"].pop(0), lambda t: t.update(tid=2),
                       lambda t: t.update(crashed=False), lambda t: t["frames"].append(t["frames"][0])):
            self.assertTrue(compare.broken(self.check(change).counts))

    def test_each_wrong_value_is_seen(self):
        wrong = {"n": "5", "letter": "66 'A'", "p": "0x1235 <main+4>", "s": '0x55ab "a"', "fn": "0x78", "color": "RED",
                 "flags": "(FB | 1)", "yes": "false", "d": "0.10000000000000002", "f": "0.3001", "bad": "0"}
        for name, text in wrong.items():
            for value in (text, None, "", "GARBAGE"):
                done = self.check(lambda thread: self.give(thread, name, value))
                self.assertEqual(done.counts["value unexplained"], 1, (name, value))
                self.assertEqual(bool(compare.broken(done.counts)), value is not None, (name, value))

    def test_each_wrong_member_is_seen(self):
        good = VARS[-1][1]["value"]
        for old, new in (("x = 1", "x = 3"), ("x = 2", "x = 3"), ("u = 8", "u = 9"), ('"hi"', '"hx"'),
                         ('"hi"', '"hi\\000\\000\\000x"'), ("anon = 3", "anon = 4"), ("b = 4", "b = 5")):
            done = self.check(lambda thread: self.give(thread, "box", good.replace(old, new)))
            self.assertEqual(done.counts["member unexplained"], 1, new)

    def test_a_value_for_what_is_optimized_out_is_seen(self):
        done = self.check(lambda thread: self.give(thread, "gone", "0"))
        self.assertEqual(done.counts["extra unexplained"], 1)
        self.assertTrue(compare.broken(done.counts))

    def test_shadowed_names_pair_from_the_end_that_agrees(self):
        for inner, outer, bad in (("7", "-5", 0), ("-5", "7", 0), ("6", "7", 1)):
            def add(thread, first=inner, last=outer):
                self.give(thread, "n", last)
                thread["frames"][1]["args"].insert(0, {"name": "n", "type": "int", "value": first, "why": None})
            done = self.check(add)
            self.assertEqual((done.counts["value unexplained"], done.counts["unknown to gdb"]), (bad, 1))

    def test_an_exception_explains_only_its_own(self):
        rule = rules.Rule(1, "ca*", "value", "outer:n", "because")
        done = self.check(lambda thread: self.give(thread, "n", "5"), [rule])
        self.assertEqual((done.counts["value explained"], rule.used), (1, 1))
        done = self.check(lambda thread: self.give(thread, "p", "0x5"), [rule])
        self.assertEqual((done.counts["value unexplained"], rule.used), (1, 1))

    def test_what_is_wrong_in_gdb_is_not_compared_but_what_xcore_lacks_is(self):
        rule = rules.Rule(1, "ca*", "theirs", "outer:[np]", "because")
        for text, wrong, left in (("5", 1, 0), ("-5", 0, 0), (None, 0, 1)):
            done = self.check(lambda thread: self.give(thread, "n", text), [rule])
            self.assertEqual((done.counts["wrong in gdb"], done.counts["value unexplained"]), (wrong, left), text)
        rule = rules.Rule(1, "ca*", "lost", "outer:n", "because")
        for text, why, wrong, left in (("5", None, 0, 1), (None, "rdi not saved by this frame", 1, 0), (None, "gone", 0, 1)):
            def change(thread, text=text, why=why):
                self.give(thread, "n", text)
                thread["frames"][1]["args"][0]["why"] = why
            done = self.check(change, [rule])
            self.assertEqual((done.counts["wrong in gdb"], done.counts["value unexplained"]), (wrong, left), text)

    def test_only_registers_that_calls_change_are_stale(self):
        rule = rules.Rule(1, "*", "stale", "*", "because")
        for why, explained in (("rdi not saved by this frame", 1), ("rbx not saved by this frame", 0),
                               ("synthetic pointer to <rdx not saved by this frame>", 1), ("optimized out", 0),
                               ("<mixed.d: xmm2 not saved by this frame>", 1), ("<mixed.d: r12 not saved by this frame>", 0)):
            def change(thread, why=why):
                self.give(thread, "n", None)
                thread["frames"][1]["args"][0]["why"] = why
            done = self.check(change, [rule])
            self.assertEqual((done.counts["value explained"], done.counts["value unexplained"]), (explained, 1 - explained))
            self.assertEqual(done.counts["value"] - done.counts["value equal"], 1)
        done = self.check(lambda thread: self.give(thread, "n", "5"), [rule])
        self.assertEqual(done.counts["wrong"], 1)

    def test_left_out_middle_of_a_deep_stack_is_not_compared(self):
        def frames(count, number):
            return [{number: n, "pc": hex(16 + n % 2), "function": "f", "inline": False, "signal": False,
                     "file": None, "line": None, "vars": []} for n in range(count)]
        oracle, mine = case()
        oracle["threads"][0]["frames"] = frames(2000, "level")
        deep = frames(2000, "index")
        mine["threads"][0]["frames"] = deep[:512] + deep[-512:]
        done = compare.compare("case", oracle, mine, [])
        self.assertEqual((done.counts["frame folded"], compare.broken(done.counts)), (976, []))

    def test_a_tail_call_that_gdb_lacks_may_be_explained_and_is_then_not_compared(self):
        known = [rules.Rule(1, "case", "tail", "outer", "because")]

        def counts(**more):
            oracle, mine = case()
            del oracle["threads"][0]["frames"][1]
            mine["threads"][0]["frames"][1].update(more)
            return compare.compare("case", oracle, mine, known).counts

        all_frames = len(case()[0]["threads"][0]["frames"])
        done = counts(tail_call=True)
        self.assertEqual((done["frame equal"], done["frame unexplained"], done["wrong in gdb"]), (all_frames - 1, 0, 1))
        done = counts(tail_call=False)
        self.assertEqual((done["frame"], done["frame unexplained"], done["wrong in gdb"]), (all_frames, 1, 0))

    def test_nothing_is_compared_behind_a_frame_that_gdb_cannot_leave(self):
        def change(thread):
            thread["frames"][3:] = [{**thread["frames"][3], "pc": "0x31"}]
        rule = rules.Rule(1, "ca*", "behind", "raise", "because")
        done = self.check(change, [rule])
        self.assertEqual((done.findings, done.counts["frame folded"], done.counts["frame"]), ([], 2, 3))
        done = self.check(lambda thread: thread["frames"][1].update(line=8), [rule])
        self.assertEqual(done.counts["frame unexplained"], 1)
        self.assertTrue(compare.broken(self.check(change).counts))

    def test_left_out_middle_of_a_short_stack_is_seen(self):
        done = self.check(lambda thread: thread["frames"].pop(2))
        self.assertTrue(compare.broken(done.counts))

    @staticmethod
    def give(thread, name, value):
        for one in thread["frames"][1]["args"] + thread["frames"][1]["locals"]:
            if one["name"] == name:
                one["value"] = value


class Names(unittest.TestCase):
    def test_parameters_go_and_names_stay(self):
        for name, want in {"ns::f(int)": "ns::f", "f<int(char)>(long) const": "f<int(char)>",
                           "(anonymous namespace)::g(int)": "(anonymousnamespace)::g",
                           "A::operator()(int)": "A::operator()", "A::operator<(B)": "A::operator<",
                           "f<short int&, long unsigned int>": "f<short&,unsignedlong>", "f<print>": "f<print>",
                           "f(int) [clone .cold]": "f", "main": "main",
                           "std::ostream::put(char)": "std::basic_ostream<char,std::char_traits<char>>::put",
                           "mystd::ostream": "mystd::ostream", "std::ostreams": "std::ostreams"}.items():
            self.assertEqual(compare.plain_name(name), want)

    def test_a_lambda_is_told_by_its_function(self):
        theirs = {"function": "operator()(int) const", "file": "/s/a.cc"}
        self.assertTrue(compare.same_function(theirs, {"function": "f::{lambda}::operator()"}))
        self.assertFalse(compare.same_function(theirs, {"function": "f::A::operator()"}))


class Texts(unittest.TestCase):
    def test_long_runs(self):
        chars = valuetext.parse('"ab", \'\\000\' <repeats 3 times>, "c"...')
        self.assertEqual((chars.codes, chars.elided), ([97, 98, 0, 0, 0, 99], True))
        array = valuetext.parse("{0 <repeats 5 times>, 7, \u2026}")
        self.assertEqual((len(array.items), array.elided), (6, True))

    def test_empty_base_classes_are_no_names(self):
        tree = valuetext.parse("{<a<b> > = {<No data fields>}, <c> = {x = 1}...}")
        self.assertEqual([name for name, _ in tree.items], ["<a<b> >", "<c>"])
        self.assertEqual(valuetext.lookup(tree, [".<c>", ".x"]), "1")

    def test_names_of_symbols_may_be_cut(self):
        tree = valuetext.parse('{a = @0x5: {x = 0x12 <f<{int (std::vector<x, ...+0x10>, y = {...}}, b = 0x13 <g(A<...> "s", c = 3}')
        self.assertEqual([(name, valuetext.scalar(node, "pointer")) for name, node in tree.items[:2]], [("a", 5), ("b", 19)])
        self.assertEqual(valuetext.lookup(tree, [".c"]), "3")

    def test_broken_texts_raise(self):
        for text in ("{a = 1", '{a = "x', "{a = 1 b}{", '"abc', "{" * 200):
            with self.assertRaises(ValueError):
                valuetext.parse(text)


class Rust(unittest.TestCase):
    TEXT = ("{shape: Shape::Circle{radius: 2.5}, none: None, unit: Shape::Empty, some: Some((1, [2, 3 <repeats 2 times>])), "
            "one: NonZeroU32(5), err: Err({vec: {...}, len: 6}), letter: 120 'x', p: 0x55 <a::b<c>+4>}")

    def check(self, steps, want):
        self.assertEqual(valuetext.lookup(valuetext.parse(self.TEXT), steps), want)

    def test_variants_and_their_fields(self):
        self.check([".shape", "::"], "Circle")
        self.check([".shape", ".Circle", ".radius"], "2.5")
        self.check([".shape", ".Square", ".radius"], None)
        self.check([".none", "::"], "None")
        self.assertEqual(valuetext.scalar("Shape::Empty", "variant"), "Empty")
        self.check([".some", ".Some", ".__0", ".__1", "[1]"], "3")
        self.check([".one", ".__0"], "5")
        self.check([".err", ".Err", ".__0", ".len"], "6")
        self.check([".letter"], "120 'x'")
        self.check([".p"], "0x55 <a::b<c>+4>")

    def test_what_is_no_tuple(self):
        for text in ("(A | B)", "(unknown: 0x8)", "(int (*)(char *)) 0x77 <puts>", "nan(0x8000)"):
            self.assertEqual(valuetext.parse(text), text)

    def test_names_of_functions(self):
        for gdb, mangled in (
                ("core::ptr::mut_ptr::{impl#0}::write<i32>", "core::ptr::mut_ptr::<impl *mut T>::write"),
                ("std::rt::lang_start::{closure#0}<()>", "std::rt::lang_start::{{closure}}"),
                ("core::ops::FnOnce::call_once<fn() -> u8, ()>", "<&dyn core::ops::Fn<(), Output = i32> as F>::call_once")):
            self.assertEqual(compare.rust_name(gdb), compare.rust_name(mangled))
        self.assertNotEqual(compare.rust_name("a::b<c>"), compare.rust_name("a::d<c>"))


class Rules(unittest.TestCase):
    def load(self, text):
        with tempfile.NamedTemporaryFile("w", suffix=".rules", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            return rules.load(stream.name, compare.WHATS)

    def test_a_line_needs_all_its_words(self):
        self.assertEqual([str(rule) for rule in self.load("# a comment\n\ncase-*  frame  main  of two words\n")], ["case-* frame main"])
        for line in ("case frame main", "case frames main why", "case ! main why"):
            with self.assertRaises(SystemExit):
                self.load(line)

    def test_what_must_occur_is_missed_where_it_must(self):
        one, other = self.load("a-*  frame!  main  why\nb-*  frame  main  why\n")
        self.assertEqual((one.what, one.must, other.must), ("frame", True, False))
        self.assertEqual(rules.unneeded([one, other], ["a-1", "b-1"]), [one])
        self.assertEqual(rules.unneeded([one, other], ["b-1"]), [])
        self.assertIs(rules.find([one, other], "a-2", "frame", rules.globbed("main")), one)
        self.assertEqual(rules.unneeded([one, other], ["a-1", "a-2", "b-1"]), [])

    def test_the_first_that_fits_explains(self):
        some = self.load("*  value  f:*  why\n*  value  f:x  why\n")
        self.assertIs(rules.find(some, "c", "value", rules.globbed("f:x")), some[0])
        self.assertIsNone(rules.find(some, "c", "frame", rules.globbed("f:x")))
        self.assertIsNone(rules.find(some, "c", "value", rules.globbed("g:x")))

    def test_all_files_are_read(self):
        for name in ("exceptions", "scripted-exceptions"):
            self.assertTrue(rules.load(os.path.join(os.path.dirname(os.path.abspath(__file__)), name), compare.WHATS))


if __name__ == "__main__":
    unittest.main()
