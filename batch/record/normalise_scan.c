/* normalise_scan: finds units in a name: operator signs, and brackets of all kinds with their content. */
#include <ctype.h>
#include <string.h>

#include "core/base/text.h"
#include "batch/record/normalise_impl.h"

bool xc_normalise_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (c & 0x80);
}

/* A longer sign precedes those that it begins with. */
size_t xc_normalise_operator_sign(const char *at, const char *end)
{
	static const char *const signs[] = {
		"<=>", "<<=", ">>=", "->*", "()", "[]", "<<", ">>", "<=", ">=", "->", "==", "!=",
		"&&",  "||",  "++",  "--",  "+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "<",
		">",   "+",   "-",   "*",   "/",  "%",  "^",  "&",  "|",  "~",  "!",  "=",  ","};
	for (size_t i = 0; i < XC_COUNT(signs); i++) {
		size_t len = strlen(signs[i]);
		if ((size_t)(end - at) >= len && memcmp(at, signs[i], len) == 0)
			return len;
	}
	return 0;
}

bool xc_normalise_is_operator(const char *start, const char *at, const char *end)
{
	enum { WORD = 8 };
	return (at == start || !xc_normalise_is_word(at[-1])) && end - at >= WORD &&
	       memcmp(at, "operator", WORD) == 0 && (end - at == WORD || !xc_normalise_is_word(at[WORD]));
}

/* Angle brackets count only outside of other brackets, where they can be signs only in operator names and "->". */
const char *xc_normalise_behind_bracket(const char *at, const char *end)
{
	const char *start = at;
	size_t angles = 0, others = 0;
	for (; at < end; at++) {
		if (strchr("([{", *at))
			others++;
		else if (strchr(")]}", *at) && others)
			others--;
		else if (others)
			continue;
		else if (xc_normalise_is_operator(start, at, end))
			at += strlen("operator") - 1 + xc_normalise_operator_sign(at + strlen("operator"), end);
		else if (*at == '<')
			angles++;
		else if (*at == '>' && at > start && at[-1] != '-' && angles)
			angles--;
		if (!angles && !others)
			return at + 1;
	}
	return end;
}

const char *xc_normalise_find_outside(const char *at, const char *end, const char *word)
{
	size_t len = strlen(word);
	while (at < end && (size_t)(end - at) >= len) {
		if (memcmp(at, word, len) == 0)
			return at;
		at = strchr("<([{", *at) ? xc_normalise_behind_bracket(at, end) : at + 1;
	}
	return NULL;
}
