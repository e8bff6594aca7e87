"""ask: questions to xcore about one core or process, and the answers. Several questions run in one process (ahead),
which takes a third of the time of separate processes."""

import functools
import json
import os
import re
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
PLUGINS = os.path.join(ROOT, "plugins")
XCORE = os.environ.get("XCORE", os.path.join(ROOT, "build", os.environ.get("MODE", "release"), "xcore"))
LIMIT = 300  # seconds for one xcore process; the machine may be busy
# Errors that an intact target never justifies: the plugin is wrong.
MISTAKE = re.compile(r"cannot be read[^}]*(?:attempt to|bad argument|has no ')[^}]*")


class Failed(RuntimeError):
    """xcore gave no answer; `status` is its exit status."""

    def __init__(self, what, done):
        super().__init__("%s: exit %d: %s" % (what, done.returncode, done.stderr.decode(errors="replace")[:600]))
        self.status = done.returncode


def xcore(*words):
    """The output of xcore."""
    done = subprocess.run([XCORE, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT, check=False)
    if done.returncode != 0:
        raise Failed(" ".join(words[:4]), done)
    return done.stdout.decode(errors="replace")


@functools.lru_cache(None)
def refusal():
    """The reason why this host denies reading a process of the same user; empty if it permits it."""
    with subprocess.Popen(["sleep", "1000"]) as process:
        try:
            xcore("run", "-e", "print(#t:modules())", "pid:%d" % process.pid)
            return ""
        except Failed as why:
            return str(why) if "may not be read" in str(why) else ""
        finally:
            process.kill()


class Target:
    """A core or a process, and xcore's answers about it. `whole`: it has no damage, so that no command may fail."""

    def __init__(self, target, *options, whole=True):
        self.target, self.options = target, list(options)
        self.whole = whole and not target.startswith("pid:")  # a running process changes while it is read
        self.known = {}

    def words(self):
        return ["--plugin-path", PLUGINS, *self.options]

    def run(self, command, *args):
        """The JSON answer of a plugin command."""
        words = (command, *args)
        if words in self.known:
            answer = self.known[words]
            if isinstance(answer, str):
                raise RuntimeError("%s: %s" % (command, answer))
            return answer
        return json.loads(self.checked(command, xcore("run", "--format", "json", *self.words(), command, self.target, *args)))

    def checked(self, command, text):
        mistake = self.whole and MISTAKE.search(text)
        if mistake:
            raise RuntimeError("%s: %s" % (command, mistake[0]))
        return text

    def ahead(self, *questions):
        """Asks several questions in one process, each a list or a text of command and arguments. run() then has the
        answers."""
        questions = [tuple(one.split()) if isinstance(one, str) else tuple(one) for one in questions]
        wanted = [one for one in dict.fromkeys(questions) if one not in self.known]
        if not wanted:
            return
        text = xcore("run", "--format", "json", "--max-time", str(LIMIT), *self.words(), os.path.join(HERE, "ask.lua"), self.target, "--",
                     *("\t".join(one) for one in wanted))
        answers = [{"sections": []} for _ in wanted]
        for section in json.loads(self.checked("ahead", text)).get("sections", []):
            number, key = re.match(r"q(\d+)_(.*)$", section["key"]).groups()
            number = int(number) - 1
            if key == "error":
                answers[number] = section["fields"]["why"]
            elif isinstance(answers[number], dict):
                answers[number]["sections"].append({**section, "key": key})
        self.known.update(zip(wanted, answers))

    def forget(self):
        """Forgets the answers: the process has changed."""
        self.known.clear()

    def script(self, code):
        """The output of a script."""
        return xcore("run", *self.words(), "-e", code, self.target)

    def flame(self, kind):
        """Paths of a flame graph, outermost first, with their weights."""
        lines = [line.rpartition(" ") for line in xcore("flame", *self.words(), kind, self.target).splitlines()]
        return [(path.split(";"), int(weight)) for path, _, weight in lines]

    def sections(self, command, *args):
        return {section["key"]: section for section in self.run(command, *args)["sections"]}

    def section(self, command, key, *args):
        try:
            return self.sections(command, *args)[key]
        except KeyError:
            raise RuntimeError("%s has no section %s" % (command, key)) from None

    def table(self, command, key, table, *args):
        return self.section(command, key, *args).get("tables", {}).get(table, [])
