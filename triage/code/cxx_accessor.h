/* cxx_accessor: functions of the C++ library that only access an object, so that an expression names the object and
 * not its internals. */
#ifndef XC_CXX_ACCESSOR_H
#define XC_CXX_ACCESSOR_H

#include "core/base/arena.h"

enum xc_cxx_accessor_way {
	XC_CXX_ACCESSOR_NONE,
	XC_CXX_ACCESSOR_POINTER,   /* get(), operator->: the pointer that a smart pointer holds */
	XC_CXX_ACCESSOR_REFERENCE, /* operator*: what it points to */
	XC_CXX_ACCESSOR_ELEMENT,   /* operator[], at() of a container */
	XC_CXX_ACCESSOR_FIRST,     /* front() */
	XC_CXX_ACCESSOR_LAST,      /* back() */
};

/* By a function's name without parameters. */
enum xc_cxx_accessor_way xc_cxx_accessor_of(const char *function);

/* The method, "size", of a function that only asks a container or a string something; NULL: it is another one. */
const char *xc_cxx_accessor_query(const char *function);

/* Does the accessor read the pointer to what it returns from its object, at which offset? Not of std::array, which has
 * its elements in itself, nor of std::deque, which finds them by more than one. */
bool xc_cxx_accessor_reads(const char *function, unsigned word, uint64_t *offset_out);

/* "std::vector::size" of "std::vector<long, std::allocator<long> >::size", "std::string"; other names as they are. */
const char *xc_cxx_accessor_short(const char *function, struct xc_arena *arena);

/* The accessor that names a member deep in an object of the C++ library, by the class and the name of the member: ""
 * for the pointer of a smart pointer, "data()", "end()", "size()". NULL: the member has no public name. */
const char *xc_cxx_accessor_member(const char *class_name, const char *member);

/* Is it such a class? */
bool xc_cxx_accessor_class(const char *class_name);

#endif
