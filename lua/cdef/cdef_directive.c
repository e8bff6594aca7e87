/* cdef_directive: #define, #undef and #pragma pack, processed line by line. */
#include "lua/cdef/cdef_impl.h"

enum { MAX_PACK = 16 };

/* The rest of a line. */
struct line {
	struct xc_cdef_parser *p;
	struct xc_cexpr lex;
	size_t end;
	struct xc_cdef_token token; /* END at the end of the line */
};

static void next(struct line *l)
{
	struct xc_ctoken *raw = &l->lex.token;
	xc_cexpr_lex(&l->lex, raw->at + raw->len);
	if (raw->at >= l->end)
		*raw = (struct xc_ctoken){.kind = XC_TOKEN_END, .at = l->end};
	else if (raw->len > l->end - raw->at) /* a quote that continues on the next line */
		*raw = (struct xc_ctoken){.kind = XC_TOKEN_WRONG, .at = raw->at, .len = l->end - raw->at};
	l->token = (struct xc_cdef_token){.kind = raw->kind,
					  .op = raw->op,
					  .text = l->lex.text + raw->at,
					  .len = raw->len,
					  .at = raw->at,
					  .spot_len = raw->len};
}

static bool is_word(const struct line *l, const char *word)
{
	return l->token.kind == XC_TOKEN_WORD && strncmp(word, l->token.text, l->token.len) == 0 && !word[l->token.len];
}

static bool skip(struct line *l, char op)
{
	bool is = l->token.kind == XC_TOKEN_OPERATOR && l->token.op == (unsigned char)op;
	if (is)
		next(l);
	return is;
}

static bool must_end(struct line *l)
{
	return l->token.kind == XC_TOKEN_END ||
	       xc_cdef_fail(l->p, &l->token, XC_ERR_FORMAT, "the directive should end here");
}

/* ---- macros ---- */

static char *read_replacement(struct line *l)
{
	xc_auto(xc_text_fini) struct xc_text text = {0};
	for (; l->token.kind != XC_TOKEN_END; next(l)) {
		if (l->token.kind == XC_TOKEN_WRONG && *l->token.text != ';') {
			xc_cdef_fail(l->p, &l->token, XC_ERR_FORMAT, "`%.*s` is not C", 1, l->token.text);
			return NULL;
		}
		if (text.len > 0)
			xc_text_char(&text, ' ');
		xc_text_addn(&text, l->token.text, l->token.len);
	}
	return xc_arena_strdup(&l->p->cdef->arena, xc_text_string(&text));
}

static bool read_define(struct line *l)
{
	struct xc_cdef_parser *p = l->p;
	struct xc_cdef_token name = l->token;
	if (name.kind != XC_TOKEN_WORD)
		return xc_cdef_fail(p, &name, XC_ERR_FORMAT, "the name of a macro should stand here");
	struct xc_cdef_name macro = xc_cdef_new_name(p, XC_CDEF_MACRO, XC_CDEF_TEXTUAL, &name);
	next(l);
	if (l->token.at == name.at + name.len && *l->token.text == '(') {
		macro.kind = XC_CDEF_CALLED;
		macro.replacement = "";
	} else if (!(macro.replacement = read_replacement(l))) {
		return false;
	}
	const struct xc_cdef_name *before = xc_cdef_find(p->cdef, XC_CDEF_MACRO, name.text, name.len);
	if (before && before->kind == macro.kind && strcmp(before->replacement, macro.replacement) == 0)
		return true;
	if (before)
		return xc_cdef_conflict(p, &name, before, "another macro");
	xc_cdef_add(p->cdef, &macro);
	return true;
}

static bool read_undef(struct line *l)
{
	struct xc_cdef_parser *p = l->p;
	struct xc_cdef_token name = l->token;
	if (name.kind != XC_TOKEN_WORD)
		return xc_cdef_fail(p, &name, XC_ERR_FORMAT, "the name of a macro should stand here");
	if (xc_cdef_find(p->cdef, XC_CDEF_MACRO, name.text, name.len)) {
		struct xc_cdef_name gone = xc_cdef_new_name(p, XC_CDEF_MACRO, XC_CDEF_GONE, &name);
		xc_cdef_add(p->cdef, &gone);
	}
	next(l);
	return must_end(l);
}

