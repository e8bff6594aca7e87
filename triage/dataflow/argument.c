/* argument: three sources, in order.
 *
 *	the caller's call site     DW_TAG_call_site_parameter: what the compiler says it passed (with -O1 and more)
 *	the caller's code          the block that ends in the call, from its latest join on: every path runs through it
 *	the callee's code          a register or stack slot that took the argument before anything else was done
 *
 * A register that a call preserves has, at the call, the value that the unwinder restored: the block need not define
 * it. */
#include "triage/dataflow/argument.h"

#include <elf.h>

#include "dwarf/value/entry_value.h"
#include "triage/code/body_cache.h"
#include "triage/code/slice.h"

enum { ARGUMENTS = 6, BLOCK = 256, STEPS = 200, DEPTH = 16 };

static const int registers[ARGUMENTS] = {5, 4, 1, 2, 8, 9}; /* rdi rsi rdx rcx r8 r9 */

static bool find(const struct xc_crash_context *crash, size_t caller, unsigned number, unsigned *steps,
		 uint64_t *value_out);

/* The straight-line code before a place in a function. */
struct block {
	const struct xc_process *process;
	const struct xc_frame *frame; /* its registers are valid at the end of the block */
	const struct xc_body *body;
	const struct xc_insn *insns; /* the block within it; the last instruction is the call */
	size_t count;
	unsigned depth;
	bool whole; /* it begins at the function's entry */
	xc_addr lo; /* the entry */
	const struct xc_crash_context *crash;
	size_t caller;
	unsigned *steps; /* steps of the whole search */
};

static bool supported(const struct xc_process *p)
{
	return p->arch->machine == EM_X86_64 && p->arch->word == 8;
}

/* ---- code ---- */

/* The start of the straight-line code that ends before insns[call]: after the latest jump out of it, or at a jump
 * target. */
static size_t block_start(const struct xc_body *body, size_t call)
{
	size_t start = call;
	while (start > 0) {
		const struct xc_insn *before = &body->insns[start - 1];
		if (before->addr + before->length != body->insns[start].addr || before->kind == XC_INSN_JUMP ||
		    before->kind == XC_INSN_RETURN)
			break;
		start--;
	}
	for (size_t i = body->edge_count; i-- > 0 && body->edges[i].to > start;)
		if (body->edges[i].to <= call)
			return body->edges[i].to;
	return start;
}

/* The call of the frame, and the function that contains it. */
static const struct xc_insn *call_of(const struct xc_crash_context *crash, size_t caller, struct xc_body **body_out)
{
	xc_addr pc = crash->frames[caller].pc;
	if (crash->frames[caller].interrupted)
		return NULL;
	*body_out = xc_body_cache_get(crash->bodies, pc - 1);
	long at = *body_out ? xc_body_before(*body_out, pc) : XC_BODY_NONE;
	return at != XC_BODY_NONE && (*body_out)->insns[at].kind == XC_INSN_CALL ? &(*body_out)->insns[at] : NULL;
}

/* The block that ends in the call of the frame. False when it is not known, or too long. */
static bool find_block(struct block *block)
{
	struct xc_body *body;
	const struct xc_insn *call = call_of(block->crash, block->caller, &body);
	if (!call)
		return false;
	size_t at = (size_t)(call - body->insns), start = block_start(body, at);
	block->body = body;
	block->insns = body->insns + start;
	block->count = at - start + 1;
	block->whole = start == body->entry;
	block->lo = body->insns[body->entry].addr;
	return block->count < BLOCK;
}

/* ---- values in the block ---- */

static bool writes(const struct block *block, const struct xc_insn *insn, int number)
{
	if (insn->kind == XC_INSN_CALL)
		return number != block->process->arch->sp && !xc_arch_has(block->process->arch->preserved, number);
	if (number == block->process->arch->sp)
		return insn->stack_moves || !insn->stack_known;
	return number >= 0 && number < 64 && (insn->writes >> number & 1);
}

