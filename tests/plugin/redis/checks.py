"""The redis plugin's answers, compared with an account (redis_account.py). Each check yields its findings; none means
success."""

import math
import re

# Permitted differences of INFO's fields: a number, or "later" (at most the age of the account in seconds, plus SLACK),
# "prefix", "any". The server does nothing between account and answer, so there are no others; memory differs by the
# crash handler's report and INFO's own answer.
DRIFT = {"used_memory": 1 << 16, "used_memory_peak": 1 << 16, "uptime_in_seconds": "later", "executable": "any", "config_file": "any",
         "mem_allocator": "prefix", "master_last_io_seconds_ago": "later", "total_commands_processed": "one more"}
# The same while clients continue to read: "more" fields only grow.
READING = {"used_memory": 1 << 20, "used_memory_peak": 1 << 20, "total_commands_processed": "more", "keyspace_hits": "more"}
SLACK = 5
# CLIENT LIST fields of an idle client.
QUIET = ("addr laddr fd name flags db sub psub ssub multi qbuf qbuf-free argv-mem multi-mem rbs rbp obl oll omem tot-mem "
         "events cmd user resp").split()
# And of an active one.
BUSY = "addr laddr fd name flags db sub psub ssub multi user resp".split()


# Commands with answers that must not depend on the form of the target.
COMMANDS = [("info",), ("keys", "--limit", "100"), ("keys", "--match", "*t:[13]*"), ("big",), ("types",), ("expires",), ("clients",),
            ("blocked",), ("replication",), ("slowlog",), ("command",), ("key", "string:raw")]
# And those that are compared with the whole account.
WHOLE = [("keys", "--limit", "1000000"), ("big", "--limit", "20")]
LISTS = ("compressed:1", "compressed:5", "plain:2")


def question(key, database=0):
    return ("key", key, "--db", str(database))


def sampled(keys):
    """Three keys of each type and encoding, with elements in the account, and some that expire."""
    plain = lambda k: " " not in k.name
    return [k for k in keys if k.first and plain(k)] + [k for k in keys if k.expires > 0 and plain(k)][:2]


def key_questions(account):
    return list(dict.fromkeys(question(key.name, key.database) for key in sampled(account.keys)))


def questions(account, lists=LISTS):
    return list(dict.fromkeys([*COMMANDS, *WHOLE, *key_questions(account), *map(question, lists)]))


def of(target, asked, claim, *more):
    """Wraps a claim about an answer as one about a target."""
    return claim(target.answer(asked), *more)


def data(plan, name, target, account):
    """Facts that stay constant once writes are paused."""
    plan.check("%s: keys" % name, of, target, WHOLE[0], keys, account)
    plan.check("%s: types" % name, of, target, ("types",), types, account)
    plan.check("%s: big" % name, of, target, WHOLE[1], big, account, 20)
    plan.check("%s: expires" % name, of, target, ("expires",), expires, account)
    plan.check("%s: flame" % name, flame, target, account)
    for one in sampled(account.keys):
        plan.check("%s: key %s" % (name, one.name), of, target, question(one.name, one.database), key, one)


def same(targets, questions):
    """All answers are the same."""
    first, *others = [target.ask(questions) for target in targets]
    for other in others:
        for one in questions:
            if other.answer(one) != first.answer(one):
                yield f"{other.target}: {one}: {other.answer(one)}; {first.target}: {first.answer(one)}"


def section(answer, key):
    found = [s for s in answer["sections"] if s["key"] == key]
    if len(found) != 1:
        raise AssertionError(f"{len(found)} sections {key}")
    return found[0]


def table(answer, key, name):
    return section(answer, key)["tables"][name]


def messages(answer):
    return [message["text"] for s in answer["sections"] for message in s.get("messages", [])]


def differs(key, ours, theirs, age, reading=False):
    """`age`: the answer is at most this many seconds younger than the account."""
    how = READING.get(key) if reading and key in READING else DRIFT.get(key, 0)
    if how == "any":
        return False
    if how == "prefix":
        return not theirs.startswith(ours)
    if isinstance(ours, bool):
        return int(ours) != int(theirs)
    if isinstance(ours, str):
        return ours != theirs
    theirs = float(theirs)
    if how == "more":
        return ours < theirs
    if how == "one more":
        return ours != theirs + 1
    if how == "later":
        return not theirs <= ours <= theirs + age + SLACK
    return abs(ours - theirs) > how


