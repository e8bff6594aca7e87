/* normalise_impl: shared by the files of normalise. */
#ifndef XC_NORMALISE_IMPL_H
#define XC_NORMALISE_IMPL_H

#include "core/base/arena.h"

/* The name with Rust's legacy escapes ("$LT$", "..") decoded; malloc'ed. */
char *xc_normalise_decoded(const char *name);

/* The length without suffixes added by compilers and linkers: ".constprop.0", "@@GLIBC_2.34", "::h0123456789abcdef". */
size_t xc_normalise_without_tails(const char *name, bool go);

/* The common name of a function, in the arena: "free" for "__GI___libc_free". */
const char *xc_normalise_alias(const char *name, struct xc_arena *arena);

/* May the character be part of an identifier? */
bool xc_normalise_is_word(char c);

/* Is there the word "operator" at `at`, in a name that begins at start? */
bool xc_normalise_is_operator(const char *start, const char *at, const char *end);

/* The length of the operator sign after "operator": "<<", "()", "->*"; 0: there is none. */
size_t xc_normalise_operator_sign(const char *at, const char *end);

/* The position after the bracket that closes the one at `at`; the end if none does. O(length). */
const char *xc_normalise_behind_bracket(const char *at, const char *end);

/* The position of a word (" as ") outside of brackets; NULL: nowhere. */
const char *xc_normalise_find_outside(const char *at, const char *end, const char *word);

#endif
