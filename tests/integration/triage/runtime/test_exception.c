/* layer: triage tier: long */
/* C++ programs ended by the runtime. The truth is the source's throw expression and its place. */
#include "tests/support/grid.h"
#include "tests/support/run_verdict.h"

/* Its argument selects the cause of death. */
static const char program[] =
	"#include <cstdlib>\n#include <stdexcept>\n#include <string>\n#include <system_error>\n#include <thread>\n"
	"#include <vector>\n#define NOINLINE __attribute__((noinline))\n"
	"struct parse_error : std::runtime_error { int line;\n"
	" parse_error(const char *w, int l) : std::runtime_error(w), line(l) {} };\n"
	"struct own : std::exception { std::string text; own(const char *t) : text(t) {}\n"
	" const char *what() const noexcept override { return text.c_str(); } };\n"
	"struct aside { virtual ~aside() {} long pad = 1; };\n"
	"struct both : aside, own { both(const char *t) : own(t) {} };\n"
	"struct constant : std::exception { const char *what() const noexcept override { return \"always this\"; } };\n"
	"volatile size_t big = (size_t)1 << 60; volatile int one = 1; char *volatile p;\n"
	"NOINLINE void thrower(int k) { switch (k) {\n"
	" case 1: throw std::runtime_error(\"something bad\");\n"
	" case 2: throw own(\"text that is too long for the small string\");\n"
	" case 3: throw both(\"behind another base\");\n"
	" case 4: throw constant();\n"
	" case 5: throw std::string(\"only a text\");\n"
	" case 6: throw std::system_error(std::make_error_code(std::errc::no_such_file_or_directory), \"open\");\n"
	" case 7: throw parse_error(\"line is bad\", 42);\n"
	" case 8: throw 4711; }\n"
	" one = 1; }\n"
	"NOINLINE int look(std::vector<int> &v, unsigned i) { return v.at(i); }\n"
	"NOINLINE void again() { try { throw parse_error(\"first\", one); } catch (std::exception &) { throw; } }\n"
	"NOINLINE void later() { std::exception_ptr e; try { throw parse_error(\"first\", one); }\n"
	" catch (...) { e = std::current_exception(); } std::rethrow_exception(e); }\n"
	"NOINLINE void between(int k) { thrower(k); one = 1; }\n"
	"NOINLINE void quiet(int k) noexcept { between(k); one = 1; }\n"
	"NOINLINE void stop() { if (one) std::terminate(); }\n"
	"NOINLINE void leave() { std::thread t([] { for (;;) std::this_thread::yield(); }); }\n"
	"NOINLINE void nothing() { if (one) throw; }\n"
	"struct keeper : std::runtime_error, std::nested_exception { using std::runtime_error::runtime_error; };\n"
	"NOINLINE void wrap(int k) { try { thrower(k); } catch (...) {\n"
	" std::throw_with_nested(parse_error(\"in a file\", 11)); } }\n"
	"NOINLINE void wrap_twice(int k) { try { wrap(k); } catch (...) {\n"
	" std::throw_with_nested(std::logic_error(\"in a folder\")); } }\n"
	"NOINLINE void keep(int k) { try { thrower(k); } catch (...) { throw keeper(\"kept\"); } }\n"
	"NOINLINE void keep_none() { throw keeper(\"none is kept\"); }\n"
	"NOINLINE void handler() { try { thrower(1); } catch (std::exception &) { stop(); } }\n"
	"NOINLINE void grow() { p = new char[big]; }\n"
	"struct base { base(); virtual ~base() {} virtual int other() { return 1; } virtual int go() = 0; };\n"
	"NOINLINE int call(base *b) { return b->go() + one; }\n"
	"base::base() { call(this); one = 2; }\n"
	"struct derived : base { int go() override { return one; } };\n"
	"struct joiner { std::thread t; joiner() : t([] { for (;;) std::this_thread::yield(); }) {} };\n"
	"struct giver_up { ~giver_up() { abort(); } }; struct writer { ~writer() { *p = 1; } };\n"
	"template <class T> NOINLINE void destroys(int l) { T t; if (l) throw parse_error(\"the first failure\", l); "
	"}\n"
	"NOINLINE void between_destructors(int k) { std::exception_ptr held;\n"
	" try { throw own(\"an old one, which is kept\"); } catch (...) { held = std::current_exception(); }\n"
	" if (k == 17) destroys<joiner>(one); if (k == 18) destroys<giver_up>(one); if (k == 19) "
	"destroys<writer>(one);\n"
	" one = 1; }\n"
	"int main(int argc, char **argv) { int k = atoi(argv[1]); std::vector<int> v(3); switch (k) {\n"
	" case 9: return look(v, 9); case 10: again(); break; case 11: later(); break; case 12: quiet(one + 1); "
	"break;\n"
	" case 13: stop(); break; case 14: leave(); break; case 15: grow(); return *p;\n"
	" case 16: { derived d; return d.go(); }\n"
	" case 17: case 18: case 19: try { between_destructors(k); } catch (std::exception &) { } break;\n"
	" case 20: nothing(); break; case 21: handler(); break;\n"
	" case 22: wrap(7); break; case 23: wrap_twice(5); break; case 24: keep(2); break; case 25: keep_none(); "
	"break;\n"
	" case 26: wrap(8); break;\n"
	" default: thrower(k); }\n"
	" return one; }\n";

