/* baseline: reads the file strictly. People edit it, and a mistake that goes unnoticed would hide a crash. */
#include "batch/problems/baseline.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "triage/util/severity.h"
#include "batch/problems/baseline_impl.h"

struct reader {
	struct xc_baseline *baseline;
	const char *name;
	unsigned number;      /* of the current line */
	const char *line;     /* the whole line */
	struct xc_text above; /* comments since the last entry */
	size_t capacity;
	bool begun; /* the first line has been read */
};

/* ---- texts: bytes that would end the line, be trimmed, begin a note or be invisible are written as \xNN ---- */

/* A '#' after a blank would begin the note; leading and trailing blanks would be trimmed. */
static bool is_mark(const char *string, size_t at)
{
	if (string[at] == '#')
		return at == 0 || string[at - 1] == ' ';
	return string[at] == ' ' && (at == 0 || !string[at + 1]);
}

/* Does the byte at `at` have a meaning in the place where the string is written? */
typedef bool mark_fn(const char *string, size_t at);

static void write_but(struct xc_text *text, const char *string, mark_fn *is_meant)
{
	for (size_t i = 0, len = strlen(string); i < len;) {
		size_t n = xc_text_plain_length(string + i, len - i);
		if (string[i] == '\\')
			xc_text_add(text, "\\\\");
		else if (!n || is_meant(string, i))
			xc_text_printf(text, "\\x%02x", (unsigned char)string[i]);
		else
			xc_text_addn(text, string + i, n);
		i += n ? n : 1;
	}
}

void xc_baseline_write_text(struct xc_text *text, const char *string)
{
	write_but(text, string, is_mark);
}

static bool ends_word(const char *string, size_t at)
{
	return string[at] == ' ' || string[at] == ',';
}

void xc_baseline_write_word(struct xc_text *text, const char *string)
{
	write_but(text, string, ends_word);
}

static int digit(char c)
{
	const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c) : NULL;
	return at ? (int)(at - digits) : -1;
}

/* The byte that an escape represents, and the length of the escape; 0: it is none. */
static size_t escape_at(const char *at, char *byte_out)
{
	if (at[0] != '\\')
		return 0;
	if (at[1] == '\\') {
		*byte_out = '\\';
		return 2;
	}
	int high = at[1] == 'x' ? digit(at[2]) : -1, low = high >= 0 ? digit(at[3]) : -1;
	*byte_out = (char)(high * 16 + low);
	return low >= 0 && *byte_out ? 4 : 0;
}

void xc_baseline_decode_text(char *text)
{
	char *to = text;
	for (const char *at = text; *at;) {
		char byte = *at;
		size_t n = escape_at(at, &byte);
		*to++ = n ? byte : *at;
		at += n ? n : 1;
	}
	*to = '\0';
}

/* ---- errors ---- */

static struct xc_error *bad(const struct reader *r, const char *hint, const char *what, const char *word)
{
	struct xc_text line = {0};
	xc_text_name(&line, r->line);
	struct xc_error *err =
		xc_error_new(XC_ERR_FORMAT, "%s:%u: %s%s%s", r->name, r->number, what, *word ? ": " : "", word);
	err = xc_error_hint(xc_error_lines(err, xc_text_string(&line)), "%s", hint);
	xc_text_fini(&line);
	return err;
}

/* ---- fields ---- */

static bool is_hex(const char *word, size_t len)
{
	return len && strspn(word, "0123456789abcdef") >= len;
}

static size_t count_words(const char *value)
{
	size_t count = 1;
	for (; *value; value++)
		count += *value == ',';
	return count;
}

