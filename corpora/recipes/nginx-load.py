#!/usr/bin/env python3
"""Load for the nginx recipe: nginx-load.py PORT ping | nginx-load.py PORT crash ACCOUNT

ping asks once. crash keeps 48 connections busy for SECONDS, writes the server's own account of
itself to the file ACCOUNT and asks for /crash while the others go on. Loopback only.
"""

import asyncio
import sys

SECONDS = 3
CONNECTIONS = 48
TIMEOUT = 10
BODY = b"x" * 5000


def request(path, body=b""):
    method = "POST" if body else "GET"
    head = f"{method} {path} HTTP/1.1\r\nHost: corpus\r\nUser-Agent: load/1\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def read_answer(reader):
    """Headers and body, by Content-Length or in chunks."""
    head = await reader.readuntil(b"\r\n\r\n")
    fields = dict(line.lower().split(": ", 1) for line in head.decode().split("\r\n")[1:] if ": " in line)
    if "content-length" in fields:
        return await reader.readexactly(int(fields["content-length"]))
    body = b""
    while size := int(await reader.readuntil(b"\r\n"), 16):
        body += (await reader.readexactly(size + 2))[:-2]
    await reader.readexactly(2)
    return body


async def ask(port, path):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request(path))
    answer = await asyncio.wait_for(read_answer(reader), TIMEOUT)
    writer.close()
    return answer


def path_of(number):
    kinds = (f"/lookup?n={number}", "/threads", f"/user/name{number}", "/body", "/numbers.txt", f"/proxied/user/p{number}")
    return kinds[number % len(kinds)]


async def keep_busy(port, first, served):
    """Requests on one connection until the server goes away."""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for number in range(first, 10**9, CONNECTIONS + 1):
            path = path_of(number)
            writer.write(request(path, BODY if path == "/body" else b""))
            await asyncio.wait_for(read_answer(reader), TIMEOUT)
            served[0] += 1
    except (OSError, EOFError, asyncio.TimeoutError):
        pass


async def crash(port, account):
    served = [0]
    load = [asyncio.create_task(keep_busy(port, i, served)) for i in range(CONNECTIONS)]
    await asyncio.sleep(SECONDS)
    with open(account, "wb") as out:
        out.write(await ask(port, "/status"))
        out.write(await ask(port, "/account"))
        out.write(f"served {served[0]}\n".encode())
    alive = sum(not task.done() for task in load)
    if alive < CONNECTIONS:
        sys.exit(f"only {alive} of {CONNECTIONS} connections are still served")
    try:
        await ask(port, "/crash")
        sys.exit("the server answered /crash")
    except (OSError, EOFError):
        pass
    for task in load:
        task.cancel()


def main():
    port = int(sys.argv[1])
    if sys.argv[2] == "ping":
        sys.exit(asyncio.run(ask(port, "/ping")) != b"pong\n")
    asyncio.run(crash(port, sys.argv[3]))


main()
