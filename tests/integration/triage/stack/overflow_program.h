/* Programs that use up their stack, and the verdicts on them. */
#ifndef XC_TESTS_INTEGRATION_TRIAGE_STACK_OVERFLOW_PROGRAM_H
#define XC_TESTS_INTEGRATION_TRIAGE_STACK_OVERFLOW_PROGRAM_H

#include "tests/support/grid.h"
#include "tests/support/run_verdict.h"

#define HEAD                                                                                                           \
	"#include <alloca.h>\n#include <pthread.h>\n#include <signal.h>\n#include <stdlib.h>\n#include <string.h>\n"   \
	"#include <sys/mman.h>\n#include <sys/resource.h>\n#include <ucontext.h>\n"                                    \
	"#define NO __attribute__((noinline, noclone))\n#define KEEP(x) __asm__ volatile(\"\" : : \"r\"(&(x)) : "      \
	"\"memory\")\n"                                                                                                \
	"volatile long never = -1, sink, large = 1 << 20;\n"                                                           \
	"static void limit(void) { struct rlimit l = {262144, 1 << 23}; setrlimit(RLIMIT_STACK, &l); }\n"

static const char *const gcc[] = {"gcc -g -O0 -x c", "gcc -g -O2 -x c"};
static const char *const both[] = {"gcc -g -O0 -x c", "gcc -g -O2 -x c", "gcc -g -O3 -x c", "clang -g -O0 -x c",
				   "clang -g -O2 -x c"};

#define EXPECT(compilers, source, ...)                                                                                 \
	GRID(c, XC_COUNT(compilers))                                                                                   \
	judged_expect(compilers[c], source, false, &(struct wanted){__VA_ARGS__})

#endif
