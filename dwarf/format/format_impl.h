/* format_impl: what dwarf/format*.c share. */
#ifndef XC_FORMAT_IMPL_H
#define XC_FORMAT_IMPL_H

#include "dwarf/format/format.h"
#include "dwarf/value/value.h"

enum { XC_FORMAT_REPEATS = 10 }; /* longer runs are folded, as gdb's `print repeats` */

struct xc_writer {
	struct xc_text *text;
	const struct xc_format_options *options;
	size_t start;     /* of the value in text */
	unsigned depth;   /* of everything that nests: values at 0 are the whole */
	unsigned records; /* of structs, which is what the depth option counts */
	bool numbers;     /* characters are numbers: in vectors */
	bool absent;      /* the value as a whole is not there; text has the bare reason */
	struct {
		xc_addr addr;
		const struct xc_type *type;
	} seen[16]; /* virtual bases that stand already */
	unsigned seen_count;
};

/* True when the text has grown to its limit, so that lists end here. */
bool xc_writer_full(const struct xc_writer *w);

/* Why the value is not there: bare at the top, <…> further down. */
void xc_writer_absent(struct xc_writer *w, const struct xc_value *value, uint64_t len);

/* A value inside another one; the caller counts the depth. */
void xc_format_nested(struct xc_writer *w, const struct xc_value *value);

/* A scalar as options->letter says; false when it says nothing of this type. */
bool xc_format_letter(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type);

/* By the stripped type of the value. */
void xc_format_array(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type);
void xc_format_record(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type);
void xc_format_member_pointer(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type);

/* The same for structs and enums of Rust; and "Color::Red" for the enumerator shop::Color::Red of a plain enum. */
void xc_format_rust(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type);
void xc_format_rust_enumerator(struct xc_writer *w, const char *name);

/* True, with the reason written, when neither end of something of `size` bytes in memory can be read. */
bool xc_format_missing(struct xc_writer *w, const struct xc_value *value, uint64_t size);

/* `count` elements of `size` bytes that stand one after another from value on, without braces. */
void xc_format_elements(struct xc_writer *w, const struct xc_value *value, const struct xc_type *element,
			uint64_t count, uint64_t size);

/* A container by its content. False when it is none, or (after saying so) when it is not in working order: then its innards
 * are to be shown. */
bool xc_format_view(struct xc_writer *w, const struct xc_value *value);

/* 65 'A' */
void xc_format_char(struct xc_writer *w, uint64_t bits, bool is_signed, unsigned width, const char *prefix);

/* "text" of a char array, and ` "text"` behind a pointer's address. */
void xc_format_array_text(struct xc_writer *w, const struct xc_value *value, uint64_t count, unsigned width,
			  const char *prefix);
void xc_format_pointer_text(struct xc_writer *w, const struct xc_process *process, xc_addr addr, unsigned width,
			    const char *prefix);

/* Where the text of a char array ends, of which the first `have` characters are in bytes: at its NUL when only NULs
 * follow (*ends_out) or what stands before is a text; else at `have`. */
size_t xc_format_text_end(const struct xc_value *value, const uint8_t *bytes, size_t have, uint64_t count,
			  unsigned width, bool *ends_out);

void xc_format_utf8(struct xc_text *text, uint32_t code_point);

/* A text of exactly `count` characters of the value's type, which stand from value on; NULs are characters too. */
void xc_format_characters(struct xc_writer *w, const struct xc_value *value, uint64_t count);

/* A float of the type, of which the value's bytes from offset on are the bits. False when they are missing. */
bool xc_format_float(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type, uint64_t offset,
		     unsigned size);

/* A decimal float. False when it is none, of a format that we do not read, or not readable. */
bool xc_format_decimal_float(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type);

void xc_format_decimal(struct xc_text *text, unsigned __int128 magnitude, bool negative);
void xc_format_integer(struct xc_text *text, uint64_t bits, bool is_signed);
void xc_format_hex(struct xc_text *text, uint64_t number);

/* ` <name+off>` for an address that a symbol covers. */
void xc_format_symbol(struct xc_writer *w, const struct xc_process *process, xc_addr addr);

#endif
