/* stdobject: functions of C++'s library that only lead into an object, so that the object stands in an expression, not what is in it. */
#ifndef XC_STDOBJECT_H
#define XC_STDOBJECT_H

#include "core/base/arena.h"

enum xc_stdobject_way {
	XC_STDOBJECT_NONE,
	XC_STDOBJECT_POINTER,   /* get(), operator->: the pointer that a smart pointer holds */
	XC_STDOBJECT_REFERENCE, /* operator*: what it points to */
	XC_STDOBJECT_ELEMENT,   /* operator[], at() of what counts its elements */
	XC_STDOBJECT_FIRST,     /* front() */
	XC_STDOBJECT_LAST,      /* back() */
};

/* By a function's name without parameters. */
enum xc_stdobject_way xc_stdobject_of(const char *function);

/* "std::vector::size" of "std::vector<long, std::allocator<long> >::size", "std::string"; other names as they are. */
const char *xc_stdobject_short(const char *function, struct xc_arena *arena);

/* What stands in an object of C++'s library, by the class and the name of a member deep in it: "" for the pointer of a smart pointer, "data()",
 * "end()", "size()"; NULL: nothing that has a name outside. */
const char *xc_stdobject_member(const char *class_name, const char *member);

/* Is it such a class? */
bool xc_stdobject_class(const char *class_name);

#endif
