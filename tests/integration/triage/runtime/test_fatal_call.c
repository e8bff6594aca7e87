/* layer: triage tier: long */
/* Functions by which programs end themselves: their caller is to be looked at, and their message is told. */
#include "tests/support/grid.h"
#include "tests/support/run_verdict.h"

static const char program[] =
	"#include <cstdarg>\n#include <cstdio>\n#include <cstdlib>\n#include <iostream>\n#include <memory>\n"
	"#include <sstream>\n#include <string>\n#define NOINLINE __attribute__((noinline))\n"
	"volatile int sink, one = 1;\n"
	"[[noreturn]] NOINLINE void die(const char *format, ...) { char buf[200]; va_list ap; va_start(ap, format);\n"
	" vsnprintf(buf, sizeof buf, format, ap); va_end(ap); fputs(buf, stderr); abort(); }\n"
	"[[noreturn]] NOINLINE void check_failed(const char *file, int line, const char *expr) {\n"
	" fprintf(stderr, \"%s:%d: %s\\n\", file, line, expr); abort(); }\n"
	"[[noreturn]] NOINLINE void verify_failed(const char *what, int line, std::string detail) {\n"
	" fprintf(stderr, \"%d: %s: %s\\n\", line, what, detail.c_str()); abort(); }\n"
	"[[noreturn]] NOINLINE void stop_now(std::string why) { std::cerr << why << '\\n'; abort(); }\n"
	"struct Fatal { std::ostringstream s; ~Fatal() { std::cerr << s.str(); abort(); } };\n"
	"struct Data { std::ostringstream s; };\n"
	"struct LogMessage { std::unique_ptr<Data> d{new Data}; NOINLINE void Flush() { abort(); }\n"
	" ~LogMessage() { std::cerr << d->s.str(); Flush(); } };\n"
	"struct failure { std::string text; [[noreturn]] NOINLINE void raise() { std::cerr << text; abort(); } };\n"
	"[[noreturn]] inline void fatal_error(const char *message) { fputs(message, stderr); abort(); }\n"
	"NOINLINE void give_up() { abort(); }\n"
	"NOINLINE void lookup(int k, const char *path) { switch (k) {\n"
	" case 1: die(\"cannot open %s: error %d\", path, k);\n"
	" case 2: check_failed(\"shop.cc\", 7, \"pos < size\");\n"
	" case 3: stop_now(std::string(\"no more \") + path);\n"
	" case 4: Fatal().s << \"Check failed: pos < size \" << k; break;\n"
	" case 5: LogMessage().d->s << \"Check failed: x == y \" << k; break;\n"
	" case 6: failure{std::string(\"a bad file \") + path}.raise();\n"
	" case 7: fatal_error(\"an inlined message\");\n"
	" case 9: verify_failed(\"s != nullptr\", 7, std::string(\"unknown symbol \") + path);\n"
	" case 8: give_up(); }\n sink = 3; }\n"
	"int main(int, char **argv) { lookup(atoi(argv[1]), \"/etc/shop.conf\"); return sink; }\n";

static const char *const compilers[] = {"g++ -g -O0 -std=c++17 -x c++", "g++ -g -O2 -std=c++17 -x c++",
					"clang++ -g -O2 -std=c++17 -x c++"};

static void expect(const char *argument, const char *function, const char *message, size_t builds)
{
	struct wanted want = {.argument = argument, .class_name = "abort", .function = function, .message = message};
	GRID(i, builds)
		judged_expect(compilers[i], program, true, &want);
}

static void the_caller_is_blamed_and_the_message_told(void **state)
{
	(void)state;
	expect("1", "lookup", "cannot open /etc/shop.conf: error 1", XC_COUNT(compilers));
	expect("2", "lookup", "pos < size", XC_COUNT(compilers));
	expect("9", "lookup", "s != nullptr: unknown symbol /etc/shop.conf", XC_COUNT(compilers));
	expect("3", "lookup", "no more /etc/shop.conf", XC_COUNT(compilers));
}

static void a_stream_in_the_object_of_a_message_is_read(void **state)
{
	(void)state;
	expect("4", "lookup", "Check failed: pos < size 4", XC_COUNT(compilers));
	expect("5", "lookup", "Check failed: x == y 5", XC_COUNT(compilers));
	expect("6", "lookup", "a bad file /etc/shop.conf", 1);
}

static void an_inlined_function_is_known_too(void **state)
{
	(void)state;
	expect("7", "lookup", "an inlined message", 2);
	expect("7", "lookup", NULL, XC_COUNT(compilers));
}

/* It is no function that ends programs, only one that did. */
static void a_function_with_another_name_is_blamed_itself(void **state)
{
	(void)state;
	expect("8", "give_up", NULL, XC_COUNT(compilers));
}

/* CHECK macros of programs that want no handlers to run. */
static void a_function_that_ends_in_a_trap_is_no_culprit_either(void **state)
{
	(void)state;
	static const char source[] =
		"#include <stdlib.h>\n#define NO __attribute__((noinline, noclone))\nvolatile long sink, one = 1;\n"
		"NO __attribute__((noreturn)) void check_failed(const char *file, int line, const char *cond, long a) "
		"{\n"
		" sink = a + line + *file + *cond; __builtin_trap(); }\n"
		"NO void assertion_failed(const char *cond) { sink = *cond; __asm__ volatile(\"int3\"); sink = 2; }\n"
		"NO void trapped(void) { sink = 1; __builtin_trap(); }\n"
		"NO void audit(int k) { if (k == 1) check_failed(\"shop.c\", 7, \"sum == total\", one);\n"
		" if (k == 2) assertion_failed(\"sum != total\"); if (k == 3) trapped(); sink = 3; }\n"
		"int main(int c, char **v) { audit(atoi(v[1])); return (int)sink; }\n";
	static const char *const builds[] = {"gcc -g -O0 -x c", "gcc -g -O2 -x c", "clang -g -O2 -x c"};
	for (size_t i = 0; i < XC_COUNT(builds); i++) {
		struct wanted want = {.argument = "1",
				      .class_name = "trap-instruction",
				      .function = "audit",
				      .message = "sum == total",
				      .says = "audit ended the program through check_failed: a deliberate trap (ud2)"};
		judged_expect(builds[i], source, false, &want);
	}
	judged_expect(builds[0], source, false,
		      &(struct wanted){.argument = "2",
				       .class_name = "trap-instruction",
				       .function = "audit",
				       .message = "sum != total",
				       .says = "audit ended the program through assertion_failed: a breakpoint"});
	judged_expect(builds[0], source, false,
		      &(struct wanted){.argument = "3", .class_name = "trap-instruction", .function = "trapped"});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_caller_is_blamed_and_the_message_told),
		cmocka_unit_test(a_stream_in_the_object_of_a_message_is_read),
		cmocka_unit_test(an_inlined_function_is_known_too),
		cmocka_unit_test(a_function_with_another_name_is_blamed_itself),
		cmocka_unit_test(a_function_that_ends_in_a_trap_is_no_culprit_either),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