def info(answer, account, when):
    """All fields of INFO. `when`: the answer is not later than that, in seconds since 1970."""
    seen = 0
    age = when - int(account.info["server_time_usec"]) / 1e6
    for part in answer["sections"]:
        for key, ours in part["fields"].items():
            if key in account.info:
                seen += 1
                if differs(key, ours, account.info[key], age, not account.at_rest()):
                    yield f"{key}: {ours}, INFO says {account.info[key]}"
    if seen < 45:
        yield f"only {seen} fields of INFO"
    for row in table(answer, "keyspace", "databases"):
        theirs = dict(word.split("=") for word in account.info[f"db{row['database']}"].split(","))
        if (row["keys"], row["expires"], row["avg_ttl_ms"]) != tuple(int(theirs[name]) for name in ("keys", "expires", "avg_ttl")):
            yield f"{row}: INFO says {theirs}"
        if row["keys"] != account.sizes[row["database"]] or row["table_slots"] != account.slots[row["database"]]:
            yield f"{row}: DBSIZE says {account.sizes[row['database']]}, HTSTATS {account.slots[row['database']]}"
    if len(table(answer, "keyspace", "databases")) != len(account.sizes):
        yield "another number of databases"


def types(answer, account):
    """Counts by type and encoding."""
    ours = {(r["type"], r["encoding"]): r["keys"] for r in table(answer, "types", "types") if r["database"] == 0}
    theirs = {}
    for key in account.keys:
        if key.database == 0:
            theirs[key.type, key.encoding] = theirs.get((key.type, key.encoding), 0) + 1
    if ours != theirs:
        yield f"{ours}, OBJECT ENCODING says {theirs}"
    memory = sum(row["memory"] for row in table(answer, "types", "types"))
    wanted = sum(key.sampled for key in account.keys)
    if memory != wanted:
        yield f"{memory} bytes in all, the sum of MEMORY USAGE is {wanted}"


def unquoted(text):
    if not text.startswith('"'):
        return text
    return re.sub(r'\\(["\\])', r"\1", text[1:-1])


def keys(answer, account, complete=True):
    """Type, encoding, memory and elements of each key."""
    ours = {(r["database"], unquoted(r["key"])): r for r in table(answer, "keys", "keys")}
    for key in account.keys:
        row = ours.get((key.database, key.name))
        if not row:
            yield f"{key.name} is missing"
        elif (row["type"], row["encoding"], row["memory"], row["elements"]) != (key.type, key.encoding, key.sampled, key.elements):
            yield f"{row}, the server says {key[:8]}"
    if complete and len(ours) != len(account.keys):
        yield f"{len(ours)} keys, the server has {len(account.keys)}"


def big(answer, account, limit):
    """The largest of each type are the largest."""
    rows = table(answer, "big", "largest")
    for kind in {key.type for key in account.keys}:
        ours = [row["memory"] for row in rows if row["type"] == kind]
        theirs = sorted((key.sampled for key in account.keys if key.type == kind), reverse=True)[:limit]
        if ours != theirs:
            yield f"{kind}: {ours}, MEMORY USAGE says {theirs}"
    sizes = {(key.database, key.name): key.sampled for key in account.keys}
    for row in rows:
        if sizes.get((row["database"], unquoted(row["key"]))) != row["memory"]:
            yield f"{row}: MEMORY USAGE says {sizes.get((row['database'], unquoted(row['key'])))}"


def key(answer, wanted):
    """One key: memory with all elements, expiry, the first elements."""
    fields = section(answer, "key")["fields"]
    ours = (fields["type"], fields["encoding"], fields["memory"], fields["elements"], fields.get("expires_at_ms") or -1)
    theirs = (wanted.type, wanted.encoding, wanted.memory, wanted.elements, wanted.expires)
    if ours != theirs:
        yield f"{wanted.name}: {ours}, the server says {theirs}"
    rows = table(answer, "key", "contents")
    shown = [unquoted(cell) for row in rows for cell in row.values()]
    if wanted.type == "stream":
        shown = [word for cell in shown for word in cell.split()]
    count = min(len(shown), len(wanted.first))
    for ours, theirs in zip(shown[:count], wanted.first):
        if ours[:60] != theirs[:60]:
            yield f"{wanted.name}: element {ours}, the server says {theirs}"
    if wanted.first and not count:
        yield f"{wanted.name}: no elements"


