/* cdef_parse: tokens and errors.
 *
 * Comments and backslash-newlines become blanks of the same length first, with vertical tabs where a newline does
 * not end a line, so that places stay what they are and directives end at a newline. Macros are frames on a stack: a
 * token of the innermost one comes next, and a macro is not expanded inside itself. (C's rule, C11 6.10.3.4, differs
 * where a name comes partly from a macro; that takes macros with parameters.) */
#include "lua/cdef/cdef_impl.h"

#include <stdarg.h>
#include <stdlib.h>

enum { SHOWN = 40 };

/* ---- comments ---- */

static void blank(char *at, size_t len)
{
	for (size_t i = 0; i < len; i++)
		at[i] = at[i] == '\n' ? '\v' : ' ';
}

static size_t continued_length(const char *at)
{
	if (at[0] != '\\')
		return 0;
	return at[1] == '\n' ? 2 : at[1] == '\r' && at[2] == '\n' ? 3 : 0;
}

/* The length of the comment at `at`; 0: there is none, SIZE_MAX: it is not terminated. */
static size_t comment_length(const char *at)
{
	size_t n = 2;
	if (at[0] != '/' || (at[1] != '/' && at[1] != '*'))
		return 0;
	if (at[1] == '*') {
		const char *end = strstr(at + 2, "*/");
		return end ? (size_t)(end - at) + 2 : SIZE_MAX;
	}
	while (at[n] && at[n] != '\n')
		n += continued_length(at + n) ? continued_length(at + n) : 1;
	return n;
}

/* Up to the closing quote, or the end of the line. */
static size_t quoted_length(const char *at)
{
	size_t n = 1;
	while (at[n] && at[n] != '\n' && at[n] != at[0])
		n += at[n] == '\\' && at[n + 1] ? 2 : 1;
	return at[n] == at[0] ? n + 1 : n;
}

static bool blank_comments(struct xc_cdef_parser *p)
{
	for (char *at = p->text; *at;) {
		size_t len = comment_length(at);
		if (len == SIZE_MAX) {
			p->token.at = (size_t)(at - p->text);
			p->token.spot_len = 2;
			return xc_cdef_fail(p, &p->token, XC_ERR_FORMAT, "unterminated comment");
		}
		if (len == 0)
			len = continued_length(at);
		if (len > 0)
			blank(at, len);
		else
			len = *at == '"' || *at == '\'' ? quoted_length(at) : 1;
		at += len;
	}
	return true;
}

/* ---- errors ---- */

/* The line of a place in the text, from 1. Places mostly come in ascending order. */
static unsigned line_of(struct xc_cdef_parser *p, size_t at)
{
	if (at < p->line_at) {
		p->line_at = 0;
		p->line = 1;
	}
	for (; p->line_at < at; p->line_at++)
		p->line += p->original[p->line_at] == '\n';
	return p->line;
}

static struct xc_error *place(struct xc_cdef_parser *p, const struct xc_cdef_token *spot, struct xc_error *err)
{
	unsigned line = line_of(p, spot->at), column = 1;
	size_t from = spot->at;
	while (from > 0 && p->original[from - 1] != '\n')
		from--;
	for (size_t i = from; i < spot->at; i++)
		column += ((unsigned char)p->original[i] & 0xc0) != 0x80;
	size_t len = strcspn(p->original + from, "\r\n"), before = spot->at - from;
	struct xc_cexpr shown = {.text = p->original + from, .len = len > before ? len : before};
	size_t marks = spot->spot_len < shown.len - before ? spot->spot_len : shown.len - before;
	if (!p->is_name)
		err = xc_error_wrap(err, "line %u, column %u", line, column);
	return xc_cexpr_point(&shown, err, before, marks);
}

bool xc_cdef_fail(struct xc_cdef_parser *p, const struct xc_cdef_token *spot, enum xc_error_code code,
		  const char *format, ...)
{
	if (p->err)
		return false;
	va_list args;
	xc_auto(xc_text_fini) struct xc_text text = {0};
	char message[512];
	va_start(args, format);
	vsnprintf(message, sizeof message, format, args);
	va_end(args);
	xc_text_name(&text, message);
	struct xc_error *err = xc_error_new(code, "%s", xc_text_string(&text));
	if (spot->macro)
		err = xc_error_wrap(err, "macro `%s`", spot->macro);
	p->err = place(p, spot, err);
	p->token.kind = XC_TOKEN_END;
	return false;
}

