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
	"	unsigned __int128 wide = (unsigned __int128)1 << 100;\n"
	"	long r = a; unsigned u = (unsigned)a; short s = (short)a; signed char c = (signed char)a;\n"
	"	for (int i = 0; i < n; i++) {\n"
	"		r = r * 31 + text[i]; u ^= u << 5; u += u >> 3; s = (short)(s * 7 - i); c = (signed char)(c - "
	"s);\n"
	"		r ^= (long)u << 7; r -= s; r += c > 3 ? 5 : -i; if (r & 8) r = ~r; r = (r >> 3) + twice(c);\n"
	"		if (u > (unsigned)i * 77777u) r -= u % 13; if (r < 0) r = -r; r += (int)r / (i + 2);\n"
	"		__atomic_fetch_add(cell, r & 15, __ATOMIC_SEQ_CST);\n"
	"		long old = *cell; __atomic_compare_exchange_n(cell, &old, old + 3, 0, 5, 5);\n"
	"		r += __atomic_exchange_n(cell, i, __ATOMIC_SEQ_CST);\n"
	"		wide += (unsigned long)r; wide -= u; if (wide < (unsigned long)r) "
	"wide++;\n"
	"		r ^= (long)(wide >> 64); }\n"
	"	return r + s + c + (long)u + *cell; }\n"
	"int main(void) { static const unsigned char text[] = \"some text that is long enough\"; volatile long cell = "
	"9;\n"
	"	expected = work(123456789, text, sizeof text, &cell); cell = 9; armed = 1;\n"
	"	return (int)work(123456789, text, sizeof text, &cell); }\n";

/* Numbers that are not whole. */
static const char numbers[] =
	"#include <stdint.h>\n#include <string.h>\n"
	"long expected; static volatile int armed;\n"
	"static __attribute__((noinline)) float half(float x) { return x / 2; }\n"
	"static __attribute__((noinline)) double least(double a, double b) { return a < b ? a : b; }\n"
	"struct pair { double d; float f; int n; };\n"
	"__attribute__((noinline)) long work(const double *in, int n, const volatile float *step, struct pair *p) {\n"
	"	if (armed) __asm__ volatile(\"int3\" ::: \"memory\");\n"
	"	double sum = 0; float x = 1; long r = 0; unsigned count = 0;\n"
	"	for (int i = 0; i < n; i++) {\n"
	"		sum += in[i] * i - 0.25; x += *step; x = half(x) + (float)in[i]; p->f -= x * 3; p->d = sum / "
	"(i "
	"+ 1);\n"
	"		if (sum > p->f) count++; if (x <= (float)sum) count += 2; if (sum != sum) count += 100;\n"
	"		r += (long)sum + (int)x; p->n = -p->n + (int)least(sum, 1e12); sum = -sum; if (x < 0) x = -x;\n"
	"		sum += (double)r * 1e-3 + (float)i; }\n"
	"	long bits; memcpy(&bits, &sum, 8); int low; memcpy(&low, &p->f, 4);\n"
	"	return bits ^ (long)low ^ r ^ (long)count << 9 ^ p->n ^ (long)(p->d * 1000); }\n"
	"int main(void) { static const double in[] = {0.1, -7.5, 1e9, 3e-5, 12345.678, -0.0, 2.5e-310};\n"
	"	struct pair p = {1, 2, 3}; volatile float step = 0.3f;\n"
	"	expected = work(in, 7, &step, &p); p = (struct pair){1, 2, 3}; armed = 1;\n"
	"	return (int)work(in, 7, &step, &p); }\n";

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

static void check(const char *compiler, const char *source)
{
	struct xc_process *p = died(compiler, source);
	struct xc_unwinder *u = xc_unwinder_new(p);
	struct xc_frame frame, caller;
	const char *stop;
	assert_true(xc_unwind_first(u, &p->threads[0], &frame) && xc_unwind_step(u, &frame, &caller, &stop));
	struct xc_emulator *e = xc_emulator_new(p, &frame.regs);
	const struct xc_emulated_state *s = xc_emulator_state(e);
	size_t steps = 0;
	while (s->pc != caller.pc && steps++ < STEPS) {
		struct xc_emulated_branch branch;
		if (!xc_emulator_step(e, &branch))
			fail_msg("%s: stopped at work+0x%llx", compiler, (unsigned long long)(s->pc - frame.pc));
	}
	assert_int_equal(s->pc, caller.pc);
	if (s->regs[RAX].marks & XC_EMULATOR_CHANGES)
		fail_msg("%s: the result is not known", compiler);
	assert_int_equal(s->regs[RAX].bits, kept(p, "expected"));
	xc_emulator_free(e);
	xc_unwinder_free(u);
	close_process(p);
}

static void it_computes_what_the_processor_does(void **state)
{
	(void)state;
	GRID(c, XC_COUNT(compilers))
		check(compilers[c], program);
}

static void it_computes_with_numbers_that_are_not_whole(void **state)
{
	(void)state;
	GRID(c, XC_COUNT(compilers))
		check(compilers[c], numbers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(it_computes_what_the_processor_does),
					   cmocka_unit_test(it_computes_with_numbers_that_are_not_whole)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
