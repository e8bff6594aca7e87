"""A running nginx of corpora/build-nginx with its clients, for cores and for tests of living workers. Loopback only; what is started is
ended by pid."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

FOLDER = os.path.dirname(os.path.abspath(__file__))
CORPORA = os.path.dirname(FOLDER)
sys.path.append(CORPORA)
import drive  # noqa: E402  pylint: disable=wrong-import-position
from builder import Skip  # noqa: E402  pylint: disable=wrong-import-position


class Server:
    """A built nginx: its files, as nginx/server left them. only_where: a RuntimeError unless it is built."""

    known = {}  # by name and whether they may be built; or why there is none: asking again takes its time

    def __init__(self, name, only_where):
        words = [os.path.join(FOLDER, "server")] + (["--where"] if only_where else []) + [name]
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        said = done.stderr.decode(errors="replace")
        if done.returncode == 3:
            raise Skip(said.strip().splitlines()[-1])
        if done.returncode != 0:
            raise RuntimeError("server %s: %s" % (name, said[-2000:]))
        self.key = os.path.basename(done.stdout.decode().strip())
        self.folder = os.path.join(done.stdout.decode().strip(), "build")
        self.nginx, self.stripped = self.path("nginx"), self.path("nginx-stripped")
        self.inside = os.path.realpath(os.path.join(self.text("luajit"), "inside.so"))
        self.environment = dict(line.split("=", 1) for line in self.text("environment").splitlines())

    @classmethod
    def get(cls, name, only_where=False):
        if (name, only_where) not in cls.known:
            try:
                cls.known[name, only_where] = cls(name, only_where)
            except (Skip, RuntimeError) as why:
                cls.known[name, only_where] = why
        found = cls.known[name, only_where]
        if isinstance(found, Exception):
            raise found
        return found

    def path(self, name):
        return os.path.join(self.folder, name)

    def text(self, name):
        with open(self.path(name), encoding="utf-8") as stream:
            return stream.read().strip()

    def paths(self):
        """Where its modules write, as nginx.conf has it."""
        return " ".join("%s_temp_path %s;" % (name, name) for name in self.text("writers").split())


def worker_of(master):
    """The first child of a master is its worker."""
    with open("/proc/%d/task/%d/children" % (master, master), encoding="utf-8") as stream:
        return int(stream.read().split()[0])


def user():
    """As nginx.conf has it: the workers are who started the master."""
    return "user root;" if os.getuid() == 0 else ""


def lua_string(text):
    return '"%s"' % re.sub(r'[\\"\n]', lambda found: {"\n": r"\n"}.get(found[0], "\\" + found[0]), text)


def certificate(folder):
    """key.pem and cert.pem in the folder."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=corpus", "-days",
                    "3650", "-keyout", os.path.join(folder, "key.pem"), "-out", os.path.join(folder, "cert.pem")], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Run:
    """One nginx with its clients, in a folder of its own; a context manager that ends what it started."""

    def __init__(self, case, server, directory):
        self.case, self.server, self.directory = case, server, directory
        self.folder, self.begun = tempfile.mkdtemp(prefix="xcore-nginx."), time.monotonic()
        self.backend, self.started = drive.Backend(), []
        self.sockets = drive.Ports(("http", "http2", "tls", "stream"))
        self.ports = self.sockets.numbers
        self.clients = drive.Clients(self.ports, server.text("version"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for connection in self.clients.kept:
            connection.close()
        self.sockets.close()
        self.stop_nginx()
        for process in self.started:
            process.terminate()
            process.wait(drive.PATIENCE)
        shutil.rmtree(self.folder, ignore_errors=True)

    def file(self, name):
        return os.path.join(self.folder, name)

    def configure(self):
        """nginx.conf, kept in the directory of the case. No name of a folder of ours is in it that is not a string of Lua's."""
        certificate(self.folder)
        words = {"MODULES": self.server.text("modules"), "USER": user(), "BACKEND": self.backend.port, "LUA": self.server.text("lua"),
                 "APP": lua_string(self.app()), "CASE": lua_string(self.directory), "INSIDE": lua_string(self.server.inside),
                 "THOUSANDS": self.case.thousands, "PATHS": self.server.paths(), "TELL": lua_string(os.path.join(CORPORA, "luajit", "tell.lua")),
                 "PORT": self.ports["http"], "HTTP2": self.ports["http2"], "TLS": self.ports["tls"], "STREAM": self.ports["stream"]}
        with open(os.path.join(FOLDER, "world.conf"), encoding="utf-8") as stream:
            text = stream.read()
        for word, value in words.items():
            text = text.replace("@%s@" % word, str(value))
        for folder in (self.directory, self.folder):
            with open(os.path.join(folder, "nginx.conf"), "w", encoding="utf-8", errors="surrogateescape") as stream:
                stream.write(self.edited(text))

    def app(self):
        """The application."""
        return os.path.join(FOLDER, "world.lua")

    def edited(self, text):
        """For those who want nginx.conf otherwise."""
        return text

    def start(self, prefix):
        """Starts the master, behind prefix, and waits until its worker answers."""
        self.configure()
        argv = prefix + [self.server.nginx, "-p", self.folder, "-c", "nginx.conf"]
        with open(self.file("stderr"), "wb") as stderr:
            self.started.append(subprocess.Popen(argv, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stderr,
                                                 pass_fds=self.sockets.descriptors(),
                                                 env={**os.environ, **self.server.environment, **self.sockets.environment()}))
        self.sockets.hand_over()
        try:
            answer = self.clients.ask("/ping")
        except OSError as why:
            answer = repr(why)
        if answer != "pong\n":
            raise RuntimeError("nginx does not answer, but %s: %s" % (answer, self.said()))

    def said(self):
        """The end of its error log, or of what it wrote before it had one."""
        for name in ("error.log", "stderr"):
            try:
                with open(self.file(name), encoding="utf-8", errors="replace") as stream:
                    return stream.read()[-1500:]
            except OSError:
                continue
        return "no error log"

    def master(self):
        with open(self.file("nginx.pid"), encoding="utf-8") as stream:
            return int(stream.read())

    def worker(self):
        return worker_of(self.master())

    def rest(self):
        drive.until(lambda: not drive.at_rest(self.worker()), "nginx does not come to rest")

    def tell_account(self):
        """The worker writes its account; at the end it waits for events again."""
        if self.clients.ask("/account") != "told\n":
            raise RuntimeError("no account: " + self.said())
        self.rest()

    def stop_nginx(self):
        try:
            os.kill(self.master(), signal.SIGTERM)
        except (OSError, ValueError):
            pass

    def seconds(self):
        """Since nothing was there yet."""
        return time.monotonic() - self.begun

    def set_up(self):
        """Everything that waits; what it is goes to the account."""
        worker = self.worker()
        try:
            drive.set_up(self.clients, self.backend, worker)
        except (RuntimeError, OSError) as why:
            raise RuntimeError("%s; %s" % (why, self.said())) from why
        drive.write_rows(os.path.join(self.directory, "account.jsonl"), self.clients.rows + [
            {"what": "backend", "port": self.backend.port, "unanswered": sorted(self.backend.waiting)},
            {"what": "ports", **self.ports}, {"what": "cached", "count": 12}, {"what": "spent", "count": drive.SPENT},
            {"what": "workers", "pid": worker, "master": self.master()}])
