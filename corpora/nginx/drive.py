"""What happens around the nginx of build-nginx: a backend that answers only what it must, and clients whose requests stay in flight.

Every request that is left waiting is a row of the account: id, method, uri, kind, the client's port (which is the peer's of nginx's
connection) and the state that it waits in."""

import json
import socket
import ssl
import struct
import threading
import time

PATIENCE = 20


class Backend:
    """Answers /fast/ and /cached/ at once and PING lines with PONG, and nothing else, ever."""

    def __init__(self):
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        self.waiting = []  # the first lines of what is not answered
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            connection, _ = self.listening.accept()
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        stream = connection.makefile("rwb", buffering=0)
        try:
            while line := stream.readline():
                if line == b"PING\n":
                    stream.write(b"PONG\n")
                    continue
                while b" HTTP/1." in line and stream.readline().strip():
                    pass
                if not line.startswith((b"GET /fast/", b"GET /cached/")):
                    self.waiting.append(line.decode().strip())
                    continue
                stream.write(b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nanswer\n")
        except OSError:
            pass


def frame(kind, flags, stream, payload):
    """An HTTP/2 frame; of kind 1, HEADERS, the flags 1 and 4 say that neither a body nor more headers follow."""
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def header_block(path):
    """HPACK (RFC 7541): GET and http by index, :path and :authority as plain literals."""
    return b"\x82\x86\x04" + bytes([len(path)]) + path.encode() + b"\x01\x06corpus"


class Clients:
    """Requests to nginx at these ports; what waits is in rows."""

    def __init__(self, ports):
        self.ports, self.rows, self.kept = ports, [], []

    def connect(self, port="http"):
        connection = socket.create_connection(("127.0.0.1", self.ports[port]), PATIENCE)
        self.kept.append(connection)
        return connection

    def ask(self, path):
        """A request that is answered; the connection is closed."""
        with socket.create_connection(("127.0.0.1", self.ports["http"]), PATIENCE) as connection:
            connection.sendall(("GET %s HTTP/1.1\r\nHost: corpus\r\nConnection: close\r\n\r\n" % path).encode())
            answer = b""
            while data := connection.recv(65536):
                answer += data
        return answer.partition(b"\r\n\r\n")[2].decode()

    def row(self, connection, kind, uri=None, method="GET", **more):
        self.rows.append({"what": "request" if uri else "connection", "kind": kind, "method": method if uri else None, "uri": uri,
                          "client_port": connection.getsockname()[1], **more})

    def leave(self, kind, uri, head="", method="GET", body=b"", **more):
        """A request that is sent and stays."""
        connection = self.connect()
        connection.sendall(("%s %s HTTP/1.1\r\nHost: corpus\r\nUser-Agent: drive/1\r\n%s\r\n" % (method, uri, head)).encode() + body)
        self.row(connection, kind, uri, method, **more)
        return connection

    def leave_lua(self):
        for kind in ("sleep", "nested", "threads", "capture", "cosocket"):
            for number in range(4):
                self.leave("lua " + kind, "/lua/%s?id=%s-%d" % (kind, kind, number), id="%s-%d" % (kind, number))
        self.leave("lua access phase", "/access/sleep?id=access-0", id="access-0")
        self.leave("lua leaks into its pool", "/lua/leak?id=leak-0", id="leak-0", pool_bytes_at_least=1000 * 2000)
        self.leave("lua reads a body", "/lua/body?id=body-0", "Content-Length: 5000\r\n", "POST", b"b" * 3000, id="body-0", body_received=3000)
        self.leave("lua prints to one who does not read", "/lua/print?id=print-0", id="print-0")

    def leave_plain(self):
        for number in range(3):
            self.leave("upstream", "/upstream/%d?id=upstream-%d" % (number, number), id="upstream-%d" % number)
        for number in range(3):
            self.leave("limit_conn", "/counted/%d?id=counted-%d&key=conn" % (number, number), id="counted-%d" % number)
        for number in range(4):  # the first goes on to the backend, the others wait for their minute
            self.leave("limit_req delays" if number else "upstream", "/delayed/%d?id=delayed-%d&key=req" % (number, number), id="delayed-%d" % number)

    def leave_unfinished(self):
        silent = self.connect()
        self.row(silent, "accepted, nothing sent")
        partial = self.connect()
        partial.sendall(b"GET /never/finished?id=partial-0 HTTP/1.1\r\nHost: cor")
        self.row(partial, "header incomplete", "/never/finished?id=partial-0", id="partial-0")
        for _ in range(2):
            idle = self.connect()
            idle.sendall(b"GET /ping HTTP/1.1\r\nHost: corpus\r\n\r\n")
            idle.recv(65536)
            self.row(idle, "keepalive")

    def leave_tls(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        plain = socket.create_connection(("127.0.0.1", self.ports["tls"]), PATIENCE)
        connection = context.wrap_socket(plain, server_hostname="corpus")
        self.kept.append(connection)
        connection.sendall(b"GET /lua/sleep?id=tls-0 HTTP/1.1\r\nHost: corpus\r\n\r\n")
        self.row(connection, "lua sleep over tls", "/lua/sleep?id=tls-0", id="tls-0")

    def leave_stream(self):
        connection = self.connect("stream")
        connection.sendall(b"WAIT stream\n")
        self.row(connection, "stream session")

    def leave_http2(self):
        """Three streams of one connection (RFC 9113): preface, empty SETTINGS, and HEADERS that end their stream."""
        connection = self.connect("http2")
        sent = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, b"")
        for number, uri in enumerate(["/lua/sleep?id=h2-0", "/lua/sleep?id=h2-1", "/upstream/h2?id=h2-2"]):
            sent += frame(1, 5, 2 * number + 1, header_block(uri))
            self.row(connection, "http2 upstream" if "upstream" in uri else "lua sleep over http2", uri, id="h2-%d" % number,
                     stream=2 * number + 1)
        connection.sendall(sent)

    def leave_all(self):
        """Everything that waits."""
        for number in range(12):
            self.ask("/cached/%d" % number)
        for number in range(3):
            self.ask("/fast/%d" % number)
        if self.ask("/plant").strip().splitlines()[-1:] == []:
            raise RuntimeError("nginx could not plant its sockets")
        self.leave_lua()
        self.leave_plain()
        self.leave_unfinished()
        self.leave_tls()
        self.leave_stream()
        self.leave_http2()


def settle(backend, wanted):
    """Waits until the backend has as many requests that it leaves waiting, and a little longer."""
    for _ in range(PATIENCE * 20):
        if len(backend.waiting) >= wanted:
            break
        time.sleep(0.05)
    else:
        raise RuntimeError("%d of %d requests have come to the backend" % (len(backend.waiting), wanted))
    time.sleep(1)
    return backend.waiting


def write_rows(path, rows):
    with open(path, "a", encoding="utf-8") as stream:
        for row in rows:
            stream.write(json.dumps(row) + "\n")
