"""gdb's side of build-luajit: runs world.lua to where it says that it gets interesting, then through the breakpoints of the case; there
it lets the program write down what is true now, and writes the core. XCORE_STOPS is the list of stops (cases.py), XCORE_CORE the core."""

import json
import os
import sys

import gdb

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tell  # noqa: E402  pylint: disable=wrong-import-position


def go_to(symbol, condition, ignored):
    if symbol == "next":
        gdb.execute("next %d" % ignored)
    elif symbol == "tell":
        tell.tell()
    else:
        tell.go_on(symbol, "continue", condition, ignored)


for setting in ("pagination off", "confirm off", "width 0", "breakpoint pending on", "disable-randomization off"):
    gdb.execute("set " + setting)
for variable in ("LINES", "COLUMNS"):
    gdb.execute("unset environment " + variable)
STOPS = json.loads(os.environ["XCORE_STOPS"])
try:
    gdb.execute("handle SIGSEGV stop nopass")
    gdb.execute("tbreak inside_armed")
    gdb.execute("run")
    for stop in STOPS:
        go_to(*stop)
    if not any(stop[0] == "tell" for stop in STOPS):
        tell.tell()
    gdb.execute("generate-core-file %s" % os.environ["XCORE_CORE"])
    gdb.execute("kill")
except (gdb.error, gdb.GdbError) as error:
    print("stop.py: %s" % error)
    gdb.execute("kill")
    gdb.execute("quit 1")
