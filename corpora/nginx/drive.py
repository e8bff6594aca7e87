"""What happens around the nginx of build-nginx: a backend that answers only what it must, and clients whose requests stay in flight.

Every request that is left waiting is a row of the account: id, method, uri, kind, the client's port (which is the peer's of nginx's
connection), the port that it came to (the kernel gives one client port to connections that lead to two ports) and the state that it waits
in. set_up() returns when the worker has told that all of them are in these states."""

import fcntl
import json
import re
import socket
import ssl
import struct
import threading
import time

PATIENCE = 200  # seconds; a machine may do much else
LOWEST = 64  # descriptor that is handed over
SPENT = 10  # requests before those that limit_req delays, each of which adds a minute to the delay of the next ones
# The function that each kind of Lua request waits in, by the id's beginning; the others sleep.
WAITS_IN = {"threads": "wait", "capture": "capture", "cosocket": "receive", "body": "read_body", "print": "flush"}
LIGHT_THREADS, RUNNING_TIMERS = 3, 2  # of a request with threads; of the worker (world.lua)


def until(claim, what, patience=PATIENCE):
    """Polls until claim() gives nothing that is missing; the last that it gave is in the error."""
    end = time.monotonic() + patience
    while missing := claim():
        if time.monotonic() > end:
            raise RuntimeError("%s: %s" % (what, missing))
        time.sleep(0.01)


class Ports:
    """Sockets that listen on loopback, for nginx to take over: no other process can have their ports in between. A dead port is bound and
    nobody listens there."""

    def __init__(self, names, dead=()):
        made = {name: socket.create_server(("127.0.0.1", 0)) for name in names}
        # Shells in between use low descriptors themselves.
        self.held = {name: socket.socket(fileno=fcntl.fcntl(one.fileno(), fcntl.F_DUPFD_CLOEXEC, LOWEST)) for name, one in made.items()}
        for one in made.values():
            one.close()
        self.dead = {name: socket.socket() for name in dead}
        for one in self.dead.values():
            one.bind(("127.0.0.1", 0))
        self.numbers = {name: one.getsockname()[1] for name, one in {**self.held, **self.dead}.items()}

    def descriptors(self):
        return [one.fileno() for one in self.held.values()]

    def environment(self):
        """How an nginx tells the one that follows it which sockets it inherits."""
        return {"NGINX": "".join("%d;" % one for one in self.descriptors())}

    def hand_over(self):
        """Whoever took them over has them alone: when it ends, clients are refused."""
        for one in self.held.values():
            one.close()

    def close(self):
        for one in [*self.held.values(), *self.dead.values()]:
            one.close()


def at_rest(pid):
    """The process sleeps. An nginx of which all clients have their answers, or wait, is woken by nobody then."""
    with open("/proc/%d/stat" % pid, encoding="utf-8", errors="replace") as stream:
        return stream.read().rpartition(")")[2].split()[0] == "S"


ANSWERED = (b"GET /fast/", b"GET /cached/", b"GET /spent/")


