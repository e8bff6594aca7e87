/* layer: dwarf */
/* Values of variables in frames of programs that died, as the program prints them. The sources state the values; gdb
 * shows the same. */
#include <stdio.h>
#include <stdlib.h>

#include "dwarf/elf/symbol.h"
#include "dwarf/stack/variable.h"
#include "dwarf/unwind/unwind.h"
#include "tests/support/opened.h"
#include "tests/support/scratch.h"

#define KEEP "__attribute__((noinline, noclone)) "
#define LOST "__asm__ volatile(\"xor %%edi, %%edi; xor %%esi, %%esi\" ::: \"rdi\", \"rsi\", \"memory\");"
#define HEAD "volatile int sink; int *volatile null;\n"
#define DIE  KEEP "int crash(int a) { *null = a; return a + sink; }\n"

struct looked {
	struct xc_process *process;
	struct xc_unwinder *unwinder;
	struct xc_frame frame;
	struct xc_arena arena;
	struct xc_stack_row row;
};

/* The innermost frame of a function, `above` frames of it left out. */
static struct looked *look(struct xc_process *process, const char *function, unsigned above)
{
	struct looked *l = xc_alloc(sizeof *l);
	const char *stop;
	l->process = process;
	l->unwinder = xc_unwinder_new(process);
	assert_true(xc_unwind_first(l->unwinder, &process->threads[0], &l->frame));
	while (strcmp(function_of(process, &l->frame), function) != 0 || above-- > 0)
		if (!xc_unwind_step(l->unwinder, &l->frame, &l->frame, &stop))
			fail_msg("no frame of %s: %s", function, stop);
	struct xc_frame_context context = {.process = process,
					   .thread = &process->threads[0],
					   .unwinder = l->unwinder,
					   .frame = &l->frame,
					   .place = xc_debuginfo_place(process, xc_frame_lookup(&l->frame))};
	struct xc_format_options options = xc_format_defaults();
	xc_variables_fill(&context, 0, true, &options, &l->arena, &l->row);
	return l;
}

static void end(struct looked *l)
{
	xc_arena_fini(&l->arena);
	xc_unwinder_free(l->unwinder);
	close_process(l->process);
	free(l);
}

static const struct xc_variable_text *in(const struct xc_variable_text *list, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(list[i].name, name))
			return &list[i];
	return NULL;
}

/* "<why>" of a variable without a value; " (at entry)" after a guessed one. */
static void expect(const struct looked *l, const char *name, const char *want)
{
	const struct xc_variable_text *v = in(l->row.args, l->row.arg_count, name);
	v = v ? v : in(l->row.locals, l->row.local_count, name);
	if (!v)
		fail_msg("no %s", name);
	xc_auto(xc_freep) char *got =
		v->value ? xc_asprintf("%s%s", v->value, v->guessed ? " (at entry)" : "") : xc_asprintf("%s", v->why);
	if (strcmp(got, want) != 0)
		fail_msg("%s is \"%s\" instead of \"%s\"", name, got, want);
}

/* What a function that left by a tail call had on its stack is overwritten by those that ran since. */
static void variables_of_a_frame_that_was_released_are_not_told(void **state)
{
	(void)state;
	static const char *const compilers[] = {"gcc -g -O2 -x c", "clang -g -O2 -x c"};
	for (size_t i = 0; i < XC_COUNT(compilers); i++) {
		struct looked *l =
			look(died(compilers[i], HEAD KEEP
				  "int last(int a) { volatile char junk[96]; for (int i = 0; i < 96; i++) "
				  "junk[i] = 'A'; *null = a; return junk[a]; }\n" KEEP
				  "int mid(int n) { volatile int kept[8]; for (int i = 0; i < 8; i++) kept[i] "
				  "= n + i; return last(kept[3] + kept[0]); }\n"
				  "int main(int c, char **v) { return mid(c * 10) + 1; }\n"),
			     "mid", 0);
		assert_true(l->frame.tail_call);
		expect(l, "kept", "its frame was released by a tail call");
		end(l);
	}
}

