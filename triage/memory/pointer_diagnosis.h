/* pointer_diagnosis: what a bad pointer is: freed, past the end of a block, text, poison, one bit away from a good one, of a returned frame. */
#ifndef XC_POINTER_DIAGNOSIS_H
#define XC_POINTER_DIAGNOSIS_H

#include "triage/crash/crash_context.h"
#include "triage/dataflow/pointers.h"

/* A value that the faulting instruction used as an address, or as part of one. */
struct xc_suspect {
	const char *who; /* "rax", "the target", "the address" */
	uint64_t value;
	int reg;     /* -1: none */
	bool inside; /* the address itself, in a library function: the pointer that was handed over lies a bit below */
};

enum { XC_SUSPECTS = 2 };

struct xc_pointer_diagnosis {
	struct xc_crash_context *crash;
	struct xc_suspect suspects[XC_SUSPECTS];
	size_t suspect_count;
	struct xc_pointers pointers; /* that the crashed code had at hand */
};

/* Find out and tell: raises the class to use-after-free or heap-overrun where the heap shows that, adds evidence, and to the cause what
 * explains it best. Says nothing of deaths that no memory access brought about. Behind the rules that give the class. */
void xc_pointer_diagnosis_report(struct xc_crash_context *crash);

/* ---- its parts: each tells its story when that is it ---- */

/* A block that was freed: reached directly, or the value was read out of it. */
bool xc_freed_block_diagnose(struct xc_pointer_diagnosis *story);

/* A block that had a mapping of its own, which went when it was freed. */
bool xc_unmapped_block_diagnose(struct xc_pointer_diagnosis *story);

/* A block that was left over its end, or before its beginning. */
bool xc_block_overrun_diagnose(struct xc_pointer_diagnosis *story);

/* A text that was written over a pointer. */
bool xc_text_overwrite_diagnose(struct xc_pointer_diagnosis *story);

/* A frame that has returned. */
bool xc_returned_frame_diagnose(struct xc_pointer_diagnosis *story);

/* The explanation, behind what the cause says already. */
void xc_pointer_diagnosis_explain(struct xc_pointer_diagnosis *story, const char *format, ...) XC_PRINTF(2, 3);

/* The cause, when it speaks of the source's own expressions, which it does in backquotes; else NULL. */
const char *xc_pointer_diagnosis_cause(const struct xc_crash_context *crash);

/* "medium" becomes "high", and so on. */
void xc_pointer_diagnosis_raise(struct xc_pointer_diagnosis *story);

#endif
