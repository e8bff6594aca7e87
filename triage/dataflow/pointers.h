/* pointers: what the crashed code had at hand that may be a pointer: registers, variables, words of its frames. */
#ifndef XC_POINTERS_H
#define XC_POINTERS_H

#include "triage/crash/crash_context.h"

/* A value that somebody held. */
struct xc_pointer {
	uint64_t value;
	int reg;                    /* of the interrupted frame; -1: it stands in memory */
	xc_addr at;                 /* where, when reg is -1 and it is no variable; else 0 */
	const char *name;           /* of the variable; NULL: none */
	const struct xc_type *type; /* of the variable: a pointer; NULL for registers and words */
};

enum { XC_POINTERS = 1024 };

struct xc_pointers {
	struct xc_pointer *items; /* in the report's arena: variables, then registers, then words */
	size_t count;
};

/* Of the innermost frames, up to the one to look at first. At most XC_POINTERS; values that no pointer can be (below 64 KiB) are left
 * out. */
void xc_pointers_collect(const struct xc_crash_context *crash, struct xc_pointers *out);

/* Append "n (struct node *)", "rbx", "a word of the stack". */
void xc_pointers_text(const struct xc_crash_context *crash, const struct xc_pointer *pointer, struct xc_text *text);

#endif
