/* rust_release: code that gives a lock of Rust back, where the compiler has inlined the drop of the guard; and guards
 * that a function is done with. */
#ifndef XC_RUST_RELEASE_H
#define XC_RUST_RELEASE_H

#include "dwarf/unwind/unwind.h"
#include "triage/code/body.h"

enum xc_rust_release {
	XC_RUST_RELEASE_UNKNOWN,
	XC_RUST_RELEASE_FOLLOWS, /* it gives the lock back before it takes it again: it likely has it */
	XC_RUST_RELEASE_PAST,    /* it likely gave it back already, and no way leads to code that does */
};

/* Does the function of the frame take the std::sync::Mutex or RwLock at this address, and does its code from the
 * frame's position on give it back? The address must be an offset from a register that calls preserve, or from a word
 * of the frame's stack. The body is that of the function; NULL: unknown. O(instructions). x86-64 only. */
enum xc_rust_release xc_rust_release(const struct xc_body *body, const struct xc_frame *frame, xc_addr lock);

/* Of a frame that waits for the lock: has its function taken it before, and not given it back, whatever way led here?
 * A function that was inlined may take it again. False also where its guard may have left the function, by a call that
 * drops one or that is given the lock's address. Likewise. */
bool xc_rust_release_took(const struct xc_body *body, const struct xc_frame *frame, xc_addr lock);

/* Is the function done with what was at these addresses of its frame, as with a guard that was dropped or given away
 * to be dropped: has it called that, and does no way from the frame's position on lead to an instruction that uses one
 * of them? False when not known. Likewise. */
bool xc_rust_release_is_done(const struct xc_body *body, const struct xc_frame *frame, xc_addr from, xc_addr to);

/* Does the function drop a guard that is at these addresses of its frame, and is it not yet done with it? "Past" also
 * when it drops guards elsewhere only: then what looks like a guard there is a copy of its words. Likewise. */
enum xc_rust_release xc_rust_release_of_guard(const struct xc_body *body, const struct xc_frame *frame, xc_addr from,
					      xc_addr to);

#endif
