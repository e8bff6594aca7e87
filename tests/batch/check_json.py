"""JSON exports: valid by batch/triage.schema.json, and by rules that the schema cannot express."""
import json
import pathlib

import jsonschema

SCHEMA = json.loads((pathlib.Path(__file__).parents[2] / "batch/triage.schema.json").read_text())


def unique(pairs):
    found = dict(pairs)
    assert len(found) == len(pairs), "a member twice"
    return found


def parse(text):
    return json.loads(text, object_pairs_hook=unique)


def validate(value, definition):
    jsonschema.Draft7Validator({**SCHEMA, "oneOf": [{"$ref": "#/definitions/" + definition}]}).validate(value)


def consistent(head, clusters, failed):
    assert head["cores"] == sum(c["cores"] for c in clusters) + len(failed), "cores do not add up"
    for state, count in head["states"].items():
        assert count == sum(c["state"] == state for c in clusters), state
    for cluster in clusters:
        assert len(cluster["members"]) == cluster["cores"] == sum(c["cores"] for c in cluster["classes"])
        paths = {m["path"] for m in cluster["members"]}
        assert all(c["representative"] in paths for c in cluster["classes"])
        assert cluster["cores"] == 0 or cluster["class"] in {c["class"] for c in cluster["classes"]} | {""}
        assert cluster["cores"] == 0 or cluster["representative"] in paths


def document(text):
    assert "##[" not in text and "##vso[" not in text.lower()
    value = parse(text)
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    jsonschema.Draft7Validator(SCHEMA).validate(value)
    consistent(value, value["clusters"], value["failed"])


def lines(text):
    assert "##[" not in text and "##vso[" not in text.lower()
    assert text.endswith("\n")
    objects = [parse(line) for line in text.splitlines()]
    for value in objects:
        jsonschema.Draft7Validator(SCHEMA).validate(value)
    assert [o["type"] for o in objects].index("triage") == 0
    clusters, failed = ([o for o in objects if o["type"] == kind] for kind in ("cluster", "failed"))
    assert len(clusters) + len(failed) + 1 == len(objects)
    consistent(objects[0], clusters, failed)
