/* layer: batch */
/* The frames of a stack that a signature keeps, and what decides. */
#include <string.h>

#include "batch/signature/signature.h"
#include "tests/support/check.h"
#include "tests/unit/batch/signature/stacked.h"

static void how_a_program_ends_goes_with_all_above(void **state)
{
	(void)state;
	keeps("abort", ABORT "give_up run " LIBC_END, "give_up run");
	keeps("assertion", ABORT "?@libc.so.6 __assert_fail@libc.so.6 check run " LIBC_END, "check run");
	keeps("heap-corruption", ABORT "?@libc.so.6 ?@libc.so.6 free@libc.so.6 release run " LIBC_END, "release run");
	keeps("uncaught-exception",
	      ABORT "?@libstdc++.so.6 std::terminate()@libstdc++.so.6 __cxa_throw@libstdc++.so.6 "
		    "std::__throw_out_of_range(char)@libstdc++.so.6 "
		    "std::vector<int>::at item run " LIBC_END,
	      "item run");
	/* names in the program itself do not belong to a runtime */
	keeps("null-read", "free abort exit raise " LIBC_END, "free abort exit raise");
}

static void a_program_with_the_c_library_in_it_is_told_by_its_start(void **state)
{
	(void)state;
	keeps("abort",
	      "raise abort __assert_fail check strip main __libc_start_call_main __libc_start_main_impl _start",
	      "check strip");
	/* not in modules that are libraries */
	keeps("abort", "abort check " LIBC_END, "abort check");
}

static void functions_of_a_sanitizer_that_is_linked_in_are_the_librarys(void **state)
{
	(void)state;
	keeps("sanitizer", ABORT "__sanitizer::Die __asan::ReportDoubleFree free release run " LIBC_END, "release run");
}

static void helpers_go_wherever_they_stand(void **state)
{
	(void)state;
	keeps("null-read",
	      "__strlen_evex@libc.so.6 name std::function<void()>::operator() sort_all qsort@libc.so.6 run " LIBC_END,
	      "name sort_all run");
	keeps("wild-read", "- jump run " LIBC_END, "jump run");
	keeps("deadlock", "___pthread_mutex_lock@libc.so.6 __gthread_mutex_lock std::mutex::lock take run " LIBC_END,
	      "take run");
}

static void what_runs_at_exit_stays(void **state)
{
	(void)state;
	keeps("null-read", "flush_log __run_exit_handlers@libc.so.6 exit@libc.so.6 quit " LIBC_END, "flush_log quit");
}

static void handlers_of_the_fault_go(void **state)
{
	(void)state;
	struct stack stack;
	init(&stack, "null-write", ABORT "on_fault ! parse run " LIBC_END);
	stack.record.fault_at = 5;
	sign(&stack);
	expect_kept(&stack, "parse run");
	assert_int_equal(stack.s->frames[3].fate, XC_FRAME_HANDLER);
	stack.record.fault_at = 4; /* counted up to the trampoline */
	sign(&stack);
	expect_kept(&stack, "parse run");
	fini(&stack);
}

static void handlers_of_signals_that_the_process_sent_itself_go(void **state)
{
	(void)state;
	keeps("abort",
	      ABORT "on_abort ! __pthread_kill_implementation@libc.so.6 raise@libc.so.6 abort@libc.so.6 give_up "
		    "run " LIBC_END,
	      "give_up run");
	keeps("panic",
	      "runtime.raise runtime.sigtramp ! runtime.raise runtime.crash runtime.gopanic main.item main.main "
	      "runtime.main",
	      "main.item main.main");
}

static void what_another_signal_interrupted_does_not_matter(void **state)
{
	(void)state;
	keeps("abort", ABORT "on_alarm ! parse run " LIBC_END, "on_alarm");
	keeps("null-read", "on_alarm ! malloc@libc.so.6 run " LIBC_END, "on_alarm");
	/* even if the process sent it: the handler itself died */
	keeps("null-write", "crash on_user ! raise@libc.so.6 run " LIBC_END, "crash on_user");
}

/* If nothing distinguishes a fault handler from another one, a handler that ends the program is taken for a fault
 * handler. */
static void handlers_that_end_the_program_go_where_the_context_tells_nothing(void **state)
{
	(void)state;
	struct stack stack;
	init(&stack, "abort", ABORT "on_fault ! parse run " LIBC_END);
	stack.record.arch = "aarch64";
	sign(&stack);
	expect_kept(&stack, "parse run");
	fini(&stack);
	init(&stack, "abort", "?@libc.so.6 ?@libc.so.6 on_fault ! parse run " LIBC_END);
	stack.record.arch = "aarch64";
	sign(&stack);
	expect_kept(&stack, "parse run");
	fini(&stack);
}

