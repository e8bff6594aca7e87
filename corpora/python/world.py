"""world.py STATE ACCOUNT OBJECTS: a Python program with threads, callbacks, generators and known objects. It writes down what it is, from
inside, and dies in STATE: `crash` reads address 0 below callbacks, `idle` has all of its threads waiting, `serve` goes on."""

import collections
import ctypes
import functools
import gc
import json
import os
import re
import signal
import sys
import threading
import time

SIMPLE = (int, str, float, bool, bytes, type(None))
GRÖSSE = "straße \u65e5\u672c \U0001f600"


class Plain:
    """Attributes in an instance dictionary, or in what stands for one."""

    def __init__(self, number):
        self.number, self.label, self.peers = number, "plain %d" % number, []


class Slotted:
    __slots__ = ("name", "balance")

    def __init__(self, name, balance):
        self.name, self.balance = name, balance

    def __lt__(self, other):
        return compare(self, other)


class Holder:
    """What the tests ask for the referrers of."""

    def __init__(self, held):
        self.held = held


class Strange(dict):
    extra = 3


# ---- the account ----

def frame_of(frame):
    code = frame.f_code
    known = {}
    # The frame of a module or class has no locals of its own: asking would make the dictionary that it has anyway.
    if code.co_flags & 2:
        known = {name: repr(value) for name, value in frame.f_locals.items() if type(value) in SIMPLE and len(repr(value)) < 60}
    return {"file": code.co_filename, "name": getattr(code, "co_qualname", code.co_name), "line": frame.f_lineno, "locals": known,
            "names": sorted(frame.f_locals) if code.co_flags & 2 else []}


def stack_of(frame):
    frames = []
    while frame:
        frames.append(frame_of(frame))
        frame = frame.f_back
    return frames


def tell_threads(skip):
    names = {thread.ident: (thread.name, thread.native_id) for thread in threading.enumerate()}
    stacks = []
    for ident, frame in sys._current_frames().items():
        frames = stack_of(frame)
        if ident == threading.get_ident():
            frames = frames[skip:]
        stacks.append({"ident": ident, "name": names[ident][0], "tid": names[ident][1], "frames": frames})
    return stacks


