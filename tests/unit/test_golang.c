/* layer: triage */
/* Panics and fatal errors of Go, over programs that die of them; skipped without go. */
#include <stdio.h>
#include <stdlib.h>

#include "judged.h"

static const char *const flags[] = {"-gcflags=all=\"-N -l\"", "", "-ldflags=-w"};

#define HEAD                                                                                                           \
	"package main\nimport (\"errors\"; \"os\"; \"runtime\"; \"sync\"; \"syscall\"; \"unsafe\")\n"                  \
	"var _ = errors.New\nvar _ sync.Mutex\nvar _ unsafe.Pointer\nvar sink int\n"                                   \
	"func init() { runtime.LockOSThread(); f, _ := os.Create(\"/dev/null\"); syscall.Dup2(int(f.Fd()), 2) "        \
	"}\n//go:noinline\n"
#define MAIN(call) "func main() { " call "; os.Exit(2 + sink) }\n"

static bool has_go(void)
{
	return system("command -v go >/dev/null 2>&1") == 0;
}

/* go compiles no standard input. */
static const char *compiler_of(const char *more, char line[300])
{
	snprintf(line, 300,
		 "sh -c 'dir=$(mktemp -d) && cat >$dir\"/program.go\" && go build -buildvcs=false %s -o \"$3\" "
		 "$dir\"/program.go\" && rm -r $dir' sh",
		 more);
	return line;
}

static void expect(const char *source, const struct wanted *want)
{
	char line[300];
	if (!has_go())
		skip();
	for (size_t i = 0; i < XC_COUNT(flags); i++)
		judged_expect(compiler_of(flags[i], line), source, false, want);
}

static void what_the_runtime_found_is_the_kind(void **state)
{
	(void)state;
	static const struct wanted index = {.class_name = "panic",
					    .kind = "index",
					    .function = "main.work",
					    .message = "index out of range [9] with length 3"};
	static const struct wanted map = {.class_name = "panic",
					  .kind = "nil map",
					  .function = "main.work",
					  .message = "assignment to entry in nil map"};
	static const struct wanted nil = {.class_name = "panic", .kind = "nil", .function = "main.work"};
	expect(HEAD "func work(a []int, i int) int { return a[i] }\n" MAIN("sink = work(make([]int, 3), 9)"), &index);
	expect(HEAD "func work(m map[string]int) { m[\"a\"] = 1 }\n" MAIN("work(nil)"), &map);
	expect(HEAD "func work(p *int) int { return *p + 1 }\n" MAIN("sink = work(nil)"), &nil);
}

/* A program may say what the run-time says. */
static void what_a_program_says_itself_is_its_own(void **state)
{
	(void)state;
	static const struct wanted text = {.class_name = "panic",
					   .kind = "explicit",
					   .function = "main.work",
					   .message = "runtime error: index out of range"};
	static const struct wanted error = {
		.class_name = "panic", .kind = "explicit", .function = "main.work", .message = "the disk is full"};
	expect(HEAD "func work() { panic(\"runtime error: index out of range\") }\n" MAIN("work()"), &text);
	expect(HEAD "func work() { panic(errors.New(\"the disk is full\")) }\n" MAIN("work()"), &error);
}

static void a_panic_that_was_recovered_is_none(void **state)
{
	(void)state;
	static const char source[] =
		HEAD "func work(a []int) int { defer func() { recover() }(); return a[5] }\n"
		     "//go:noinline\nfunc later() { panic(\"later\") }\n" MAIN("sink = work(nil); later()");
	static const struct wanted later = {
		.class_name = "panic", .kind = "explicit", .function = "main.later", .message = "later"};
	expect(source, &later);
}

static void what_cannot_be_recovered_is_told_by_what_was_printed(void **state)
{
	(void)state;
	static const struct wanted unlock = {.class_name = "panic",
					     .kind = "unlock",
					     .function = "main.work",
					     .message = "sync: unlock of unlocked mutex"};
	expect(HEAD "func work(m *sync.Mutex) { m.Unlock(); sink++ }\n" MAIN("work(&sync.Mutex{})"), &unlock);
}

/* Of a fault that is no nil pointer the class is that of the fault. */
static void a_fault_is_told_as_one(void **state)
{
	(void)state;
	static const char source[] =
		HEAD "func work(at uintptr) { *(*int)(unsafe.Pointer(at)) = 5; sink++ }\n" MAIN("work(0x123456789000)");
	static const struct wanted wild = {.class_name = "wild-write",
					   .function = "main.work",
					   .expression = "*at",
					   .says = "unexpected fault address 0x123456789000"};
	static const struct wanted unknown = {.class_name = "panic", .kind = "throw", .function = "main.work"};
	char line[300];
	if (!has_go())
		skip();
	judged_expect(compiler_of(flags[1], line), source, false, &wild);
	judged_expect(compiler_of(flags[2], line), source, false, &unknown);
}

static void without_symbols_it_is_said_what_is_missing(void **state)
{
	(void)state;
	static const struct wanted nothing = {.class_name = "abort", .says = "missing: the names of Go's run-time"};
	char line[300];
	if (!has_go())
		skip();
	judged_expect(compiler_of("-ldflags=\"-s -w\"", line), HEAD "func work() { panic(1) }\n" MAIN("work()"), false,
		      &nothing);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_runtime_found_is_the_kind),
		cmocka_unit_test(what_a_program_says_itself_is_its_own),
		cmocka_unit_test(a_panic_that_was_recovered_is_none),
		cmocka_unit_test(what_cannot_be_recovered_is_told_by_what_was_printed),
		cmocka_unit_test(a_fault_is_told_as_one),
		cmocka_unit_test(without_symbols_it_is_said_what_is_missing),
	};
	setenv("GOTRACEBACK", "crash", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
