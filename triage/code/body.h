/* body: a function's instructions, all of its pieces, and who leads to whom. */
#ifndef XC_BODY_H
#define XC_BODY_H

#include "core/base/arena.h"
#include "triage/code/insn.h"

struct xc_body_edge {
	size_t to, from; /* indexes: the instruction at `from` jumps to that at `to` */
};

struct xc_body_call {
	size_t insn;
	bool asked;
	const char *name;
	xc_addr addr;
};

struct xc_body {
	const struct xc_process *process;
	struct xc_insn *insns; /* in the order of addresses */
	size_t count;
	struct xc_body_edge *edges; /* sorted by `to` */
	size_t edge_count;
	struct xc_body_call
		*calls; /* calls and jumps, in the order of instructions: who is called, as far as it was asked */
	size_t call_count;
	size_t entry;    /* index of the function's first instruction */
	bool jumps_wild; /* through a register or memory: its targets are not known */
	bool incomplete; /* bytes that could not be had or are no instructions: there may be edges that are not known */
};

enum { XC_BODY_MAX = 128 << 10, XC_BODY_NONE = -1 }; /* bytes of code that are decoded at most */

/* The function round an address, decoded. NULL when it is not known where it begins, it is larger than XC_BODY_MAX, or this machine's
 * code does not decode. Lives in the arena. */
struct xc_body *xc_body_read(const struct xc_process *process, xc_addr addr, struct xc_arena *arena);

/* Is a byte of an instruction there? */
bool xc_body_holds(const struct xc_body *body, xc_addr addr);

/* The instruction at an address, or the one that ends there; XC_BODY_NONE when there is none. */
long xc_body_at(const struct xc_body *body, xc_addr addr);
long xc_body_before(const struct xc_body *body, xc_addr addr);

/* The first edge that leads to an instruction: the others stand behind it; edge_count or one of another `to` when none does. */
size_t xc_body_first_edge(const struct xc_body *body, size_t to);

/* Is it the call of a function that does not return: abort(), exit(), __cxa_throw() …? */
bool xc_body_never_returns(const struct xc_body *body, const struct xc_insn *insn);

/* Does the instruction before it in memory go on to it? */
bool xc_body_falls_into(const struct xc_body *body, size_t at);

/* The name of the function that a call or jump goes to, without its parameters: directly, through a stub (PLT), or through a slot that
 * holds its address now, or will as the dynamic linker has it; NULL when not known. *addr_out (may be NULL) gets where it begins, or 0.
 * Lives as long as the process. Of the body's own instructions the answer is kept. */
const char *xc_body_callee(const struct xc_body *body, const struct xc_insn *insn, xc_addr *addr_out);

#endif
