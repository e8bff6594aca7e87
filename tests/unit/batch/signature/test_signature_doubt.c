/* layer: batch */
/* How much a signature is worth: of what little is left of a stack, what was guessed, and the quality. */
#include "batch/signature/signature.h"
#include "tests/unit/batch/signature/stacked.h"

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
		cmocka_unit_test(something_stands_for_a_stack_of_which_nothing_is_left),
		cmocka_unit_test(how_a_program_ended_stands_for_nothing_when_the_rest_is_lost),
		cmocka_unit_test(a_frame_or_two_of_a_stack_that_went_on_are_weak),
		cmocka_unit_test(an_outermost_frame_ends_a_whole_stack),
		cmocka_unit_test(quality_is_the_share_of_names),
		cmocka_unit_test(quality_is_less_for_what_is_missing),
		cmocka_unit_test(what_was_found_by_scanning_is_a_guess),
		cmocka_unit_test(start_up_code_is_no_culprit),
		cmocka_unit_test(each_stack_of_several_must_be_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
