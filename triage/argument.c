/* argument: three witnesses, in order.
 *
 *	the caller's call site     DW_TAG_call_site_parameter: what the compiler says it passed (with -O1 and more)
 *	the caller's code          the block that ends in the call, from its latest join on: every path to the call runs through it
 *	the callee's code          a register or stack slot that took the argument before anything else was done
 *
 * A register that a call preserves has at the call the value that the unwinder restored, so the block need not tell it. */
#include "argument.h"

#include <elf.h>
#include <stdlib.h>

#include "../dwarf/entry.h"
#include "slice.h"

enum { ARGUMENTS = 6, BLOCK = 256, STEPS = 200, CODE_MOST = 64 << 10, DEPTH = 16 };

static const int registers[ARGUMENTS] = {5, 4, 1, 2, 8, 9}; /* rdi rsi rdx rcx r8 r9 */

static bool find(const struct xc_inquiry *q, size_t caller, unsigned number, unsigned *steps, uint64_t *value_out);

/* The straight code before a place in a function. */
struct block {
	const struct xc_process *process;
	const struct xc_frame *frame; /* its registers are those at the end of the block */
	struct xc_insn *insns;
	size_t count;
	unsigned depth;
	bool whole; /* it begins where the function does, */
	xc_addr lo; /* here */
	const struct xc_inquiry *q;
	size_t caller;
	unsigned *steps; /* that the whole search has taken */
};

static bool supported(const struct xc_process *p)
{
	return p->arch->machine == EM_X86_64 && p->arch->word == 8;
}

/* ---- code ---- */

typedef bool insn_fn(void *user, const struct xc_insn *insn);

/* Every instruction of [from, to), until each says no; false when one does not decode. */
static bool each_insn(const struct xc_process *p, xc_addr from, xc_addr to, insn_fn *each, void *user)
{
	if (from >= to || to - from > CODE_MOST)
		return false;
	size_t len = (size_t)(to - from), at = 0;
	uint8_t *code = xc_realloc(NULL, len);
	bool good = xc_space_peek(p->space, from, code, len) == len;
	while (good && at < len) {
		struct xc_insn insn;
		good = xc_insn_decode(p, code + at, len - at, from + at, &insn) && insn.length;
		if (good && !each(user, &insn))
			break;
		at += good ? insn.length : 0;
	}
	free(code);
	return good;
}

/* The function at a frame by its symbol: where it begins and ends. False when no symbol with a size covers it. */
static bool function_range(const struct xc_process *p, const struct xc_frame *frame, xc_addr *lo_out, xc_addr *end_out)
{
	xc_addr at = xc_frame_lookup(frame);
	const struct xc_place *place = xc_debuginfo_place(p, at);
	Dwarf_Addr low, high;
	if (!place->module)
		return false;
	if (place->level_count && !place->line_only) {
		Dwarf_Die *die = &place->levels[place->level_count - 1].die;
		if (dwarf_lowpc(die, &low) == 0 && dwarf_highpc(die, &high) == 0 && place->file_addr >= low &&
		    place->file_addr < high) {
			*lo_out = low + place->module->bias;
			*end_out = high + place->module->bias;
			return true;
		}
	}
	if (!place->symbol || place->symbol_offset > CODE_MOST)
		return false;
	*lo_out = at - place->symbol_offset;
	*end_out = frame->pc;
	return true;
}

struct join {
	xc_addr latest, end;
};

/* Jumps that lead into the code before the call begin its last block. */
static bool note_join(void *user, const struct xc_insn *insn)
{
	struct join *join = user;
	bool jumps = insn->kind == XC_INSN_JUMP || insn->kind == XC_INSN_BRANCH;
	if (jumps && insn->has_target && insn->target < join->end && insn->target > join->latest)
		join->latest = insn->target;
	bool leaves = insn->kind == XC_INSN_JUMP || insn->kind == XC_INSN_RETURN;
	if (leaves && insn->addr + insn->length < join->end && insn->addr + insn->length > join->latest)
		join->latest = insn->addr + insn->length;
	return true;
}

struct taking {
	struct block *block;
	xc_addr from;
};

static bool take(void *user, const struct xc_insn *insn)
{
	const struct taking *taking = user;
	struct block *block = taking->block;
	if (insn->addr >= taking->from && block->count < BLOCK)
		block->insns[block->count++] = *insn;
	return true;
}

