/* demangle: readable names from C++ (Itanium ABI) and Rust (legacy and v0) symbols, by libiberty. */
#ifndef XC_DEMANGLE_H
#define XC_DEMANGLE_H

#include "core/base/base.h"

/* The demangled name, malloc'ed; NULL when `name` is not mangled. With params false the parameter list, return type
 * and cv-qualifiers of a function are left out ("ns::C<int>::f"). Bounded: names longer than 16 KiB, or whose
 * demangled form exceeds 1 MiB, are not demangled. */
char *xc_demangle(const char *name, bool params);

/* Demangle on the first thread, for a process that cannot create threads; `stack`: the size of that thread's stack in
 * bytes. If it is enough for all names of 16 KiB, they are demangled on it; else names of more than 1 KiB are not
 * demangled. */
void xc_demangle_here(uint64_t stack);

/* Did rustc mangle the name, by its v0 scheme or by the legacy one? The legacy scheme is that of C++ with a hash as
 * the last component. */
bool xc_demangle_is_rust(const char *name);

#endif
