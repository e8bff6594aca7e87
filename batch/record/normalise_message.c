/* normalise_message: word by word, by the kind of each word. */
#include <ctype.h>
#include <string.h>

#include "core/base/text.h"
#include "batch/record/normalise.h"

enum { HEX = 6, DECIMAL = 3 }; /* minimal digits of a number that is replaced although no name precedes it */

static size_t span(const char *at, int (*is)(int))
{
	size_t len = 0;
	while (is((unsigned char)at[len]))
		len++;
	return len;
}

static int is_word(int c)
{
	return isalnum(c) || c == '_';
}

/* Is it a character of a path that occurs within a sentence? */
static int is_path(int c)
{
	return c > ' ' && c < 0x7f && !strchr(":;,()[]'\"`<>", c);
}

static bool ends_in(const struct xc_text *out, const char *word)
{
	size_t len = strlen(word);
	return out->len >= len && memcmp(out->bytes + out->len - len, word, len) == 0 &&
	       (out->len == len || !is_word(out->bytes[out->len - len - 1]));
}

static bool is_process_number(const struct xc_text *out)
{
	static const char *const before[] = {
		"pid ", "pid=", "pid: ", "PID ", "PID=", "PID: ", "tid ", "tid=", "process ", "thread "};
	for (size_t i = 0; i < XC_COUNT(before); i++)
		if (ends_in(out, before[i]))
			return true;
	return false;
}

static void number_or_word(struct xc_text *out, const char *word, size_t len)
{
	size_t digits = span(word, isdigit), hex = span(word, isxdigit);
	if (len > 2 && word[0] == '0' && tolower(word[1]) == 'x' && span(word + 2, isxdigit) == len - 2 &&
	    len - 2 >= HEX)
		xc_text_add(out, "ADDR");
	else if (digits == len && (len >= DECIMAL || is_process_number(out)))
		xc_text_char(out, 'N');
	else if (hex == len && len >= HEX && strcspn(word, "0123456789") < len)
		xc_text_add(out, "ADDR");
	else
		xc_text_addn(out, word, len);
}

static size_t add_word(struct xc_text *out, const char *at)
{
	size_t len = span(at, is_word);
	number_or_word(out, at, len);
	return len;
}

/* "/srv/src/queue.c" becomes "queue.c". A single slash is a separator. */
static size_t add_path(struct xc_text *out, const char *at)
{
	size_t len = span(at, is_path), last = len;
	while (last && at[last - 1] != '/')
		last--;
	if (last < 2)
		return 0;
	xc_text_addn(out, at + last, len - last);
	return len;
}

/* ":32" and ":32:5" after a file name, which contains a dot. */
static size_t line_number(const struct xc_text *out, const char *at)
{
	size_t start = out->len, len = 0;
	while (start && is_path(out->bytes[start - 1]))
		start--;
	if (start == out->len || !memchr(out->bytes + start, '.', out->len - start))
		return 0;
	while (at[len] == ':' && isdigit((unsigned char)at[len + 1]))
		len += 1 + span(at + len + 1, isdigit);
	return len;
}

static size_t add_blank(struct xc_text *out)
{
	if (out->len && out->bytes[out->len - 1] != ' ')
		xc_text_char(out, ' ');
	return 1;
}

static size_t add_piece(struct xc_text *out, const char *at)
{
	unsigned char c = (unsigned char)*at;
	size_t len = 0;
	bool starts = !out->len || !is_path(out->bytes[out->len - 1]);
	if (isspace(c))
		return add_blank(out);
	if (is_word(c))
		return add_word(out, at);
	if ((c == '/' && starts && (len = add_path(out, at))) || (c == ':' && (len = line_number(out, at))))
		return len;
	if (c > ' ' && c < 0x7f)
		xc_text_char(out, (char)c);
	return 1;
}

/* The first `most` bytes, in the arena, without a trailing blank. */
static const char *kept(struct xc_text *out, size_t most, struct xc_arena *arena)
{
	size_t len = out->len < most ? out->len : most;
	while (len && out->bytes[len - 1] == ' ')
		len--;
	const char *result = xc_arena_strndup(arena, xc_text_string(out), len);
	xc_text_fini(out);
	return result;
}

const char *xc_normalise_message(const char *text, struct xc_arena *arena)
{
	struct xc_text out = {0};
	if (!text)
		return NULL;
	while (*text && out.len < XC_NORMALISE_MESSAGE)
		text += add_piece(&out, text);
	return kept(&out, XC_NORMALISE_MESSAGE, arena);
}

const char *xc_normalise_expression(const char *text, struct xc_arena *arena)
{
	struct xc_text out = {0};
	if (!text)
		return NULL;
	for (; *text; text++) {
		if (isspace((unsigned char)*text))
			add_blank(&out);
		else if (*text > ' ' && *text < 0x7f)
			xc_text_char(&out, *text);
	}
	return kept(&out, out.len, arena);
}
