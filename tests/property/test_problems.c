/* layer: batch */
/* Problems do not depend on the order of records; a baseline contains its problems and keeps manual edits. */
#include "tests/support/property.h"

#include "tests/support/problemed.h"

/* Random crashes from a small family of stacks: enough are similar, equal, copies, or failed. */
static void add_random(struct rng *rng, struct problemed *p, size_t index)
{
	static const char *const classes[] = {"null-read", "wild-read", "null-write", "abort", "stack-overflow"};
	static const char *const severities[] = {"low", "high", "odd"};
	struct xc_text line = {0};
	size_t depth = 1 + rng_below(rng, 9), family = rng_below(rng, 3), build = rng_below(rng, 3);
	xc_text_printf(&line, "core.%zu %s core=%zu size=%zu missing=%zu severity=%s program=%s", index,
		       classes[rng_below(rng, XC_COUNT(classes))], rng_below(rng, 30), 90 + rng_below(rng, 4),
		       rng_below(rng, 3), severities[rng_below(rng, XC_COUNT(severities))],
		       rng_below(rng, 4) ? "server" : "client");
	for (size_t i = 0; i < depth; i++)
		if (rng_below(rng, 6))
			xc_text_printf(&line, " f%zu_%zu", rng_below(rng, 5) ? family : 9,
				       rng_below(rng, 9) ? i : i + 1);
	xc_text_add(&line, rng_below(rng, 2) ? " main __libc_start_call_main@libc.so.6 _start" : "");
	struct xc_record *r = problemed_add(p, xc_text_string(&line));
	static const char *const builds[] = {"aa", "bb", NULL};
	for (size_t i = 0; i < r->frame_count; i++)
		r->frames[i].build_id = builds[build];
	r->top.named = (unsigned)rng_below(rng, 6);
	if (rng_below(rng, 12) == 0)
		r->status = XC_RECORD_TIMEOUT;
	xc_text_fini(&line);
}

static void shuffle(struct rng *rng, struct problemed *p)
{
	for (size_t i = p->count; i > 1; i--) {
		size_t k = rng_below(rng, i);
		const struct xc_record *kept = p->records[i - 1];
		p->records[i - 1] = p->records[k];
		p->records[k] = kept;
	}
}

/* All data of a result. */
static char *told(const struct xc_problems *all)
{
	struct xc_text text = {0};
	for (size_t i = 0; i < all->count; i++) {
		const struct xc_problem *p = &all->problems[i];
		xc_text_printf(&text, "%s %s %s %zu %zu %s\n", p->id, xc_problem_state_name(p->state), p->severity,
			       p->representative, p->unique, p->note ? p->note : "");
		for (size_t k = 0; k < p->member_count; k++)
			xc_text_printf(&text, "  %s %s %s\n", p->members[k].record->path, p->members[k].signature->sig,
				       p->members[k].copy_of ? p->members[k].copy_of : "");
		for (size_t k = 0; k < p->class_count; k++)
			xc_text_printf(&text, "  %s %zu %zu %zu\n", p->classes[k].name, p->classes[k].count,
				       p->classes[k].certain, p->classes[k].best);
	}
	for (size_t i = 0; i < all->failed_count; i++)
		xc_text_printf(&text, "%s\n", all->failed[i]->path);
	xc_text_add(&text, "");
	return xc_text_take(&text);
}

static struct problemed *random_problems(struct rng *rng)
{
	struct problemed *p = problemed_new();
	for (size_t count = rng_below(rng, 80), i = 0; i < count; i++)
		add_random(rng, p, i);
	problemed_find(p);
	return p;
}

PROPERTY(the_order_of_records_does_not_matter, 60, 400)
{
	struct problemed *p = random_problems(rng);
	xc_auto(xc_freep) char *first = told(p->problems);
	size_t members = p->problems->failed_count;
	for (size_t i = 0; i < p->problems->count; i++)
		members += p->problems->problems[i].member_count;
	PROPERTY_CHECK(rng, members == p->count);
	shuffle(rng, p);
	problemed_find(p);
	xc_auto(xc_freep) char *again = told(p->problems);
	PROPERTY_CHECK(rng, first && again ? !strcmp(first, again) : first == again);
	problemed_free(p);
}

