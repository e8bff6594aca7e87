/* source_code: each line is read once, and cut into tokens; a comment of several lines is the only state between
 * them. */
#include "triage/source/source_code.h"

#include <ctype.h>
#include <string.h>

#include "dwarf/line/source_lines.h"

enum { LINES = 600, TOKENS = 20000 };

struct cutter {
	const struct xc_crash_context *crash;
	struct xc_source_code *out;
	size_t capacity;
	unsigned line;
	bool in_comment;
};

static bool in_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static void add(struct cutter *c, const char *text, size_t len)
{
	struct xc_source_code *out = c->out;
	struct xc_arena *arena = &c->crash->report->arena;
	if (out->count == TOKENS)
		return;
	if (out->count == c->capacity) {
		size_t capacity = c->capacity ? 2 * c->capacity : 256;
		struct xc_source_token *more = xc_arena_alloc(arena, capacity * sizeof *more);
		if (out->count)
			memcpy(more, out->tokens, out->count * sizeof *more);
		out->tokens = more;
		c->capacity = capacity;
	}
	out->tokens[out->count++] =
		(struct xc_source_token){.text = xc_arena_strndup(arena, text, len), .line = c->line};
}

static size_t literal_length(const char *text)
{
	size_t at = 1;
	while (text[at] && text[at] != text[0])
		at += text[at] == '\\' && text[at + 1] ? 2 : 1;
	return text[at] ? at + 1 : at;
}

static size_t operator_length(const char *text)
{
	static const char *const pairs[] = {"->", "::", "==", "!=", "<=", ">=", "<<", ">>", "&&", "||",
					    "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "++", "--"};
	for (size_t i = 0; i < XC_COUNT(pairs); i++)
		if (strncmp(text, pairs[i], 2) == 0)
			return 2;
	return 1;
}

static void cut(struct cutter *c, const char *text)
{
	for (size_t at = 0, len; text[at]; at += len) {
		len = 1;
		if (c->in_comment) {
			c->in_comment = strncmp(text + at, "*/", 2) != 0;
			len = c->in_comment ? 1 : 2;
		} else if (strncmp(text + at, "//", 2) == 0) {
			return;
		} else if (strncmp(text + at, "/*", 2) == 0) {
			c->in_comment = true;
			len = 2;
		} else if (text[at] == '"' || text[at] == '\'') {
			len = literal_length(text + at);
			add(c, "\"", 1);
		} else if (in_name(text[at])) {
			while (in_name(text[at + len]) || (text[at + len] == '\'' && isdigit((unsigned char)text[at])))
				len++;
			add(c, text + at, len);
		} else if (!isspace((unsigned char)text[at])) {
			len = operator_length(text + at);
			add(c, text + at, len);
		}
	}
}

bool xc_source_code_read(const struct xc_crash_context *crash, const char *file, unsigned first, unsigned last,
			 struct xc_source_code *out)
{
	struct cutter c = {.crash = crash, .out = out};
	*out = (struct xc_source_code){.file = file};
	if (!file || !first || first > last || !crash->source || !xc_source_reader_line(crash->source, file, last))
		return false;
	if (last - first >= LINES)
		first = last - LINES + 1;
	for (c.line = first; c.line <= last; c.line++) {
		const char *text = xc_source_reader_line(crash->source, file, c.line);
		if (text && (*text != '#' || c.in_comment))
			cut(&c, text);
	}
	return out->count > 0;
}

bool xc_source_code_is(const struct xc_source_code *code, size_t at, const char *text)
{
	return at < code->count && strcmp(code->tokens[at].text, text) == 0;
}

bool xc_source_code_is_name(const struct xc_source_code *code, size_t at)
{
	const char *text = at < code->count ? code->tokens[at].text : "";
	return isalpha((unsigned char)*text) || *text == '_';
}

size_t xc_source_code_close(const struct xc_source_code *code, size_t open, size_t end)
{
	size_t depth = 0;
	for (size_t i = open; i < end && i < code->count; i++) {
		const char c = code->tokens[i].text[0];
		depth += c == '(' || c == '[' || c == '{';
		if ((c == ')' || c == ']' || c == '}') && --depth == 0)
			return i;
	}
	return end;
}

const char *xc_source_code_text(const struct xc_crash_context *crash, const struct xc_source_code *code, size_t begin,
				size_t end)
{
	struct xc_text text = {0};
	for (size_t i = begin; i < end && i < code->count; i++) {
		bool words = i > begin && in_name(code->tokens[i].text[0]) && in_name(code->tokens[i - 1].text[0]);
		xc_text_printf(&text, "%s%s", words ? " " : "", code->tokens[i].text);
	}
	const char *kept = xc_arena_strdup(&crash->report->arena, xc_text_string(&text));
	xc_text_fini(&text);
	return kept;
}
