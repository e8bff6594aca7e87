#!/usr/bin/env python3
"""Tests of the comparison of types: pahole's and xcore's output is read, and every kind of wrong layout is reported.

Runs without gdb, pahole or cores: python3 tests/diff/test_types.py
"""

import copy
import unittest

import layouts
import pahole

PAHOLE = """struct client {
	uint64_t                   id;                   /*     0     8 */
	unsigned int               count:16;             /*     8: 0  4 */
	unsigned int               rest:9;               /*     8:16  4 */

	/* XXX 7 bits hole, try to pack */

	int                        (*call)(struct client *, int); /*    16     8 */
	union {
		int                a;                    /*    24     4 */
		struct {
			char       low[2];               /*    24     2 */
		};                                       /*    24     2 */
	};                                               /*    24     4 */
	struct {
		int                x;                    /*    28     4 */
	} in;                                            /*    28     4 */
	struct {
		long int           y;                    /*     0     8 */
	} many[3] __attribute__((__aligned__(8)));       /*    32    24 */
	/* --- cacheline 1 boundary (64 bytes) was 8 bytes ago --- */
	char                       tail[];               /*    56     0 */

	/* size: 56, cachelines: 1, members: 8 */
};
typedef struct {
	struct list_head           list;                 /*     0    16 */

	/* size: 16, cachelines: 1, members: 1 */
} queue __attribute__((__aligned__(8)));
union atomic {
	<ERROR(__class__fprintf:1609): 0 not found!>
	int                        plain;                /*     0     4 */
};
"""


def member(name, kind, offset, size, **more):
    return {"name": name, "type": kind, "offset": offset, "size": size, **more}


XCORE = [
    {"schema": "xcore.ptype/1", "name": "client", "kind": "struct", "size": 56, "members": [
        member("id", "uint64_t", 0, 8), member("count", "unsigned int", 8, 4, bit_offset=0, bit_size=16),
        member("rest", "unsigned int", 10, 4, bit_offset=0, bit_size=9),
        member("call", "int (*)(struct client *, int)", 16, 8),
        member(None, "union {...}", 24, 4, members=[
            member("a", "int", 24, 4),
            member(None, "struct {...}", 24, 2, members=[member("low", "char [2]", 24, 2)])]),
        member("in", "struct {...}", 28, 4, members=[member("x", "int", 28, 4)]),
        member("many", "struct {...} [3]", 32, 24), member("tail", "char []", 56, 0, flexible=True)]},
    {"name": None, "kind": "struct", "size": 16, "typedefs": ["queue"], "members": [
        member("list", "struct list_head", 0, 16, members=[member("next", "struct list_head *", 0, 8)])]},
    {"name": "atomic", "kind": "union", "size": 4, "members": [
        member("spin", "_Atomic int", 0, 4), member("plain", "int", 0, 4)]},
]
GDB = {"types": [
    ["struct", "client", 56, [[".id", 0, 0, 8], [".count", 64, 16, 4], [".rest", 80, 9, 4], [".call", 128, 0, 8],
                              [".a", 192, 0, 4], [".low", 192, 0, 2], [".in.x", 224, 0, 4], [".in", 224, 0, 4],
                              [".many", 256, 0, 24], [".tail", 448, 0, 0]]],
    ["typedef", "queue", 16, [[".list", 0, 0, 16]]],
    ["union", "atomic", 4, [[".spin", 0, 0, 4], [".plain", 0, 0, 4]]]]}


class Tellings(unittest.TestCase):
    def test_three_tellings_of_the_same_types_are_equal(self):
        ours = layouts.from_xcore(XCORE)
        for theirs, both in ((pahole.parse(PAHOLE), False), (layouts.from_gdb(GDB), True)):
            counts, found = layouts.differences(theirs, ours, both)
            self.assertEqual([(one.name, one.text) for one in found], [])
            self.assertEqual((counts["type"], counts["equal"]), (3, 3))

    def test_each_wrong_fact_is_seen(self):
        theirs = layouts.from_gdb(GDB)
        for fact, value in (("offset", 4), ("size", 2), ("name", "idx"), ("bit_size", 3)):
            wrong = copy.deepcopy(XCORE)
            wrong[0]["members"][0][fact] = value
            for oracle in (theirs, pahole.parse(PAHOLE)):
                found = layouts.differences(oracle, layouts.from_xcore(wrong), False)[1]
                self.assertEqual([(one.what, one.name) for one in found], [("layout", "struct client")], fact)

    def test_wrong_places_inside_anonymous_members_are_seen(self):
        wrong = copy.deepcopy(XCORE)
        wrong[0]["members"][4]["members"][1]["members"][0]["offset"] = 25
        self.assertEqual(len(layouts.differences(layouts.from_gdb(GDB), layouts.from_xcore(wrong))[1]), 1)

    def test_missing_sizes_members_and_types_are_seen(self):
        theirs = layouts.from_gdb(GDB)
        for change in (lambda t: t.pop(), lambda t: t[0].update(size=64), lambda t: t[0]["members"].pop(),
                       lambda t: t[2].update(declaration=True), lambda t: t.append({**t[2], "name": "other"}),
                       lambda t: t.append({**t[2], "size": 8}), lambda t: t[0].update(kind="union")):
            wrong = copy.deepcopy(XCORE)
            change(wrong)
            self.assertTrue(layouts.differences(theirs, layouts.from_xcore(wrong))[1])

    def test_two_types_of_one_name_are_both_wanted(self):
        two = {"types": GDB["types"] + [["union", "atomic", 8, [[".wide", 0, 0, 8]]]]}
        found = layouts.differences(layouts.from_gdb(two), layouts.from_xcore(XCORE))[1]
        self.assertEqual([(one.what, one.name) for one in found], [("layout", "union atomic")])

    def test_what_pahole_cannot_tell_is_not_compared_and_the_rest_is(self):
        wrong = copy.deepcopy(XCORE)
        wrong[2]["members"][0]["offset"] = 8
        self.assertEqual(layouts.differences(pahole.parse(PAHOLE), layouts.from_xcore(wrong), False)[1], [])
        wrong[2]["members"][1]["offset"] = 8
        self.assertEqual(len(layouts.differences(pahole.parse(PAHOLE), layouts.from_xcore(wrong), False)[1]), 1)

    def test_spellings_of_integers_are_one_key(self):
        self.assertEqual(layouts.key("base", "long unsigned int"), layouts.key("base", "unsigned long"))
        self.assertEqual(layouts.key("class", "A<short int>"), layouts.key("struct", "A<short>"))


class Declarations(unittest.TestCase):
    def test_names_are_found_in_declarations(self):
        for text, name in {"int * * argv": "argv", "void (*handler)(int, void (*)(int))": "handler",
                           "char buf[2][3]": "buf",
                           "unsigned int x:3": "x", "int (*table[4])(void)": "table",
                           "long int y __attribute__((__aligned__(8)))": "y"}.items():
            self.assertEqual(pahole.declared(text), name)


if __name__ == "__main__":
    unittest.main()
