#!/usr/bin/env python3
"""reference: lua/REFERENCE.md from the editor stubs (lua/xcore.d.lua), which are the only description of the API there is.

    lua/reference.py          prints it; `make reference` keeps it
    import reference          tests read the stubs by it: read(text) gives the parts

It knows of LuaLS annotations what the stubs use, by itself: the program's own reader is lua/shell/reference.c.
"""

import dataclasses
import pathlib
import re

STUBS = pathlib.Path(__file__).with_name("xcore.d.lua")
TITLE = re.compile(r"^-- (\w[\w ,:]*?) -{9,}$")
CLASS = re.compile(r"^---@class (?:xcore\.)?(\w+)")
FIELD = re.compile(r"^---@field (\[\d\]|\w+\??) (.*)$")
PARAM = re.compile(r"^---@param (\S+) (.*)$")
RETURN = re.compile(r"^---@return (.*)$")
FUNCTION = re.compile(r"^function (?:(\w+)([.:]))?(\w+)\((.*)\) end$")
VARIABLE = re.compile(r"^local (\w+) = \{\}$")


@dataclasses.dataclass
class Field:
    name: str
    type: str
    text: str
    optional: bool  # it may be absent

    def key(self):
        return self.name if not self.name.startswith("[") else self.name[1:-1]


@dataclasses.dataclass
class Function:
    name: str  # "xcore.addr", "Target:var"
    parameters: str
    doc: list
    params: list  # of (name, type, text)
    returns: list  # of (type, text)


@dataclasses.dataclass
class Part:
    """Level 2: what stands below a title, with functions of the module; level 3: a class, with its methods."""
    title: str
    level: int
    doc: list
    fields: list = dataclasses.field(default_factory=list)
    functions: list = dataclasses.field(default_factory=list)


def type_and_text(rest):
    """A type may have spaces in brackets only: what stands behind two spaces is text; a result may have a name."""
    kind, _, text = rest.partition("  ")
    return kind.strip(), text.strip()


def _field(match):
    name, (kind, text) = match.group(1), type_and_text(match.group(2))
    return Field(name.rstrip("?"), kind, text, name.endswith("?") or "nil" in re.split(r"\|", kind))


def _function(match, comments, classes):
    owner, mark, name, parameters = match.groups()
    params, returns, doc = [], [], []
    for line in comments:
        if found := PARAM.match(line):
            params.append((found.group(1), *type_and_text(found.group(2))))
        elif found := RETURN.match(line):
            returns.append(type_and_text(found.group(1)))
        else:
            doc.append(line[3:].strip())
    full = f"{classes[owner]}{mark}{name}" if owner else name
    return Function(full, parameters, doc, params, returns)


def _owner(parts, name):
    """Methods belong to their class; functions of the module, and print, to the title that they stand below."""
    method = name and name != "xcore"
    return next(p for p in reversed(parts) if (p.level == 3 and p.title == name if method else p.level == 2))


def read(text):
    """The parts of the stubs, in their order; the first is what stands above all."""
    parts, classes, comments, prose = [Part("", 2, [])], {}, [], True
    for line in text.split("\n"):
        if found := TITLE.match(line):
            parts.append(Part(found.group(1), 2, []))
            prose = True
        elif found := CLASS.match(line):
            parts.append(Part(found.group(1), 3, [c[3:].strip() for c in comments if not c.startswith("---@")]))
            comments, prose = [], False
        elif found := FIELD.match(line):
            parts[-1].fields.append(_field(found))
        elif line.startswith("---"):
            comments.append(line)
        elif line.startswith("--") and prose:
            parts[-1].doc.append(line[3:])
        elif found := VARIABLE.match(line):
            classes[found.group(1)] = parts[-1].title
        elif found := FUNCTION.match(line):
            _owner(parts, classes.get(found.group(1))).functions.append(_function(found, comments, classes))
            comments = []
        else:
            comments, prose = [], prose and not line
    return parts


def _paragraphs(lines):
    """Prose as it is; lines that are indented are a block."""
    text = "\n".join(lines).strip("\n")
    return re.sub(r"(?:^    .*\n?)+", lambda m: "```text\n" + re.sub(r"(?m)^    ", "", m[0]).rstrip() + "\n```\n", text,
                  flags=re.MULTILINE).split("\n")


def _cell(text):
    return text.replace("|", "\\|")


def _write_function(function):
    out = [f"#### `{function.name}({function.parameters})`", "", *function.doc]
    out += [""] if function.doc else []
    for name, kind, text in function.params:
        out.append(f"- `{name}` `{kind}`" + (f": {text}" if text else ""))
    for kind, text in function.returns:
        out.append(f"- returns `{kind}`" + (f": {text}" if text else ""))
    return out + [""]


def _write_part(part):
    out = [f"{'#' * part.level} {part.title}", ""] if part.title else []
    out += _paragraphs(part.doc) + ([""] if part.doc else [])
    if part.fields:
        out += ["| field | type | |", "|-|-|-|"]
        out += [f"| `{f.name}{'?' * (f.optional and 'nil' not in f.type)}` | `{_cell(f.type)}` | {_cell(f.text)} |" for f in part.fields] + [""]
    for function in part.functions:
        out += _write_function(function)
    return out


def write(parts):
    lines = ["# The Lua API of xcore, version 1", "",
             "<!-- made of lua/xcore.d.lua by `make reference` -->",
             "[README.md](README.md) is the guide. A type with `|nil` or a name with `?` may be absent.", ""]
    parts[0].doc = "\n".join(parts[0].doc).strip().split("\n\n", 1)[1].split("\n")  # without what it says of itself
    for part in parts:
        lines += _write_part(part)
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines))
    return text.rstrip("\n") + "\n"


if __name__ == "__main__":
    print(write(read(STUBS.read_text())), end="")
