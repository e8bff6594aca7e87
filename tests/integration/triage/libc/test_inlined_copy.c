/* layer: triage */
/* Copies that the compiler wrote as one instruction, and that were given a negative length. */
#include "tests/support/grid.h"
#include "tests/support/run_verdict.h"

#define HEAD                                                                                                           \
	"#include <stdint.h>\n#include <stdlib.h>\n#include <string.h>\n"                                              \
	"struct msg { int len; char body[60]; }; static char out[4096]; volatile long zero; struct msg *volatile "     \
	"got;\n"
#define ROW "__asm__ volatile(\"rep movsb\" : \"+D\"(d), \"+S\"(s), \"+c\"(left) : : \"memory\");"

static void expect(const char *source, const struct wanted *want)
{
	static const char *const compilers[] = {"gcc -g -O0 -x c", "gcc -g -O2 -x c", "clang -g -O2 -x c"};
	GRID(i, XC_COUNT(compilers))
		judged_expect(compilers[i], source, true, want);
}

static void the_negative_length_is_named(void **state)
{
	(void)state;
	expect(HEAD "__attribute__((noinline)) void copy(struct msg *m, int header) { int n = m->len - header; char *d "
		    "= out, "
		    "*s = m->body; size_t left = (size_t)n; " ROW " zero = n; }\n"
		    "int main(void) { got = calloc(1, sizeof *got); got->len = 4; copy(got, 24 + zero); return 0; }\n",
	       &(struct wanted){.class_name = "wild-write",
				.function = "copy",
				.says = "a copy was given a negative length, likely `n`, -20"});
	expect(HEAD "struct buf { size_t used; long *data; };\n"
		    "__attribute__((noinline)) void drop(struct buf *b, size_t n) { size_t rest = b->used - n, left = "
		    "rest; long "
		    "*d = b->data; __asm__ volatile(\"rep stosq\" : \"+D\"(d), \"+c\"(left) : \"a\"(0) : \"memory\"); "
		    "b->used "
		    "= rest; }\n"
		    "int main(void) { struct buf *b = malloc(sizeof *b); b->used = 10; b->data = malloc(64); drop(b, "
		    "13 + zero); "
		    "return b->used; }\n",
	       &(struct wanted){.class_name = "heap-overrun", .says = "a fill was given a negative length"});
}

static void a_long_one_is_not_negative(void **state)
{
	(void)state;
	expect(HEAD "__attribute__((noinline)) void copy(struct msg *m, long n) { char *d = out, *s = m->body; size_t "
		    "left = "
		    "(size_t)n; " ROW " zero = n; }\n"
		    "int main(void) { got = calloc(1, sizeof *got); copy(got, (1L << 33) + zero); return 0; }\n",
	       &(struct wanted){.class_name = "wild-write", .without = "negative"});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_negative_length_is_named),
		cmocka_unit_test(a_long_one_is_not_negative),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
