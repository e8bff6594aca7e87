/* complete: completions at the cursor: fields of the value before the dot, functions and methods of the API,
 * variables, types and functions of the target inside t:var "…", t:type "…", t:symbol "…", globals and keywords of
 * Lua. */
#ifndef XC_COMPLETE_H
#define XC_COMPLETE_H

#include "lua/vm/host.h"

enum { XC_COMPLETE_MAX = 200 };

struct xc_completions {
	char **words; /* sorted, each once; owned */
	size_t count, capacity;
	size_t start; /* in the line: start of the word that they replace */
	bool more;    /* there are more than XC_COMPLETE_MAX */
};

/* Fill `out` for the first `len` bytes of a line. Reads memory of values before a dot; never calls functions of the
 * script. */
void xc_complete_line(struct xc_host *host, const char *line, size_t len, struct xc_completions *out);

/* The length of the common prefix of all words. */
size_t xc_completions_common(const struct xc_completions *completions);
void xc_completions_fini(struct xc_completions *completions);

#endif
