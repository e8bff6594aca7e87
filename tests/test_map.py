"""tests/map finds what it is for: each fault is planted in a small tree of its own."""

import os
import subprocess
import sys
import tempfile
import unittest

MAP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "map")
ROWS = "| folder | holds |\n|---|---|\n| `core/base` | a |\n| `core/io` | b |\n| `dwarf/elf` | c |\n"


def header(guard, body=""):
    return "#ifndef %s\n#define %s\n%s\n#endif\n" % (guard, guard, body)


class Tree(unittest.TestCase):
    """A tree that keeps to its map, to which each test adds a fault."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        self.addCleanup(self.folder.cleanup)
        self.write("docs/map.md", ROWS)
        self.write("core/base/a.h", header("XC_A_H", "struct xc_a {\n\tint x;\n};"))
        self.write("core/base/a.c", '#include "core/base/a.h"\n')
        self.write("core/io/b.h", header("XC_B_H", '#include "core/base/a.h"'))
        self.write("core/io/b_impl.h", header("XC_B_IMPL_H", '#include "core/io/b.h"'))
        self.write("core/io/b.c", '#include "core/io/b_impl.h"\n')
        self.write("dwarf/elf/c.c", '#include "core/io/b.h"\n')
        subprocess.run(["git", "init", "-q", "."], cwd=self.folder.name, check=True)

    def write(self, path, text):
        path = os.path.join(self.folder.name, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text)

    def found(self):
        subprocess.run(["git", "add", "-A"], cwd=self.folder.name, check=True)
        done = subprocess.run([sys.executable, MAP, "--root", self.folder.name], stdout=subprocess.PIPE, check=False)
        text = done.stdout.decode()
        self.assertEqual(done.returncode, 1 if text else 0)
        return text

    def finds(self, *parts):
        text = self.found()
        for part in parts:
            self.assertIn(part, text)
        self.assertEqual(text.count("\n"), 1, text)

    def test_a_tree_that_keeps_to_its_map_is_fine(self):
        self.assertEqual(self.found(), "")

    def test_an_upward_include(self):
        self.write("core/base/a.c", '#include "core/io/b.h"\n')
        self.finds("core/base/a.c includes core/io/b.h", "is below core/base")

    def test_an_include_of_a_higher_layer(self):
        self.write("dwarf/elf/d.h", header("XC_D_H"))
        self.write("core/io/b.c", '#include "dwarf/elf/d.h"\n')
        self.finds("core/io/b.c includes dwarf/elf/d.h")

    def test_a_private_header_of_another_folder(self):
        self.write("dwarf/elf/c.c", '#include "core/io/b_impl.h"\n')
        self.finds("private to core/io")

    def test_a_guard_that_is_used_twice(self):
        self.write("dwarf/elf/d.h", header("XC_A_H"))
        self.finds("core/base/a.h, dwarf/elf/d.h", "guard XC_A_H")

    def test_a_tag_that_is_defined_twice(self):
        self.write("dwarf/elf/c.c", "struct xc_a {\n\tint y;\n};\n")
        self.finds("core/base/a.h, dwarf/elf/c.c", "struct xc_a")

    def test_files_that_include_each_other(self):
        self.write("core/io/d.h", header("XC_D_H", '#include "core/io/b.h"'))
        self.write("core/io/b.c", '#include "core/io/d.h"\n')
        self.finds("core/io: these include each other: b d")

    def test_a_folder_that_is_no_row(self):
        self.write("core/new/e.c", "\n")
        self.finds("core/new/e.c: its folder has no row")

    def test_an_include_that_is_no_path_from_the_root(self):
        self.write("core/io/b.c", '#include "b.h"\n')
        self.finds("not a path from the root")

    def test_a_guard_with_a_value_and_a_blank_line(self):
        self.write("dwarf/elf/e.h", "#ifndef XC_A_H\n\n#define XC_A_H 1\n#endif\n")
        self.finds("core/base/a.h, dwarf/elf/e.h: the guard XC_A_H")

    def test_a_guard_of_a_test(self):
        self.write("tests/support/a.h", header("XC_A_H"))
        self.finds("core/base/a.h, tests/support/a.h: the guard XC_A_H")

    def test_a_new_top_folder(self):
        self.write("extra/e.c", "\n")
        self.finds("extra/e.c: its top folder has no row")

    def test_a_long_file(self):
        self.write("core/io/b.c", "\n" * 501)
        self.finds("core/io/b.c has 501 lines")

    def test_a_long_line(self):
        self.write("core/io/b.c", "/*\n\t" + "é" * 112 + " */\n")
        self.finds("core/io/b.c:2 has 123 columns")

    def test_a_full_folder(self):
        for i in range(26):
            self.write("dwarf/elf/f%d.c" % i, "\n")
        self.finds("dwarf/elf has 27 C files")

    def test_a_reason_allows_more(self):
        self.write("docs/map.md", ROWS.replace("| c |", "| c; 27 files: one for each command |"))
        for i in range(26):
            self.write("dwarf/elf/f%d.c" % i, "\n")
        self.assertEqual(self.found(), "")


if __name__ == "__main__":
    unittest.main()
