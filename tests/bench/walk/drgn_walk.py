"""drgn_walk.py CORE: the walk in drgn, three times: COUNT, SUM and CPU seconds of each loop."""

import sys
import time

import drgn

program = drgn.Program()
program.set_core_dump(sys.argv[1])
try:
    program.load_default_debug_info()
except drgn.MissingDebugInfoError:
    pass  # of the C library


def walk():
    start = time.process_time()
    node = program["list"].head.read_()
    count, total = 0, 0
    while node:
        total += node.id.value_() + node.refs.value_() + node.weight.value_() + node.flag.value_()
        count += 1
        node = node.next.read_()
    return count, total, time.process_time() - start


loops = [walk() for _ in range(3)]
print(loops[0][0], "%.1f" % loops[0][1], *(loop[2] for loop in loops))
