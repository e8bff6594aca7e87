/* kept: programs that tests compile, kept for the next time.
 *
 * Most of what the unit tests need time for is compilers. A program is kept in build/programs, by its source, its compiler's command,
 * the directory (it stands in the debug information) and the state of the system's packages, so that a new compiler or library makes
 * all of them anew. Where the packages' state is not known, where there is no build directory, and for commands that name files or
 * leave more than one behind, compilers run each time. */
#ifndef XC_TEST_KEPT_H
#define XC_TEST_KEPT_H

/* Put the program that `compiler`, a command such as "gcc -x c -g", makes of source at path. The test fails when that fails. */
void kept_program(const char *path, const char *compiler, const char *source);

#endif
