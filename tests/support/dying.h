/* dying: a small program, compiled and killed while the test runs, and its core.
 *
 * The core is written by us from a traced child that stands at the signal that would kill it, so it needs no
 * core_pattern, no gdb and no rights. It holds what the kernel would dump by default: writable and anonymous memory, and the first
 * page of mapped files. */
#ifndef XC_TEST_DYING_H
#define XC_TEST_DYING_H

/* Compile source to DIR/name by a command such as "gcc -g -O2 -x c" and return its path; the test fails when that fails. */
const char *dying_program(const char *name, const char *compiler, const char *source);

/* Run the program (argument may be NULL) until the first signal that it does not catch and return the path of its core. */
const char *dying_core(const char *program, const char *argument);

#endif