/* gcc speculates on the target of a virtual call: the object is then unknown on the way to it. */
static const char *const compilers[] = {"g++ -g -O0 -pthread -x c++", "clang++ -g -O0 -pthread -x c++",
					"clang++ -g -O2 -pthread -x c++", "g++ -g -O2 -pthread -x c++"};
enum { UNGUESSED = 3 };

static void expect(const struct wanted *want)
{
	GRID(i, XC_COUNT(compilers))
		judged_expect(compilers[i], program, false, want);
}

#define THROWN(number, type, text)                                                                                     \
	&(struct wanted)                                                                                               \
	{                                                                                                              \
		.argument = number, .class_name = "uncaught-exception", .kind = type, .function = "thrower",           \
		.message = text, .says = "was thrown by thrower, and nothing caught it"                                \
	}

static void type_and_what_are_told(void **state)
{
	(void)state;
	expect(THROWN("1", "std::runtime_error", "something bad"));
	expect(THROWN("2", "own", "text that is too long for the small string"));
	expect(THROWN("3", "both", "behind another base"));
	expect(THROWN("4", "constant", "always this"));
	expect(THROWN("5", "std::string", "only a text"));
	expect(THROWN("6", "std::system_error", "open: No such file or directory"));
}

static void members_of_what_was_thrown_are_told(void **state)
{
	(void)state;
	struct wanted want = *THROWN("7", "parse_error", "line is bad");
	want.also = "thrown: line = 42";
	expect(&want);
	want = *THROWN("8", "int", NULL);
	want.also = "thrown: 4711";
	expect(&want);
}

#define NESTED(number, inside, text)                                                                                   \
	&(struct wanted)                                                                                               \
	{                                                                                                              \
		.argument = number, .class_name = "uncaught-exception", .function = inside, .message = text,           \
	}

static void what_it_was_thrown_for_is_told(void **state)
{
	(void)state;
	struct wanted want = *NESTED("22", "wrap", "in a file");
	want.says = "thrown for: parse_error: line is bad";
	want.also = "its members: line = 42";
	expect(&want);
	want.says = "thrown: line = 11";
	expect(&want);
	want = *NESTED("23", "wrap_twice", "in a folder");
	want.says = "thrown for: parse_error: in a file";
	want.also = "which was thrown for: std::string: only a text";
	expect(&want);
	want = *NESTED("24", "keep", "kept");
	want.says = "thrown for: own: text that is too long for the small string";
	expect(&want);
	want = *NESTED("25", "keep_none", "none is kept");
	want.without = "thrown for";
	expect(&want);
	want = *NESTED("26", "wrap", "in a file");
	want.says = "thrown for: int";
	want.also = "its members: 4711";
	expect(&want);
}

