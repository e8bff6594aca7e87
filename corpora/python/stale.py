"""stale: objects in memory that others had before, of world.py: generators, coroutines and frames whose unused words look like references.

CPython leaves words of what it makes as they were: flags of generators that only asynchronous ones have, padding, what stands above the top
of a stack of values, all of a generator's frame once that has ended. gc.get_referrers knows; who looks at each word is wrong."""

import ctypes
import struct
import sys
import types

# The fourth byte of a word: a generator's state, below three flags and above padding that may be as they were.
STATES = (0x00, 0x04, 0xfd, 0xfe, 0xff)
FAR, PAGE = 0x2a0000000000, 4096
READ_WRITE, PRIVATE_ANONYMOUS_HERE = 3, 0x100022


def place(state):
    """A list of the collector at an address whose fourth byte is this one."""
    here = ctypes.CDLL(None).mmap
    here.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    here.restype = ctypes.c_void_p
    at = here(FAR | state << 24, PAGE, READ_WRITE, PRIVATE_ANONYMOUS_HERE, -1, 0)
    assert at == FAR | state << 24, "the memory at %#x is taken" % (FAR | state << 24)
    at += 0x100
    ctypes.memmove(at, struct.pack("<QQQQQ", 1, id(list), 0, 0, 0), 40)
    made = ctypes.cast(at, ctypes.py_object).value
    ctypes.pythonapi.PyObject_GC_Track(ctypes.py_object(made))
    return made


def soil(word):
    """Free memory of each small size is full of this word."""
    words = struct.pack("<Q", word) * 64
    blocks = [words[:size - bytes.__basicsize__] for size in range(48, 513, 16) for _ in range(12)]
    del blocks


def has_word(one, word):
    """Is this among the words of a generator or coroutine, or of its frame where that is another object?"""
    if sys.version_info < (3, 11):
        frame = getattr(one, "gi_frame", None) or getattr(one, "cr_frame", None)
        if frame and has_word(frame, word):
            return True
    size = sys.getsizeof(one) - 16 & ~7
    return word in struct.unpack("<%dQ" % (size // 8), ctypes.string_at(id(one), size))


# ---- generators and coroutines, by state ----

def climb(kept, name):
    """What it pushed stays above the top of its stack."""
    max(kept[name], kept[name], kept[name], kept[name], kept[name], kept[name])
    yield


def made(kept, name):
    soil(id(kept[name]))
    return climb(kept, name)


def suspended(kept, name):
    one = made(kept, name)
    next(one)
    return one


def ended(kept, name):
    one = made(kept, name)
    for _ in one:
        pass
    return one


class Managed:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


def within(kept):
    """The stack of a suspended generator has what `with` and `for` need."""
    with kept["managed"]:
        for one in kept["looped"]:
            yield one


@types.coroutine
def give_way():
    yield


async def await_it(held):
    await give_way()
    return held


async def produce(held):
    yield held


def begin(one):
    for _ in one.__await__() if hasattr(one, "__await__") else one:
        return one


def caught(held):
    """An exception whose traceback has a frame, and that the variable."""
    try:
        raise ValueError(len(held.peers))
    except ValueError as problem:
        return problem


def after_function():
    """A generator that has ended, and what has the memory of its function now."""
    def function():
        yield
    one, where, size = function(), id(function), sys.getsizeof(function)
    for _ in one:
        pass
    del function
    tried = []
    for _ in range(1000):
        tried.append(tuple([] for _ in range((size - sys.getsizeof(())) // 8)))
        if id(tried[-1]) == where:
            return one, tried[-1]
    return one, tried[0]


def fill(kept, plain):
    """What the tests ask for the referrers of, and generators that do not refer to it; returns the ones that have its word nevertheless."""
    kept.update(("placed_%02x" % state, place(state)) for state in STATES)
    kept.update(managed=Managed(), looped=[plain(-2)], awaited=plain(-3), produced=plain(-4), caught=plain(-5), pushed=plain(-6),
                finalizer=lambda agen: None)
    soiled = [(make(kept, name), name) for make in (made, suspended, ended) for name in sorted(kept) if name.startswith("placed_")]
    kept["soiled"] = [one for one, _ in soiled]
    sys.set_asyncgen_hooks(finalizer=kept["finalizer"])
    agen = produce(kept["produced"])
    begin(agen.__anext__())
    sys.set_asyncgen_hooks(finalizer=None)
    loop = within(kept)
    next(loop)
    ended_one, kept["reused"] = after_function()
    kept["others"] = [ended_one, loop, begin(await_it(kept["awaited"])), agen, caught(kept["caught"])]
    return soiled
