/* text: a growing string. Escaping works on bytes: only well-formed UTF-8 outside the control ranges
 * passes, so nothing in a core can move a cursor or end a JSON string. */
#include "core/base/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef XC_HOSTILE
enum { FIRST_CAPACITY = 1 };
#else
enum { FIRST_CAPACITY = 64 };
#endif

static void reserve(struct xc_text *text, size_t more)
{
	size_t wanted = text->len + more + 1;
	if (wanted <= text->capacity)
		return;
	size_t capacity = text->capacity ? text->capacity : FIRST_CAPACITY;
	while (capacity < wanted)
		capacity *= 2;
	text->bytes = xc_realloc(text->bytes, capacity);
	text->capacity = capacity;
}

void xc_text_addn(struct xc_text *text, const char *bytes, size_t len)
{
	reserve(text, len);
	if (len)
		memcpy(text->bytes + text->len, bytes, len);
	text->len += len;
	text->bytes[text->len] = '\0';
}

void xc_text_add(struct xc_text *text, const char *string)
{
	xc_text_addn(text, string, strlen(string));
}

void xc_text_char(struct xc_text *text, char c)
{
	if (text->capacity - text->len < 2)
		reserve(text, 1);
	text->bytes[text->len++] = c;
	text->bytes[text->len] = '\0';
}

void xc_text_printf(struct xc_text *text, const char *format, ...)
{
	char small[256];
	va_list args;
	va_start(args, format);
	int len = vsnprintf(small, sizeof small, format, args);
	va_end(args);
	if (len < 0)
		return;
	if ((size_t)len < sizeof small) {
		xc_text_addn(text, small, (size_t)len);
		return;
	}
	reserve(text, (size_t)len);
	va_start(args, format);
	vsnprintf(text->bytes + text->len, (size_t)len + 1, format, args);
	va_end(args);
	text->len += (size_t)len;
}

const char *xc_text_string(const struct xc_text *text)
{
	return text->bytes ? text->bytes : "";
}

char *xc_text_take(struct xc_text *text)
{
	char *bytes = text->bytes ? text->bytes : xc_strdup("");
	*text = (struct xc_text){0};
	return bytes;
}

void xc_text_fini(struct xc_text *text)
{
	free(text->bytes);
	*text = (struct xc_text){0};
}

/* Bytes of the UTF-8 character at p (RFC 3629: shortest form, no surrogates), or 0 when malformed or
 * a C1 control. */
static size_t utf8_length(const unsigned char *p, size_t left)
{
	if (p[0] >= 0xc2 && p[0] <= 0xdf && left >= 2 && (p[1] & 0xc0) == 0x80)
		return p[0] == 0xc2 && p[1] < 0xa0 ? 0 : 2;
	if ((p[0] & 0xf0) == 0xe0 && left >= 3 && (p[1] & 0xc0) == 0x80 && (p[2] & 0xc0) == 0x80) {
		bool overlong = p[0] == 0xe0 && p[1] < 0xa0, surrogate = p[0] == 0xed && p[1] >= 0xa0;
		return overlong || surrogate ? 0 : 3;
	}
	if (p[0] >= 0xf0 && p[0] <= 0xf4 && left >= 4 && (p[1] & 0xc0) == 0x80 && (p[2] & 0xc0) == 0x80 &&
	    (p[3] & 0xc0) == 0x80) {
		bool overlong = p[0] == 0xf0 && p[1] < 0x90, beyond = p[0] == 0xf4 && p[1] >= 0x90;
		return overlong || beyond ? 0 : 4;
	}
	return 0;
}

/* Bidirectional overrides and line separators are well-formed, but could reorder the text that a person reads. */
size_t xc_text_plain_length(const char *bytes, size_t left)
{
	const unsigned char *p = (const unsigned char *)bytes;
	if (p[0] < 0x80)
		return p[0] >= 0x20 && p[0] < 0x7f;
	size_t n = utf8_length(p, left);
	if (n == 2 && p[0] == 0xd8 && p[1] == 0x9c)
		return 0; /* U+061C, the Arabic letter mark */
	bool general_punctuation = n == 3 && p[0] == 0xe2 && (p[1] == 0x80 || p[1] == 0x81);
	bool bidi_or_separator =
		general_punctuation && ((p[1] == 0x80 && (p[2] >= 0xa8 || (p[2] >= 0x8e && p[2] <= 0x8f))) ||
					(p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9));
	return bidi_or_separator && !(p[1] == 0x80 && p[2] > 0xae) ? 0 : n;
}