static bool names_class_of(const struct xc_problem *p, size_t class_at, size_t member)
{
	return p->members[member].class_at == class_at &&
	       !strcmp(p->classes[class_at].name, p->members[member].signature->class_name);
}

PROPERTY(each_member_is_counted_in_the_class_it_names, 60, 400)
{
	struct problemed *all = random_problems(rng);
	for (size_t i = 0; i < all->problems->count; i++) {
		const struct xc_problem *p = &all->problems->problems[i];
		size_t *counts = xc_alloc(p->class_count * sizeof *counts);
		for (size_t k = 0; k < p->member_count; k++) {
			PROPERTY_CHECK(rng, names_class_of(p, p->members[k].class_at, k));
			counts[p->members[k].class_at]++;
		}
		for (size_t k = 0; k < p->class_count; k++) {
			PROPERTY_CHECK(rng, p->classes[k].count == counts[k] && p->classes[k].certain <= counts[k]);
			PROPERTY_CHECK(rng, names_class_of(p, k, p->classes[k].best));
		}
		const size_t shown = p->members[p->representative].class_at;
		PROPERTY_CHECK(rng, p->classes[0].certain && p->classes[shown].best == p->representative);
		free(counts);
	}
	problemed_free(all);
}

static struct xc_baseline *baseline_of(struct rng *rng, const char *text)
{
	struct xc_baseline *b = NULL;
	struct xc_error *err = xc_baseline_read(text, strlen(text), "b", &b);
	PROPERTY_CHECK(rng, !err);
	return b;
}

static bool same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool same_classes(const struct xc_baseline_entry *a, const struct xc_baseline_entry *b)
{
	for (size_t i = 0; i < a->class_count && i < b->class_count; i++)
		if (strcmp(a->classes[i], b->classes[i]) != 0)
			return false;
	return a->class_count == b->class_count;
}

PROPERTY(a_baseline_knows_what_it_was_made_of, 60, 400)
{
	struct problemed *p = random_problems(rng);
	xc_auto(xc_freep) char *text = xc_baseline_update(NULL, p->problems);
	struct xc_baseline *b = baseline_of(rng, text);
	xc_auto(xc_freep) char *before = told(p->problems);
	PROPERTY_CHECK(rng, b->count == p->problems->count);
	shuffle(rng, p);
	p->options.baseline = b;
	problemed_find(p);
	PROPERTY_CHECK(rng, p->problems->counts[XC_PROBLEM_KNOWN] == p->problems->count);
	xc_auto(xc_freep) char *next = xc_baseline_update(b, p->problems);
	struct xc_baseline *again = baseline_of(rng, next);
	for (size_t i = 0; i < b->count; i++) {
		const struct xc_baseline_entry *x = &b->entries[i], *y = &again->entries[i];
		PROPERTY_CHECK(rng, !strcmp(x->id, y->id) && x->sig_count == y->sig_count && !strcmp(x->text, y->text));
		PROPERTY_CHECK(rng, x->severity && same(x->severity, y->severity));
		PROPERTY_CHECK(rng, x->class_count && same_classes(x, y));
		PROPERTY_CHECK(rng, p->problems->partial
					    ? !x->updates.count && !y->updates.count
					    : x->updates.count == 1 && y->updates.count == 2 && y->updates.there == 3);
	}
	xc_baseline_free(again);
	xc_baseline_free(b);
	problemed_free(p);
}

static void add_fields(struct rng *rng, struct xc_text *text)
{
	static const char *const fields[] = {" expires=2027-01-31", " severity=low", " seen=+-+",
					     " sig=aaaaaaaaaaaa,bbbbbbbbbbbbbb", " class=null-read,a\\x2cb"};
	for (size_t i = 0; i < XC_COUNT(fields); i++)
		if (rng_below(rng, 2))
			xc_text_add(text, fields[i]);
	xc_text_add(text, rng_below(rng, 2) ? " | null-read | a(b) # note | with # all\\x41" : " | x");
	xc_text_char(text, '\n');
}