static void an_exception_of_the_library_is_its_callers(void **state)
{
	(void)state;
	expect(&(struct wanted){.argument = "9",
				.class_name = "uncaught-exception",
				.kind = "std::out_of_range",
				.function = "look",
				.message = "__n (which is 9) >= this->size() (which is 3)"});
}

static void what_was_thrown_again_is_told_as_such(void **state)
{
	(void)state;
	struct wanted want = {.argument = "10",
			      .class_name = "uncaught-exception",
			      .kind = "parse_error",
			      .function = "again",
			      .message = "first",
			      .says = "was thrown again by again"};
	expect(&want);
	want.argument = "11";
	want.function = "later";
	want.says = "was thrown again by later";
	expect(&want);
}

/* gcc's runtime still has the thrower on the stack; clang's does not. */
static void a_noexcept_function_is_named(void **state)
{
	(void)state;
	static const char *const by[][2] = {{"g++ -g -O0 -pthread -x c++", "g++ -g -O2 -pthread -x c++"},
					    {"clang++ -g -O0 -pthread -x c++", "clang++ -g -O2 -pthread -x c++"}};
	struct wanted want = {.argument = "12",
			      .class_name = "uncaught-exception",
			      .kind = "own",
			      .message = "text that is too long for the small string"};
	for (size_t clang = 0; clang < 2; clang++)
		GRID(i, 2) {
			want.function = clang ? "quiet" : "thrower";
			want.says = clang ? "thrown through noexcept code of quiet"
					  : "thrown by thrower, reached noexcept code of quiet";
			judged_expect(by[clang][i], program, false, &want);
		}
}

/* What the clean-up code on the way has destroyed is no cause. */
static void a_function_that_was_passed_through_has_not_thrown(void **state)
{
	(void)state;
	static const char source[] =
		"#include <stdexcept>\n#include <string>\nvolatile int closed;\n"
		"__attribute__((noinline)) void send(const std::string &text) { if (closed) throw "
		"std::runtime_error(\"link is closed: \" + text); closed = 1; }\n"
		"__attribute__((noinline)) void exec(const char *sql) { std::string frame = \"a frame of the protocol: "
		"\"; "
		"frame += sql; send(frame); }\n"
		"struct transaction { bool open = true; ~transaction() { if (open) exec(\"ROLLBACK\"); } };\n"
		"__attribute__((noinline)) void post() { transaction t; exec(\"BEGIN\"); exec(\"INSERT\"); t.open = "
		"false; }\n"
		"int main() { try { post(); } catch (const std::exception &) {} return 0; }\n";
	static const char *const gcc[] = {"g++ -g -O0 -x c++", "g++ -g -O2 -x c++"};
	static const struct wanted want = {.class_name = "uncaught-exception",
					   .says = "which passed through exec, reached noexcept code of transaction",
					   .also = "while this exception unwound the stack",
					   .without = "freed memory"};
	GRID(i, XC_COUNT(gcc))
		judged_expect(gcc[i], source, true, &want);
}

static void terminate_without_an_exception_is_none(void **state)
{
	(void)state;
	struct wanted want = {.argument = "13",
			      .class_name = "terminate",
			      .kind = "called",
			      .function = "stop",
			      .says = "no exception was in flight"};
	expect(&want);
	want.argument = "14";
	want.kind = "joinable thread";
	want.function = "leave";
	want.says = "neither joined nor detached";
	expect(&want);
	want = (struct wanted){.argument = "20",
			       .class_name = "terminate",
			       .kind = "rethrow",
			       .function = "nothing",
			       .says = "`throw;` in nothing, where no exception was handled"};
	expect(&want);
	want = (struct wanted){.argument = "21",
			       .class_name = "terminate",
			       .kind = "called",
			       .says = "while std::runtime_error was handled"};
	expect(&want);
}

