/* moved_text: blocks are followed by their braces. What is not understood counts as if it changed the object. */
#include "triage/source/moved_text.h"

#include <string.h>

#include "triage/util/names.h"

enum { LONGEST = 12 };

static bool is(const struct xc_source_code *code, size_t at, const char *text)
{
	return xc_source_code_is(code, at, text);
}

static bool is_member(const struct xc_source_code *code, size_t at)
{
	return is(code, at, ".") || is(code, at, "->");
}

/* ---- calls of std::move() ---- */

/* "t", "*p", "this->items", "a.b[i]": nothing that is computed. */
static bool is_object(const struct xc_source_code *code, size_t begin, size_t end)
{
	if (begin >= end || end - begin > LONGEST)
		return false;
	begin += is(code, begin, "*");
	if (begin >= end || !xc_source_code_is_name(code, begin))
		return false;
	for (size_t i = begin; i < end; i++)
		if (!xc_source_code_is_name(code, i) && !is_member(code, i) && !is(code, i, "[") && !is(code, i, "]") &&
		    !(code->tokens[i].text[0] >= '0' && code->tokens[i].text[0] <= '9'))
			return false;
	return true;
}

static bool is_move(const struct xc_source_code *code, size_t at)
{
	if (!is(code, at, "move") || !is(code, at + 1, "("))
		return false;
	return at == 0 || (is(code, at - 1, "::") ? at >= 2 && is(code, at - 2, "std") : !is_member(code, at - 1));
}

bool xc_moved_text_next(const struct xc_source_code *code, size_t *at, size_t until, struct xc_moved_text *out)
{
	for (; *at < until && *at < code->count; ++*at) {
		if (!is_move(code, *at))
			continue;
		size_t begin = *at + 2, end = xc_source_code_close(code, *at + 1, until);
		if (end >= until || !is_object(code, begin, end))
			continue;
		*out = (struct xc_moved_text){.begin = begin, .end = end, .line = code->tokens[begin].line};
		*at = end;
		return true;
	}
	return false;
}

/* ---- which way control takes ---- */

static bool is_jump(const struct xc_source_code *code, size_t at)
{
	static const char *const jumps[] = {"return", "throw", "break", "continue", "goto", "co_return", NULL};
	return at < code->count && xc_names_find(jumps, code->tokens[at].text);
}

static bool begins_statement(const struct xc_source_code *code, size_t at)
{
	return at == 0 || strchr(";{}:", code->tokens[at - 1].text[0]) != NULL;
}

/* Does the statement of the call itself leave the block: "return f(std::move(t));"? */
static bool leaves(const struct xc_source_code *code, size_t at)
{
	while (at && !strchr(";{}", code->tokens[at].text[0])) {
		if (is_jump(code, at))
			return true;
		at--;
	}
	return false;
}

struct way {
	int depth, least; /* of blocks, from that of the call */
	int parens, ifs;  /* ifs: of the outermost block so far, whose else is not one of the call's */
	bool in_else;     /* of an if whose branch has the call */
	int else_depth;
	bool left;
};

static void step(const struct xc_source_code *code, size_t at, struct way *w)
{
	const char *text = code->tokens[at].text;
	bool outermost = w->depth == w->least && !w->in_else;
	if (*text == '(' || *text == ')')
		w->parens = *text == '(' ? w->parens + 1 : w->parens > 0 ? w->parens - 1 : 0;
	else if (*text == '{')
		w->depth++;
	else if (*text == '}') {
		w->depth--;
		w->in_else &= w->depth > w->else_depth;
		if (w->depth < w->least) {
			w->least = w->depth;
			w->ifs = 0;
		}
	} else if (*text == ';')
		w->in_else &= w->depth > w->else_depth || w->parens > 0;
	else if (strcmp(text, "if") == 0 && outermost)
		w->ifs++;
	else if (strcmp(text, "else") == 0 && outermost && w->ifs)
		w->ifs--;
	else if (strcmp(text, "else") == 0 && outermost) {
		w->in_else = true;
		w->else_depth = w->depth;
	} else if (is_jump(code, at) && outermost && begins_statement(code, at))
		w->left = true;
}

/* Does the bracket open the body of a lambda? */
static bool is_lambda(const struct xc_source_code *code, size_t open)
{
	for (size_t i = open; i-- > 0 && !strchr(";{}", code->tokens[i].text[0]);) {
		if (!is(code, i, "]") || (i + 1 != open && !is(code, i + 1, "(")))
			continue;
		while (i > 0 && !is(code, i, "["))
			i--;
		if (!i || (!xc_source_code_is_name(code, i - 1) && !strchr("])", code->tokens[i - 1].text[0])))
			return true;
	}
	return false;
}

/* Does the call belong to a lambda that ends before `until`? Whether that was called is not known. */
static bool is_in_lambda(const struct xc_source_code *code, size_t from, int closed)
{
	int depth = 0;
	for (size_t i = from; i-- > 0 && closed > 0;) {
		depth += is(code, i, "}");
		if (!is(code, i, "{") || depth-- > 0)
			continue;
		depth = 0;
		if (is_lambda(code, i))
			return true;
		closed--;
	}
	return false;
}

