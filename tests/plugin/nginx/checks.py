"""The nginx plugin's answers for a worker, core or process, against its account. Each check yields complaints."""

import collections
import json
import os
import re
import struct
import subprocess
import tempfile

import account as nginx
import ask
import damage
import pointers

BACKEND_WAITS = "upstream 127.0.0.1:%d waits for its header"
# The checks of a case, and the requests that are checked one by one.
ALL = ("connections", "backend", "status", "requests", "doing", "subrequests", "lua_lines", "timers", "lua", "flames", "page",
       "warnings")
SOME = ("sleep-0", "threads-1", "body-0")
PAGES = ("nginx", "nginx.conns", "nginx.reqs", "nginx.timers", "nginx.lua")
# Purposes of connections, in the driver's words; all others are requests.
KINDS = {"accepted, nothing sent": "accepted, no byte yet", "header incomplete": "reading request", "keepalive": "keepalive",
         "stream session": "stream", "lua sleep over http2": "http2", "http2 upstream": "http2"}


def doing_of(row, backend):
    """The start of a request's state, by the driver's words."""
    exact = {
        "lua threads": "lua: a light thread", "lua capture": "lua: a subrequest",
        "lua cosocket": "lua: cosocket 127.0.0.1:%d (read)" % backend, "lua reads a body": "lua: the request's body",
        "lua prints to one who does not read": "lua: the client to take what was sent", "limit_req delays": "delayed by limit_req",
        "header incomplete": "reads the header", "upstream": BACKEND_WAITS % backend, "limit_conn": BACKEND_WAITS % backend,
        "http2 upstream": BACKEND_WAITS % backend,
    }
    return exact.get(row["kind"], "lua: sleep, ")


def port_of(peer):
    return int(peer.rsplit(":", 1)[1]) if peer else None


def ends_of(row):
    """The ports of both ends. One port does not identify a connection: clients may use one port for several of
    nginx's."""
    return port_of(row["peer"]), port_of(row["own"])


def title_of(row):
    return "%s %s" % (row["method"], row["uri"])


def lines_of(coroutine):
    """Lua frames of an account's coroutine, innermost first: world.lua:86, world.lua:162 …."""
    return ["%s:%d" % (os.path.basename(one["short"]), one["line"]) for one in coroutine["frames"] if one["kind"] != "C"]


def store(data, address, what):
    """Replaces bytes at an address of a core's memory."""
    count, = struct.unpack_from("<H", data, 56)
    table, = struct.unpack_from("<Q", data, 32)
    for i in range(count):
        kind, _, offset, low, _, size = struct.unpack_from("<IIQQQQ", data, table + 56 * i)
        if kind == 1 and low <= address < low + size:
            data[offset + address - low:offset + address - low + len(what)] = what
            return
    raise ValueError("%#x is not in the core" % address)


