"""drgn_type.py CORE TYPE DEBUG-FILE...: the size of a type by drgn, without its members (0.0.22 fails on some C++
members)."""

import sys

import drgn

program = drgn.Program()
program.set_core_dump(sys.argv[1])
try:
    program.load_debug_info(sys.argv[3:])
except drgn.MissingDebugInfoError as error:
    print(error, file=sys.stderr)
print(program.type(sys.argv[2]).size)
