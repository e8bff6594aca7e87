"""The cases of build-luajit: engines, and the VM states they die in."""

# States that world.lua reaches by itself, with the expected VM state: a name, TRACE for a root trace, SIDE for a side
# trace.
OWN = {
    "interp": "INTERP", "c": "C", "ffi-store": "C", "ffi-call": "C", "callback": "INTERP", "handler": "INTERP", "hook": "INTERP",
    "finalizer": "C", "cdatafinalizer": "C", "trace": "TRACE", "trace-inlined": "TRACE", "trace-side": "SIDE",
    "trace-call": "TRACE", "trace-stitch": "C",
}
# Deaths in traces with inlined functions (inlined.lua).
INLINED = {"trace-" + name: "TRACE" for name in ("after", "before", "second", "twice", "tail", "hoisted", "tables", "branch", "store", "alike")}
OWN.update(INLINED)

# States in which a debugger stops world.lua: the VM state, then the breakpoints to pass, each with a condition or None
# and the number of hits to skip. "next" steps source lines. "tell" writes the account there instead of at the end:
# while a chain of strings is swept, the table refers to freed strings, and no program can walk it.
STOPPED = {
    "exit": ("EXIT", [("lj_trace_exit", None, 20)]),
    "record": ("RECORD", [("lj_record_ins", None, 60)]),
    "optimise": ("OPT", [("lj_opt_dce", None, 3)]),
    "assemble": ("ASM", [("lj_asm_trace", None, 3)]),
    "gc-propagate": ("GC", [("gc_traverse_tab", "g->gc.state == 1", 50)]),
    "gc-atomic": ("GC", [("lj_gc_separateudata", None, 1)]),
    "gc-sweepstring": ("GC", [("gc_sweepstr", None, 200)]),
    "gc-freestring": ("GC", [("gc_sweepstr", None, 200), ("tell", None, 0), ("lj_str_free", None, 2)]),
    "gc-sweep": ("GC", [("lj_tab_free", None, 20)]),
    "resize-table": (None, [("lj_tab_resize", "hbits == 8", 0), ("lj_tab_set", None, 20)]),
    "resize-strings": (None, [("lj_str_resize", None, 0), ("next", None, 40)]),
    "unwind": (None, [("lj_err_throw", None, 0)]),
}

# The states of each engine. FIRST is the set for `make test`: each kind of frame, of trace and of unfinished work once.
EVERY = list(OWN) + list(STOPPED)
FEW = ["interp", "c", "trace", "trace-inlined", "trace-side", "callback", "finalizer", "exit", "gc-sweep"] + list(INLINED)
FIRST = {
    "openresty-o0": ["interp", "c", "callback", "handler", "hook", "finalizer", "trace-inlined", "trace-side", "trace-call", "trace-stitch",
                     "exit", "gc-sweep", "resize-table", "resize-strings"],
}
LONG = {"gc32-o0": ["interp", "c", "trace-inlined"], "openresty": EVERY, "gc64": EVERY, "gc32": EVERY}
LONG.update({name: FEW for name in ("bullseye-gc32", "bullseye-gc64", "sid-gc64", "sid-gc32")})

SMALL, BIG = 2, 1150  # thousands of points; 1000 points are about 2600 objects


class Case:
    """One core, and a second exe without any symbols."""

    def __init__(self, engine, state, thousands=SMALL, suffix=""):
        self.engine, self.state, self.thousands = engine, state, thousands
        self.name = "%s-%s%s" % (engine, state, suffix)
        self.vmstate, self.stops = STOPPED.get(state, (OWN.get(state), None))

    @property
    def lists_objects(self):
        return self.thousands == SMALL


def of_engines(engines):
    return [Case(engine, state) for engine, states in engines.items() for state in states]


def chosen(only=None, long=False, big=False):
    """The selected cases; `only`, globs, selects from all cases, but big ones only by globs that end in -big."""
    large = [Case(engine, "interp", BIG, "-big") for engine in ("openresty", "gc32")]
    if only:
        return of_engines(FIRST) + of_engines(LONG) + (large if any(glob.endswith("-big") for glob in only) else [])
    return large if big else of_engines(FIRST) + (of_engines(LONG) if long else [])
