"""SARIF, by the rules of the standard's schema (sarif_schema.py); by the classes of python3-sarif-python-om, which
others generated from that schema (property names and required properties); and by rules of the standard and of GitHub's
code scanning that are in no schema."""
import re
import urllib.parse
import zlib

import jsonschema
import sarif_om

import check_json
import sarif_schema

# The class of a property's object, or of the objects in its list. Other properties hold plain values.
HOLDS = {
    "SarifLog": {"runs": ["Run"]},
    "Run": {"tool": "Tool", "automationDetails": "RunAutomationDetails", "results": ["Result"], "invocations": ["Invocation"],
            "originalUriBaseIds": {"": "ArtifactLocation"}},
    "Tool": {"driver": "ToolComponent"},
    "ToolComponent": {"rules": ["ReportingDescriptor"]},
    "ReportingDescriptor": {"shortDescription": "MultiformatMessageString", "fullDescription": "MultiformatMessageString",
                            "help": "MultiformatMessageString", "defaultConfiguration": "ReportingConfiguration"},
    "Result": {"message": "Message", "locations": ["Location"], "stacks": ["Stack"], "codeFlows": ["CodeFlow"],
               "suppressions": ["Suppression"]},
    "Location": {"physicalLocation": "PhysicalLocation", "logicalLocations": ["LogicalLocation"], "message": "Message"},
    "PhysicalLocation": {"artifactLocation": "ArtifactLocation", "region": "Region"},
    "ArtifactLocation": {"description": "Message"},
    "Stack": {"message": "Message", "frames": ["StackFrame"]},
    "StackFrame": {"location": "Location"},
    "CodeFlow": {"threadFlows": ["ThreadFlow"]},
    "ThreadFlow": {"message": "Message", "locations": ["ThreadFlowLocation"]},
    "ThreadFlowLocation": {"location": "Location"},
    "Invocation": {"toolExecutionNotifications": ["Notification"]},
    "Notification": {"message": "Message"},
}
ENUMS = {
    ("Result", "level"): {"none", "note", "warning", "error"},
    ("Result", "baselineState"): {"new", "unchanged", "updated", "absent"},
    ("Notification", "level"): {"none", "note", "warning", "error"},
    ("ReportingConfiguration", "level"): {"none", "note", "warning", "error"},
    ("Suppression", "kind"): {"inSource", "external"},
    ("Suppression", "status"): {"accepted", "underReview", "rejected"},
}


def attributes(name):
    """For a class: JSON name to whether it is required."""
    found = {"$schema": False} if name == "SarifLog" else {}
    if name == "Suppression":  # the classes are of a draft
        found["status"] = False
    for one in getattr(sarif_om, name).__attrs_attrs__:
        found[one.metadata["schema_property_name"]] = str(one.default) == "NOTHING"
    return found


def walk(value, name, at):
    """Checks an object and all below it; yields (class, object, where)."""
    assert isinstance(value, dict), f"{at}: not an object"
    known = attributes(name)
    for key, required in known.items():
        assert key in value or not required, f"{at}: lacks {key}"
    for key, inner in value.items():
        assert key in known, f"{at}: {name} has no {key}"
        assert inner is not None, f"{at}.{key}: null"
        allowed = ENUMS.get((name, key))
        assert not allowed or inner in allowed, f"{at}.{key}: {inner}"
        holds = HOLDS.get(name, {}).get(key)
        if isinstance(holds, str):
            yield from walk(inner, holds, f"{at}.{key}")
        elif isinstance(holds, list):
            for i, item in enumerate(inner):
                yield from walk(item, holds[0], f"{at}.{key}[{i}]")
        elif isinstance(holds, dict):
            for entry, item in inner.items():
                yield from walk(item, holds[""], f"{at}.{key}.{entry}")
        else:
            assert key == "properties" or key == "partialFingerprints" or not isinstance(inner, dict), f"{at}.{key}: unknown to the checker"
    yield name, value, at


def message(text):
    """Brackets and braces are escaped (3.11.5, 3.11.6), so that no text is a link or a placeholder; there are no
    control characters."""
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", text), repr(text)
    bare = re.sub(r"\\[\[\]\\]|\{\{|\}\}", "", text)
    assert not re.search(r"[\[\]{}\\]", bare), repr(text)
    assert text.strip()


def place(location):
    uri = location["uri"]
    assert re.fullmatch(r"(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/]|%[0-9A-F]{2})+", uri), uri
    split = urllib.parse.urlsplit(uri)
    if "uriBaseId" in location:
        assert not split.scheme and not split.netloc and not uri.startswith("/"), uri
        assert ".." not in split.path.split("/"), uri
    else:
        assert split.scheme == "file" and uri.startswith("file:///"), uri


def result(run, one):
    rules = run["tool"]["driver"]["rules"]
    assert rules[one["ruleIndex"]]["id"] == one["ruleId"]
    assert set(one["partialFingerprints"]) == {"primaryLocationLineHash", "xcoreSignature/v4"}
    assert len(one["locations"]) <= 1 and len(one["properties"]["tags"]) <= 20
    assert one["occurrenceCount"] > 0
    for where in one["locations"]:  # GitHub drops results without a file in the repository
        assert where["physicalLocation"]["artifactLocation"]["uriBaseId"] == "%SRCROOT%"
        assert where["physicalLocation"]["region"]["startLine"] >= 1


def rule(one):
    for member in ("name", "shortDescription", "fullDescription", "help"):
        assert one[member], one["id"]
    tags = one["properties"]["tags"]
    assert len(tags) == len(set(tags)) <= 10
    assert ("security" in tags) == ("security-severity" in one["properties"])
    assert 0 <= float(one["properties"].get("security-severity", 0)) <= 10


def document(text):
    log = check_json.parse(text)
    jsonschema.Draft7Validator(sarif_schema.LOG).validate(log)
    assert len(zlib.compress(text.encode())) <= 10 << 20  # the values that GitHub accepts
    for name, value, _ in walk(log, "SarifLog", "$"):
        if name in ("Message", "MultiformatMessageString"):
            message(value["text"])
        if name == "ArtifactLocation" and "uri" in value:
            place(value)
    assert log["version"] == "2.1.0" and len(log["runs"]) == 1
    run = log["runs"][0]
    assert set(run["originalUriBaseIds"]) == {"%SRCROOT%"}
    assert len(run["results"]) <= 5000
    ids = [one["id"] for one in run["tool"]["driver"]["rules"]]
    assert ids == sorted(set(ids))
    for one in run["tool"]["driver"]["rules"]:
        rule(one)
    for one in run["results"]:
        result(run, one)
    # All or none (3.27.23), and each cluster once.
    assert len({"suppressions" in one for one in run["results"]}) <= 1
    prints = [one["partialFingerprints"]["primaryLocationLineHash"] for one in run["results"]]
    assert len(prints) == len(set(prints))
