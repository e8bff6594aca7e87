"""The rules of the standard's schema (OASIS, SARIF 2.1.0, errata 01) for the objects that exports use, restated here:
types, required members, bounds, permitted words, uniqueness. Only members in use are listed: look up new ones first."""


def thing(required="", any_of=(), **members):
    """An object and its permitted members, besides its property bag."""
    rule = {"type": "object", "required": required.split(), "additionalProperties": False, "properties": {**members, "properties": BAG}}
    return {**rule, "anyOf": [{"required": [one]} for one in any_of]} if any_of else rule


def several(items, least=0, unique=False):
    return {"type": "array", "items": items, "minItems": least, "uniqueItems": unique}


def words(*choices):
    return {"type": "string", "enum": list(choices)}


TEXT = {"type": "string"}
INDEX = {"type": "integer", "minimum": -1}
BAG = {"type": "object", "properties": {"tags": several(TEXT, unique=True)}}
LEVEL = words("none", "note", "warning", "error")

MESSAGE = thing(any_of=("text", "id"), text=TEXT, id=TEXT, markdown=TEXT, arguments=several(TEXT))
STRING = thing("text", text=TEXT, markdown=TEXT)
ARTIFACT = thing(uri={"type": "string", "format": "uri-reference"}, uriBaseId=TEXT, index=INDEX, description=MESSAGE)
REGION = thing(startLine={"type": "integer", "minimum": 1}, startColumn={"type": "integer", "minimum": 1})
PHYSICAL = thing(any_of=("address", "artifactLocation"), artifactLocation=ARTIFACT, region=REGION)
LOGICAL = thing(name=TEXT, index=INDEX, fullyQualifiedName=TEXT, decoratedName=TEXT, kind=TEXT)
LOCATION = thing(id=INDEX, physicalLocation=PHYSICAL, logicalLocations=several(LOGICAL, unique=True), message=MESSAGE)
FRAME = thing(location=LOCATION, module=TEXT, threadId={"type": "integer"}, parameters=several(TEXT))
STACK = thing("frames", message=MESSAGE, frames=several(FRAME))
STEP = thing(index=INDEX, location=LOCATION, module=TEXT, importance=words("important", "essential", "unimportant"))
THREAD = thing("locations", id=TEXT, message=MESSAGE, locations=several(STEP, least=1))
FLOW = thing("threadFlows", message=MESSAGE, threadFlows=several(THREAD, least=1))
SUPPRESSION = thing("kind", kind=words("inSource", "external"), status=words("accepted", "underReview", "rejected"), justification=TEXT)
RESULT = thing(
    "message", ruleId=TEXT, ruleIndex=INDEX, level=LEVEL, message=MESSAGE, locations=several(LOCATION), codeFlows=several(FLOW),
    occurrenceCount={"type": "integer", "minimum": 1}, partialFingerprints={"type": "object", "additionalProperties": TEXT},
    stacks=several(STACK, unique=True), suppressions=several(SUPPRESSION, unique=True),
    baselineState=words("new", "unchanged", "updated", "absent"))
CONFIGURATION = thing(enabled={"type": "boolean"}, level=LEVEL, rank={"type": "number", "minimum": -1, "maximum": 100})
RULE = thing("id", id=TEXT, name=TEXT, shortDescription=STRING, fullDescription=STRING, help=STRING, defaultConfiguration=CONFIGURATION)
TOOL = thing("driver", driver=thing("name", name=TEXT, version=TEXT, rules=several(RULE, unique=True)))
INVOCATION = thing("executionSuccessful", executionSuccessful={"type": "boolean"},
                   toolExecutionNotifications=several(thing("message", message=MESSAGE, level=LEVEL)))
RUN = thing("tool", tool=TOOL, results=several(RESULT), automationDetails=thing(id=TEXT, description=MESSAGE), invocations=several(INVOCATION),
            originalUriBaseIds={"type": "object", "additionalProperties": ARTIFACT})
LOG = {"type": "object", "required": ["version", "runs"], "additionalProperties": False,
       "properties": {"$schema": {"type": "string", "format": "uri"}, "version": {"const": "2.1.0"}, "runs": several(RUN)}}
