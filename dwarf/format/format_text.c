/* format_text: characters and strings.
 *
 * A run of more than XC_FORMAT_REPEATS equal characters is folded as in gdb:
 *	"ab", 'c' <repeats 20 times>, "de"...
 * A text that ends with ... continues in the target. A char array that starts with a text is shown as that text: the
 * bytes after the NUL in a stack buffer are nearly always left over from earlier use. Any other char array (binary
 * data) is shown whole, with octal escapes; so is an array of unsigned or signed char, but for zeros at its end. */
#include <stdlib.h>
#include <string.h>

#include "core/base/cursor.h"
#include "dwarf/format/format_impl.h"

enum { MAX_UNITS = 4096, ZERO_SCAN = 1 << 20 };

const char *xc_format_textual(const struct xc_type *type, unsigned *width_out)
{
	const struct xc_type *plain = xc_type_strip(type);
	*width_out = (unsigned)plain->size;
	if ((plain->kind != XC_TYPE_CHAR && plain->kind != XC_TYPE_INT) || plain->is_rust || plain->is_go ||
	    plain->is_byte)
		return NULL; /* u8 is a number, and texts of Rust and Go have a length instead of a NUL */
	if (plain->size == 1)
		return "";
	if (plain->size != 2 && plain->size != 4)
		return NULL;
	for (int i = 0; i < XC_TYPE_DEPTH; i++) {
		bool is_alias = type->kind >= XC_TYPE_TYPEDEF && type->kind <= XC_TYPE_ATOMIC;
		if (type->name && strcmp(type->name, "wchar_t") == 0)
			return "L";
		if (type->name && strcmp(type->name, "char16_t") == 0)
			return "u";
		if (type->name && strcmp(type->name, "char32_t") == 0)
			return "U";
		if (!is_alias)
			break;
		type = type->target;
	}
	return NULL;
}

static void add_octal(struct xc_text *text, uint32_t unit)
{
	char digits[16];
	unsigned count = 0;
	do
		digits[count++] = (char)('0' + (unit & 7));
	while ((unit >>= 3) || count < 3);
	xc_text_char(text, '\\');
	while (count > 0)
		xc_text_char(text, digits[--count]);
}

void xc_format_utf8(struct xc_text *text, uint32_t c)
{
	if (c < 0x800) {
		xc_text_char(text, (char)(0xc0 | c >> 6));
	} else {
		if (c < 0x10000) {
			xc_text_char(text, (char)(0xe0 | c >> 12));
		} else {
			xc_text_char(text, (char)(0xf0 | c >> 18));
			xc_text_char(text, (char)(0x80 | (c >> 12 & 63)));
		}
		xc_text_char(text, (char)(0x80 | (c >> 6 & 63)));
	}
	xc_text_char(text, (char)(0x80 | (c & 63)));
}

/* One character within quotes; with width 1 only ASCII. */
static void add_unit(struct xc_text *text, uint32_t unit, unsigned width, char quote)
{
	static const char letters[] = "abtnvfr"; /* \a is 7, … \r is 13 */
	if (unit == (uint32_t)quote || unit == '\\') {
		xc_text_char(text, '\\');
		xc_text_char(text, (char)unit);
	} else if (unit >= 7 && unit <= 13) {
		xc_text_char(text, '\\');
		xc_text_char(text, letters[unit - 7]);
	} else if (unit >= 0x20 && unit < 0x7f) {
		xc_text_char(text, (char)unit);
	} else if (width > 1 && unit >= 0xa0 && unit < 0x110000 && (unit < 0xd800 || unit > 0xf8ff) &&
		   (unit < 0x2028 || unit > 0x202e) && (unit < 0x2066 || unit > 0x2069)) {
		xc_format_utf8(text, unit); /* no surrogates, private use or bidirectional controls */
	} else {
		add_octal(text, unit);
	}
}

