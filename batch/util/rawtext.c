#include "batch/util/rawtext.h"

#include <stdio.h>
#include <string.h>

#include "core/base/text.h"

static bool is_utf8(const char *text)
{
	json_t *value = json_string(text);
	const bool good = value != NULL;
	json_decref(value);
	return good;
}

json_t *xc_rawtext_json(const char *text)
{
	const bool utf8 = is_utf8(text);
	struct xc_text clean = {0};
	for (const char *at = text; *at; at++)
		if (*at == '\\' || (!utf8 && (unsigned char)*at >= 0x80))
			xc_text_printf(&clean, "\\x%02x", (unsigned char)*at);
		else
			xc_text_addn(&clean, at, 1);
	json_t *value = json_string(xc_text_string(&clean));
	xc_text_fini(&clean);
	return value;
}

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The byte of "\xNN"; -1 if it is not of that form. NUL never occurs. */
static int byte_at(const char *text)
{
	const int high = text[1] == 'x' ? digit(text[2]) : -1, low = high < 0 ? -1 : digit(text[3]);
	return low < 0 || !(high | low) ? -1 : high << 4 | low;
}

char *xc_rawtext_parse(const json_t *value, struct xc_arena *arena)
{
	const char *from = json_string_value(value);
	char *text = from ? xc_arena_strdup(arena, from) : NULL, *to = text;
	while (from && *from) {
		const int byte = *from == '\\' ? byte_at(from) : (unsigned char)*from;
		if (byte < 0)
			return NULL;
		from += *from == '\\' ? 4 : 1;
		*to++ = (char)byte;
	}
	if (text)
		*to = '\0';
	return text;
}
