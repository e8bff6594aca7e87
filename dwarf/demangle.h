/* demangle: C++ (Itanium ABI) and Rust (legacy and v0) names for people, by libiberty. */
#ifndef XC_DEMANGLE_H
#define XC_DEMANGLE_H

#include "../core/base.h"

/* The demangled name, malloc'ed, or NULL when `name` is not a mangled one. With params false the parameter list,
 * return type and cv-qualifiers of a function are left out ("ns::C<int>::f"). Bounded: names longer than
 * 16 KiB, or whose demangling would grow past 1 MiB, are left as they are. */
char *xc_demangle(const char *name, bool params);

#endif
