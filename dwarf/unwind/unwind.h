/* unwind: from a thread's registers to its callers, frame by frame.
 *
 * Each step is tried in order of trust: call frame information (.eh_frame of the module, .debug_frame of its debug
 * file), the frame pointer, a scan of the stack for a return address. Rules of call frame information
 * are looked up once per address and kept as rows, so equal frames of many threads cost memory reads only.
 *
 * Why libdw's CFI and not libunwind here: libunwind steps, libdw tells rules. Rules can be cached by address,
 * evaluated over any register set (foreign machines too), and say which registers are lost; libunwind's step falls
 * back to the frame pointer silently and returns stale caller-saved registers. libunwind over our space is
 * the second opinion in tests/unit. Not thread-safe. */
#ifndef XC_UNWIND_H
#define XC_UNWIND_H

#include "core/process/process.h"

enum xc_trust {
	XC_TRUST_CONTEXT, /* registers as the kernel saved them */
	XC_TRUST_CFI,
	XC_TRUST_FP,     /* frame pointer chain: the caller is likely right, its registers mostly unknown */
	XC_TRUST_SCAN,   /* a word on the stack that looks like a return address: a guess */
	XC_TRUST_PLUGIN, /* by what a plugin told of its callee's code (foreign_frame.h) */
};

struct xc_frame {
	unsigned index; /* physical frames from 0, inline ones not counted */
	xc_addr pc;
	xc_addr cfa; /* canonical frame address: sp of the caller before its call */
	bool cfa_known;
	bool signal;     /* this frame is a signal trampoline: its caller was interrupted, not calling */
	bool trampoline; /* and it is one that is told by its code: the registers stand in the signal's frame */
	bool tail_call; /* it left the stack by a tail call: told by call sites, its registers are those of its caller */
	bool tail_partial;   /* and others, between its neighbours that are on the stack, are not known */
	xc_addr tail_return; /* and where it returns to */
	bool interrupted;    /* pc is an exact instruction (innermost, or below a trampoline), not a return address */
	enum xc_trust trust;
	unsigned descents;        /* trampolines behind it that led down the stack or to a lower one */
	struct xc_regs regs;      /* with pc and sp */
	struct xc_module *module; /* of pc, or NULL */
};

struct xc_unwinder;

struct xc_unwinder *xc_unwinder_new(const struct xc_process *process);
void xc_unwinder_free(struct xc_unwinder *unwinder);

/* The innermost frame of a thread. False when its registers are unknown. */
bool xc_unwind_first(struct xc_unwinder *unwinder, const struct xc_thread *thread, struct xc_frame *frame_out);

/* The caller of frame. False at the end, with the reason in *stop_out (static or owned by the unwinder until it is
 * freed): "outermost frame", "0x… not dumped into the core", … frame and caller may be the same struct. */
bool xc_unwind_step(struct xc_unwinder *unwinder, const struct xc_frame *frame, struct xc_frame *caller_out,
		    const char **stop_out);

/* Compute frame->cfa (if not known yet). False when there is no CFI for its pc. */
bool xc_unwind_cfa(struct xc_unwinder *unwinder, struct xc_frame *frame);

/* The address to look names, lines and location lists up by: pc, or pc - 1 for a return address. */
static inline xc_addr xc_frame_lookup(const struct xc_frame *frame)
{
	return frame->interrupted || frame->pc == 0 ? frame->pc : frame->pc - 1;
}

const char *xc_trust_text(enum xc_trust trust); /* "context", "cfi", "fp", "scan", "plugin" */

#endif
