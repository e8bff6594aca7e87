"""drive PORT: asks the proxy for a page, with a Connection header that names itself and goes on for 200 KiB over several lines."""

import socket
import sys
import time


def connect(port):
    for _ in range(200):
        try:
            return socket.create_connection(("127.0.0.1", port), 10)
        except ConnectionRefusedError:
            time.sleep(0.05)
    sys.exit("the proxy does not listen")


with socket.create_server(("127.0.0.1", 0)) as backend, connect(int(sys.argv[1])) as client:
    lines = "".join("\r\n %s," % ("close" * 10000) for _ in range(4))
    page = "http://127.0.0.1:%d/" % backend.getsockname()[1]
    client.sendall(("GET %s HTTP/1.0\r\nConnection: Connection,%s\r\n\r\n" % (page, lines)).encode())
    try:
        client.recv(1)
    except OSError:
        pass
