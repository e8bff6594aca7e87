/* layer: batch */
/* The baseline file: reading, refusal, states of problems relative to it, updates. */
#include "tests/support/problemed.h"

#define HEAD "# xcore baseline 4\n"

static struct xc_baseline *read_text(const char *text)
{
	struct xc_baseline *b = NULL;
	CHECK_OK(xc_baseline_read(text, strlen(text), "crashes.baseline", &b));
	return b;
}

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

/* ---- states ---- */

static struct problemed *against(const char *text, struct problemed *p)
{
	p->options.baseline = read_text(text);
	problemed_find(p);
	return p;
}

static void finish(struct problemed *p)
{
	xc_baseline_free((struct xc_baseline *)p->options.baseline);
	problemed_free(p);
}

static const char *state_of(const struct problemed *p, const char *path)
{
	return xc_problem_state_name(problem_of(p, path)->state);
}

#define THREE "a null-read parse loop run", "b null-write save loop run", "c abort check loop run"

/* A baseline with problem a and these fields. */
static char *knows_a(const struct problemed *p, const char *fields)
{
	return xc_asprintf(HEAD "%s %s\n", problem_of(p, "a")->id, fields);
}

static void what_is_there_is_known_and_the_rest_new_or_gone(void **state)
{
	(void)state;
	struct problemed *p = PROBLEMED(THREE);
	xc_auto(xc_freep) char *text = knows_a(p, "| x # why\n0123456789ab | null-read | old # was it");
	against(text, p);
	assert_string_equal(state_of(p, "a"), "known");
	assert_string_equal(problem_of(p, "a")->note, "why");
	assert_string_equal(state_of(p, "b"), "new");
	assert_int_equal(p->problems->count, 4);
	const struct xc_problem *gone = &p->problems->problems[3];
	assert_int_equal(gone->state, XC_PROBLEM_GONE);
	assert_string_equal(gone->id, "0123456789ab");
	assert_string_equal(gone->text, "null-read | old");
	assert_int_equal(p->problems->counts[XC_PROBLEM_NEW], 2);
	assert_int_equal(p->problems->counts[XC_PROBLEM_GONE], 1);
	assert_true(problem_of(p, "a") == &p->problems->problems[2]);
	finish(p);
}

static void a_note_that_has_run_out_counts_as_new(void **state)
{
	(void)state;
	struct problemed *p = PROBLEMED(THREE);
	xc_auto(xc_freep) char *over = knows_a(p, "expires=2026-11-21"), *last_day = knows_a(p, "expires=2026-11-22");
	against(over, p);
	assert_string_equal(state_of(p, "a"), "known");
	assert_true(problem_of(p, "a")->expired);
	xc_baseline_free((struct xc_baseline *)p->options.baseline);
	against(last_day, p);
	assert_false(problem_of(p, "a")->expired);
	finish(p);
}

/* The entry without a core; NULL: none is listed. */
static const struct xc_problem *absent_of(const struct problemed *p)
{
	for (size_t i = 0; i < p->problems->count; i++)
		if (!p->problems->problems[i].member_count)
			return &p->problems->problems[i];
	return NULL;
}

static void expect_unseen(struct problemed *p, const char *why)
{
	against(HEAD "0123456789ab seen=++\n", p);
	assert_non_null(absent_of(p));
	assert_int_equal(absent_of(p)->state, XC_PROBLEM_UNSEEN);
	if (!strstr(absent_of(p)->why, why))
		fail_msg("%s", absent_of(p)->why);
	assert_int_equal(p->problems->counts[XC_PROBLEM_GONE], 0);
	xc_auto(xc_freep) char *updated = xc_baseline_update(p->options.baseline, p->problems);
	assert_non_null(strstr(updated, "0123456789ab seen=++\n"));
	finish(p);
}

