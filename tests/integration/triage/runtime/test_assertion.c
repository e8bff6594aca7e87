/* layer: triage tier: long */
/* Failed assertions: the asserted text, and the values of the program's input. */
#include "tests/support/grid.h"
#include "tests/support/run_verdict.h"

#define QUEUE                                                                                                          \
	"#include <assert.h>\n#include <stdlib.h>\n"                                                                   \
	"struct queue { int head, size; char *name; int items[4]; }; struct queue *volatile all; volatile int sum;\n"  \
	"enum { MOST = 5 };\n"

static void values_of_what_was_asserted_are_told(void **state)
{
	(void)state;
	static const char source[] =
		QUEUE "__attribute__((noinline)) void put(struct queue *q, int i) {\n"
		      " assert(q->head < q->size && (q->items[i + 1] > MOST || *q->name == 'a'));\n"
		      " q->head++; sum = i; }\n"
		      "int main(void) { struct queue *q = calloc(1, sizeof *q); q->head = 12; q->size = 8; q->name = "
		      "\"abc\";\n"
		      " all = q; put(q, 1); return sum + q->head; }\n";
	static const char *const compilers[] = {"gcc -g -O0 -x c", "clang -g -O0 -x c"};
	static const struct wanted want = {.class_name = "assertion",
					   .kind = "",
					   .function = "put",
					   .expression =
						   "q->head < q->size && (q->items[i + 1] > MOST || *q->name == 'a')",
					   .says = "q->head = 12, q->size = 8, q->items[i + 1] = 0, i = 1",
					   .also = "*q->name = 97 'a'"};
	GRID(i, XC_COUNT(compilers))
		judged_expect(compilers[i], source, false, &want);
}

/* A count that is wrong: one of those that write it, by its object or by one that leads to it, is to blame. Not who has
 * no way to it. */
static void who_writes_a_member_of_it_is_told(void **state)
{
	(void)state;
	static const char source[] =
		"#include <assert.h>\n#include <stdlib.h>\n"
		"struct slot { void *head; unsigned count; }; struct timer { struct timer *next, *last; struct slot "
		"*home; };\n"
		"struct pair { long a; unsigned b; }; struct slot *volatile all; struct pair *volatile pairs;\n"
		"__attribute__((noinline)) void enter(struct slot *s, struct timer *t) { t->home = s; s->count++; }\n"
		"__attribute__((noinline)) void leave(struct timer *t) { t->home->count--; t->home = 0; }\n"
		"__attribute__((noinline)) void other(struct pair *p) { p->b++; }\n"
		"__attribute__((noinline)) void check(struct slot *s, unsigned n) { assert(n == s->count); }\n"
		"int main(void) { struct timer t = {0}; all = calloc(1, sizeof *all); pairs = calloc(1, sizeof "
		"*pairs);\n"
		" enter(all, &t); leave(&t); enter(all, &t); other(pairs); check(all, 3); return 0; }\n";
	static const char *const compilers[] = {"gcc -g -O0 -x c", "clang -g -O0 -x c", "gcc -g -O1 -x c"};
	static const struct wanted want = {.class_name = "assertion",
					   .says = "`s->count` is perhaps written in ",
					   .also = "leave (",
					   .without = "other ("};
	GRID(i, XC_COUNT(compilers))
		judged_expect(compilers[i], source, false, &want);
}

/* The known values depend on the compiler. Missing ones must be reported, and none may be wrong. */
static void what_was_optimized_out_is_not_guessed(void **state)
{
	(void)state;
	static const char source[] =
		QUEUE "__attribute__((noinline)) int put(struct queue *q, int i) { assert(q->head < q->size);\n"
		      " q->items[i & 3] = sum; return q->head + i; }\n"
		      "int main(void) { all = calloc(1, sizeof *all); all->head = 12; all->size = 8;\n"
		      " return put(all, 1) + sum; }\n";
	static const char *const compilers[] = {"gcc -g -O2 -x c", "gcc -g -O3 -x c", "clang -g -O2 -x c"};
	GRID(i, XC_COUNT(compilers)) {
		struct judged j = judge(compilers[i], source, false);
		assert_string_equal(j.verdict->class_name, "assertion");
		assert_string_equal(j.verdict->expression, "q->head < q->size");
		assert_true(judged_says(&j, "q->head = 12, q->size = 8") ||
			    judged_says(&j, "optimized out or not in the core: q->head, q->size"));
		judged_free(&j);
	}
}

