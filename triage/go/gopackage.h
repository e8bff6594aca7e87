/* gopackage: whose package a function of Go is of, by the name that the linker gave it. */
#ifndef XC_GOPACKAGE_H
#define XC_GOPACKAGE_H

#include <stdbool.h>
#include <string.h>

/* A NULL name begins with nothing. */
static inline bool xc_gopackage_begins(const char *name, const char *prefix)
{
	return name && strncmp(name, prefix, strlen(prefix)) == 0;
}

/* Is it of the run-time: package runtime, or one below it? False for NULL. */
bool xc_gopackage_is_runtime(const char *function);

/* Is it of the standard library, the run-time included ("net/http.(*conn).serve"), or made by the compiler ("type..eq.main.key")? False for
 * what has no package ("memeqbody", C), and NULL. A module of somebody's own that is called like a part of the library ("image/cache") cannot be
 * told from it. */
bool xc_gopackage_is_standard(const char *function);

/* Is it a source file of the standard library, as -trimpath leaves its path ("./internal/bytealg/equal_amd64.s")? False for whole
 * paths, and NULL. */
bool xc_gopackage_is_standard_file(const char *file);

#endif
