/* dying: a small program that is compiled and killed while the test runs, and its core.
 *
 * The test writes the core itself, from a traced child stopped at the fatal signal, so it needs no core_pattern, no gdb
 * and no privileges. The core has what the kernel dumps by default: writable and anonymous memory, and the first page
 * of mapped files. */
#ifndef XC_TEST_DYING_H
#define XC_TEST_DYING_H

/* Compile source to DIR/name with a command such as "gcc -g -O2 -x c" and return its path. Fails the test if
 * compilation fails. */
const char *dying_program(const char *name, const char *compiler, const char *source);

/* Run the program (argument may be NULL) until the first signal that it does not catch. Returns the path of its
 * core. */
const char *dying_core(const char *program, const char *argument);

#endif
