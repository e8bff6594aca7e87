/* crash_context: the input of all rules about a death: the fault, the crashed stack, the abort message, the heap;
 * and how a rule reports what it found.
 *
 * A rule is a function of the crash context. It reads, and adds to the verdict of the report: a class when its
 * condition holds (the first such rule wins), or evidence, expression and origin once there is a class. Strings are
 * copied into the report. */
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
struct xc_derefs;
struct xc_source_reader;

struct xc_crash_context {
	struct xc_report *report;
	struct xc_verdict *verdict; /* the report's */
	struct xc_process *process;
	struct xc_unwinder *unwinder;
	const struct xc_thread *thread;  /* that died; of a hung process, the one to look at */
	const struct xc_thread *faulted; /* that raised the fault */
	struct xc_heap *heap;            /* walked; NULL: not to be used */
	struct xc_fault fault;
	const struct xc_cause_rule
		*rules;          /* in the order in which they are tried; the last has no function (cause_rule.h) */
	struct xc_frame *frames; /* of the crashed stack, outward from fault.frame; in the report's arena */
	size_t frame_count;      /* 0: not unwound */
	struct xc_body_cache *bodies;       /* functions whose code the rules have read (body_cache.h) */
	struct xc_source_reader *source;    /* lines of the sources */
	const char *stop;                   /* why the stack ends; NULL: cut at XC_CRASH_FRAMES */
	struct xc_blame blame;              /* the frame to look at first; .place is NULL when none is known */
	size_t blamed;                      /* its index in frames; meaningful when blame.place */
	uint64_t pointer;                   /* value of the bad pointer, without index and offset; 0: not known */
	bool number;                        /* the bad pointer is a small number, and no offset from NULL */
	bool number_likely;                 /* meaningful with it: that is not certain */
	bool no_access;                     /* no instruction raised the signal: what it would access says nothing */
	bool by_errno;                      /* errno may say why it is none: a call returned it, or it is a stream */
	bool unset;                         /* it is likely a member that was never set */
	bool wrapped;                       /* the size of a block that was overrun likely wrapped: it has been told */
	bool outside;                       /* it, or what was accessed, is no element of its array */
	const struct xc_type *pointer_type; /* of the pointer as it was passed; NULL: not known */
	const struct xc_derefs *derefs;     /* the way of the bad value (deref.h); NULL: not known */
	const char *stated_file;            /* where the program itself says that it happened; NULL: it does not */
	unsigned stated_line;
	xc_addr broken;  /* the object of the program that is not valid and led to the fault; 0: none is known */
	bool off_thread; /* the blamed frame is of no thread: of a goroutine that waits */
	size_t passed;   /* the outermost frame that passed it, or the pointer it was read through; 0: none is known */
};

/* Start with the crashed thread of a core. False when there is none, or no signal. heap may be NULL. Free with
 * xc_crash_context_fini. */
bool xc_crash_context_init(struct xc_crash_context *crash, struct xc_report *report, struct xc_process *process,
			   struct xc_heap *heap);
void xc_crash_context_fini(struct xc_crash_context *crash);

/* Set the class of the verdict; replaces an earlier one. kind is NULL when the class has no kinds or the kind is not
 * known. severity: "info" to "critical"; confidence: "certain", "likely", "guess". cause, a sentence, may be NULL. */
void xc_crash_context_classify(struct xc_crash_context *crash, const char *class_name, const char *kind,
			       const char *severity, const char *confidence, const char *cause);

/* Is the class that of a signal that ends, or dumps, and says nothing else: killed, dump-request, sent-by-user? */
bool xc_crash_context_is_signalled(const struct xc_crash_context *crash);

/* Did another process send the signal, or the one that a handler sent again? */
bool xc_crash_context_sent_by_other(const struct xc_crash_context *crash);

/* Is this the class of the verdict? */
bool xc_crash_context_is(const struct xc_crash_context *crash, const char *class_name);

/* Is the class that of an access to memory at an address that is not good for it: wild, near NULL, protected, past the
 * end of a block? */
bool xc_crash_context_is_access(const struct xc_crash_context *crash);

/* Is the class that of an access near NULL, or of a call of it? */
bool xc_crash_context_is_null(const struct xc_crash_context *crash);

/* The name in `names` (NULL-terminated) of the innermost matching frame, inlined functions included, among the first
 * 40 frames of the crashed stack. NULL when there is none. */
const char *xc_crash_context_find_name(const struct xc_crash_context *crash, const char *const *names);

/* The index of that frame; frame_count when there is none. */
size_t xc_crash_context_find_frame(const struct xc_crash_context *crash, const char *const *names);

/* Blame frames[index] and, in it, the innermost function that is not of a language's own library
 * (std::vector<T>::at, inlined). Frames that consist of library code only are skipped outward. Changes nothing when
 * no frame is left. */
void xc_crash_context_blame(struct xc_crash_context *crash, size_t index);

/* The place of frames[index] in the program. */
const struct xc_place *xc_crash_context_place(const struct xc_crash_context *crash, size_t index);

/* The name of the blamed function; "a function without a name" when it is not known. */
const char *xc_crash_context_culprit(const struct xc_crash_context *crash);

/* The context in which values of frames[index] are read. */
struct xc_frame_context xc_crash_context_frame(const struct xc_crash_context *crash, size_t index);

#endif
