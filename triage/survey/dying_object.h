/* dying_object: is an object being constructed or destroyed at this moment, by functions on the threads' stacks? */
#ifndef XC_DYING_OBJECT_H
#define XC_DYING_OBJECT_H

#include "triage/crash/crash_context.h"

/* Is the function a constructor (X::X) or a destructor (X::~X) by its name? *class_out, may be NULL: how many of the
 * name's characters are the class's. */
enum xc_dying {
	XC_DYING_NO,
	XC_DYING_CONSTRUCTOR,
	XC_DYING_DESTRUCTOR,
};
enum xc_dying xc_dying_object_kind(const char *function, size_t *class_out);

/* Append, when a constructor or destructor of the object at this address is on a stack: "thread 7 is in Sink::~Sink,
 * log.cc:26, for the same object, called from reload, log.cc:132, and is waiting for thread 9 to end: its part of
 * FileSink is already destroyed". class_name: that of its vptr. The crashed thread is searched first; another one, when
 * it is what is found, is involved in the verdict. False, with nothing appended, when there is none: the object need
 * not be constructed at all then, and may be gone. Looks at 128 threads, and 48 frames of each. */
bool xc_dying_object_find(const struct xc_crash_context *crash, xc_addr object, const char *class_name,
			  struct xc_text *text);

/* The objects for which constructors and destructors are on the crashed stack, the innermost first, and their classes,
 * also of those whose object is not known. */
enum { XC_DYING_OBJECTS = 16 };
struct xc_dying_objects {
	struct xc_dying_range {
		xc_addr begin, end;
		enum xc_dying kind;
		const char *function; /* the constructor or destructor */
	} ranges[XC_DYING_OBJECTS];
	const char *classes[XC_DYING_OBJECTS];
	size_t count, class_count;
};
void xc_dying_objects_of(const struct xc_crash_context *crash, struct xc_dying_objects *out);

/* Is the address in one of them? */
bool xc_dying_objects_has(const struct xc_dying_objects *objects, xc_addr at);

/* Is it the name of one of the classes? */
bool xc_dying_objects_has_class(const struct xc_dying_objects *objects, const char *name);

#endif
