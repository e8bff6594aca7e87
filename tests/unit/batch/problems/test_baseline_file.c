/* layer: batch */
/* The baseline file: reading, refusal, updates. */
#include "tests/support/problemed.h"
#include "tests/unit/batch/problems/baselined.h"

static void a_line_has_all_its_fields(void **state)
{
	(void)state;
	struct xc_baseline *b =
		read_text(HEAD "\n3f9a2c17b0de expires=2027-01-31 class=wild-read,null-read,an\\x20odd\\x2c\\\\one "
			       "seen=++-+- sig=bbbbbbbbbbbb,aaaaaaaaaaaa44 "
			       "| null-read | parse | main # ticket 812, fixed in 2.4\n");
	const struct xc_baseline_entry *e = &b->entries[0];
	assert_int_equal(b->count, 1);
	assert_string_equal(e->id, "3f9a2c17b0de");
	assert_string_equal(e->expires, "2027-01-31");
	assert_int_equal(xc_baseline_seen(e), 3);
	assert_int_equal(e->updates.count, 5);
	assert_int_equal(e->updates.there & 3, 2);
	assert_int_equal(e->sig_count, 2);
	assert_string_equal(e->sigs[0], "aaaaaaaaaaaa44");
	assert_int_equal(e->class_count, 3);
	assert_string_equal(e->classes[0], "an odd,\\one");
	assert_string_equal(e->classes[1], "null-read");
	assert_string_equal(e->classes[2], "wild-read");
	assert_string_equal(e->text, "null-read | parse | main");
	assert_string_equal(e->note, "ticket 812, fixed in 2.4");
	xc_baseline_free(b);
}

static void a_comment_is_of_the_line_below_it(void **state)
{
	(void)state;
	struct xc_baseline *b = read_text(HEAD "3f9a2c17b0de\n# of the second\naaaaaaaaaaaa\nbbbbbbbbbbbb\n");
	assert_int_equal(b->count, 3);
	for (size_t i = 0; i < b->count; i++)
		assert_int_equal(strstr(b->entries[i].above, "of the second") != NULL,
				 !strcmp(b->entries[i].id, "aaaaaaaaaaaa"));
	xc_baseline_free(b);
}

static void an_id_alone_is_a_line_and_nothing_is_a_baseline(void **state)
{
	(void)state;
	struct xc_baseline *b = read_text(HEAD "3f9a2c17b0de\r\n");
	assert_int_equal(b->count, 1);
	assert_null(b->entries[0].text);
	xc_baseline_free(b);
	b = read_text("");
	assert_int_equal(b->count, 0);
	xc_baseline_free(b);
}

/* The Gregorian rule: of the years that end a century, every fourth has a leap day. */
static void leap_days_are_dates(void **state)
{
	(void)state;
	assert_true(xc_baseline_is_date("2028-02-29"));
	assert_true(xc_baseline_is_date("2000-02-29"));
	assert_false(xc_baseline_is_date("1900-02-29"));
	assert_false(xc_baseline_is_date("2027-02-29"));
	assert_true(xc_baseline_is_date("2100-02-28"));
}

static void a_mistake_is_refused_with_its_line_and_a_hint(void **state)
{
	static const struct {
		const char *line, *part;
	} mistakes[] = {
		{"3f9a2c17b0d", "no id"},
		{"3F9A2C17B0DE", "no id"},
		{"<<<<<<< HEAD", "no id"},
		{"match", "pattern is missing"},
		{"3f9a2c17b0de expires=2027-02-29", "no date"},
		{"3f9a2c17b0de expires=2100-02-29", "no date"},
		{"3f9a2c17b0de expires=2027-04-31", "no date"},
		{"3f9a2c17b0de expires=2027-00-10", "no date"},
		{"3f9a2c17b0de expires=2027-13-01", "no date"},
		{"3f9a2c17b0de expires=2027-01-00", "no date"},
		{"3f9a2c17b0de expires=31.1.2027", "no date"},
		{"3f9a2c17b0de class=", "no class"},
		{"3f9a2c17b0de class=null-read,", "no class"},
		{"3f9a2c17b0de class=,null-read", "no class"},
		{"3f9a2c17b0de class=null-read,,abort | x", "no class"},
		{"3f9a2c17b0de class=null-read class=abort", "a second: class"},
		{"3f9a2c17b0de class=null-read, abort", "no class"},
		{"3f9a2c17b0de severity=bad", "no severity"},
		{"3f9a2c17b0de severity=", "no severity"},
		{"3f9a2c17b0de seen=", "no updates"},
		{"3f9a2c17b0de seen=3/5", "no updates"},
		{"3f9a2c17b0de seen=+++++++++++++++++", "no updates"},
		{"3f9a2c17b0de sig=xyz", "no sig"},
		{"3f9a2c17b0de expire=2027-01-01", "what is this"},
		{"3f9a2c17b0de null-read", "what is this"},
		{"3f9a2c17b0de sig=000000000000,000000000001 sig=bbbbbbbbbbbb | text", "a second: sig"},
		{"3f9a2c17b0de severity=low severity=critical", "a second: severity"},
		{"3f9a2c17b0de expires=2020-01-01 seen=+ expires=2031-01-01", "a second: expires"},
		{"1f9a2c17b0de\n1f9a2c17b0de", "again"},
	};
	(void)state;
	for (size_t i = 0; i < XC_COUNT(mistakes); i++) {
		struct xc_baseline *b = NULL;
		xc_auto(xc_freep) char *text = xc_asprintf(HEAD "\n%s\n", mistakes[i].line);
		struct xc_error *err = xc_baseline_read(text, strlen(text), "crashes.baseline", &b);
		assert_non_null(err);
		if (err->code != XC_ERR_FORMAT || !strstr(err->message, mistakes[i].part) || !err->hint ||
		    strncmp(err->message,
			    i == XC_COUNT(mistakes) - 1 ? "crashes.baseline:4: " : "crashes.baseline:3: ", 20))
			fail_msg("%s: %s", mistakes[i].line, err->message);
		xc_error_free(err);
	}
	struct xc_baseline *b = NULL;
	CHECK_ERROR(xc_baseline_read("{\"a\":1}\n", 8, "x", &b), XC_ERR_FORMAT, "first line");
	CHECK_ERROR(xc_baseline_read("# xcore baseline 2\n", 19, "x", &b), XC_ERR_FORMAT, "for other signatures");
	CHECK_ERROR(xc_baseline_read("# xcore baseline 40\n", 20, "x", &b), XC_ERR_FORMAT, "for other signatures");
	CHECK_ERROR(xc_baseline_read(HEAD "3f9a2c17b0de", strlen(HEAD) + 12, "x", &b), XC_ERR_FORMAT,
		    "x:2: the last line has no end");
	CHECK_ERROR(xc_baseline_read(HEAD "a\0b\n", strlen(HEAD) + 4, "x", &b), XC_ERR_FORMAT, "x:2: a NUL byte");
}

