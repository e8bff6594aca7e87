/* unwind: from a thread's registers to its callers, frame by frame.
 *
 * Each step uses the most trusted source available: call frame information (.eh_frame of the module, .debug_frame of
 * its debug file), then the code with which the function will return, its frame pointer, or a scan of the stack for a
 * return address. Rules of call frame information are looked up once per address and kept as rows, so equal frames of
 * many threads cost only memory reads.
 *
 * Rows are used instead of libunwind because they can be kept by address, evaluated over any register set (also of
 * foreign machines), and show which registers are lost. libunwind's step silently falls back to the frame pointer and
 * returns stale caller-saved registers. libunwind over xcore's address space is the second opinion of
 * dwarf/stack/second_opinion.h and of tests/integration/dwarf/unwind. Not thread-safe. */
#ifndef XC_UNWIND_H
#define XC_UNWIND_H

#include "core/process/process.h"

enum xc_trust {
	XC_TRUST_CONTEXT, /* registers as the kernel saved them */
	XC_TRUST_CFI,
	/* frame pointer chain, or from sp by the function's code: the caller is likely right, its registers mostly
	 * unknown */
	XC_TRUST_FP,
	XC_TRUST_SCAN,   /* a word on the stack that looks like a return address: a guess */
	XC_TRUST_PLUGIN, /* by unwinding information of a plugin for its callee's code (foreign_frame.h) */
};

struct xc_frame {
	unsigned index; /* physical frames from 0, inline ones not counted */
	xc_addr pc;
	xc_addr cfa; /* canonical frame address: sp of the caller before its call */
	bool cfa_known;
	bool cfa_by_code; /* from sp and the function's code: the frame pointer was not known */
	/* the frame pointer is not known, but if nothing has changed it, its value is what was left (regs.h) */
	bool fp_left;
	bool signal;     /* this frame is a signal trampoline: its caller was interrupted, not calling */
	bool trampoline; /* and one recognized by its code: the registers are in the signal's frame */
	/* it left the stack by a tail call: known from call sites, its registers are those of its caller */
	bool tail_call;
	bool tail_partial;   /* and further frames between its neighbours on the stack are unknown */
	xc_addr tail_return; /* and this is its return address */
	/* pc is the current instruction (innermost, or below a trampoline), not a return address */
	bool interrupted;
	bool first; /* nothing called it: its stack was begun by hand, and pc was put there as a return address */
	enum xc_trust trust;
	unsigned descents;        /* trampolines so far that led down the stack or to a lower one */
	struct xc_regs regs;      /* with pc and sp */
	struct xc_module *module; /* of pc, or NULL */
};

struct xc_unwinder;

struct xc_unwinder *xc_unwinder_new(const struct xc_process *process);
void xc_unwinder_free(struct xc_unwinder *unwinder);

/* Guesses again: an unwinder gives up to guess (scans of the stack, mostly) after half a second of it in total. For
 * stacks that come one after the other over a long time. */
void xc_unwinder_renew(struct xc_unwinder *unwinder);

/* Forgets what the instructions at an address were: other code may be there now. */
void xc_unwinder_forget(struct xc_unwinder *unwinder);

/* The innermost frame of a thread. False when its registers are unknown. */
bool xc_unwind_first(struct xc_unwinder *unwinder, const struct xc_thread *thread, struct xc_frame *frame_out);

/* The innermost frame of code that was switched away from by a call, with these registers: pc is the address to which
 * that call returns; or the first of a function that has not run yet. False when pc is not known. */
bool xc_unwind_parked(struct xc_unwinder *unwinder, const struct xc_regs *regs, struct xc_frame *frame_out);

/* The caller of frame; both may be the same struct. False at the end, with the reason in *stop_out (static, or owned
 * by the unwinder until it is freed): "outermost frame", "0x… not dumped into the core", … */
bool xc_unwind_step(struct xc_unwinder *unwinder, const struct xc_frame *frame, struct xc_frame *caller_out,
		    const char **stop_out);

/* Compute frame->cfa, if it is not known yet. False when there is no call frame information for its pc. */
bool xc_unwind_cfa(struct xc_unwinder *unwinder, struct xc_frame *frame);

/* The address for look-ups of names, lines and location lists: pc, or pc - 1 for a return address. */
static inline xc_addr xc_frame_lookup(const struct xc_frame *frame)
{
	return frame->interrupted || frame->pc == 0 ? frame->pc : frame->pc - 1;
}

const char *xc_trust_text(enum xc_trust trust); /* "context", "cfi", "fp", "scan", "plugin" */

#endif