static void repetitions_of_any_period_are_kept_once(void **state)
{
	(void)state;
	keeps("null-read", "leaf walk walk walk visit walk visit run " LIBC_END, "leaf walk visit run");
	keeps("null-read", "a b c a b c a b c d " LIBC_END, "a b c d");
	keeps("null-read", "a b a c a b a c " LIBC_END, "a b a c");
}

static void an_overflow_is_its_cycle_wherever_it_was_when_it_ended(void **state)
{
	(void)state;
	keeps("stack-overflow", "log value array value array value array start " LIBC_END, "array value");
	keeps("stack-overflow", "array value array value array value array go " LIBC_END, "array value");
	keeps("stack-overflow", "descend descend descend descend run " LIBC_END, "descend");
	/* two frames were damaged */
#define ROUNDS "list atom value list atom value list atom value list "
	keeps("stack-overflow", ROUNDS "? value " ROUNDS "? value " ROUNDS "atom value start " LIBC_END,
	      "atom value list");
#undef ROUNDS
	/* no two rounds are equal */
	keeps("stack-overflow",
	      "value array value object value array object value array value object value array start " LIBC_END,
	      "array object value");
	keeps("stack-overflow", "sum sum sum sum product sum product product sum sum sum go " LIBC_END, "product sum");
	/* no recursion: a large frame */
	keeps("stack-overflow", "fill run " LIBC_END, "fill run");
}

static void rules_of_a_user_beat_the_built_in_ones(void **state)
{
	(void)state;
	static const char *const mine = "[APP]\ng_*  module=@glib\n";
	struct stack stack;
	init(&stack, "abort", ABORT "g_log@libglib-2.0.so.0 g_free_all@libglib-2.0.so.0 run " LIBC_END);
	sign(&stack);
	expect_kept(&stack, "g_free_all run");
	CHECK_OK(xc_framerules_add(stack.rules, mine, strlen(mine), "mine.txt"));
	sign(&stack);
	expect_kept(&stack, "g_log g_free_all run");
	assert_true(stack.s->frames[3].app);
	fini(&stack);
}

static enum xc_policy_answer keep(void *user, const struct xc_record *record, size_t at, const char *name)
{
	(void)user, (void)record, (void)at;
	return !name                    ? XC_POLICY_SILENT
	       : !strcmp(name, "wrap")  ? XC_POLICY_SKIP
	       : !strcmp(name, "abort") ? XC_POLICY_KEEP
					: XC_POLICY_SILENT;
}

static const char *rename_frame(void *user, const struct xc_record *record, size_t at, const char *name,
				struct xc_arena *arena)
{
	(void)user, (void)record, (void)at;
	return name && !strcmp(name, "old") ? xc_arena_strdup(arena, "new") : NULL;
}

static void classify(void *user, const struct xc_record *record, struct xc_arena *arena, const char **class_out,
		     const char **severity_out)
{
	(void)user, (void)record, (void)arena;
	*class_out = "low-memory";
	*severity_out = "info";
}

static void a_policy_has_the_last_word(void **state)
{
	(void)state;
	static const struct xc_policy policy = {.keep = keep, .name = rename_frame, .classify = classify};
	struct stack stack;
	init(&stack, "abort", ABORT "wrap old run " LIBC_END);
	stack.s = xc_signature(&stack.record, stack.rules, &policy, &stack.arena);
	expect_kept(&stack, "abort new run");
	assert_int_equal(stack.s->frames[3].fate, XC_FRAME_POLICY);
	assert_string_equal(stack.s->class_group, "low-memory");
	assert_string_equal(stack.s->severity, "info");
	fini(&stack);
}

static void each_frame_says_what_decided(void **state)
{
	(void)state;
	struct stack stack;
	init(&stack, "null-read", "strlen@libc.so.6 walk walk main");
	sign(&stack);
	assert_non_null(strstr(stack.s->frames[0].rule, "SKIP * (frames.txt:"));
	assert_null(stack.s->frames[1].rule);
	assert_string_equal(stack.s->frames[2].rule, "recursion");
	assert_non_null(strstr(stack.s->frames[3].rule, "STOP main (frames.txt:"));
	assert_true(stack.s->complete);
	fini(&stack);
}

static void what_users_specialise_of_a_library_is_kept(void **state)
{
	(void)state;
	struct stack stack;
	init(&stack, "null-read", "std::hash<app::Key>::operator() std::__detail::find lookup " LIBC_END);
	for (size_t i = 0; i < 3; i++) {
		stack.record.frames[i].language = "c++";
		stack.record.frames[i].file = i == 1 ? "/usr/include/c++/12/bits/hashtable.h" : "/src/key.h";
		stack.record.frames[i].line = 7;
	}
	sign(&stack);
	expect_kept(&stack, "std::hash<T>::operator() lookup");
	assert_int_equal(xc_signature_place(&stack.record, stack.s), 0);
	fini(&stack);
}

