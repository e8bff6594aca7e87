/* language: what the functions of a stack were written in, as far as their records tell: so that rules for one language leave another's names
 * alone ("log.run" is Go's library, or a method of anybody's). */
#ifndef XC_LANGUAGE_H
#define XC_LANGUAGE_H

#include "batch/record/record.h"

enum xc_language { XC_LANGUAGE_UNKNOWN, XC_LANGUAGE_C, XC_LANGUAGE_CXX, XC_LANGUAGE_GO, XC_LANGUAGE_RUST };

/* What the record says of the frame; else by its source file; else by a name that only the run-time of one language has. Of a program of
 * Go's that was stripped nothing else tells, so that there, and not where its Go has debug information, what is left takes after the other frames
 * of its module; Rust is also linked into programs in C++, and tells of nothing else. One for each frame of the record. Cost: O(frames), of
 * programs in Go up to O(frames²) comparisons. */
void xc_languages(const struct xc_record *record, enum xc_language *languages_out);

/* Of a DW_LANG_… */
enum xc_language xc_language_of_dwarf(int language);

/* As in rules and records; NULL when it is unknown. */
const char *xc_language_name(enum xc_language language);

/* The one that is called so in rules: "c", "c++", "go", "rust". False: none is. */
bool xc_language_named(const char *name, size_t len, enum xc_language *language_out);

#endif