static void of_what_was_not_looked_at_nothing_is_gone_or_away(void **state)
{
	(void)state;
	struct problemed *p = PROBLEMED(THREE);
	p->options.partial = "part-00003-of-00008.jsonl is missing";
	expect_unseen(p, "part-00003-of-00008.jsonl is missing");
	p = PROBLEMED(THREE);
	problemed_add(p, "d abort check loop")->status = XC_RECORD_TIMEOUT;
	expect_unseen(p, "1 core gave no verdict");
	expect_unseen(problemed_new(), "no core was found");
}

static void one_absence_changes_nothing_and_a_return_after_repair_begins_anew(void **state)
{
	static const struct {
		const char *before, *there, *away;
	} cases[] = {
		{"| x", "seen=+ ", "seen=- "},
		{"seen=+", "seen=++ ", "seen=+- "},
		{"seen=++-", "seen=++-+ ", "seen=++-- "},
		{"seen=++--", "seen=++--+ ", "seen=++--- "}, /* two sightings are weak evidence */
		{"seen=+++--", "seen=+ ", "seen=+++--- "},
		{"seen=+-+-+-+-+-+-+-+-", "seen=-+-+-+-+-+-+-+-+ ", "seen=-+-+-+-+-+-+-+-- "},
	};
	(void)state;
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		struct problemed *p = PROBLEMED(THREE);
		xc_auto(xc_freep) char *fields = xc_asprintf("%s\n0123456789ab %s", cases[i].before, cases[i].before);
		xc_auto(xc_freep) char *text = knows_a(p, fields);
		against(text, p);
		xc_auto(xc_freep) char *updated = xc_baseline_update(p->options.baseline, p->problems);
		xc_auto(xc_freep) char *there = xc_asprintf("%s %s", problem_of(p, "a")->id, cases[i].there);
		xc_auto(xc_freep) char *away =
			xc_asprintf("0123456789ab %.*s", (int)strlen(cases[i].away) - 1, cases[i].away);
		if (!strstr(updated, there) || !strstr(updated, away))
			fail_msg("%s: %s", cases[i].before, updated);
		finish(p);
	}
}

static void what_a_weak_sig_knows_is_labelled(void **state)
{
	(void)state;
	struct problemed *p = PROBLEMED("a null-read", "b null-write save loop run");
	xc_auto(xc_freep) char *text = xc_asprintf("%s%s\n", HEAD, problem_of(p, "a")->id);
	assert_true(xc_signature_is_weak(problem_of(p, "a")->members[0].signature));
	xc_auto(xc_freep) char *both = xc_asprintf("%s%s\n", text, problem_of(p, "b")->id);
	against(both, p);
	assert_string_equal(state_of(p, "a"), "known");
	assert_non_null(problem_of(p, "a")->why);
	assert_null(problem_of(p, "b")->why);
	finish(p);
}

static void a_blank_and_a_hash_in_a_pattern_are_written_by_number(void **state)
{
	(void)state;
	struct problemed *p = problemed_new();
	problemed_add(p, "a null-read parse loop")->class_name = "a # b";
	problemed_add(p, "b null-read save loop")->class_name = "a \\x";
	problemed_find(p);
	against(HEAD "match | a \\x23 b | * # one\nmatch | a \\\\x | * # other\n", p);
	assert_string_equal(problem_of(p, "a")->note, "one");
	assert_string_equal(problem_of(p, "b")->note, "other");
	finish(p);
}

static void the_headers_example_fits(void **state)
{
	(void)state;
	struct problemed *p = against(HEAD "match expires=2027-01-31 | heap-* | png_* # vendor's, see ticket 90\n",
				      PROBLEMED("a heap-corruption png_read main"));
	assert_string_equal(state_of(p, "a"), "known");
	finish(p);
}

