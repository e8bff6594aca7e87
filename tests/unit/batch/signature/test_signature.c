/* layer: batch */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch/signature/signature.h"
#include "core/report/scrub.h"
#include "core/base/text.h"
#include "tests/support/check.h"

/* A stack in a line: "f@module" is a function of a module (by default the program itself), "?@module" one without a
 * name, "!" a signal trampoline, "-" a frame without name and module; "|" starts another thread's stack. Offsets count
 * up. */
struct stack {
	struct xc_arena arena;
	struct xc_framerules *rules;
	struct xc_record record;
	struct xc_signature *s;
};

static void frame(struct stack *stack, const char *word, size_t len)
{
	struct xc_record_frame *f = &stack->record.frames[stack->record.frame_count];
	const char *at = memchr(word, '@', len);
	size_t name = at ? (size_t)(at - word) : len;
	*f = (struct xc_record_frame){.offset = 0x1000 + 0x10 * stack->record.frame_count++, .has_offset = true};
	f->module = at ? xc_arena_strndup(&stack->arena, at + 1, len - name - 1) : "server";
	f->signal = *word == '!';
	if (*word == '-')
		f->module = NULL;
	else if (*word != '?' && *word != '!')
		f->function = xc_arena_strndup(&stack->arena, word, name);
}

static void init(struct stack *stack, const char *class_name, const char *frames)
{
	*stack = (struct stack){.rules = xc_framerules_builtin()};
	stack->record =
		(struct xc_record){.program = "server", .arch = "x86-64", .class_name = class_name, .severity = "low"};
	stack->record.frames = xc_arena_alloc(&stack->arena, XC_RECORD_FRAMES * sizeof *stack->record.frames);
	bool begins = false;
	for (const char *at = frames + strspn(frames, " "); *at; at += strspn(at, " ")) {
		size_t len = strcspn(at, " ");
		if (*at != '|')
			frame(stack, at, len);
		if (begins)
			stack->record.frames[stack->record.frame_count - 1].thread = "thread 7";
		begins = *at == '|';
		at += len;
	}
}

static void sign(struct stack *stack)
{
	stack->s = xc_signature(&stack->record, stack->rules, NULL, &stack->arena);
}

static void fini(struct stack *stack)
{
	xc_framerules_free(stack->rules);
	xc_arena_fini(&stack->arena);
}

static void expect_kept(const struct stack *stack, const char *wanted)
{
	struct xc_text text = {0};
	for (size_t i = 0; i < stack->s->kept_count; i++)
		xc_text_printf(&text, "%s%s", i ? " " : "", stack->s->frames[stack->s->kept[i]].shown);
	assert_string_equal(xc_text_string(&text), wanted);
	xc_text_fini(&text);
}

static void keeps(const char *class_name, const char *frames, const char *wanted)
{
	struct stack stack;
	init(&stack, class_name, frames);
	sign(&stack);
	expect_kept(&stack, wanted);
	fini(&stack);
}

#define LIBC_END "main __libc_start_call_main@libc.so.6 __libc_start_main_impl@libc.so.6 _start"
#define ABORT    "__pthread_kill_implementation@libc.so.6 raise@libc.so.6 abort@libc.so.6 "

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

static void something_stands_for_a_stack_of_which_nothing_is_left(void **state)
{
	(void)state;
	struct stack stack;
	keeps("abort", ABORT LIBC_END, "main");
	keeps("killed", "poll@libc.so.6 start_thread@libc.so.6", "poll");
	keeps("abort", ABORT "start_thread@libc.so.6", "__pthread_kill_implementation");
	keeps("null-read", "?@libc.so.6", "libc.so.6+0x1000");
	keeps("trap-instruction", "_start", "_start"); /* start-up code that died itself */
	keeps("pc-control", "- __libc_start_main_impl@libc.so.6 _start", "");
	init(&stack, "null-read", "- -");
	sign(&stack);
	assert_true(stack.s->frameless && stack.s->weak && stack.s->lost);
	assert_string_equal(stack.s->text, "null-read | server");
	stack.record.function = "blamed";
	sign(&stack);
	assert_true(stack.s->weak && !stack.s->lost);
	assert_null(xc_signature_doubt(stack.s));
	assert_string_equal(stack.s->text, "null-read | blamed");
	fini(&stack);
}

