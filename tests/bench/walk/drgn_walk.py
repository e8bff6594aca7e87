"""drgn_walk.py CORE: the walk in drgn: COUNT, SUM and CPU seconds of the loop."""

import sys
import time

import drgn

program = drgn.Program()
program.set_core_dump(sys.argv[1])
try:
    program.load_default_debug_info()
except drgn.MissingDebugInfoError:
    pass  # of the C library
start = time.process_time()
node = program["list"].head.read_()
count, total = 0, 0
while node:
    total += node.id.value_() + node.refs.value_() + node.weight.value_() + node.flag.value_()
    count += 1
    node = node.next.read_()
print(count, "%.1f" % total, time.process_time() - start)