static void what_comes_and_goes_is_flaky_and_what_was_repaired_new(void **state)
{
	static const struct {
		const char *fields, *state,
			*absent; /* an entry with these fields: present, and absent; NULL: not listed */
	} cases[] = {
		{"seen=+++++", "known", "gone"},    {"seen=+", "known", "gone"},
		{"| x", "known", "gone"},           {"seen=+++++-", "known", "gone"}, /* once may be chance */
		{"seen=++-+++", "known", "gone"},   {"seen=+++++--", "new", NULL},    /* it was always present */
		{"seen=+-+-+", "flaky", "unseen"},                                    /* comes and goes */
		{"seen=+-+--", "flaky", "unseen"},  {"seen=+--+----", "flaky", "unseen"},
		{"seen=+--", "flaky", "unseen"}, /* one or two sightings are not "always" */
		{"seen=++----", "flaky", "unseen"}, {"seen=++-----", "new", NULL},
		{"seen=+++--", "new", NULL},        {"seen=+--+-----", "new", NULL},
		{"seen=-", "known", "gone"}, /* added by hand before it occurred */
		{"seen=---", "flaky", "unseen"},    {"seen=----------------", "new", NULL},
	};
	(void)state;
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		struct problemed *p = PROBLEMED(THREE);
		xc_auto(xc_freep) char *fields = xc_asprintf("%s\n0123456789ab %s", cases[i].fields, cases[i].fields);
		xc_auto(xc_freep) char *text = knows_a(p, fields);
		against(text, p);
		if (strcmp(state_of(p, "a"), cases[i].state) != 0)
			fail_msg("%s: %s", cases[i].fields, state_of(p, "a"));
		const struct xc_problem *absent = absent_of(p);
		if (!absent != !cases[i].absent ||
		    (absent && strcmp(xc_problem_state_name(absent->state), cases[i].absent)))
			fail_msg("%s: not there: %s", cases[i].fields,
				 absent ? xc_problem_state_name(absent->state) : "none");
		if (!problem_of(p, "a")->why != !!strcmp(state_of(p, "a"), "flaky"))
			fail_msg("%s: %s: %s", cases[i].fields, state_of(p, "a"), problem_of(p, "a")->why);
		assert_int_equal(absent && absent->why, absent && absent->state == XC_PROBLEM_UNSEEN);
		if (absent && absent->why) /* not that it came back: no run saw that */
			assert_non_null(strstr(absent->why, "and may come back"));
		finish(p);
	}
}

static void a_pattern_knows_what_it_fits(void **state)
{
	(void)state;
	struct problemed *p = against(HEAD "match | null-* | loop | run # all of them\n", PROBLEMED(THREE));
	assert_string_equal(state_of(p, "a"), "known");
	assert_string_equal(problem_of(p, "b")->note, "all of them");
	assert_string_equal(state_of(p, "c"), "new");
	assert_int_equal(p->problems->count, 3);
	finish(p);
}

static void the_baselines_id_stays_when_a_smaller_sig_comes(void **state)
{
	(void)state;
	struct problemed *p = PROBLEMED(THREE);
	xc_auto(xc_freep) char *text = xc_asprintf(HEAD "ffffffffffff sig=%s\n", problem_of(p, "a")->id);
	against(text, p);
	assert_string_equal(problem_of(p, "a")->id, "ffffffffffff");
	assert_string_equal(state_of(p, "a"), "known");
	finish(p);
}

static void the_sig_of_a_cut_copy_makes_nothing_known(void **state)
{
	(void)state;
	struct problemed *p =
		PROBLEMED("a null-read core=1 size=100 parse loop", "cut null-read core=1 size=100 missing=90 wild");
	xc_auto(xc_freep) char *text =
		xc_asprintf(HEAD "ffffffffffff sig=%s\n", problem_of(p, "a")->members[1].signature->sig);
	against(text, p);
	assert_string_equal(state_of(p, "a"), "new");
	finish(p);
}

