/* wrap: breaks lines by brackets alone; strings and characters are skipped as a whole. A symbol in angle brackets may
 * contain anything ("<operator<(A, B)+4>"): it ends at the bracket where all are balanced, or with the text. */
#include "dwarf/format/wrap.h"

#include <ctype.h>
#include <string.h>

enum {
	INDENT = 2,
	MAX_DEPTH = 64,
	MAX_SCANS = 32 << 20, /* bytes, again for each level of braces: two seconds. What is left then is not broken */
};

struct wrapper {
	struct xc_text *text;
	unsigned width;
	uint64_t scans_left;
};

/* The position after the quoted text at `at`. */
static const char *skip_quoted(const char *at, const char *end)
{
	char quote = *at++;
	while (at < end && *at != quote)
		at += *at == '\\' && end - at > 1 ? 2 : 1;
	return at < end ? at + 1 : end;
}

/* The position after a <symbol+4>; at + 1 when there is no closing bracket. */
static const char *skip_symbol(const char *at, const char *end)
{
	int depth = 0;
	for (const char *c = at; c < end; c++) {
		depth += *c == '<';
		depth -= *c == '>' && c > at && c[-1] != '-';
		if (depth == 0)
			return c + 1;
	}
	return at + 1;
}

/* The position after the item at `at`: a quoted text, a symbol, a bracketed group, one character. NULL when a group is
 * not closed. */
static const char *skip_item(const char *at, const char *end, unsigned depth)
{
	if (*at == '"' || *at == '\'')
		return skip_quoted(at, end);
	if (*at == '<')
		return skip_symbol(at, end);
	if (!strchr("{([", *at))
		return at + 1;
	char close = *at == '{' ? '}' : *at == '(' ? ')' : ']';
	for (at++; at && at < end && depth < MAX_DEPTH;) {
		if (*at == close)
			return at + 1;
		at = skip_item(at, end, depth + 1);
	}
	return NULL;
}

/* Does the value go on after the comma? "std::vector of length 3, capacity 3 = {…}", and the text of a named member in
 * pieces: "size = '\000' <repeats 12 times>, "\002", '\000'". */
static bool goes_on(const char *comma, const char *end, bool named)
{
	static const char capacity[] = "capacity ";
	const char *next = comma + 2;
	if ((size_t)(end - next) > strlen(capacity) && memcmp(next, capacity, strlen(capacity)) == 0)
		return isdigit((unsigned char)next[strlen(capacity)]);
	return named && next < end && strchr("\"'", *next) && strchr("\"'>", comma[-1]);
}

/* The end of the element at `at`: its comma, or end. NULL when it is not balanced. */
static const char *element_end(const char *at, const char *end)
{
	const char *begin = at;
	bool named = false;
	while (at && at < end) {
		if (*at == ',' && end - at > 1 && at[1] == ' ' && at > begin && !goes_on(at, end, named))
			break;
		named |= *at == '=' && at > begin && at[-1] == ' ' && end - at > 1 && at[1] == ' ';
		at = skip_item(at, end, 0);
	}
	return at;
}

/* The first opening brace that is not inside another item. */
static const char *find_brace(const char *at, const char *end)
{
	while (at && at < end && *at != '{')
		at = skip_item(at, end, 0);
	return at && at < end ? at : NULL;
}

static void add_break(struct xc_text *text, unsigned column)
{
	xc_text_char(text, '\n');
	for (unsigned i = 0; i < column; i++)
		xc_text_char(text, ' ');
}

/* Do the elements have names or braces? Then each is on a line of its own. */
static bool needs_lines(const char *at, const char *end)
{
	for (const char *stop; at && at < end; at = stop ? stop + 2 : NULL) {
		stop = element_end(at, end);
		if (!stop)
			return false;
		for (const char *c = at; c && c < stop; c = skip_item(c, stop, 0))
			if (*c == '{' || (*c == '=' && c > at && c[-1] == ' '))
				return true;
		if (stop >= end)
			break;
	}
	return false;
}

static bool is_balanced(const char *at, const char *end)
{
	for (const char *stop; at < end; at = stop + 2) {
		stop = element_end(at, end);
		if (!stop)
			return false;
		if (stop >= end)
			break;
	}
	return true;
}

static void wrap(struct wrapper *w, const char *at, const char *end, unsigned column, unsigned indent, unsigned depth);

static void wrap_elements(struct wrapper *w, const char *at, const char *end, unsigned indent, unsigned depth)
{
	bool lines = needs_lines(at, end);
	unsigned column = w->width; /* so that the first element starts a line */
	for (const char *stop; at < end; at = stop + 2) {
		stop = element_end(at, end);
		unsigned len = (unsigned)(stop - at) + (stop < end);
		if (lines || column + 1 + len > w->width) {
			add_break(w->text, indent);
			column = indent;
		} else {
			xc_text_char(w->text, ' ');
			column++;
		}
		wrap(w, at, stop, column, indent, depth);
		column += len;
		if (stop >= end)
			break;
		xc_text_char(w->text, ',');
	}
}

static void wrap(struct wrapper *w, const char *at, const char *end, unsigned column, unsigned indent, unsigned depth)
{
	const size_t len = (size_t)(end - at);
	const bool breaks = column + len > w->width && depth < MAX_DEPTH && xc_spend(&w->scans_left, len);
	const char *brace = breaks ? find_brace(at, end) : NULL;
	const char *behind = brace ? skip_item(brace, end, 0) : NULL;
	if (!behind || behind - brace < 4 || !is_balanced(brace + 1, behind - 1)) {
		xc_text_addn(w->text, at, len);
		return;
	}
	xc_text_addn(w->text, at, (size_t)(brace + 1 - at));
	wrap_elements(w, brace + 1, behind - 1, indent + INDENT, depth + 1);
	add_break(w->text, indent);
	xc_text_char(w->text, '}');
	wrap(w, behind, end, indent + 1, indent, depth);
}

void xc_wrap(struct xc_text *text, const char *value, size_t len, unsigned column, unsigned width)
{
	struct wrapper w = {text, width, MAX_SCANS};
	wrap(&w, value, value + len, column, 0, 0);
}
