/* cause_trap: rules of SIGFPE, SIGILL, SIGTRAP and SIGSYS. Each is the last of its event and never false. */
#ifndef XC_CAUSE_TRAP_H
#define XC_CAUSE_TRAP_H

#include "triage/crash/crash_context.h"

/* SIGFPE: div-by-zero, arithmetic. */
bool xc_cause_trap_arithmetic(struct xc_crash_context *crash);

/* SIGILL: trap-instruction, hardware-guard, bad-instruction. */
bool xc_cause_trap_instruction(struct xc_crash_context *crash);

/* SIGTRAP: trap-instruction. */
bool xc_cause_trap_breakpoint(struct xc_crash_context *crash);

/* Is it a check that the compiler has inserted, as far as the instruction tells? */
bool xc_cause_trap_is_inserted(const struct xc_crash_context *crash);

/* SIGSYS: seccomp-kill, with the name of the system call. */
bool xc_cause_trap_syscall(struct xc_crash_context *crash);

#endif
