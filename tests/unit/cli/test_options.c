/* layer: cli */
/* options: accepted syntax, stored values, and messages for mistakes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/commands/commands.h"
#include "cli/options.h"
#include "core/text/suggest.h"

struct settings {
	const char *text, *choice;
	unsigned number;
	struct xc_words list;
	enum xc_switch on;
};

static const char *const choices[] = {"red", "green", NULL};

static const struct xc_option table[] = {
	{.name = "text",
	 .letter = 't',
	 .kind = XC_OPTION_TEXT,
	 .offset = offsetof(struct settings, text),
	 .value = "T"},
	{.name = "choice",
	 .kind = XC_OPTION_CHOICE,
	 .offset = offsetof(struct settings, choice),
	 .value = "C",
	 .words = choices},
	{.name = "number",
	 .kind = XC_OPTION_NUMBER,
	 .offset = offsetof(struct settings, number),
	 .value = "N",
	 .min = 1,
	 .max = 10},
	{.name = "list", .kind = XC_OPTION_LIST, .offset = offsetof(struct settings, list), .value = "L"},
	{.name = "on", .letter = 'x', .kind = XC_OPTION_ON, .offset = offsetof(struct settings, on)},
	{.name = "off", .kind = XC_OPTION_OFF, .offset = offsetof(struct settings, on)},
	{.name = NULL},
};

struct run {
	struct settings settings;
	struct xc_words operands;
	struct xc_error *err;
};

enum { MOST_WORDS = 12 };

static void run_until(struct run *r, size_t after, const char *const *words)
{
	char *argv[MOST_WORDS + 1] = {(char *)"xcore"};
	int argc = 1;
	while (*words) {
		assert_true(argc < MOST_WORDS);
		argv[argc++] = (char *)(uintptr_t)*words++;
	}
	*r = (struct run){0};
	struct xc_option_set set = {table, &r->settings};
	r->err = after ? xc_options_parse_until(argc, argv, &set, 1, after, &r->operands)
		       : xc_options_parse(argc, argv, &set, 1, &r->operands);
}

static void run(struct run *r, const char *const *words)
{
	run_until(r, 0, words);
}

#define RUN(r, ...) run(r, (const char *const[]){__VA_ARGS__, NULL})

static void end(struct run *r)
{
	xc_words_fini(&r->settings.list);
	xc_words_fini(&r->operands);
	xc_error_free(r->err);
}

static void expect_error(struct run *r, const char *message, const char *hint)
{
	assert_non_null(r->err);
	assert_int_equal(r->err->code, XC_ERR_USAGE);
	assert_string_equal(r->err->message, message);
	if (hint)
		assert_string_equal(r->err->hint, hint);
	else
		assert_null(r->err->hint);
	end(r);
}

/* "run" and its target, then the script's arguments. */
static void foreign_options_are_operands_once_enough_was_read(void **state)
{
	(void)state;
	struct run r;
	run_until(&r, 2,
		  (const char *const[]){"run", "target", "--db", "3", "-zx", "--text", "a", "--what=1", "-x", NULL});
	assert_null(r.err);
	static const char *const want[] = {"run", "target", "--db", "3", "-zx", "--what=1"};
	assert_int_equal(r.operands.count, XC_COUNT(want));
	for (size_t i = 0; i < XC_COUNT(want); i++)
		assert_string_equal(r.operands.items[i], want[i]);
	assert_string_equal(r.settings.text, "a"); /* our options are recognised everywhere ... */
	assert_int_equal(r.settings.on, XC_ON);
	end(&r);
	run_until(&r, 2, (const char *const[]){"run", "target", "--", "--text", "a", "-x", NULL});
	assert_null(r.err);
	assert_int_equal(r.operands.count, 5); /* ... except after -- */
	assert_null(r.settings.text);
	end(&r);
	run_until(&r, 2, (const char *const[]){"run", "--db", "3", "target", NULL});
	expect_error(&r, "unknown option --db", NULL);
}

static void values_come_attached_or_as_the_next_word(void **state)
{
	(void)state;
	struct run r;
	RUN(&r, "--text", "a", "--choice=green", "--number=10", "-x");
	assert_null(r.err);
	assert_string_equal(r.settings.text, "a");
	assert_string_equal(r.settings.choice, "green");
	assert_int_equal(r.settings.number, 10);
	assert_int_equal(r.settings.on, XC_ON);
	assert_int_equal(r.operands.count, 0);
	end(&r);
}

