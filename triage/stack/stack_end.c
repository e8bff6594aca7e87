/* stack_end: see stack_end.h.
 *
 *	         stack      mapped, writable; frames of the callers
 *	─────────────────
 *	  ↑      guard      ---p for threads, nothing below the main stack
 *	  addr   the access: above sp, or directly below it by a push, a call, or in the red zone
 *	  sp
 *
 * All memory between the stack pointer and the stack belongs to frames, so no limit of distance is needed. A frame
 * larger than the guard skips it, into whatever is below. */
#include "triage/stack/stack_end.h"

#include <signal.h>

enum {
	BELOW = 256,         /* x86-64's red zone has 128 bytes; 8 for a push */
	SMALL = 32 << 10,    /* a writable mapping that is certainly not a stack */
	UNFRAMED = 64 << 10, /* largest distance of sp from its stack when no frame leads there */
	GROWN = 64 << 10,    /* what a debugger's reads add to a stack */
};

static bool stack_pointer(const struct xc_crash_context *crash, const struct xc_frame *frame, uint64_t *sp_out)
{
	return xc_regs_get(&frame->regs, crash->process->arch->sp, sp_out);
}

static bool writable(const struct xc_mapping *m)
{
	return m && m->writable;
}

static const struct xc_mapping *above(const struct xc_crash_context *crash, xc_addr addr, xc_addr in)
{
	const struct xc_mapping *m = xc_process_mapping(crash->process, in);
	return writable(m) && m->lo > addr ? m : NULL;
}

/* The mapping in which the first frame ends, or its first caller's lies, unless that is the one below. A signal
 * trampoline leads to another stack. */
static const struct xc_mapping *of_frames(const struct xc_crash_context *crash, xc_addr addr)
{
	uint64_t sp;
	for (size_t i = 0;
	     i < crash->frame_count && !crash->frames[i].signal && stack_pointer(crash, &crash->frames[i], &sp); i++) {
		const struct xc_mapping *m = above(crash, addr, sp);
		if (!m && crash->frames[i].cfa_known && crash->frames[i].cfa > sp)
			m = above(crash, addr, crash->frames[i].cfa - 1);
		if (m)
			return m;
	}
	return NULL;
}

/* Without frames: the next writable mapping above. */
static const struct xc_mapping *next_above(const struct xc_process *p, xc_addr addr, xc_addr sp)
{
	for (size_t i = 0; i < p->mapping_count; i++) {
		const struct xc_mapping *m = &p->mappings[i];
		if (m->lo <= addr || !m->writable)
			continue;
		bool near = m->lo - addr <= UNFRAMED && (sp >= m->lo || m->lo - sp <= UNFRAMED);
		return near && !m->path && m->hi - m->lo >= SMALL - 1 ? m : NULL;
	}
	return NULL;
}

static const struct xc_mapping *guard_below(const struct xc_process *p, const struct xc_mapping *stack)
{
	const struct xc_mapping *m = stack->lo ? xc_process_mapping(p, stack->lo - 1) : NULL;
	return m && !m->readable && !m->writable && !m->executable ? m : NULL;
}

/* Is this the main stack, and was the address not mapped when the kernel refused it? A debugger that wrote the core has
 * read there since: the kernel lets the stack grow for it, too, and counts the debugger's limit, not the program's. */
static bool grown_since(const struct xc_crash_context *crash, const struct xc_mapping *m, xc_addr addr)
{
	const struct xc_frame *frame = &crash->frames[0];
	return crash->fault.code_known && crash->fault.code == SEGV_MAPERR && m->label && addr - m->lo < GROWN &&
	       frame->cfa_known && frame->cfa > addr && frame->cfa <= m->hi;
}

static bool ends_at(const struct xc_crash_context *crash, xc_addr addr, struct xc_stack_end *out)
{
	uint64_t sp;
	if (!crash->frame_count || !stack_pointer(crash, &crash->frames[0], &sp) || (addr < sp && sp - addr > BELOW))
		return false;
	const struct xc_mapping *at = xc_process_mapping(crash->process, addr);
	bool grown = writable(at) && grown_since(crash, at, addr);
	if (writable(at) && !grown)
		return false;
	const struct xc_mapping *stack = grown ? at : of_frames(crash, addr);
	*out = (struct xc_stack_end){.addr = addr, .sp = sp, .framed = stack};
	out->limit = grown ? "part of which was added when a debugger read there" : NULL;
	out->stack = stack ? stack : next_above(crash->process, addr, sp);
	if (out->stack)
		out->guard = guard_below(crash->process, out->stack);
	return out->stack;
}

bool xc_stack_end_find(const struct xc_crash_context *crash, struct xc_stack_end *out)
{
	const struct xc_fault *f = &crash->fault;
	if (f->signal != SIGSEGV || f->sent)
		return false;
	if (f->addr_known && !f->computed)
		return ends_at(crash, f->addr, out);
	/* A handler was to run on the same stack: the kernel failed, and gives no address. */
	for (size_t i = 0; f->decoded && i < f->instruction.operand_count; i++) {
		const struct xc_memory_operand *o = &f->instruction.operands[i];
		if (o->addr_known && !f->instruction.privileged && ends_at(crash, o->addr, out))
			return true;
	}
	return false;
}
