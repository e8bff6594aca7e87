/* rust_expression: from the call back to where its expression begins, over balanced brackets. A chain of calls may
 * begin on a line before. */
#include "triage/rust/rust_expression.h"

#include <ctype.h>
#include <string.h>

#include "dwarf/line/source_lines.h"

enum { LINES = 6, MOST = 160 };

/* The only ".unwrap(" or ".expect(" of the text; NULL: there are none, or several. */
static const char *call_in(const char *text)
{
	const char *unwrap = strstr(text, ".unwrap("), *expect = strstr(text, ".expect(");
	const char *found = unwrap ? unwrap : expect;
	if (!found || (unwrap && expect) || strstr(found + 1, ".unwrap(") || strstr(found + 1, ".expect("))
		return NULL;
	return found;
}

static bool is_inside(const char *text, size_t at)
{
	char c = text[at], near = at ? text[at - 1] : '\0';
	return isalnum((unsigned char)c) || strchr("_.?", c) || (c == ':' && (near == ':' || text[at + 1] == ':'));
}

/* Where the expression begins that ends before `end`. */
static size_t beginning(const char *text, size_t end)
{
	size_t at = end;
	unsigned depth = 0;
	while (at > 0) {
		char c = text[at - 1];
		bool opens = strchr("([{", c), closes = strchr(")]}", c);
		if (!depth && (opens || (!closes && !is_inside(text, at - 1))))
			break;
		depth += closes;
		depth -= opens;
		at--;
	}
	return depth ? end : at;
}

/* Literal texts are not shown: they may be anything. */
static void add_without_texts(const char *text, size_t len, struct xc_text *out)
{
	bool inside = false;
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '"') {
			xc_text_add(out, inside ? "" : "…");
			inside = !inside;
		} else if (!inside) {
			xc_text_char(out, text[i]);
		}
	}
}

/* The line, with those before it that its chain of calls begins on. */
static void read_chain(const struct xc_crash_context *crash, const char *file, unsigned line, struct xc_text *out)
{
	for (unsigned back = 0; back < LINES && back < line; back++) {
		const char *text = xc_source_reader_line(crash->source, file, line - back);
		if (!text)
			return;
		xc_auto(xc_freep) char *rest = xc_strdup(xc_text_string(out));
		bool more = text[0] == '.';
		out->len = 0;
		xc_text_printf(out, "%s%s", text, rest);
		if (!more)
			return;
	}
}

static bool ends_in(const char *text, const char *end)
{
	size_t len = strlen(text), wanted = strlen(end);
	return len >= wanted && strcmp(text + len - wanted, end) == 0;
}

const char *xc_rust_expression_of(const struct xc_crash_context *crash, const char *file, unsigned line)
{
	struct xc_text chain = {0}, words = {0}, plain = {0};
	const char *expression = NULL;
	if (!crash->source || !file)
		return NULL;
	read_chain(crash, file, line, &chain);
	const char *text = xc_text_string(&chain), *call = call_in(text);
	size_t end = call ? (size_t)(call - text) : 0, from = call ? beginning(text, end) : 0;
	if (call && from < end && end - from < MOST) {
		add_without_texts(text + from, end - from, &plain);
		xc_text_escaped(&words, xc_text_string(&plain), plain.len);
		expression = xc_arena_strdup(&crash->report->arena, xc_text_string(&words));
	}
	xc_text_fini(&plain);
	xc_text_fini(&chain);
	xc_text_fini(&words);
	return expression;
}

void xc_rust_expression_report(struct xc_crash_context *crash, const char *file, unsigned line)
{
	struct xc_verdict *v = crash->verdict;
	if (!v->cause || !v->kind || (strcmp(v->kind, "unwrap") && strcmp(v->kind, "expect")))
		return;
	const char *expression = xc_rust_expression_of(crash, file, line);
	if (expression)
		v->cause = xc_arena_printf(
			&crash->report->arena, "%s: `%s`%s", v->cause, expression,
			ends_in(expression, ".upgrade()")
				? ": the object that this Weak led to has been dropped, or it never had one"
				: "");
}
