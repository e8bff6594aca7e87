"""gdb's side of luajit/inside.c: makes the stopped program write its account and return to where it was.

Uses a signal rather than gdb's `call`: `call` writes all registers, and on processors with AMX the kernel accepts only
the complete set, which gdb 13 does not support ("Couldn't write extended state status: Bad address")."""

import gdb

SIGNAL = "SIG43"  # as in inside.c


def go_on(where, command, condition=None, ignored=0):
    """Runs to this point, where the condition holds, after skipping this number of hits."""
    stop = gdb.Breakpoint(where, internal=True)
    if condition:
        stop.condition = condition
    stop.ignore_count = ignored
    gdb.execute(command)
    hits = stop.hit_count
    stop.delete()
    if hits <= ignored:
        raise gdb.GdbError("%s: reached %d times only" % (where, hits))


def tell():
    here = int(gdb.parse_and_eval("(unsigned long)$pc"))
    gdb.execute("handle %s nostop noprint pass" % SIGNAL)
    go_on("inside_told", "signal " + SIGNAL)
    go_on("*%d" % here, "continue")