/* The sig of the member with this path. */
static const char *sig_of(const struct problemed *p, const char *path)
{
	const struct xc_problem *problem = problem_of(p, path);
	for (size_t i = 0; i < problem->member_count; i++)
		if (!strcmp(problem->members[i].record->path, path))
			return problem->members[i].signature->sig;
	fail_msg("no member %s", path);
	return NULL;
}

static void a_guess_neither_makes_known_nor_is_written(void **state)
{
	(void)state;
	struct problemed *p = PROBLEMED("a wild-read severity=high parse x y z main", "cut wild-read missing=90 parse");
	assert_int_equal(problem_of(p, "a")->guessed, 1);
	assert_true(problem_of(p, "a") == problem_of(p, "cut"));
	xc_auto(xc_freep) char *first = xc_baseline_update(NULL, p->problems);
	assert_non_null(strstr(first, xc_arena_strndup(&p->arena, sig_of(p, "a"), 24)));
	assert_null(strstr(first, xc_arena_strndup(&p->arena, sig_of(p, "cut"), 12)));
	xc_auto(xc_freep) char *text =
		xc_asprintf(HEAD "%.12s sig=%.24s\nmatch | wild-read | parse\n", sig_of(p, "cut"), sig_of(p, "cut"));
	against(text, p);
	assert_string_equal(state_of(p, "a"), "new");
	finish(p);
}

/* Two stacks of one problem, with a line for each. */
static struct problemed *two_lines(const char *first, const char *second)
{
	struct problemed *p =
		PROBLEMED("a null-read f1 f2 f3 f4 f5 f6 f7 f8 f9 main", "b null-read f1 f2 f3 f4 q5 f6 f7 f8 f9 main");
	assert_true(together(p, "a", "b"));
	xc_auto(xc_freep) char *text =
		xc_asprintf(HEAD "%.12s %s\n%.12s %s\n", sig_of(p, "a"), first, sig_of(p, "b"), second);
	return against(text, p);
}

static void of_several_lines_the_worst_answers_with_its_own_id_and_note(void **state)
{
	static const struct {
		const char *bad, *state;
		bool expired;
	} cases[] = {
		{"expires=2020-01-01 | x # bad", "known", true},
		{"seen=+++-- | x # bad", "new", false},
		{"severity=info | x # bad", "new", false},
	};
	(void)state;
	for (size_t i = 0; i < 2 * XC_COUNT(cases); i++) {
		const char *wrong = cases[i / 2].bad, *good = "seen=++++ | x # good";
		struct problemed *p = i % 2 ? two_lines(wrong, good) : two_lines(good, wrong);
		const struct xc_problem *problem = problem_of(p, "a");
		assert_string_equal(state_of(p, "a"), cases[i / 2].state);
		assert_int_equal(problem->expired, cases[i / 2].expired);
		assert_string_equal(problem->note, "bad");
		assert_memory_equal(problem->id, sig_of(p, i % 2 ? "a" : "b"), 12);
		finish(p);
	}
}

static void what_is_worse_than_accepted_is_new_until_it_is_accepted(void **state)
{
	(void)state;
	struct problemed *p = PROBLEMED("a null-read severity=high parse loop run");
	xc_auto(xc_freep) char *low = knows_a(p, "severity=low | x"), *high = knows_a(p, "severity=high"),
			       *any = knows_a(p, "| x");
	const char *const fine[] = {high, any};
	for (size_t i = 0; i < XC_COUNT(fine); i++) {
		xc_baseline_free((struct xc_baseline *)p->options.baseline);
		assert_string_equal(state_of(against(fine[i], p), "a"), "known");
	}
	xc_auto(xc_freep) char *kept = xc_baseline_update(p->options.baseline, p->problems);
	assert_null(strstr(kept, "severity"));
	xc_baseline_free((struct xc_baseline *)p->options.baseline);
	assert_string_equal(state_of(against(low, p), "a"), "new");
	assert_string_equal(problem_of(p, "a")->why, "worse than accepted: low");
	xc_auto(xc_freep) char *updated = xc_baseline_update(p->options.baseline, p->problems);
	assert_non_null(strstr(updated, " severity=high seen=+ "));
	finish(p);
	p = PROBLEMED("a null-read severity=medium parse loop run");
	against(updated, p);
	assert_string_equal(state_of(p, "a"), "known");
	xc_auto(xc_freep) char *again = xc_baseline_update(p->options.baseline, p->problems);
	assert_non_null(strstr(again, " severity=high "));
	finish(p);
}

