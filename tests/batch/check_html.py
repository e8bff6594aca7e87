"""The HTML page: it contains only xcore's markup, its policy permits only its own script and style, and its data is
consistent."""
import base64
import hashlib
import html.parser
import json

VOID = {"meta", "input"}
ELEMENTS = VOID | set("html head title style script body main header h1 p strong span div section details summary table thead tbody tr th td "
                      "button select svg rect text footer kbd".split())
ATTRIBUTES = set("lang charset http-equiv content name class id hidden type aria-label placeholder role data-by disabled x y width height fill "
                 "title".split())


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.ids, self.policy, self.blocks = [], set(), None, []

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        assert tag in ELEMENTS, f"<{tag}>"
        assert set(values) <= ATTRIBUTES, f"<{tag} {set(values) - ATTRIBUTES}>"
        assert values.get("id") not in self.ids, f"twice: id {values['id']}"
        self.ids |= {values["id"]} if "id" in values else set()
        if values.get("http-equiv") == "Content-Security-Policy":
            self.policy = values["content"]
        if tag in ("script", "style"):
            assert self.policy, f"<{tag}> before the policy"
            self.blocks.append((tag, values.get("type"), ""))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data):
        if self.open and self.open[-1] in ("script", "style"):
            tag, kind, text = self.blocks.pop()
            self.blocks.append((tag, kind, text + data))

    def handle_comment(self, data):
        raise AssertionError("a comment: " + data)


def hashed(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def policy(page):
    rules = dict(rule.strip().split(" ", 1) for rule in page.policy.split(";"))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'", rules
    assert rules["require-trusted-types-for"] == "'script'" and rules["trusted-types"] == "'none'", rules
    for tag in ("script", "style"):
        wanted = [hashed(text) for name, kind, text in page.blocks if name == tag and kind is None]
        assert rules[tag + "-src"].split() == wanted, (tag, rules, wanted)


def data(page):
    (text,) = [text for _, kind, text in page.blocks if kind == "application/json"]
    assert "<" not in text, "markup in the data"
    value = json.loads(text)
    strings, rows = value["strings"], value["rows"]
    assert strings[0] is None and rows[0] is None and len(set(strings)) == len(strings)

    def known(*numbers):
        assert all(0 <= n < len(strings) for n in numbers), numbers
    for row in rows[1:]:
        known(*row[:6], row[7], row[9], row[10])
    for cluster in value["clusters"]:
        known(cluster["id"], cluster["state"], cluster["names"])
        assert all(0 < n < len(rows) for n in cluster.get("stack", []))
        assert all(n < len(cluster["stack"]) for n in cluster.get("kept", []))
        assert cluster.get("shown", 0) < max(1, len(cluster["members"]))
        for member in cluster["members"]:
            known(*member[:7], *member[11])
    for failed in value["failed"]:
        known(*failed[:3])


def document(text):
    assert text.startswith("<!DOCTYPE html>\n")
    assert "http:" not in "".join(line for line in text.splitlines() if "[l](" not in line) and "url(" not in text
    page = Page()
    page.feed(text)
    page.close()
    assert not page.open, page.open
    policy(page)
    data(page)
