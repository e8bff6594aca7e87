"""tests/printing finds each way to print outside the files that may, and nothing else."""

import os
import subprocess
import sys
import tempfile
import unittest

PRINTING = os.path.join(os.path.dirname(os.path.abspath(__file__)), "printing")
FORBIDDEN = ['printf("%s", name);', 'fprintf(out, "%s", name);', 'fputs(name, out);', 'puts(name);', 'putc(c, out);', 'putchar(c);',
             'fwrite(name, 1, n, out);', 'dprintf(2, "%s", name);', 'vfprintf(out, f, a);', 'warn("%s", name);', 'warnx("x");',
             'err(1, "x");', 'perror(name);', 'FILE *out = stderr;', 'f(stdout);', '(void)!write(STDERR_FILENO, name, n);',
             'json_dumpf(value, out, 0);', 'syslog(1, "%s", name);', 'fputc_unlocked(c, out);', 'fwrite_unlocked(a, 1, 1, out);']
ALLOWED = ['snprintf(out, n, "%s", name);', 'xc_text_printf(text, "%s", name);', '/* fprintf(stderr, "x") */', 'x = "puts(stdout)";',
           'object->printf(name);', 'xc_say("%s", name);', 'isatty(STDOUT_FILENO);', 'fflush(stdout);', "// puts(name)",
           'c = \'"\'; xc_fputs_like(name);', 'write(fd, name, n);']


class Printing(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        self.addCleanup(self.folder.cleanup)
        self.write("docs/map.md", "| `core/base` | a |\n| `heap/x` | b |\n")
        subprocess.run(["git", "init", "-q", "."], cwd=self.folder.name, check=True)

    def write(self, path, text):
        path = os.path.join(self.folder.name, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text)

    def found(self):
        """The violations, without those of files of the list that this tree lacks."""
        subprocess.run(["git", "add", "-A"], cwd=self.folder.name, check=True)
        done = subprocess.run([sys.executable, PRINTING, "--root", self.folder.name], stdout=subprocess.PIPE, check=False)
        return [line for line in done.stdout.decode().splitlines() if "does not print" not in line]

    def test_each_way_is_found(self):
        self.write("heap/x/a.c", "void f(void)\n{\n\t%s\n}\n" % "\n\t".join(FORBIDDEN))
        self.assertEqual([one.split(": ")[1] for one in self.found()], ["heap/x/a.c:%d" % (3 + i) for i in range(len(FORBIDDEN))])

    def test_other_lines_are_not(self):
        self.write("heap/x/a.c", "void f(void)\n{\n\t%s\n}\n" % "\n\t".join(ALLOWED))
        self.assertEqual(self.found(), [])

    def test_a_function_of_its_own_may_be_called_so(self):
        self.write("heap/x/a.c", 'static void warn(const char *text)\n{\n\txc_say("%s", text);\n}\nvoid f(void)\n{\n\twarn("x");\n}\n')
        self.assertEqual(self.found(), [])

    def test_the_files_of_the_list_may_and_must(self):
        self.write("core/base/say.c", "void f(void)\n{\n\tfputs(x, stderr);\n}\n")
        self.assertEqual(self.found(), [])
        done = subprocess.run([sys.executable, PRINTING, "--root", self.folder.name], stdout=subprocess.PIPE, check=False)
        self.assertIn(b"core/render/paint.c is in the list", done.stdout)
        self.assertNotIn(b"core/base/say.c", done.stdout)

    def test_this_tree(self):
        self.assertEqual(subprocess.run([sys.executable, PRINTING], check=False).returncode, 0)


if __name__ == "__main__":
    unittest.main()