/* ---- #pragma pack ---- */

static bool push(struct line *l)
{
	struct xc_cdef_parser *p = l->p;
	if (p->pack_count == XC_CDEF_PACKS)
		return xc_cdef_fail(p, &l->token, XC_ERR_LIMIT, "more than %d nested #pragma pack", XC_CDEF_PACKS);
	p->packs[p->pack_count++] = p->pack;
	next(l);
	return true;
}

static bool pop(struct line *l)
{
	struct xc_cdef_parser *p = l->p;
	if (p->pack_count == 0)
		return xc_cdef_fail(p, &l->token, XC_ERR_FORMAT, "nothing was pushed");
	p->pack = p->packs[--p->pack_count];
	next(l);
	return true;
}

static bool read_bytes(struct line *l)
{
	struct xc_cdef_parser *p = l->p;
	struct xc_cexpr number = l->lex;
	struct xc_value value;
	unsigned __int128 bits;
	bool read = l->token.kind == XC_TOKEN_NUMBER && xc_cexpr_literal(&number, &value) &&
		    xc_value_load_wide(&value, &bits);
	xc_error_free(number.err);
	if (!read || bits > MAX_PACK || (bits & (bits - 1)))
		return xc_cdef_fail(p, &l->token, XC_ERR_FORMAT,
				    "a number of bytes should stand here: 1, 2, 4, 8 or 16");
	p->pack = (uint64_t)bits;
	next(l);
	return true;
}

/* (), (N), (push), (push, N), (pop) */
static bool read_pack(struct line *l)
{
	bool ok = true, bytes = true;
	next(l);
	if (!skip(l, '('))
		return xc_cdef_fail(l->p, &l->token, XC_ERR_FORMAT, "( should stand here");
	if (skip(l, ')')) {
		l->p->pack = 0;
		return must_end(l);
	}
	if (is_word(l, "push")) {
		ok = push(l);
		bytes = skip(l, ',');
	} else if (is_word(l, "pop")) {
		ok = pop(l);
		bytes = false;
	}
	if (!ok || (bytes && !read_bytes(l)))
		return false;
	if (!skip(l, ')'))
		return xc_cdef_fail(l->p, &l->token, XC_ERR_FORMAT, ") should stand here");
	return must_end(l);
}

static bool read_pragma(struct line *l)
{
	if (is_word(l, "pack"))
		return read_pack(l);
	if (is_word(l, "once"))
		return true;
	return xc_cdef_fail(l->p, &l->token, XC_ERR_UNSUPPORTED, "the only supported pragma is pack");
}

static bool read_directive(struct line *l)
{
	struct xc_cdef_token word = l->token;
	static const struct {
		const char *name;
		bool (*read)(struct line *l);
	} known[] = {{"define", read_define}, {"undef", read_undef}, {"pragma", read_pragma}};
	if (word.kind == XC_TOKEN_END)
		return true;
	for (size_t i = 0; i < XC_COUNT(known); i++) {
		if (is_word(l, known[i].name)) {
			next(l);
			return known[i].read(l);
		}
	}
	xc_cdef_fail(l->p, &word, XC_ERR_UNSUPPORTED, "#%.*s is not supported here",
		     (int)(word.len < 40 ? word.len : 40), word.text);
	l->p->err = xc_error_hint(l->p->err,
				  "supported: #define, #undef, #pragma pack; otherwise preprocess the header (cc -E)");
	return false;
}

size_t xc_cdef_directive(struct xc_cdef_parser *p, size_t at)
{
	struct line l = {.p = p, .end = at + strcspn(p->text + at, "\n")};
	l.lex = p->frames[0].lex;
	l.lex.token = (struct xc_ctoken){.at = at, .len = 1};
	next(&l);
	read_directive(&l);
	return l.end;
}
