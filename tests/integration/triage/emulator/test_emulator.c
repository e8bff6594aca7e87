/* layer: triage */
/* Code is run from where a program died, up to the end of its function; the processor had run the same code before, and
 * the program kept its result. */
#include "tests/support/grid.h"
#include "tests/support/opened.h"

#include "dwarf/elf/symbol.h"
#include "dwarf/unwind/unwind.h"
#include "triage/emulator/emulator.h"

enum { RAX = 0, STEPS = 100000 };

static const char program[] =
	"#include <stdint.h>\n#include <string.h>\n"
	"long expected; static volatile int armed;\n"
	"static __attribute__((noinline)) long twice(long x) { return x + x; }\n"
	"__attribute__((noinline)) long work(long a, const unsigned char *text, int n, volatile long *cell) {\n"
	"	if (armed) __asm__ volatile(\"int3\" ::: \"memory\");\n"
	"	long r = a; unsigned u = (unsigned)a; short s = (short)a; signed char c = (signed char)a;\n"
	"	for (int i = 0; i < n; i++) {\n"
	"		r = r * 31 + text[i]; u ^= u << 5; u += u >> 3; s = (short)(s * 7 - i); c = (signed char)(c - "
	"s);\n"
	"		r ^= (long)u << 7; r -= s; r += c > 3 ? 5 : -i; if (r & 8) r = ~r; r = (r >> 3) + twice(c);\n"
	"		if (u > (unsigned)i * 77777u) r -= u % 13; if (r < 0) r = -r; r += (int)r / (i + 2);\n"
	"		__atomic_fetch_add(cell, r & 15, __ATOMIC_SEQ_CST);\n"
	"		long old = *cell; __atomic_compare_exchange_n(cell, &old, old + 3, 0, 5, 5);\n"
	"		r += __atomic_exchange_n(cell, i, __ATOMIC_SEQ_CST); }\n"
	"	return r + s + c + (long)u + *cell; }\n"
	"int main(void) { static const unsigned char text[] = \"some text that is long enough\"; volatile long cell = "
	"9;\n"
	"	expected = work(123456789, text, sizeof text, &cell); cell = 9; armed = 1;\n"
	"	return (int)work(123456789, text, sizeof text, &cell); }\n";

static const char *const compilers[] = {"gcc -g -O0 -x c", "gcc -g -O1 -x c",   "gcc -g -O2 -x c",
					"gcc -g -Os -x c", "clang -g -O0 -x c", "clang -g -O2 -fno-vectorize -x c"};

static uint64_t kept(const struct xc_process *p, const char *name)
{
	xc_addr at;
	uint64_t value;
	assert_non_null(xc_symbol_find((struct xc_process *)p, name, NULL, &at));
	assert_true(xc_space_peek_uint(p->space, at, 8, &value));
	return value;
}

static void it_computes_what_the_processor_does(void **state)
{
	(void)state;
	GRID(c, XC_COUNT(compilers)) {
		struct xc_process *p = died(compilers[c], program);
		struct xc_unwinder *u = xc_unwinder_new(p);
		struct xc_frame frame, caller;
		const char *stop;
		assert_true(xc_unwind_first(u, &p->threads[0], &frame) && xc_unwind_step(u, &frame, &caller, &stop));
		struct xc_emulator *e = xc_emulator_new(p, &p->threads[0].regs);
		const struct xc_emulated_state *s = xc_emulator_state(e);
		size_t steps = 0;
		while (s->pc != caller.pc && steps++ < STEPS) {
			struct xc_emulated_branch branch;
			if (!xc_emulator_step(e, &branch))
				fail_msg("%s: stopped at work+0x%llx", compilers[c],
					 (unsigned long long)(s->pc - frame.pc));
		}
		assert_int_equal(s->pc, caller.pc);
		assert_int_equal(s->regs[RAX].marks & XC_EMULATOR_CHANGES, 0);
		assert_int_equal(s->regs[RAX].bits, kept(p, "expected"));
		xc_emulator_free(e);
		xc_unwinder_free(u);
		close_process(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(it_computes_what_the_processor_does)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
