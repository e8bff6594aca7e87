/* body: the instructions of a function, in all of its pieces, and the edges between them. */
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
		*calls; /* calls and jumps, in the order of instructions; the callee is looked up on demand */
	size_t call_count;
	size_t entry;    /* index of the function's first instruction */
	bool jumps_wild; /* through a register or memory: the targets are not known */
	bool incomplete; /* some bytes are missing or do not decode: edges may be missing */
	bool is_go;      /* by its debug information: calls preserve other registers, and may begin it again */
};

enum { XC_BODY_MAX = 128 << 10, XC_BODY_NONE = -1 }; /* bytes of code to decode at most */

/* The function around an address, decoded. NULL when its start is not known, when it is larger than XC_BODY_MAX, or
 * when xcore does not decode code of this machine. Lives in the arena. */
struct xc_body *xc_body_read(const struct xc_process *process, xc_addr addr, struct xc_arena *arena);

/* Is a byte of an instruction at this address? */
bool xc_body_holds(const struct xc_body *body, xc_addr addr);

/* The instruction at an address, or the one that ends there; XC_BODY_NONE when there is none. */
long xc_body_at(const struct xc_body *body, xc_addr addr);
long xc_body_before(const struct xc_body *body, xc_addr addr);

/* The first edge that leads to an instruction; the others follow it. When there is none: edge_count, or an edge with
 * another `to`. */
size_t xc_body_first_edge(const struct xc_body *body, size_t to);

/* Is it the call of a function that does not return: abort(), exit(), __cxa_throw() …? */
bool xc_body_never_returns(const struct xc_body *body, const struct xc_insn *insn);

/* Does the instruction before it in memory fall through to it? */
bool xc_body_falls_into(const struct xc_body *body, size_t at);

/* The name, without parameters, of the function that a call or jump goes to: directly, through a stub (PLT), or
 * through a slot that holds its address now or after dynamic linking. NULL when not known. *addr_out (may be NULL)
 * gets the start of the function, or 0. Lives as long as the process. Answers for the body's own instructions are
 * cached. */
const char *xc_body_callee(const struct xc_body *body, const struct xc_insn *insn, xc_addr *addr_out);

#endif
