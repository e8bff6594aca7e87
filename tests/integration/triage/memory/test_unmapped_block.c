/* layer: triage tier: long */
/* Large blocks used after they were freed: their mappings are gone. Programs that die of it while the test runs. */
#include "tests/support/grid.h"
#include "tests/support/opened.h"
#include "tests/support/run_verdict.h"

#include "core/report/report.h"
#include "heap/session/session.h"
#include "triage/cause.h"

static const char *const compilers[] = {"gcc -g -O0 -x c", "gcc -g -O2 -x c", "clang -g -O0 -x c", "clang -g -O2 -x c"};

#define HEAD                                                                                                           \
	"#include <stdlib.h>\n#include <string.h>\n#include <sys/mman.h>\n"                                            \
	"enum { SIZE = 300000 }; char *volatile first, *volatile second; volatile long sum;\n"                         \
	"__attribute__((noinline)) long count(const char *text, long from) { long n = 0; while (text[from + n]) n++; " \
	"return n; }\n"
#define MAIN(body) HEAD "int main(void) { first = malloc(SIZE); memset(first, 'a', SIZE); " body " return 0; }\n"

static void expect(const char *source, const char *class_name, const char *confidence, const char *cause)
{
	GRID(i, XC_COUNT(compilers)) {
		struct xc_process *process = died(compilers[i], source);
		struct xc_report *report = xc_report_new("analyze");
		xc_cause(report, process, xc_heap_of(process, NULL));
		const struct xc_verdict *v = report->verdict;
		assert_non_null(v);
		bool good = strcmp(v->class_name, class_name) == 0 && strcmp(v->confidence, confidence) == 0 &&
			    v->cause && strstr(v->cause, cause);
		if (!good)
			fail_msg("%s: %s, %s: %s\n%s", compilers[i], v->class_name, v->confidence,
				 v->cause ? v->cause : "", source);
		xc_report_free(report);
		xc_heap_forget(process);
		close_process(process);
	}
}

static void a_large_block_is_gone(void **state)
{
	(void)state;
	expect(MAIN("free(first); sum = first[0];"), "use-after-free", "likely", "a large block that had been freed");
	expect(MAIN("free(first); first[SIZE / 2] = 3;"), "use-after-free", "likely",
	       "a large block that had been freed");
	expect(MAIN("first[SIZE - 1] = 0; free(first); sum = count(first, 0);"), "use-after-free", "likely",
	       "a large block that had been freed");
	expect(MAIN("free(first); sum = (long)strlen(first);"), "use-after-free", "likely",
	       "a large block that had been freed");
}

static void where_the_pointer_is_stored_is_told(void **state)
{
	(void)state;
	GRID(i, XC_COUNT(compilers))
		judged_expect(compilers[i],
			      MAIN("second = first + 40; first = NULL; free(second - 40); sum = second[0];"), true,
			      &(struct wanted){.class_name = "use-after-free",
					       .says = "the pointer is stored at 0x",
					       .also = ": second"});
}

/* Blocks that malloc has mapped since leave no trace of how much it had unmapped, but the largest block is known. */
static void a_gap_with_room_for_a_block_is_a_guess(void **state)
{
	(void)state;
	static const char guess[] = "perhaps in a large block that had been freed: malloc unmaps those (a guess)";
	expect(MAIN("char *volatile inside = first + 1000, *volatile below = malloc(SIZE); free(first); second = "
		    "malloc(SIZE + 100000); "
		    "memset(second, 'b', SIZE); sum = inside[20] + second[0] + below[0];"),
	       "wild-read", "certain", guess);
	expect(MAIN("char *volatile inside = first + 1000, *volatile below = malloc(SIZE); free(first); second = "
		    "malloc(SIZE + 100000); "
		    "memset(second, 'b', SIZE); inside[20] = second[0]; sum = below[0];"),
	       "wild-write", "certain", guess);
}

/* The program's own mappings, blocks that malloc never returned, and addresses too far away. */
static void other_memory_that_is_gone_is_not_a_block(void **state)
{
	(void)state;
	expect(MAIN("second = mmap(0, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); free(first); "
		    "munmap(second, SIZE); sum = second[16];"),
	       "wild-read", "certain", "");
	expect(MAIN("second = mmap(0, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) + 16; "
		    "munmap(second - 16, SIZE); sum = second[0];"),
	       "wild-read", "certain", "");
	expect(MAIN("free(first); sum = first[1l << 40];"), "wild-read", "certain", "");
}

#define TOKENS                                                                                                         \
	HEAD "struct token { const char *text; long length; }; struct lexer { char *buffer; struct token *tokens; "    \
	     "long "                                                                                                   \
	     "count; };\nstruct lexer *lexer; char *volatile before; volatile long spoil;\n"                           \
	     "__attribute__((noinline)) long value(const struct token *t) { long n = 0; for (long i = 0; i < "         \
	     "t->length; i++) n = n * 10 + t->text[i] - '0'; return n; }\n"                                            \
	     "void make(char *buffer, long size) { lexer = malloc(sizeof *lexer); lexer->buffer = buffer; "            \
	     "memset(buffer, '1', size); lexer->tokens = calloc(100, sizeof *lexer->tokens);\n"                        \
	     "for (lexer->count = 0; lexer->count < 100; lexer->count++) lexer->tokens[lexer->count] = (struct "       \
	     "token){buffer + 40 + lexer->count * 7, 5}; }\n"

/* realloc() leaves no trace in malloc's books, munmap() none at all: what still leads there does. */
static void pointers_that_were_kept_show_memory_that_is_gone(void **state)
{
	(void)state;
	static const char kept[] = "pointers to it were kept";
	expect(TOKENS
	       "int main(void) { before = malloc(SIZE); make(malloc(SIZE), SIZE); before = malloc(SIZE); "
	       "lexer->buffer = realloc(lexer->buffer, 20 * SIZE); sum = value(&lexer->tokens[3]); return 0; }\n",
	       "use-after-free", "likely", kept);
	expect(TOKENS
	       "int main(void) { make(mmap(0, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), "
	       "SIZE); munmap(lexer->buffer, SIZE); sum = value(&lexer->tokens[50]); return 0; }\n",
	       "use-after-free", "likely", kept);
	static const char text[] = TOKENS
		"__attribute__((noinline)) long measure(const struct token *t) { return (long)strlen(t->text); }\n"
		"int main(void) { before = malloc(SIZE); make(malloc(SIZE), SIZE); before = malloc(SIZE); "
		"lexer->buffer = realloc(lexer->buffer, 20 * SIZE); sum = measure(&lexer->tokens[3]); return 0; "
		"}\n";
	expect(text, "use-after-free", "likely", kept);
}

/* One pointer alone may have any value. */
static void a_single_pointer_that_leads_nowhere_is_wild(void **state)
{
	(void)state;
	expect(TOKENS
	       "int main(void) { make(malloc(SIZE), SIZE); before = mmap(0, SIZE, PROT_READ | PROT_WRITE, "
	       "MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); munmap(before, SIZE); lexer->tokens[3].text = before + 100; "
	       "sum = value(&lexer->tokens[3]); return 0; }\n",
	       "wild-read", "certain", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_large_block_is_gone),
		cmocka_unit_test(where_the_pointer_is_stored_is_told),
		cmocka_unit_test(a_gap_with_room_for_a_block_is_a_guess),
		cmocka_unit_test(other_memory_that_is_gone_is_not_a_block),
		cmocka_unit_test(pointers_that_were_kept_show_memory_that_is_gone),
		cmocka_unit_test(a_single_pointer_that_leads_nowhere_is_wild),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
