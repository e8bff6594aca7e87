/* gopackage: the package of a Go function, by its linker name. */
#ifndef XC_GOPACKAGE_H
#define XC_GOPACKAGE_H

#include <stdbool.h>
#include <string.h>

/* A NULL name begins with nothing. */
static inline bool xc_gopackage_begins(const char *name, const char *prefix)
{
	return name && strncmp(name, prefix, strlen(prefix)) == 0;
}

/* Is it a function of the runtime: package runtime, or one below it? False for NULL. */
bool xc_gopackage_is_runtime(const char *function);

/* Is it a function of the standard library, the runtime included ("net/http.(*conn).serve"), or made by the compiler
 * ("type..eq.main.key")? False for NULL, and for functions without a package ("memeqbody", C). A user's module with
 * the name of a library package ("image/cache") cannot be distinguished from it. */
bool xc_gopackage_is_standard(const char *function);

/* Is it a source file of the standard library, with a path as -trimpath leaves it
 * ("./internal/bytealg/equal_amd64.s")? False for absolute paths, and NULL. */
bool xc_gopackage_is_standard_file(const char *file);

#endif
