/* layer: triage tier: long */
/* What holds the NULL: an empty smart pointer, or an entry of a table. */
#include "tests/support/grid.h"
#include "tests/support/run_verdict.h"

static const char *const cxx[] = {"g++ -g -O0 -w -x c++", "g++ -g -O2 -w -x c++", "clang++ -g -O0 -w -x c++",
				  "clang++ -g -O2 -w -x c++"};
static const char *const c[] = {"gcc -g -O0 -w -x c", "gcc -g -O2 -w -x c", "clang -g -O0 -w -x c",
				"clang -g -O2 -w -x c"};

#define SESSION(member, make, lose)                                                                                    \
	"#include <memory>\n#include <vector>\nstruct Tx { long id; std::vector<long> ops; };\n"                       \
	"struct Session { long number; " member " tx_;\n"                                                              \
	" __attribute__((noinline)) long pending() const { return tx_->id + number; } };\n"                            \
	"std::vector<" member "> queue; volatile long sink;\n"                                                         \
	"int main() { Session s{1, " make "}; sink = s.pending(); " lose " return (int)s.pending(); }\n"

static void a_smart_pointer_that_was_moved_from_is_told(void **state)
{
	(void)state;
	GRID(i, XC_COUNT(cxx)) {
		judged_expect(
			cxx[i],
			SESSION("std::unique_ptr<Tx>", "std::make_unique<Tx>()", "queue.push_back(std::move(s.tx_));"),
			true,
			&(struct wanted){.class_name = "null-read",
					 .function = "Session::pending",
					 .says = "it is an empty std::unique_ptr: it was moved from"});
		judged_expect(cxx[i], SESSION("std::shared_ptr<Tx>", "std::make_shared<Tx>()", "s.tx_.reset();"), true,
			      &(struct wanted){
				      .class_name = "null-read",
				      .says = "it is an empty std::shared_ptr: it was moved from, reset or destroyed"});
	}
}

static void a_plain_pointer_is_none(void **state)
{
	(void)state;
	GRID(i, XC_COUNT(cxx))
		judged_expect(cxx[i], SESSION("Tx *", "new Tx()", "queue.push_back(s.tx_); s.tx_ = nullptr;"), true,
			      &(struct wanted){.class_name = "null-read", .without = "empty std::"});
}

#define CODECS(entries, call)                                                                                          \
	"struct codec { const char *name; int (*begin)(int); int (*flush)(int); };\n"                                  \
	"static int begin(int n) { return n + 1; }\nstatic int flush(int n) { return n - 1; }\nvolatile int sink;\n"   \
	"static struct codec codecs[] = {" entries "};\n"                                                              \
	"__attribute__((noinline)) int run(struct codec *one) { int n = one->begin(2); sink = n; n += " call           \
	"; return n + sink; }\n"                                                                                       \
	"int main(void) { codecs[1].begin = begin; for (int i = 0; i < 3; i++) sink = run(&codecs[i]); return 0; }\n"

static void the_entry_of_a_table_is_told(void **state)
{
	(void)state;
	static const char all[] =
		CODECS("{\"text\", begin, flush}, {\"json\", begin, flush}, {\"xml\", begin}", "one->flush(n)");
	static const char some[] =
		CODECS("{\"text\", begin, flush}, {\"json\", begin}, {\"xml\", begin}", "one->flush(n)");
	GRID(i, XC_COUNT(c)) {
		judged_expect(c[i], all, true,
			      &(struct wanted){.class_name = "call-null",
					       .says = "the NULL is `codecs[2].flush`, `name` \"xml\"; all other "
						       "elements, 2, have something there"});
		judged_expect(c[i], some, true,
			      &(struct wanted){.class_name = "call-null",
					       .says = "the NULL is `codecs[1].flush`, `name` \"json\"; of 2 other "
						       "elements 1 has something there"});
	}
}

/* A single object is no table; and what was called is no NULL. */
static void other_places_are_no_table(void **state)
{
	(void)state;
	static const char single[] =
		"struct codec { const char *name; int (*flush)(int); };\nstatic struct codec codec = {\"text\"};\n"
		"__attribute__((noinline)) int run(struct codec *one) { return one->flush(3) + 1; }\n"
		"struct codec *volatile way = &codec; int main(void) { return run(way); }\n";
	GRID(i, XC_COUNT(c))
		judged_expect(c[i], single, true,
			      &(struct wanted){.class_name = "call-null", .without = "the NULL is"});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_smart_pointer_that_was_moved_from_is_told),
		cmocka_unit_test(a_plain_pointer_is_none),
		cmocka_unit_test(the_entry_of_a_table_is_told),
		cmocka_unit_test(other_places_are_no_table),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
