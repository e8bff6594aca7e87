"""drive PORT BACKEND-PORT: asks the server for a websocket of a version that is no number; the backend is there, and is told nothing."""

import socket
import sys
import time

REQUEST = (b"GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
           b"Sec-WebSocket-Version: x\r\n\r\n")


def connect(port):
    for _ in range(200):
        try:
            return socket.create_connection(("127.0.0.1", port), 5)
        except ConnectionRefusedError:
            time.sleep(0.05)
    sys.exit("the server does not listen")


with socket.create_server(("127.0.0.1", int(sys.argv[2]))), connect(int(sys.argv[1])) as client:
    client.sendall(REQUEST)
    client.settimeout(5)
    try:
        while client.recv(4096):
            pass
    except OSError:
        pass
