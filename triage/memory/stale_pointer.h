/* stale_pointer: the pointers through which a bad value was read: does one of them point to memory that is no longer
 * what its type says: a freed block, a block with another owner, a frame that has returned? */
#ifndef XC_STALE_POINTER_H
#define XC_STALE_POINTER_H

#include "triage/dataflow/deref.h"

enum xc_stale_kind {
	XC_STALE_NOT,
	XC_STALE_FRAME,  /* the frame of a function that has returned */
	XC_STALE_FREED,  /* a freed block */
	XC_STALE_REUSED, /* a block that others use as something else */
	XC_STALE_CLASS,  /* an object that is of another class, by its vtable; cast wrongly, or stale */
	XC_STALE_OTHER,  /* the same, where a `void *` leads to the object, too: cast wrongly, or stale */
	XC_STALE_TABLE,  /* an object whose vptr leads to no vtable */
	XC_STALE_BROKEN, /* an object whose strings and containers are not valid */
	XC_STALE_TEXT,   /* a block that contains text where the type has none; who else has it is not known */
};

struct xc_stale {
	enum xc_stale_kind kind;
	const struct xc_deref *deref; /* whose pointer is stale */
	bool sure;
	xc_addr begin, size;                /* of the block */
	const struct xc_type *type, *found; /* of XC_STALE_CLASS: the pointer's class, and the object's */
	const char *why;                    /* a sentence about the memory, in the report's arena */
	const char *moved;                  /* the container that it was likely an element of; NULL: none is known */
	const char *redact;                 /* the same without text of the memory; NULL: `why` has none */
};

/* The outermost stale pointer on the way of the bad value; XC_STALE_OTHER, _TABLE and _TEXT, which are weak, only
 * when there is no other; XC_STALE_NOT: there is none. Searches memory, and may infer the types of the heap. */
struct xc_stale xc_stale_pointer_find(const struct xc_crash_context *crash);

/* The same for one pointer, whose value `deref` has. */
struct xc_stale xc_stale_pointer_at(const struct xc_crash_context *crash, const struct xc_deref *deref);

/* Report it: the class becomes use-after-free or use-after-return. With `weak`, also where the memory shows only that
 * it is no such object: severity and cause change. False when nothing was reported. */
bool xc_stale_pointer_report(struct xc_crash_context *crash, const struct xc_stale *stale, bool weak);

/* Where nothing is known of the way: an argument of the blamed function that points into a frame that has returned.
 * Never sure. Only of kind XC_STALE_FRAME, or XC_STALE_NOT. */
struct xc_stale xc_stale_argument_find(const struct xc_crash_context *crash);

/* An argument of the blamed function, or a local variable of it that was set, that leads to an object of another class,
 * by its vtable: whatever was read through it is wrong. Only of kind XC_STALE_CLASS, or XC_STALE_NOT. */
struct xc_stale xc_stale_class_find(const struct xc_crash_context *crash);

/* An argument of the blamed function that leads to an object with a pointer or reference into the frame of a
 * function that has returned, as a lambda has that captured by reference. Never sure. Of kind XC_STALE_FRAME, or
 * XC_STALE_NOT. */
struct xc_stale xc_stale_member_find(const struct xc_crash_context *crash);

/* An argument of the blamed function that leads to an object in the heap whose members are not valid. Of kind
 * XC_STALE_REUSED where a container has such objects elsewhere, else of kind XC_STALE_BROKEN, or XC_STALE_NOT. */
struct xc_stale xc_stale_broken_find(const struct xc_crash_context *crash);

#endif
