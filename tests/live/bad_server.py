#!/usr/bin/env python3
"""An HTTP server on loopback that misbehaves as no debuginfod server would: bad_server.py KIND [FILE]. Prints its
address."""
import socket
import sys
import threading
import time

KIND = sys.argv[1]
CONTENT = open(sys.argv[2], "rb").read() if len(sys.argv) > 2 else b"\x7fELF" + bytes(range(256)) * 64


def head(status, length):
    return f"HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n".encode()


def answer(peer):
    peer.recv(65536)
    if KIND == "silent":
        time.sleep(600)
    elif KIND == "stall":
        peer.sendall(head("200 OK", 1 << 20) + CONTENT[:1000])
        time.sleep(600)
    elif KIND == "slow":
        peer.sendall(head("200 OK", len(CONTENT)))
        for at in range(0, len(CONTENT), len(CONTENT) // 15 + 1):
            peer.sendall(CONTENT[at:at + len(CONTENT) // 15 + 1])
            time.sleep(0.1)
    elif KIND == "empty":
        peer.sendall(head("200 OK", 0))
    elif KIND == "error":
        peer.sendall(head("500 Internal Server Error", 3) + b"no\n")
    else:  # garbage, file
        peer.sendall(head("200 OK", len(CONTENT)) + CONTENT)
    peer.close()


listener = socket.create_server(("127.0.0.1", 0))
print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
while True:
    threading.Thread(target=answer, args=(listener.accept()[0],), daemon=True).start()
