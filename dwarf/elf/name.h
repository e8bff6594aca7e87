/* name: how the names of types, functions and variables are spelled, so that two spellings of one name meet.
 *
 * Compilers and people write the same name in several ways: "long unsigned int" and "unsigned long", "C<int, D<int> >" and
 * "C<int,D<int>>". The canonical spelling has C's integers as gdb and clang write them, and white space only between two words. */
#ifndef XC_NAME_H
#define XC_NAME_H

#include "core/base/text.h"

/* A hash of the canonical spelling; the same in every run and on every machine. Names without white space are
 * hashed as they stand. O(len). */
uint64_t xc_name_hash(const char *name, size_t len);

/* Are they the same name? */
bool xc_name_equal(const char *a, size_t a_len, const char *b, size_t b_len);

/* A qualified name's components, last first: "ns::C<a::b>::m" gives "m", "C<a::b>", "ns". Takes the last component off
 * [name, name + *len) and returns where it starts; *part_len is its length, *len what is left before its "::". NULL when nothing is
 * left. What stands in brackets of any kind is not parted, nor is "operator::…". */
const char *xc_name_last(const char *name, size_t *len, size_t *part_len);

/* Append a name without its "(anonymous namespace)::" components, which look-ups do without. Those in template arguments are
 * parts of names and stay. */
void xc_name_without_anonymous(const char *name, struct xc_text *text);

/* The name behind "struct ", "union ", "enum " or "class "; itself when it begins with none of them. */
const char *xc_name_without_keyword(const char *name);

/* Mix one more number into a hash. */
uint64_t xc_name_mix(uint64_t hash, uint64_t number);

#endif