/* One stack, and crashes of two classes. */
#define ONE_PLACE "a null-read one two three", "b use-after-free kind=read one two three"

static void a_class_that_was_not_accepted_is_new_until_it_is(void **state)
{
	static const struct {
		const char *fields, *why; /* NULL: known */
	} cases[] = {
		{"| x", NULL}, /* an older or hand-written line accepts any class */
		{"class=null-read,use-after-free", NULL},
		{"class=abort,null-read,use-after-free,wild-read severity=low", NULL},
		{"class=null-read", "a class that was not accepted: use-after-free"},
		{"class=nul-read", "a class that was not accepted: null-read, use-after-free"},
		{"class=null-read severity=info",
		 "worse than accepted: info; a class that was not accepted: use-after-free"},
		{"class=use-after-free,null-read severity=info", "worse than accepted: info"},
	};
	(void)state;
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		struct problemed *p = PROBLEMED(ONE_PLACE);
		xc_auto(xc_freep) char *text = knows_a(p, cases[i].fields);
		assert_int_equal(against(text, p)->problems->count, 1);
		const struct xc_problem *problem = problem_of(p, "a");
		const char *why = problem->why ? problem->why : "";
		if (strcmp(state_of(p, "a"), cases[i].why ? "new" : "known") ||
		    strcmp(why, cases[i].why ? cases[i].why : ""))
			fail_msg("%s: %s: %s", cases[i].fields, state_of(p, "a"), why);
		xc_auto(xc_freep) char *updated = xc_baseline_update(p->options.baseline, p->problems);
		assert_int_equal(strstr(updated, " class=") != NULL,
				 i > 0); /* an update removes nothing: any stays any */
		xc_baseline_free((struct xc_baseline *)p->options.baseline);
		assert_string_equal(state_of(against(updated, p), "a"), "known");
		finish(p);
	}
}

static void an_update_writes_the_classes_of_certain_members(void **state)
{
	(void)state;
	struct problemed *p = PROBLEMED("a wild-read core=1 size=100 parse x y z main", "b null-read parse x y z main",
					"c use-after-free kind=read core=1 size=100 missing=90 parse x",
					"d heap-overrun kind=read missing=90 parse");
	problemed_add(p, "e abort loop")->class_name = "my own,class # | \\ \xc3\xa9\n";
	problemed_find(p);
	assert_int_equal(problem_of(p, "a")->class_count, 4);
	xc_auto(xc_freep) char *first = xc_baseline_update(NULL, p->problems);
	assert_non_null(strstr(first, " severity=low class=null-read,wild-read seen=+ sig="));
	assert_non_null(strstr(first, " class=my\\x20own\\x2cclass\\x20#\\x20|\\x20\\\\\\x20\xc3\xa9\\x0a seen="));
	against(first, p);
	assert_string_equal(state_of(p, "a"), "known");
	assert_string_equal(state_of(p, "e"), "known");
	xc_auto(xc_freep) char *narrower = xc_asprintf(HEAD "%s class=abort,wild-read\n", problem_of(p, "a")->id);
	xc_baseline_free((struct xc_baseline *)p->options.baseline);
	against(narrower, p);
	xc_auto(xc_freep) char *second = xc_baseline_update(p->options.baseline, p->problems);
	assert_non_null(strstr(second, " class=abort,null-read,wild-read seen=+ "));
	finish(p);
}

