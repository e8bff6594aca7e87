/* format_impl: functions that write one kind of value, shared by dwarf/format/format_*.c. */
#ifndef XC_FORMAT_IMPL_H
#define XC_FORMAT_IMPL_H

#include "dwarf/format/format.h"
#include "dwarf/value/value.h"

enum { XC_FORMAT_REPEATS = 10 }; /* longer runs are folded, as by gdb's `print repeats` */

struct xc_writer {
	struct xc_text *text;
	const struct xc_format_options *options;
	size_t start;     /* where the value starts in text */
	unsigned depth;   /* of all nesting; 0: the outermost value */
	unsigned records; /* of structs, for the depth option */
	bool numbers;     /* write characters as numbers: in vectors */
	bool absent;      /* the whole value is missing; text has only the reason */
	struct {
		xc_addr addr;
		const struct xc_type *type;
	} seen[16]; /* virtual bases that were written */
	unsigned seen_count;
	const struct xc_format_around *around; /* the innermost record that is being written, or NULL */
};

/* A record in memory whose members are being written. */
struct xc_format_around {
	const struct xc_format_around *outer;
	const struct xc_type *type;
	xc_addr addr;
};

/* Does the record lie in one of its own type among those around it? Only damaged debug information says so. */
bool xc_format_holds_itself(const struct xc_format_around *around, const struct xc_value *value,
			    const struct xc_type *type);
#define XC_FORMAT_HOLDS_ITSELF "damaged debug information: the type holds itself"

/* True when the text has reached its limit, so lists must end. */
bool xc_writer_full(const struct xc_writer *w);

/* Write why the value is missing: the bare reason at the top level, in <…> within other values. */
void xc_writer_absent(struct xc_writer *w, const struct xc_value *value, uint64_t len);

/* A variable of a function type of Go has the address of a closure, whose first word is its code. 0: nil; code 0: not
 * known. False when the value cannot be read. */
bool xc_format_is_closure(const struct xc_type *type);
bool xc_format_closure(const struct xc_value *value, const struct xc_type *type, uint64_t *closure_out,
		       xc_addr *code_out);

/* Write a value within another one; the caller counts the depth. */
void xc_format_nested(struct xc_writer *w, const struct xc_value *value);

/* Write a scalar in the format of options->letter; false when that does not apply to the type. */
bool xc_format_letter(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type);

/* `type` is the stripped type of the value. */
void xc_format_array(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type);
void xc_format_record(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type);
void xc_format_member_pointer(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type);

/* The same for structs and enums of Rust; "Color::Red" for the enumerator shop::Color::Red of a plain enum. */
void xc_format_rust(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type);
void xc_format_rust_enumerator(struct xc_writer *w, const char *name);

/* True, after writing the reason, when neither the first nor the last of `size` bytes in memory can be read. */
bool xc_format_missing(struct xc_writer *w, const struct xc_value *value, uint64_t size);

/* `count` consecutive elements of `size` bytes from the value's start, without braces. */
void xc_format_elements(struct xc_writer *w, const struct xc_value *value, const struct xc_type *element,
			uint64_t count, uint64_t size);

/* Write a container by its content. False when the value is not a container, or, with the reason written, when it is
 * damaged. Then the caller writes its members. */
bool xc_format_view(struct xc_writer *w, const struct xc_value *value);

/* 65 'A' */
void xc_format_char(struct xc_writer *w, uint64_t bits, bool is_signed, unsigned width, const char *prefix);

/* "text" of a char array, and ` "text"` after a pointer's address. */
void xc_format_array_text(struct xc_writer *w, const struct xc_value *value, uint64_t count, unsigned width,
			  const char *prefix);
void xc_format_pointer_text(struct xc_writer *w, const struct xc_process *process, xc_addr addr, unsigned width,
			    const char *prefix);

/* The length of the text in a char array, whose first `have` characters are in bytes. It ends at its NUL when only NULs
 * follow (*ends_out) or the part before it is a text; otherwise it is `have`. */
size_t xc_format_text_end(const struct xc_value *value, const uint8_t *bytes, size_t have, uint64_t count,
			  unsigned width, bool *ends_out);

void xc_format_utf8(struct xc_text *text, uint32_t code_point);

/* A text of exactly `count` characters of the value's type, from the value's start; NULs are characters too. */
void xc_format_characters(struct xc_writer *w, const struct xc_value *value, uint64_t count);

/* A float of the type, whose bits are the value's bytes from offset on. False when they are missing. */
bool xc_format_float(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type, uint64_t offset,
		     unsigned size);

/* Half of a complex integer of GNU C: the bits of `half` bytes at offset, sign-extended. False when they are missing,
 * or more than 8. */
bool xc_format_half(const struct xc_value *value, const struct xc_type *type, uint64_t offset, unsigned half,
		    uint64_t *bits_out);

/* `<bytes 01 02>`: what has no format that is known. False when they cannot be read. */
bool xc_format_bytes(struct xc_writer *w, const struct xc_value *value, uint64_t offset, uint64_t size);

/* A decimal float. False when the type is not one, its format is not supported, or it cannot be read. */
bool xc_format_decimal_float(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type);

/* A fixed-point number. False when the type is none, its unit is not known, or its bytes are missing. */
bool xc_format_fixed(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type);

void xc_format_decimal(struct xc_text *text, unsigned __int128 magnitude, bool negative);
void xc_format_integer(struct xc_text *text, uint64_t bits, bool is_signed);
void xc_format_hex(struct xc_text *text, uint64_t number);

/* ` <name+off>` when a symbol covers the address. */
void xc_format_symbol(struct xc_writer *w, const struct xc_process *process, xc_addr addr);

#endif
