#!/usr/bin/env python3
"""redis-drive.py SOCKET DIR STRINGS OTHERS READERS: fills a redis-server, brings clients to every state there is, writes the server's
own account into DIR, and lets it die by DEBUG SEGFAULT.

Nothing happens by itself meanwhile (redis_talk.halt) and clients that write are held back, so the account is of the state that the core
has; but READERS clients read at full speed until the end. The account is taken once CLIENT LIST shows every client where it belongs."""

import os
import select
import signal
import sys

sys.dont_write_bytecode = True
import redis_talk as talk  # noqa: E402

HELD = 8
GROWN = 256  # keys that fill a table of that size; one more makes it grow
NAMED = 20000  # of no more keys than that, each is told
# What clients say, by their names; then what CLIENT LIST must tell of each.
SAY = {
    "blocked": [("blpop", "nothing:1", "nothing:2", 0)],
    "subscribed": [("subscribe", "news", "weather"), ("psubscribe", "sport.*")],
    "transaction": [("multi",), ("set", "multi:1", "one"), ("incr", "multi:2")],
    "tracking": [("client", "tracking", "on"), ("get", "string:embstr")],
    "elsewhere": [("select", 5), ("get", "elsewhere")],
}
HALF = b"*2\r\n$3\r\nGET\r\n$100\r\nhalf of a key"
STAND = {
    "blocked": lambda row: row["cmd"] == "blpop" and "b" in row["flags"],
    "subscribed": lambda row: (row["sub"], row["psub"]) == ("2", "1"),
    "transaction": lambda row: row["multi"] == "2",
    "tracking": lambda row: row["cmd"] == "get" and "t" in row["flags"],
    "elsewhere": lambda row: (row["cmd"], row["db"]) == ("get", "5"),
    "deaf": lambda row: row["cmd"] == "get" and row["qbuf"] == "0" and int(row["omem"]) > 1 << 20,
    "half": lambda row: int(row["argv-mem"]) > 0 and int(row["qbuf"]) > 0,
    "held": lambda row: "b" in row["flags"],
}
# What each held client asks for in one piece: the first waits, the others stand in its query buffer.
WRITES = (("set", "key:1", "another value"), ("incr", "counter"), ("lpush", "pushed", "element"), ("sadd", "added", "member"),
          ("hset", "hashed", "field", "value"), ("zadd", "sorted", 1.5, "member"), ("spop", "set:1"), ("del", "list:1"))


def fill(control, strings, others):
    control.ask("debug", "populate", strings, "key", 44)  # the longest value that lies in one block with its object
    control.ask("eval", talk.script("redis-fill.lua"), 0, others)
    control.ask("select", 5)
    control.ask("set", "elsewhere", "a second database", "ex", 86400)
    control.ask("select", 0)
    control.ask("function", "load", "#!lua name=corpus\nredis.register_function('answer', function() return 42 end)")
    control.ask("script", "load", 'return redis.call("GET", KEYS[1])')
    control.ask("acl", "setuser", "reader", "on", "nopass", "~key:*", "+@read")
    fill_lists(control)


def fill_lists(control):
    """Lists whose inner nodes are compressed, and lists of elements too large for a listpack."""
    control.ask("config", "set", "list-compress-depth", 1)
    control.ask("debug", "quicklist-packed-threshold", "2kb")
    for i in range(1, 6):
        control.ask("rpush", "compressed:%d" % i, *["row %d of %d; " % (j, i) * 40 for j in range(1, 61)])
        control.ask("rpush", "plain:%d" % i, *["element %d " % j * 300 for j in range(1, 4)])
    control.ask("debug", "quicklist-packed-threshold", 0)
    control.ask("config", "set", "list-compress-depth", 0)


def grow(control, account):
    """A database whose table grows, and goes on with each command that looks into it: one key too many, and then hardly a command."""
    control.ask("select", 3)
    for i in range(1, GROWN + 1):
        control.ask("set", "grown:%d" % i, "value %d" % i)
    account.add_keys(3)
    control.ask("select", 3)
    control.ask("set", "grown:%d" % (GROWN + 1), "value %d" % (GROWN + 1))
    control.ask("select", 0)
    account.add_keys(3, ["grown:%d" % (GROWN + 1)])


def grows(control):
    return "rehashing target" in control.ask("debug", "htstats", 3)


def start_readers(path, count):
    """A process that reads at full speed on so many connections, until the server is gone."""
    pid = os.fork()
    if pid:
        return pid
    try:
        connections = [talk.Connection(path, "reader") for _ in range(count)]
        by_file = {one.socket.fileno(): one for one in connections}
        poll = select.poll()
        for one in connections:
            poll.register(one.socket, select.POLLIN)
            one.send(("get", "key:7"), ("lrange", "list:10", 0, 50))
        while True:
            for number, _ in poll.poll():
                one = by_file[number]
                one.answer()
                one.answer()
                one.send(("get", "key:7"), ("lrange", "list:10", 0, 50))
    except OSError:
        os._exit(0)
    finally:
        os._exit(1)


def reads(row):
    return row["name"] == "reader"


def strangers(rows, readers, held):
    """Clients that are not where they belong. Those that read have begun to."""
    names, wanted = sorted(row["name"] for row in rows), sorted([name for name in STAND if name != "held"] + ["held"] * held + ["reader"] * readers)
    if names != wanted:
        return [names, wanted]
    return [row for row in rows if not (row["cmd"] in ("get", "lrange") if reads(row) else STAND[row["name"]](row))]


def settle(control, readers, held=HELD):
    talk.settled(control, lambda rows: strangers(rows, readers, held), reads)


def place(control, path, readers):
    """The clients, brought to their states; they are returned so that they stay."""
    made = [talk.Connection(path, name) for name in SAY]
    for one, commands in zip(made, SAY.values()):
        one.send(*commands)
    half = talk.Connection(path, "half")
    half.socket.sendall(HALF)
    made += [half, talk.deaf(path)]
    settle(control, readers, 0)
    # Longer than all that follows.
    control.ask("client", "pause", 3600000, "write")
    held = [talk.Connection(path, "held") for _ in range(HELD)]
    for number, one in enumerate(held):
        one.send(*(WRITES[number:] + WRITES[:number])[:4])
    settle(control, readers)
    return made + held


def finish(control, account, readers):
    """The rest of the account, of the state that the core will have."""
    account.add_config()
    for database in (0, 5):
        account.add_keys(database, limit=NAMED)
    settle(control, readers)
    if not grows(control):
        raise RuntimeError("the table of database 3 no longer grows")
    account.finish([0, 3, 5])
    blocked = talk.parse_info(account.files["info.txt"])["blocked_clients"]
    if int(blocked) != HELD + 1:
        raise RuntimeError("%s clients are blocked" % blocked)


def main():
    path, directory = sys.argv[1:3]
    strings, others, readers = map(int, sys.argv[3:])
    control = talk.connected(path)
    control.socket.settimeout(600)
    control.ask("client", "setname", "control")
    account = talk.Account(control)
    fill(control, strings, others)
    talk.slow_commands(control)
    reader = start_readers(path, readers) if readers else None
    talk.counted(control)
    talk.halt(control)
    grow(control, account)
    clients = place(control, path, readers)
    finish(control, account, readers)
    account.write(directory)
    try:
        print(control.ask("debug", "segfault"))
        return "redis-server goes on"
    except ConnectionError:
        return 0
    finally:
        del clients
        if reader:
            os.kill(reader, signal.SIGTERM)
            os.waitpid(reader, 0)


if __name__ == "__main__":
    sys.exit(main())
