/* pointers: the possible pointers of the crashed code: registers, variables, words of its frames. */
#ifndef XC_POINTERS_H
#define XC_POINTERS_H

#include "triage/crash/crash_context.h"

/* A candidate. */
struct xc_pointer {
	uint64_t value;
	int reg;                    /* of the interrupted frame; -1: it is in memory */
	xc_addr at;                 /* its address, when reg is -1 and it is not a variable; else 0 */
	const char *name;           /* of the variable; NULL: none */
	const struct xc_type *type; /* of the variable: a pointer, or a class that is no more than one; else NULL */
	size_t frame;               /* of the variable: index into crash->frames */
};

enum { XC_POINTERS = 1024 };

struct xc_pointers {
	struct xc_pointer *items; /* in the report's arena: variables, then registers, then words */
	size_t count;
};

/* Collect from the innermost frames, up to the blamed one; words only from a few. At most XC_POINTERS; values below
 * 64 KiB, which cannot be pointers, are left out. */
void xc_pointers_collect(const struct xc_crash_context *crash, struct xc_pointers *out);

/* The variables alone, of so many frames. */
void xc_pointers_variables(const struct xc_crash_context *crash, size_t frames, struct xc_pointers *out);

/* Append "n (struct node *)", "rbx", "a word of the stack". */
void xc_pointers_text(const struct xc_crash_context *crash, const struct xc_pointer *pointer, struct xc_text *text);

#endif
