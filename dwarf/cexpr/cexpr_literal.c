/* cexpr_literal: constants.
 *
 * An integer has the first type of C's list (C11 6.4.4.1) that can represent it. A decimal constant too large for long
 * is unsigned long, although C has no type for it. */
#include <errno.h>
#include <stdlib.h>

#include "dwarf/cexpr/cexpr_impl.h"

enum { MAX_DIGITS = 512 };

static bool fail(struct xc_cexpr *c, const char *message)
{
	xc_cexpr_fail(c, c->token.at, c->token.len, xc_error_new(XC_ERR_FORMAT, "%s", message));
	return false;
}

struct suffix {
	bool is_unsigned;
	unsigned longs;
};

/* u, l, ll in either case and order; z (C23) is the suffix of size_t. */
static bool read_suffix(const char *text, struct suffix *out)
{
	*out = (struct suffix){0};
	for (; *text; text++) {
		if ((*text == 'u' || *text == 'U') && !out->is_unsigned)
			out->is_unsigned = true;
		else if ((*text == 'z' || *text == 'Z') && out->longs == 0)
			out->longs = 1;
		else if ((*text == 'l' || *text == 'L') && out->longs == 0) {
			out->longs = text[1] == *text ? 2 : 1;
			text += out->longs - 1;
		} else
			return false;
	}
	return true;
}

/* Rust's 1u8, 5usize: the suffix is a type. */
static const struct xc_type *rust_suffix(struct xc_cexpr *c, const char *text)
{
	bool number = (text[0] == 'u' || text[0] == 'i') && strpbrk(text, "12368s");
	return number ? xc_ctype_library(c->process, text) : NULL;
}

static enum xc_ctype type_of_integer(const struct xc_cexpr *c, uint64_t value, bool decimal, const struct suffix *s)
{
	static const enum xc_ctype ladder[] = {XC_C_INT, XC_C_UINT, XC_C_LONG, XC_C_ULONG, XC_C_LLONG, XC_C_ULLONG};
	for (size_t i = 2 * s->longs; i < XC_COUNT(ladder); i++) {
		const struct xc_type *type = xc_ctype(c->process, ladder[i]);
		unsigned bits = (unsigned)type->size * 8 - type->is_signed;
		bool fits = bits >= 64 || value >> bits == 0;
		if (fits && (type->is_signed ? !s->is_unsigned : s->is_unsigned || !decimal))
			return ladder[i];
	}
	return c->process->arch->word == 8 ? XC_C_ULONG : XC_C_ULLONG;
}

static unsigned digit_of(char ch)
{
	if (ch >= '0' && ch <= '9')
		return (unsigned)(ch - '0');
	if (ch >= 'a' && ch <= 'f')
		return (unsigned)(ch - 'a') + 10;
	return ch >= 'A' && ch <= 'F' ? (unsigned)(ch - 'A') + 10 : 99;
}

static bool integer(struct xc_cexpr *c, const char *text, struct xc_value *out)
{
	unsigned base = 10;
	uint64_t value = 0;
	const char *at = text;
	if (at[0] == '0' && (at[1] == 'x' || at[1] == 'X' || at[1] == 'b' || at[1] == 'B')) {
		base = at[1] == 'x' || at[1] == 'X' ? 16 : 2;
		at += 2;
		if (digit_of(*at) >= base)
			return fail(c, "a number without digits");
	} else if (at[0] == '0' && at[1] == 'o') {
		base = 8;
		at += 2;
	} else if (at[0] == '0') {
		base = 8;
	}
	for (; digit_of(*at) < base; at++) {
		if (__builtin_mul_overflow(value, base, &value) || __builtin_add_overflow(value, digit_of(*at), &value))
			return fail(c, "a constant of more than 64 bits");
	}
	struct suffix suffix;
	const struct xc_type *type = rust_suffix(c, at);
	if (!type) {
		if (*at >= '0' && *at <= '9')
			return fail(c, base == 8 ? "not an octal number" : "not a binary number");
		if (!read_suffix(at, &suffix))
			return fail(c, "not a number");
		type = xc_ctype(c->process, type_of_integer(c, value, base == 10, &suffix));
	}
	unsigned __int128 bits = value;
	*out = xc_value_small(c->process, type, &bits, sizeof bits);
	return true;
}

static bool real(struct xc_cexpr *c, char *text, struct xc_value *out)
{
	size_t len = strlen(text);
	enum xc_ctype which = XC_C_DOUBLE;
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	char last = len > 0 ? text[len - 1] : 0;
	if ((last == 'f' || last == 'F') && (!hex || strpbrk(text, "pP")))
		which = XC_C_FLOAT;
	else if (last == 'l' || last == 'L')
		which = XC_C_LDOUBLE;
	if (which != XC_C_DOUBLE)
		text[--len] = '\0';
	const struct xc_type *type = xc_ctype(c->process, which);
	/* Each is parsed at its own precision: rounding twice can change the result. */
	struct xc_cnumber number = {.type = type, .is_real = true, .size = (unsigned)type->size};
	char *end;
	if (which == XC_C_FLOAT)
		number.real = strtof(text, &end);
	else if (which == XC_C_DOUBLE)
		number.real = strtod(text, &end);
	else
		number.real = strtold(text, &end);
	if (end != text + len || len == 0)
		return fail(c, "not a number");
	struct xc_error *err = xc_cexpr_convert(c, &number, type, out);
	if (err)
		xc_cexpr_fail(c, c->token.at, c->token.len, err);
	return !err;
}

