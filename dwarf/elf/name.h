/* name: the spelling of names of types, functions and variables, so that two spellings of one name compare equal.
 *
 * Compilers and people write the same name in several ways: "long unsigned int" and "unsigned long", "C<int, D<int>
 * >" and "C<int,D<int>>". The canonical spelling has C's integer types as gdb and clang write them, and white space
 * only between two words. */
#ifndef XC_NAME_H
#define XC_NAME_H

#include "core/base/text.h"

/* A hash of the canonical spelling; the same in every run and on every machine. Names without white space are hashed
 * unchanged. O(len). */
uint64_t xc_name_hash(const char *name, size_t len);

/* Are they the same name? */
bool xc_name_equal(const char *a, size_t a_len, const char *b, size_t b_len);

/* A qualified name's components, last first: "ns::C<a::b>::m" gives "m", "C<a::b>", "ns". Takes the last component
 * off [name, name + *len) and returns its start; *part_len is its length, *len what is left before its "::". NULL
 * when nothing is left. Text in brackets of any kind is not split, nor is "operator::…". */
const char *xc_name_last(const char *name, size_t *len, size_t *part_len);

/* Append a name without its "(anonymous namespace)::" components, which look-ups ignore. Those in template arguments
 * are part of the name and stay. */
void xc_name_without_anonymous(const char *name, struct xc_text *text);

/* The name after "struct ", "union ", "enum " or "class "; the name itself when it begins with none of them. */
const char *xc_name_without_keyword(const char *name);

/* Mix one more number into a hash. */
uint64_t xc_name_mix(uint64_t hash, uint64_t number);

#endif