bool xc_cdef_unexpected(struct xc_cdef_parser *p, const char *wanted)
{
	const struct xc_cdef_token *t = &p->token;
	if (t->kind == XC_TOKEN_END)
		return xc_cdef_fail(p, t, XC_ERR_FORMAT, "the text ends where %s should stand", wanted);
	if (t->kind == XC_TOKEN_WRONG && strchr("\"'", *t->text))
		return xc_cdef_fail(p, t, XC_ERR_FORMAT, "unterminated quote");
	return xc_cdef_fail(p, t, XC_ERR_FORMAT, "`%.*s` where %s should stand", (int)(t->len < SHOWN ? t->len : SHOWN),
			    t->text, wanted);
}

bool xc_cdef_conflict(struct xc_cdef_parser *p, const struct xc_cdef_token *spot, const struct xc_cdef_name *before,
		      const char *what)
{
	return xc_cdef_fail(p, spot, XC_ERR_FORMAT, "`%s` is %s on line %u%s", before->name, what, before->line,
			    before->text == p->cdef->texts ? "" : " of an earlier text");
}

struct xc_cdef_name xc_cdef_new_name(struct xc_cdef_parser *p, enum xc_cdef_space space, enum xc_cdef_kind kind,
				     const struct xc_cdef_token *token)
{
	return (struct xc_cdef_name){
		.name = xc_arena_strndup(xc_types_of(p->process)->arena, token->text, token->len),
		.space = space,
		.kind = kind,
		.text = p->cdef->texts,
		.line = line_of(p, token->at),
	};
}

/* ---- tokens ---- */

static bool is_space(char ch)
{
	return ch == ' ' || (ch >= '\t' && ch <= '\r');
}

/* The start of the next token of the text, after directives. */
static size_t skip_to_token(struct xc_cdef_parser *p, size_t at)
{
	bool first = true; /* nothing but blanks before it on its line */
	for (size_t i = at; i > 0 && p->text[i - 1] != '\n' && first; i--)
		first = is_space(p->text[i - 1]);
	for (;; at++) {
		if (p->text[at] == '#' && first)
			at = xc_cdef_directive(p, at);
		if (p->err || !is_space(p->text[at]))
			return at;
		first |= p->text[at] == '\n';
	}
}

static bool is_expanding(const struct xc_cdef_parser *p, const char *macro)
{
	for (size_t i = p->depth; i > 0; i--) {
		if (strcmp(p->frames[i].macro, macro) == 0)
			return true;
	}
	return false;
}

/* The token is the name of a macro: continue in its replacement. */
static bool expand(struct xc_cdef_parser *p)
{
	struct xc_cdef_frame *frame = &p->frames[p->depth];
	const struct xc_cdef_name *macro = xc_cdef_find(p->cdef, XC_CDEF_MACRO, p->token.text, p->token.len);
	if (!macro || is_expanding(p, macro->name))
		return false;
	if (macro->kind == XC_CDEF_CALLED) {
		size_t behind = frame->lex.token.at + frame->lex.token.len;
		while (is_space(frame->lex.text[behind]))
			behind++;
		if (frame->lex.text[behind] == '(')
			xc_cdef_fail(p, &p->token, XC_ERR_UNSUPPORTED, "`%s` is a macro with parameters", macro->name);
		return false;
	}
	if (p->depth + 1 == XC_CDEF_EXPANSIONS)
		return xc_cdef_fail(p, &p->token, XC_ERR_LIMIT, "macros in macros, more than %d deep",
				    XC_CDEF_EXPANSIONS);
	p->frames[++p->depth] = (struct xc_cdef_frame){
		.lex = {.text = macro->replacement, .len = strlen(macro->replacement), .process = p->process},
		.macro = macro->name};
	return true;
}

