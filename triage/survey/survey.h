/* survey: what the crashed functions work on: their variables, those of their file, and the objects that these lead
 * to, with the names that the source would use: `this->index`, `t->heap[2]->name`. */
#ifndef XC_SURVEY_H
#define XC_SURVEY_H

#include "triage/crash/crash_context.h"

struct xc_view;

/* A value on the way: a pointer or a record. Lives until the function returns. */
struct xc_surveyed {
	const struct xc_value *value;
	const struct xc_view *view; /* of a record that is a container; else NULL */
	const char *path;           /* "t.buckets[2]->key"; "index, key 3" of a map */
	const char *joint;          /* between the path and the name of a record's member: "->" or "." */
};
typedef void xc_survey_fn(void *user, const struct xc_surveyed *it);

/* Call `each` for the values of the innermost functions of the program in the crashed stack, then for those of the file
 * of the first. Of an array beside a count only as many elements are looked at; an object is looked at once. Objects in
 * freed memory are not entered. At most some thousand values, a few pointers deep. */
void xc_survey_walk(const struct xc_crash_context *crash, xc_survey_fn *each, void *user);

/* Does the name speak of a number of elements, or of the room for them? "n", "count", "nitems"; "cap", "limit". */
bool xc_survey_is_count(const char *name);
bool xc_survey_is_room(const char *name);

#endif
