/* layer: triage tier: long */
/* Elements outside of their array: programs that crash by one, with the truth in their source. */
#include "tests/support/opened.h"

#include "core/report/report.h"
#include "triage/cause.h"

#define NOINLINE "__attribute__((noinline)) "
#define HEAD                                                                                                           \
	"#include <stdlib.h>\nstruct part { long id; char *name; long weight; };\n"                                    \
	"struct list { struct part *parts[4]; long used; struct part *spare; };\n"                                     \
	"struct tail { long used; struct part *parts[2]; };\n"                                                         \
	"static struct { struct part *parts[4]; const char *title; } pool = {.title = \"a title\"};\n"                 \
	"static struct { long full; struct part *cells[3][4]; struct list list; } grid = {.full = 7};\n"               \
	"int (*hooks[4])(int);\n"                                                                                      \
	"volatile long zero, sink; static struct part one;\n"

struct example {
	const char *source;
	const char *part;  /* of the cause */
	const char *never; /* a part that it has not; NULL: not checked */
};

static const struct example examples[] = {
	{HEAD NOINLINE "long work(long i) { return pool.parts[i]->name[3]; }\n"
		       "int main(void) { sink = work(4 + zero); return 0; }\n",
	 "the index `i` is 4, one past the last of the 4 elements of `pool.parts`; the bytes there are of `pool.title`",
	 "a string was written"},
	{HEAD NOINLINE "long work(long i, long k) { return grid.cells[i][k]->weight; }\n"
		       "int main(void) { sink = work(zero, -1 + zero); return 0; }\n",
	 "-1, before the first of the 4 elements of `grid.cells[i]`; the bytes there are of `grid.full`", NULL},
	{HEAD NOINLINE "long work(struct list *l, long i) { return l->parts[i]->weight; }\n"
		       "int main(void) { grid.list.used = 5; sink = work(&grid.list, 4 + zero); return 0; }\n",
	 "one past the last of the 4 elements of `l->parts`; the bytes there are of `l->used`", "plus an offset"},
	{HEAD NOINLINE "int work(unsigned i) { return hooks[i](3) + 1; }\n"
		       "int main(void) { sink = work(100000000 + (unsigned)zero); return 0; }\n",
	 "the index `i` is 100000000, beyond the last of the 4 elements of `hooks`", NULL},
	/* the table of the unsigned value has something there: nobody wrote it in between */
	{HEAD "struct lexer { long hits[64]; int (*table[256])(int); } lexer; static int other(int c) { return c; "
	      "}\n" NOINLINE
	      "int work(struct lexer *l, const char *text) { char c = *text; return l->table[(int)c](3) + 1; }\n"
	      "int main(void) { for (int i = 0; i < 256; i++) lexer.table[i] = other; sink = work(&lexer, "
	      "\"\\351t\\351\"); return 0; }\n",
	 "` is -23, before the first of the 256 elements of `l->table`; the bytes there are of "
	 "`l->hits[41]`",
	 "race"},
	/* inside, or not known to be outside */
	{HEAD NOINLINE
	 "long work(const char *text) { char c = *text; return pool.parts[(unsigned char)c & 3]->weight; }\n"
	 "int main(void) { sink = work(\"\\351t\\351\"); return 0; }\n",
	 "is NULL", "race"},
	{HEAD NOINLINE "long work(struct tail *t, long i) { return t->parts[i]->weight; }\n"
		       "int main(void) { sink = work(calloc(9, sizeof(struct tail)), 5 + zero); return 0; }\n",
	 "`t->parts[i]` is NULL", "elements of"},
	{HEAD NOINLINE "long work(long i) { return pool.parts[i]->weight; }\n"
		       "int main(void) { sink = work(3 + zero); return 0; }\n",
	 "`pool.parts[i]` is NULL", "elements of"},
	{HEAD NOINLINE "long work(long i) { return pool.parts[i]->name[100]; }\n"
		       "int main(void) { pool.parts[2] = &one; sink = work(2 + zero); return 0; }\n",
	 "`pool.parts[i]->name` is NULL", "elements of"},
};

static const char *const compilers[] = {"gcc -g -O0 -x c", "gcc -g -O2 -x c", "clang -g -O0 -x c"};

static bool is_right(const struct example *e, const char *compiler)
{
	struct xc_process *process = died(compiler, e->source);
	struct xc_report *report = xc_report_new("analyze");
	xc_cause(report, process, NULL);
	const char *cause = report->verdict->cause ? report->verdict->cause : "";
	bool right = strstr(cause, e->part) && !(e->never && strstr(cause, e->never));
	if (!right)
		print_message("WRONG %s: %s\n   instead of %s\n", compiler, cause, e->part);
	xc_report_free(report);
	close_process(process);
	return right;
}

static void elements_outside_of_their_array_are_told(void **state)
{
	(void)state;
	unsigned wrong = 0;
	for (size_t i = 0; i < XC_COUNT(examples); i++)
		for (size_t c = 0; c < XC_COUNT(compilers); c++)
			wrong += !is_right(&examples[i], compilers[c]);
	assert_int_equal(wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(elements_outside_of_their_array_are_told)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
