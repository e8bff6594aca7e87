/* layer: triage */
/* Threads that the kernel ended because their restartable sequences were overwritten; the instruction is innocent. */
#include "tests/support/many_deaths.h"
#include "tests/support/run_verdict.h"

#include <sys/rseq.h>

/* rest() is preempted for certain, because it sleeps; turn() some time. */
#define HEAD                                                                                                           \
	"#define _GNU_SOURCE\n#include <pthread.h>\n#include <stdint.h>\n#include <stdlib.h>\n#include <string.h>\n"   \
	"#include <sys/mman.h>\n#include <sys/rseq.h>\n#include <sys/syscall.h>\n#include <time.h>\n"                  \
	"volatile long zero, sink; char *volatile p; static char data[64];\n"                                          \
	"#define SELF ((char *)__builtin_thread_pointer())\n#define AREA (SELF + __rseq_offset)\n"                     \
	"#define SEQUENCE (*(void *volatile *)(AREA + 8))\n"                                                           \
	"__attribute__((noinline)) void fill(char *b, long n) { for (long i = 0; i < n; i++) b[i] = (char)(i * 3); "   \
	"}\n"                                                                                                          \
	"static inline void rest(void) { static const struct timespec t = {0, 1000000}; long r;\n"                     \
	"	for (;;) __asm__ volatile(\"syscall\" : \"=a\"(r) : \"0\"(SYS_nanosleep), \"D\"(&t), \"S\"(0) : "            \
	"\"rcx\", "                                                                                                    \
	"\"r11\", \"memory\"); }\n"                                                                                    \
	"static inline void turn(void) { for (;;) sink++; }\n"

struct expected {
	const char *source, *class_name, *says;
};

static void what_the_kernel_could_not_use(void **state)
{
	(void)state;
	static const struct expected cases[] = {
		{"p = malloc(400000); fill(p, AREA + 24 - p); rest();", "heap-overrun",
		 "bytes before the control block: block (heap, live,"},
		{"p = malloc(400000); fill(p, AREA + 24 - p); turn();", "heap-overrun", "rseq_cs is 0x"},
		{"SEQUENCE = (void *)0x123456789000; rest();", "wild-write", "rseq_cs is 0x123456789000,"},
		{"SEQUENCE = (void *)0x123456789000; turn();", "wild-write", "the instruction did nothing wrong"},
		{"SEQUENCE = (void *)-8L; rest();", "wild-write", "rseq_cs is 0xfffffffffffffff8,"},
		{"memset(data, 'x', sizeof data); SEQUENCE = data; rest();", "wild-write", "which is no sequence"},
		{"*(void *volatile *)(data + 24) = data + 32; SEQUENCE = data; turn();", "wild-write",
		 "which is no sequence"},
		{"p = malloc(400000); memset(AREA, 'x', 24); rest();", "wild-write", "rseq_cs is 0x7878787878787878,"},
		{"p = (char *)0x8141424344454647; sink = *p;", "wild-read", "is not canonical"},
		{"SEQUENCE = (void *)0x1000; p = (char *)0x8141424344454647; sink = *p;", "wild-read",
		 "is not canonical"},
		{"__asm__ volatile(\"cli\");", "bad-instruction", "cli"},
	};
	struct xc_text source = {0};
	if (!__rseq_size)
		skip();
	many_deaths_begin(&source, HEAD);
	for (size_t i = 0; i < XC_COUNT(cases); i++)
		many_deaths_add(&source, i, cases[i].source);
	many_deaths_end(&source);
	for (size_t i = 0; i < XC_COUNT(cases); i++)
		judged_expect("gcc -g -O1 -x c", xc_text_string(&source), true,
			      &(struct wanted){.class_name = cases[i].class_name,
					       .says = cases[i].says,
					       .argument = many_deaths_number(i)});
	xc_text_fini(&source);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_kernel_could_not_use),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