/* The block that ends in the frame's call. False when it is not known, or too long. */
static bool read_block(struct block *block)
{
	xc_addr lo, end;
	struct taking taking = {.block = block};
	if (!function_range(block->process, block->frame, &lo, &end))
		return false;
	struct join join = {.latest = lo, .end = block->frame->pc};
	if (!each_insn(block->process, lo, end, note_join, &join))
		return false;
	taking.from = join.latest;
	block->whole = join.latest == lo;
	block->lo = lo;
	return each_insn(block->process, join.latest, block->frame->pc, take, &taking) && block->count &&
	       block->count < BLOCK && block->insns[block->count - 1].kind == XC_INSN_CALL;
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

/* A register that nothing from `at` on writes: it has the value that it has at the call. */
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

/* What insns[at] leaves in the register that it writes. */
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

static const struct xc_insn *call_of(const struct xc_inquiry *q, size_t caller, struct xc_arena *arena,
				     struct xc_body **body_out)
{
	xc_addr pc = q->frames[caller].pc;
	if (q->frames[caller].interrupted)
		return NULL;
	*body_out = xc_body_read(q->process, pc - 1, arena);
	long at = *body_out ? xc_body_before(*body_out, pc) : XC_BODY_NONE;
	return at != XC_BODY_NONE && (*body_out)->insns[at].kind == XC_INSN_CALL ? &(*body_out)->insns[at] : NULL;
}

/* What the function itself was given in a register, by a caller that called it and no other that jumped here. */
static bool called_here(const struct block *block)
{
	struct xc_arena arena = {0};
	struct xc_body *body;
	xc_addr to;
	const struct xc_insn *call = call_of(block->q, block->caller + 1, &arena, &body);
	bool here = call && xc_body_callee(body, call, &to) && to == block->lo;
	xc_arena_fini(&arena);
	return here;
}

static bool passed_on(const struct block *block, int number, uint64_t *value_out)
{
	if (block->caller + 1 >= block->q->frame_count || !called_here(block))
		return false;
	for (unsigned i = 0; i < ARGUMENTS; i++)
		if (registers[i] == number)
			return find(block->q, block->caller + 1, i, block->steps, value_out);
	return false;
}

/* No way from the function's entry to insns[at] writes the register. */
static bool since_entry(const struct block *block, size_t at, int number)
{
	struct xc_slice slice = {.count = 0};
	struct xc_arena arena = {0};
	struct xc_body *body = xc_body_read(block->process, block->insns[at].addr, &arena);
	long here = body ? xc_body_at(body, block->insns[at].addr) : XC_BODY_NONE;
	if (here != XC_BODY_NONE)
		xc_slice_register(body, (size_t)here, number, &slice);
	xc_arena_fini(&arena);
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

static bool by_code(const struct xc_inquiry *q, size_t caller, int number, unsigned *steps, uint64_t *value_out)
{
	struct block block = {
		.process = q->process, .frame = &q->frames[caller], .q = q, .caller = caller, .steps = steps};
	block.insns = xc_realloc(NULL, BLOCK * sizeof *block.insns);
	bool found = read_block(&block) && value_before(&block, block.count - 1, number, value_out);
	free(block.insns);
	return found;
}

/* ---- the callee ---- */

struct keeper {
	bool or_one;                  /* or 1 for 0, as operator new has it: cmovne %rdi,%rax; mov %rax,%rbx */
	int reg;                      /* -1: it is a slot */
	struct xc_insn_memory memory; /* the slot, below the frame pointer */
	size_t at;                    /* the instruction that kept it */
};

/* From the function's entry on: what takes register `number` before it is gone. */
static bool find_keeper(const struct xc_body *body, int number, struct keeper *keeper)
{
	const struct xc_arch *arch = body->process->arch;
	int chosen = -1;
	for (size_t i = body->entry; i < body->count && i - body->entry < BLOCK; i++) {
		const struct xc_insn *insn = &body->insns[i];
		bool or_one = chosen >= 0 && insn->from == chosen;
		bool takes = (or_one || insn->from == number) && !insn->part;
		*keeper = (struct keeper){.reg = -1, .at = i, .or_one = or_one};
		if (takes && insn->kind == XC_INSN_MOVE && xc_arch_has(arch->preserved, insn->to)) {
			keeper->reg = insn->to;
			return true;
		}
		if (takes && insn->kind == XC_INSN_STORE && insn->memory.base == arch->fp && insn->memory.index < 0 &&
		    insn->memory.size == 8) {
			keeper->memory = insn->memory;
			return true;
		}
		if (insn->kind == XC_INSN_CALL || insn->kind == XC_INSN_JUMP || insn->kind == XC_INSN_BRANCH ||
		    insn->kind == XC_INSN_RETURN || (insn->writes >> number & 1))
			return false;
		if (insn->kind == XC_INSN_CHOOSE && insn->from == number)
			chosen = insn->to;
		else if (chosen >= 0 && (insn->writes >> chosen & 1))
			chosen = -1;
	}
	return false;
}

/* Nothing else writes there but the pops of an epilogue. */
static bool stays_kept(const struct xc_body *body, const struct keeper *keeper)
{
	for (size_t i = 0; i < body->count; i++) {
		const struct xc_insn *insn = &body->insns[i];
		bool pop = insn->kind == XC_INSN_OTHER && insn->stack_known && insn->stack_moves == 8;
		bool same = insn->has_memory && insn->writes_memory && insn->memory.base == keeper->memory.base &&
			    insn->memory.displacement == keeper->memory.displacement;
		if (i != keeper->at && (keeper->reg < 0 ? same : !pop && insn->writes >> keeper->reg & 1))
			return false;
	}
	return !body->incomplete;
}

/* The function that runs in the callee's frame: the one that was called, when it or a jump at its very beginning leads there. A frame
 * without a name is taken for a cold part of it. */
static struct xc_body *callee_body(const struct xc_inquiry *q, size_t caller, struct xc_arena *arena)
{
	const struct xc_frame *callee = &q->frames[caller - 1];
	const struct xc_place *place = xc_debuginfo_place(q->process, xc_frame_lookup(callee));
	struct xc_body *body = xc_body_read(q->process, xc_frame_lookup(callee), arena);
	if (place->symbol || place->level_count)
		return body;
	struct xc_body *calling;
	const struct xc_insn *call = call_of(q, caller, arena, &calling);
	xc_addr to = 0;
	if (!call)
		return NULL;
	xc_body_callee(calling, call, &to);
	body = to ? xc_body_read(q->process, to, arena) : NULL;
	for (size_t i = body ? body->entry : 0; body && i < body->count && i < body->entry + 3; i++)
		if (body->insns[i].kind == XC_INSN_JUMP) { /* operator new[] is operator new */
			xc_body_callee(body, &body->insns[i], &to);
			body = to ? xc_body_read(q->process, to, arena) : NULL;
			break;
		}
	return to && xc_process_module(q->process, to) == callee->module ? body : NULL;
}

static bool by_callee(const struct xc_inquiry *q, size_t caller, int number, uint64_t *value_out)
{
	const struct xc_frame *callee = &q->frames[caller - 1];
	struct xc_arena arena = {0};
	struct xc_body *body = callee->signal ? NULL : callee_body(q, caller, &arena);
	struct keeper keeper;
	uint64_t base;
	bool kept = body && find_keeper(body, number, &keeper) && stays_kept(body, &keeper);
	xc_arena_fini(&arena);
	if (!kept)
		return false;
	if (keeper.reg >= 0)
		return xc_regs_get(&callee->regs, keeper.reg, value_out) && !(keeper.or_one && *value_out == 1);
	return !keeper.or_one && xc_regs_get(&callee->regs, keeper.memory.base, &base) &&
	       xc_space_peek_uint(q->process->space, base + (uint64_t)keeper.memory.displacement, 8, value_out);
}

/* ---- */

static bool by_call_site(const struct xc_inquiry *q, size_t caller, int number, uint64_t *value_out)
{
	struct xc_frame_context in = xc_inquiry_context(q, caller);
	unsigned __int128 bits;
	if (!in.place->level_count || in.place->line_only)
		return false;
	struct xc_expr_context context =
		xc_expr_in_frame(q->process, q->thread, q->unwinder, in.frame, in.place, &q->report->arena);
	if (xc_entry_argument(&context, (unsigned)number, &bits))
		return false;
	*value_out = (uint64_t)bits;
	return true;
}

static bool find(const struct xc_inquiry *q, size_t caller, unsigned number, unsigned *steps, uint64_t *value_out)
{
	if (!supported(q->process) || caller >= q->frame_count || number >= ARGUMENTS ||
	    q->frames[caller].interrupted || q->frames[caller].tail_call)
		return false;
	int at = registers[number];
	return by_call_site(q, caller, at, value_out) || by_code(q, caller, at, steps, value_out) ||
	       (caller > 0 && by_callee(q, caller, at, value_out));
}

bool xc_argument_find(const struct xc_inquiry *q, size_t caller, unsigned number, uint64_t *value_out)
{
	unsigned steps = 0;
	return find(q, caller, number, &steps, value_out);
}

const char *xc_argument_callee(const struct xc_inquiry *q, size_t caller)
{
	struct xc_arena arena = {0};
	struct xc_body *body;
	const struct xc_insn *call = caller < q->frame_count ? call_of(q, caller, &arena, &body) : NULL;
	const char *name = call ? xc_body_callee(body, call, NULL) : NULL;
	xc_arena_fini(&arena);
	return name;
}
