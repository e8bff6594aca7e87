"""The minimum work of gdb's lgcstat: counts each object of a LuaJIT virtual machine by type. `-ex "python STATE =
ADDRESS"` comes before.

Omits sizes, its most expensive part. Prints the count, a checksum of the counts by type, and the loop's CPU seconds."""
import time

import gdb

TYPES = {}


def follow(reference):
    """The address in a GCRef, of either width."""
    return int(reference["gcptr64" if "gcptr64" in WIDE else "gcptr32"])


def count(address):
    """Follows a list linked by gc.nextgc."""
    while address:
        header = gdb.Value(address).cast(HEADER).dereference()
        kind = int(header["gct"])
        TYPES[kind] = TYPES.get(kind, 0) + 1
        address = follow(header["nextgc"])


HEADER = gdb.lookup_type("GChead").pointer()
WIDE = [field.name for field in gdb.lookup_type("GCRef").fields()]
STATE = gdb.Value(STATE).cast(gdb.lookup_type("global_State").pointer()).dereference()  # noqa: F821
start = time.process_time()
count(follow(STATE["gc"]["root"]))
strings = STATE["str"]["tab"]
for slot in range(int(STATE["str"]["mask"]) + 1):
    count(follow(strings[slot]) & ~1)
upvalue, end = STATE["uvhead"]["next"], int(STATE["uvhead"].address)
while follow(upvalue) != end:  # open upvalues are only on this ring
    TYPES[5] = TYPES.get(5, 0) + 1
    upvalue = gdb.Value(follow(upvalue)).cast(gdb.lookup_type("GCupval").pointer()).dereference()["next"]
took = time.process_time() - start
print(sum(TYPES.values()), ",".join("%d:%d" % one for one in sorted(TYPES.items())), took)
