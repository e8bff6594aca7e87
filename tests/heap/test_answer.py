#!/usr/bin/env python3
"""The findings of answer.py on hand-made accounts and answers. Prints TAP by unittest's count."""

import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import answer  # noqa: E402  pylint: disable=wrong-import-position

ROWS = [("0x1000", 24, "struct node", 1, "live"), ("0x1020", 24, "struct node", 1, "live"), ("0x1040", 40, "char", 30, "leaked"),
        ("0x1080", 0, None, 0, "freed"), ("0x1100", 56, None, 0, "live"),
        ("0x1140", 24, "struct node", 1, "possible")]
RIGHT = {0x1000: (24, "live", "struct node", "exact", "global a"), 0x1020: (24, "live", "const struct node", "strong", "node.next"),
         0x1040: (40, "leaked", None, None, None), 0x1080: (24, "free", None, None, None), 0x1100: (56, "live", None, None, None),
         0x1140: (24, "possible", "struct node", "strong", "node.next")}


def account(rows=None):
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as stream:
        for row in rows or ROWS:
            stream.write(json.dumps(dict(zip(("addr", "size", "type", "count", "state"), row))) + "\n")
        stream.flush()
        return answer.Account(stream.name)


def complaints(whole=True, **changes):
    said = dict(RIGHT)
    for key, row in changes.items():
        if row is None:
            del said[int(key[1:], 16)]
        else:
            said[int(key[1:], 16)] = row
    return answer.compare(account(), said, True, whole).complaints


class Compare(unittest.TestCase):
    def test_the_truth_is_right(self):
        self.assertEqual(complaints(), [])

    def test_a_block_that_is_not_there(self):
        self.assertIn("1 blocks are not found as live ones", complaints(x1100=None))

    def test_a_live_block_that_is_called_free(self):
        self.assertIn("1 blocks are not found as live ones", complaints(x1100=(56, "free", None, None, None)))

    def test_a_wrong_size(self):
        self.assertIn("1 sizes are wrong", complaints(x1100=(48, "live", None, None, None)))

    def test_a_block_that_nobody_was_given(self):
        self.assertIn("1 blocks that were never allocated", complaints(x1200=(24, "live", None, None, None)))
        self.assertEqual(complaints(whole=False, x1200=(24, "live", None, None, None)), [])

    def test_a_freed_block_that_is_called_live(self):
        self.assertTrue(complaints(x1080=(24, "live", None, None, None)))
        self.assertTrue(complaints(whole=False, x1080=(24, "live", None, None, None)))

    def test_a_tcache_is_nobodys(self):
        self.assertEqual(complaints(x1200=(0x288, "live", answer.TCACHE, "exact", "")), [])

    def test_a_leak_that_is_not_found(self):
        self.assertIn("1 of 1 leaks are not found", complaints(x1040=(40, "live", None, None, None)))

    def test_a_false_leak(self):
        self.assertIn("1 false leaks", complaints(x1000=(24, "leaked", "struct node", "exact", "")))

    def test_a_possible_leak_that_is_called_live_or_leaked(self):
        self.assertIn("1 of 1 possible leaks are not called so", complaints(x1140=(24, "live", "struct node", "strong", "")))
        self.assertIn("1 false leaks", complaints(x1140=(24, "leaked", "struct node", "strong", "")))

    def test_a_wrong_type(self):
        self.assertIn("66.7 % of strong types are right", complaints(x1000=(24, "live", "struct tree", "strong", "")))
        self.assertIn("66.7 % of types are right", complaints(x1000=(24, "live", "struct tree", "weak", "")))

    def test_no_type(self):
        self.assertIn("66.7 % of the live blocks are typed", complaints(x1000=(24, "live", None, None, None)))

    def test_a_leaked_block_needs_no_type(self):
        self.assertEqual(complaints(x1040=(40, "leaked", "struct tree", "strong", "")), [])


class Names(unittest.TestCase):
    def test_one_type_has_one_name(self):
        for one, other in (("uint64_t", "long unsigned int"), ("struct foo", "foo"), ("unsigned short", "short unsigned int"),
                           ("A<const B *, 3ul> *", "A<B*,3>*"), ("int [16]", "int"), ("std::pair<int const, X >", "std::pair<const int, X>"),
                           ("long", "int64_t"), ("unsigned", "unsigned int")):
            self.assertEqual(answer.normal(one), answer.normal(other))

    def test_others_have_others(self):
        for one, other in (("char", "unsigned char"), ("int", "unsigned int"), ("foo", "foo *"), ("A<B>", "A<B*>"), ("long", "int")):
            self.assertNotEqual(answer.normal(one), answer.normal(other))

    def test_mangled_names_are_told_from_others(self):
        names = answer.demangled({"struct node", "char", "int", "St4pairIKiPcE", "4Item", "d", "c"})
        self.assertEqual(names["St4pairIKiPcE"], "std::pair<int const, char*>")
        self.assertEqual(names["4Item"], "Item")
        self.assertEqual((names["struct node"], names["int"], names["char"]), ("struct node", "int", "char"))


if __name__ == "__main__":
    result = unittest.main(exit=False, verbosity=0).result
    bad = len(result.failures) + len(result.errors)
    print("test_answer: %d passed, %d failed" % (result.testsRun - bad, bad))
    sys.exit(bad != 0)
