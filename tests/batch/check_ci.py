"""Validators for CI formats: JUnit XML by junitparser, annotations as GitHub's runner parses them, GitLab's Code
Quality, Markdown by GitHub's own parser."""
import html.parser
import re
import subprocess
import xml.etree.ElementTree

import junitparser

import check_json

# The runner's command syntax (actions/runner, ActionCommand.cs): the second kind only at the start of a line, the first
# one anywhere.
SECOND = re.compile(r"\s*::([a-z-]+) ?(.*?)::(.*)")
FIRST = re.compile(r"##(vso)?\[")


def log(text):
    """Text that is safe in a CI log: it contains no command."""
    for line in text.split("\n"):
        assert not FIRST.search(line), line
        assert not line.lstrip().startswith("::"), line


def unescape(value, codes):
    for code, char in codes:
        value = value.replace(code, char)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", value), repr(value)
    return value


def annotations(text):
    counts = {"error": 0, "warning": 0, "notice": 0}
    for line in text.splitlines():
        assert not FIRST.search(line), line
        kind, properties, message = SECOND.fullmatch(line).groups()
        counts[kind] += 1
        names = dict(p.split("=", 1) for p in properties.split(","))
        assert set(names) in ({"title"}, {"title", "file", "line"}), names
        assert not {"%3A", "%2C"} & set(re.findall("%(?:3A|2C)", message))
        for value in names.values():
            unescape(value, (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")))
        assert unescape(message, (("%0D", "\r"), ("%0A", "\n"), ("%25", "%"))).strip()
        assert int(names.get("line", 1)) > 0 and not names.get("file", "x").startswith(("/", "../"))
    assert all(count <= 10 for count in counts.values()), counts


def junit(text):
    log(text)
    root = xml.etree.ElementTree.fromstring(text.encode())
    assert root.tag == "testsuites" and [s.tag for s in root] == ["testsuite"]
    read = junitparser.JUnitXml.fromstring(text.encode())
    suite = list(read)[0]
    counts = {"failures": 0, "errors": 0, "skipped": 0, "tests": 0}
    names = set()
    for case in suite:
        counts["tests"] += 1
        assert len(case.result) <= 1 and case.name and case.classname
        for result in case.result:
            kind = {junitparser.Failure: "failures", junitparser.Error: "errors", junitparser.Skipped: "skipped"}[type(result)]
            counts[kind] += 1
            assert result.message is not None
        assert (case.classname, case.name) not in names
        names.add((case.classname, case.name))
    for kind, count in counts.items():
        assert getattr(suite, kind) == count == int(root.get(kind)), kind
    properties = {p.name: int(p.value) for p in suite.properties()}
    assert {"cores", "clusters", "new", "known"} <= set(properties)
    assert max(map(len, text.split("\n"))) < 100000


def quality(text):
    prints = set()
    for issue in check_json.parse(text):
        assert set(issue) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert issue["severity"] in {"info", "minor", "major", "critical", "blocker"}
        path = issue["location"]["path"]
        assert path and not path.startswith(("/", "./", "../")), path
        assert issue["location"]["lines"]["begin"] >= 1
        assert issue["fingerprint"] not in prints
        prints.add(issue["fingerprint"])
        for value in (path, issue["description"], issue["check_name"]):
            assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", value), repr(value)


class Page(html.parser.HTMLParser):
    """Counts the elements of the page, and keeps the text outside of code."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags, self.inside, self.outside = {}, 0, ""

    def handle_starttag(self, tag, attrs):
        self.tags[tag] = self.tags.get(tag, 0) + 1
        self.inside += tag == "code"
        assert not [a for a in attrs if a[0] != "align"], (tag, attrs)

    def handle_endtag(self, tag):
        self.inside -= tag == "code"

    def handle_data(self, data):
        self.outside += "" if self.inside else data


def markdown(text):
    log(text)
    options = [word for name in ("table", "autolink", "strikethrough", "tasklist", "footnotes") for word in ("-e", name)]
    made = subprocess.run(["cmark-gfm", "--unsafe", *options], input=text, capture_output=True, text=True, check=False)
    if made.returncode:  # "footnotes" is an option in some versions
        options = options[:-2]
        made = subprocess.run(["cmark-gfm", "--unsafe", "--footnotes", *options], input=text, capture_output=True, text=True, check=True)
    page = Page()
    page.feed(made.stdout)
    assert set(page.tags) <= {"h2", "h3", "p", "table", "thead", "tbody", "tr", "th", "td", "code", "pre"}, page.tags
    assert page.tags.get("td", 0) == 8 * (page.tags.get("tr", 1) - 1)
    assert re.fullmatch(r"[\w\s,;.()→–…-]*", page.outside.replace("missing: ", "")), page.outside


def summary(text):
    assert len(text.encode()) <= 1 << 20
    markdown(text)
