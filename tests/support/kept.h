/* kept: a cache of programs that tests compile.
 *
 * Most of the unit tests' time is spent in compilers. build/programs keeps each program, keyed by its source, the
 * compiler command, the directory (it is in the debug information) and the state of the system's packages, so a new
 * compiler or library rebuilds all of them. The compiler runs each time if the packages' state is unknown, if there is
 * no build directory, and for commands that name files or create more than one. */
#ifndef XC_TEST_KEPT_H
#define XC_TEST_KEPT_H

/* Write the program that `compiler`, a command such as "gcc -x c -g", builds from source to path. Fails the test on
 * error. */
void kept_program(const char *path, const char *compiler, const char *source);

#endif
