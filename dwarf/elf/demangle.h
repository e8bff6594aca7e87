/* demangle: C++ (Itanium ABI) and Rust (legacy and v0) names for people, by libiberty. */
#ifndef XC_DEMANGLE_H
#define XC_DEMANGLE_H

#include "core/base/base.h"

/* The demangled name, malloc'ed, or NULL when `name` is not a mangled one. With params false the parameter list,
 * return type and cv-qualifiers of a function are left out ("ns::C<int>::f"). Bounded: names longer than
 * 16 KiB, or whose demangling would grow past 1 MiB, are left as they are. */
char *xc_demangle(const char *name, bool params);

/* Where no threads can be made: this process's first thread has a stack of so many bytes, and it is the only one. If that is enough for all
 * names of 16 KiB, they are demangled on it; else those of more than 1 KiB are left as they are. */
void xc_demangle_here(uint64_t stack);

/* Is it a name that rustc mangled, by its own scheme or by the legacy one? That one is C++'s, with a hash as the last part of the name. */
bool xc_demangle_is_rust(const char *name);

#endif
