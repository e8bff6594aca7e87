"""account: a core or a running process of CPython with its account, the questions to the plugin, and claims as TAP."""

import json
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
PATHS = ("holder", "big", "odd", "running")  # these also get their referrers from the command


class Tap:
    def __init__(self):
        self.count = self.bad = 0

    def tell(self, name, complaints):
        self.count += 1
        complaints = list(complaints)
        self.bad += bool(complaints)
        print("%sok %d - %s" % ("not " if complaints else "", self.count, name), flush=True)
        for complaint in complaints[:10]:
            print("# %s" % str(complaint)[:400])

    def skip(self, name, why):
        self.count += 1
        print("ok %d - %s # SKIP %s" % (self.count, name, why), flush=True)


class Case:
    """A core or a running process, with its account. `each`: a separate process for every question; otherwise one
    answers all of them."""

    def __init__(self, xcore, name, directory, target, options, each=False):
        self.xcore, self.name, self.directory, self.target, self.each = xcore, name, directory, target, each
        self.options = [*options, "--plugin-path", os.path.join(ROOT, "plugins"), "--format", "json"]
        with open(os.path.join(directory, "account.json"), encoding="utf-8") as stream:
            self.account = json.load(stream)
        self.answers = {}  # sections, by question
        self.lines = []    # what was printed: objects, referrers

    def call(self, *words):
        """The JSON output of an xcore command."""
        done = subprocess.run([self.xcore, words[0], *self.options, *words[1:]], capture_output=True, timeout=300, check=False)
        if done.returncode != 0:
            raise AssertionError("%s: exit %d: %s" % (" ".join(words[:2]), done.returncode, done.stderr.decode(errors="replace")[:600]))
        return json.loads(done.stdout)

    def ask(self):
        """All questions that the checks ask the plugin."""
        kept = self.account["kept"]
        questions = ["everything", "referrers " + " ".join(kept[name] for name in self.account["referrers"])]
        if not self.each:
            questions += ["bt --locals --limit 100000", "bt", "threads", "gil", "modules", "objects",
                          *("refs %s --limit 100000" % kept[name] for name in PATHS)]
        answer = self.call("run", os.path.join(ROOT, "tests", "plugin", "python", "questions.lua"), self.target, "--", *questions)
        self.answers = {question: [] for question in questions}
        self.lines = [line.split("\t") for line in answer["output"]]
        for section in answer.get("sections", []):
            number, _, section["key"] = section["key"].partition("_")
            self.answers[questions[int(number[1:]) - 1]].append(section)
        for words in self.lines:
            if words[0] == "failed":
                raise AssertionError("%s: %s" % (questions[int(words[1]) - 1], words[2]))

    def printed(self, kind):
        """The printed lines of a kind, split into words."""
        if not self.lines:
            self.ask()
        return (words[1:] for words in self.lines if words[0] == kind)

    def run(self, *words):
        """The sections of a plugin command's answer."""
        if self.each:
            return self.call("run", "cpython." + words[0], self.target, *words[1:])["sections"]
        if not self.answers:
            self.ask()
        return self.answers[" ".join(words)]

    def analysis(self):
        """The Python part of `analyze`."""
        return [one for one in self.call("analyze", self.target)["sections"] if one["key"] == "cpython"][0]

    def bt(self):
        return self.call("bt", self.target, "--thread", "all")
