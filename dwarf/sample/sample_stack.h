/* sample_stack: the stack of a thread at the instant of a sample, from the registers and the part of its stack that the
 * kernel copied then, and from the live memory behind.
 *
 *   registers, copy ─→ a window in front of the process's memory (xc_live_show) ─→ the unwinder
 *   above the copy: read once, now ─→ accepted if each call there has led to its callee, up to the outermost frame
 *
 * A frame that lies above the copy was read later than the sample, and its caller may be another one by then. It is
 * believed only if the code at its return address calls its callee directly, or, where it calls through a pointer, if
 * that word of the thread's stack has had the same value and callee in many samples, each change of it making that many
 * more (the outer end of a stack does not change).
 * If one frame is not believed, the stack is told as cut where the copy ends. */
#ifndef XC_SAMPLE_STACK_H
#define XC_SAMPLE_STACK_H

#include "core/perf/perf_record.h"
#include "core/process/process.h"

enum xc_sample_end {
	XC_SAMPLE_WHOLE,  /* up to the outermost frame */
	XC_SAMPLE_CUT,    /* the copy ends below the outermost frame, and what is above could not be proved */
	XC_SAMPLE_BROKEN, /* the unwinder did not find a caller */
	XC_SAMPLE_DEEP,   /* more frames than are kept, or than there was time for; the outer ones are missing */
	XC_SAMPLE_NONE,   /* no user registers */
	XC_SAMPLE_ENDS,   /* their number */
};

/* A frame of a stack. Equal places are equal pairs of `at` and `kind`. */
struct xc_sample_frame {
	xc_addr at; /* the address for look-ups of names: of the instruction, or of the call; GUEST: a place's number;
		       VALUE: its number */
	enum xc_sample_kind {
		XC_SAMPLE_CODE,
		XC_SAMPLE_GUESS,
		XC_SAMPLE_SIGNAL,
		XC_SAMPLE_KERNEL,
		XC_SAMPLE_GUEST, /* of an interpreted language (sample_guest.h) */
		XC_SAMPLE_VALUE, /* no frame: the value (sample_values.h) by which the stack is told from equal ones;
				  * the last one */
	} kind;
};

enum { XC_SAMPLE_FRAMES = 4096 };

struct xc_sample_stack {
	struct xc_sample_frame frames[XC_SAMPLE_FRAMES]; /* innermost first, the kernel's before the user's */
	size_t count, kernel_count;
	enum xc_sample_end end;
	bool late;      /* some frames were read after the sample */
	bool guest;     /* some are of an interpreted language, */
	bool torn;      /* and were not of the sample any more: what is not proved is left out, and a frame says so */
	bool full;      /* and did not all fit: the end is DEEP */
	uint32_t value; /* of the dimension that is asked for (sample_values.h) */
	enum xc_sample_proof {
		XC_PROOF_SAMPLE, /* the value is of the sample: of registers, or of the copied stack */
		XC_PROOF_BEGAN,  /* it was read later; what it is of began before the sample, or is not the sample's, */
		XC_PROOF_NONE,   /* or may have begun later */
	} proof;
};

/* A value that was read later counts while the call goes on in which it was told. Then the callers wait, so the stack
 * above the frame is as in the sample: it is compared before and after. Both must be soon after another, and without
 * XC_PROOF_BEGAN soon after the sample, or another call might have passed by. */

struct xc_sample_unwinder;
struct xc_sample_guest;

/* Borrows the process, a live one, whose mappings xc_live_remap may change between samples. */
struct xc_sample_unwinder *xc_sample_unwinder_new(struct xc_process *process);
void xc_sample_unwinder_free(struct xc_sample_unwinder *unwinder); /* NULL is fine */

/* Between samples, when code was mapped or unmapped: other code may be at an address now. */
void xc_sample_unwinder_forget(struct xc_sample_unwinder *unwinder);

/* Frames of interpreted languages; borrowed; NULL: none. */
void xc_sample_unwinder_guest(struct xc_sample_unwinder *unwinder, struct xc_sample_guest *guest);

/* For a guest: add a frame at a place of its language, as the caller of those before. A stack that is full takes no
 * more, and tells it. */
void xc_sample_stack_add(struct xc_sample_stack *stack, uint32_t place);

/* Is not even its innermost frame of an interpreted language known? False when there is none. */
bool xc_sample_stack_torn_inside(const struct xc_sample_stack *stack);

/* Tell the stack from those that have another value; once, when it is whole. */
void xc_sample_stack_add_value(struct xc_sample_stack *stack, uint32_t value);

/* Unwind a sample. Reads the target's memory only where the copy ends. O(frames). */
void xc_sample_unwind(struct xc_sample_unwinder *unwinder, const struct xc_perf_record *sample,
		      struct xc_sample_stack *stack_out);

/* Unwind the stack of a thread that sleeps, from its registers and the memory that there is now. */
void xc_sample_unwind_thread(struct xc_sample_unwinder *unwinder, const struct xc_thread *thread,
			     struct xc_sample_stack *stack_out);

/* The same as xc_sample_unwind, and freeze what the stack was unwound from (xc_live_hold), so that it can be unwound
 * again, with variables. False when there is no room for it; then nothing is frozen. */
bool xc_sample_hold(struct xc_sample_unwinder *unwinder, const struct xc_perf_record *sample,
		    struct xc_sample_stack *stack_out);

/* Is the stack of a sample in a mapping that is known? Else xc_live_remap helps. True for samples without registers. */
bool xc_sample_stack_mapped(const struct xc_process *process, const struct xc_perf_record *sample);

#endif
