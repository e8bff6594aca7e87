"""shares.py: functions of known shares of CPU time, called in the ways that Python has. Says "ready", works for as many
seconds of CPU time as its argument says, then says the share of each: "NAME SHARE"."""

import sys
import time

CLOCK = time.thread_time
METHOD = "Deep.go" if sys.version_info >= (3, 11) else "go"  # before, code objects have no qualified names
N = 20000


def numbers(count):
    x = 0.5
    for i in range(count):
        x = (x * 3.1 + i) % 7.7
    return x


def alpha():
    return numbers(2 * N) + 1


def beta():
    found = {}
    for i in range(N):
        found[i % 100] = i * 2
    return len(found)


class Deep:
    def bottom(self):
        s = 0
        for i in range(N):
            s += i % 3
        return s

    def go(self, depth):
        return self.bottom() if depth == 0 else self.go(depth - 1) + 1


def key(x):
    s = 0
    for i in range(1000):
        s += i ^ x
    return s


def by_sort():
    return sorted(range(20), key=key)[0]


def pieces():
    s = 0
    for i in range(N):
        s += i * 3
        if i % 5000 == 0:
            yield s


def generated():
    return sum(pieces())


def main():
    deep = Deep()
    spent, least = {}, {}
    print("ready", flush=True)
    began = CLOCK()
    while CLOCK() - began < float(sys.argv[1]):
        for name, function in (("alpha", alpha), ("beta", beta), (METHOD, lambda: deep.go(20)), ("by_sort", by_sort),
                               ("generated", generated)):
            at = CLOCK()
            function()
            took = CLOCK() - at
            least[name] = min(least.get(name, took), took)
            # A host may take the processor away, which a guest's clock counts: what exceeds twice the least by 1 ms is not booked.
            spent[name] = spent.get(name, 0) + min(took, 2 * least[name] + 1e-3)
    for name, seconds in spent.items():
        print(name, "%.4f" % (seconds / sum(spent.values())))


main()
