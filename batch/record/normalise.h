/* normalise: a function's name for comparison: equal across builds, compilers and template arguments.
 *
 *	int max<int>(int, int)                                  max<T>
 *	std::__cxx11::basic_string<char, …>::append(char)       std::basic_string<T>::append
 *	main::{lambda(int)#1}::operator()(int) const            main::{lambda}
 *	<alloc::vec::Vec<u8> as core::ops::Index<I>>::index     <alloc::vec::Vec<T> as core::ops::Index<T>>::index
 *	core::ops::call::h0123456789abcdef                      core::ops::call
 *	core::ops::call::<u8>                                   core::ops::call
 *	main.(*queue[go.shape.int]).Close-fm                    main.(*queue<T>).Close
 *	__GI___libc_malloc, parse.constprop.0, memcpy@@GLIBC_2.14    malloc, parse, memcpy
 *
 * Names come from a core and may be arbitrary: unknown parts stay unchanged. */
#ifndef XC_NORMALISE_H
#define XC_NORMALISE_H

#include "core/base/arena.h"

enum {
	XC_NORMALISE_NAME = 512,   /* bytes of a normalised name */
	XC_NORMALISE_MESSAGE = 80, /* of a normalised message */
};

/* The normalised name, in the arena, cut to XC_NORMALISE_NAME bytes; NULL for NULL and "". O(length), with limited
 * nesting. */
const char *xc_normalise_name(const char *name, struct xc_arena *arena);

/* The same for a Go name, in which "main.cold" and "main.part.0" are functions, not suffixes added by gcc. The numbers
 * of closures ("main.run.func2") stay, because they tell functions apart. */
const char *xc_normalise_go_name(const char *name, struct xc_arena *arena);

/* The message of a dying program without what varies between runs: addresses become ADDR; numbers of three or more
 * digits and process ids become N; absolute paths become their last component; line numbers are dropped. Printable
 * ASCII, cut to XC_NORMALISE_MESSAGE bytes. NULL for NULL. */
const char *xc_normalise_message(const char *text, struct xc_arena *arena);

/* The complete text of a failed assertion, in the arena: printable ASCII, with blanks folded. Its numbers are constants
 * of the source and tell assertions apart, so they stay. NULL for NULL. */
const char *xc_normalise_expression(const char *text, struct xc_arena *arena);

/* How many of the first len bytes fit into max without splitting a UTF-8 character; max if it is not UTF-8. */
size_t xc_normalise_cut(const char *bytes, size_t len, size_t max);

#endif
