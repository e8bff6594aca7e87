"""The work of the python3 recipe: objects, threads that wait, deep callbacks, then a read of address 0."""

import collections
import ctypes
import functools
import json
import re
import threading
import time

ROUNDS = 200


class Account:
    """A class with slots, a property and operators: each a way from C back into Python."""

    __slots__ = ("name", "_balance", "history")

    def __init__(self, name, balance):
        self.name, self._balance, self.history = name, balance, collections.deque(maxlen=8)

    @property
    def balance(self):
        return self._balance

    def __lt__(self, other):
        return compare(self, other)


def compare(left, right):
    left.history.append(right.name)
    if left.name == "name7" and ROUNDS in FINISHED:
        return last_read(left.balance)
    return left.balance < right.balance


def last_read(address):
    return len(ctypes.string_at(address)) > 0  # the end


FINISHED = set()


def wait_in_lock(lock):
    with lock:
        pass


def wait_in_condition(condition):
    with condition:
        condition.wait()


def spin(stop):
    count = 0
    while not stop.is_set():
        count += len(json.dumps({"count": count, "words": ["a"] * 50}))


def start_threads():
    lock, condition, stop = threading.Lock(), threading.Condition(), threading.Event()
    lock.acquire()
    for target, args in ((wait_in_lock, (lock,)), (wait_in_condition, (condition,)), (spin, (stop,)), (time.sleep, (600,))):
        threading.Thread(target=target, args=args, daemon=True, name=target.__name__).start()
    return lock, condition, stop


def ranked(accounts):
    return [account.name for account in sorted(accounts)]


def rename(text, accounts):
    return re.sub(r"\{(\d+)\}", lambda match: ranked(accounts)[int(match.group(1))], text)


def total(accounts):
    return functools.reduce(lambda text, account: rename(text, accounts), accounts, "first {0}, last {1}")


def descend(depth, accounts):
    if depth:
        return max(map(lambda left: descend(left, accounts), [depth - 1]), key=lambda value: value)
    return total(accounts)


def main():
    held = start_threads()
    accounts = [Account(f"name{i}", 0 if i == 7 else (i * 7919) % 1000) for i in range(40)]
    for number in range(ROUNDS):
        total(accounts)
    FINISHED.add(ROUNDS)
    print(descend(30, accounts), held)


main()