/* A register that nothing from `at` on writes: it has the same value at the call. */
static bool unwritten(const struct block *block, size_t at, int number, uint64_t *value_out)
{
	const struct xc_arch *arch = block->process->arch;
	for (size_t i = at; i + 1 < block->count; i++)
		if (writes(block, &block->insns[i], number))
			return false;
	return (number == arch->sp || xc_arch_has(arch->preserved, number)) &&
	       xc_regs_get(&block->frame->regs, number, value_out);
}

static bool value_before(struct block *block, size_t at, int number, uint64_t *value_out);

static bool address_at(struct block *block, size_t at, const struct xc_insn_memory *memory, xc_addr *addr_out)
{
	uint64_t base = 0, index = 0;
	if (memory->complex || memory->segment >= 0 ||
	    (memory->base >= 0 && !value_before(block, at, memory->base, &base)) ||
	    (memory->index >= 0 && !value_before(block, at, memory->index, &index)))
		return false;
	*addr_out = base + index * memory->scale + (uint64_t)memory->displacement;
	return true;
}

/* The value that insns[at] leaves in the register that it writes. */
static bool result_of(struct block *block, size_t at, uint64_t *value_out)
{
	const struct xc_insn *insn = &block->insns[at];
	uint64_t value;
	xc_addr addr;
	if (insn->part)
		return false;
	switch (insn->kind) {
	case XC_INSN_MOVE:
		return value_before(block, at, insn->from, value_out);
	case XC_INSN_CONSTANT:
		*value_out = (uint64_t)insn->constant;
		return true;
	case XC_INSN_ADDRESS:
		return address_at(block, at, &insn->memory, value_out);
	case XC_INSN_LOAD:
		return insn->memory.size == 8 && address_at(block, at, &insn->memory, &addr) &&
		       xc_space_peek_uint(block->process->space, addr, 8, value_out);
	case XC_INSN_ADD:
		if (!value_before(block, at, insn->to, &value))
			return false;
		*value_out = value + (uint64_t)insn->constant;
		return true;
	default:
		return false;
	}
}

/* The argument of the function itself in a register, from a caller that certainly called it. */
static bool called_here(const struct block *block)
{
	struct xc_body *body;
	xc_addr to;
	const struct xc_insn *call = call_of(block->crash, block->caller + 1, &body);
	return call && xc_body_callee(body, call, &to) && to == block->lo;
}

static bool passed_on(const struct block *block, int number, uint64_t *value_out)
{
	if (block->caller + 1 >= block->crash->frame_count || !called_here(block))
		return false;
	for (unsigned i = 0; i < ARGUMENTS; i++)
		if (registers[i] == number)
			return find(block->crash, block->caller + 1, i, block->steps, value_out);
	return false;
}

/* No path from the function's entry to insns[at] writes the register. */
static bool since_entry(const struct block *block, size_t at, int number)
{
	struct xc_slice slice = {.count = 0};
	xc_slice_register(block->body, (size_t)(&block->insns[at] - block->body->insns), number, &slice);
	return slice.sure && slice.count == 1 && slice.items[0].kind == XC_DEFINITION_ENTRY &&
	       slice.items[0].reg == number;
}

/* The value of a register before insns[at] ran. */
static bool value_before(struct block *block, size_t at, int number, uint64_t *value_out)
{
	bool found = false;
	if (number < 0 || block->depth >= DEPTH || ++*block->steps > STEPS)
		return false;
	if (unwritten(block, at, number, value_out))
		return true;
	for (size_t i = at; i-- > 0;)
		if (writes(block, &block->insns[i], number)) {
			block->depth++;
			found = block->insns[i].to == number && result_of(block, i, value_out);
			block->depth--;
			return found;
		}
	return (block->whole || since_entry(block, at, number)) && passed_on(block, number, value_out);
}

static bool by_code(const struct xc_crash_context *crash, size_t caller, int number, unsigned *steps,
		    uint64_t *value_out)
{
	struct block block = {.process = crash->process,
			      .frame = &crash->frames[caller],
			      .crash = crash,
			      .caller = caller,
			      .steps = steps};
	return find_block(&block) && value_before(&block, block.count - 1, number, value_out);
}

/* ---- the callee ---- */

