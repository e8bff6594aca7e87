/* layer: triage */
/* C++ programs that the run-time ends. The truth is what the source throws, and where. */
#include "tests/support/run_verdict.h"

#define HEAD                                                                                                           \
	"#include <stdexcept>\n#include <string>\n#include <system_error>\n#include <thread>\n#include <vector>\n"     \
	"struct parse_error : std::runtime_error { int line; parse_error(const char *w, int l) : "                     \
	"std::runtime_error(w), line(l) {} };\n"                                                                       \
	"struct own : std::exception { std::string text; own(const char *t) : text(t) {}\n"                            \
	" const char *what() const noexcept override { return text.c_str(); } };\n"                                    \
	"struct aside { virtual ~aside() {} long pad = 1; };\n"                                                        \
	"struct both : aside, own { both(const char *t) : own(t) {} };\n"                                              \
	"struct constant : std::exception { const char *what() const noexcept override { return \"always this\"; } "   \
	"};\n"                                                                                                         \
	"volatile size_t big = (size_t)1 << 60; volatile int one = 1;\n"
#define THROWS(what)                                                                                                   \
	HEAD "__attribute__((noinline)) void thrower(int k) { if (k) throw " what                                      \
	     "; }\nint main() { thrower(one); return 0; }\n"

static const char *const compilers[] = {"g++ -g -O0 -pthread -x c++", "g++ -g -O2 -pthread -x c++",
					"clang++ -g -O0 -pthread -x c++", "clang++ -g -O2 -pthread -x c++"};

static void expect_all(const char *source, const struct wanted *want)
{
	for (size_t i = 0; i < XC_COUNT(compilers); i++)
		judged_expect(compilers[i], source, false, want);
}

#define THROWN(type, text)                                                                                             \
	&(struct wanted)                                                                                               \
	{                                                                                                              \
		.class_name = "uncaught-exception", .kind = type, .function = "thrower", .message = text,              \
		.says = "was thrown by thrower, and nothing caught it"                                                 \
	}

static void type_and_what_are_told(void **state)
{
	(void)state;
	expect_all(THROWS("std::runtime_error(\"something bad\")"), THROWN("std::runtime_error", "something bad"));
	expect_all(THROWS("own(\"text that is too long for the small string\")"),
		   THROWN("own", "text that is too long for the small string"));
	expect_all(THROWS("both(\"behind another base\")"), THROWN("both", "behind another base"));
	expect_all(THROWS("constant()"), THROWN("constant", "always this"));
	expect_all(THROWS("std::string(\"only a text\")"), THROWN("std::string", "only a text"));
	expect_all(THROWS("std::system_error(std::make_error_code(std::errc::no_such_file_or_directory), \"open\")"),
		   THROWN("std::system_error", "open: No such file or directory"));
}

static void members_of_what_was_thrown_are_told(void **state)
{
	(void)state;
	struct wanted want = *THROWN("parse_error", "line is bad");
	want.also = "thrown: line = 42";
	expect_all(THROWS("parse_error(\"line is bad\", 42)"), &want);
	want = *THROWN("int", NULL);
	want.also = "thrown: 4711";
	expect_all(THROWS("4711"), &want);
}

static void an_exception_of_the_library_is_its_callers(void **state)
{
	(void)state;
	expect_all(HEAD "__attribute__((noinline)) int look(std::vector<int> &v, unsigned i) { return v.at(i); }\n"
			"int main() { std::vector<int> v(3); return look(v, 9); }\n",
		   &(struct wanted){.class_name = "uncaught-exception",
				    .kind = "std::out_of_range",
				    .function = "look",
				    .message = "__n (which is 9) >= this->size() (which is 3)"});
}

static void what_was_thrown_again_is_told_as_such(void **state)
{
	(void)state;
	static const struct wanted want = {.class_name = "uncaught-exception",
					   .kind = "parse_error",
					   .function = "again",
					   .message = "first",
					   .says = "was thrown again by again"};
	expect_all(HEAD "__attribute__((noinline)) void again() { try { throw parse_error(\"first\", one); } catch "
			"(std::exception &) "
			"{ throw; } }\nint main() { again(); return one; }\n",
		   &want);
	expect_all(HEAD "__attribute__((noinline)) void again() { std::exception_ptr p; try { throw "
			"parse_error(\"first\", one); }\n"
			" catch (...) { p = std::current_exception(); } std::rethrow_exception(p); }\n"
			"int main() { again(); return one; }\n",
		   &want);
}