static void how_a_program_ended_stands_for_nothing_when_the_rest_is_lost(void **state)
{
	(void)state;
	struct stack stack;
	init(&stack, "abort", "__pthread_kill_implementation@libc.so.6");
	stack.record.function = "__pthread_kill_implementation";
	sign(&stack);
	expect_kept(&stack, "");
	assert_true(stack.s->lost && stack.s->weak && stack.s->frameless);
	assert_string_equal(stack.s->text, "abort | server");
	assert_string_equal(stack.s->told, "abort | server (stack lost: maybe several problems)");
	assert_string_equal(xc_signature_doubt(stack.s), "stack lost: maybe several problems");
	assert_float_equal(stack.s->quality, 0, 1e-9);
	fini(&stack);
}

static void a_frame_or_two_of_a_stack_that_went_on_are_weak(void **state)
{
	(void)state;
	static const struct {
		const char *class_name, *frames;
		bool weak;
	} cases[] = {
		{"null-read", "parse", true},
		{"null-read", "parse load", true},
		{"null-read", "parse load run", false},
		{"null-read", "parse main", false},
		{"null-write", "on_alarm ! parse", false}, /* the whole handler is there */
		{"stack-overflow", "descend descend descend descend", false},
		{"stack-overflow", "descend", true},
	};
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		struct stack stack;
		init(&stack, cases[i].class_name, cases[i].frames);
		sign(&stack);
		assert_int_equal(stack.s->weak, cases[i].weak);
		assert_false(stack.s->lost);
		assert_int_equal(xc_signature_doubt(stack.s) != NULL, cases[i].weak);
		fini(&stack);
	}
}

/* Call frame information may mark a frame that no rule knows. */
static void an_outermost_frame_ends_a_whole_stack(void **state)
{
	(void)state;
	struct stack stack;
	init(&stack, "null-read", "parse my_start");
	stack.record.stop = "return address at 0x7ffe0cf98eb8: the core file was cut short before these bytes";
	sign(&stack);
	assert_true(stack.s->weak && !stack.s->complete);
	stack.record.stop = "outermost frame";
	sign(&stack);
	assert_true(!stack.s->weak && stack.s->complete);
	fini(&stack);
}

static void the_text_has_words_and_one_helper_and_at_most_five_names(void **state)
{
	(void)state;
	struct stack stack;
	init(&stack, "heap-corruption", ABORT "free@libc.so.6 release run " LIBC_END);
	stack.record.message = "free(): invalid pointer 0x55d0c0ffee10";
	stack.record.kind = "bad pointer";
	sign(&stack);
	assert_string_equal(stack.s->text, "heap-corruption | free(): invalid pointer ADDR | release | run");
	assert_string_equal(stack.s->class_group, "heap:bad pointer");
	stack.record.message = XC_REDACTED;
	sign(&stack);
	assert_string_equal(stack.s->text, "heap-corruption | release | run");
	fini(&stack);
	init(&stack, "null-read", "strlen@libc.so.6 a b c d e f " LIBC_END);
	sign(&stack);
	assert_string_equal(stack.s->text, "null-read | strlen | a | b | c | d");
	fini(&stack);
	char name[400];
	memset(name, 'x', sizeof name - 1);
	memcpy(name + 240, "\xc3\xa9\xc3\xa9\xc3\xa9", 6);
	name[sizeof name - 1] = '\0';
	init(&stack, "null-read", name);
	sign(&stack);
	assert_int_equal(strlen(stack.s->text), 254); /* not in the middle of a character */
	fini(&stack);
}

static void keys_of(const char *class_name, const char *frames, struct xc_signature *out)
{
	struct stack stack;
	init(&stack, class_name, frames);
	for (size_t i = 0; i < stack.record.frame_count; i++)
		stack.record.frames[i].build_id = "abcd";
	sign(&stack);
	*out = *stack.s;
	fini(&stack);
}

