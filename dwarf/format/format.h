/* format: a typed value as text, as a C programmer would write it down.
 *
 * As gdb prints it: integers in decimal; char with its letter (65 'A'); enums by name, flag enums as (A | B), unknown values
 * as numbers; pointers as 0x… with `<symbol+off>` for code and data symbols, and "text" for char pointers; structs as
 * {a = 1, b = {...}}, base classes as <Base> = {…}; arrays as {1, 2, 3 <repeats 12 times>, 7...}; references as
 * @0x…: value; bool as true/false; floats with as many digits as needed. What could not be read says why in angle brackets.
 * Unlike gdb, pointers to functions have no cast before them, and a char array that holds a text ends where the text
 * does: "text" when only NULs follow, "text"... when something else does. Containers of C++ and Rust libraries are shown by
 * their content (view.h); values of Rust as Rust writes them: Some(5), Shape::Circle{radius: 2} (format_rust.c). */
#ifndef XC_FORMAT_H
#define XC_FORMAT_H

#include "core/base/text.h"

struct xc_format_options {
	unsigned depth;    /* nested structs shown; deeper ones as {...} */
	unsigned elements; /* of arrays and characters of strings; more as ... */
	unsigned
		length; /* of the whole text, bytes: when reached, what is open is closed with ... (a little more may come) */
	bool symbols; /* look pointers up */
	bool raw;     /* containers by their innards, not by their content (view.h) */
	/* What to append behind the address of a pointer to an object, from a layer above: " → struct client (heap, …)". NULL: nothing. */
	void (*annotate)(const void *context, xc_addr addr, struct xc_text *text);
	/* The same for JSON: an object, the caller's; NULL where there is nothing to say. */
	struct json_t *(*describe)(const void *context, xc_addr addr);
	const void *annotate_context; /* of both */
	char letter;                  /* 0, or how scalars are written: x z d u o t c a f, as after `print /` in gdb */
};

/* depth 3, elements 200, length 4096, symbols on: what `bt --full` uses unless told otherwise. */
struct xc_format_options xc_format_defaults(void);

struct xc_type;
struct xc_value;

/* The prefix of literals ("", "L", "u", "U") of a character type whose arrays are written as text; NULL for every other
 * type. width_out gets the bytes per character. */
const char *xc_format_textual(const struct xc_type *type, unsigned *width_out);

/* Append the value's text. Bounded by options; reads memory of the target. */
void xc_format_value(struct xc_text *text, const struct xc_value *value, const struct xc_format_options *options);

/* The same, but when the value as a whole cannot be had, append the bare reason ("optimized out") and return false. */
bool xc_format_whole(struct xc_text *text, const struct xc_value *value, const struct xc_format_options *options);

#endif
