/* jitdump: the file jit-PID.dump that V8, the JVM's and LLVM's agents and others write for `perf inject --jit`: a
 * record for each function as it is compiled, with its lines, and for each that is moved (Linux
 * tools/perf/Documentation/jitdump-specification.txt, version 1).
 *
 *  header 40: magic "JiTD" as a number | version 4 | size 4 | machine 4 | pad 4 | pid 4 | timestamp 8 | flags 8
 *  record:    id 4 | size 4 | timestamp 8 | …
 *    load 0:  pid 4 | tid 4 | vma 8 | address 8 | size 8 | index 8 | name, NUL | code
 *    move 1:  pid 4 | tid 4 | vma 8 | old address 8 | address 8 | size 8 | index 8
 *    lines 2: address 8 | count 8 | count × (address 8 | line 4 | discriminator 4 | file, NUL: "\xff": as before) */
#ifndef XC_JITDUMP_H
#define XC_JITDUMP_H

#include "core/perf/code_names.h"

/* Add its functions, in the order of the file; ends where that is cut or malformed: the program may be writing. False:
 * it is no such file of a version that is known. */
bool xc_jitdump_read(struct xc_code_names *names, const void *bytes, size_t len);

#endif
