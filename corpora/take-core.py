# gdb side of take-core: run the program up to the signal that would kill it, then write the core.
#
# gdb stops at each signal before the program sees it. One that the program catches or ignores is passed on and the
# run continues; at any other the process is about to die, and this is the last moment its memory is there.
# (A fault inside its own handler is no exception: the kernel resets the disposition before the stop.)
import os
import signal

import gdb

SCRATCH = os.environ.pop("XCORE_SCRATCH")
# The signals whose default is to dump core (signal(7)); of any other the kernel would leave none either.
DUMPING = {"SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGSEGV", "SIGXCPU", "SIGXFSZ", "SIGSYS"}
MAX_STOPS = 100000  # a program that gets more signals than that is not going to die of one


def handles(pid, signum):
    """Whether the process catches or ignores the signal, by the masks the kernel shows."""
    bit = 1 << (signum - 1)
    with open(f"/proc/{pid}/status") as status:
        masks = dict(line.split(":", 1) for line in status)
    return bool((int(masks["SigCgt"], 16) | int(masks["SigIgn"], 16)) & bit)


def deadly(stop):
    name = stop.stop_signal
    return name in DUMPING and not handles(gdb.selected_inferior().pid, signal.Signals[name])


def run_to_death():
    """Leaves the inferior stopped at its last signal; false when it ended without one."""
    stops = []
    gdb.events.stop.connect(stops.append)
    for command in ["starti"] + ["continue"] * MAX_STOPS:
        gdb.execute(command)
        if gdb.selected_inferior().pid == 0:
            return False
        if command == "starti":
            with open(os.path.join(SCRATCH, "pid"), "w") as out:
                out.write(f"{gdb.selected_inferior().pid}\n")
        elif isinstance(stops[-1], gdb.SignalEvent) and deadly(stops[-1]):
            return True
    return False


gdb.execute("set pagination off")
gdb.execute("set confirm off")
gdb.execute("set width 0")
gdb.execute("set print thread-events off")
gdb.execute("set disable-randomization off")
for variable in ("LINES", "COLUMNS", "XCORE_SCRATCH"):
    gdb.execute(f"unset environment {variable}")
gdb.execute("handle SIGINT stop pass")
if run_to_death():
    gdb.execute("generate-core-file core")
    gdb.execute("kill")
else:
    gdb.execute("quit 1")