/* gcc's run-time still has the thrower on the stack; clang's code has left it. */
static void a_noexcept_function_is_named(void **state)
{
	(void)state;
	static const char source[] = HEAD
		"__attribute__((noinline)) void thrower(int k) { if (k) throw own(\"not through here\"); one = 1; }\n"
		"__attribute__((noinline)) void between(int k) { thrower(k); one = 1; }\n"
		"__attribute__((noinline)) void quiet(int k) noexcept { between(k); one = 1; }\n"
		"int main() { quiet(one); return one; }\n";
	struct wanted want = {.class_name = "uncaught-exception", .kind = "own", .message = "not through here"};
	for (size_t i = 0; i < XC_COUNT(compilers); i++) {
		bool clang = strstr(compilers[i], "clang");
		want.function = clang ? "quiet" : "thrower";
		want.says = clang ? "thrown through quiet, which is noexcept"
				  : "thrown by thrower, came to quiet, which is noexcept";
		judged_expect(compilers[i], source, false, &want);
	}
}

static void terminate_without_an_exception_is_none(void **state)
{
	(void)state;
	struct wanted want = {.class_name = "uncaught-exception",
			      .kind = "terminate",
			      .function = "stop",
			      .says = "no exception was in flight"};
	expect_all(HEAD "__attribute__((noinline)) void stop() { if (one) std::terminate(); }\nint main() { stop(); "
			"return 0; }\n",
		   &want);
	want.says = "neither joined nor detached";
	expect_all(
		HEAD
		"__attribute__((noinline)) void stop() { std::thread t([] { for (;;) std::this_thread::yield(); }); }\n"
		"int main() { stop(); return 0; }\n",
		&want);
}

static void memory_that_could_not_be_had_is_told_with_its_size(void **state)
{
	(void)state;
	static const char source[] = HEAD "char *volatile p; __attribute__((noinline)) void grow() { p = new "
					  "char[big]; }\nint main() { grow(); return *p; }\n";
	expect_all(source,
		   &(struct wanted){
			   .class_name = "out-of-memory",
			   .kind = "std::bad_alloc",
			   .function = "grow",
			   .says = "operator new could not give the 1152921504606846976 bytes that grow asked for"});
}

static void a_pure_virtual_call_names_class_and_function(void **state)
{
	(void)state;
	static const char source[] = HEAD
		"struct base { base(); virtual ~base() {} virtual int other() { return 1; } virtual int go() = 0; };\n"
		"__attribute__((noinline)) int call(base *b) { return b->go() + one; }\nbase::base() { call(this); one "
		"= 2; }\n"
		"struct derived : base { int go() override { return one; } };\n"
		"int main() { derived d; return d.go(); }\n";
	for (size_t i = 0; i < XC_COUNT(compilers); i++) {
		bool guessed = i == 1; /* a call that gcc guesses: the object is not told on this way */
		judged_expect(compilers[i], source, false,
			      &(struct wanted){.class_name = "pure-virtual-call",
					       .function = "call",
					       .expression = guessed ? NULL : "base::go",
					       .says = guessed ? NULL : "is only a base"});
	}
}

static void a_static_program_keeps_its_exceptions_elsewhere(void **state)
{
	(void)state;
	judged_expect("g++ -g -O2 -static -x c++", THROWS("own(\"in a static program\")"), false,
		      THROWN("own", "in a static program"));
}

static void without_debug_information_type_and_text_remain(void **state)
{
	(void)state;
	judged_expect("g++ -O2 -x c++", THROWS("own(\"no debug information\")"), false,
		      THROWN("own", "no debug information"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(type_and_what_are_told),
		cmocka_unit_test(members_of_what_was_thrown_are_told),
		cmocka_unit_test(an_exception_of_the_library_is_its_callers),
		cmocka_unit_test(what_was_thrown_again_is_told_as_such),
		cmocka_unit_test(a_noexcept_function_is_named),
		cmocka_unit_test(terminate_without_an_exception_is_none),
		cmocka_unit_test(memory_that_could_not_be_had_is_told_with_its_size),
		cmocka_unit_test(a_pure_virtual_call_names_class_and_function),
		cmocka_unit_test(a_static_program_keeps_its_exceptions_elsewhere),
		cmocka_unit_test(without_debug_information_type_and_text_remain),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
