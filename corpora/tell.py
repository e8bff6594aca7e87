"""gdb's side of luajit/inside.c: lets the stopped program write its account, and be where it was.

By a signal, not by gdb's `call`: that writes all registers, and where the processor has AMX the kernel takes them only whole, which
gdb 13 does not know ("Couldn't write extended state status: Bad address")."""

import gdb

SIGNAL = "SIG43"  # as in inside.c


def go_on(where, command, condition=None, ignored=0):
    """Up to there, when the condition holds and it was there so often before."""
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
