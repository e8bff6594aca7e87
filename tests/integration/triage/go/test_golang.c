/* layer: triage tier: long */
/* Panics and fatal errors of Go, on programs that crash from them; skipped without go. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/go_program.h"
#include "tests/support/grid.h"
#include "tests/support/run_verdict.h"

#include "triage/go/golang.h"
#include "triage/goroutine/goasleep.h"

/* Its argument selects the cause of death. */
static const char program[] =
	"package main\n"
	"import (\"errors\"; \"os\"; \"runtime\"; \"sync\"; \"sync/atomic\"; \"syscall\"; \"unsafe\")\n"
	"var sink int\nvar started int32\n"
	"func init() { runtime.LockOSThread(); f, _ := os.Create(\"/dev/null\"); syscall.Dup2(int(f.Fd()), 2) }\n"
	"//go:noinline\nfunc index(a []int, i int) int { return a[i] }\n"
	"//go:noinline\nfunc assign(m map[string]int) { m[\"a\"] = 1 }\n"
	"//go:noinline\nfunc deref(p *int) int { return *p + 1 }\n"
	"//go:noinline\nfunc say() { panic(\"runtime error: index out of range\") }\n"
	"//go:noinline\nfunc fail() { panic(errors.New(\"the disk is full\")) }\n"
	"//go:noinline\nfunc open(name string) int { _, err := os.Open(name); must(err); return len(name) }\n"
	"func must(err error) { if err != nil { panic(err) } }\n"
	"//go:noinline\nfunc saved(a []int) int { defer func() { recover() }(); return a[5] }\n"
	"//go:noinline\nfunc again(a []int) int { defer func() { if recover() != nil { panic(\"again\") } }()\n"
	"	return index(a, 9) }\n"
	"//go:noinline\nfunc later() { panic(\"later\") }\n"
	"//go:noinline\nfunc unlock(m *sync.Mutex) { m.Unlock(); sink++ }\n"
	"//go:noinline\nfunc poke(at uintptr) { *(*int)(unsafe.Pointer(at)) = 5; sink++ }\n"
	"//go:noinline\nfunc reason() { panic(\"a reason\") }\n"
	"//go:noinline\nfunc twice(c chan int) { close(c); close(c) }\n"
	"//go:noinline\nfunc key(m map[interface{}]int, k interface{}) { m[k] = 1 }\n"
	"//go:noinline\nfunc array(a []int) int { return (*[4]int)(a)[1] }\n"
	"//go:noinline\nfunc equal(a, b interface{}) bool { return a == b }\n"
	"//go:noinline\nfunc number(s interface{}) int { return s.(int) }\n"
	"//go:noinline\nfunc room(n int) int { return len(make([]int, n)) }\n"
	"//go:noinline\nfunc wait(c chan int) { atomic.AddInt32(&started, 1); <-c }\n"
	/* With one processor, all others have run until they block before main runs again. */
	"func many() { runtime.GOMAXPROCS(1); c := make(chan int); for i := 0; i < 1000; i++ { go wait(c) }\n"
	"	for i := 0; i < 10 || atomic.LoadInt32(&started) < 1000; i++ { runtime.Gosched() }; panic(\"now\") }\n"
	"func main() { switch os.Args[1] {\n"
	"	case \"index\": sink = index(make([]int, 3), 9)\n"
	"	case \"assign\": assign(nil)\n"
	"	case \"deref\": sink = deref(nil)\n"
	"	case \"say\": say()\n"
	"	case \"fail\": fail()\n"
	"	case \"open\": sink = open(\"/none\")\n"
	"	case \"again\": sink = again(make([]int, 3))\n"
	"	case \"later\": sink = saved(nil); later()\n"
	"	case \"unlock\": unlock(&sync.Mutex{})\n"
	"	case \"poke\": poke(0x123456789000)\n"
	"	case \"reason\": reason()\n"
	"	case \"twice\": twice(make(chan int))\n"
	"	case \"key\": key(map[interface{}]int{}, []int{1})\n"
	"	case \"array\": sink = array(make([]int, 3))\n"
	"	case \"equal\": if equal([]int{1}, []int{1}) { sink++ }\n"
	"	case \"number\": sink = number(nil)\n"
	"	case \"room\": sink = room(-1)\n"
	"	case \"many\": many() }\n"
	"	os.Exit(2 + sink) }\n";

static void expect_built(const char *flags, const struct wanted *want)
{
	char line[300];
	judged_expect(go_compiler(flags, line), program, false, want);
}

static void expect(const struct wanted *want)
{
	check_needs("go");
	GRID(i, GO_FLAGS)
		expect_built(go_flags[i], want);
}

