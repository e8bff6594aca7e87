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

import stale

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


class Listed(list):
    """Words behind those of a list."""
    __slots__ = ("owner",)

    def __init__(self, owner):
        super().__init__()
        self.owner = owner


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


def tell_referrers():
    """What the collector finds; not the frames that are asking, and nothing is made that refers to what is asked for."""
    own, frame, told = set(), sys._getframe(), {}
    while frame:
        own.add(id(frame))
        frame = frame.f_back
    for name in list(KEPT):
        told[name] = []
        for one in gc.get_referrers(KEPT[name]):
            if id(one) not in own:
                told[name].append("%#x" % id(one))
    return told


def tell():
    """Everything but the objects: those come last, when nothing more is made."""
    account = {"version": list(sys.version_info[:3]), "pid": os.getpid(), "threads": tell_threads(2), "tid": threading.get_native_id(),
               "modules": {name: "%#x" % id(module) for name, module in sys.modules.items()},
               "kept": {name: "%#x" % id(value) for name, value in KEPT.items()},
               "referrers": tell_referrers(),
               "soiled": ["%s in %#x" % (name, id(one)) for one, name in SOILED if stale.has_word(one, id(KEPT[name]))]}
    with open(sys.argv[2], "w", encoding="utf-8") as stream:
        json.dump(account, stream, indent=1)
    account = stream = None
    tell_objects(sys.argv[3])


def tell_objects(path):
    """The last: nothing is made that stays, and no other thread makes anything."""
    gc.collect()
    out = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
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


def spin():
    """It wants the GIL, and makes nothing."""
    while True: pass


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
    """While it waits, what it has pushed is still in its memory."""
    for value in range(limit):
        if value == 2:
            max(KEPT["placed_00"], KEPT["placed_00"], KEPT["placed_00"], KEPT["placed_00"], KEPT["placed_00"], KEPT["placed_00"])
            LOCK.acquire()
        yield value


def drain(source):
    """A generator that runs, and calls: the collector looks at what it has pushed where that call is no call of C."""
    for value in source:
        return value


def calling():
    yield [KEPT["pushed"], wait_in_lock(LOCK)]


def send(coroutine):
    """A coroutine that runs."""
    coroutine.send(None)


async def blocked(held):
    max(KEPT["placed_00"], KEPT["placed_00"], KEPT["placed_00"], KEPT["placed_00"], KEPT["placed_00"], KEPT["placed_00"])
    LOCK.acquire()


# The functions that threads wait in.
ENDS = {"wait_in_lock": "wait_in_lock", "wait_in_condition": "wait", "sleep_long": "sleep_long", "handle": "wait_in_lock", "pull": "slow",
        "spin": "spin", "drain": "wait_in_lock", "send": "blocked"}
FUTEX, WAIT, NO_WAIT = "202", 9, "0x0"
SLEEPS = {"23", "35", "230", "270"}  # select, nanosleep, clock_nanosleep, pselect6


def waits(pid, tid):
    """Does a thread wait in the kernel, and not for the GIL (which is waited for with a limit of time)?"""
    with open("/proc/%d/task/%d/syscall" % (pid, tid), encoding="ascii") as stream:
        words = stream.read().split()
    return words[0] in SLEEPS or words[0] == FUTEX and int(words[2], 16) & 15 == WAIT and words[4] == NO_WAIT


def has_come(thread):
    """Is it in its function, in the call that waits?"""
    stale.soil(id(KEPT["placed_00"]))  # for the frame objects that are made here
    there = sys._current_frames()[thread.ident].f_code.co_name == ENDS[thread.name]
    return there and (thread.name == "spin" or waits(os.getpid(), thread.native_id))


def start_threads(busy):
    LOCK.acquire()
    condition = threading.Condition()
    todo = [(wait_in_lock, (LOCK,)), (wait_in_condition, (condition,)), (sleep_long, (600,)), (handle, (10,)), (pull, (slow(9),)),
            (drain, (calling(),)), (send, (blocked(KEPT["running"]),))]
    SOILED.extend((args[0], "placed_00") for target, args in todo if target in (pull, send))
    if busy:
        todo.append((spin, ()))
    threads = [threading.Thread(target=target, args=args, daemon=True, name=target.__name__) for target, args in todo]
    for thread in threads:
        thread.start()
    while not all(has_come(thread) for thread in threads):
        time.sleep(0.01)
    return condition


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
    queued, owner, factory = Plain(-7), Plain(-8), functools.partial(list)
    queue = collections.deque([[i] for i in range(100)] + [queued] + [[i] for i in range(100)])
    queue.popleft()
    return {"queued": queued, "queue": queue, "owner": owner, "listed": Listed(owner), "factory": factory,
            "default": collections.defaultdict(factory),
            "plain": plain, "big": big, "odd": odd, "set": {frozenset((i, "x")) for i in range(50)}, "text": GRÖSSE * 1000,
            "holder": Holder(plain[3]), "bytes": b"\x00\xff" * 50, "negative": -(10 ** 40), "small": -5, "real": 2.5,
            "tuple": (1, ("two", [3.0])), "deque": collections.deque(range(100)), "suspended": suspended, "partial": functools.partial(max, 3),
            "slotted": [Slotted("name%d" % i, 0 if i == 7 else (i * 7919) % 1000) for i in range(40)], "kind": Plain,
            "mixed": {1: "one", "two": 2, (3,): None}, "running": Plain(-9)}


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
            time.sleep(0.01)
        os.kill(parent, signal.SIGABRT)
    os._exit(0)


def status_of(pid):
    with open("/proc/%d/stat" % pid, encoding="utf-8", errors="replace") as stream:
        return stream.read().rpartition(")")[2].split()[0]


LOCK, ARMED = threading.Lock(), set()
KEPT, SOILED = {}, []  # SOILED: what has the word of another in its memory


def main():
    state = sys.argv[1]
    gc.disable()
    sys.setrecursionlimit(10000)
    KEPT.update(make_objects(int(os.environ.get("WORLD_OBJECTS", "200"))))
    SOILED.extend(stale.fill(KEPT, Plain))
    KEPT["globals"] = globals()
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
