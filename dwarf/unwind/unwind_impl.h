/* unwind_impl: shared by the files of unwind. */
#ifndef XC_UNWIND_IMPL_H
#define XC_UNWIND_IMPL_H

#include "dwarf/cfi/cfi.h"
#include "dwarf/unwind/epilogue.h"
#include "dwarf/unwind/goruntime.h"
#include "dwarf/unwind/reach.h"
#include "dwarf/unwind/tailcall.h"
#include "dwarf/unwind/unwind.h"

#define XC_OUTERMOST "outermost frame"

#define XC_OUTERMOST_NULL XC_OUTERMOST " (return address 0)"
#define XC_NO_RETURN      "this code keeps no return address on the stack: there is 0 where one would be"

enum { XC_MAX_DESCENTS = 64, XC_EPILOGUES_KEPT = 64, XC_ORDINARY_KEPT = 1024, XC_ENTRIES = 2 };
enum { XC_MAX_GUESSING = 4 << 20 }; /* words scanned and steps looked ahead in total: about half a second */

struct xc_unwinder {
	const struct xc_process *process;
	struct xc_cfi *cfi;
	struct xc_tailcalls *tailcalls;
	uint64_t guessing; /* words scanned and steps looked ahead so far */
	struct xc_goruntime go;
	bool go_asked, go_known;                      /* go_known: it is a Go program */
	xc_addr ordinary[XC_ORDINARY_KEPT];           /* code of modules that is no trampoline, by a hash */
	struct xc_epilogue *epilogues;                /* those read last, by a hash of pc; allocated on first use */
	struct xc_function_range entries[XC_ENTRIES]; /* code with which the program and its dynamic linker begin */
	bool entries_read;
	char stop[160];
	char damage[100]; /* of the thread's stack: the damage that was skipped, for the reason why it ends */
};

/* Move a frame to a code pointer (with Thumb's bit or a signature, on machines that have them) and look up its
 * module. */
void xc_unwind_place(const struct xc_process *process, struct xc_frame *frame, uint64_t pc);
void xc_unwind_describe(struct xc_unwinder *u, struct xc_frame *frame);

/* Mark the general registers of a frame as unknown, except pc, sp and those that never change. */
void xc_unwind_forget(const struct xc_arch *arch, struct xc_regs *regs);

/* Does call frame information contradict this frame: does the stack from here on break off, other than at an
 * outermost frame or where there is no such information? */
bool xc_unwind_refuted(struct xc_unwinder *u, const struct xc_frame *from);

/* Does call frame information lead from this frame to one whose caller's stack pointer is `sp`? Where a frame is found
 * by its frame pointer, its code must also make a frame of just that size. */
bool xc_unwind_leads_to(struct xc_unwinder *u, const struct xc_frame *from, xc_addr sp);

/* The caller of a frame whose pc is not code (a call through a bad pointer), and of one without call frame
 * information. *stop_out, NULL before, is set when the stack is known to end there. */
bool xc_unwind_bad_call(struct xc_unwinder *u, const struct xc_frame *frame, struct xc_frame *caller);
bool xc_unwind_guess(struct xc_unwinder *u, const struct xc_frame *frame, struct xc_frame *caller,
		     const char **stop_out);

/* The caller by the code with which the frame's function will return (epilogue.h). */
bool xc_unwind_way_out(struct xc_unwinder *u, const struct xc_frame *frame, struct xc_frame *caller,
		       const char **stop_out);

/* Shared by the two: a caller whose registers are those of frame but for pc and sp. Can a call have left `ret`, or is
 * it the trampoline of a signal handler? A word of memory. */
void xc_unwind_guessed(struct xc_unwinder *u, const struct xc_frame *frame, enum xc_trust trust, uint64_t pc,
		       xc_addr sp, struct xc_frame *caller);
bool xc_unwind_returns(const struct xc_process *process, uint64_t ret, xc_addr *target_out);
bool xc_unwind_load(const struct xc_process *process, xc_addr addr, uint64_t *value_out);

/* Shared, too, for machines that push return addresses. Did the function whose return address is at `ret_at` begin by
 * pushing its caller's frame pointer? Then the word below leads up to another such pair: that pointer. And does a
 * frame pointer lead to such a pair above `ret_at`? */
bool xc_unwind_pushed_pointer(const struct xc_process *process, xc_addr ret_at, uint64_t *fp_out);
bool xc_unwind_is_chained(const struct xc_process *process, uint64_t fp, xc_addr ret_at);

/* The caller's stack pointer, where `ret` is at `ret_at`. gcc realigns the stack of a function and copies its return
 * address to above the pushed frame pointer: the caller's frame ends further up, as the word below that pointer tells.
 */