static struct xc_error *read_sigs(const struct reader *r, struct xc_baseline_entry *e, char *value)
{
	const char **sigs = xc_arena_alloc(&r->baseline->arena, count_words(value) * sizeof *sigs);
	for (char *saved = NULL, *sig = strtok_r(value, ",", &saved); sig; sig = strtok_r(NULL, ",", &saved)) {
		size_t len = strlen(sig);
		if (!is_hex(sig, len) || len < XC_BASELINE_ID || len > 64)
			return bad(r, "sigs are 12 to 64 of the digits 0-9 and a-f, with commas between them", "no sig",
				   sig);
		sigs[e->sig_count++] = xc_arena_strdup(&r->baseline->arena, sig);
	}
	qsort(sigs, e->sig_count, sizeof *sigs, xc_text_order);
	e->sigs = sigs;
	return NULL;
}

/* An empty class would be a mistake, and no class at all would accept any. */
static struct xc_error *read_classes(const struct reader *r, struct xc_baseline_entry *e, char *value)
{
	const char **classes = xc_arena_alloc(&r->baseline->arena, count_words(value) * sizeof *classes);
	for (char *class; (class = strsep(&value, ","));) {
		if (!*class)
			return bad(r,
				   "the classes that are accepted, with commas between them and no blanks: "
				   "class=abort,panic",
				   "no class between commas", "");
		xc_baseline_decode_text(class);
		classes[e->class_count++] = xc_arena_strdup(&r->baseline->arena, class);
	}
	qsort(classes, e->class_count, sizeof *classes, xc_text_order);
	e->classes = classes;
	return NULL;
}

static unsigned number_at(const char *digits, size_t len)
{
	unsigned number = 0;
	for (size_t i = 0; i < len; i++)
		number = number * 10 + (unsigned)(digits[i] - '0');
	return number;
}

static size_t digits_at(const char *text)
{
	return strspn(text, "0123456789");
}

bool xc_baseline_is_date(const char *text)
{
	static const unsigned days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	if (digits_at(text) != 4 || text[4] != '-' || digits_at(text + 5) != 2 || text[7] != '-' ||
	    digits_at(text + 8) != 2 || text[10])
		return false;
	unsigned year = number_at(text, 4), month = number_at(text + 5, 2), day = number_at(text + 8, 2);
	bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
	return month >= 1 && month <= 12 && day >= 1 && day <= days[month - 1] - (month == 2 && !leap);
}

static struct xc_error *read_expires(const struct reader *r, struct xc_baseline_entry *e, char *value)
{
	if (!xc_baseline_is_date(value))
		return bad(r, "a date is written 2027-01-31", "no date", value);
	e->expires = xc_arena_strdup(&r->baseline->arena, value);
	return NULL;
}

/* "+-++-", the newest last */
static struct xc_error *read_seen(const struct reader *r, struct xc_baseline_entry *e, char *value)
{
	size_t len = strlen(value);
	if (!len || len > XC_BASELINE_WINDOW || strspn(value, "+-") < len)
		return bad(r, "written seen=+-++-: a + for each of the last updates in which it was there, at most 16",
			   "no updates", value);
	e->updates = (struct xc_baseline_updates){.count = (unsigned)len};
	for (; *value; value++)
		e->updates.there = (uint16_t)(e->updates.there << 1 | (*value == '+'));
	return NULL;
}

static struct xc_error *read_severity(const struct reader *r, struct xc_baseline_entry *e, char *value)
{
	if (strcmp(value, xc_severity_name(xc_severity_rank(value))) != 0)
		return bad(r, "one of info, low, medium, high, critical: the worst that is accepted", "no severity",
			   value);
	e->severity = xc_arena_strdup(&r->baseline->arena, value);
	return NULL;
}

typedef struct xc_error *field_fn(const struct reader *r, struct xc_baseline_entry *e, char *value);