static void a_global_is_told_whatever_the_compiler_did(void **state)
{
	(void)state;
	static const char source[] =
		"#include <assert.h>\nint limit = 3; volatile int level = 7;\n"
		"__attribute__((noinline)) static int check(void) { assert(level <= limit); return level; }\n"
		"int main(int c, char **v) { limit += c; return check() + 1; }\n";
	static const struct wanted want = {.class_name = "assertion", .says = "level = 7, limit = 4"};
	static const char *const compilers[] = {"gcc -g -O0 -x c", "gcc -g -O2 -x c", "gcc -g -O3 -x c",
						"clang -g -O0 -x c", "clang -g -O2 -x c"};
	GRID(i, XC_COUNT(compilers))
		judged_expect(compilers[i], source, false, &want);
}

/* errno of the thread says why; where no call has failed, there is none. */
static void why_a_call_failed_is_told(void **state)
{
	(void)state;
	static const char source[] =
		"#include <assert.h>\n#include <errno.h>\n#include <fcntl.h>\n#include <unistd.h>\n"
		"__attribute__((noinline)) int begin(const char *path) { int fd = open(path, O_RDONLY);\n"
		" assert(fd < 0 ? WANTED && 0 : fd < 1); return fd; }\n"
		"int main(void) { errno = 0; return begin(PATH); }\n";
	static const struct {
		const char *command, *says;
	} rows[] = {
		{"gcc -g -O0 -x c -DWANTED=1 -DPATH='\"/no/such/file\"'", "errno is 2, ENOENT: No such file"},
		{"gcc -g -O2 -x c -DWANTED=1 -DPATH='\"/no/such/file\"'", "errno is 2, ENOENT: No such file"},
		{"gcc -g -O0 -x c -DWANTED=1 -DPATH='\"/dev/null/x\"'", "errno is 20, ENOTDIR: Not a directory"},
		{"gcc -g -O0 -x c -DWANTED=1 -DPATH='\"/\"'", NULL},
	};
	GRID(i, XC_COUNT(rows)) {
		struct judged j = judge(rows[i].command, source, false);
		assert_string_equal(j.verdict->class_name, "assertion");
		assert_int_equal(judged_says(&j, rows[i].says ? rows[i].says : "errno"), rows[i].says != NULL);
		judged_free(&j);
	}
}

static void without_debug_information_the_text_is_told_and_that_values_are_not(void **state)
{
	(void)state;
	static const struct wanted want = {.class_name = "assertion",
					   .function = "check",
					   .expression = "level <= 3",
					   .says = "no debug information"};
	judged_expect("gcc -O0 -x c",
		      "#include <assert.h>\nvolatile int level = 7;\n"
		      "__attribute__((noinline)) int check(void) { assert(level <= 3); return level; }\n"
		      "int main(void) { return check() + 1; }\n",
		      false, &want);
}

/* Values belong to the user: with redaction, their names replace them. */
static void values_are_redacted(void **state)
{
	(void)state;
	struct judged j = judge("gcc -g -O0 -x c",
				"#include <assert.h>\nint secret = 4711;\n"
				"int main(void) { assert(secret == 0); return 0; }\n",
				false);
	for (size_t i = 0; i < j.verdict->evidence_count; i++)
		assert_null(strstr(j.verdict->redacted[i] ? j.verdict->redacted[i] : "", "4711"));
	assert_true(judged_says(&j, "secret = 4711"));
	judged_free(&j);
}

