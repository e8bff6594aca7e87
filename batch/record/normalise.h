/* normalise: what a function is called for comparison: the same in another build, by another compiler, with other template arguments.
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
 * Names are a core's, and so anything at all: what is not understood stays as it is. */
#ifndef XC_NORMALISE_H
#define XC_NORMALISE_H

#include "core/base/arena.h"

enum {
	XC_NORMALISE_NAME = 512,   /* bytes of a normalised name */
	XC_NORMALISE_MESSAGE = 80, /* of a normalised message */
};

/* The normalised name, in the arena, cut at XC_NORMALISE_NAME; NULL for NULL and "". O(length): nesting is followed to a fixed depth. */
const char *xc_normalise_name(const char *name, struct xc_arena *arena);

/* The same of a name that is known to be Go's, where "main.cold" and "main.part.0" are functions and no tails of gcc's. Numbers of
 * closures ("main.run.func2") stay: they tell functions apart. */
const char *xc_normalise_go_name(const char *name, struct xc_arena *arena);

/* A program's last words without what differs from run to run: addresses become ADDR, numbers of three digits and more and those of
 * processes N, absolute paths their last component, line numbers go; printable ASCII, cut at XC_NORMALISE_MESSAGE. NULL for NULL. */
const char *xc_normalise_message(const char *text, struct xc_arena *arena);

/* The text of an assertion that failed, in the arena, all of it: printable ASCII, with blanks folded. It was fixed when the program was built:
 * its numbers are the source's, and tell assertions apart. NULL for NULL. */
const char *xc_normalise_expression(const char *text, struct xc_arena *arena);

/* How many of the first len bytes fit into max without cutting a letter of UTF-8; of other bytes max. */
size_t xc_normalise_cut(const char *bytes, size_t len, size_t max);

#endif