xc_addr xc_unwind_sp_above(const struct xc_process *process, xc_addr ret_at, uint64_t ret);

/* The frame pointer, or what was left of it where it is not known: after a guess, which tells nothing of what the
 * function did with it. A chain is looked for there, but it is not shown as a value. */
bool xc_unwind_pointer(const struct xc_process *process, const struct xc_frame *frame, uint64_t *fp_out);

/* The reason why a stack ends at a return address of 0 that a function's code shows, at `ret_at`. x86-64: calls put
 * return addresses at odd multiples of 8, for the ABI; code with a stack of its own, as GHC's, has anything there. */
static inline const char *xc_unwind_null_return(const struct xc_process *process, xc_addr ret_at)
{
	bool called = !xc_arch_is_x86_64(process->arch) || ret_at % 16 == 8;
	return called ? XC_OUTERMOST_NULL : XC_NO_RETURN;
}

/* May the code at a return address use the frame pointer as such: does it set it up, as far as that is known? */
bool xc_unwind_keeps_pointer(struct xc_unwinder *u, xc_addr ret);

/* Was the stack begun at this return address by hand, as makecontext() and coroutines do: is it in a module's code
 * where no call ends? frame->cfa_known is not needed. */
bool xc_unwind_made_by_hand(struct xc_unwinder *u, struct xc_frame *frame, const struct xc_cfi_row *row);

/* Is the frame in the code with which the program, or its dynamic linker, begins? Nothing called that. */
bool xc_unwind_at_entry(struct xc_unwinder *u, const struct xc_frame *frame);

/* Has the frame no call frame information because it is musl's clone, which calls the thread's function by hand? Then
 * it is the outermost one. */
bool xc_unwind_ends_thread(const struct xc_unwinder *u, const struct xc_frame *frame);

/* x86: the frame depends on a frame pointer that is unknown, as in a live thread, of which the kernel reports only pc
 * and sp. It was pushed below the return address: prefer a return after a call of this very function, then one with
 * a chain of frame pointers below it, then any. */
bool xc_unwind_lost_pointer(struct xc_unwinder *u, const struct xc_frame *frame, struct xc_frame *caller);

/* Adjust a caller that was found by call frame information if the frame is Go code. */
void xc_unwind_go(struct xc_unwinder *u, const struct xc_frame *frame, struct xc_frame *caller);

/* Is its caller an instruction that faulted or was interrupted (sigpanic, asyncPreempt)? And record that in the
 * caller. */
bool xc_unwind_panics(struct xc_unwinder *u, const struct xc_frame *frame);
void xc_unwind_faulted(struct xc_unwinder *u, struct xc_frame *caller);

/* Is the frame in Go's own code, whose functions keep a frame pointer when they call? */
bool xc_unwind_in_go(struct xc_unwinder *u, const struct xc_frame *frame);

/* Is the frame at the place where Go switched to the thread's stack from that of a goroutine? And the goroutine's
 * innermost frame; false with the reason why the stack ends. */
bool xc_unwind_is_switch(struct xc_unwinder *u, const struct xc_frame *frame);
bool xc_unwind_goroutine(struct xc_unwinder *u, const struct xc_frame *frame, struct xc_frame *caller,
			 const char **stop);

/* Scan words from sp up to `limit` for return addresses; with `function`, only for one after a direct call of it.
 * Otherwise the best candidate wins, the first of several as good: first those that are not refuted, among them those
 * whose call can have led here. Returns how good it is, or 0 when there is none. */
enum { XC_SCAN_WORDS = 512, XC_SCAN_BEST = 4 };
unsigned xc_unwind_scan_words(struct xc_unwinder *u, const struct xc_frame *frame, xc_addr function, xc_addr limit,
			      struct xc_frame *caller);
bool xc_unwind_scan(struct xc_unwinder *u, const struct xc_frame *frame, struct xc_frame *caller);

/* The caller, if word `index` above sp is the return address. */
void xc_unwind_at_word(struct xc_unwinder *u, const struct xc_frame *frame, xc_addr ret, xc_addr sp, size_t index,
		       struct xc_frame *caller);

/* Can a call of this target (0: through a pointer) have led to the frame's function (reach.h)? */
bool xc_unwind_is_credible(struct xc_unwinder *u, const struct xc_frame *frame, xc_addr target);

/* Were all instructions of the function up to the frame's pc read, so that its effect on the stack is known? */
bool xc_unwind_in_prologue(const struct xc_process *process, const struct xc_frame *frame);

#endif
