/* writers: the functions of a program that write a variable. */
#ifndef XC_WRITERS_H
#define XC_WRITERS_H

#include "core/base/text.h"
#include "triage/crash/crash_context.h"

/* A variable: a whole one, or a member. */
struct xc_written {
	const char *name; /* as it is told: "this->ready" */
	xc_addr addr;
	uint32_t size;                /* bytes: 1 to 8 */
	const struct xc_type *record; /* whose member it is; NULL: of none */
	uint64_t offset;              /* in the record */
	bool cleared;                 /* only instructions that write the constant 0 are looked for */
};

enum { XC_WRITERS = 4, XC_WRITER_LINES = 3 };

/* Instructions that write it, in different functions. */
struct xc_writers {
	xc_addr at[XC_WRITERS];
	unsigned lines[XC_WRITERS][XC_WRITER_LINES]; /* of the function's instructions that do; 0: no more */
	size_t count;
	bool likely;  /* one of them writes through a pointer */
	bool perhaps; /* one of them has no pointer to the record, but leads to one: it may be another's member */
	bool cleared; /* as asked */
};

/* Functions with an instruction that writes it: at its address; or as a member, in a function with a pointer to such a
 * record among its arguments and variables, or among those of a function inlined there; or with an argument that leads
 * to a record that has such a pointer. Those of the place's compilation unit first, then those of the module's other
 * units. Not the record's constructors. False: none was found; others may write it, by other pointers or in other
 * modules. Decodes 256 KiB of code at most, with 256 slices: some 10 ms, 100 at most. */
bool xc_writers_find(const struct xc_crash_context *crash, const struct xc_place *place,
		     const struct xc_written *written, struct xc_writers *out);

/* Append "is written in set (job.c:8, 12) and reset (job.c:20)"; "is likely set to NULL in …". Three are named, with
 * their first lines. */
void xc_writers_text(const struct xc_crash_context *crash, const struct xc_writers *writers, struct xc_text *text);

/* Does the function of pc, where an instruction begins, set it to 0 before, as the last that writes it, and set it
 * again behind? By the order of addresses. */
bool xc_writers_is_between(const struct xc_crash_context *crash, const struct xc_written *written, xc_addr pc);

/* The function of the program, inlined or not, that has an instruction; NULL: without a name. */
const char *xc_writers_function(const struct xc_crash_context *crash, xc_addr at);

#endif
