/* normalise_impl: the parts of normalise, for its own files. */
#ifndef XC_NORMALISE_IMPL_H
#define XC_NORMALISE_IMPL_H

#include "core/base/arena.h"

/* The name with Rust's legacy escapes ("$LT$", "..") decoded; malloc'ed. */
char *xc_normalise_decoded(const char *name);

/* Its length without what compilers and linkers put behind it: ".constprop.0", "@@GLIBC_2.34", "::h0123456789abcdef". */
size_t xc_normalise_without_tails(const char *name, bool go);

/* What a function is known by, in the arena: "__GI___libc_free" is free. */
const char *xc_normalise_alias(const char *name, struct xc_arena *arena);

/* May it be inside of an identifier? */
bool xc_normalise_is_word(char c);

/* Does the word "operator" stand at `at`, in a name that begins at start? */
bool xc_normalise_is_operator(const char *start, const char *at, const char *end);

/* Length of what follows "operator" when that is a sign: "<<", "()", "->*"; 0: it is none. */
size_t xc_normalise_operator_sign(const char *at, const char *end);

/* Behind the bracket that closes the one at `at`; the end when none does. O(length). */
const char *xc_normalise_behind_bracket(const char *at, const char *end);

/* Where a word (" as ") stands outside of brackets; NULL: nowhere. */
const char *xc_normalise_find_outside(const char *at, const char *end, const char *word);

#endif
