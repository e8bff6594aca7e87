/* language: the language of each function in a stack, as far as the record tells, so that rules for one language leave
 * the names of another alone ("log.run" is Go's library, or a method of anybody's). */
#ifndef XC_LANGUAGE_H
#define XC_LANGUAGE_H

#include "batch/record/record.h"

enum xc_language { XC_LANGUAGE_UNKNOWN, XC_LANGUAGE_C, XC_LANGUAGE_CXX, XC_LANGUAGE_GO, XC_LANGUAGE_RUST };

/* Determines the language of each frame: as the record says; else by its source file; else by a name that only one
 * runtime has. In a stripped Go program there is nothing else to tell by, so the remaining frames take the language of
 * other frames in their module; not so where its Go code has debug information. Rust does not extend to other frames,
 * because it is also linked into C++ programs. Cost: O(frames); for Go programs up to O(frames²) comparisons. */
void xc_languages(const struct xc_record *record, enum xc_language *languages_out);

/* The language of a DW_LANG_… constant. */
enum xc_language xc_language_of_dwarf(int language);

/* The name in rules and records; NULL if unknown. */
const char *xc_language_name(enum xc_language language);

/* The language with this name in rules: "c", "c++", "go", "rust". False if there is none. */
bool xc_language_named(const char *name, size_t len, enum xc_language *language_out);

#endif
