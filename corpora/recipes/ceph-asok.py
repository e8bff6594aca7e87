#!/usr/bin/env python3
"""ceph-asok.py SOCKET PREFIX: one command to a ceph daemon's admin socket; its answer on stdout.

The protocol (ceph, src/common/admin_socket.cc, 16.2): a JSON object ended by a NUL; four bytes of
length, big-endian, and the answer.
"""

import json
import socket
import struct
import sys


def receive(stream, count):
    data = b""
    while len(data) < count:
        part = stream.recv(count - len(data))
        if not part:
            sys.exit("ceph-asok: the daemon closed the socket")
        data += part
    return data


with socket.socket(socket.AF_UNIX) as stream:
    stream.connect(sys.argv[1])
    stream.sendall(json.dumps({"prefix": sys.argv[2]}).encode() + b"\0")
    (length,) = struct.unpack(">I", receive(stream, 4))
    print(receive(stream, length).decode(errors="replace"))
