/* format: a typed value as text, in the syntax of C.
 *
 * The text follows gdb: integers in decimal; char with its letter (65 'A'); enums by name, flag enums as (A | B),
 * unknown values as numbers; pointers as 0x… with `<symbol+off>` for code and data symbols, and "text" for char
 * pointers; structs as {a = 1, b = {...}}, base classes as <Base> = {…}; arrays as {1, 2, 3 <repeats 12 times>, 7...};
 * references as @0x…: value; bool as true/false; floats with as many digits as needed. The reason why a value cannot be
 * read is in angle brackets.
 *
 * Unlike in gdb, pointers to functions have no cast before them, and a char array that starts with a text ends with it:
 * "text" when only NULs follow, "text"... otherwise. Containers of C++ and Rust libraries are shown by their content
 * (view.h), values of Rust in the syntax of Rust: Some(5), Shape::Circle{radius: 2} (format_rust.c). */
#ifndef XC_FORMAT_H
#define XC_FORMAT_H

#include "core/base/text.h"

struct xc_format_options {
	unsigned depth;    /* levels of nested structs; deeper ones are {...} */
	unsigned elements; /* elements of an array, characters of a string; then ... */
	unsigned length;   /* bytes of the whole text; then open lists are closed with ..., which may add a little */
	bool symbols;      /* look up pointers */
	bool raw;          /* show members of containers, not their content (view.h) */
	/* Appends to the address of a pointer to an object, for a higher layer: " → struct client (heap, …)". May be
	 * NULL. */
	void (*annotate)(const void *context, xc_addr addr, struct xc_text *text);
	/* The same for JSON: a new object, owned by the caller; NULL when there is nothing to add. May be NULL. */
	struct json_t *(*describe)(const void *context, xc_addr addr);
	const void *annotate_context; /* of both */
	char letter;                  /* 0, or the format of scalars: x z d u o t c a f, as after `print /` in gdb */
};

/* depth 3, elements 200, length 4096, with symbols: the defaults of `bt --full`. */
struct xc_format_options xc_format_defaults(void);

struct xc_type;
struct xc_value;

/* The prefix of literals ("", "L", "u", "U") of a character type whose arrays are written as text; NULL for every other
 * type. width_out gets the bytes per character. */
const char *xc_format_textual(const struct xc_type *type, unsigned *width_out);

/* Append the value's text. Bounded by options; reads memory of the target. */
void xc_format_value(struct xc_text *text, const struct xc_value *value, const struct xc_format_options *options);

/* The same, but when the whole value is missing, append only the reason ("optimized out") and return false. */
bool xc_format_whole(struct xc_text *text, const struct xc_value *value, const struct xc_format_options *options);

#endif