size_t xc_text_readable_length(const char *bytes, size_t len)
{
	size_t at = 0;
	while (at < len) {
		bool space = bytes[at] >= '\t' && bytes[at] <= '\r';
		size_t one = space ? 1 : xc_text_plain_length(bytes + at, len - at);
		if (one == 0)
			break;
		at += one;
	}
	return at;
}

size_t xc_text_readable_around(const char *bytes, size_t len, size_t at, size_t *begin_out)
{
	size_t begin = 0, run;
	while (begin + (run = xc_text_readable_length(bytes + begin, len - begin)) < at)
		begin += run + 1;
	*begin_out = begin;
	return run;
}

static const char *letter_escape(unsigned char c)
{
	switch (c) {
	case '\n':
		return "\\n";
	case '\t':
		return "\\t";
	case '\r':
		return "\\r";
	case '\\':
		return "\\\\";
	case '"':
		return "\\\"";
	default:
		return NULL;
	}
}

void xc_text_escaped(struct xc_text *text, const char *bytes, size_t len)
{
	const unsigned char *p = (const unsigned char *)bytes;
	for (size_t i = 0; i < len;) {
		const char *letter = letter_escape(p[i]);
		size_t n = xc_text_plain_length(bytes + i, len - i);
		if (letter)
			xc_text_add(text, letter);
		else if (n)
			xc_text_addn(text, bytes + i, n);
		else
			xc_text_printf(text, "\\%03o", p[i]);
		i += n ? n : 1;
	}
}

/* Eight bytes at a time: the top bit of a byte of `odd` is set when that byte is below 0x20, 0x7f or above. A borrow
 * can only mark bytes after an odd one, so the test for any odd byte is exact, and the byte loop finds it. */
size_t xc_text_ascii_run(const char *bytes, size_t len)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
	size_t n = 0;
	for (; len - n >= 8; n += 8) {
		uint64_t word;
		memcpy(&word, bytes + n, sizeof word);
		uint64_t odd = (word | (word - ones * 0x20) | ((word & ~tops) + ones)) & tops;
		if (odd)
			break;
	}
	while (n < len && (unsigned char)bytes[n] >= 0x20 && (unsigned char)bytes[n] < 0x7f)
		n++;
	return n;
}

void xc_text_name(struct xc_text *text, const char *string)
{
	const unsigned char *p = (const unsigned char *)string;
	for (size_t i = 0, len = strlen(string); i < len;) {
		/* Nearly every name is one such run, and a report of many threads has a million names. */
		size_t n = xc_text_ascii_run(string + i, len - i);
		if (!n)
			n = xc_text_plain_length(string + i, len - i);
		const char *two = n > 1 ? memmem(string + i, n, "##", 2) : NULL;
		if (two)
			n = (size_t)(two - string) - i;
		xc_text_addn(text, string + i, n);
		i += n;
		if (two || !n)
			xc_text_printf(text, "\\x%02x", p[i++]);
	}
}

void xc_text_disarm(struct xc_text *text, size_t from)
{
	while (from < text->len) {
		const char *line = text->bytes + from;
		const size_t at = from + strspn(line, " \t");
		const size_t end = from + strcspn(line, "\n");
		from = end < text->len ? end + 1 : end;
		if (strncmp(text->bytes + at, "::", 2) != 0)
			continue;
		xc_auto(xc_freep) char *rest = xc_strdup(text->bytes + at + 1);
		text->len = at;
		xc_text_add(text, "\\x3a");
		xc_text_add(text, rest);
		from += strlen("x3a");
	}
}

void xc_text_size(struct xc_text *text, uint64_t bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double value = (double)bytes;
	size_t unit = 0;
	while (value >= 1023.5 && unit + 1 < XC_COUNT(units)) {
		value /= 1024;
		unit++;
	}
	if (unit == 0)
		xc_text_printf(text, "%" PRIu64 " B", bytes);
	else
		xc_text_printf(text, "%.*f %s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, units[unit]);
}

char *xc_text_trim(char *line)
{
	line += strspn(line, " \t\r");
	for (size_t len = strlen(line); len && strchr(" \t\r", line[len - 1]);)
		line[--len] = '\0';
	return line;
}

int xc_text_order(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}