/* More names than the limit: that is reported. */
static void that_there_are_more_names_is_told(void **state)
{
	(void)state;
	static const struct wanted want = {.class_name = "assertion", .says = "h = 8", .also = "the first 8 names"};
	judged_expect("gcc -g -O0 -x c",
		      "#include <assert.h>\nint a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, i = 9;\n"
		      "int main(void) { assert(a + b + c + d + e + f + g + h + i == 0); return 0; }\n",
		      false, &want);
	struct judged j = judge("gcc -g -O0 -x c",
				"#include <assert.h>\nint a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8;\n"
				"int main(void) { assert(a + b + c + d + e + f + g + h + a == 0); return 0; }\n",
				false);
	assert_false(judged_says(&j, "it names more"));
	judged_free(&j);
}

#define VECTOR                                                                                                         \
	"#include <cassert>\n#include <vector>\n"                                                                      \
	"template <class T> struct ring { std::vector<T> v; unsigned n;\n"                                             \
	" __attribute__((noinline)) T &at(unsigned i) { assert(i < n && !v.empty()); return v[i]; } };\n"              \
	"__attribute__((noinline)) int look(std::vector<int> &w, unsigned k) { return w[k]; }\n"

static void assertions_of_templates_and_of_the_library_are_told_in_the_programs_function(void **state)
{
	(void)state;
	static const char own[] = VECTOR "int main() { ring<int> r; r.n = 1; return r.at(3); }\n";
	static const char library[] = VECTOR "int main() { std::vector<int> w(2, 7); return look(w, 5) + 1; }\n";
	judged_expect("g++ -g -O0 -x c++", own, false,
		      &(struct wanted){.class_name = "assertion",
				       .function = "ring<int>::at",
				       .says = "i = 3, n = 1, v = std::vector of length 0"});
	static const char *const levels[] = {"g++ -g -O0 -D_GLIBCXX_ASSERTIONS -x c++",
					     "g++ -g -O2 -D_GLIBCXX_ASSERTIONS -x c++"};
	for (size_t i = 0; i < grid_count(1, XC_COUNT(levels)); i++)
		judged_expect(
			levels[i], library, false,
			&(struct wanted){.class_name = "assertion",
					 .function = "look",
					 .expression = "__n < this->size()",
					 .says = i ? NULL
						   : "__n = 5, *this = std::vector of length 2, capacity 2 = {7, 7}"});
}

/* As passed by GLib; its own functions are not those of a runtime library. */
static void an_assertion_of_glib_is_its_callers(void **state)
{
	(void)state;
	static const char source[] =
		"#include <stdlib.h>\nvolatile int used = 3;\n"
		"__attribute__((noinline, noreturn)) void g_assertion_message_expr(const char *d, const char *f, int "
		"l,\n"
		" const char *s, const char *e) { used += !d + !f + l + !s + !e; abort(); }\n"
		"__attribute__((noinline)) int add(void) {\n"
		" if (used > 2) g_assertion_message_expr(0, \"f.c\", 3, \"add\", \"used <= 2\"); return used; }\n"
		"int main(void) { return add() + 1; }\n";
	static const struct wanted want = {
		.class_name = "assertion", .function = "add", .expression = "used <= 2", .says = "used = "};
	static const char *const compilers[] = {"gcc -g -O0 -x c", "gcc -g -O2 -x c", "clang -g -O0 -x c"};
	GRID(i, XC_COUNT(compilers))
		judged_expect(compilers[i], source, false, &want);
	judged_expect("clang -O2 -x c", source, false,
		      &(struct wanted){.class_name = "assertion", .function = "add", .expression = "used <= 2"});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_of_what_was_asserted_are_told),
		cmocka_unit_test(who_writes_a_member_of_it_is_told),
		cmocka_unit_test(what_was_optimized_out_is_not_guessed),
		cmocka_unit_test(a_global_is_told_whatever_the_compiler_did),
		cmocka_unit_test(without_debug_information_the_text_is_told_and_that_values_are_not),
		cmocka_unit_test(values_are_redacted),
		cmocka_unit_test(why_a_call_failed_is_told),
		cmocka_unit_test(that_there_are_more_names_is_told),
		cmocka_unit_test(assertions_of_templates_and_of_the_library_are_told_in_the_programs_function),
		cmocka_unit_test(an_assertion_of_glib_is_its_callers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
