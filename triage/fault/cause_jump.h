/* cause_jump: the rule of SIGSEGV and SIGILL where the program counter is not in code. */
#ifndef XC_CAUSE_JUMP_H
#define XC_CAUSE_JUMP_H

#include "triage/crash/crash_context.h"

/* The classes call-null, exec-data, pc-control, by the target and by the instruction that transferred control there.
 * False when the program counter is in code. */
bool xc_cause_jump_classify(struct xc_crash_context *crash);

#endif
