"""redis_talk: connections to a redis-server, and what it says of itself, kept as files.

All is asked on one connection: a process for each question would add to the clients, the slow log and the statistics that are asked for."""

import json
import os
import re
import socket
import time

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT = 120  # seconds for one answer
ALL = 1 << 40
TEXT = {"encoding": "utf-8", "errors": "surrogateescape"}  # of bytes that may be anything
# Of CLIENT LIST: what goes on by itself.
CLOCKS = ("age", "idle")


class Refused(RuntimeError):
    """An error that the server answered."""


class Connection:
    """By its socket's path; `name` is set with CLIENT SETNAME."""

    def __init__(self, path, name=None, limit=LIMIT):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(limit)
        self.socket.connect(path)
        self.file = self.socket.makefile("rb")
        if name:
            self.ask("client", "setname", name)

    def close(self):
        self.file.close()
        self.socket.close()

    def send(self, *commands):
        """Commands, each a tuple of words, in one piece; their answers are not waited for."""
        self.socket.sendall(b"".join(map(packed, commands)))

    def answer(self):
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the server has closed the connection")
        kind, text = line[:1], line[1:-2].decode(**TEXT)
        if kind == b"-":
            raise Refused(text)
        if kind == b":":
            return int(text)
        if kind == b"$":
            return None if text == "-1" else self.file.read(int(text) + 2)[:-2].decode(**TEXT)
        if kind == b"*":
            return [self.answer() for _ in range(int(text))]
        return text

    def ask(self, *words):
        self.send(words)
        return self.answer()

    def info(self, part="everything"):
        return parse_info(self.ask("info", part))

    def clients(self):
        """CLIENT LIST, by the clients' ids."""
        return parse_clients(self.ask("client", "list"))

    def others(self):
        """The same without this client and without clocks: at rest it is the same each time."""
        mine = self.ask("client", "id")
        return [{key: value for key, value in row.items() if key not in CLOCKS}
                for number, row in self.clients().items() if number != mine]


def packed(words):
    encoded = [word if isinstance(word, bytes) else str(word).encode(**TEXT) for word in words]
    return b"*%d\r\n" % len(encoded) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in encoded)


def connected(path, gone=lambda: False, limit=LIMIT):
    """A connection to a server that is starting; `gone` says that it will not."""
    def attempt():
        if gone():
            raise RuntimeError("the server has ended")
        try:
            found = Connection(path)
            found.ask("ping")
            return found
        except (OSError, Refused):
            return None
    return until(attempt, "the server does not answer", limit)


def until(state, why, limit=LIMIT):
    """Asks for the state until there is one, and returns it."""
    end = time.monotonic() + limit
    while True:
        found = state()
        if found:
            return found
        if time.monotonic() > end:
            raise RuntimeError("waited %d s in vain: %s" % (limit, why() if callable(why) else why))
        time.sleep(0.01)


def settled(control, strangers, moves=lambda row: False, limit=LIMIT):
    """Waits until CLIENT LIST has no `strangers(rows)` among the other clients, and says twice the same of those that do not move. Between
    the two the server has been through its loop, so what can go on has gone on."""
    told = []

    def state():
        first, second = control.others(), control.others()
        told[:] = strangers(second) or [row for row in second if row not in first and not moves(row)]
        return not told
    until(state, lambda: "not where they belong: %s" % told, limit)


def deaf(path):
    """A client for which the server holds more than a megabyte: it asks for more than the socket takes, and never reads."""
    try:
        with open("/proc/sys/net/core/wmem_default", encoding="ascii") as stream:
            takes = int(stream.read())
    except OSError:
        takes = 1 << 20
    made = Connection(path, "deaf")
    made.send(*[("get", "string:raw")] * (150 + takes // 5000))  # each is of 10,000 bytes
    return made


def counted(control):
    """Waits until what the server does now and then has been through all that is there: statistics of memory, of keys that expire."""
    def seen():
        info = control.info()
        databases = [dict(word.split("=") for word in row.split(",")) for name, row in info.items() if re.match(r"db\d+$", name)]
        return (2 * int(info["allocator_allocated"]) > int(info["used_memory"])
                and not [one for one in databases if one["expires"] != "0" and one["avg_ttl"] == "0"])
    until(seen, "the server's cron has not been through all keys")


def halt(control):
    """Nothing happens by itself from here on: no expiry, no growing of tables, no shrinking of buffers, no statistics, no messages between
    master and replica."""
    control.ask("debug", "set-active-expire", 0)
    control.ask("debug", "pause-cron", 1)


def slow_commands(control):
    """What the slow log has is chosen, not found."""
    control.ask("config", "set", "slowlog-log-slower-than", 0)
    control.ask("get", "string:embstr")
    control.ask("lrange", "list:10", 0, 3)
    control.ask("hset", "slow", *["word %d" % i for i in range(40)])
    control.ask("set", "string:slow", "long \"words\\\" " * 100)
    control.ask("config", "set", "slowlog-log-slower-than", -1)


def slots(control, database):
    """Of a database's table of keys, or of both while it grows."""
    told = control.ask("debug", "htstats", database).partition("[Expires HT]")[0]
    return sum(map(int, re.findall(r"table size: (\d+)", told)))


def script(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as stream:
        return stream.read()


def parse_info(text):
    """INFO's answer as a dict of texts."""
    lines = [line.strip() for line in text.splitlines()]
    return dict(line.split(":", 1) for line in lines if ":" in line and not line.startswith("#"))


def parse_clients(text):
    """CLIENT LIST's answer: dicts by id. A socket's path may hold blanks."""
    rows = [dict(re.findall(r"(?:^|(?<= ))([\w-]+)=(.*?)(?= [\w-]+=|$)", line)) for line in text.splitlines() if line.strip()]
    return {int(row["id"]): row for row in rows}


class Account:
    """What the server says of itself, asked piece by piece on one connection; write() keeps it, a file for each sort of answer."""

    def __init__(self, control):
        self.control, self.keys, self.files = control, [], {}

    def in_database(self, database, *words):
        self.control.ask("select", database)
        answer = self.control.ask(*words)
        self.control.ask("select", 0)
        return answer

    def add_keys(self, database, names=(), limit=ALL):
        """What redis-keys.lua tells, of those keys, or of all there are up to a limit."""
        self.keys += self.in_database(database, "eval_ro", script("redis-keys.lua"), len(names), *names, limit, database)

    def add_config(self):
        words = self.control.ask("config", "get", "*")
        self.files["config.txt"] = lines("%s %s" % pair for pair in zip(words[::2], words[1::2]))

    def finish(self, databases):
        """What questions add to comes last, INFO at the very end: to what it says only its own cost is to be added."""
        self.files["keys.txt"] = lines(self.keys)
        self.files["dbsize.txt"] = lines("db%d %d" % (one, self.in_database(one, "dbsize")) for one in databases)
        self.files["slots.txt"] = lines("db%d %d" % (one, slots(self.control, one)) for one in databases)
        self.files["memory-stats.json"] = json.dumps(self.control.ask("memory", "stats"))
        self.files["slowlog.json"] = json.dumps(self.control.ask("slowlog", "get", 128))
        self.files["clients.txt"] = self.control.ask("client", "list")
        self.files["info.txt"] = self.control.ask("info", "everything")

    def write(self, directory):
        os.makedirs(directory, exist_ok=True)
        for name, text in self.files.items():
            with open(os.path.join(directory, name), "w", newline="", **TEXT) as stream:
                stream.write(text)


def lines(texts):
    return "".join(text + "\n" for text in texts)
