"""The walk in gdb's Python: COUNT, SUM and CPU seconds of the loop."""

import time

import gdb

start = time.process_time()
node = gdb.parse_and_eval("list")["head"]
count, total = 0, 0
while node:
    total += int(node["id"]) + int(node["refs"]) + float(node["weight"]) + int(node["flag"])
    count += 1
    node = node["next"]
print(count, "%.1f" % total, time.process_time() - start)
