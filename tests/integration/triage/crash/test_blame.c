/* layer: triage */
/* The frame to blame: the program's own frame below those of the C library, the C++ runtime and trampolines. */
#include "tests/support/opened.h"

#include "triage/crash/blame.h"

struct blamed {
	struct xc_process *process;
	struct xc_unwinder *unwinder;
	struct xc_frame first;
	struct xc_blame blame;
};

static struct blamed blame(const char *compiler, const char *source)
{
	struct blamed b = {.process = died(compiler, source)};
	b.unwinder = xc_unwinder_new(b.process);
	assert_true(xc_unwind_first(b.unwinder, &b.process->threads[0], &b.first));
	b.blame = xc_blame_find(b.process, b.unwinder, &b.first);
	return b;
}

static void done(struct blamed *b)
{
	xc_unwinder_free(b->unwinder);
	close_process(b->process);
}

static void expect(const char *compiler, const char *source, const char *function, const char *module)
{
	struct blamed b = blame(compiler, source);
	assert_string_equal(function_of(b.process, &b.blame.frame), function);
	if (module)
		assert_non_null(strstr(b.blame.through_module, module));
	else
		assert_null(b.blame.through);
	done(&b);
}

#define KEEP "__attribute__((noinline, noclone)) "

static void a_crash_of_the_programs_own_is_blamed_on_itself(void **state)
{
	(void)state;
	expect("gcc -g -O0 -x c",
	       "int work(void) { *(volatile int *)0 = 1; return 1; } int main(void) { return work(); }", "work", NULL);
}

static void the_caller_of_a_library_function_is_to_blame(void **state)
{
	(void)state;
	static const char copies[] = "#include <string.h>\nchar *volatile p; int work(void) { char room[64]; "
				     "memcpy(room, p, 64); return room[3]; "
				     "}\n int main(void) { return work(); }";
	expect("gcc -static -g -O0 -fno-builtin -x c", copies, "work", "program");
	/* the program's own */
	expect("gcc -static -g -O0 -fno-builtin -x c",
	       "#include <stddef.h>\nchar *volatile p; void *memcpy(void *to, const void *from, size_t n) { for "
	       "(size_t i = "
	       "0; i < n; i++) ((char *)to)[i] = ((char *)from)[i]; return to; }\n"
	       "int work(void) { char room[64]; memcpy(room, p, 64); return room[3]; } int main(void) { return work(); "
	       "}",
	       "memcpy", NULL);
	expect("gcc -g -O0 -x c",
	       "#include <string.h>\nchar *volatile p; int work(void) { return (int)strlen(p); }\n"
	       "int main(void) { return work(); }",
	       "work", "libc.so");
	expect("gcc -g -O0 -x c", "#include <stdlib.h>\nint work(void) { abort(); } int main(void) { return work(); }",
	       "work", "libc.so");
	expect("g++ -g -O0 -x c++", "int work() { throw 7; } int main() { return work(); }", "work", "libstdc++");
}

/* qsort is not to blame for the comparison function, nor is main. */
static void a_callback_is_to_blame_though_the_library_called_it(void **state)
{
	(void)state;
	expect("gcc -g -O0 -x c",
	       "#include <stdlib.h>\nint compare(const void *a, const void *b) { *(volatile int *)0 = 1; return 0; }\n"
	       "int main(void) { int v[3] = {3, 2, 1}; qsort(v, 3, 4, compare); return 0; }",
	       "compare", NULL);
}

static void in_a_static_program_the_librarys_functions_are_known_by_name(void **state)
{
	(void)state;
	struct blamed b = blame("gcc -g -O1 -static -x c",
				"#include <stdlib.h>\n" KEEP "int work(int a) { if (a) abort(); return a; }\n"
				"int main(int c, char **v) { return work(c) + 1; }");
	assert_string_equal(function_of(b.process, &b.blame.frame), "work");
	done(&b);
}

static void a_stack_of_nothing_but_library_is_blamed_on_its_first_frame(void **state)
{
	(void)state;
	struct blamed b = blame("gcc -g -O0 -x c", "#include <stdlib.h>\nint main(void) { abort(); }");
	for (size_t i = 0; i < b.process->module_count; i++) /* as if the program were the loader */
		if (b.process->modules[i]->kind == XC_MODULE_EXE)
			b.process->modules[i]->kind = XC_MODULE_LOADER;
	struct xc_blame all = xc_blame_find(b.process, b.unwinder, &b.first);
	assert_int_equal(all.frame.pc, b.first.pc);
	assert_null(all.through);
	done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_crash_of_the_programs_own_is_blamed_on_itself),
		cmocka_unit_test(the_caller_of_a_library_function_is_to_blame),
		cmocka_unit_test(a_callback_is_to_blame_though_the_library_called_it),
		cmocka_unit_test(in_a_static_program_the_librarys_functions_are_known_by_name),
		cmocka_unit_test(a_stack_of_nothing_but_library_is_blamed_on_its_first_frame),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