/* It is neither the cause nor caught, and it is lost with the process. */
static void an_exception_in_flight_is_told(void **state)
{
	(void)state;
	static const char flies[] = "while this exception unwound the stack: parse_error: the first failure";
	struct wanted want = {.argument = "17", .class_name = "terminate", .kind = "joinable thread", .says = flies};
	expect(&want);
	want = (struct wanted){.argument = "18", .class_name = "abort", .says = flies};
	expect(&want);
	want = (struct wanted){.argument = "19", .class_name = "null-write", .says = flies};
	expect(&want);
}

static void memory_that_could_not_be_had_is_told_with_its_size(void **state)
{
	(void)state;
	expect(&(struct wanted){
		.argument = "15",
		.class_name = "out-of-memory",
		.kind = "std::bad_alloc",
		.function = "grow",
		.says = "operator new could not allocate the 1152921504606846976 bytes that grow requested"});
}

static void a_pure_virtual_call_names_class_and_function(void **state)
{
	(void)state;
	struct wanted want = {.argument = "16", .class_name = "pure-virtual-call", .function = "call"};
	expect(&want);
	want.expression = "base::go";
	want.says = "is only a base";
	GRID(i, UNGUESSED)
		judged_expect(compilers[i], program, false, &want);
}

/* A function that returns an object gets the place for it before the object that it is called on. */
static void a_pure_virtual_call_that_returns_an_object_has_its_class(void **state)
{
	static const char source[] =
		"#include <string>\nstruct sink { virtual ~sink(); virtual std::string line(int) = 0; void flush(); "
		"};\n"
		"__attribute__((noinline)) void sink::flush() { std::string text = line(3); if (text.empty()) flush(); "
		"}\n"
		"sink::~sink() { flush(); }\n"
		"struct file : sink { std::string line(int n) override { return std::string(n, 'x'); } };\n"
		"int main() { delete (sink *)new file; }\n";
	const struct wanted want = {.class_name = "pure-virtual-call",
				    .function = "sink::flush",
				    .says = "is only a sink now: this thread is in sink::~sink",
				    .also = "its part of file is already destroyed"};
	(void)state;
	judged_expect("g++ -g -O0 -x c++", source, false, &want);
	judged_expect("clang++ -g -O0 -x c++", source, false, &want);
}

static void a_static_program_keeps_its_exceptions_elsewhere(void **state)
{
	(void)state;
	judged_expect("g++ -g -O2 -static -x c++", program, false,
		      THROWN("2", "own", "text that is too long for the small string"));
}

static void without_debug_information_type_and_text_remain(void **state)
{
	(void)state;
	judged_expect("g++ -O2 -x c++", program, false,
		      THROWN("2", "own", "text that is too long for the small string"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(type_and_what_are_told),
		cmocka_unit_test(members_of_what_was_thrown_are_told),
		cmocka_unit_test(what_it_was_thrown_for_is_told),
		cmocka_unit_test(an_exception_of_the_library_is_its_callers),
		cmocka_unit_test(what_was_thrown_again_is_told_as_such),
		cmocka_unit_test(a_noexcept_function_is_named),
		cmocka_unit_test(a_function_that_was_passed_through_has_not_thrown),
		cmocka_unit_test(terminate_without_an_exception_is_none),
		cmocka_unit_test(an_exception_in_flight_is_told),
		cmocka_unit_test(memory_that_could_not_be_had_is_told_with_its_size),
		cmocka_unit_test(a_pure_virtual_call_names_class_and_function),
		cmocka_unit_test(a_pure_virtual_call_that_returns_an_object_has_its_class),
		cmocka_unit_test(a_static_program_keeps_its_exceptions_elsewhere),
		cmocka_unit_test(without_debug_information_type_and_text_remain),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
