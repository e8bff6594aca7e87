"""plan: claims as TAP, and the available cases of a corpus."""

import argparse
import fnmatch
import os
import subprocess

import ask

WRONG = (AssertionError, RuntimeError, KeyError, IndexError, ValueError, TypeError, AttributeError, OSError, subprocess.SubprocessError)


class Plan:
    """TAP output; a claim is a function that yields complaints or raises one."""

    def __init__(self):
        self.count = self.bad = 0

    def check(self, name, claim, *args):
        try:
            complaints = [str(one) for one in claim(*args) or ()]
        except WRONG as why:
            complaints = ["%s: %s" % (type(why).__name__, why)]
        self.tell(name, complaints)

    def tell(self, name, complaints):
        self.count += 1
        self.bad += bool(complaints)
        print("%sok %d - %s" % ("not " if complaints else "", self.count, name), flush=True)
        for complaint in complaints[:10]:
            print("# " + str(complaint)[:1500].replace("\n", "\n# "), flush=True)

    def alive(self, name, claim, *args):
        """A claim about a running process. Some hosts deny reading one."""
        why = ask.refusal()
        if why:
            self.skip(name, why)
        else:
            self.check(name, claim, *args)

    def skip(self, name, why):
        self.count += 1
        print("ok %d - %s # SKIP %s" % (self.count, name, str(why).replace("\n", " ")), flush=True)

    def end(self):
        print("1..%d" % self.count)
        return 1 if self.bad else 0

    @staticmethod
    def matches(name, only):
        return fnmatch.fnmatch(name, only)

    def cases(self, folder, names, only="*", builder=None, last="stamp"):
        """The folders of the matching names. A case that could not be built on this host is skipped; a missing one is
        an error. `last` is the file that a builder writes after all others."""
        for name in names:
            directory = os.path.join(folder, name)
            if not self.matches(name, only):
                continue
            if os.path.exists(os.path.join(directory, last)):
                yield directory
            elif os.path.exists(os.path.join(directory, "skipped")):
                with open(os.path.join(directory, "skipped"), encoding="utf-8") as stream:
                    self.skip(name, stream.read().strip())
            else:
                self.tell(name, ["there is no such case: corpora/build-%s --only %s makes it" % (builder or os.path.basename(folder), name)])


def parser(doc):
    """Options of all plugin tests."""
    made = argparse.ArgumentParser(description=doc.splitlines()[0])
    made.add_argument("--only", default="*", metavar="GLOB", help="cases whose names match")
    made.add_argument("--long", action="store_true", help="what `make test-long` runs: the other builds and states, more damage")
    return made
