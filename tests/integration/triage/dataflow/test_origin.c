/* layer: triage */
/* The origin of a bad value, in programs where a wrong answer is close. */
#include "tests/support/grid.h"
#include "tests/support/run_verdict.h"

static void a_pointer_that_a_loop_moved_to_null_was_not_passed_so(void **state)
{
	(void)state;
	static const char source[] =
		"volatile long sink;\n"
		"__attribute__((noinline)) long hop(const unsigned char *from, long step, int n)\n"
		"{ long s = 0; for (const unsigned char *at = from; n--; at += step) s += *at; return s; }\n"
		"int main(void) { unsigned char bytes[8] = \"abc\"; sink = hop(bytes, -(long)bytes, 2); return 0; }\n";
	static const char *const compilers[] = {"gcc -g -O0 -x c", "gcc -g -O2 -x c", "clang -g -O0 -x c",
						"clang -g -O2 -x c"};
	GRID(i, XC_COUNT(compilers)) {
		struct judged j = judge(compilers[i], source, false);
		if (!judged_same(j.verdict->class_name, "null-read") || j.verdict->origin)
			judged_fail(&j, compilers[i], "a NULL that nobody passed");
		judged_free(&j);
	}
}

#define NODES                                                                                                          \
	"struct node { struct node *next; long id; }; struct node *nodes; volatile long sink;\n"                       \
	"struct node second = {(struct node *)0x4142434445464748, 2}, first = {&second, 1};\n"                         \
	"__attribute__((noinline)) long find(long id)\n"                                                               \
	"{ for (struct node *n = nodes; n; n = n->next) if (n->id == id) return 1; return 0; }\n"                      \
	"__attribute__((noinline)) long depth(const struct node *n)\n"                                                 \
	"{ long d = 0; for (; n->id; n = n->next) d += n->id; return d; }\n"                                           \
	"__attribute__((noinline)) long take(void)\n"                                                                  \
	"{ struct node *n = nodes; nodes = &first; return n->id; }\n"

/* What the list begins with, or the caller passed, is still there, and is another value. */
static void a_way_that_memory_disproves_is_not_told(void **state)
{
	(void)state;
	static const struct {
		const char *source, *told, *wrong;
	} cases[] = {
		{NODES "int main(void) { nodes = &first; sink = find(9); return 0; }\n", "read from `n->next`",
		 "`nodes`"},
		{NODES "int main(void) { struct node *list = &first; sink = depth(list); return 0; }\n",
		 "read from `n->next`", "passed"},
		/* set again since by the function itself */
		{NODES "int main(void) { nodes = (struct node *)0x4142434445464748; sink = take(); return 0; }\n",
		 "read from `nodes`", "next"},
	};
	static const char *const compilers[] = {"gcc -g -O0 -x c", "gcc -g -O2 -x c", "clang -g -O0 -x c"};
	for (size_t c = 0; c < XC_COUNT(cases); c++)
		GRID(i, XC_COUNT(compilers)) {
			struct judged j = judge(compilers[i], cases[c].source, false);
			const char *origin = j.verdict->origin;
			if (!origin || !strstr(origin, cases[c].told) || strstr(origin, cases[c].wrong))
				judged_fail(&j, compilers[i], "the way that the value came");
			judged_free(&j);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_way_that_memory_disproves_is_not_told),
		cmocka_unit_test(a_pointer_that_a_loop_moved_to_null_was_not_passed_so),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