void xc_format_char(struct xc_writer *w, uint64_t bits, bool is_signed, unsigned width, const char *prefix)
{
	uint32_t unit = (uint32_t)(width == 1 ? bits & 0xff : width == 2 ? bits & 0xffff : bits);
	xc_format_integer(w->text, bits, is_signed);
	xc_text_char(w->text, ' ');
	xc_text_add(w->text, prefix);
	xc_text_char(w->text, '\'');
	add_unit(w->text, unit, width, '\'');
	xc_text_char(w->text, '\'');
}

struct units {
	const uint8_t *bytes;
	size_t count;
	unsigned width;
	const char *prefix;
	bool big_endian;
};

static uint32_t unit_at(const struct units *u, size_t index)
{
	return u->width == 1 ? u->bytes[index]
			     : (uint32_t)xc_load_uint(u->bytes + index * u->width, u->width, u->big_endian);
}

static size_t run_at(const struct units *u, size_t index)
{
	size_t end = index + 1;
	uint32_t unit = unit_at(u, index);
	while (end < u->count && unit_at(u, end) == unit)
		end++;
	return end - index;
}

static void add_quoted(struct xc_text *text, const struct units *u, size_t from, size_t count)
{
	xc_text_add(text, u->prefix);
	xc_text_char(text, '"');
	if (u->width == 1) {
		xc_text_escaped(text, (const char *)u->bytes + from, count);
	} else {
		for (size_t i = from; i < from + count; i++)
			add_unit(text, unit_at(u, i), u->width, '"');
	}
	xc_text_char(text, '"');
}

static void add_repeated(struct xc_text *text, const struct units *u, size_t at, size_t run)
{
	xc_text_add(text, u->prefix);
	xc_text_char(text, '\'');
	add_unit(text, unit_at(u, at), u->width, '\'');
	xc_text_add(text, "' <repeats ");
	xc_format_decimal(text, run, false);
	xc_text_add(text, " times>");
}

/* Write at most `limit` characters of the units, runs folded. Returns how many were written. */
static size_t add_units(struct xc_text *text, const struct units *u, unsigned limit)
{
	size_t at = 0, shown = 0;
	if (u->count == 0)
		add_quoted(text, u, 0, 0);
	while (at < u->count && shown < limit) {
		size_t run = run_at(u, at), from = at;
		if (at > 0)
			xc_text_add(text, ", ");
		if (run > XC_FORMAT_REPEATS) {
			add_repeated(text, u, at, run);
			at += run;
			shown += XC_FORMAT_REPEATS;
			continue;
		}
		do {
			size_t room = limit - shown;
			run = run < room ? run : room;
			at += run;
			shown += run;
		} while (at < u->count && shown < limit && (run = run_at(u, at)) <= XC_FORMAT_REPEATS);
		add_quoted(text, u, from, at - from);
	}
	return at;
}

static bool is_zero(const struct xc_value *value, uint64_t from, uint64_t to)
{
	uint8_t chunk[4096];
	if (to - from > ZERO_SCAN)
		return false;
	while (from < to) {
		size_t len = to - from < sizeof chunk ? (size_t)(to - from) : sizeof chunk;
		if (!xc_value_peek(value, from, chunk, len) || chunk[0] != 0 || memcmp(chunk, chunk + 1, len - 1) != 0)
			return false;
		from += len;
	}
	return true;
}

/* Does it consist of characters of a text? Bytes above ASCII count, for UTF-8 and Latin-1. */
static bool is_text(const struct units *u, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t unit = unit_at(u, i);
		if ((unit < 0x20 && unit != '\n' && unit != '\t' && unit != '\r') || unit == 0x7f)
			return false;
	}
	return count > 0;
}

/* unsigned char and its like: mostly data. */
static bool is_byte(const struct xc_type *element)
{
	const struct xc_type *plain = xc_type_strip(element);
	return plain->size == 1 && (!plain->name || strcmp(plain->name, "char") != 0) &&
	       (!plain->name || strcmp(plain->name, "char8_t") != 0);
}

static size_t first_nul(const struct units *u)
{
	size_t at = 0;
	while (at < u->count && unit_at(u, at) != 0)
		at++;
	return at;
}