static void options_stand_anywhere_until_two_dashes(void **state)
{
	(void)state;
	struct run r;
	RUN(&r, "one", "--on", "two", "-", "--", "--text", "-x");
	assert_null(r.err);
	assert_int_equal(r.operands.count, 5);
	assert_string_equal(r.operands.items[0], "one");
	assert_string_equal(r.operands.items[1], "two");
	assert_string_equal(r.operands.items[2], "-");
	assert_string_equal(r.operands.items[3], "--text");
	assert_string_equal(r.operands.items[4], "-x");
	assert_null(r.settings.text);
	end(&r);
}

static void letters_join_and_take_the_rest_as_value(void **state)
{
	(void)state;
	struct run r;
	RUN(&r, "-xtvalue", "-t", "last");
	assert_null(r.err);
	assert_int_equal(r.settings.on, XC_ON);
	assert_string_equal(r.settings.text, "last");
	end(&r);
}

static void a_value_may_look_like_an_option(void **state)
{
	(void)state;
	struct run r;
	RUN(&r, "--text", "--on", "--text=--off");
	assert_null(r.err);
	assert_string_equal(r.settings.text, "--off");
	assert_int_equal(r.settings.on, XC_UNSET);
	end(&r);
}

static void lists_collect_and_the_last_switch_wins(void **state)
{
	(void)state;
	struct run r;
	RUN(&r, "--list", "a", "--on", "--list=b", "--off");
	assert_null(r.err);
	assert_int_equal(r.settings.list.count, 2);
	assert_string_equal(r.settings.list.items[1], "b");
	assert_int_equal(r.settings.on, XC_OFF);
	end(&r);
}

static void mistakes_are_named(void **state)
{
	(void)state;
	struct run r;
	RUN(&r, "--chioce", "red");
	expect_error(&r, "unknown option --chioce", "did you mean --choice?");
	RUN(&r, "--zebra");
	expect_error(&r, "unknown option --zebra", NULL);
	RUN(&r, "-z");
	expect_error(&r, "unknown option -z", "put arguments that start with a dash after --");
	RUN(&r, "--text");
	expect_error(&r, "--text needs a value: T", NULL);
	RUN(&r, "--text=");
	expect_error(&r, "--text: the value is empty", NULL);
	RUN(&r, "--on=yes");
	expect_error(&r, "--on takes no value", NULL);
	RUN(&r, "--choice", "blue");
	expect_error(&r, "--choice: 'blue' is not one of red, green", NULL);
}

static void numbers_outside_their_range_are_refused(void **state)
{
	(void)state;
	static const char *const wrong[] = {"0", "11", "-1", "1x", "0x", "99999999999999999999999", " 1"};
	for (size_t i = 0; i < XC_COUNT(wrong); i++) {
		struct run r;
		RUN(&r, "--number", wrong[i]);
		assert_non_null(r.err);
		assert_int_equal(r.settings.number, 0);
		end(&r);
	}
	struct run r;
	RUN(&r, "--number", "0xa");
	assert_null(r.err);
	assert_int_equal(r.settings.number, 10);
	end(&r);
}

static void number_reads_all_of_the_text_or_nothing(void **state)
{
	(void)state;
	uint64_t number = 7;
	assert_true(xc_options_number("0xffffffffffffffff", UINT64_MAX, &number));
	assert_true(number == UINT64_MAX);
	assert_false(xc_options_number("18446744073709551616", UINT64_MAX, &number));
	assert_false(xc_options_number("", UINT64_MAX, &number));
	assert_false(xc_options_number("5 ", UINT64_MAX, &number));
	assert_true(number == UINT64_MAX);
}

static const char *suggested(const char *wrong)
{
	struct xc_suggestion s = xc_suggest(wrong);
	for (const struct xc_command *const *c = xc_commands; *c; c++)
		xc_suggest_consider(&s, (*c)->name);
	return s.best;
}