/* Neither a problem's other lines nor a pattern hide a class that its own line does not accept. */
static void a_class_must_be_accepted_by_each_line_of_the_cluster(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct problemed *p = i ? two_lines("class=null-read", "class=abort") : two_lines("class=abort", "| x");
		assert_string_equal(state_of(p, "a"), "new");
		assert_string_equal(problem_of(p, "a")->why, "a class that was not accepted: null-read");
		finish(p);
	}
	struct problemed *p = PROBLEMED(ONE_PLACE);
	xc_auto(xc_freep) char *text = knows_a(p, "class=null-read\nmatch | * | one *");
	assert_string_equal(state_of(against(text, p), "a"), "new");
	finish(p);
	p = against(HEAD "match class=null-read | * | one *\n", PROBLEMED(ONE_PLACE));
	assert_string_equal(state_of(p, "a"), "new");
	xc_auto(xc_freep) char *updated = xc_baseline_update(p->options.baseline, p->problems);
	assert_non_null(strstr(updated, "\nmatch class=null-read | * | one *\n"));
	assert_non_null(strstr(updated, " class=null-read,use-after-free seen=+ "));
	finish(p);
}

static void the_words_of_a_class_are_harmless(void **state)
{
	(void)state;
	struct problemed *p = problemed_new();
	problemed_add(p, "a abort loop run go")->class_name = "evil\033[31m\n";
	problemed_find(p);
	xc_auto(xc_freep) char *text = knows_a(p, "class=abort");
	against(text, p);
	assert_string_equal(problem_of(p, "a")->why, "a class that was not accepted: evil\\x1b[31m\\x0a");
	finish(p);
}

/* A matching member does not hide a new one. */
static void patterns_know_a_cluster_of_which_each_certain_member_fits_one(void **state)
{
#define F5 "match | null-read | f1 | f2 | f3 | f4 | f5*\n"
#define Q5 "match | null-read | f1 | f2 | f3 | f4 | q5*\n"
	static const struct {
		const char *lines, *state, *why;
	} cases[] = {
		{F5, "new", "match lines match its other cores, but not: null-read | f1 | f2 | f3 | f4 | q5"},
		{Q5, "new", "match lines match its other cores, but not: null-read | f1 | f2 | f3 | f4 | f5"},
		{"match | abort | *\n", "new", NULL},
		{F5 Q5, "known", NULL},
		{"match | null-read | f1 | *\n", "known", NULL},
	};
	(void)state;
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		struct problemed *p = two_lines("| x", "| x");
		xc_auto(xc_freep) char *text = xc_asprintf(HEAD "%s", cases[i].lines);
		xc_baseline_free((struct xc_baseline *)p->options.baseline);
		against(text, p);
		const char *why = problem_of(p, "a")->why;
		if (strcmp(state_of(p, "a"), cases[i].state) || !why != !cases[i].why ||
		    (why && strcmp(why, cases[i].why)))
			fail_msg("%s: %s: %s", cases[i].lines, state_of(p, "a"), why ? why : "");
		xc_auto(xc_freep) char *updated = xc_baseline_update(p->options.baseline, p->problems);
		xc_baseline_free((struct xc_baseline *)p->options.baseline);
		assert_string_equal(state_of(against(updated, p), "a"), "known");
		finish(p);
	}
}

static void of_patterns_that_fit_together_the_worst_answers(void **state)
{
	(void)state;
	struct problemed *p = two_lines("| x", "| x");
	xc_baseline_free((struct xc_baseline *)p->options.baseline);
	against(HEAD F5 "match expires=2020-01-01 | null-read | f1 | f2 | f3 | f4 | q5*\n", p);
	assert_true(problem_of(p, "a")->expired);
	finish(p);
}

