"""The answer of luajit.bt for a core of build-luajit, compared with the program's account."""

import re

from account import account_of, case_run, meta_of


def as_bytes(text):
    """The account has bytes as characters; xcore escapes bytes that are not UTF-8 or printable. Compares only plain
    text."""
    return re.sub(r"[^ -~]", "?", text)


def expected_of(account):
    """By address: the coroutine's row, with the changes of its death."""
    by_address, dies = {}, []
    for row in account:
        if row["what"] == "coroutine":
            by_address[row["addr"]] = row
        elif row["what"] == "dies":
            dies = row["frames"]
    for row in by_address.values():
        row["dying"], row["stopped"] = 0, False
        if row["name"] == "running" and dies:
            # The last one is the function that wrote the account; the functions before it were called later.
            row["dying"] = len(dies)
            row["frames"] = [dict(f, kind="Lua") for f in dies[:-1]] + [dict(row["frames"][0], line=dies[-1]["line"])] + row["frames"][1:]
    return by_address


def same_frame(want, got, check_name):
    """An empty text, or the difference."""
    if want["func"] != got["address"]:
        return "function %s, wanted %s" % (got["address"], want["func"])
    if want["kind"] == "C":
        if got["kind"] not in ("C", "builtin"):
            return "kind %s of a C function" % got["kind"]
    else:
        if want.get("line", -1) > 0 and got["line"] != want["line"] or want.get("line", -1) <= 0 and got["line"] is not None:
            return "line %s, wanted %s" % (got["line"], want["line"])
        if got["defined"] != want["defined"]:
            return "defined at %s, wanted %s" % (got["defined"], want["defined"])
        if "source" in want and want["source"][:1] in "@=" and got["file"] != want["source"][1:]:
            return "file %s, wanted %s" % (got["file"], want["source"])
    called = "%s %s" % (want["namewhat"], want["name"]) if want.get("name") else None
    if check_name and "namewhat" in want and got["called"] != called:
        return "called %r, wanted %r" % (got["called"], called)
    return ""


def same_value(want, got):
    kind = want["type"]
    if got is None:
        return False
    if kind == "nil":
        return got == "nil"
    if kind == "number":
        try:
            return float(got) == float("%.14g" % float(want["value"]))
        except ValueError:
            return False
    if kind == "boolean":
        return got == want["value"]
    if kind == "string":
        text = as_bytes(want["value"])
        return got.startswith('"' + text[:20]) or "\\" in got or "?" in text
    if kind == "function":
        return got.startswith(("function", "builtin", "C function"))
    if kind == "userdata" or kind == "cdata":
        return True
    return want.get("addr", "") in got


def variables_of(frame):
    """(kind, name, value) as in debug.getlocal and getupvalue."""
    for one in frame.get("locals", []):
        yield "local", one["name"], one
    for i, one in enumerate(frame.get("varargs", [])):
        yield "vararg", "...%d" % (i + 1), one
    for one in frame.get("upvalues", []):
        yield "upvalue", one["name"], one


def same_variables(want, got):
    wanted = list(variables_of(want))
    had = [(("local" if v["kind"] == "argument" else v["kind"]), v["name"], v["value"]) for v in got]
    if [w[:2] for w in wanted] != [h[:2] for h in had]:
        return "variables %r, wanted %r" % ([h[:2] for h in had], [w[:2] for w in wanted])
    for (kind, name, what), (_, _, value) in zip(wanted, had):
        if not same_value(what, value):
            return "%s %s is %r, wanted %r" % (kind, name, value, {k: what.get(k) for k in ("type", "value", "addr")})
    return ""


def align_stopped(want, frames):
    """A debugger stopped it later, in a callee of the function that wrote the account: churn, which is now in another
    line."""
    above = len(frames) - len(want["frames"])
    if not 1 <= above <= 3 or frames[above - 1]["function"] != "churn":
        return frames
    want["frames"][0]["line"] = frames[above]["line"]
    want["dying"] = 2
    return frames[above:]


def compare_stack(want, section, names):
    """Complaints about one coroutine."""
    frames = section.get("tables", {}).get("frames", [])
    complaints, above, all_frames = [], 0, frames
    if want["stopped"]:
        frames = align_stopped(want, frames)
    # The C function that it dies in, which wrote no row.
    while want["dying"] and len(frames) > above and frames[above]["kind"] in ("C", "builtin"):
        above += 1
    frames = frames[above:]
    above = len(all_frames) - len(frames)
    if len(frames) != len(want["frames"]):
        complaints.append("%d frames, wanted %d: %s" % (len(frames), len(want["frames"]), [(f["function"], f["line"]) for f in frames][:8]))
    variables = {}
    for row in section.get("tables", {}).get("variables", []):
        variables.setdefault(row["frame"] - above, []).append(row)
    for i, (w, g) in enumerate(zip(want["frames"], frames)):
        # The callers of the dying functions were at another line when they wrote their rows.
        wrong = same_frame(w, g, names and i >= want["dying"] - 1)
        if not wrong and w["kind"] != "C" and i >= want["dying"] and "locals" in w:
            wrong = same_variables(w, variables.get(i, []))
        if wrong:
            complaints.append("frame %d (%s): %s" % (i, g["function"], wrong))
    return complaints


def check_all(case, exe="exe"):
    """Compares all coroutines of a core. Returns their number and the complaints."""
    want = expected_of(account_of(case))
    stopped = meta_of(case)["stopped_by"]
    for row in want.values():
        row["stopped"] = bool(stopped) and row["name"] == "running"
    answer = case_run(case, "bt", "all", "--locals", "--limit", "100000", exe=exe)
    complaints, seen = [], 0
    for section in answer["sections"]:
        addr = section.get("fields", {}).get("address")
        row = want.get(addr)
        if not row:
            continue
        seen += 1
        if section["fields"]["state"] != {"dead": "failed" if row["frames"] else "finished"}.get(row["status"], row["status"]) and not (
                row["name"] == "fresh" and section["fields"]["state"] == "new"):
            complaints.append("%s: state %s, wanted %s" % (row["name"], section["fields"]["state"], row["status"]))
        for complaint in compare_stack(row, section, True):
            complaints.append("%s: %s" % (row["name"], complaint))
    if seen != len(want):
        complaints.append("%d coroutines of %d" % (seen, len(want)))
    return seen, complaints