static void keys_tell_apart_what_they_should(void **state)
{
	(void)state;
	struct xc_signature a, b;
	keys_of("null-read", "a b c d e f " LIBC_END, &a);
	keys_of("wild-read", "a b c d e g " LIBC_END, &b);
	assert_false(xc_signature_is_weak(&a));
	assert_string_equal(a.sig, b.sig); /* one access, five names */
	assert_string_equal(a.loose, b.loose);
	assert_string_not_equal(a.sig, a.loose);
	keys_of("null-write", "a b c d e f " LIBC_END, &b);
	assert_string_not_equal(a.sig, b.sig);
	assert_string_not_equal(a.exact, b.exact);
	keys_of("null-read", "a b c d x " LIBC_END, &b);
	assert_string_not_equal(a.sig, b.sig);
	assert_string_equal(a.loose, b.loose);
	keys_of("null-read", "strlen@libc.so.6 a b c d e f " LIBC_END, &b);
	assert_string_equal(a.sig, b.sig);
	assert_string_not_equal(a.exact, b.exact); /* different offsets */
}

static void weak_ones_are_told_apart_by_class_and_program(void **state)
{
	(void)state;
	struct xc_signature a, b;
	keys_of("null-read", "poll@libc.so.6", &a);
	keys_of("wild-read", "poll@libc.so.6", &b);
	assert_true(a.weak);
	assert_true(xc_signature_is_weak(&a));
	assert_string_not_equal(a.sig, b.sig);
	struct stack stack;
	init(&stack, "null-read", "poll@libc.so.6");
	sign(&stack);
	assert_string_equal(stack.s->sig, a.sig);
	stack.record.program = "other";
	sign(&stack);
	assert_string_not_equal(stack.s->sig, a.sig);
	fini(&stack);
}

static void weak_ones_are_told_apart_by_what_is_known_of_them(void **state)
{
	(void)state;
	char sig[XC_SIGNATURE_HEX];
	struct stack stack;
	init(&stack, "heap-corruption", "__pthread_kill_implementation@libc.so.6");
	stack.record.kind = "damage";
	sign(&stack);
	memcpy(sig, stack.s->sig, sizeof sig);
	stack.record.kind = "double free";
	sign(&stack);
	assert_string_not_equal(stack.s->sig, sig);
	fini(&stack);
}

/* Any program may have a frame or two. */
static void fewer_than_five_names_count_with_the_program(void **state)
{
	(void)state;
	static const struct {
		const char *frames, *one, *other;
		bool same;
	} cases[] = {
		{"die " LIBC_END, "app", "tool", false},
		{"a b c d " LIBC_END, "app", "tool", false},
		{"a b c d e " LIBC_END, "app", "tool", true},
		{"die " LIBC_END, "app-1.2.3", "app-1.2.4", true},
	};
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		char sig[XC_SIGNATURE_HEX], loose[XC_SIGNATURE_HEX];
		struct stack stack;
		init(&stack, "null-read", cases[i].frames);
		stack.record.program = cases[i].one;
		sign(&stack);
		memcpy(sig, stack.s->sig, sizeof sig);
		memcpy(loose, stack.s->loose, sizeof loose);
		stack.record.program = cases[i].other;
		sign(&stack);
		assert_int_equal(!strcmp(stack.s->sig, sig), cases[i].same);
		assert_int_equal(!strcmp(stack.s->loose, loose), cases[i].same);
		fini(&stack);
	}
}