static void what_the_runtime_found_is_the_kind(void **state)
{
	(void)state;
	static const struct wanted index = {.argument = "index",
					    .class_name = "panic",
					    .kind = "index",
					    .function = "main.index",
					    .message = "index out of range [9] with length 3"};
	static const struct wanted map = {.argument = "assign",
					  .class_name = "panic",
					  .kind = "nil map",
					  .function = "main.assign",
					  .message = "assignment to entry in nil map"};
	static const struct wanted nil = {
		.argument = "deref", .class_name = "panic", .kind = "nil", .function = "main.deref"};
	expect(&index);
	expect(&map);
	expect(&nil);
}

/* A program may panic with a text of the run-time. */
static void what_a_program_says_itself_is_its_own(void **state)
{
	(void)state;
	static const struct wanted text = {.argument = "say",
					   .class_name = "panic",
					   .kind = "explicit",
					   .function = "main.say",
					   .message = "runtime error: index out of range"};
	static const struct wanted error = {.argument = "fail",
					    .class_name = "panic",
					    .kind = "explicit",
					    .function = "main.fail",
					    .message = "the disk is full"};
	expect(&text);
	expect(&error);
}

/* The function inlined into another one called panic(). */
static void an_inlined_function_panics_itself(void **state)
{
	(void)state;
	static const struct wanted want = {.argument = "open",
					   .class_name = "panic",
					   .kind = "explicit",
					   .function = "main.must",
					   .says = "main.must called panic()"};
	check_needs("go");
	expect_built(go_flags[GO_PLAIN], &want);
	if (grid_all()) /* without debug information, inlined functions are unknown */
		expect_built(go_flags[GO_UNOPTIMISED], &want);
}

static void a_panic_that_was_recovered_is_none(void **state)
{
	(void)state;
	static const struct wanted later = {.argument = "later",
					    .class_name = "panic",
					    .kind = "explicit",
					    .function = "main.later",
					    .message = "later"};
	expect(&later);
}

static void of_an_earlier_panic_the_place_is_told(void **state)
{
	(void)state;
	static const struct wanted want = {.argument = "again",
					   .class_name = "panic",
					   .kind = "explicit",
					   .function = "main.again.func1",
					   .says = "it had panicked before in main.index"};
	check_needs("go");
	expect_built(go_flags[GO_PLAIN], &want);
	expect_built(go_flags[GO_UNOPTIMISED], &want);
}

static void what_cannot_be_recovered_is_told_by_what_was_printed(void **state)
{
	(void)state;
	static const struct wanted unlock = {.argument = "unlock",
					     .class_name = "panic",
					     .kind = "unlock",
					     .function = "main.unlock",
					     .message = "sync: unlock of unlocked mutex"};
	expect(&unlock);
}

/* A fault that is not a nil pointer keeps its own class. */
static void a_fault_is_told_as_one(void **state)
{
	(void)state;
	static const struct wanted wild = {.argument = "poke",
					   .class_name = "wild-write",
					   .function = "main.poke",
					   .expression = "*at",
					   .says = "unexpected fault address 0x123456789000"};
	static const struct wanted unknown = {
		.argument = "poke", .class_name = "panic", .kind = "throw", .function = "main.poke"};
	check_needs("go");
	expect_built(go_flags[GO_PLAIN], &wild);
	expect_built(go_flags[GO_WITHOUT_DEBUG], &unknown);
}

static void without_symbols_it_is_said_what_is_missing(void **state)
{
	(void)state;
	static const struct wanted panic = {.argument = "reason",
					    .class_name = "panic",
					    .kind = "explicit",
					    .function = "main.reason",
					    .message = "a reason",
					    .says = "missing: the program's symbols"};
	static const struct wanted unlock = {.argument = "unlock",
					     .class_name = "panic",
					     .kind = "unlock",
					     .function = "main.unlock",
					     .says = "missing: the last output of Go's runtime",
					     .also = "missing: the program's symbols"};
	static const char *const stripped[] = {"-ldflags=\"-s -w\"", "-buildmode=pie -ldflags=\"-s -w\""};
	check_needs("go");
	for (size_t i = 0; i < grid_count(1, XC_COUNT(stripped)); i++) {
		expect_built(stripped[i], &panic);
		expect_built(stripped[i], &unlock);
	}
}

/* ---- reduced inputs ---- */

/* The crash context of a program as passed to xc_golang_classify(). */
struct asked {
	struct judged j;
	struct xc_crash_context q;
	struct xc_thread thread;
};