/* For entries without a core only the counts change. */
PROPERTY(an_update_keeps_all_that_people_wrote, 200, 1000)
{
	struct xc_text text = {0};
	struct problemed *none = problemed_new();
	xc_text_add(&text, "# xcore baseline 4\n# top\n\n");
	for (size_t count = rng_below(rng, 9), i = 0; i < count; i++) {
		if (rng_below(rng, 3) == 0)
			xc_text_add(&text, "# above it\n#and more\n");
		if (rng_below(rng, 4))
			xc_text_printf(&text, "%012zx", rng_below(rng, 100) * 10 + i);
		else
			xc_text_add(&text, "match");
		add_fields(rng, &text);
	}
	problemed_find(none);
	none->problems->partial = rng_below(rng, 2) ? "a part is missing" : NULL;
	struct xc_baseline *b = baseline_of(rng, text.bytes);
	xc_auto(xc_freep) char *next = xc_baseline_update(b, none->problems);
	struct xc_baseline *again = baseline_of(rng, next);
	PROPERTY_CHECK(rng, b->count == again->count && same(b->head, again->head) && same(b->tail, again->tail));
	for (size_t i = 0; i < b->count; i++) {
		const struct xc_baseline_entry *x = &b->entries[i], *y = &again->entries[i];
		bool counted = x->id && !none->problems->partial;
		PROPERTY_CHECK(rng, same(x->id, y->id) && same(x->match, y->match) && same(x->note, y->note) &&
					    same(x->expires, y->expires) && same(x->above, y->above) &&
					    same_classes(x, y) && same(x->severity, y->severity));
		PROPERTY_CHECK(rng, same(x->text, y->text) && x->sig_count == y->sig_count);
		PROPERTY_CHECK(rng, y->updates.count == x->updates.count + counted &&
					    y->updates.there == x->updates.there << counted);
	}
	xc_baseline_free(again);
	xc_baseline_free(b);
	xc_text_fini(&text);
	problemed_free(none);
}

/* Bytes with a meaning in the file, and any others except NUL. */
static char *random_words(struct rng *rng, struct xc_arena *arena)
{
	static const char marks[] = " # |\\x23\n\r\t=,";
	size_t len = 1 + rng_below(rng, 12);
	char *words = xc_arena_alloc(arena, len + 1);
	for (size_t i = 0; i < len; i++)
		words[i] =
			rng_below(rng, 4) ? marks[rng_below(rng, sizeof marks - 1)] : (char)(1 + rng_below(rng, 255));
	words[len] = '\0';
	return words;
}

/* Possible results of reading: the end of a line, without surrounding blanks. NULL: nothing is left. */
static const char *random_note(struct rng *rng, struct xc_arena *arena)
{
	char *words = random_words(rng, arena);
	for (char *at = words; *at; at++)
		*at = *at == '\n' ? ' ' : *at;
	words = xc_text_trim(words);
	return *words ? words : NULL;
}

static struct xc_baseline_entry random_entry(struct rng *rng, struct xc_arena *arena, size_t number)
{
	struct xc_baseline_entry e = {.above = rng_below(rng, 2) ? "" : "# above\n", .line = (unsigned)number};
	const char **sigs = xc_arena_alloc(arena, sizeof *sigs), **classes = xc_arena_alloc(arena, sizeof *classes);
	if (rng_below(rng, 2))
		e.match = random_words(rng, arena);
	else
		e.id = xc_arena_printf(arena, "%012zx", number);
	e.text = e.id && rng_below(rng, 2) ? random_words(rng, arena) : NULL;
	e.note = rng_below(rng, 2) ? random_note(rng, arena) : NULL;
	e.expires = rng_below(rng, 2) ? "2027-02-28" : NULL;
	e.severity = rng_below(rng, 2) ? "critical" : NULL;
	e.updates.count = (unsigned)rng_below(rng, XC_BASELINE_WINDOW + 1);
	e.updates.there = (uint16_t)(rng_next(rng) & ((1u << e.updates.count) - 1));
	classes[0] = random_words(rng, arena);
	e.classes = classes;
	e.class_count = rng_below(rng, 2);
	sigs[0] = "0123456789abcdef01234567";
	e.sigs = sigs;
	e.sig_count = rng_below(rng, 2);
	return e;
}