/* seen: a bit for each field that the line has had so far. */
static struct xc_error *read_field(const struct reader *r, struct xc_baseline_entry *e, char *word, unsigned *seen)
{
	static const struct {
		const char *name;
		field_fn *read;
	} fields[] = {{"expires", read_expires},
		      {"severity", read_severity},
		      {"class", read_classes},
		      {"seen", read_seen},
		      {"sig", read_sigs}};
	char *equals = strchr(word, '=');
	for (size_t i = 0; equals && i < XC_COUNT(fields); i++) {
		if (strlen(fields[i].name) != (size_t)(equals - word) ||
		    strncmp(fields[i].name, word, (size_t)(equals - word)) != 0)
			continue;
		if (*seen & 1u << i)
			return bad(r, "write each once; of sigs and classes, one list with commas", "a second",
				   fields[i].name);
		*seen |= 1u << i;
		return fields[i].read(r, e, equals + 1);
	}
	return bad(r,
		   "before the first | there may be expires=DATE, severity=low, class=abort,panic, seen=+-+ and "
		   "sig=HEX,HEX",
		   "what is this", word);
}

/* ---- lines ---- */

/* Ends the line at `mark`. Returns the text after it, trimmed and copied, or NULL. */
static char *cut_off(const struct reader *r, char *line, const char *mark)
{
	char *at = strstr(line, mark);
	if (!at)
		return NULL;
	*at = '\0';
	char *rest = xc_text_trim(at + strlen(mark));
	return *rest ? xc_arena_strdup(&r->baseline->arena, rest) : NULL;
}

static struct xc_error *read_name(const struct reader *r, struct xc_baseline_entry *e, const char *word)
{
	if (!strcmp(word, "match")) {
		e->match = xc_take(e->text);
		return e->match ? NULL : bad(r, "written: match | null-read | png_* # why", "a pattern is missing", "");
	}
	if (strlen(word) != XC_BASELINE_ID || !is_hex(word, XC_BASELINE_ID))
		return bad(r, "a line begins with the 12 hex digits of a cluster's id, with match, or with #",
			   "no id of a cluster", word);
	e->id = xc_arena_strdup(&r->baseline->arena, word);
	return NULL;
}

static const char *take_above(struct reader *r)
{
	const char *above = xc_arena_strdup(&r->baseline->arena, xc_text_string(&r->above));
	xc_text_fini(&r->above);
	return above;
}

static struct xc_error *read_entry(struct reader *r, char *line)
{
	struct xc_baseline *b = r->baseline;
	struct xc_baseline_entry e = {.line = r->number, .above = take_above(r)};
	char *saved = NULL;
	e.note = cut_off(r, line, " # ");
	char *text = cut_off(r, line, " | ");
	if (text)
		xc_baseline_decode_text(text);
	e.text = text;
	struct xc_error *err = read_name(r, &e, strtok_r(line, " \t", &saved));
	unsigned seen = 0;
	for (char *word; !err && (word = strtok_r(NULL, " \t", &saved));)
		err = read_field(r, &e, word, &seen);
	if (err)
		return err;
	b->entries = xc_grow(b->entries, b->count, &r->capacity, sizeof e);
	b->entries[b->count++] = e;
	return NULL;
}

static struct xc_error *begin(struct reader *r, const char *line)
{
	r->begun = true;
	if (xc_begins_with(line, XC_BASELINE_NAME) && strcmp(line, XC_BASELINE_MAGIC) != 0)
		return bad(
			r,
			"move it away, make a new one with --update-baseline, and copy notes, expiry dates and "
			"match lines",
			"its ids are for other signatures than this xcore's, which are version " XC_SIGNATURE_VERSION,
			"");
	if (strcmp(line, XC_BASELINE_MAGIC) != 0)
		return bad(r, "make a baseline with: xcore triage DIR --baseline FILE --update-baseline",
			   "the first line of a baseline is \"" XC_BASELINE_MAGIC "\"", "");
	return NULL;
}

/* Comments at the top of the file, up to an empty line, stay there. */
static void end_comments(struct reader *r)
{
	if (!r->baseline->count && !r->baseline->head)
		r->baseline->head = take_above(r);
}

static struct xc_error *read_line(struct reader *r, char *line)
{
	line = xc_text_trim(line);
	if (!r->begun)
		return begin(r, line);
	if (*line && *line != '#')
		return read_entry(r, line);
	if (!*line) {
		end_comments(r);
		return NULL;
	}
	xc_text_add(&r->above, line);
	xc_text_char(&r->above, '\n');
	return NULL;
}

