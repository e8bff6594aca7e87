/* layer: triage */
/* Panics and fatal errors of Go, over programs that die of them; skipped without go. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/run_verdict.h"

#include "triage/golang.h"
#include "triage/goroutine.h"

static const char *const flags[] = {"-gcflags=all=\"-N -l\"", "", "-ldflags=-w"};

#define HEAD                                                                                                           \
	"package main\nimport (\"errors\"; \"os\"; \"runtime\"; \"sync\"; \"syscall\"; \"unsafe\")\n"                  \
	"var _ = errors.New\nvar _ sync.Mutex\nvar _ unsafe.Pointer\nvar sink int\n"                                   \
	"func init() { runtime.LockOSThread(); f, _ := os.Create(\"/dev/null\"); syscall.Dup2(int(f.Fd()), 2) "        \
	"}\n//go:noinline\n"
#define MAIN(call) "func main() { " call "; os.Exit(2 + sink) }\n"

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
	check_needs("go");
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

/* The function that is inlined into another one is what called panic(). */
static void an_inlined_function_panics_itself(void **state)
{
	(void)state;
	static const struct wanted want = {
		.class_name = "panic", .kind = "explicit", .function = "main.must", .says = "main.must called panic()"};
	const char *source =
		HEAD "func work(name string) int { _, err := os.Open(name); must(err); return len(name) }\n"
		     "func must(err error) { if err != nil { panic(err) } }\n" MAIN("sink = work(\"/none\")");
	char line[300];
	check_needs("go");
	for (size_t i = 0; i < 2; i++) /* without debug information nothing tells of inlined functions */
		judged_expect(compiler_of(flags[i], line), source, false, &want);
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
	check_needs("go");
	judged_expect(compiler_of(flags[1], line), source, false, &wild);
	judged_expect(compiler_of(flags[2], line), source, false, &unknown);
}

static void without_symbols_it_is_said_what_is_missing(void **state)
{
	(void)state;
	static const struct wanted panic = {.class_name = "panic",
					    .kind = "explicit",
					    .function = "main.work",
					    .message = "no room",
					    .says = "missing: the program's symbols"};
	static const struct wanted unlock = {.class_name = "panic",
					     .kind = "unlock",
					     .function = "main.work",
					     .says = "missing: what Go's run-time printed",
					     .also = "missing: the program's symbols"};
	static const char *const stripped[] = {"-ldflags=\"-s -w\"", "-buildmode=pie -ldflags=\"-s -w\""};
	char line[300];
	check_needs("go");
	for (size_t i = 0; i < XC_COUNT(stripped); i++) {
		judged_expect(compiler_of(stripped[i], line),
			      HEAD "func work() { panic(\"no room\") }\n" MAIN("work()"), false, &panic);
		judged_expect(compiler_of(stripped[i], line),
			      HEAD "func work(m *sync.Mutex) { m.Unlock(); sink++ }\n" MAIN("work(&sync.Mutex{})"),
			      false, &unlock);
	}
}

/* ---- with less to go by ---- */

/* An inquiry into a program's death as xc_golang_judge() gets it. */
struct asked {
	struct judged j;
	struct xc_inquiry q;
	struct xc_thread thread;
};

static void ask(struct asked *a, const char *more, const char *source)
{
	char line[300];
	a->j.process = died(compiler_of(more, line), source);
	a->j.report = xc_report_new("analyze");
	assert_true(xc_inquiry_begin(&a->q, a->j.report, a->j.process, NULL));
	a->j.verdict = a->q.verdict;
}

static void asked_free(struct asked *a)
{
	xc_inquiry_end(&a->q);
	judged_free(&a->j);
}

/* Without its thread pointer no goroutine is found, and so no value of a panic. */
static void lose_goroutine(struct asked *a)
{
	a->thread = *a->q.thread;
	xc_regs_forget(&a->thread.regs, a->j.process->arch->tls.tp);
	a->q.thread = &a->thread;
}

/* The stack ends behind the function of this name. */
static void end_behind(struct asked *a, const char *name)
{
	const char *const names[] = {name, NULL};
	size_t index = xc_inquiry_frame_called(&a->q, names);
	assert_true(index < a->q.frame_count);
	a->q.frame_count = index + 1;
}

static void expect_kind(const char *source, const char *kind, const char *words)
{
	struct asked a;
	ask(&a, "", source);
	lose_goroutine(&a);
	if (!xc_golang_judge(&a.q) || !judged_same(a.j.verdict->kind, kind) || !judged_says(&a.j, words))
		judged_fail(&a.j, kind, words);
	assert_null(a.j.verdict->message);
	assert_true(judged_says(&a.j, "missing: "));
	asked_free(&a);
}