static void the_place_is_the_programs_own(void **state)
{
	(void)state;
	struct stack stack;
	init(&stack, "null-read", "strlen@libc.so.6 lib_parse@libparse.so load run main");
	for (size_t i = 0; i < stack.record.frame_count; i++) {
		stack.record.frames[i].file = i == 0 ? "./strlen.c" : i == 2 ? "/usr/include/load.h" : "/src/x.c";
		stack.record.frames[i].line = i == 1 ? 0 : 7;
	}
	sign(&stack);
	assert_int_equal(xc_signature_place(&stack.record, stack.s), 3);
	for (size_t i = 1; i < stack.record.frame_count; i++)
		stack.record.frames[i].line = 0;
	assert_int_equal(xc_signature_place(&stack.record, stack.s), stack.record.frame_count);
	stack.record.function = "strlen";
	stack.record.line = 7;
	assert_int_equal(xc_signature_place(&stack.record, stack.s), 0);
	fini(&stack);
}

/* In Go "main.cold" is a function; elsewhere it is gcc's cold part of main. */
static void a_culprit_is_called_by_its_language(void **state)
{
	(void)state;
	static const struct {
		const char *frames, *function, *language, *culprit;
	} cases[] = {
		{"runtime.futex runtime.mcall", "main.cold", "go", "main.cold"}, /* a goroutine's */
		{"runtime.futex runtime.mcall", "main.cold", NULL, "main.cold"},
		{"poll@libc.so.6 " LIBC_END, "main.cold", "c", "main"},
		{"poll@libc.so.6 " LIBC_END, "load.cold", NULL, "load"},
		{"runtime.gopark main.part.0 runtime.main", "main.part.0", "go", "main.part.0"},
	};
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		struct stack stack;
		init(&stack, "deadlock", cases[i].frames);
		for (size_t k = 0; k < stack.record.frame_count; k++)
			stack.record.frames[k].language = cases[i].language;
		stack.record.function = cases[i].function;
		sign(&stack);
		if (stack.s->culprit)
			assert_string_equal(stack.s->culprit, cases[i].culprit);
		else
			expect_kept(&stack, cases[i].culprit);
		fini(&stack);
	}
}

static void stacks_of_a_circle_count_in_turn(void **state)
{
	(void)state;
	keeps("deadlock", "| " WAIT "take_b run " THREAD "| " WAIT "take_a work " THREAD, "take_a take_b work run");
	/* whichever comes first */
	keeps("deadlock", "| " WAIT "take_a work " THREAD "| " WAIT "take_b run " THREAD, "take_a take_b work run");
	/* a longer one continues when the other ends; a recursion of one is not part of the other */
	keeps("deadlock", "| " WAIT "a b b c " THREAD "| " WAIT "b " THREAD, "a b b c");
	/* common waits are listed once */
	keeps("deadlock",
	      "| " WAIT "take a loop " THREAD "| " WAIT "take b loop " THREAD "| " WAIT "take c loop " THREAD,
	      "take a b c loop");
	/* the number of equal stacks is chance */
	keeps("deadlock", "| " WAIT "eat dine " THREAD "| " WAIT "eat dine " THREAD "| " WAIT "eat dine " THREAD,
	      "eat dine");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(how_a_program_ends_goes_with_all_above),
		cmocka_unit_test(a_program_with_the_c_library_in_it_is_told_by_its_start),
		cmocka_unit_test(functions_of_a_sanitizer_that_is_linked_in_are_the_librarys),
		cmocka_unit_test(helpers_go_wherever_they_stand),
		cmocka_unit_test(what_runs_at_exit_stays),
		cmocka_unit_test(handlers_of_the_fault_go),
		cmocka_unit_test(handlers_of_signals_that_the_process_sent_itself_go),
		cmocka_unit_test(what_another_signal_interrupted_does_not_matter),
		cmocka_unit_test(handlers_that_end_the_program_go_where_the_context_tells_nothing),
		cmocka_unit_test(repetitions_of_any_period_are_kept_once),
		cmocka_unit_test(an_overflow_is_its_cycle_wherever_it_was_when_it_ended),
		cmocka_unit_test(rules_of_a_user_beat_the_built_in_ones),
		cmocka_unit_test(a_policy_has_the_last_word),
		cmocka_unit_test(each_frame_says_what_decided),
		cmocka_unit_test(what_users_specialise_of_a_library_is_kept),
		cmocka_unit_test(the_place_is_the_programs_own),
		cmocka_unit_test(a_culprit_is_called_by_its_language),
		cmocka_unit_test(stacks_of_a_circle_count_in_turn),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
