/* go_program: the command that compiles a Go program for dying_program(). */
#ifndef XC_TEST_GO_PROGRAM_H
#define XC_TEST_GO_PROGRAM_H

#include <stdio.h>

/* Build modes: without optimisation, go's default, without debug information; all but the last keep the run-time
 * optimised. The last mode recompiles everything on first use, once per user. */
static const char *const go_flags[] = {"-gcflags=\"-N -l\"", "", "-ldflags=-w", "-gcflags=all=\"-N -l\""};
enum { GO_UNOPTIMISED, GO_PLAIN, GO_WITHOUT_DEBUG, GO_ALL_UNOPTIMISED, GO_FLAGS };

/* go cannot compile standard input. The command contains no path, so that the program is cached (kept.h). */
static inline const char *go_compiler(const char *flags, char line[300])
{
	snprintf(line, 300,
		 "sh -c 'cd \"$(mktemp -d)\" && cat >program.go && go build -buildvcs=false %s -o \"$3\" program.go && "
		 "rm -r \"$PWD\"' sh",
		 flags);
	return line;
}

#endif
