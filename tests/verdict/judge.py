"""judge: compares one verdict of xcore with the truth about the crash (corpora/deaths/table.py)."""

import json
import os
import subprocess
import tempfile
import threading

MISSING, RIGHT, WRONG = "missing", "right", "WRONG"
LONGEST = 60  # seconds

# Weaker classes that are acceptable if an input is missing. A class not listed here permits only itself.
WEAKER = {
    # a pointer that was overwritten by its neighbour is a bad pointer: what lies before it, the heap shows
    "heap-corruption": {"abort", "wild-read", "wild-write", "wild-access"},
    "stack-smash": {"abort"},
    "fortify": {"abort"},
    "assertion": {"abort"},
    "uncaught-exception": {"abort"},
    "terminate": {"abort"},
    "pure-virtual-call": {"abort", "uncaught-exception"},
    "panic": {"abort"},
    "out-of-memory": {"abort", "uncaught-exception"},
    "sanitizer": {"abort"},
    "deadlock": {"abort", "killed", "dump-request"},
    # what was read through a stale pointer may be NULL: which pointer it was, the heap and the types show
    "use-after-free": {"wild-read", "wild-write", "wild-access", "pc-control", "exec-data", "null-read", "null-write"},
    "use-after-return": {"wild-read", "wild-write", "wild-access", "pc-control", "exec-data", "null-read", "null-write"},
    "heap-overrun": {"wild-read", "wild-write", "wild-access"},
    "format-string": {"null-read", "null-write", "wild-read", "wild-write", "wild-access", "null-access"},
    "write-rodata": {"protected-access"},
    "null-read": {"null-access", "wild-access"},
    "null-write": {"null-access", "wild-access"},
    "wild-read": {"wild-access"},
    "wild-write": {"wild-access"},
    "file-truncated": {"bus-error"},
}

# The heap often explains a bad pointer: a core truncated before it must report that.
HEAP_TELLS = {"wild-read", "wild-write", "wild-access", "pc-control", "exec-data"}

LAST_ACTS = {"abort", "killed", "sent-by-user"}  # the handler's actions may be all that is visible


def ask(xcore, core, command, *options):
    """(document, CPU seconds of its own and of the kernel for it); thread-safe."""
    argv = [xcore] + command + ["--format", "json", "--no-plugins", "--no-redact"] + list(options) + [core]
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as complained:
        child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=said, stderr=complained,
                                 env={**os.environ, "XCORE_SYMBOLS": ""})
        last_call = threading.Timer(LONGEST, child.kill)
        last_call.start()
        _, status, usage = os.wait4(child.pid, 0)
        last_call.cancel()
        child.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        complained.seek(0)
        if child.returncode not in (0, 3):
            raise RuntimeError("exit status %d: %s" % (child.returncode, complained.read().decode(errors="replace")[-500:]))
        return json.load(said), (usage.ru_utime, usage.ru_stime)


def compare(got, wanted):
    if wanted is None:
        return None
    return MISSING if got is None else RIGHT if got in wanted else WRONG


def plain(function):
    """A function's name without scopes, parameters, template arguments and Rust's hash."""
    if function is None:
        return None
    depth, kept = 0, ""
    for letter in function.split("(")[0] if not function.startswith("(") else function:
        depth -= letter == ">"
        kept += letter if depth <= 0 else ""
        depth += letter == "<"
    return kept.replace("<", "").split("::")[-1]


def called(expression):
    """The callee in "(*r->on_done)()" and "r->on_done()"."""
    if expression and expression.endswith("()") and expression[0] != "*" and " " not in expression:
        expression = expression[:-2]
        if expression.startswith("(*") and expression.endswith(")"):
            expression = expression[2:-1]
    return expression


def compare_culprit(verdict, case):
    if case.culprits is None:
        return None
    got = verdict.get("function")
    named = compare(got, case.culprits) if got in case.culprits else compare(plain(got), case.culprits)
    # otherwise the compiler gave the line to an inlined header
    same_file = os.path.basename(verdict.get("file") or "") == case.program
    if named == RIGHT and case.lines and same_file and verdict.get("line") not in case.lines:
        return WRONG if verdict.get("line") else MISSING
    return named


class Judgement:
    def __init__(self, case, verdict):
        verdict = verdict or {}
        self.case, self.verdict = case, verdict
        self.certain = verdict.get("confidence") == "certain"
        self.class_ = compare(verdict.get("class"), case.classes)
        self.kind = compare(verdict.get("kind"), case.kinds)
        self.severity = compare(verdict.get("severity"), case.severities)
        self.expression = compare(called(verdict.get("expression")), case.expressions)
        self.culprit = compare_culprit(verdict, case)
        self.origin = None
        if case.origin:
            origin = verdict.get("origin")
            self.origin = MISSING if not origin else RIGHT if case.origin in origin else WRONG

    def is_told(self):
        """Whether the expression or the culprit is right; None if the case expects neither."""
        answers = [a for a in (self.expression, self.culprit) if a]
        return None if not answers else RIGHT in answers

    def wrong_certain(self):
        """Errors in a verdict with confidence "certain"."""
        parts = (("class", self.class_), ("kind", self.kind), ("expression", self.expression), ("culprit", self.culprit),
                 ("origin", self.origin))
        return [name for name, answer in parts if self.certain and answer == WRONG]

    def is_good(self):
        return self.class_ == RIGHT and not self.wrong_certain() and WRONG not in (self.kind, self.severity)

    def degrades(self):
        """For a verdict with reduced inputs: right, or weaker, or not certain; and it reports the missing inputs."""
        if self.case.culprits and not any(fact.startswith("missing: ") for fact in self.verdict.get("evidence", ())):
            return False
        allowed = LAST_ACTS.union(self.case.classes, *(WEAKER.get(name, ()) for name in self.case.classes))
        if self.certain and self.verdict.get("class") not in allowed:
            return False
        return not (self.certain and (self.expression == WRONG or self.kind == WRONG and self.class_ == RIGHT))

    def hides_heap(self):
        """Whether a core that ends before the heap lacks a report of that."""
        evidence = self.verdict.get("evidence") or ()
        return self.verdict.get("class") in HEAP_TELLS and not any(fact.startswith("missing: the heap") for fact in evidence)

    def line(self):
        v = self.verdict
        return "%s%s, %s, %s; %s; %s:%s" % (v.get("class"), " (%s)" % v["kind"] if v.get("kind") else "", v.get("severity"),
                                            v.get("confidence"), v.get("expression"), v.get("function"), v.get("line"))

    def complaints(self):
        case, out = self.case, []
        for name, answer, wanted in (("class", self.class_, case.classes), ("kind", self.kind, case.kinds),
                                     ("severity", self.severity, case.severities),
                                     ("expression", self.expression, case.expressions),
                                     ("culprit", self.culprit, culprit_text(case)), ("origin", self.origin, [case.origin])):
            if answer in (WRONG, MISSING):
                out.append("%s %s: %s wanted" % (name, answer, " or ".join(wanted)))
        if self.origin == WRONG:
            out.append("origin told: %s" % self.verdict.get("origin"))
        for name in self.wrong_certain():
            out.append("%s is wrong, and the verdict says \"certain\"" % name)
        return out


def culprit_text(case):
    where = ":%s" % "/".join(map(str, case.lines)) if case.lines else ""
    return [name + where for name in case.culprits or []]