/* ended: a newline follows. A truncated line accepts too much: its expiry or the end of its pattern is lost. */
static struct xc_error *copy_line(struct reader *r, const char *at, size_t len, bool ended)
{
	xc_auto(xc_freep) char *line = xc_alloc(len + 1), *whole = xc_alloc(len + 1);
	r->number++;
	r->line = whole;
	memcpy(whole, at, len);
	memcpy(line, at, len);
	if (memchr(at, '\0', len))
		return bad(r, "a baseline is a text file", "a NUL byte", "");
	if (!ended)
		return bad(r, "where the line is whole, put a newline after it",
			   "the last line has no end: the file may have been cut", "");
	return read_line(r, line);
}

/* ---- the whole file ---- */

int xc_baseline_by_name(const void *a, const void *b)
{
	const struct xc_baseline_entry *left = a, *right = b;
	if (!left->match != !right->match)
		return left->match ? -1 : 1;
	int d = left->match ? strcmp(left->match, right->match) : strcmp(left->id, right->id);
	return d ? d : (left->line > right->line) - (left->line < right->line);
}

static struct xc_error *check_twice(struct reader *r)
{
	const struct xc_baseline *b = r->baseline;
	for (size_t i = 1; i < b->count; i++) {
		const struct xc_baseline_entry *one = &b->entries[i - 1], *two = &b->entries[i];
		if (!two->id || !one->id || strcmp(one->id, two->id) != 0)
			continue;
		xc_auto(xc_freep) char *what = xc_asprintf("the cluster of line %u again", one->line);
		r->number = two->line;
		r->line = two->id;
		return bad(r, "join the two lines: keep one, with the sigs of both", what, "");
	}
	return NULL;
}

static int by_prefix(const void *a, const void *b)
{
	const struct xc_baseline_prefix *left = a, *right = b;
	int d = strcmp(left->hex, right->hex);
	return d ? d : (left->entry > right->entry) - (left->entry < right->entry);
}

static void list_prefixes(struct xc_baseline *b)
{
	size_t count = 0;
	for (size_t i = 0; i < b->count; i++)
		count += 1 + b->entries[i].sig_count;
	b->prefixes = xc_arena_alloc(&b->arena, (count + 1) * sizeof *b->prefixes);
	for (size_t i = 0; i < b->count; i++) {
		const struct xc_baseline_entry *e = &b->entries[i];
		if (e->id)
			b->prefixes[b->prefix_count++] = (struct xc_baseline_prefix){e->id, i};
		for (size_t k = 0; k < e->sig_count; k++)
			b->prefixes[b->prefix_count++] = (struct xc_baseline_prefix){e->sigs[k], i};
	}
	qsort(b->prefixes, b->prefix_count, sizeof *b->prefixes, by_prefix);
}

struct xc_error *xc_baseline_read(const char *text, size_t len, const char *name, struct xc_baseline **baseline_out)
{
	struct reader r = {.baseline = xc_alloc(sizeof *r.baseline), .name = name};
	struct xc_error *err = NULL;
	for (const char *at = text, *end = text + len; at < end && !err;) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		err = copy_line(&r, at, (size_t)((newline ? newline : end) - at), newline);
		at = newline ? newline + 1 : end;
	}
	r.baseline->tail = take_above(&r);
	if (r.baseline->count)
		qsort(r.baseline->entries, r.baseline->count, sizeof *r.baseline->entries, xc_baseline_by_name);
	xc_text_fini(&r.above);
	if (err || (err = check_twice(&r))) {
		xc_baseline_free(r.baseline);
		return err;
	}
	list_prefixes(r.baseline);
	*baseline_out = r.baseline;
	return NULL;
}

void xc_baseline_free(struct xc_baseline *baseline)
{
	if (!baseline)
		return;
	free(baseline->entries);
	xc_arena_fini(&baseline->arena);
	free(baseline);
}