static void frames_without_names_count_by_module_where_enough_others_have_names(void **state)
{
	(void)state;
	struct xc_signature a, b;
	keys_of("null-read", "a ?@plugin.so b c " LIBC_END, &a);
	keys_of("null-read", "strlen@libc.so.6 a ?@plugin.so b c " LIBC_END, &b); /* offsets differ */
	assert_string_equal(a.sig, b.sig);
	keys_of("null-read", "?@plugin.so a b " LIBC_END, &a);
	keys_of("null-read", "strlen@libc.so.6 ?@plugin.so a b " LIBC_END, &b);
	assert_string_not_equal(a.sig, b.sig);
	keys_of("null-read", "a ? ? ? " LIBC_END, &a);
	keys_of("null-read", "strlen@libc.so.6 a ? ? ? " LIBC_END, &b);
	assert_string_not_equal(a.sig, b.sig);
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

static double quality_of(const char *frames, uint64_t missing)
{
	struct stack stack;
	init(&stack, "null-read", frames);
	stack.record.every = (struct xc_record_known){1, 2};
	stack.record.crashed = (struct xc_record_known){4, 4};
	stack.record.top = (struct xc_record_known){9, 5}; /* a record may contain anything */
	stack.record.size = 100;
	stack.record.missing = missing;
	sign(&stack);
	double quality = stack.s->quality;
	fini(&stack);
	return quality;
}

static void quality_is_the_share_of_names(void **state)
{
	(void)state;
	struct stack stack;
	init(&stack, "null-read", "a main");
	sign(&stack);
	assert_float_equal(stack.s->quality, 0, 1e-9);
	fini(&stack);
	assert_float_equal((float)quality_of("a main", 0), 0.25 * 0.5 + 0.35 + 0.4, 1e-6);
}

static void expect_about(double is, double wanted)
{
	double off = is - wanted;
	assert_true(off < 1e-6 && off > -1e-6);
}

static void quality_is_less_for_what_is_missing(void **state)
{
	(void)state;
	double whole = quality_of("a main", 0);
	expect_about(quality_of("a main", 300), whole * (0.75 + 0.25 / 4));
	expect_about(quality_of("a b c", 0), whole / 2);
	expect_about(quality_of("a", 0), whole / 4);
	expect_about(quality_of("raise@libc.so.6", 0), 0);
	expect_about(quality_of("a main", UINT64_MAX), whole * 0.75);
}

static void trusted(struct stack *stack, size_t at, const char *trust)
{
	for (size_t i = 0; i < stack->record.frame_count; i++)
		stack->record.frames[i].trust = i == 0 ? "context" : i == at ? trust : "cfi";
}

/* A frame found by a scan may belong to another call, and so may its callers. */
static void what_was_found_by_scanning_is_a_guess(void **state)
{
	(void)state;
	static const struct {
		const char *class_name, *kind, *frames, *trust;
		size_t at;
		bool weak, complete;
	} cases[] = {
		{"null-read", NULL, "parse load run " LIBC_END, "cfi", 1, false, true},
		{"null-read", NULL, "parse load run " LIBC_END, "fp", 1, false, true},
		{"null-read", NULL, "parse load run " LIBC_END, "scan", 1, true, false},
		{"null-read", NULL, "parse load run " LIBC_END, "scan", 3, false, false},
		{"null-read", NULL, "parse load run " LIBC_END, "scan", 4, false, true}, /* main called its callee */
		{"null-read", NULL, "a b c d e f " LIBC_END, "scan", 1, true, false},
		{"pc-control", "ret", "- load run " LIBC_END, "scan", 1, true, false},
		{"pc-control", "call", "- load run " LIBC_END, "scan", 1, false, true},
		{"call-null", NULL, "- load run " LIBC_END, "scan", 1, false, true},
		{"call-null", NULL, "- load run " LIBC_END, "scan", 2, true, false},
		{"abort", NULL, ABORT "give_up run " LIBC_END, "scan", 1, false, true}, /* the rules know it */
		{"abort", NULL, ABORT "give_up run " LIBC_END, "scan", 3, true, false},
	};
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		struct stack stack;
		init(&stack, cases[i].class_name, cases[i].frames);
		stack.record.kind = cases[i].kind;
		trusted(&stack, cases[i].at, cases[i].trust);
		sign(&stack);
		assert_int_equal(stack.s->weak, cases[i].weak);
		assert_int_equal(stack.s->complete, cases[i].complete);
		assert_int_equal(xc_signature_doubt(stack.s) != NULL, cases[i].weak);
		fini(&stack);
	}
}