def long_list(answer, wanted, account):
    """A list with compressed nodes, or with elements too large for a listpack, holds the recipe's data."""
    fields = section(answer, "key")["fields"]
    theirs = [k for k in account.keys if k.name == wanted][0]
    kind, number = wanted.split(":")
    text = {"compressed": lambda j: f"row {j} of {number}; " * 40, "plain": lambda j: f"element {j} " * 300}[kind]
    if (fields["memory"], fields["elements"]) != (theirs.memory, theirs.elements):
        yield f"{fields}, the server says {theirs}"
    rows = table(answer, "key", "contents")
    for j, row in enumerate(rows, 1):
        shown = unquoted(row["element"]).split("...")[0].rstrip('"')
        if len(shown) < 200 or not text(j).startswith(shown):
            yield f"element {j} is {shown}"
    if len(rows) < 3:
        yield f"{len(rows)} elements"


def busy(row):
    """Whether the client continues to work after the account, or requested it."""
    return row["name"] == "reader" or row["cmd"] == "client|list"


def clients(answer, account):
    """CLIENT LIST."""
    ours = {row["id"]: row for row in table(answer, "clients", "clients")}
    for number, theirs in account.clients.items():
        row = ours.get(number)
        if not row:
            yield f"client {number} is missing"
            continue
        for name in BUSY if busy(theirs) else QUIET:
            value = row[name.replace("-", "_")]
            if str("" if value is None else value) != theirs[name]:
                yield f"client {number}, {theirs['name']}: {name} is {value}, CLIENT LIST says {theirs[name]}"
    if len(ours) != len(account.clients):
        yield f"{len(ours)} clients, CLIENT LIST has {len(account.clients)}"


def quoted(word):
    """The plugin's form of an argument in the slow log."""
    text = word[:128]
    if re.search(r"[^!-~]|[\"\\]", text):
        text = '"%s"' % re.sub(r"[^ !#-\[\]-~]", lambda found: "\\" + found[0] if found[0] in "\"\\" else "\\x%02x" % ord(found[0]), text)
    return text + ("... (%d bytes)" % len(word) if len(word) > 128 else "")


def slowlog(answer, account):
    rows = {row["id"]: row for row in table(answer, "slowlog", "slowlog")}
    for number, entry in account.slowlog.items():
        row = rows.get(number)
        theirs = (entry.time, entry.microseconds, " ".join(map(quoted, entry.words)), entry.addr, entry.name)
        ours = row and (row["time"], round(row["duration"] * 1e6), row["command"], row["addr"], row["name"])
        if ours != theirs:
            yield f"entry {number}: {ours}, SLOWLOG says {theirs}"
    if len(rows) != len(account.slowlog):
        yield f"{len(rows)} entries, SLOWLOG has {len(account.slowlog)}"
    if not account.slowlog:
        yield "an account without slow commands tests nothing"


def expires(answer, account):
    for row in table(answer, "expires", "databases"):
        theirs = [k.expires for k in account.keys if k.database == row["database"] and k.expires > 0]
        if row["expires"] != len(theirs) or row["overdue"] > 0:
            yield f"{row}, the server says {len(theirs)}"
        elif theirs and not math.isclose(row["latest"] - row["soonest"], (max(theirs) - min(theirs)) / 1000, abs_tol=0.002):
            yield f"{row}: the spread of PEXPIRETIME is {max(theirs) - min(theirs)} ms"


def flame(target, account):
    """Weights by database, type, encoding and prefix add up to MEMORY USAGE."""
    ours, theirs = {}, {}
    for line in target.folded().splitlines():
        path, weight = line.rsplit(" ", 1)
        ours[path] = int(weight)
    for k in account.keys:
        prefix = k.name.split(":", 1)[0] if ":" in k.name else "(no prefix)"
        path = f"db {k.database};{k.type};{k.encoding};{prefix}"
        theirs[path] = theirs.get(path, 0) + k.sampled
    if ours != theirs:
        for path in sorted(set(ours) ^ set(theirs) | {p for p in set(ours) & set(theirs) if ours[p] != theirs[p]}):
            yield f"{path}: {ours.get(path)}, MEMORY USAGE says {theirs.get(path)}"