/* The library's call of `alias` is bound to its own function; the program has another of that name. */
static void a_call_of_an_alias_is_no_tail_call(void **state)
{
	(void)state;
	struct looked *l =
		look(died("{ echo 'extern volatile int sink; extern int *volatile null; " KEEP
			  "int own(int a, int b) { sink = a + b; __asm__ volatile(\"xor %%edi, %%edi; xor %%esi, "
			  "%%esi\" ::: "
			  "\"rdi\", \"rsi\"); *null = 1; return sink; } "
			  "int alias(int, int) __attribute__((alias(\"own\")));' | "
			  "gcc -g -O2 -w -fPIC -c -o \"$TMPDIR_XC/own.o\" -x c - && "
			  "echo 'int alias(int, int); int entry(int a) { return alias(a * 42, 7) + 1; }' | "
			  "gcc -g -O2 -w -fPIC -shared -Wl,-Bsymbolic,-soname,alias.so -o \"$TMPDIR_XC/alias.so\" "
			  "\"$TMPDIR_XC/own.o\" -x c -; } && "
			  "gcc -g -O2 -w -Wl,--no-as-needed,--export-dynamic \"$TMPDIR_XC/alias.so\" "
			  "-Wl,-rpath,\"$TMPDIR_XC\" -x c",
			  HEAD "int alias(int a, int b) { return a - b; } int entry(int);\n"
			       "int main(int c, char **v) { return entry(1) + sink; }\n"),
		     "own", 0);
	expect(l, "b", "7 (at entry)");
	end(l);
}

/* The vDSO exports clock_gettime as the C library does, but nothing is bound to it. */
static void names_are_not_those_of_the_vdso(void **state)
{
	(void)state;
	struct xc_process *p = died("gcc -x c", "#include <time.h>\nint main(void) { struct timespec t; "
						"clock_gettime(0, &t); __builtin_trap(); }\n");
	struct xc_module *module = NULL;
	assert_non_null(xc_symbol_find(p, "clock_gettime", &module, NULL));
	assert_int_not_equal(module->kind, XC_MODULE_VDSO);
	if (xc_symbol_find(p, "__vdso_clock_gettime", &module, NULL))
		assert_int_equal(module->kind, XC_MODULE_VDSO);
	close_process(p);
}

/* clang writes the ten bytes of the number, not the padding of its type. */
static void a_constant_long_double_needs_no_padding(void **state)
{
	(void)state;
	struct looked *l = look(died("clang -g -O2 -x c",
				     HEAD DIE KEEP "int f(int a) { long double ld = 3.25L; return crash(a) + sink; }\n"
						   "int main(int c, char **v) { return f(c); }\n"),
				"f", 0);
	expect(l, "ld", "3.25");
	end(l);
}

#define RECURSION(step)                                                                                                \
	HEAD KEEP "int down(int n, int m) { if (n == 0) *null = n; " LOST " int r = " step " + sink; " LOST            \
		  " return r; }\n"                                                                                     \
		  "int main(int c, char **v) { return down(30, 2) + sink; }\n"

/* Each frame's values are computed from those of its caller. */
static void a_recursion_has_its_arguments(void **state)
{
	(void)state;
	static const char one[] = RECURSION("down(n - 1, m + 1)"), both[] = RECURSION("down(n - 1, m + n)");
	for (unsigned above = 1; above < 30; above += 7) {
		char n[32], m[32];
		struct looked *l = look(died("gcc -g -O2 -x c", one), "down", above);
		snprintf(n, sizeof n, "%u (at entry)", above);
		snprintf(m, sizeof m, "%u (at entry)", 32 - above);
		expect(l, "n", n);
		expect(l, "m", m);
		end(l);
	}
	struct looked *l = look(died("gcc -g -O2 -x c", both), "down", 1);
	expect(l, "m", "466 (at entry)"); /* 2 + 30 + 29 … + 2 */
	end(l);
}

/* It has changed since, and the call clobbers the register: only the text shows what it was. */
static void an_argument_that_is_lost_is_shown_as_it_was_at_entry(void **state)
{
	(void)state;
	struct looked *l = look(died("gcc -g -O2 -x c", HEAD DIE KEEP
				     "int f(long q, int kept) { q += sink; sink = q; return crash(2) + crash(3); }\n"
				     "int main(int c, char **v) { return f(4660, 5) + sink; }\n"),
				"f", 0);
	struct xc_value value;
	struct xc_frame_context context = {.process = l->process,
					   .unwinder = l->unwinder,
					   .frame = &l->frame,
					   .place = xc_debuginfo_place(l->process, xc_frame_lookup(&l->frame))};
	expect(l, "q", "4660 (at entry)");
	expect(l, "kept", "5 (at entry)");
	assert_true(xc_variable_find(&context, 0, "q", &l->arena, &value));
	assert_int_equal(value.kind, XC_VALUE_ABSENT);
	end(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(variables_of_a_frame_that_was_released_are_not_told),
		cmocka_unit_test(a_call_of_an_alias_is_no_tail_call),
		cmocka_unit_test(names_are_not_those_of_the_vdso),
		cmocka_unit_test(a_constant_long_double_needs_no_padding),
		cmocka_unit_test(a_recursion_has_its_arguments),
		cmocka_unit_test(an_argument_that_is_lost_is_shown_as_it_was_at_entry),
	};
	setenv("TMPDIR_XC", scratch_dir(), 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
