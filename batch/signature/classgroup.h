/* classgroup: which crashes may be one problem. Crashes of two groups never are.
 *
 * A group must separate different bugs that have the same stack. It must be stable for one bug across builds, where the
 * surrounding memory and the faulting instruction differ. So for bad accesses only the kind of access counts, not why
 * the address was bad; for errors detected by a runtime, what was detected:
 *
 *  read               null-read, wild-read; use-after-free, use-after-return, heap-overrun, protected-access,
 *                     format-string that read
 *  write              null-write, wild-write, write-rodata; the same five that write
 *  exec               call-null, pc-control, exec-data, use-after-free that called what it read there
 *  access             null-access, wild-access, memory-access: the kind of access is unknown
 *  heap:KIND          heap-corruption: double free, bad pointer, damage (overrun and list damage: which is noticed
 *                     first is chance)
 *  abort:assertion:EXPRESSION     the assertion's text with its numbers, if known: two in one function are two problems
 *  exception:TYPE     uncaught-exception
 *  terminate:KIND     std::terminate() without an exception that nothing caught
 *  panic:KIND         Rust's and Go's
 *  deadlock:KIND      of one thread with itself, of several, with one that has ended
 *  sanitizer:KIND
 *  seccomp:CALL
 *  trap               trap-instruction: which check failed depends on the compiler
 *  arithmetic         div-by-zero, arithmetic
 *  bus                file-truncated, bus-error, bad-hardware
 *  sent:SIGNAL        killed, dump-request, sent-by-user
 *
 * Every other class, and every class from a policy, is a group of its own: "abort", "stack-overflow", "stack-smash",
 * "fortify", "out-of-memory", "misaligned", "bad-instruction", "hardware-guard", "pure-virtual-call", "no-crash". */
#ifndef XC_CLASSGROUP_H
#define XC_CLASSGROUP_H

#include "batch/record/record.h"

/* The group of a record with this class (its own, or a policy's); in the arena, or static. Never NULL. */
const char *xc_classgroup(const struct xc_record *record, const char *class_name, struct xc_arena *arena);

/* Is it a group of aborts, whose message belongs in the signature? */
bool xc_classgroup_speaks(const char *group);

#endif
