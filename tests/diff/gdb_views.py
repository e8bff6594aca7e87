"""gdb's view of a program's containers, with the printers of libstdc++, as JSON: an oracle of tests/diff/views.

Runs inside gdb, after the program and the core were loaded. XC_ORACLE_OUT names the output file, XC_PRINTERS the
folder of the printers."""

import json
import os
import sys

import gdb

sys.path.insert(0, os.environ["XC_PRINTERS"])
from libstdcxx.v6 import register_libstdcxx_printers  # noqa: E402  pylint: disable=wrong-import-position


def text_of(symbol, frame):
    try:
        return symbol.value(frame).format_string(max_elements=1000)
    except (gdb.error, RuntimeError, ValueError, TypeError, AttributeError, IndexError, KeyError) as error:  # the printers' own, too
        return "error: %s" % error


def variables(frame):
    """Those of a frame's own function."""
    try:
        block = frame.block()
    except RuntimeError:
        return
    while block is not None and not block.is_global and not block.is_static:
        yield from (symbol for symbol in block if symbol.is_variable and not symbol.name.startswith("bad_"))
        block = None if block.function is not None else block.superblock


def main():
    register_libstdcxx_printers(None)
    gdb.execute("set print repeats 10")
    gdb.execute("set print symbol off")
    out, frame = {}, gdb.newest_frame()
    while frame is not None:
        for symbol in variables(frame):
            if symbol.name not in out:
                out[symbol.name] = text_of(symbol, frame)
        frame = frame.older()
    with open(os.environ["XC_ORACLE_OUT"], "w", encoding="utf-8", errors="surrogateescape") as stream:
        json.dump(out, stream)


main()