size_t xc_format_text_end(const struct xc_value *value, const uint8_t *bytes, size_t have, uint64_t count,
			  unsigned width, bool *ends_out)
{
	struct units u = {bytes, have, width, "", value->process->arch->big_endian};
	size_t nul = first_nul(&u);
	*ends_out = nul < have && is_zero(value, nul * width, count * width);
	if (*ends_out)
		return nul;
	const struct xc_type *type = xc_type_strip(value->type);
	bool data = is_byte(type->kind == XC_TYPE_ARRAY ? type->target : type);
	return nul < have && !data && is_text(&u, nul) ? nul : have;
}

void xc_format_array_text(struct xc_writer *w, const struct xc_value *value, uint64_t count, unsigned width,
			  const char *prefix)
{
	uint8_t local[1024];
	size_t have = count < MAX_UNITS ? (size_t)count : MAX_UNITS;
	uint8_t *bytes = have * width <= sizeof local ? local : xc_alloc(have * width);
	struct units u = {bytes, have, width, prefix, value->process->arch->big_endian};
	if (have > 0 && !xc_value_peek(value, 0, bytes, have * width)) {
		xc_writer_absent(w, value, have * width);
	} else {
		bool ends;
		u.count = xc_format_text_end(value, bytes, have, count, width, &ends);
		size_t shown = add_units(w->text, &u, w->options->elements);
		if (shown < u.count || (!ends && shown < count))
			xc_text_add(w->text, "...");
	}
	if (bytes != local)
		free(bytes);
}

void xc_format_characters(struct xc_writer *w, const struct xc_value *value, uint64_t count)
{
	uint8_t local[1024];
	unsigned width;
	const char *prefix = xc_format_textual(value->type, &width);
	uint64_t most = w->options->elements < MAX_UNITS ? w->options->elements + 1 : MAX_UNITS;
	size_t have = (size_t)(count < most ? count : most);
	if (!prefix && width == 1)
		prefix = "";         /* a byte of Rust or Go is a number in other places */
	if (!prefix || width == 0) { /* a string of something else */
		xc_format_elements(w, value, value->type, count, width);
		return;
	}
	uint8_t *bytes = have * width <= sizeof local ? local : xc_alloc(have * width);
	struct units u = {bytes, have, width, prefix, value->process->arch->big_endian};
	if (have > 0 && !xc_value_peek(value, 0, bytes, have * width))
		xc_writer_absent(w, value, have * width);
	else if (add_units(w->text, &u, w->options->elements) < u.count || have < count)
		xc_text_add(w->text, "...");
	if (bytes != local)
		free(bytes);
}

/* The number of readable units before a NUL; *ended_out is true when there is a NUL. */
static size_t read_units(const struct xc_process *process, xc_addr addr, struct units *u, uint8_t *bytes, size_t max,
			 bool *ended_out)
{
	size_t got = xc_space_peek(process->space, addr, bytes, max * u->width) / u->width;
	u->bytes = bytes;
	u->count = got;
	size_t nul = first_nul(u);
	*ended_out = nul < got;
	return nul;
}

void xc_format_pointer_text(struct xc_writer *w, const struct xc_process *process, xc_addr addr, unsigned width,
			    const char *prefix)
{
	uint8_t local[1024];
	size_t max = w->options->elements < MAX_UNITS ? w->options->elements + 1 : MAX_UNITS;
	uint8_t *bytes = max * width <= sizeof local ? local : xc_alloc(max * width);
	struct units u = {bytes, 0, width, prefix, process->arch->big_endian};
	bool ended;
	xc_text_char(w->text, ' ');
	u.count = read_units(process, addr, &u, bytes, max, &ended);
	if (u.count == 0 && !ended) {
		struct xc_text why = {0};
		xc_value_fault(process, addr, 1, &why);
		const char *reason = strstr(xc_text_string(&why), ": ");
		xc_text_printf(w->text, "<%s>", reason ? reason + 2 : "not readable");
		xc_text_fini(&why);
	} else if (add_units(w->text, &u, w->options->elements) < u.count || !ended) {
		xc_text_add(w->text, "...");
	}
	if (bytes != local)
		free(bytes);
}