struct keeper {
	bool or_one;                  /* or 1 for 0, in operator new: cmovne %rdi,%rax; mov %rax,%rbx */
	int reg;                      /* -1: a slot */
	struct xc_insn_memory memory; /* of the slot, from the frame pointer, or the stack pointer */
	int64_t moved;                /* by which the stack pointer had moved since the entry */
	size_t at;                    /* the instruction that stored it */
};

/* From the function's entry on: the instruction that copies register `number` before it is overwritten. */
static bool find_keeper(const struct xc_body *body, int number, struct keeper *keeper)
{
	const struct xc_arch *arch = body->process->arch;
	int chosen = -1;
	int64_t moved = 0;
	bool known = true;
	for (size_t i = body->entry; i < body->count && i - body->entry < BLOCK; i++) {
		const struct xc_insn *insn = &body->insns[i];
		bool or_one = chosen >= 0 && insn->from == chosen;
		bool takes = (or_one || insn->from == number) && !insn->part;
		*keeper = (struct keeper){.reg = -1, .at = i, .or_one = or_one, .moved = moved};
		if (takes && insn->kind == XC_INSN_MOVE && xc_arch_has(arch->preserved, insn->to)) {
			keeper->reg = insn->to;
			return true;
		}
		bool slot = insn->memory.base == arch->fp || (known && insn->memory.base == arch->sp);
		if (takes && insn->kind == XC_INSN_STORE && slot && insn->memory.index < 0 && insn->memory.size == 8) {
			keeper->memory = insn->memory;
			return true;
		}
		if (insn->kind == XC_INSN_CALL || insn->kind == XC_INSN_JUMP || insn->kind == XC_INSN_BRANCH ||
		    insn->kind == XC_INSN_RETURN || (insn->writes >> number & 1))
			return false;
		known = known && insn->stack_known;
		moved += insn->stack_moves;
		if (insn->kind == XC_INSN_CHOOSE && insn->from == number)
			chosen = insn->to;
		else if (chosen >= 0 && (insn->writes >> chosen & 1))
			chosen = -1;
	}
	return false;
}

/* Does it write the slot? `lower`: by so much the stack pointer is lower now than it was at the store. */
static bool writes_slot(const struct xc_insn *insn, const struct xc_insn_memory *slot, int64_t lower)
{
	int64_t farther = insn->memory.displacement - lower - slot->displacement;
	int64_t size = insn->memory.size ? insn->memory.size : 8;
	return insn->has_memory && insn->writes_memory && insn->memory.base == slot->base && farther + size > 0 &&
	       farther < 8;
}

/* Only the pops of an epilogue write it again. Between jumps what lowers the stack pointer raises it again: the order
 * of addresses shows how low it is. */
static bool stays_kept(const struct xc_body *body, const struct keeper *keeper)
{
	const bool by_stack = keeper->memory.base == body->process->arch->sp;
	int64_t lower = 0, usual = 0;
	bool settled = false;
	for (size_t i = 0; i < body->count; i++) {
		const struct xc_insn *insn = &body->insns[i];
		bool pop = insn->kind == XC_INSN_OTHER && insn->stack_known && insn->stack_moves == 8;
		bool same = keeper->reg < 0 && writes_slot(insn, &keeper->memory, lower);
		if (i != keeper->at && (keeper->reg < 0 ? same : !pop && insn->writes >> keeper->reg & 1))
			return false;
		if (!by_stack || i <= keeper->at)
			continue;
		bool jumps = insn->kind == XC_INSN_BRANCH || insn->kind == XC_INSN_CALL;
		usual = jumps && !settled ? lower : usual;
		settled = settled || jumps;
		lower = insn->kind == XC_INSN_JUMP || insn->kind == XC_INSN_RETURN ? usual : lower - insn->stack_moves;
		if (!insn->stack_known)
			return false;
	}
	return !body->incomplete;
}

/* The function in the callee's frame: the called one, when the call or a jump at its very beginning leads there. A
 * frame without a name is taken for a cold part of it. */
