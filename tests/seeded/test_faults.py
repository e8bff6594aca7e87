"""Each fault of tests/seeded/faults applies to the sources: its text occurs once, and the replacement differs."""

import importlib.machinery
import importlib.util
import os
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
LOADER = importlib.machinery.SourceFileLoader("seeded", os.path.join(HERE, "run"))
seeded = importlib.util.module_from_spec(importlib.util.spec_from_loader("seeded", LOADER))
LOADER.exec_module(seeded)


class Faults(unittest.TestCase):
    def test_each_applies_once(self):
        faults = seeded.read_faults("*")
        self.assertGreaterEqual(len(faults), 30)
        for fault in faults:
            with self.subTest(fault=fault.what):
                with open(os.path.join(seeded.ROOT, fault.path), encoding="utf-8") as stream:
                    self.assertEqual(stream.read().count(fault.old), 1, fault.path)
                self.assertNotEqual(fault.old, fault.new)


if __name__ == "__main__":
    unittest.main()
