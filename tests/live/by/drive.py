#!/usr/bin/env python3
"""drive.py PORT SECONDS PATH…: a client for each path that asks for it again and again, for so long.
drive.py --in-turn PORT SECONDS PID PATH…: one client that asks for each path twice in turn, and prints what process PID has
spent in these times, in nanoseconds of CPU time as the kernel counts them. Turns are short: a profile may begin and end
within one."""

import http.client
import sys
import threading
import time


def ask(connection, path):
    connection.request("GET", path, headers={"Accept-Encoding": "gzip"})
    return len(connection.getresponse().read())


def client(port, until, path):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    while time.monotonic() < until:
        ask(connection, path)


def spent(pid):
    with open("/proc/%s/schedstat" % pid, encoding="ascii") as file:
        return int(file.read().split()[0])


def in_turn(port, until, pid, paths):
    connection, sums = http.client.HTTPConnection("127.0.0.1", port), dict.fromkeys(paths, 0)
    while time.monotonic() < until:
        for path in paths:
            before = spent(pid)
            for _ in range(2):
                ask(connection, path)
            sums[path] += spent(pid) - before
    for path, ns in sums.items():
        print(path, ns)


def main(words):
    turns = words[0] == "--in-turn"
    port, until = int(words[turns]), time.monotonic() + float(words[turns + 1])
    if turns:
        in_turn(port, until, words[3], words[4:])
        return
    clients = [threading.Thread(target=client, args=(port, until, path)) for path in words[2:]]
    for one in clients:
        one.start()
    for one in clients:
        one.join()


main(sys.argv[1:])
