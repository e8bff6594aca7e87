"""The effect of one bad pointer of a request on nginx.req: it loses the part behind the pointer, and nothing else."""

import os
import re
import tempfile

import account as nginx
import ask
import damage

WILD = 0x123456789000
REQUEST = "struct ngx_http_request_s"
# Structs reachable from a request, by members, and the requests with damaged pointers.
HANGING = {"upstream": "struct ngx_http_upstream_s", "connection": "struct ngx_connection_s", "header_in": "struct ngx_buf_s",
           "request_body": "ngx_http_request_body_t", "pool": "struct ngx_pool_s", "http_connection": "ngx_http_connection_t"}
# Requests with damaged pointers: all pointers of one, with everything reachable; the Lua-specific ones of another.
UPSTREAM, LUA = "upstream-0", "print-0"
# Without these it is not a request.
NEEDED = {"connection", "main", "pool"}
# Further parts that a pointer may lose, as prefixes of paths of the answer; a chain's pointer loses its row. All others
# lose nothing.
RAW, BUFFERS = r"raw\.", r"request\.tables\.buffers\[%s\]"
COSTS = {
    "connection": r"request\.fields\.(client|connection|fd|sent)$", "connection.data": r"request\.fields\.found_by$",
    "connection.sockaddr": r"request\.fields\.client$", "ctx": r"lua|request\.fields\.(doing|lua)|" + BUFFERS % "lua.*",
    "srv_conf": r"request\.fields\.server$", "loc_conf": r"request\.fields\.location$",
    "read_event_handler": r"request\.fields\.read_handler$", "write_event_handler": r"request\.fields\.write_handler$",
    "content_handler": r"request\.fields\.handler$", "variables": r"variables",
    "upstream": r"request\.fields\.(doing|upstream)|" + BUFFERS % "upstream.*", "upstream_states": r"request\.tables\.upstreams",
    "upstream.read_event_handler": r"request\.fields\.(doing|upstream_handler|upstream_state)$",
    "upstream.pipe": BUFFERS % "upstream answer.*", "upstream.request_bufs": BUFFERS % "upstream request",
    "upstream.out_bufs": BUFFERS % "upstream answer, to the client", "upstream.busy_bufs": BUFFERS % "upstream answer, being sent",
    "upstream.free_bufs": BUFFERS % "upstream answer, free", "out": BUFFERS % "to the client",
    "request_body": r"request\.fields\.body|" + BUFFERS % "body.*", "request_body.bufs": BUFFERS % "body",
    "request_body.free": BUFFERS % "body, free", "request_body.busy": BUFFERS % "body, being sent",
    "pool.large": r"request\.fields\.(large_allocations|pool)$",
    "http_connection": RAW, "http_connection.busy": RAW, "stream": RAW, "header_in": RAW + "|" + BUFFERS % "header",
    "header_in.pos": RAW + "|" + BUFFERS % "header", "header_in.last": BUFFERS % "header",
    "header_in.start": RAW + "|" + BUFFERS % "header", "header_in.end": BUFFERS % "header"}


def members_of(case, type_):
    """Pointer members of a struct: names and offsets."""
    told = ask.xcore("ptype", case.core.target, type_, *case.core.options)
    found = re.findall(r"^/\*\s+(\d+)\s+8 \*/\s+(?:.*\*|\w+_pt )\(?\*?(\w+)\)?[^;*]*;$", told, re.M)
    return [(name, int(offset)) for offset, name in found]


def flat(value, path=""):
    """A JSON value as paths and leaves. Rows of a table are keyed by their first cell."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from flat(one, path + "." + key if path else key)
    elif isinstance(value, list):
        for one in value:
            yield from flat(one, "%s[%s]" % (path, next(iter(one.values())) if isinstance(one, dict) else ""))
    else:
        yield path, value


def answer_of(target, address):
    """The answer of nginx.req without messages, and the messages."""
    sections, messages = {}, []
    for section in target.run("nginx.req", address)["sections"]:
        messages += [message["text"] for message in section.pop("messages", [])]
        sections[section["key"]] = section
    answer = {}
    for path, leaf in flat(sections):
        answer.setdefault(path, []).append(leaf)
    return answer, messages


def spoiled(core, case, request, hanging):
    """(name, place, values) of each pointer of a request and of its reachable structs: wild, NULL, misaligned."""
    request = int(request, 16)
    members = members_of(case, REQUEST)
    structs = [("", request, members)]
    for name, offset in members:
        if name in hanging and core.offset(core.word(request + offset)):
            structs.append((name + ".", core.word(request + offset), members_of(case, hanging[name])))
    for prefix, base, pointers in structs:
        for name, offset in pointers:
            was = core.word(base + offset)
            yield prefix + name, base + offset, [value for value in (WILD, 0, was + 1) if value != was]


def complaints(case, every):
    """every: each pointer with each bad value, also of a second request; otherwise every third pointer with one value
    in turn."""
    core = damage.Core(case.core.target)
    with tempfile.TemporaryDirectory(prefix="xcore-nginx-") as scratch:
        path = core.save(os.path.join(scratch, "core"))
        target = nginx.Target(path, *case.core.options, whole=False)
        with open(path, "r+b", buffering=0) as copy:
            for identity, hanging, most in ((UPSTREAM, HANGING, 3 if every else 1), (LUA, {}, 1))[:2 if every else 1]:
                address = case.main(identity)["address"]
                whole, _ = answer_of(target, address)
                for number, (name, place, values) in list(enumerate(spoiled(core, case, address, hanging)))[::1 if every else 3]:
                    for value in values if most > 1 else [values[number // 3 % len(values)]]:
                        write(copy, core.offset(place), value)
                        yield from judged(target, address, whole, "%s: %s is %#x" % (identity, name, value), name)
                    write(copy, core.offset(place), core.word(place))


def write(copy, offset, word):
    copy.seek(offset)
    copy.write((word & (1 << 64) - 1).to_bytes(8, "little"))


def judged(target, address, whole, what, name):
    try:
        answer, messages = answer_of(target, address)
    except RuntimeError as why:
        if name not in NEEDED or "there is no request in flight at" not in str(why):
            yield "%s: %s" % (what, why)
        return
    lost = sorted(path for path in set(whole) | set(answer) if whole.get(path) != answer.get(path) and not re.match(COSTS.get(name, "$"), path))
    if lost:
        yield "%s: %s, %s" % (what, lost, messages)