static struct xc_body *callee_body(const struct xc_crash_context *crash, size_t caller)
{
	const struct xc_frame *callee = &crash->frames[caller - 1];
	const struct xc_place *place = xc_debuginfo_place(crash->process, xc_frame_lookup(callee));
	struct xc_body *body = xc_body_cache_get(crash->bodies, xc_frame_lookup(callee));
	if (place->symbol || place->level_count)
		return body;
	struct xc_body *calling;
	const struct xc_insn *call = call_of(crash, caller, &calling);
	xc_addr to = 0;
	if (!call)
		return NULL;
	xc_body_callee(calling, call, &to);
	body = to ? xc_body_cache_get(crash->bodies, to) : NULL;
	for (size_t i = body ? body->entry : 0; body && i < body->count && i < body->entry + 3; i++)
		if (body->insns[i].kind == XC_INSN_JUMP) { /* operator new[] is operator new */
			xc_body_callee(body, &body->insns[i], &to);
			body = to ? xc_body_cache_get(crash->bodies, to) : NULL;
			break;
		}
	return to && xc_process_module(crash->process, to) == callee->module ? body : NULL;
}

/* The frame's address is that of the stack pointer before the call, 8 bytes above the one at the entry. */
static bool slot_value(const struct xc_crash_context *crash, const struct xc_frame *callee, const struct keeper *keeper,
		       uint64_t *value_out)
{
	struct xc_frame frame = *callee;
	uint64_t base;
	if (keeper->memory.base == crash->process->arch->sp) {
		if (!xc_unwind_cfa(crash->unwinder, &frame))
			return false;
		base = frame.cfa - 8 + (uint64_t)keeper->moved;
	} else if (!xc_regs_get(&callee->regs, keeper->memory.base, &base))
		return false;
	return xc_space_peek_uint(crash->process->space, base + (uint64_t)keeper->memory.displacement, 8, value_out);
}

static bool by_callee(const struct xc_crash_context *crash, size_t caller, int number, uint64_t *value_out)
{
	const struct xc_frame *callee = &crash->frames[caller - 1];
	struct xc_body *body = callee->signal ? NULL : callee_body(crash, caller);
	struct keeper keeper;
	if (!body || !find_keeper(body, number, &keeper) || !stays_kept(body, &keeper))
		return false;
	if (keeper.reg >= 0)
		return xc_regs_get(&callee->regs, keeper.reg, value_out) && !(keeper.or_one && *value_out == 1);
	return !keeper.or_one && slot_value(crash, callee, &keeper, value_out);
}

/* ---- */

static bool by_call_site(const struct xc_crash_context *crash, size_t caller, int number, uint64_t *value_out)
{
	struct xc_frame_context in = xc_crash_context_frame(crash, caller);
	unsigned __int128 bits;
	if (!in.place->level_count || in.place->line_only)
		return false;
	struct xc_expr_context context = xc_expr_in_frame(crash->process, crash->thread, crash->unwinder, in.frame,
							  in.place, &crash->report->arena);
	if (xc_entry_value_argument(&context, (unsigned)number, &bits))
		return false;
	*value_out = (uint64_t)bits;
	return true;
}

static bool find(const struct xc_crash_context *crash, size_t caller, unsigned number, unsigned *steps,
		 uint64_t *value_out)
{
	if (!supported(crash->process) || caller >= crash->frame_count || number >= ARGUMENTS ||
	    crash->frames[caller].interrupted || crash->frames[caller].tail_call)
		return false;
	int at = registers[number];
	return by_call_site(crash, caller, at, value_out) || by_code(crash, caller, at, steps, value_out) ||
	       (caller > 0 && by_callee(crash, caller, at, value_out));
}

bool xc_argument_find(const struct xc_crash_context *crash, size_t caller, unsigned number, uint64_t *value_out)
{
	unsigned steps = 0;
	return find(crash, caller, number, &steps, value_out);
}

const char *xc_argument_callee(const struct xc_crash_context *crash, size_t caller)
{
	struct xc_body *body;
	const struct xc_insn *call = caller < crash->frame_count ? call_of(crash, caller, &body) : NULL;
	return call ? xc_body_callee(body, call, NULL) : NULL;
}