static bool comes_to(const struct xc_source_code *code, size_t from, size_t until)
{
	struct way w = {.parens = 0};
	if (leaves(code, from))
		return false;
	for (size_t i = from; i < until; i++)
		step(code, i, &w);
	return !w.left && !w.in_else && !is_in_lambda(code, from, -w.least);
}

/* ---- what happens to the object ---- */

static bool same(const struct xc_source_code *code, size_t at, size_t begin, size_t end)
{
	for (size_t i = 0; i < end - begin; i++)
		if (!is(code, at + i, code->tokens[begin + i].text))
			return false;
	bool part = at && (is_member(code, at - 1) || is(code, at - 1, "::"));
	return !part || (at >= 2 && is(code, at - 2, "this"));
}

static bool only_asks(const char *method)
{
	static const char *const names[] = {"size",  "empty", "length", "capacity", "data",      "c_str", "begin",
					    "end",   "front", "back",   "at",       "find",      "count", "get",
					    "value", "cend",  "rend",   "cbegin",   "has_value", "lock",  NULL};
	return xc_names_find(names, method);
}

/* Functions that fill what they get. */
static bool may_fill(const char *function)
{
	static const char *const words[] = {"swap",    "exchange", "tie",  "getline", "read",   "load",
					    "fill",    "init",     "get",  "recv",    "parse",  "make",
					    "reset",   "next",     "pop",  "decode",  "update", "set",
					    "receive", "fetch",    "take", "assign",  NULL};
	char word[XC_NAMES_WORD];
	bool found = false;
	while (!found && xc_names_next_word(&function, word))
		found = xc_names_find(words, word);
	return found;
}

static bool is_keyword(const char *name)
{
	static const char *const names[] = {"if", "while", "for", "switch", "return", "sizeof", "assert", "move", NULL};
	return xc_names_find(names, name);
}

/* The name before the bracket that is open at a token; "" for none. */
static const char *function_of(const struct xc_source_code *code, size_t at)
{
	int depth = 0;
	while (at-- > 0) {
		const char c = code->tokens[at].text[0];
		if (strchr(";{}", c))
			return "";
		depth += c == ')';
		if (c == '(' && depth-- == 0)
			return at && xc_source_code_is_name(code, at - 1) ? code->tokens[at - 1].text : "";
	}
	return "";
}

static bool is_assignment(const struct xc_source_code *code, size_t at)
{
	return is(code, at, "=") || is(code, at, "+=") || is(code, at, "|=") || is(code, at, "{");
}

/* What the tokens around [at, end), a use of the object, do to it. */
static enum xc_moved_state use(const struct xc_source_code *code, size_t at, size_t end, bool pointer)
{
	size_t after = is(code, end, "[") ? xc_source_code_close(code, end, code->count) + 1 : end;
	bool called = is(code, after, pointer ? "->" : ".") && is(code, after + 2, "(");
	const char *before = at ? code->tokens[at - 1].text : "";
	if (is_assignment(code, after) || strcmp(before, "&") == 0 || strcmp(before, ">>") == 0 ||
	    (called && !only_asks(code->tokens[after + 1].text)))
		return XC_MOVED_AGAIN;
	bool passed =
		(*before == '(' || *before == ',' || *before == '*') && (is(code, end, ")") || is(code, end, ","));
	const char *function = passed ? function_of(code, at) : "";
	if (!passed || is_keyword(function))
		return XC_MOVED_LIKELY;
	return may_fill(function) ? XC_MOVED_AGAIN : XC_MOVED_PASSED;
}

/* The object, and what it is a part of: "a.b" of "a.b.c". */
static enum xc_moved_state changes(const struct xc_source_code *code, const struct xc_moved_text *moved, size_t until)
{
	enum xc_moved_state state = XC_MOVED_LIKELY;
	bool pointer = is(code, moved->begin, "*");
	size_t begin = moved->begin + pointer;
	for (size_t i = moved->end; i < until; i++)
		for (size_t end = moved->end; end > begin && state != XC_MOVED_AGAIN; end--) {
			if (end < moved->end && !is_member(code, end) && !is(code, end, "["))
				continue;
			if (end - begin == 1 && is(code, begin, "this"))
				continue;
			if (!same(code, i, begin, end))
				continue;
			enum xc_moved_state one = use(code, i, i + (end - begin), pointer);
			state = one < state ? one : state;
			break;
		}
	return state;
}

enum xc_moved_state xc_moved_text_state(const struct xc_source_code *code, const struct xc_moved_text *moved,
					size_t until)
{
	return comes_to(code, moved->end, until) ? changes(code, moved, until) : XC_MOVED_AWAY;
}

bool xc_moved_text_used(const struct xc_source_code *code, const struct xc_moved_text *moved, size_t begin, size_t end)
{
	size_t from = moved->begin + is(code, moved->begin, "*");
	for (size_t i = begin; i < end && i < code->count; i++)
		if (same(code, i, from, moved->end) && !(i >= 2 && is_move(code, i - 2)) &&
		    !(i >= 3 && is(code, i - 1, "*") && is_move(code, i - 3)))
			return true;
	return false;
}
