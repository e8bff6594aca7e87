/* layer: triage tier: long */
/* The holder of a lock that does not record it, on the stack of a program that died, used as that of many threads. */
#include "tests/support/opened.h"

#include "dwarf/elf/symbol.h"
#include "triage/locks/lock_holder.h"

struct search {
	struct xc_process *process;
	struct xc_wait *waits;
	struct xc_waits all;
	struct xc_lock lock;
	struct xc_locks locks;
};

/* One lock, the global variable `table`, is held; no thread waits. */
static void prepare(struct search *s, const char *compiler, const char *source, size_t threads)
{
	*s = (struct search){.process = died(compiler, source), .waits = xc_alloc(threads * sizeof *s->waits)};
	size_t *nothing = xc_arena_alloc(&s->process->arena, threads * sizeof *nothing);
	for (size_t i = 0; i < threads; i++) {
		s->waits[i].thread = &s->process->threads[0];
		nothing[i] = XC_LOCK_NOBODY;
	}
	s->all = (struct xc_waits){.items = s->waits, .count = threads};
	s->lock = (struct xc_lock){
		.kind = XC_LOCK_MUTEX, .known = true, .held = true, .ownerless = true, .holder = XC_LOCK_NOBODY};
	s->locks = (struct xc_locks){.waits = &s->all, .locks = &s->lock, .lock_count = 1, .lock_of = nothing};
	assert_non_null(xc_symbol_find(s->process, "table", NULL, &s->lock.addr));
}

static void search(struct search *s, const char *compiler, const char *source, size_t threads)
{
	prepare(s, compiler, source, threads);
	xc_lock_holder_guess(s->process, &s->locks);
}

static void done(struct search *s)
{
	free(s->waits);
	close_process(s->process);
}

static void a_variable_that_guards_a_lock_names_its_holder(void **state)
{
	(void)state;
	static const char source[] = "#include <mutex>\nstd::mutex table; volatile int *none;\n"
				     "int main() { std::unique_lock<std::mutex> guard(table); *none = 1; return 0; }\n";
	struct search s;
	search(&s, "g++ -g -O0 -x c++", source, 1);
	assert_int_equal(s.lock.holder, 0);
	assert_string_equal(s.lock.why, "its variable `guard` in main (<stdin>:3) is a guard of it");
	assert_null(s.locks.limits);
	done(&s);
	search(&s, "g++ -g -O0 -x c++", source, 2); /* a lock that only one thread can hold */
	assert_true(s.lock.holder == XC_LOCK_NOBODY);
	assert_null(s.lock.why);
	done(&s);
}

static void of_several_readers_the_one_that_is_named_is_one_of_them(void **state)
{
	(void)state;
	static const char source[] = "#include <shared_mutex>\nstd::shared_mutex table; volatile int *none;\n"
				     "int main() { std::shared_lock<std::shared_mutex> guard(table); *none = 1; }\n";
	static const struct {
		uint32_t readers;
		const char *why;
	} cases[] = {{2, "one of its 2 readers: its variable `guard` in main (<stdin>:3) is a guard of it, to read"},
		     {1, NULL}};
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		struct search s;
		prepare(&s, "g++ -g -O0 -x c++", source, 2);
		s.lock.kind = XC_LOCK_RWLOCK;
		s.lock.readers = cases[i].readers;
		xc_lock_holder_guess(s.process, &s.locks);
		assert_true((s.lock.holder == 0) == (cases[i].why != NULL));
		if (cases[i].why)
			assert_string_equal(s.lock.why, cases[i].why);
		done(&s);
	}
}

static void limits_of_the_search_are_told(void **state)
{
	(void)state;
	enum { LOCALS = 2000 };
	struct xc_text source = {0};
	struct search s;
	xc_text_add(&source, "int table; volatile int *none; int deep(int n) {");
	for (int i = 0; i < LOCALS; i++)
		xc_text_printf(&source, " int v%d;", i);
	xc_text_add(&source, " if (!n) *none = 1; return deep(n - 1) + 1; }\n"
			     "int main(void) { return deep(60); }\n");
	search(&s, "gcc -g -O0 -x c", source.bytes, 2);
	assert_string_equal(s.locks.limits, "in the innermost 48 frames of each stack");
	done(&s);
	search(&s, "gcc -g -O0 -x c", source.bytes, 10);
	assert_string_equal(s.locks.limits, "in the innermost 48 frames of each stack, in the first 524288 variables");
	done(&s);
	search(&s, "gcc -g -O0 -x c", "int table; volatile int *none; int main(void) { *none = 1; return 0; }", 5000);
	assert_string_equal(s.locks.limits, "in 4096 of 5000 threads");
	done(&s);
	xc_text_fini(&source);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_variable_that_guards_a_lock_names_its_holder),
		cmocka_unit_test(of_several_readers_the_one_that_is_named_is_one_of_them),
		cmocka_unit_test(limits_of_the_search_are_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