static bool number(struct xc_cexpr *c, struct xc_value *out)
{
	char text[MAX_DIGITS];
	size_t len = 0;
	if (c->token.len >= sizeof text)
		return fail(c, "a constant of more than 64 bits");
	for (size_t i = 0; i < c->token.len; i++) {
		if (c->text[c->token.at + i] != '\'') /* C++ and C23 digit separators */
			text[len++] = c->text[c->token.at + i];
	}
	text[len] = '\0';
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	bool is_real = strchr(text, '.') || strpbrk(text, hex ? "pP" : "eE");
	if (!hex && strchr("fF", text[len - 1]) && strspn(text, "0123456789") == len - 1)
		is_real = true; /* gdb accepts 1f */
	return is_real && !strchr(text, 's') ? real(c, text, out) : integer(c, text, out);
}

/* ---- characters and strings ---- */

struct reader {
	const char *at, *end;
	bool failed;
};

static uint32_t read_digits(struct reader *r, unsigned base, unsigned most)
{
	uint64_t value = 0;
	unsigned count = 0;
	for (; r->at < r->end && count < most && digit_of(*r->at) < base; r->at++, count++)
		value = (value * base + digit_of(*r->at)) & UINT32_MAX;
	if (count == 0)
		r->failed = true;
	return (uint32_t)value;
}

/* The rest of an escape, after the backslash. */
static uint32_t read_escape(struct reader *r)
{
	static const char letters[] = "abtnvfr", others[] = "\\'\"?";
	char ch = *r->at++;
	const char *found = strchr(letters, ch);
	if (ch >= '0' && ch <= '7') {
		r->at--;
		return read_digits(r, 8, 3);
	}
	if (ch == 'x')
		return read_digits(r, 16, 8);
	if (ch == 'u')
		return read_digits(r, 16, 4);
	if (ch == 'U')
		return read_digits(r, 16, 8);
	if (ch == 'e')
		return 27;
	if (found)
		return (uint32_t)(7 + (found - letters));
	if (!strchr(others, ch))
		r->failed = true;
	return (unsigned char)ch;
}

static uint32_t read_utf8(struct reader *r)
{
	unsigned char lead = (unsigned char)*r->at++;
	unsigned more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : 0;
	uint32_t value = more ? lead & (0x3fu >> more) : lead;
	for (; more > 0 && r->at < r->end && ((unsigned char)*r->at & 0xc0) == 0x80; more--, r->at++)
		value = value << 6 | ((unsigned char)*r->at & 0x3f);
	return value;
}

/* One character; in narrow strings, one byte. */
static uint32_t read_character(struct reader *r, size_t width)
{
	if (*r->at == '\\' && r->at + 1 < r->end) {
		r->at++;
		return read_escape(r);
	}
	return width == 1 ? (unsigned char)*r->at++ : read_utf8(r);
}

static struct reader inside(const struct xc_cexpr *c, enum xc_ctype *type_out)
{
	const char *at = c->text + c->token.at;
	size_t prefix = strcspn(at, "'\"");
	*type_out = prefix == 0 || prefix == 2 ? XC_C_CHAR
		    : *at == 'L'               ? XC_C_WCHAR
		    : *at == 'u'               ? XC_C_CHAR16
					       : XC_C_CHAR32;
	return (struct reader){.at = at + prefix + 1, .end = at + c->token.len - 1};
}

static bool character(struct xc_cexpr *c, struct xc_value *out)
{
	enum xc_ctype which;
	struct reader r = inside(c, &which);
	const struct xc_type *type = xc_ctype(c->process, which);
	if (r.at >= r.end)
		return fail(c, "an empty character constant");
	uint64_t unit = read_character(&r, type->size);
	if (r.failed)
		return fail(c, "an unknown escape sequence");
	if (r.at != r.end)
		return fail(c, "a character constant of more than one character");
	if (type->size == 1 && unit > 0xff)
		return fail(c, "a character of more than one byte: write it with L");
	*out = xc_value_small(c->process, type, &unit, sizeof unit);
	return true;
}

/* The array includes its NUL, as in C. */
static bool string(struct xc_cexpr *c, struct xc_value *out)
{
	enum xc_ctype which;
	struct reader r = inside(c, &which);
	const struct xc_type *type = xc_ctype(c->process, which);
	size_t width = (size_t)type->size, count = 0;
	uint8_t *bytes = xc_arena_alloc(c->arena, ((size_t)(r.end - r.at) + 1) * width + 16);
	while (r.at < r.end) {
		uint32_t unit = read_character(&r, width);
		memcpy(bytes + count++ * width, &unit, width);
	}
	if (r.failed)
		return fail(c, "an unknown escape sequence");
	struct xc_buffer *buffer = xc_arena_alloc(c->arena, sizeof *buffer);
	*buffer = (struct xc_buffer){.size = (count + 1) * width, .bytes = bytes};
	*out = (struct xc_value){.process = c->process,
				 .type = xc_ctype_array(c->process, type, count + 1),
				 .kind = XC_VALUE_BYTES,
				 .buffer = buffer};
	return true;
}

bool xc_cexpr_literal(struct xc_cexpr *c, struct xc_value *out)
{
	if (c->token.kind == XC_TOKEN_NUMBER)
		return number(c, out);
	return c->token.kind == XC_TOKEN_CHAR ? character(c, out) : string(c, out);
}