/* The next token of the innermost frame. */
static void lex(struct xc_cdef_parser *p)
{
	struct xc_cdef_frame *frame = &p->frames[p->depth];
	struct xc_ctoken *raw = &frame->lex.token;
	size_t at = raw->at + raw->len;
	if (p->depth == 0)
		at = skip_to_token(p, at);
	xc_cexpr_lex(&frame->lex, at);
	p->token.kind = raw->kind;
	p->token.op = raw->op;
	p->token.text = frame->lex.text + raw->at;
	p->token.len = raw->len;
	p->token.macro = frame->macro;
	if (raw->kind == XC_TOKEN_WRONG && *p->token.text == ';') { /* ends no expression */
		p->token.kind = XC_TOKEN_OPERATOR;
		p->token.op = ';';
	}
	if (p->depth == 0) {
		p->token.at = raw->at;
		p->token.spot_len = raw->len;
	}
}

void xc_cdef_next(struct xc_cdef_parser *p)
{
	while (!p->err) {
		lex(p);
		if (p->token.kind == XC_TOKEN_END && p->depth > 0) {
			p->depth--;
			continue;
		}
		if (++p->tokens > XC_CDEF_TOKENS)
			xc_cdef_fail(p, &p->token, XC_ERR_LIMIT, "more than %d tokens", XC_CDEF_TOKENS);
		if (p->token.kind != XC_TOKEN_WORD || !expand(p))
			break;
	}
	if (p->err)
		p->token.kind = XC_TOKEN_END;
}

bool xc_cdef_is(const struct xc_cdef_parser *p, unsigned op)
{
	return p->token.kind == XC_TOKEN_OPERATOR && p->token.op == op;
}

bool xc_cdef_is_word(const struct xc_cdef_parser *p, const char *word)
{
	return p->token.kind == XC_TOKEN_WORD && strncmp(word, p->token.text, p->token.len) == 0 && !word[p->token.len];
}

bool xc_cdef_is_among(const struct xc_cdef_parser *p, const char *const *words)
{
	for (; *words; words++) {
		if (xc_cdef_is_word(p, *words))
			return true;
	}
	return false;
}

bool xc_cdef_skip(struct xc_cdef_parser *p, unsigned op)
{
	bool is = xc_cdef_is(p, op);
	if (is)
		xc_cdef_next(p);
	return is;
}

bool xc_cdef_expect(struct xc_cdef_parser *p, unsigned op, const char *name)
{
	return xc_cdef_skip(p, op) ? !p->err : xc_cdef_unexpected(p, name);
}

bool xc_cdef_skip_balanced(struct xc_cdef_parser *p)
{
	struct xc_cdef_token open = p->token;
	size_t depth = 0;
	do {
		if (p->token.kind == XC_TOKEN_END || p->token.kind == XC_TOKEN_WRONG)
			return xc_cdef_fail(p, &open, XC_ERR_FORMAT, "`%c` is not closed", (char)open.op);
		if (xc_cdef_is(p, '(') || xc_cdef_is(p, '[') || xc_cdef_is(p, '{'))
			depth++;
		if (xc_cdef_is(p, ')') || xc_cdef_is(p, ']') || xc_cdef_is(p, '}'))
			depth--;
		xc_cdef_next(p);
	} while (depth > 0);
	return !p->err;
}

bool xc_cdef_enter(struct xc_cdef_parser *p)
{
	if (p->nesting++ < XC_CDEF_NESTING)
		return true;
	xc_cdef_fail(p, &p->token, XC_ERR_LIMIT, "nested more than %d deep", XC_CDEF_NESTING);
	p->nesting--;
	return false;
}

void xc_cdef_leave(struct xc_cdef_parser *p)
{
	p->nesting--;
}

void xc_cdef_parser_init(struct xc_cdef_parser *p, struct xc_cdef *cdef, const char *text, bool is_name)
{
	*p = (struct xc_cdef_parser){
		.cdef = cdef, .process = cdef->process, .original = text, .is_name = is_name, .line = 1};
	size_t len = strnlen(text, XC_CDEF_TEXT + 1);
	if (len > XC_CDEF_TEXT) {
		p->err = xc_error_new(XC_ERR_LIMIT, "a text of more than %d bytes", XC_CDEF_TEXT);
		return;
	}
	p->text = xc_strdup(text);
	p->frames = xc_alloc(XC_CDEF_EXPANSIONS * sizeof *p->frames);
	p->frames[0].lex = (struct xc_cexpr){.text = p->text, .len = len, .process = p->process};
	if (blank_comments(p))
		xc_cdef_next(p);
}

void xc_cdef_parser_fini(struct xc_cdef_parser *p)
{
	free(p->text);
	free(p->frames);
	xc_error_free(p->err);
}