def tell():
    """Everything but the objects: those come last, when nothing more is made."""
    account = {"version": list(sys.version_info[:3]), "pid": os.getpid(), "threads": tell_threads(2), "tid": threading.get_native_id(),
               "modules": {name: "%#x" % id(module) for name, module in sys.modules.items()}, "kept": {name: "%#x" % id(value) for name, value in KEPT.items()},
               "referrers": {name: ["%#x" % id(o) for o in gc.get_referrers(value) if not hasattr(o, "f_code")] for name, value in KEPT.items()}}
    with open(sys.argv[2], "w", encoding="utf-8") as stream:
        json.dump(account, stream, indent=1)
    account = stream = None
    gc.collect()
    out = os.open(sys.argv[3], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    every = gc.get_objects()
    for one in every:
        kind = type(one)
        line = b"%x %s %d %d\n" % (id(one), kind.__name__.encode(), sys.getsizeof(one), len(gc.get_referents(one)))
        while line:
            line = line[os.write(out, line):]
    os.close(out)


def last_read(address):
    return tell() or len(ctypes.string_at(address)) > 0  # the end: both on one line


def compare(left, right):
    if left.name == "name7" and ARMED:
        return last_read(left.balance)
    return left.balance < right.balance


# ---- threads ----

def wait_in_lock(lock):
    word = "in a lock"
    with lock:
        return word


def wait_in_condition(condition):
    with condition:
        condition.wait()


def sleep_long(seconds):
    time.sleep(seconds)


def spin(stop):
    count = 0
    while not stop.is_set():
        count += len(json.dumps({"count": count, "words": ["a"] * 50}))


def handle(number):
    """An exception is being handled, and a generator is suspended below a loop of C."""
    try:
        {}[number]
    except KeyError as problem:
        seen = str(problem)
        for value in numbers(number):
            if value == 3:
                wait_in_lock(LOCK)
        return seen


def numbers(limit):
    held = "in a generator"
    for value in range(limit):
        yield value
    return held


def pull(source):
    """A generator that waits: its frame stands in the generator."""
    total = sum(source)
    return total


def slow(limit):
    for value in range(limit):
        if value == 2:
            LOCK.acquire()
        yield value


# The functions that threads wait in.
ENDS = {"wait_in_lock": "wait_in_lock", "wait_in_condition": "wait", "sleep_long": "sleep_long", "handle": "wait_in_lock", "pull": "slow"}


def has_come(thread):
    return ENDS.get(thread.name) in (None, sys._current_frames()[thread.ident].f_code.co_name)


def start_threads(busy):
    LOCK.acquire()
    stop, condition = threading.Event(), threading.Condition()
    todo = [(wait_in_lock, (LOCK,)), (wait_in_condition, (condition,)), (sleep_long, (600,)), (handle, (10,)), (pull, (slow(9),))]
    if busy:
        todo.append((spin, (stop,)))
    threads = [threading.Thread(target=target, args=args, daemon=True, name=target.__name__) for target, args in todo]
    for thread in threads:
        thread.start()
    while not all(has_come(thread) for thread in threads):
        time.sleep(0.05)
    time.sleep(0.3)
    return condition, stop


# ---- objects ----

def make_objects(count):
    plain = [Plain(i) for i in range(count)]
    for one, other in zip(plain, plain[1:]):
        one.peers.append(other)
    big = list(range(count * 10))
    odd = Plain(-1)
    odd.__dict__["späte"] = Strange(a=1)
    del odd.label
    suspended = numbers(5)
    next(suspended)
    return {"plain": plain, "big": big, "odd": odd, "set": {frozenset((i, "x")) for i in range(50)}, "text": GRÖSSE * 1000,
            "holder": Holder(plain[3]), "bytes": b"\x00\xff" * 50, "negative": -(10 ** 40), "small": -5, "real": 2.5,
            "tuple": (1, ("two", [3.0])), "deque": collections.deque(range(100)), "suspended": suspended, "partial": functools.partial(max, 3),
            "slotted": [Slotted("name%d" % i, 0 if i == 7 else (i * 7919) % 1000) for i in range(40)], "kind": Plain,
            "mixed": {1: "one", "two": 2, (3,): None}}


def rename(text, accounts):
    return re.sub(r"\{(\d+)\}", lambda match: sorted(accounts)[int(match.group(1))].name, text)


def descend(depth, accounts):
    if depth:
        return max(map(lambda left: descend(left, accounts), [depth - 1]), key=lambda value: value)
    return functools.reduce(lambda text, account: rename(text, accounts), accounts, "first {0}")


def end(parent, told):
    """Of the child: when the parent has told everything and sleeps, it dies."""
    while os.read(told, 1):
        while status_of(parent) != "S":
            time.sleep(0.05)
        time.sleep(0.3)
        os.kill(parent, signal.SIGABRT)
    os._exit(0)


def status_of(pid):
    with open("/proc/%d/stat" % pid, encoding="utf-8", errors="replace") as stream:
        return stream.read().rpartition(")")[2].split()[0]


LOCK, ARMED = threading.Lock(), set()
KEPT = {}


def main():
    state = sys.argv[1]
    gc.disable()
    sys.setrecursionlimit(10000)
    KEPT.update(make_objects(int(os.environ.get("WORLD_OBJECTS", "200"))))
    held = start_threads(state == "crash")
    if state == "crash":
        ARMED.add(True)
        descend(30, KEPT["slotted"])
    if state == "idle":
        told, ready = os.pipe()
        if os.fork() == 0:
            os.close(ready)
            end(os.getppid(), told)
        tell() or os.write(ready, b"!") and time.sleep(600)
    if state == "serve":
        tell() or print("ready", flush=True) or time.sleep(600)
    return held


main()
