#!/usr/bin/env python3
"""Tests of the comparison of expressions: JSON of values against gdb's, and the differences that are reported.

Runs without gdb, xcore or cores: python3 tests/diff/test_expressions.py
"""

import importlib.machinery
import importlib.util
import os
import unittest

import jsonvalue
import rules as known

HERE = os.path.dirname(os.path.abspath(__file__))
loader = importlib.machinery.SourceFileLoader("expressions", os.path.join(HERE, "expressions"))
expressions = importlib.util.module_from_spec(importlib.util.spec_from_loader("expressions", loader))
loader.exec_module(expressions)


def leaf(kind, value, size=4, **more):
    return {"kind": kind, "type": "int", "size": size, "value": value, **more}


def record(*members):
    return {"kind": "struct", "type": "struct s", "size": 8, "members": [[list(steps), one] for *steps, one in members]}


class Values(unittest.TestCase):
    def check(self, theirs, right, wrong):
        for value in right:
            self.assertIsNone(jsonvalue.difference(theirs, value, None), (theirs, value))
        for value in wrong:
            self.assertIsNotNone(jsonvalue.difference(theirs, value, None), (theirs, value))

    def test_scalars(self):
        self.check(leaf("int", "-5"), [-5, "-5"], [5, "5", "0xfb", None, "", {}, [], -5.5])
        self.check(leaf("int", "18446744073709551615", 8), ["18446744073709551615"], ["-1", -1])
        self.check(leaf("int", "-1", 1), [-1, 255], [1, 0, "x"])
        self.check(leaf("bool", "true", 1), [True, 1], [False, 0, "true", None])
        self.check(leaf("pointer", "0x12", 8), ["0x12", {"addr": "0x12", "text": "a"}], ["0x13", 18, {"text": "a"}, None])
        self.check(leaf("enum", "3"), [{"name": "A", "value": 3}, 3], [{"name": "A", "value": 2}, "A", None])

    def test_floats_are_compared_at_their_precision(self):
        self.check(leaf("float", "0.10000000000000001", 8), [0.1], [0.1000000001, 0.10000000000000002, "x", None, True])
        self.check(leaf("float", "0.300000012", 4), [0.3, 0.30000001192092896], [0.3001])
        self.check(leaf("float", "nan(0x8000000000000)", 8), ["nan"], [0.0, "inf"])
        self.check(leaf("float", "-inf", 8), ["-inf"], ["inf"])

    def test_members_and_elements(self):
        theirs = record((".a", leaf("int", "1")), (".b", "[1]", leaf("int", "2")), (".<ns::B<short int> >", ".c", leaf("int", "3")),
                        (".s", "[1]", leaf("int", "-1", 1)))
        good = {"a": 1, "b": [0, 2], "ns::B<short>": {"c": 3}, "s": "x\\xff"}
        self.check(theirs, [good, {**good, "s": "x"}], [{**good, "a": 2}, {**good, "b": [2, 0]}, {**good, "s": "xy"},
                                                        {**good, "ns::B<short>": {"c": 4}}])

    def test_a_member_that_gdb_has_not_must_be_null(self):
        theirs = record((".a", leaf("int", "1")), (".gone", {"kind": "int", "type": "int", "size": 4, "why": "optimized out"}))
        self.check(theirs, [{"a": 1, "gone": None}, {"a": 1}], [{"a": 1, "gone": 0}, {"a": None, "gone": None}])

    def test_bytes_of_strings(self):
        self.assertEqual(list(jsonvalue.codes("a\\xffé")), [97, 255, 0xc3, 0xa9])


class Judgement(unittest.TestCase):
    def judge(self, theirs, **ours):
        found = expressions.judge(theirs, ours, ours.pop("shown", None))
        return found and found[0]

    def test_each_kind_of_difference_is_named(self):
        theirs = leaf("int", "5")
        self.assertIsNone(self.judge(theirs, value=5, type="int"))
        self.assertEqual(self.judge(theirs, value=6, type="int"), "value")
        self.assertEqual(self.judge(theirs, value=5, type="long"), "type")
        self.assertEqual(self.judge(theirs, value=None, why="not mapped"), "error")
        self.assertEqual(self.judge({"error": "x"}, value=5, type="int"), "extra")
        self.assertIsNone(self.judge({"error": "x"}, value=None))
        self.assertEqual(self.judge({**theirs, "as": "x", "text": "0x5"}, value=5, type="int", shown="5"), "value")
        self.assertIsNone(self.judge({**theirs, "as": "x", "text": "0x5"}, value=5, type="int", shown="0x5"))

    def test_a_record_without_any_value_is_none(self):
        theirs = record((".a", {"kind": "int", "type": "int", "size": 4, "why": "not mapped"}))
        self.assertIsNone(self.judge(theirs, value=None))
        self.assertIsNone(self.judge(theirs, value={"a": None}))
        self.assertEqual(self.judge(theirs, value={"a": 1}), "extra")

    def test_types_are_compared_by_their_words(self):
        for one, two in (("unsigned int", "unsigned"), ("struct node *", "node *"), ("long int", "long"), ("f (void)", "f ()")):
            self.assertEqual(expressions.plain_type(one), expressions.plain_type(two))
        self.assertNotEqual(expressions.plain_type("const char *"), expressions.plain_type("char *"))

    def test_rules_explain_only_their_own(self):
        rules = [known.Rule(1, "re*", "type", r"sizeof.*=>gdbint", "because")]
        self.assertTrue(expressions.explained(rules, "redis", "type", "sizeof(a) => gdb int, xcore long"))
        for case, what, text in (("nginx", "type", "sizeof(a) => gdb int"), ("redis", "value", "sizeof(a) => gdb int"),
                                 ("redis", "type", "a => gdb int")):
            self.assertFalse(expressions.explained(rules, case, what, text))

    def test_the_exceptions_file_is_read(self):
        self.assertGreater(len(known.load(expressions.EXCEPTIONS, expressions.WHATS)), 5)


if __name__ == "__main__":
    unittest.main()