/* The verdict's frame comes from the same scan. */
static void start_up_code_is_no_culprit(void **state)
{
	(void)state;
	struct stack stack;
	init(&stack, "pc-control", "- __libc_start_main_impl@libc.so.6 _start");
	stack.record.function = "_start";
	trusted(&stack, 1, "scan");
	sign(&stack);
	assert_null(stack.s->culprit);
	assert_string_equal(stack.s->told, "pc-control | server (stack lost: maybe several problems)");
	trusted(&stack, 1, "cfi");
	sign(&stack);
	assert_null(stack.s->culprit);
	assert_non_null(xc_signature_doubt(stack.s));
	fini(&stack);
	init(&stack, "null-read", LIBC_END);
	stack.record.function = "main";
	trusted(&stack, 1, "cfi");
	sign(&stack);
	assert_string_equal(stack.s->culprit, "main");
	assert_null(xc_signature_doubt(stack.s));
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

static void a_program_without_a_name_is_known_by_its_build_or_module(void **state)
{
	(void)state;
	static const struct {
		const char *builds[2], *frames[2], *paths[2];
		bool same;
	} cases[] = {
		{{"aa", "aa"}, {"parse load " LIBC_END, "parse load " LIBC_END}, {"a", "b"}, true},
		{{"aa", "bb"}, {"parse load " LIBC_END, "parse load " LIBC_END}, {"a", "b"}, false},
		{{NULL, NULL}, {"parse load " LIBC_END, "parse load " LIBC_END}, {"a", "b"}, true},
		{{NULL, NULL}, {"parse@a load " LIBC_END, "parse@b load " LIBC_END}, {"a", "b"}, false},
		{{NULL, NULL}, {"- -", "- -"}, {"a", "b"}, false},
		{{NULL, NULL}, {"- -", "- -"}, {"a", "a"}, true},
	};
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		char sigs[2][XC_SIGNATURE_HEX];
		for (size_t k = 0; k < 2; k++) {
			struct stack stack;
			init(&stack, "null-read", cases[i].frames[k]);
			stack.record.program = NULL;
			stack.record.build_id = cases[i].builds[k];
			stack.record.path = cases[i].paths[k];
			sign(&stack);
			assert_int_equal(stack.s->weak, !stack.s->program);
			memcpy(sigs[k], stack.s->sig, sizeof sigs[k]);
			fini(&stack);
		}
		assert_int_equal(!strcmp(sigs[0], sigs[1]), cases[i].same);
	}
}

#define WAIT   "futex_wait@libc.so.6 __pthread_mutex_lock@libc.so.6 "
#define THREAD "start_thread@libc.so.6 clone3@libc.so.6 "

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

static void each_stack_of_several_must_be_whole(void **state)
{
	struct stack stack;
	(void)state;
	init(&stack, "deadlock", "| " WAIT "take_b run " THREAD "| " WAIT "take_a work " THREAD);
	sign(&stack);
	assert_true(stack.s->complete);
	assert_int_equal(stack.s->shown[0], 2);
	assert_int_equal(stack.s->shown[3], 9);
	fini(&stack);
	init(&stack, "deadlock", "| " WAIT "take_b run | " WAIT "take_a work more and loop " THREAD);
	sign(&stack);
	assert_false(stack.s->complete);
	assert_true(stack.s->weak); /* one frame too few is left of the one, regardless of the other */
	fini(&stack);
	init(&stack, "deadlock", "| " WAIT "take_b run " THREAD "| " WAIT "take_a work " THREAD);
	stack.record.frames[2].trust = "scan"; /* of one thread: frames found for the other are not guesses */
	sign(&stack);
	assert_false(stack.s->complete);
	assert_int_equal(stack.s->sure, 2);
	fini(&stack);
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
		cmocka_unit_test(something_stands_for_a_stack_of_which_nothing_is_left),
		cmocka_unit_test(how_a_program_ended_stands_for_nothing_when_the_rest_is_lost),
		cmocka_unit_test(a_frame_or_two_of_a_stack_that_went_on_are_weak),
		cmocka_unit_test(an_outermost_frame_ends_a_whole_stack),
		cmocka_unit_test(the_text_has_words_and_one_helper_and_at_most_five_names),
		cmocka_unit_test(keys_tell_apart_what_they_should),
		cmocka_unit_test(weak_ones_are_told_apart_by_class_and_program),
		cmocka_unit_test(weak_ones_are_told_apart_by_what_is_known_of_them),
		cmocka_unit_test(fewer_than_five_names_count_with_the_program),
		cmocka_unit_test(frames_without_names_count_by_module_where_enough_others_have_names),
		cmocka_unit_test(rules_of_a_user_beat_the_built_in_ones),
		cmocka_unit_test(a_policy_has_the_last_word),
		cmocka_unit_test(each_frame_says_what_decided),
		cmocka_unit_test(what_users_specialise_of_a_library_is_kept),
		cmocka_unit_test(the_place_is_the_programs_own),
		cmocka_unit_test(quality_is_the_share_of_names),
		cmocka_unit_test(quality_is_less_for_what_is_missing),
		cmocka_unit_test(what_was_found_by_scanning_is_a_guess),
		cmocka_unit_test(start_up_code_is_no_culprit),
		cmocka_unit_test(a_culprit_is_called_by_its_language),
		cmocka_unit_test(a_program_without_a_name_is_known_by_its_build_or_module),
		cmocka_unit_test(stacks_of_a_circle_count_in_turn),
		cmocka_unit_test(each_stack_of_several_must_be_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
