/* go_program: the command that compiles a program of Go for dying_program(). */
#ifndef XC_TEST_GO_PROGRAM_H
#define XC_TEST_GO_PROGRAM_H

#include <stdio.h>

/* What it is built like: without optimisation, as go does by itself, without debug information. With the run-time optimised: all of it is
 * compiled anew for the first, once for each user. */
static const char *const go_flags[] = {"-gcflags=\"-N -l\"", "", "-ldflags=-w", "-gcflags=all=\"-N -l\""};
enum { GO_UNOPTIMISED, GO_PLAIN, GO_WITHOUT_DEBUG, GO_ALL_UNOPTIMISED, GO_FLAGS };

/* go compiles no standard input. No path stands in the command, so that the program is kept (kept.h). */
static inline const char *go_compiler(const char *flags, char line[300])
{
	snprintf(line, 300,
		 "sh -c 'cd \"$(mktemp -d)\" && cat >program.go && go build -buildvcs=false %s -o \"$3\" program.go && "
		 "rm -r \"$PWD\"' sh",
		 flags);
	return line;
}

#endif
