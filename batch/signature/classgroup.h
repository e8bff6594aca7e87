/* classgroup: which deaths may be one problem. Crashes of two groups never are.
 *
 * A group must tell apart what is another bug, though the stack is the same, and must be the same for one bug in another build, where
 * the memory around it and the instruction that faults are others. So of bad accesses only the access counts, not why the
 * address was bad; and of what the run-times notice what they noticed:
 *
 *	read               null-read, wild-read, use-after-free and heap-overrun that read, protected-access that did
 *	write              null-write, wild-write, write-rodata, use-after-free and heap-overrun that write, protected-access that did
 *	exec               call-null, pc-control, exec-data, use-after-free that called what it read there
 *	access             null-access, wild-access, memory-access: nobody knows which
 *	heap:KIND          heap-corruption: double free, bad pointer, damage (overrun and list damage: which is noticed first is chance)
 *	abort:assertion:EXPRESSION     the assertion's text with its numbers, where it is known: two in one function are two problems
 *	exception:TYPE     uncaught-exception
 *	panic:KIND         Rust's and Go's
 *	deadlock:KIND      of one thread with itself, of several, with one that has ended
 *	sanitizer:KIND
 *	seccomp:CALL
 *	trap               trap-instruction: which check it was depends on the compiler
 *	arithmetic         div-by-zero, arithmetic
 *	bus                file-truncated, bus-error, bad-hardware
 *	sent:SIGNAL        killed, dump-request, sent-by-user
 *
 * All other classes, and those that a policy gives, are groups of their own: "abort", "stack-overflow", "stack-smash", "fortify",
 * "out-of-memory", "misaligned", "bad-instruction", "hardware-guard", "pure-virtual-call", "no-crash". */
#ifndef XC_CLASSGROUP_H
#define XC_CLASSGROUP_H

#include "batch/record/record.h"

/* The group of a record whose class is class_name (its own, or a policy's); in the arena, or static. Never NULL. */
const char *xc_classgroup(const struct xc_record *record, const char *class_name, struct xc_arena *arena);

/* Is it a group of deaths that somebody noticed and ended: an abort, whose words belong into the signature? */
bool xc_classgroup_speaks(const char *group);

#endif