static void near_words_are_suggested_and_far_ones_are_not(void **state)
{
	(void)state;
	assert_string_equal(suggested("analzye"), "analyze");
	assert_string_equal(suggested("thread"), "threads");
	assert_string_equal(suggested("mod"), "modules");
	assert_true(xc_suggest_distance("vector<int>", "vector<int, std::allocator<int>, with more of it>") == 1);
	assert_true(xc_suggest_distance("vector<int>", "vector<int*, std::allocator<int*> >") == 2);
	assert_true(xc_suggest_distance("vector<int>", "vector<int>") == 0);
	assert_null(suggested("core.1234"));
	assert_null(suggested(""));
	assert_null(suggested("a word that is much longer than any command of ours could be"));
}

/* Options before the command are skipped with any command's table, so the same name must have the same shape; and a
 * command must not hide a common option. */
static void options_of_one_name_agree_on_taking_a_value(void **state)
{
	(void)state;
	for (const struct xc_command *const *a = xc_commands; *a; a++) {
		for (const struct xc_option *o = (*a)->options; o && o->name; o++) {
			assert_null(xc_options_named(xc_common_options, o->name, strlen(o->name)));
			assert_null(o->letter ? xc_options_lettered(xc_common_options, o->letter) : NULL);
			for (const struct xc_command *const *b = xc_commands; *b; b++) {
				const struct xc_option *same =
					xc_options_named((*b)->options, o->name, strlen(o->name));
				assert_true(!same || xc_option_takes_value(same) == xc_option_takes_value(o));
			}
		}
	}
}

static void what_was_given_is_words_again(void **state)
{
	static const char *const expected[] = {"--text=a b", "--number=7", "--list=x", "--list=--y", "--off"};
	struct xc_words given = {0};
	struct xc_arena arena = {0};
	struct run r;
	(void)state;
	RUN(&r, "-t", "a b", "--list", "x", "--off", "--list=--y", "--number", "7");
	assert_null(r.err);
	const struct xc_option_set set = {table, &r.settings};
	for (const struct xc_option *o = table; o->name; o++)
		xc_options_given(&set, NULL, o->name, &arena, &given);
	xc_options_given(&set, NULL, "nothing", &arena, &given);
	assert_int_equal(given.count, XC_COUNT(expected));
	for (size_t i = 0; i < given.count; i++)
		assert_string_equal(given.items[i], expected[i]);
	xc_words_fini(&given);
	xc_arena_fini(&arena);
	end(&r);
}

static void every_table_entry_can_be_shown(void **state)
{
	(void)state;
	for (const struct xc_command *const *c = xc_commands; *c; c++) {
		assert_true((*c)->about && (*c)->examples && (*c)->examples->line);
		assert_true((*c)->run || (*c)->produce || (*c)->write);
		/* Otherwise `run` would have no use. */
		for (const struct xc_operand *o = (*c)->operands; o && o->name; o++)
			assert_true(strcmp(o->name, "TARGET") != 0 || o->optional || (*c)->alone || !(*c)->run);
		for (const struct xc_option *o = (*c)->options; o && o->name; o++) {
			assert_non_null(o->about);
			assert_true((o->value != NULL) == xc_option_takes_value(o));
			assert_true(o->kind != XC_OPTION_NUMBER || o->min <= o->max);
			assert_true(o->kind != XC_OPTION_CHOICE || o->words);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(foreign_options_are_operands_once_enough_was_read),
		cmocka_unit_test(values_come_attached_or_as_the_next_word),
		cmocka_unit_test(options_stand_anywhere_until_two_dashes),
		cmocka_unit_test(letters_join_and_take_the_rest_as_value),
		cmocka_unit_test(a_value_may_look_like_an_option),
		cmocka_unit_test(lists_collect_and_the_last_switch_wins),
		cmocka_unit_test(mistakes_are_named),
		cmocka_unit_test(numbers_outside_their_range_are_refused),
		cmocka_unit_test(number_reads_all_of_the_text_or_nothing),
		cmocka_unit_test(near_words_are_suggested_and_far_ones_are_not),
		cmocka_unit_test(options_of_one_name_agree_on_taking_a_value),
		cmocka_unit_test(what_was_given_is_words_again),
		cmocka_unit_test(every_table_entry_can_be_shown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