class Backend:
    """Answers these at once and PING lines with PONG, and nothing else, ever."""

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
                if not line.startswith(ANSWERED):
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
    """Requests to nginx of this version at these ports; what waits is in rows."""

    def __init__(self, ports, version):
        self.ports, self.version, self.rows, self.kept = ports, tuple(map(int, version.partition("-")[0].split("."))), [], []

    def connect(self, port="http", sources=()):
        """From the first of these ports of the client's that can be had, else from any; one connection of each other port of nginx's may
        come from there, too."""
        for source in sources:
            try:
                return self.connect_from(source, port)
            except OSError:  # others have it, or a connection leads from there to the same port of nginx's
                pass
        return self.connect_from(0, port)

    def connect_from(self, source, port):
        connection = socket.socket()
        try:
            connection.settimeout(PATIENCE)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if source:
                connection.bind(("127.0.0.1", source))
            connection.connect(("127.0.0.1", self.ports[port]))
        except OSError:
            connection.close()
            raise
        self.kept.append(connection)
        return connection

    def ask(self, path):
        """The body of the answer to a request; of HTTP/1.0, so that it is not in chunks. The connection is closed."""
        with socket.create_connection(("127.0.0.1", self.ports["http"]), PATIENCE) as connection:
            connection.sendall(("GET %s HTTP/1.0\r\nHost: corpus\r\n\r\n" % path).encode())
            answer = b""
            while data := connection.recv(65536):
                answer += data
        return answer.partition(b"\r\n\r\n")[2].decode()

    def row(self, connection, kind, uri=None, method="GET", **more):
        self.rows.append({"what": "request" if uri else "connection", "kind": kind, "method": method if uri else None, "uri": uri,
                          "client_port": connection.getsockname()[1], "port": connection.getpeername()[1], **more})

    def leave(self, kind, uri, head="", method="GET", body=b"", sources=(), **more):
        """A request that is sent and stays."""
        connection = self.connect(sources=sources)
        self.row(connection, kind, uri, method, **more)  # whoever dies of the request is no peer afterwards
        connection.sendall(("%s %s HTTP/1.1\r\nHost: corpus\r\nUser-Agent: drive/1\r\n%s\r\n" % (method, uri, head)).encode() + body)
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
        for number in range(4):  # the first goes on to the backend, the others wait for some minutes
            self.leave("limit_req delays" if number else "upstream", "/delayed/%d?id=delayed-%d&key=req" % (number, number), id="delayed-%d" % number)
            for spent in range(0 if number else SPENT):
                self.ask("/spent/%d?key=req" % spent)

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

    def ports_of(self, kind):
        """The client's ports of connections of a kind. By such a port alone a connection from there to another port of nginx's cannot be told
        from the first: what the kernel does now and then is always so here."""
        return [row["client_port"] for row in self.rows if row["kind"] == kind]

    def leave_tls(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        connection = context.wrap_socket(self.connect("tls", self.ports_of("lua sleep")), server_hostname="corpus")
        self.kept[-1] = connection
        connection.sendall(b"GET /lua/sleep?id=tls-0 HTTP/1.1\r\nHost: corpus\r\n\r\n")
        self.row(connection, "lua sleep over tls", "/lua/sleep?id=tls-0", id="tls-0")

    def leave_stream(self):
        connection = self.connect("stream", self.ports_of("lua sleep"))
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
        if self.ask("/plant") != "planted\n":
            raise RuntimeError("nginx could not plant its sockets")
        self.leave_lua()
        self.leave_plain()
        self.leave_unfinished()
        self.leave_tls()
        self.leave_stream()
        self.leave_http2()

    # ---- has nginx got them? ----

    def missing_in_lua(self):
        """Coroutines that do not yet wait in the function that they shall wait in, by what the worker says."""
        wanted = {"running timer %d" % (number + 1): "sleep" for number in range(RUNNING_TIMERS)}
        for row in self.rows:
            if row["kind"].startswith("lua"):
                kind = row["id"].rsplit("-", 1)[0]
                wanted[row["id"]] = WAITS_IN.get(kind, "sleep")
                wanted.update({"thread %d of %s" % (number + 1, row["id"]): "sleep" for number in range(LIGHT_THREADS if kind == "threads" else 0)})
        told = dict(line.split("\t") for line in self.ask("/waiting").splitlines())
        return {name: told.get(name) for name, function in wanted.items() if told.get(name) != function}

    def missing_in_nginx(self):
        """Connections and requests that nginx does not yet count, itself not; the one that asks is left out."""
        active, reading, writing, waiting = map(int, re.findall(r"(?:Active connections|Reading|Writing|Waiting): (\d+)", self.ask("/status")))
        count = {kind: len([row for row in self.rows if row["kind"] == kind]) for kind in ("header incomplete", "accepted, nothing sent", "keepalive")}
        http2 = len({row["client_port"] for row in self.rows if "stream" in row}) if self.version < (1, 19, 7) else 0  # they wait, too, there
        told = {"active": active - 1, "reading": reading, "writing": writing - 1, "waiting": waiting}
        wanted = {"active": len(self.kept), "reading": count["header incomplete"], "writing": self.requests(),
                  "waiting": count["accepted, nothing sent"] + count["keepalive"] + http2}
        return {name: (told[name], number) for name, number in wanted.items() if told[name] != number}

    def requests(self):
        """That nginx works for; those whose header is not complete are none yet."""
        return len([row for row in self.rows if row["uri"] and row["kind"] != "header incomplete"])

    def kill(self, uri):
        """Sends the request that the worker dies of."""
        self.leave("dies", uri, sources=self.ports_of("http2 upstream") + self.ports_of("stream session"), id="crash-0")


def missing_at_backend(backend, rows):
    """Lines that have not come to the backend yet, or that nobody wants."""
    wanted = ["WAIT stream"] + ["WAIT " + row["id"] for row in rows if row["kind"] == "lua cosocket"]
    wanted += ["GET %s HTTP/1.1" % row["uri"] for row in rows if row["kind"] in ("upstream", "limit_conn", "http2 upstream")]
    wanted += ["GET /upstream/captured?id=%s HTTP/1.1" % row["id"] for row in rows if row["kind"] == "lua capture"]
    came = list(backend.waiting)
    return sorted(set(wanted) ^ set(came)) + ([] if len(came) == len(set(came)) else ["some came twice"])


def set_up(clients, backend, worker):
    """Leaves everything that waits, and returns when it does: the backend has what it shall get, the worker says of Lua and of connections
    that they wait as they shall, and sleeps."""
    clients.leave_all()
    until(lambda: missing_at_backend(backend, clients.rows), "the backend misses")
    until(clients.missing_in_lua, "these do not wait in Lua")
    until(clients.missing_in_nginx, "nginx counts others")
    until(lambda: not at_rest(worker), "the worker does not come to rest")


def write_rows(path, rows):
    with open(path, "a", encoding="utf-8") as stream:
        for row in rows:
            stream.write(json.dumps(row) + "\n")
