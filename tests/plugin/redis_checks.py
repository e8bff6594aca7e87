"""What the redis plugin says, held against an account (redis_account.py). Each check yields its findings: nothing is good."""

import math
import re

# INFO's fields that change between the account and the death: how far they may be off, or "more" (they only grow), or "later"
# (by as many seconds as the account is older, or less, and SLACK).
DRIFT = {
    "used_memory": 1 << 20, "used_memory_peak": 1 << 20, "used_memory_rss": 4 << 20, "allocator_allocated": 4 << 20,
    "allocator_active": 4 << 20, "allocator_resident": 4 << 20, "uptime_in_seconds": "later", "connected_clients": 1,
    "total_connections_received": "more", "total_commands_processed": "more", "keyspace_hits": "more",
    "keyspace_misses": "more", "total_error_replies": "more", "executable": "any", "config_file": "any",
    "mem_allocator": "prefix", "rdb_last_save_time": 0, "slave_repl_offset": "more", "slave_read_repl_offset": "more",
    "master_last_io_seconds_ago": "later", "master_repl_offset": "more",
}
SLACK = 5
# CLIENT LIST's fields of a client that does nothing.
QUIET = ("addr laddr fd name flags db sub psub ssub multi qbuf qbuf-free argv-mem multi-mem rbs rbp obl oll omem tot-mem "
         "events cmd user resp").split()
# And of one that works.
BUSY = "addr laddr fd name flags db sub psub ssub multi user resp".split()


def section(answer, key):
    found = [s for s in answer["sections"] if s["key"] == key]
    if len(found) != 1:
        raise AssertionError(f"{len(found)} sections {key}")
    return found[0]


def table(answer, key, name):
    return section(answer, key)["tables"][name]


def messages(answer):
    return [message["text"] for s in answer["sections"] for message in s.get("messages", [])]


def _differs(key, ours, theirs, age):
    how = DRIFT.get(key, 0)
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
    if how == "later":
        return not theirs <= ours <= theirs + age + SLACK
    return abs(ours - theirs) > how


def info(answer, account, when):
    """Every field that INFO has, too; `when`: what was answered is not of later than that, in seconds since 1970."""
    seen = 0
    age = when - int(account.info["server_time_usec"]) / 1e6
    for part in answer["sections"]:
        for key, ours in part["fields"].items():
            if key in account.info:
                seen += 1
                if _differs(key, ours, account.info[key], age):
                    yield f"{key}: {ours}, INFO says {account.info[key]}"
    if seen < 45:
        yield f"only {seen} fields of INFO"
    for row in table(answer, "keyspace", "databases"):
        theirs = dict(word.split("=") for word in account.info[f"db{row['database']}"].split(","))
        if (row["keys"], row["expires"]) != (int(theirs["keys"]), int(theirs["expires"])):
            yield f"database {row}: INFO says {theirs}"
        if row["keys"] != account.sizes[row["database"]]:
            yield f"database {row}: DBSIZE says {account.sizes[row['database']]}"
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
            yield f"{row}: MEMORY USAGE says {sizes.get((row['database'], row['key']))}"


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
    """A list whose nodes are compressed, or of elements larger than a listpack takes, holds what the recipe put there."""
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


# Of an idle client's buffers, which become smaller after some seconds: the least that a field becomes, if it was more.
SHRINKING = {"rbs": 1024, "rbp": 0, "qbuf-free": 0, "tot-mem": 1024}
ROUNDING = 512 # of allocations: a string's size is not quite its block's


def clients(answer, account, busy):
    """CLIENT LIST; `busy(row)`: the client goes on working after the account."""
    ours = {row["id"]: row for row in table(answer, "clients", "clients")}
    for number, theirs in account.clients.items():
        if theirs["cmd"] == "client|list":
            continue
        row = ours.get(number)
        if not row:
            yield f"client {number} is missing"
            continue
        for name in BUSY if busy(theirs) else QUIET:
            value = row[name.replace("-", "_")]
            if name in SHRINKING and min(SHRINKING[name], int(theirs[name])) <= value <= int(theirs[name]):
                continue
            if str("" if value is None else value) != theirs[name]:
                yield f"client {number}: {name} is {value}, CLIENT LIST says {theirs[name]}"
        fell = {name: int(theirs[name]) - row[name.replace("-", "_")] for name in SHRINKING}
        if not busy(theirs) and abs(fell["tot-mem"] - fell["rbs"] - fell["qbuf-free"]) > ROUNDING:
            yield f"client {number}: less than CLIENT LIST says: {fell}"
    if abs(len(ours) - len(account.clients)) > 1:
        yield f"{len(ours)} clients, CLIENT LIST has {len(account.clients)}"


def slowlog(answer, account):
    """Newer entries may have pushed the oldest ones out: Redis keeps 128."""
    rows = {row["id"]: row for row in table(answer, "slowlog", "slowlog")}
    for number, (time, microseconds) in account.slowlog.items():
        row = rows.get(number)
        if not row and len(rows) == 128 and number < min(rows) and max(rows) > max(account.slowlog):
            continue
        if not row or row["time"] != time or round(row["duration"] * 1e6) != microseconds:
            yield f"entry {number}: {row}, SLOWLOG says {microseconds} us at {time}"
    if not set(rows) & set(account.slowlog):
        times = [row["time"] for _, row in sorted(rows.items())]
        if max(rows, default=0) - min(rows, default=0) != len(rows) - 1 or times != sorted(times):
            yield f"newer entries: {sorted(rows)}, at {times}"
    if not account.slowlog:
        yield "an account without slow commands tests nothing"


def expires(answer, account):
    for row in table(answer, "expires", "databases"):
        theirs = [k.expires for k in account.keys if k.database == row["database"] and k.expires > 0]
        if row["expires"] != len(theirs) or row["overdue"] > 0:
            yield f"{row}, the server says {len(theirs)}"
        elif theirs and not math.isclose(row["latest"] - row["soonest"], (max(theirs) - min(theirs)) / 1000, abs_tol=0.002):
            yield f"{row}: the spread of PEXPIRETIME is {max(theirs) - min(theirs)} ms"


def flame(folded, account):
    """Weights by database, type, encoding and prefix add up to MEMORY USAGE."""
    ours, theirs = {}, {}
    for line in folded.splitlines():
        path, weight = line.rsplit(" ", 1)
        ours[path] = int(weight)
    for k in account.keys:
        prefix = k.name.split(":", 1)[0] if ":" in k.name else "(no prefix)"
        path = f"db {k.database};{k.type};{k.encoding};{prefix}"
        theirs[path] = theirs.get(path, 0) + k.sampled
    if ours != theirs:
        for path in sorted(set(ours) ^ set(theirs) | {p for p in set(ours) & set(theirs) if ours[p] != theirs[p]}):
            yield f"{path}: {ours.get(path)}, MEMORY USAGE says {theirs.get(path)}"
