/* layer: triage tier: long */
/* Streams of the C library that were closed before. */
#include "tests/support/grid.h"
#include "tests/support/run_verdict.h"

#define HEAD                                                                                                           \
	"#include <stdio.h>\n#include <stdlib.h>\n#define NOINLINE __attribute__((noinline))\n"                        \
	"volatile int sink; void *volatile way;\n"                                                                     \
	"static inline void *hidden(void *p) { way = p; return way; }\n"
#define MAIN "int main(void) { FILE *log = hidden(fopen(\"/dev/null\", \"w\")); return work(log); }\n"

static const char *const compilers[] = {"gcc -g -O0 -x c", "gcc -g -O2 -x c", "clang -g -O0 -x c", "clang -g -O2 -x c"};

static void a_stream_that_is_closed_again_is_told(void **state)
{
	(void)state;
	static const char source[] = HEAD "NOINLINE void stop(FILE *log) { fclose(log); sink++; }\n"
					  "NOINLINE int work(FILE *log) { stop(log); stop(log); return sink; }\n" MAIN;
	GRID(i, XC_COUNT(compilers))
		judged_expect(compilers[i], source, true,
			      &(struct wanted){.class_name = "heap-corruption",
					       .kind = "double free",
					       .says = "fclose() was given a stream that had been closed before"});
}

/* Its memory has another owner. */
static void a_stream_that_is_used_after_that_is_told(void **state)
{
	(void)state;
	static const char source[] =
		HEAD "NOINLINE void tell(FILE *log, const char *text) { fputs(text, log); sink++; }\n"
		     "NOINLINE int work(FILE *log) { fclose(log); unsigned long *numbers = malloc(472);\n"
		     "for (int i = 0; i < 59; i++) numbers[i] = 0x0123456700000000; hidden(numbers);\n"
		     "tell(log, \"text\"); return sink; }\n" MAIN;
	GRID(i, XC_COUNT(compilers))
		judged_expect(compilers[i], source, true,
			      &(struct wanted){.class_name = "use-after-free",
					       .function = "tell",
					       .says = "fputs() was given a stream that is not open"});
}

/* A bad text for a good stream, and a stream in memory, which the C library has in no list. */
static void a_stream_that_is_open_is_not(void **state)
{
	(void)state;
	static const char file[] = HEAD "NOINLINE int work(FILE *log) { fputs(hidden((void *)0x7000000000), log); "
					"return ++sink; }\n" MAIN;
	static const char memory[] = HEAD
		"NOINLINE int work(FILE *log) { char *text; size_t size; FILE *to = open_memstream(&text, &size);\n"
		"fputs(hidden((void *)0x7000000000), to); fclose(log); return ++sink; }\n" MAIN;
	GRID(i, XC_COUNT(compilers)) {
		judged_expect(compilers[i], file, true,
			      &(struct wanted){.class_name = "wild-read", .function = "work", .without = "not open"});
		judged_expect(compilers[i], memory, true,
			      &(struct wanted){.class_name = "wild-read", .function = "work", .without = "not open"});
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stream_that_is_closed_again_is_told),
		cmocka_unit_test(a_stream_that_is_used_after_that_is_told),
		cmocka_unit_test(a_stream_that_is_open_is_not),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
