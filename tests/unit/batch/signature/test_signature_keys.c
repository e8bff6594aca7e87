/* layer: batch */
/* The text and the keys of a signature: which stacks have the same, which do not. */
#include <string.h>

#include "batch/signature/signature.h"
#include "core/report/scrub.h"
#include "tests/unit/batch/signature/stacked.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_text_has_words_and_one_helper_and_at_most_five_names),
		cmocka_unit_test(keys_tell_apart_what_they_should),
		cmocka_unit_test(weak_ones_are_told_apart_by_class_and_program),
		cmocka_unit_test(weak_ones_are_told_apart_by_what_is_known_of_them),
		cmocka_unit_test(fewer_than_five_names_count_with_the_program),
		cmocka_unit_test(frames_without_names_count_by_module_where_enough_others_have_names),
		cmocka_unit_test(a_program_without_a_name_is_known_by_its_build_or_module),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
