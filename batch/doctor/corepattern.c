/* corepattern: the character after a '%' selects the inserted text; the kernel drops unknown ones, and so does this. */
#include "batch/doctor/corepattern.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	char letter;
	bool distinct; /* differs between crashes */
	const char *word;
} specifiers[] = {
	{'p', true, "PID"},     {'P', true, "HOST-PID"},    {'i', true, "TID"},      {'I', true, "HOST-TID"},
	{'t', true, "TIME"},    {'u', false, "UID"},        {'g', false, "GID"},     {'d', false, "DUMP-MODE"},
	{'s', false, "SIGNAL"}, {'h', false, "HOST"},       {'e', false, "PROGRAM"}, {'f', false, "PROGRAM-FILE"},
	{'E', false, "PATH"},   {'c', false, "CORE-LIMIT"}, {'C', false, "CPU"},     {'F', false, "PIDFD"},
};

/* The index of the specifier after a '%', or -1. */
static int specifier(char letter)
{
	for (size_t i = 0; i < XC_COUNT(specifiers); i++)
		if (specifiers[i].letter == letter)
			return (int)i;
	return -1;
}

enum xc_corepattern_kind xc_corepattern_kind(const char *pattern)
{
	switch (*pattern) {
	case '\0':
		return XC_COREPATTERN_NONE;
	case '|':
		return XC_COREPATTERN_PIPE;
	case '@':
		return XC_COREPATTERN_SOCKET;
	case '/':
		return XC_COREPATTERN_ABSOLUTE;
	default:
		return XC_COREPATTERN_RELATIVE;
	}
}

void xc_corepattern_words(const char *pattern, struct xc_text *out)
{
	for (const char *at = pattern; *at; at++) {
		if (*at != '%') {
			xc_text_char(out, *at);
			continue;
		}
		if (!*++at)
			break;
		const int known = specifier(*at);
		if (known >= 0)
			xc_text_add(out, specifiers[known].word);
		else if (*at == '%')
			xc_text_char(out, '%');
	}
}

bool xc_corepattern_distinct(const char *pattern, bool uses_pid)
{
	for (const char *at = pattern; (at = strchr(at, '%')) && at[1]; at += 2) {
		const int known = specifier(at[1]);
		if (known >= 0 && specifiers[known].distinct)
			return true;
	}
	return uses_pid;
}

char *xc_corepattern_place(const char *pattern)
{
	const enum xc_corepattern_kind kind = xc_corepattern_kind(pattern);
	if (kind == XC_COREPATTERN_PIPE) {
		const char *program = pattern + 1 + strspn(pattern + 1, " ");
		return xc_asprintf("%.*s", (int)strcspn(program, " "), program);
	}
	if (kind != XC_COREPATTERN_ABSOLUTE)
		return NULL;
	size_t len = strcspn(pattern, "%");
	while (len > 1 && pattern[len - 1] != '/')
		len--;
	return xc_asprintf("%.*s", (int)(len > 1 ? len - 1 : len), pattern);
}
