/* layer: dwarf */
/* Data read from Go's run-time, on a program that crashes; skipped without go. */
#include <stdlib.h>

#include "tests/support/go_program.h"
#include "tests/support/opened.h"

#include "dwarf/unwind/goruntime.h"

static const char source[] = "package main\nimport (\"os\"; \"runtime\"; \"syscall\")\nvar sink int\n"
			     "func init() { runtime.LockOSThread(); f, _ := os.Create(\"/dev/null\"); "
			     "syscall.Dup2(int(f.Fd()), 2) }\n"
			     "func main() { var p *int; sink = *p }\n";

static void expect_main(const struct xc_goruntime *go, xc_addr g)
{
	uint64_t id, lo, hi;
	assert_true(xc_goruntime_read(go, "runtime.g", g, "goid", &id));
	assert_true(xc_goruntime_read(go, "runtime.g", g, "stack.lo", &lo));
	assert_true(xc_goruntime_read(go, "runtime.g", g, "stack.hi", &hi));
	assert_int_equal(id, 1);
	assert_true(lo && lo < hi);
}

/* Requests more places than are kept. */
static void members_are_read_as_often_as_is_asked(void **state)
{
	(void)state;
#define TEN(n) n "0", n "1", n "2", n "3", n "4", n "5", n "6", n "7", n "8", n "9"
	static const char *const none[] = {TEN("a"), TEN("b"), TEN("c"), TEN("d"), TEN("e"),
					   TEN("f"), TEN("g"), TEN("h"), TEN("i"), TEN("j")};
	struct xc_goruntime go;
	uint64_t g, value;
	char line[300];
	check_needs("go");
	struct xc_process *p = died(go_compiler("", line), source);
	assert_true(xc_goruntime_find(p, &go));
	assert_true(xc_goruntime_current(&go, &p->threads[0].regs, &g));
	expect_main(&go, g);
	expect_main(&go, g);
	for (size_t i = 0; i < 2 * XC_COUNT(none); i++)
		assert_false(xc_goruntime_read(&go, "runtime.g", g, none[i % XC_COUNT(none)], &value));
	expect_main(&go, g);
	assert_false(xc_goruntime_read(&go, "runtime.g", 0, "goid", &value)); /* nothing is mapped there */
	close_process(p);
}

/* The same program, whose thread (m) lets the goroutine go: m.curg becomes NULL. */
static void a_thread_that_runs_no_goroutine_is_idle(void **state)
{
	(void)state;
	enum { M_BYTES = 512 };
	static const uint8_t null[8];
	struct xc_goruntime go;
	uint64_t g, m, word = 0;
	char line[300];
	check_needs("go");
	struct xc_process *p = died(go_compiler("", line), source);
	const struct xc_regs *regs = &p->threads[0].regs;
	assert_true(xc_goruntime_find(p, &go));
	assert_true(xc_goruntime_current(&go, regs, &g));
	assert_false(xc_goruntime_is_idle(&go, regs));
	assert_true(xc_goruntime_read(&go, "runtime.g", g, "m", &m));
	xc_addr at = m + 160; /* after m.tls, which may hold g, too */
	while (at < m + M_BYTES && xc_space_peek_uint(p->space, at, 8, &word) && word != g)
		at += sizeof null;
	assert_int_equal(word, g);
	const struct xc_segment curg = {
		.lo = at, .hi = at + sizeof null - 1, .provenance = XC_FROM_CORE, .bytes = null};
	xc_space_add(p->space, &curg);
	xc_space_seal(p->space);
	assert_true(xc_goruntime_is_idle(&go, regs));
	assert_false(xc_goruntime_current(&go, regs, &g));
	close_process(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_are_read_as_often_as_is_asked),
		cmocka_unit_test(a_thread_that_runs_no_goroutine_is_idle),
	};
	setenv("GOTRACEBACK", "crash", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