static void without_its_text_a_panic_is_told_by_who_called_panic(void **state)
{
	(void)state;
	check_needs("go");
	expect_kind(HEAD "func work(c chan int) { close(c); close(c) }\n" MAIN("work(make(chan int))"), "channel",
		    "main.work closed a channel");
	expect_kind(HEAD "func work(m map[interface{}]int, k interface{}) { m[k] = 1 }\n" MAIN(
			    "work(map[interface{}]int{}, []int{1})"),
		    "unhashable", "main.work used a key that has no hash");
	expect_kind(HEAD "func work(a []int) int { return (*[4]int)(a)[1] }\n" MAIN("sink = work(make([]int, 3))"),
		    "slice", "main.work made an array of a slice that is too short");
	expect_kind(HEAD "func work(a, b interface{}) bool { return a == b }\n" MAIN(
			    "if work([]int{1}, []int{1}) { sink++ }"),
		    "uncomparable", "main.work compared interfaces");
	expect_kind(HEAD "func work(s interface{}) int { return s.(int) }\n" MAIN("sink = work(nil)"), "type assertion",
		    "main.work took an interface");
	expect_kind(HEAD "func work(n int) int { return len(make([]int, n)) }\n" MAIN("sink = work(-1)"), "size",
		    "main.work asked for a slice");
}

/* Who called panic() is not on the stack that is left: then nobody is blamed. */
static void expect_less(const char *source, const char *last, bool lost, const char *kind)
{
	struct asked a;
	ask(&a, "", source);
	end_behind(&a, last);
	if (lost)
		lose_goroutine(&a);
	if (!xc_golang_judge(&a.q) || !judged_same(a.j.verdict->kind, kind) ||
	    strcmp(a.j.verdict->confidence, "certain") == 0 || a.q.blame.place || judged_says(&a.j, "runtime.") ||
	    !judged_says(&a.j, "missing: the stack behind"))
		judged_fail(&a.j, last, kind ? kind : "no kind");
	asked_free(&a);
}

static void without_the_frames_behind_it_less_is_said_of_a_panic(void **state)
{
	(void)state;
	static const char index[] =
		HEAD "func work(a []int, i int) int { return a[i] }\n" MAIN("sink = work(make([]int, 3), 9)");
	static const char own[] = HEAD "func work() { panic(\"a reason\") }\n" MAIN("work()");
	check_needs("go");
	expect_less(own, "runtime.gopanic", false, NULL);
	expect_less(own, "runtime.gopanic", true, NULL);
	expect_less(index, "runtime.gopanic", false, "index");
	expect_less(index, "runtime.gopanic", true, NULL);
	expect_less(index, "runtime.goPanicIndex", false, "index");
	expect_less(index, "runtime.goPanicIndex", true, "index");
}

/* Its frames are not in a core that is cut. */
static void that_the_runtime_raised_the_signal_alone_is_not_certain(void **state)
{
	(void)state;
	struct asked a;
	check_needs("go");
	ask(&a, "", HEAD "func work() { panic(\"a reason\") }\n" MAIN("work()"));
	a.q.frame_count = 1;
	if (!xc_golang_judge(&a.q) || !judged_same(a.j.verdict->class_name, "abort") ||
	    strcmp(a.j.verdict->confidence, "certain") == 0 ||
	    !judged_says(&a.j, "missing: the functions of Go's run-time"))
		judged_fail(&a.j, "abort", "missing");
	asked_free(&a);
}

/* ---- goroutines that wait ---- */

static void tell_all(struct asked *a, const char *more)
{
	static const char source[] = HEAD "func work(c chan int) { <-c }\n" MAIN(
		"c := make(chan int); for i := 0; i < 1000; i++ { go work(c) }; "
		"syscall.Nanosleep(&syscall.Timespec{Nsec: 200000000}, nil); panic(\"now\")");
	struct xc_goruntime go;
	ask(a, more, source);
	assert_true(xc_goruntime_find(a->j.process, &go));
	xc_goroutine_tell_all(&a->q, &go);
}

static void some_that_wait_are_named_and_the_others_counted(void **state)
{
	(void)state;
	struct asked a;
	check_needs("go");
	tell_all(&a, "");
	assert_true(judged_says(&a.j, "waits (chan receive) in main.work, program.go:"));
	assert_true(judged_says(&a.j, "and 995 more goroutines wait"));
	assert_false(judged_says(&a.j, "missing: "));
	assert_string_equal(xc_inquiry_culprit(&a.q), "main.work");
	asked_free(&a);
}

/* Where a g keeps its state is not known then. */
static void without_debug_information_nobody_is_blamed_for_waiting(void **state)
{
	(void)state;
	struct asked a;
	check_needs("go");
	tell_all(&a, "-ldflags=-w");
	assert_true(judged_says(&a.j, "missing: which goroutines wait"));
	assert_null(a.q.blame.place);
	asked_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_runtime_found_is_the_kind),
		cmocka_unit_test(what_a_program_says_itself_is_its_own),
		cmocka_unit_test(an_inlined_function_panics_itself),
		cmocka_unit_test(a_panic_that_was_recovered_is_none),
		cmocka_unit_test(what_cannot_be_recovered_is_told_by_what_was_printed),
		cmocka_unit_test(a_fault_is_told_as_one),
		cmocka_unit_test(without_symbols_it_is_said_what_is_missing),
		cmocka_unit_test(without_its_text_a_panic_is_told_by_who_called_panic),
		cmocka_unit_test(without_the_frames_behind_it_less_is_said_of_a_panic),
		cmocka_unit_test(that_the_runtime_raised_the_signal_alone_is_not_certain),
		cmocka_unit_test(some_that_wait_are_named_and_the_others_counted),
		cmocka_unit_test(without_debug_information_nobody_is_blamed_for_waiting),
	};
	setenv("GOTRACEBACK", "crash", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
