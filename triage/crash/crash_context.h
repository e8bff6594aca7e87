/* crash_context: what every rule about a death looks at: the fault, the crashed stack, the last words, the heap; and how a rule says what it
 * found.
 *
 * A rule is a function of the inquiry. It reads, and adds to the report's verdict: a class when its condition holds (the first
 * that does wins), or evidence, expression and origin once there is a class. Strings are copied into the report. */
#ifndef XC_CRASH_CONTEXT_H
#define XC_CRASH_CONTEXT_H

#include "core/report/report.h"
#include "dwarf/stack/variable.h"
#include "heap/blocks/heap.h"
#include "triage/crash/blame.h"
#include "triage/crash/fault.h"

enum { XC_CRASH_FRAMES = 256 };

struct xc_body_cache;
struct xc_cause_rule;

struct xc_crash_context {
	struct xc_report *report;
	struct xc_verdict *verdict; /* the report's */
	struct xc_process *process;
	struct xc_unwinder *unwinder;
	const struct xc_thread *thread;  /* that died, or, of a process that stood still, that one looks at */
	const struct xc_thread *faulted; /* that the fault is of */
	struct xc_heap *heap;            /* walked; NULL: not to be asked */
	struct xc_fault fault;
	const struct xc_cause_rule
		*rules;          /* in the order in which they are tried; the last has no function (cause_rule.h) */
	struct xc_frame *frames; /* of the crashed stack, from fault.frame outward; in the report's arena */
	size_t frame_count;      /* 0: not unwound */
	struct xc_body_cache *bodies; /* functions that rules have read the code of (body_cache.h); of all of them */
	const char *stop;             /* why the stack ends; NULL: cut at XC_CRASH_FRAMES */
	struct xc_blame blame;        /* the frame to look at first; .place is NULL when none is known */
	size_t blamed;                /* its index in frames; meaningful when blame.place */
	uint64_t pointer;             /* the bad one's own value, without index and offset; 0: not known */
	const struct xc_type *pointer_type; /* of what was passed on; NULL: not known */
	size_t passed; /* the outermost frame that passed it on, or the pointer that it was read through; 0: none is known */
};

/* Begin with the crashed thread of a core; false when there is none, or no signal. heap may be NULL. Ended by xc_crash_context_fini. */
bool xc_crash_context_init(struct xc_crash_context *crash, struct xc_report *report, struct xc_process *process,
			   struct xc_heap *heap);
void xc_crash_context_fini(struct xc_crash_context *crash);

/* The verdict's class. kind may be NULL: the class has no kinds, or it is not known which; severity "info" to "critical", confidence
 * "certain", "likely", "guess"; cause, a sentence, may be NULL. Replaces what was said before. */
void xc_crash_context_classify(struct xc_crash_context *crash, const char *class_name, const char *kind,
			       const char *severity, const char *confidence, const char *cause);

/* Did another process send the signal? */
bool xc_crash_context_sent_by_other(const struct xc_crash_context *crash);

/* Is this the class of the verdict? */
bool xc_crash_context_is(const struct xc_crash_context *crash, const char *class_name);

/* The name in `names` (NULL-terminated) that the innermost of the crashed stack's first 40 frames, inlined ones too, is called;
 * NULL when none is. */
const char *xc_crash_context_find_name(const struct xc_crash_context *crash, const char *const *names);

/* The index of that frame; frame_count when none is called so. */
size_t xc_crash_context_find_frame(const struct xc_crash_context *crash, const char *const *names);

/* Blame frames[index] and, in it, the innermost function that is not of a language's own library (std::vector<T>::at, inlined): the caller
 * of such frames when all of it is. Nothing changes when no frame is left. */
void xc_crash_context_blame(struct xc_crash_context *crash, size_t index);

/* Where frames[index] stands in the program. */
const struct xc_place *xc_crash_context_place(const struct xc_crash_context *crash, size_t index);

/* What the function to blame is called; "a function without a name" when that is not known. */
const char *xc_crash_context_culprit(const struct xc_crash_context *crash);

/* The context that values of frames[index] are read in. */
struct xc_frame_context xc_crash_context_frame(const struct xc_crash_context *crash, size_t index);

#endif