static void ask(struct asked *a, const char *flags, const char *argument)
{
	char line[300];
	a->j.process = died_of(go_compiler(flags, line), program, argument);
	a->j.report = xc_report_new("analyze");
	assert_true(xc_crash_context_init(&a->q, a->j.report, a->j.process, NULL));
	a->j.verdict = a->q.verdict;
}

static void asked_free(struct asked *a)
{
	xc_crash_context_fini(&a->q);
	judged_free(&a->j);
}

/* Without the thread pointer no goroutine is found, and thus no panic value. */
static void lose_goroutine(struct asked *a)
{
	a->thread = *a->q.thread;
	xc_regs_forget(&a->thread.regs, a->j.process->arch->tls.tp);
	a->q.thread = &a->thread;
}

/* The stack ends after the function of this name. */
static void end_behind(struct asked *a, const char *name)
{
	const char *const names[] = {name, NULL};
	size_t index = xc_crash_context_find_frame(&a->q, names);
	assert_true(index < a->q.frame_count);
	a->q.frame_count = index + 1;
}

static void expect_kind(const char *argument, const char *kind, const char *words)
{
	struct asked a;
	ask(&a, "", argument);
	lose_goroutine(&a);
	if (!xc_golang_classify(&a.q) || !judged_same(a.j.verdict->kind, kind) || !judged_says(&a.j, words))
		judged_fail(&a.j, kind, words);
	assert_null(a.j.verdict->message);
	assert_true(judged_says(&a.j, "missing: "));
	asked_free(&a);
}

static void without_its_text_a_panic_is_told_by_who_called_panic(void **state)
{
	(void)state;
	check_needs("go");
	expect_kind("twice", "channel", "main.twice closed a nil or closed channel");
	expect_kind("key", "unhashable", "main.key used an unhashable key");
	expect_kind("array", "slice", "main.array converted a slice that is too short to an array");
	expect_kind("equal", "uncomparable", "main.equal compared interfaces");
	expect_kind("number", "type assertion", "main.number asserted a type");
	expect_kind("room", "size", "main.room requested a slice");
}

/* The caller of panic() is not on the remaining stack: then there is no blame. */
static void expect_less(const char *argument, const char *last, bool lost, const char *kind)
{
	struct asked a;
	ask(&a, "", argument);
	end_behind(&a, last);
	if (lost)
		lose_goroutine(&a);
	if (!xc_golang_classify(&a.q) || !judged_same(a.j.verdict->kind, kind) ||
	    strcmp(a.j.verdict->confidence, "certain") == 0 || a.q.blame.place || judged_says(&a.j, "runtime.") ||
	    !judged_says(&a.j, "missing: the stack beyond"))
		judged_fail(&a.j, last, kind ? kind : "no kind");
	asked_free(&a);
}

static void without_the_frames_behind_it_less_is_said_of_a_panic(void **state)
{
	(void)state;
	check_needs("go");
	expect_less("reason", "runtime.gopanic", false, NULL);
	expect_less("reason", "runtime.gopanic", true, NULL);
	expect_less("index", "runtime.gopanic", false, "index");
	expect_less("index", "runtime.gopanic", true, NULL);
	expect_less("index", "runtime.goPanicIndex", false, "index");
	expect_less("index", "runtime.goPanicIndex", true, "index");
}

/* Its frames are missing in a truncated core. */
static void that_the_runtime_raised_the_signal_alone_is_not_certain(void **state)
{
	(void)state;
	struct asked a;
	check_needs("go");
	ask(&a, "", "reason");
	a.q.frame_count = 1;
	if (!xc_golang_classify(&a.q) || !judged_same(a.j.verdict->class_name, "abort") ||
	    strcmp(a.j.verdict->confidence, "certain") == 0 ||
	    !judged_says(&a.j, "missing: the functions of Go's runtime"))
		judged_fail(&a.j, "abort", "missing");
	asked_free(&a);
}

/* ---- what holds the bad value ---- */

