"""The walk in gdb's Python, three times: COUNT, SUM and CPU seconds of each loop."""

import time

import gdb


def walk():
    start = time.process_time()
    node = gdb.parse_and_eval("list")["head"]
    count, total = 0, 0
    while node:
        total += int(node["id"]) + int(node["refs"]) + float(node["weight"]) + int(node["flag"])
        count += 1
        node = node["next"]
    return count, total, time.process_time() - start


loops = [walk() for _ in range(3)]
print(loops[0][0], "%.1f" % loops[0][1], *(loop[2] for loop in loops))