class Case:
    """A core, or a process, with its account."""

    def __init__(self, directory, target=None, seconds=None):
        self.directory, self.name = directory, os.path.basename(directory)
        self.account, self.core = nginx.Account(directory, seconds), target or nginx.case_target(directory)
        self.death = self.name.rsplit("-", 1)[1] if self.account.one("dies") else None

    def ahead(self):
        """Asks the questions of most checks."""
        self.core.ahead(*PAGES)
        self.core.ahead(*(["nginx.req", self.main(identity)["address"]] for identity in SOME))

    def requests(self):
        return self.core.table("reqs", "requests", "requests")

    def mains(self):
        return {row["request"]: row for row in self.requests() if row["request"][0] not in " ("}

    def main(self, identity):
        """The request with this id."""
        wanted = [row for row in self.account.requests if row.get("id") == identity][0]
        return self.mains()[title_of(wanted)]

    def left(self, row, whole):
        """Whether this much of a time can be left. nginx's timers count from some moment after its start."""
        return whole - self.account.seconds - 1 <= row <= whole + 1

    # ---- connections ----

    def check_connections(self):
        rows = self.core.table("nginx.conns", "connections", "list")
        found = {ends_of(row): row for row in rows if row["own"] and row["peer"]}
        expected = {(row["client_port"], row["port"]): row for row in self.account.requests + self.account.connections}
        for ends, row in expected.items():
            kind = found.get(ends, {}).get("kind")
            if kind != KINDS.get(row["kind"], "request"):
                yield "ports %s, %s: %s" % (ends, row["kind"], kind)
            if "tls" in row["kind"] and not found[ends]["tls"]:
                yield "ports %s: not over TLS" % (ends,)
        others = set(found) - set(expected)
        if len(others) != (1 if self.death else 0):
            yield "unknown connections: %s" % others

    def check_backend(self):
        rows, unanswered = self.core.table("nginx.conns", "connections", "list"), self.account.backend["unanswered"]
        count = collections.Counter(row["kind"] for row in rows if port_of(row["peer"]) == self.account.backend["port"])
        wanted = {"upstream": len([line for line in unanswered if line.startswith("GET")]),
                  "cosocket": len([line for line in unanswered if line.startswith("WAIT cosocket")]), "stream upstream": 1}
        idle = sum(pool["idle"] for row in self.account.all("planted") for pool in row.get("pools", []))
        wanted["cosocket, pooled"] = idle - wanted["cosocket"]
        if dict(count) != wanted:
            yield "%s, wanted %s" % (dict(count), wanted)

    def check_status(self):
        section = self.core.section("nginx.conns", "connections")
        status = {row["counter"]: row for row in section["tables"]["status"]}
        for name in ("active", "reading", "writing", "waiting"):
            if status[name]["here"] != status[name]["stub_status"]:
                yield str(status[name])
        fields = section["fields"]
        if fields["in_use"] + fields["free"] != fields["connections"]:
            yield str(fields)
        for message in section.get("messages", []):
            yield str(message)

    # ---- requests ----

    def check_requests(self):
        got = collections.Counter(row["request"] for row in self.requests() if row["request"][0] not in " (")
        expected = collections.Counter(title_of(row) for row in self.account.requests)
        if self.death and self.death != "timer":
            expected["GET /crash/%s" % self.death_uri()] += 1
        for title in set(got) | set(expected):
            if got[title] != expected[title]:
                yield "%s: %d times, wanted %d" % (title, got[title], expected[title])
        fakes = len([row for row in self.requests() if row["request"].startswith("(")])
        running = self.account.one("timers")["running"]
        if fakes != running:
            yield "%d requests of timers, wanted %d" % (fakes, running)

    def death_uri(self):
        how = "&how=%s" % self.death if self.death == "thread" else ""
        return "%s?id=crash-0%s" % (self.death, how)

    def check_doing(self):
        port = self.account.backend["port"]
        for wanted in self.account.requests:
            row = self.mains()[title_of(wanted)]
            if not row["doing"].startswith(doing_of(wanted, port)):
                yield "%s: %s" % (wanted["id"], row["doing"])
            if port_of(row["peer"]) != wanted["client_port"]:
                yield "%s: from %s" % (wanted["id"], row["peer"])
            if (row["pool"] or 0) < wanted.get("pool_bytes_at_least", 1024):
                yield "%s: a pool of %s" % (wanted["id"], row["pool"])
            phase = {"lua access phase": "access", "limit_req delays": "preaccess", "header incomplete": None}.get(wanted["kind"], "content")
            if row["phase"] != phase:
                yield "%s: phase %s" % (wanted["id"], row["phase"])

    def check_subrequests(self):
        subs = [row for row in self.requests() if row["request"].startswith("  subrequest") and row["doing"] != "finished"]
        wanted = sorted(row["client_port"] for row in self.account.requests if row["kind"] == "lua capture")
        if sorted(port_of(row["peer"]) for row in subs) != wanted:
            yield "%s" % [row["peer"] for row in subs]
        for row in self.requests():
            captures = 1 if row["request"].startswith("GET /lua/capture") else 0
            if row["request"][0] not in " (" and row["subrequests"] != captures:
                yield "%s: %d subrequests" % (row["request"], row["subrequests"])
            if not row["request"].startswith(" ") and not row["request"].startswith("GET /crash") and row["count"] != 1 + captures:
                yield "%s: %d references" % (row["request"], row["count"])

    def check_lua_lines(self):
        coroutines = self.account.coroutines()
        for wanted in self.account.requests:
            coroutine = coroutines.get(wanted.get("id"))
            got = self.mains()[title_of(wanted)]["lua"]
            if got != (lines_of(coroutine)[0] if coroutine else None):
                yield "%s: %s, wanted %s" % (wanted["id"], got, coroutine and lines_of(coroutine)[0])

    # ---- one request ----

    def check_one(self, identity):
        wanted = [row for row in self.account.requests if row.get("id") == identity][0]
        answer = {s["key"]: s for s in self.core.run("nginx.req", self.main(identity)["address"])["sections"]}
        head = "Content-Length: 5000\n" if identity == "body-0" else ""
        text = "%s HTTP/1.1\nHost: corpus\nUser-Agent: drive/1\n%s" % (title_of(wanted), head)
        if answer["raw"]["texts"]["raw"].rstrip("\n") + "\n" != text:
            yield repr(answer["raw"]["texts"]["raw"])
        received = answer["request"]["fields"].get("body_received")
        if received != wanted.get("body_received", received):
            yield "a body of %s bytes" % received
        names = [row["name"] for row in answer["headers_in"]["tables"]["headers_in"]]
        if names[:2] != ["Host", "User-Agent"]:
            yield str(names)

    def check_coroutines(self, identity):
        """Its coroutine and light threads, each with the lines of its frames."""
        answer = {s["key"]: s for s in self.core.run("nginx.req", self.main(identity)["address"])["sections"]}
        mine = {row["addr"]: row for key, row in self.account.coroutines().items() if key == identity or key.endswith(" of " + identity)}
        rows = answer["lua"]["tables"]["coroutines"]
        if sorted(row["coroutine"] for row in rows) != sorted(mine):
            yield "%s, wanted %s" % ([row["coroutine"] for row in rows], sorted(mine))
        for i, row in enumerate(rows):
            frames = answer["lua_%d" % (i + 1)]["tables"]["frames"]
            got = ["%s:%d" % (os.path.basename(one["file"]), one["line"]) for one in frames if one["file"]]
            if got != lines_of(mine[row["coroutine"]]):
                yield "%s: %s, wanted %s" % (row["coroutine"], got, lines_of(mine[row["coroutine"]]))

    # ---- timers and Lua ----

    def check_timers(self):
        section = self.core.section("nginx.timers", "timers")
        count = collections.Counter(row["what"].split(",")[0] for row in section["tables"]["timers"])
        sleeps = len([1 for row in self.account.coroutines().values() if row["frames"][0].get("name") == "sleep"])
        pending = self.account.one("timers")["pending"]
        if (count["lua sleep"], count["lua timer"]) != (sleeps, pending):
            yield "%d sleep and %d timers, wanted %d and %d" % (count["lua sleep"], count["lua timer"], sleeps, pending)
        for row in section["tables"]["timers"]:
            if row["what"] == "lua sleep" and not row["request"] or row["what"].startswith("lua timer") and "world.lua" not in row["who"]:
                yield str(row)
        hours = [row for row in section["tables"]["timers"] if row["what"] == "lua timer"]
        left = sorted(row["left"] for row in hours)
        if len(left) != 5 or not all(self.left(one, 3601 + n) and abs(one - left[0] - n) < 0.01 for n, one in enumerate(left)):
            yield "the timers of an hour: %s, after %s s" % (hours, self.account.seconds)

    def check_lua(self):
        section, timers = self.core.section("nginx.lua", "lua"), self.account.one("timers")
        for name in ("pending", "running"):
            if section["fields"][name + "_timers"] != timers[name]:
                yield "%s timers: %s" % (name, section["fields"])
        planted = {row["name"]: row for row in self.account.all("planted")}
        wanted = {pool["key"]: pool["idle"] for pool in planted["cosockets"]["pools"]}
        got = {row["pool"]: row["connections"] for row in section["tables"]["cosocket_pools"]}
        if got != wanted:
            yield "pools %s, wanted %s" % (got, wanted)
        caches = [row["entries"] for row in section["tables"]["lrucaches"]]
        if planted["lrucache"]["count"] not in caches:
            yield "caches of %s entries" % caches

    def flamed(self, kind):
        """Lua lines of each path of a flame graph, innermost first, with both ends of the path."""
        found = collections.Counter()
        for path, weight in self.core.flame(kind):
            lines = [match.group(1) for match in (re.search(r" (\S+:\d+)$", name) for name in reversed(path)) if match]
            found[path[0], path[-1], tuple(lines)] += weight
        return found

    def check_flames(self):
        """Each waiting coroutine appears with the lines of its own traceback; timers match Lua's count."""
        wanted = collections.Counter(tuple(lines_of(one)) for one in self.account.coroutines().values())
        waits = collections.Counter()
        for (_, end, lines), weight in self.flamed("nginx.waits").items():
            if end != "(runs)":
                waits[lines] += weight
        if waits != wanted:
            yield "%s, wanted %s" % (waits - wanted, wanted - waits)
        timers, told = self.flamed("nginx.timers"), self.account.one("timers")
        lines = tuple(lines_of(self.account.coroutines()["running timer 1"]))
        if timers["running timers", "(sleep)", lines] != 2:
            yield str(timers)
        if sum(weight for key, weight in timers.items() if key[0] == "running timers") != told["running"]:
            yield "%s, %d run" % (timers, told["running"])
        pending = {key[1:]: weight for key, weight in timers.items() if key[0] == "pending timers"}
        if sum(pending.values()) != told["pending"] or [one for one in pending if not one[1] or not one[1][0].startswith("world.lua:")]:
            yield "%s, %d wait" % (pending, told["pending"])

    # ---- the crash ----

    def check_page(self):
        section = self.core.section("nginx", "nginx")
        fields = section["fields"]
        if not self.death:
            if "in_request" in fields or "lua" in fields:
                yield "it lives, and is said to be in %s" % fields
            return
        line = "world.lua:%d " % self.account.one("dies")["line"]
        if line not in fields["lua"].split("<", maxsplit=1)[0] + " ":
            yield "%s, wanted %s" % (fields["lua"], line)
        request = "(lua timer)" if self.death == "timer" else "GET /crash/%s" % self.death_uri()
        phase = {"filter": "body filter", "thread": "content"}.get(self.death, self.death)
        if (fields["in_request"], fields["phase"]) != (request, phase):
            yield str(fields)

    def check_warnings(self):
        texts = [message["text"] for message in self.core.section("nginx", "nginx").get("messages", [])]
        leak = self.main("leak-0")["address"]
        for wanted in (leak + " has 2.0 MiB in its pool", "requests are waiting for the upstream 127.0.0.1:%d" % self.account.backend["port"]):
            if not [text for text in texts if wanted in text]:
                yield "no '%s' in %s" % (wanted, texts)
        for text in texts:
            if re.search("orphaned|references|cannot be read|could not|stub_status", text):
                yield text

    # ---- gdb ----

    def check_gdb(self):
        mains = list(self.mains().values())
        words = ["ngx_cycle->connection_n", "ngx_cycle->free_connection_n", "(long)ngx_current_msec"]
        for row in mains:
            words += ["((ngx_http_request_t *)%s)->%s" % (row["address"], what) for what in ("count", "request_line.len", "headers_out.status")]
        argv = ["gdb", "-nx", "-q", "--batch", "-iex", "set debuginfod enabled off", "-iex", "set auto-load no"]
        for word in words:
            argv += ["-ex", "output/d %s" % word, "-ex", "echo \\n"]
        done = subprocess.run(argv + [os.path.join(self.directory, "exe"), os.path.join(self.directory, "core")], capture_output=True,
                              timeout=120, check=False)
        values = [int(line) for line in done.stdout.decode(errors="replace").splitlines() if re.fullmatch(r"-?\d+", line)][-len(words):]
        fields = self.core.section("nginx.cycle", "cycle")["fields"]
        if values[:3] != [fields["connections"], fields["free_connections"], fields["clock_ms"]]:
            yield "%s: %s" % (values[:3], fields)
        for i, row in enumerate(mains):
            count, length, status = values[3 + 3 * i:6 + 3 * i]
            version = 0 if row["doing"] == "reads the header" else len(" HTTP/x.y")
            if (row["count"], row["status"] or 0) != (count, status) or length and abs(len(row["request"]) + len(" HTTP/x.y") - length) > 9 - version:
                yield "%s: gdb has %s" % (row, (count, length, status))

    # ---- at rest ----

    def check_at_rest(self):
        """A worker that waits for events runs no Lua, and the answers show that."""
        if "no Lua code runs" not in json.dumps(self.core.section("luajit.bt", "bt")):
            yield "luajit.bt does not say that no Lua code runs"
        if self.core.section("luajit", "luajit")["fields"]["lua"] is not None:
            yield "the report has Lua code that runs"

    # ---- secrets ----

    def check_redacted(self):
        """With redaction, no answer contains data that clients sent."""
        redacted = nginx.Target(self.core.target, *self.core.options, "--redact")
        address = self.main("sleep-0")["address"]
        commands = ("nginx", "nginx.conns", "nginx.reqs --raw", "nginx.timers", "nginx.lua", "nginx.posted", "nginx.req " + address)
        redacted.ahead(*commands)
        for command in commands:
            text = json.dumps(redacted.run(*command.split()))
            for secret in ("sleep-0", "crash-0", "drive/1"):
                if secret in text:
                    yield "%s prints %s" % (command, secret)

    # ---- damage ----

    def core_bytes(self):
        with open(os.path.join(self.directory, "core"), "rb") as stream:
            return bytearray(stream.read())

    def check_orphan(self):
        """A request with no connection is found by its start and reported as orphaned; the same for one with wrong
        references."""
        data, orphan, freed = self.core_bytes(), int(self.main("sleep-0")["address"], 16), int(self.main("sleep-1")["address"], 16)
        [connection] = [row for row in self.core.table("nginx.conns", "connections", "list") if row["request_address"] == hex(orphan)]
        store(data, int(connection["address"], 16), bytes(8))  # data, its first member
        offset = re.search(r"/\*\s*(\d+).*unsigned int count : 16;",
                           ask.xcore("ptype", self.core.target, "struct ngx_http_request_s", *self.core.options))
        store(data, freed + int(offset.group(1)), bytes(2))
        with tempfile.TemporaryDirectory() as scratch:
            texts = [message["text"] for message in self.damaged(data, scratch).section("nginx.reqs", "requests")["messages"]]
        for wanted in ("request %s no longer has a connection" % hex(orphan), "nothing refers to request %s" % hex(freed)):
            if not [text for text in texts if wanted in text]:
                yield "no '%s' in %s" % (wanted, texts)

    def damaged(self, data, scratch):
        path = os.path.join(scratch, "core")
        with open(path, "wb") as stream:
            stream.write(data)
        return nginx.Target(path, "--exe", os.path.join(self.directory, "exe"), whole=False)

    def check_pointers(self, every):
        """One bad pointer of a request loses only the data behind it."""
        return pointers.complaints(self, every)

    def check_damaged(self, seed, apart):
        """Overwritten words cause no error in a command's own code. `apart`: each command runs in a separate
        process."""
        address, core = self.main("print-0")["address"], damage.Core(self.core.target)
        chains = [row["address"] for row in self.core.table("nginx.req", "request", "buffers", address)]
        cycle = int(self.core.section("nginx.cycle", "cycle")["fields"]["cycle"], 16)
        core.spare(cycle, 4096)
        core.spare(int(self.core.script('print(xcore.hex(xcore.target:symbol("ngx_cycle").addr))').strip(), 16), 8)
        damage.spoil(core, seed, 2000)
        with tempfile.TemporaryDirectory() as scratch:
            damaged = self.damaged(core.bytes, scratch)
            commands = [[one] for one in ("nginx", "nginx.cycle", "nginx.conns", "nginx.reqs", "nginx.timers", "nginx.posted", "nginx.lua",
                                          "nginx.upstreams")]
            commands += [["nginx.req", address]] + [["nginx.chain", chain, "--text"] for chain in chains]
            if not apart:
                damaged.ahead(*commands)
            runs = [(damaged.run, *words) for words in commands] + [(damaged.flame, kind) for kind in ("nginx.timers", "nginx.waits")]
            for run, *words in runs:
                try:
                    run(*words)
                except RuntimeError as why:
                    if damage.is_traceback(str(why)) or "exit -" in str(why):
                        yield "seed %d, %s: %s" % (seed, words, why)
            if damaged.run("nginx.conns")["sections"][0]["fields"]["connections"] != 256:
                yield "seed %d: the number of connections is another" % seed
