/* baseline_text: texts in the file. What would end the text's line, be trimmed, begin a note or hide from the reader is written as \xNN. */
#include <string.h>

#include "batch/problems/baseline_impl.h"

/* A '#' behind a blank would begin the note; blanks at the ends would be trimmed. */
static bool is_mark(const char *string, size_t at)
{
	if (string[at] == '#')
		return at == 0 || string[at - 1] == ' ';
	return string[at] == ' ' && (at == 0 || !string[at + 1]);
}

/* Does the byte at `at` mean something where the string is written? */
typedef bool mark_fn(const char *string, size_t at);

static void write_but(struct xc_text *text, const char *string, mark_fn *is_meant)
{
	for (size_t i = 0, len = strlen(string); i < len;) {
		size_t n = xc_text_plain_length(string + i, len - i);
		if (string[i] == '\\')
			xc_text_add(text, "\\\\");
		else if (!n || is_meant(string, i))
			xc_text_printf(text, "\\x%02x", (unsigned char)string[i]);
		else
			xc_text_addn(text, string + i, n);
		i += n ? n : 1;
	}
}

void xc_baseline_write_text(struct xc_text *text, const char *string)
{
	write_but(text, string, is_mark);
}

static bool ends_word(const char *string, size_t at)
{
	return string[at] == ' ' || string[at] == ',';
}

void xc_baseline_write_word(struct xc_text *text, const char *string)
{
	write_but(text, string, ends_word);
}

static int digit(char c)
{
	const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c) : NULL;
	return at ? (int)(at - digits) : -1;
}

/* The byte that an escape stands for, and how long that is; 0: it is none. */
static size_t escape_at(const char *at, char *byte_out)
{
	if (at[0] != '\\')
		return 0;
	if (at[1] == '\\') {
		*byte_out = '\\';
		return 2;
	}
	int high = at[1] == 'x' ? digit(at[2]) : -1, low = high >= 0 ? digit(at[3]) : -1;
	*byte_out = (char)(high * 16 + low);
	return low >= 0 && *byte_out ? 4 : 0;
}

void xc_baseline_decode_text(char *text)
{
	char *to = text;
	for (const char *at = text; *at;) {
		char byte = *at;
		size_t n = escape_at(at, &byte);
		*to++ = n ? byte : *at;
		at += n ? n : 1;
	}
	*to = '\0';
}