/* ---- updates ---- */

static void a_batch_that_is_not_whole_is_no_update(void **state)
{
	(void)state;
	struct problemed *p = PROBLEMED(THREE);
	p->options.partial = "part-00003-of-00008.jsonl is missing";
	xc_auto(xc_freep) char *text = knows_a(p, "seen=++");
	against(text, p);
	xc_auto(xc_freep) char *updated = xc_baseline_update(p->options.baseline, p->problems);
	assert_non_null(strstr(updated, " seen=++ sig="));
	assert_null(strstr(updated, "seen=+ "));
	finish(p);
}

static void an_update_knows_all_and_keeps_what_people_wrote(void **state)
{
	(void)state;
	struct problemed *p = PROBLEMED(THREE);
	xc_auto(xc_freep) char *fields =
		xc_asprintf("seen=+ | old words # why\n# of the vendor\nmatch | heap:* # theirs\n0123456789ab "
			    "expires=2027-01-01 seen=++ | null-read | old\n# the end");
	xc_auto(xc_freep) char *entry = knows_a(p, fields);
	xc_auto(xc_freep) char *text = xc_asprintf(HEAD "# of the project\n\n%s\n", entry + strlen(HEAD));
	against(text, p);
	xc_auto(xc_freep) char *updated = xc_baseline_update(p->options.baseline, p->problems);
	assert_memory_equal(updated, HEAD "# of the project\n\n# of the vendor\nmatch | heap:* # theirs\n", 70);
	assert_non_null(strstr(updated, " | old words # why\n"));
	assert_non_null(strstr(updated, "0123456789ab expires=2027-01-01 seen=++- | null-read | old\n"));
	assert_non_null(strstr(updated, " | abort | check | loop | run\n"));
	assert_true(xc_ends_with(updated, "\n# the end\n"));
	xc_baseline_free((struct xc_baseline *)p->options.baseline);
	against(updated, p);
	assert_int_equal(p->problems->counts[XC_PROBLEM_KNOWN], 3);
	assert_int_equal(p->problems->counts[XC_PROBLEM_NEW], 0);
	assert_int_equal(p->problems->counts[XC_PROBLEM_GONE], 1);
	finish(p);
}

static void names_cannot_end_their_line_or_begin_a_note(void **state)
{
	(void)state;
	struct problemed *p = problemed_new();
	struct xc_record *r = problemed_add(p, "a null-read parse loop");
	r->frames[0].function = "evil\n0123456789ab # x \033[31m";
	r->class_name = "# y";
	problemed_find(p);
	xc_auto(xc_freep) char *updated = xc_baseline_update(NULL, p->problems);
	against(updated, p);
	assert_int_equal(p->options.baseline->count, 1);
	assert_null(p->options.baseline->entries[0].note);
	assert_null(strchr(updated, '\033'));
	assert_string_equal(state_of(p, "a"), "known");
	xc_auto(xc_freep) char *again = xc_baseline_update(p->options.baseline, p->problems);
	assert_string_equal(strchr(again, '|'), strchr(updated, '|'));
	finish(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_has_all_its_fields),
		cmocka_unit_test(a_comment_is_of_the_line_below_it),
		cmocka_unit_test(an_id_alone_is_a_line_and_nothing_is_a_baseline),
		cmocka_unit_test(leap_days_are_dates),
		cmocka_unit_test(a_mistake_is_refused_with_its_line_and_a_hint),
		cmocka_unit_test(a_batch_that_is_not_whole_is_no_update),
		cmocka_unit_test(an_update_knows_all_and_keeps_what_people_wrote),
		cmocka_unit_test(names_cannot_end_their_line_or_begin_a_note),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
