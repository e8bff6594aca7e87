/* rust_release: code that gives a lock of Rust back, where the compiler has inlined the drop of the guard. */
#ifndef XC_RUST_RELEASE_H
#define XC_RUST_RELEASE_H

#include "dwarf/unwind/unwind.h"
#include "triage/code/body.h"

/* Does the function of the frame take the std::sync::Mutex at this address, and does its code from the frame's position
 * on give it back before it takes it again? Then it likely has it. The address must be an offset from a register that
 * calls preserve, or from a word of the frame's stack. The body is that of the function. O(instructions). x86-64
 * only. */
bool xc_rust_release_follows(const struct xc_body *body, const struct xc_frame *frame, xc_addr lock);

#endif