static int by_match(const void *a, const void *b)
{
	const struct xc_baseline_entry *x = a, *y = b;
	if (!x->match != !y->match)
		return x->match ? -1 : 1;
	int d = x->match ? strcmp(x->match, y->match) : strcmp(x->id, y->id);
	return d ? d : (x->line > y->line) - (x->line < y->line);
}

PROPERTY(whatever_an_entry_says_is_read_as_it_was_written, 1500, 20000)
{
	struct problemed *none = problemed_new();
	struct xc_baseline_entry entries[4] = {{0}};
	struct xc_baseline old = {
		.entries = entries, .count = 1 + rng_below(rng, XC_COUNT(entries)), .head = "# top\n", .tail = ""};
	for (size_t i = 0; i < old.count; i++)
		entries[i] = random_entry(rng, &none->arena, i);
	qsort(entries, old.count, sizeof *entries, by_match);
	problemed_find(none); /* without a core: none is counted */
	xc_auto(xc_freep) char *text = xc_baseline_update(&old, none->problems);
	struct xc_baseline *again = baseline_of(rng, text);
	PROPERTY_CHECK(rng, again->count == old.count && same(again->head, old.head));
	for (size_t i = 0; i < old.count; i++) {
		const struct xc_baseline_entry *x = &entries[i], *y = &again->entries[i];
		PROPERTY_CHECK(rng, same(x->id, y->id) && same(x->match, y->match) && same(x->text, y->text) &&
					    same(x->note, y->note) && same(x->expires, y->expires) &&
					    same(x->severity, y->severity) && same_classes(x, y));
		PROPERTY_CHECK(rng, same(x->above, y->above) && x->sig_count == y->sig_count &&
					    x->updates.count == y->updates.count &&
					    x->updates.there == y->updates.there);
	}
	xc_auto(xc_freep) char *next = xc_baseline_update(again, none->problems);
	PROPERTY_CHECK(rng, same(text, next));
	xc_baseline_free(again);
	problemed_free(none);
}

/* Input that is not a baseline is refused, without side effects. */
PROPERTY(a_damaged_baseline_is_read_or_refused, 1000, 3000)
{
	static const char good[] = "# xcore baseline 4\n# a\n\nmatch seen=+- | heap-* # n\n3f9a2c17b0de "
				   "expires=2027-01-31 class=null-read,my\\x2cown "
				   "seen=+-+ sig=aaaaaaaaaaaa44,bbbbbbbbbbbb | null-read | parse # n\n";
	char text[sizeof good];
	struct xc_baseline *b = NULL;
	memcpy(text, good, sizeof good);
	for (size_t i = rng_below(rng, 4) + 1; i-- > 0;)
		text[rng_below(rng, sizeof good - 1)] =
			(char)(rng_below(rng, 2) ? rng_next(rng) : (uint64_t) " \n#|=,\\"[rng_below(rng, 7)]);
	struct xc_error *err =
		xc_baseline_read(text, rng_below(rng, 4) ? sizeof good - 1 : rng_below(rng, sizeof good), "b", &b);
	PROPERTY_CHECK(rng, !err || (err->code == XC_ERR_FORMAT && err->hint && !b));
	xc_error_free(err);
	xc_baseline_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_order_of_records_does_not_matter),
		cmocka_unit_test(each_member_is_counted_in_the_class_it_names),
		cmocka_unit_test(a_baseline_knows_what_it_was_made_of),
		cmocka_unit_test(an_update_keeps_all_that_people_wrote),
		cmocka_unit_test(whatever_an_entry_says_is_read_as_it_was_written),
		cmocka_unit_test(a_damaged_baseline_is_read_or_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
