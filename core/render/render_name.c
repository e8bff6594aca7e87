/* render_name: shortens long function names. Their distinctive part is the end ("…>::insert"), so a name is not cut
 * there: template arguments are omitted, the innermost first, until it fits.
 *
 * 	std::_Rb_tree<int, std::pair<int const, long>, std::less<int> >::_M_insert
 * 	std::_Rb_tree<int, std::pair<…>, std::less<…> >::_M_insert
 * 	std::_Rb_tree<…>::_M_insert */
#include "core/render/render.h"

#include <string.h>

enum { DEEPEST = 4 };

static bool in_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Bytes of an operator's name at `at`, whose <> are no brackets; else 0. */
static size_t operator_length(const char *name, const char *at)
{
	static const char *const signs[] = {"<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "<", ">"};
	size_t len = strlen("operator");
	if (strncmp(at, "operator", len) != 0 || (at > name && in_word(at[-1])) || in_word(at[len]))
		return 0;
	for (size_t i = 0; i < XC_COUNT(signs); i++)
		if (strncmp(at + len, signs[i], strlen(signs[i])) == 0)
			return len + strlen(signs[i]);
	return len;
}

static bool opens(const char *name, const char *at)
{
	return *at == '<' && at > name && at[-1] != ' '; /* a < after a space is no bracket: <lambda…>, <repeats> */
}

/* Add the name without the parts inside more than `depth` brackets. */
static void leave_out(struct xc_text *text, const char *name, unsigned depth)
{
	unsigned open = 0;
	for (const char *at = name; *at;) {
		size_t len = operator_length(name, at);
		if (!len)
			len = 1;
		bool begins = len == 1 && opens(name, at), ends = len == 1 && *at == '>' && open > 0 && at[-1] != '-';
		open -= ends;
		if (open <= depth)
			xc_text_addn(text, at, len);
		open += begins;
		if (begins && open == depth + 1)
			xc_text_add(text, "…");
		at += len;
	}
}

void xc_render_long_name(struct xc_text *text, const char *name, size_t columns)
{
	size_t start = text->len;
	xc_text_add(text, name);
	for (unsigned depth = DEEPEST;
	     depth-- > 0 && xc_render_columns(text->bytes + start, text->len - start) > columns;) {
		text->len = start;
		leave_out(text, name, depth);
	}
}
