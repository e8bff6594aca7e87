/* field_overrun: the array of a structure that was written past its end, over the members behind it. */
#ifndef XC_FIELD_OVERRUN_H
#define XC_FIELD_OVERRUN_H

#include "core/base/text.h"
#include "triage/crash/crash_context.h"

/* The array in front of a word, in the same object: a block of the heap, a variable of the crashed stack, a static. */
struct xc_field_array {
	const char *name; /* "`key` of struct entry", "`users[2].name`": lives as long as the report */
	const struct xc_type *record; /* the structure that the array is a member of */
	xc_addr record_at;
	const struct xc_type *element;
	xc_addr begin, end; /* of the array; end is exclusive */
};

/* The array that ends at or before `at`, nearest to it. Infers the types of blocks. False when the object or its type
 * is not known, or it has none. */
bool xc_field_array_before(const struct xc_crash_context *crash, xc_addr at, struct xc_field_array *out);

/* Evidence: text that begins in an array of characters and goes on to the word at `at`: the array, the text, and the
 * members it ran over. Appends the same without the text to `cause`. False when it is not so. */
bool xc_field_overrun_report(struct xc_crash_context *crash, xc_addr at, struct xc_text *cause);

#endif
