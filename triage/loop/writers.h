/* writers: the functions of a file that write a variable. */
#ifndef XC_WRITERS_H
#define XC_WRITERS_H

#include "core/base/text.h"
#include "triage/crash/crash_context.h"

/* A variable that is tested: a whole one, or a member. */
struct xc_written {
	const char *name; /* as it is told: "this->ready" */
	xc_addr addr;
	uint32_t size;                /* bytes: 1 to 8 */
	const struct xc_type *record; /* whose member it is; NULL: of none */
	uint64_t offset;              /* in the record */
};

/* Append "is written in set (job.c:8) and reset (job.c:20)": functions of the compilation unit of the place, at most 3,
 * with an instruction that writes it: at its address; or as a member, in a function with a pointer to such a record
 * among its arguments, which is told as likely; or with one to a record that has such a pointer: as perhaps. Not the
 * record's constructors. False, with nothing appended, when none was found: others may write it, by other pointers or
 * in other files. Decodes 256 KiB of code at most: some 10 ms. */
bool xc_writers_find(const struct xc_crash_context *crash, const struct xc_place *place,
		     const struct xc_written *written, struct xc_text *text);

#endif