static void a_pattern_need_not_fit_copies_and_guesses(void **state)
{
	(void)state;
	struct problemed *p =
		against(HEAD "match | wild-read | parse | x | y*\n",
			PROBLEMED("a wild-read core=1 size=100 parse x y z main",
				  "b null-read core=1 size=100 missing=90 parse x", "c wild-read missing=90 parse"));
	assert_int_equal(problem_of(p, "a")->member_count, 3);
	assert_string_equal(state_of(p, "a"), "known");
	finish(p);
}

/* Without the doubt, and with it. */
static void a_pattern_fits_the_doubt_too(void **state)
{
	(void)state;
	struct problemed *p = PROBLEMED("cut null-read missing=90 parse");
	const struct xc_signature *s = problem_of(p, "cut")->members[0].signature;
	assert_string_not_equal(s->told, s->text);
	xc_auto(xc_freep) char *both = xc_asprintf(HEAD "match | %s\n", s->told);
	assert_string_equal(state_of(against(both, p), "cut"), "known");
	finish(p);
}

/* ---- updates ---- */

static void a_pattern_that_has_expired_does_not_swallow_an_update(void **state)
{
	(void)state;
	struct problemed *p = PROBLEMED("a null-read parse loop run");
	against(HEAD "match expires=2026-11-21 | null-read | * # old\n", p);
	assert_true(problem_of(p, "a")->expired);
	xc_auto(xc_freep) char *updated = xc_baseline_update(p->options.baseline, p->problems);
	xc_baseline_free((struct xc_baseline *)p->options.baseline);
	against(updated, p);
	assert_int_equal(p->options.baseline->count, 2);
	assert_string_equal(state_of(p, "a"), "known");
	assert_false(problem_of(p, "a")->expired);
	finish(p);
}

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
		cmocka_unit_test(what_is_there_is_known_and_the_rest_new_or_gone),
		cmocka_unit_test(a_note_that_has_run_out_counts_as_new),
		cmocka_unit_test(what_comes_and_goes_is_flaky_and_what_was_repaired_new),
		cmocka_unit_test(a_pattern_knows_what_it_fits),
		cmocka_unit_test(the_baselines_id_stays_when_a_smaller_sig_comes),
		cmocka_unit_test(the_sig_of_a_cut_copy_makes_nothing_known),
		cmocka_unit_test(a_guess_neither_makes_known_nor_is_written),
		cmocka_unit_test(of_several_lines_the_worst_answers_with_its_own_id_and_note),
		cmocka_unit_test(what_is_worse_than_accepted_is_new_until_it_is_accepted),
		cmocka_unit_test(a_class_that_was_not_accepted_is_new_until_it_is),
		cmocka_unit_test(an_update_writes_the_classes_of_certain_members),
		cmocka_unit_test(a_class_must_be_accepted_by_each_line_of_the_cluster),
		cmocka_unit_test(the_words_of_a_class_are_harmless),
		cmocka_unit_test(patterns_know_a_cluster_of_which_each_certain_member_fits_one),
		cmocka_unit_test(of_patterns_that_fit_together_the_worst_answers),
		cmocka_unit_test(a_pattern_need_not_fit_copies_and_guesses),
		cmocka_unit_test(a_pattern_fits_the_doubt_too),
		cmocka_unit_test(a_pattern_that_has_expired_does_not_swallow_an_update),
		cmocka_unit_test(a_batch_that_is_not_whole_is_no_update),
		cmocka_unit_test(an_update_knows_all_and_keeps_what_people_wrote),
		cmocka_unit_test(of_what_was_not_looked_at_nothing_is_gone_or_away),
		cmocka_unit_test(one_absence_changes_nothing_and_a_return_after_repair_begins_anew),
		cmocka_unit_test(what_a_weak_sig_knows_is_labelled),
		cmocka_unit_test(a_blank_and_a_hash_in_a_pattern_are_written_by_number),
		cmocka_unit_test(the_headers_example_fits),
		cmocka_unit_test(names_cannot_end_their_line_or_begin_a_note),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
