/* json: one buffer that is written out whenever it is large. The only state is the depth and whether a comma is due;
 * the shape is the caller's, checked by asserts. */
#include "json.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { FLUSH_AT = 64 << 10 };
static const uint64_t LARGEST_EXACT = UINT64_C(1) << 53;

struct xc_json xc_json_start(FILE *out)
{
	return (struct xc_json){.out = out};
}

static void flush(struct xc_json *json)
{
	if (!json->out || !json->text.len)
		return;
	fwrite(json->text.bytes, 1, json->text.len, json->out); /* failure is kept by the stream: ferror in finish */
	json->text.len = 0;
}

struct xc_error *xc_json_finish(struct xc_json *json)
{
	assert(json->depth == 0);
	xc_text_char(&json->text, '\n');
	if (!json->out)
		return NULL;
	flush(json);
	xc_text_fini(&json->text);
	if (fflush(json->out) || ferror(json->out))
		return xc_error_errno(errno ? errno : EIO, "writing JSON");
	return NULL;
}

static void before_value(struct xc_json *json)
{
	if (json->comma && !json->named)
		xc_text_char(&json->text, ',');
	json->comma = true;
	json->named = false;
}

void xc_json_open(struct xc_json *json, char bracket)
{
	assert(json->depth < XC_JSON_DEPTH);
	before_value(json);
	xc_text_char(&json->text, bracket);
	json->depth++;
	json->comma = false;
}

void xc_json_close(struct xc_json *json, char bracket)
{
	assert(json->depth > 0 && !json->named);
	xc_text_char(&json->text, bracket);
	json->depth--;
	json->comma = true;
	if (json->text.len >= FLUSH_AT)
		flush(json);
}

void xc_json_newline(struct xc_json *json)
{
	/* A comma belongs before the line's end, so it is written now instead of with the next value. */
	if (json->comma)
		xc_text_char(&json->text, ',');
	xc_text_char(&json->text, '\n');
	json->comma = false;
}

/* How many bytes from p on need no escape: printable ASCII but for quote and backslash. */
static size_t plain_run(const char *p, size_t len)
{
	size_t n = xc_text_ascii_run(p, len);
	const char *quote = memchr(p, '"', n);
	n = quote ? (size_t)(quote - p) : n;
	const char *backslash = memchr(p, '\\', n);
	return backslash ? (size_t)(backslash - p) : n;
}

/* The character at p, which is not plain ASCII; returns how many bytes it took. */
static size_t add_special(struct xc_text *text, const char *p)
{
	unsigned char c = (unsigned char)*p;
	size_t n = xc_text_plain_length(p, strnlen(p, 4));
	if (c == '"' || c == '\\')
		xc_text_printf(text, "\\%c", c);
	else if (n)
		xc_text_addn(text, p, n);
	else if (c < 0x80)
		xc_text_printf(text, "\\u%04x", c);
	else
		xc_text_printf(text, "\\\\x%02x", c);
	return n ? n : 1;
}

void xc_json_string(struct xc_json *json, const char *string)
{
	if (!string) {
		xc_json_null(json);
		return;
	}
	before_value(json);
	xc_text_char(&json->text, '"');
	for (const char *p = string, *end = string + strlen(string); p < end;) {
		size_t n = plain_run(p, (size_t)(end - p));
		if (n)
			xc_text_addn(&json->text, p, n);
		p += n;
		if (p < end)
			p += add_special(&json->text, p);
	}
	xc_text_char(&json->text, '"');
}

void xc_json_key(struct xc_json *json, const char *key)
{
	if (json->comma)
		xc_text_addn(&json->text, ",\"", 2);
	else
		xc_text_addn(&json->text, "\"", 1);
	xc_text_addn(&json->text, key, strlen(key));
	xc_text_addn(&json->text, "\":", 2);
	json->named = true;
}

void xc_json_any_key(struct xc_json *json, const char *key)
{
	xc_json_string(json, key);
	xc_text_char(&json->text, ':');
	json->named = true;
}

static void put_word(struct xc_json *json, const char *word)
{
	before_value(json);
	xc_text_add(&json->text, word);
}

void xc_json_null(struct xc_json *json)
{
	put_word(json, "null");
}

void xc_json_bool(struct xc_json *json, bool value)
{
	put_word(json, value ? "true" : "false");
}

void xc_json_integer(struct xc_json *json, int64_t value)
{
	char word[32];
	bool exact = value >= -(int64_t)LARGEST_EXACT && value <= (int64_t)LARGEST_EXACT;
	snprintf(word, sizeof word, exact ? "%" PRId64 : "\"%" PRId64 "\"", value);
	put_word(json, word);
}

void xc_json_count(struct xc_json *json, uint64_t value)
{
	char word[32];
	snprintf(word, sizeof word, value <= LARGEST_EXACT ? "%" PRIu64 : "\"%" PRIu64 "\"", value);
	put_word(json, word);
}

void xc_json_address(struct xc_json *json, xc_addr addr)
{
	char word[32];
	snprintf(word, sizeof word, "\"0x%" PRIx64 "\"", addr);
	put_word(json, word);
}

void xc_json_double(struct xc_json *json, double value)
{
	char word[40];
	if (isnan(value))
		snprintf(word, sizeof word, "\"nan\"");
	else if (isinf(value))
		snprintf(word, sizeof word, "\"%sinf\"", value < 0 ? "-" : "");
	else
		snprintf(word, sizeof word, "%.9g", value);
	put_word(json, word);
}

void xc_json_put_string(struct xc_json *json, const char *key, const char *string)
{
	xc_json_key(json, key);
	xc_json_string(json, string);
}

void xc_json_put_bool(struct xc_json *json, const char *key, bool value)
{
	xc_json_key(json, key);
	xc_json_bool(json, value);
}

void xc_json_put_count(struct xc_json *json, const char *key, uint64_t value)
{
	xc_json_key(json, key);
	xc_json_count(json, value);
}

void xc_json_put_integer(struct xc_json *json, const char *key, int64_t value)
{
	xc_json_key(json, key);
	xc_json_integer(json, value);
}

void xc_json_put_address(struct xc_json *json, const char *key, xc_addr addr)
{
	xc_json_key(json, key);
	xc_json_address(json, addr);
}
