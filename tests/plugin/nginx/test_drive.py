"""test_drive: the clients of corpora/nginx/drive.py connect, whatever happened to the port that they would like to come from."""

import os
import socket
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "..", "corpora", "nginx"), os.path.join(HERE, "..", "lib")]
import drive  # noqa: E402  pylint: disable=wrong-import-position
import plan  # noqa: E402  pylint: disable=wrong-import-position


class World:
    """Two servers that listen, and clients of both."""

    def __init__(self):
        self.servers = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
        self.clients = drive.Clients(dict(zip(("http", "http2"), (one.getsockname()[1] for one in self.servers))), "1.22.1")


def port_of(connection):
    return connection.getsockname()[1]


def from_a_port_of_another_connection():
    world = World()
    clients = world.clients
    first = clients.connect("http2")
    assert port_of(clients.connect("http", [port_of(first)])) == port_of(first)


def a_connection_leads_from_there_to_the_same_port():
    world = World()
    clients = world.clients
    first = clients.connect("http")
    again = clients.connect("http", [port_of(first)])
    assert port_of(again) != port_of(first) and again.getpeername() == first.getpeername()
    assert clients.kept == [first, again]


def somebody_else_has_the_port():
    world = World()
    clients = world.clients
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        assert port_of(clients.connect("http", [port_of(other)])) != port_of(other)


def the_second_port_is_taken_when_the_first_cannot_be_had():
    world = World()
    clients = world.clients
    first, second = clients.connect("http"), clients.connect("http2")
    assert port_of(clients.connect("http", [port_of(first), port_of(second)])) == port_of(second)


def nobody_listens():
    world = World()
    for one in world.servers:
        one.close()
    try:
        world.clients.kill("/crash")
    except OSError:
        return
    raise AssertionError("a request that was never sent went unnoticed")


TESTS = [from_a_port_of_another_connection, a_connection_leads_from_there_to_the_same_port, somebody_else_has_the_port,
         the_second_port_is_taken_when_the_first_cannot_be_had, nobody_listens]
told = plan.Plan()
for test in TESTS:
    told.check(test.__name__.replace("_", " "), test)
sys.exit(told.end())
