/* scrub_source: a literal in a line of source is a value, so it is removed as values are: strings, and numbers after a
 * name of a secret. Comments are prose. The language is not known: the rules fit those of the C family, and in others
 * remove too much rather than too little. */
#include "core/report/scrub_impl.h"

enum { CHARACTER_MOST = 4, NUMBER_LEAST = 3, KEY_LEAST = 32 };

struct line {
	const char *start, *at, *end;
	struct xc_text *out;
	const struct xc_scrub *scrub;
};

/* Behind the closing quote, or the end of the line: a string may continue on the next one. */
static const char *end_of_literal(const struct line *l)
{
	const char quote = *l->at, *at = l->at + 1;
	while (at < l->end && *at != quote)
		at += *at == '\\' && at + 1 < l->end ? 2 : 1;
	return at < l->end ? at + 1 : l->end;
}

static bool is_include(const struct line *l)
{
	const char *hash = memchr(l->start, '#', (size_t)(l->at - l->start));
	return hash && strncmp(hash + 1 + strspn(hash + 1, " \t"), "include", strlen("include")) == 0;
}

/* A literal of characters: 'x', '\x41'. Without a second quote it is an apostrophe or a lifetime. */
static bool is_character(const struct line *l, const char *end)
{
	return *l->at == '\'' && (end[-1] != '\'' || end - l->at < 2 + CHARACTER_MOST + 1);
}

static bool take_literal(struct line *l)
{
	if (*l->at != '"' && *l->at != '\'' && *l->at != '`')
		return false;
	const char *end = end_of_literal(l);
	const bool closed = end - l->at > 1 && end[-1] == *l->at;
	if (!closed && (end - l->at < 2 || is_character(l, end)))
		return false;
	if (end - l->at < 2 + closed || is_include(l) || is_character(l, end)) {
		xc_text_addn(l->out, l->at, (size_t)(end - l->at));
	} else {
		xc_text_char(l->out, *l->at);
		xc_text_add(l->out, XC_REDACTED);
		if (closed)
			xc_text_char(l->out, *l->at);
	}
	l->at = end;
	return true;
}

static bool take_comment(struct line *l)
{
	const bool begins = strncmp(l->at, "//", 2) == 0 || strncmp(l->at, "/*", 2) == 0;
	const bool goes_on =
		*l->at == '*' && l->at > l->start && strspn(l->start, " \t0123456789") >= (size_t)(l->at - l->start);
	if (!begins && !goes_on)
		return false;
	struct xc_text comment = {0};
	xc_text_addn(&comment, l->at, (size_t)(l->end - l->at));
	if (!xc_scrub_text(l->scrub, comment.bytes, false, l->out))
		xc_text_add(l->out, comment.bytes);
	xc_text_fini(&comment);
	l->at = l->end;
	return true;
}

/* "pin_key = 1234", "#define API_KEY 0x12ab": the name has just been copied. */
static bool take_number(struct line *l, const char *name)
{
	const char *value = l->at + strspn(l->at, " \t=:({[]*");
	size_t len = 0;
	while (value + len < l->end && (xc_scrub_is_word(value[len]) || value[len] == '.'))
		len++;
	if (value >= l->end || !xc_scrub_names_secret(name, (size_t)(l->at - name)) || len < NUMBER_LEAST ||
	    !(*value >= '0' && *value <= '9'))
		return false;
	xc_text_addn(l->out, l->at, (size_t)(value - l->at));
	xc_text_add(l->out, XC_REDACTED);
	l->at = value + len;
	return true;
}

/* Long runs of letters and digits: the inside of a key that is a string of several lines. */
static bool take_key(struct line *l)
{
	size_t len = 0;
	while (l->at + len < l->end && (xc_scrub_is_word(l->at[len]) || strchr("+/=", l->at[len])))
		len++;
	if (len < KEY_LEAST || !xc_scrub_has_digit(l->at, len) || memchr(l->at, '_', len))
		return false;
	xc_text_add(l->out, XC_REDACTED);
	l->at += len;
	return true;
}

static void take_word(struct line *l)
{
	const char *word = l->at;
	while (l->at < l->end && xc_scrub_is_word(*l->at))
		l->at++;
	xc_text_addn(l->out, word, (size_t)(l->at - word));
	take_number(l, word);
}

static void take_line(struct line *l)
{
	while (l->at < l->end) {
		if (take_literal(l) || take_comment(l))
			continue;
		if (!xc_scrub_is_word(*l->at))
			xc_text_char(l->out, *l->at++);
		else if (!take_key(l))
			take_word(l);
	}
}

bool xc_scrub_source(const struct xc_scrub *scrub, const char *text, struct xc_text *out)
{
	xc_auto(xc_text_fini) struct xc_text plain = {0};
	for (const char *at = text; *at;) {
		const char *end = at + strcspn(at, "\n");
		struct line line = {at, at, end, &plain, scrub};
		take_line(&line);
		if (*end)
			xc_text_char(&plain, '\n');
		at = end + (*end == '\n');
	}
	if (xc_scrub_text(scrub, xc_text_string(&plain), true, out))
		return true;
	if (strcmp(xc_text_string(&plain), text) == 0)
		return false;
	xc_text_add(out, xc_text_string(&plain));
	return true;
}