static const char holders[] =
	"package main\n"
	"import (\"os\"; \"runtime\"; \"syscall\")\n"
	"var sink int\n"
	"func init() { runtime.LockOSThread(); f, _ := os.Create(\"/dev/null\"); syscall.Dup2(int(f.Fd()), 2) }\n"
	"type broken struct { code int; text string }\n"
	"//go:noinline\nfunc (b *broken) Error() string { return b.text }\n"
	"type shape interface { area() int }\ntype square struct { side int }\n"
	"//go:noinline\nfunc (s *square) area() int { return s.side * s.side }\n"
	"//go:noinline\nfunc check(n int) error { var b *broken; if n > 9 { b = &broken{n, \"big\"} }; return b }\n"
	"//go:noinline\nfunc log(n int) int { err := check(n); if err != nil { return len(err.Error()) + n }; return n "
	"}\n"
	"//go:noinline\nfunc sum(shapes []shape) int { all := 0; for _, s := range shapes { all += s.area() }; return "
	"all }\n"
	"//go:noinline\nfunc plain(b *broken) int { return len(b.Error()) + sink }\n"
	"type client struct { name string; quotes chan int }\ntype hub struct { serial int; clients []*client }\n"
	"//go:noinline\nfunc (h *hub) publish(q int) int { n := 0\n"
	"	for _, c := range h.clients { c.quotes <- q; n++ }; return n }\n"
	"func main() { switch os.Args[1] {\n"
	"	case \"error\": sink = log(len(os.Args))\n"
	"	case \"shape\": var s *square; sink = sum([]shape{&square{2}, s})\n"
	"	case \"plain\": sink = plain(nil)\n"
	"	case \"hub\": c := &client{\"late\", make(chan int, 1)}; close(c.quotes)\n"
	"		sink = (&hub{7, []*client{c}}).publish(sink) }\n"
	"	os.Exit(2 + sink) }\n";

static void an_interface_that_holds_a_nil_pointer_is_told(void **state)
{
	(void)state;
	static const struct wanted cases[] = {
		{.argument = "error",
		 .class_name = "panic",
		 .kind = "nil",
		 .function = "main.(*broken).Error",
		 .says = "`err` in main.log, program.go:",
		 .also = "is an interface that holds a nil *main.broken: it is not nil itself"},
		{.argument = "shape",
		 .class_name = "panic",
		 .kind = "nil",
		 .function = "main.(*square).area",
		 .says = "`s` in main.sum, program.go:",
		 .also = "holds a nil *main.square"},
		{.argument = "plain", .class_name = "panic", .kind = "nil", .without = "interface"},
	};
	char line[300];
	check_needs("go");
	for (size_t i = 0; i < XC_COUNT(cases); i++)
		judged_expect(go_compiler(go_flags[GO_UNOPTIMISED], line), holders, false, &cases[i]);
	struct wanted optimised = {.argument = "error", .class_name = "panic", .says = "holds a nil *"};
	judged_expect(go_compiler(go_flags[GO_PLAIN], line), holders, false, &optimised);
	optimised = cases[2];
	judged_expect(go_compiler(go_flags[GO_PLAIN], line), holders, false, &optimised);
}

static void the_object_that_holds_the_closed_channel_comes_first(void **state)
{
	(void)state;
	static const struct wanted want = {.argument = "hub",
					   .class_name = "panic",
					   .kind = "channel",
					   .says = "`c` leads to a main.client: {name = \"late\"",
					   .also = "`h` leads to a main.hub: {serial = 7"};
	char line[300];
	check_needs("go");
	judged_expect(go_compiler(go_flags[GO_UNOPTIMISED], line), holders, false, &want);
}

/* ---- waiting goroutines ---- */

static void tell_all(struct asked *a, const char *more)
{
	struct xc_goruntime go;
	ask(a, more, "many");
	assert_true(xc_goruntime_find(a->j.process, &go));
	xc_goasleep_report(&a->q, &go);
}

static void some_that_wait_are_named_and_the_others_counted(void **state)
{
	(void)state;
	struct asked a;
	check_needs("go");
	tell_all(&a, "");
	assert_true(judged_says(&a.j, "waits (chan receive) in main.wait, program.go:"));
	assert_true(judged_says(&a.j, "; so do 999 more"));
	assert_false(judged_says(&a.j, "missing: "));
	assert_string_equal(xc_crash_context_culprit(&a.q), "main.wait");
	asked_free(&a);
}

/* The place of a g's state is unknown then. */
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
		cmocka_unit_test(of_an_earlier_panic_the_place_is_told),
		cmocka_unit_test(what_cannot_be_recovered_is_told_by_what_was_printed),
		cmocka_unit_test(a_fault_is_told_as_one),
		cmocka_unit_test(without_symbols_it_is_said_what_is_missing),
		cmocka_unit_test(without_its_text_a_panic_is_told_by_who_called_panic),
		cmocka_unit_test(without_the_frames_behind_it_less_is_said_of_a_panic),
		cmocka_unit_test(that_the_runtime_raised_the_signal_alone_is_not_certain),
		cmocka_unit_test(an_interface_that_holds_a_nil_pointer_is_told),
		cmocka_unit_test(the_object_that_holds_the_closed_channel_comes_first),
		cmocka_unit_test(some_that_wait_are_named_and_the_others_counted),
		cmocka_unit_test(without_debug_information_nobody_is_blamed_for_waiting),
	};
	setenv("GOTRACEBACK", "crash", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
