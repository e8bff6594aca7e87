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
#include "../dwarf/symbol.h"
#include "insn.h"

enum { ARGUMENTS = 6, BLOCK = 256, CODE_MOST = 64 << 10, DEPTH = 16, STUB = 16, CALL_LONGEST = 7 };

static const int registers[ARGUMENTS] = {5, 4, 1, 2, 8, 9}; /* rdi rsi rdx rcx r8 r9 */

/* The straight code before a place in a function. */
struct block {
	const struct xc_process *process;
	const struct xc_frame *frame; /* its registers are those at the end of the block */
	struct xc_insn *insns;
	size_t count;
	unsigned depth;
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

/* The value of a register before insns[at] ran. */
static bool value_before(struct block *block, size_t at, int number, uint64_t *value_out)
{
	bool found = false;
	if (number < 0 || block->depth >= DEPTH)
		return false;
	if (unwritten(block, at, number, value_out))
		return true;
	block->depth++;
	for (size_t i = at; i-- > 0;)
		if (writes(block, &block->insns[i], number)) {
			found = block->insns[i].to == number && result_of(block, i, value_out);
			break;
		}
	block->depth--;
	return found;
}

static bool by_code(const struct xc_inquiry *q, size_t caller, int number, uint64_t *value_out)
{
	struct block block = {.process = q->process, .frame = &q->frames[caller]};
	block.insns = xc_realloc(NULL, BLOCK * sizeof *block.insns);
	bool found = read_block(&block) && value_before(&block, block.count - 1, number, value_out);
	free(block.insns);
	return found;
}

/* ---- the callee ---- */

struct keeping {
	const struct xc_process *process;
	int number;
	bool gone;                    /* the argument's register was written */
	int kept;                     /* in this register; -1: none */
	bool stored;                  /* at base + displacement */
	struct xc_insn_memory memory; /* of stored */
	bool spoilt;                  /* the keeper was written again */
};

static bool same_slot(const struct xc_insn_memory *a, const struct xc_insn_memory *b)
{
	return a->base == b->base && a->index < 0 && b->index < 0 && a->displacement == b->displacement;
}

static void keep(struct keeping *k, const struct xc_insn *insn)
{
	const struct xc_arch *arch = k->process->arch;
	bool takes = !k->gone && insn->from == k->number && !insn->part;
	if (k->kept >= 0)
		k->spoilt |= k->kept < 64 && (insn->writes >> k->kept & 1);
	else if (takes && insn->kind == XC_INSN_MOVE && xc_arch_has(arch->preserved, insn->to))
		k->kept = insn->to;
	if (k->stored)
		k->spoilt |= insn->writes_memory && insn->has_memory && same_slot(&insn->memory, &k->memory);
	else if (k->kept < 0 && takes && insn->kind == XC_INSN_STORE && insn->memory.base == arch->fp &&
		 insn->memory.index < 0 && insn->memory.size == 8) {
		k->stored = true;
		k->memory = insn->memory;
	}
}

static bool note_keeper(void *user, const struct xc_insn *insn)
{
	struct keeping *k = user;
	bool call = insn->kind == XC_INSN_CALL;
	keep(k, insn);
	k->gone |= call || (insn->writes >> k->number & 1);
	return !k->gone || k->kept >= 0 || k->stored;
}

static bool by_callee(const struct xc_inquiry *q, const struct xc_frame *callee, int number, uint64_t *value_out)
{
	struct keeping k = {.process = q->process, .number = number, .kept = -1};
	xc_addr lo, end;
	uint64_t base;
	if (callee->signal || !function_range(q->process, callee, &lo, &end) ||
	    !each_insn(q->process, lo, callee->pc, note_keeper, &k) || k.spoilt)
		return false;
	if (k.kept >= 0)
		return xc_regs_get(&callee->regs, k.kept, value_out);
	return k.stored && xc_regs_get(&callee->regs, k.memory.base, &base) &&
	       xc_space_peek_uint(q->process->space, base + (uint64_t)k.memory.displacement, 8, value_out);
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

bool xc_argument_find(const struct xc_inquiry *q, size_t caller, unsigned number, uint64_t *value_out)
{
	if (!supported(q->process) || caller >= q->frame_count || number >= ARGUMENTS ||
	    q->frames[caller].interrupted || q->frames[caller].tail_call)
		return false;
	int at = registers[number];
	return by_call_site(q, caller, at, value_out) || by_code(q, caller, at, value_out) ||
	       (caller > 0 && by_callee(q, &q->frames[caller - 1], at, value_out));
}

/* ---- what is called ---- */

/* A stub: endbr64 and bnd aside, jmp *slot(%rip). */
static xc_addr through_stub(const struct xc_process *p, xc_addr at)
{
	uint8_t code[STUB];
	uint64_t to;
	size_t got = xc_space_peek(p->space, at, code, sizeof code);
	for (size_t i = 0; i < got && i < STUB - 6;) {
		struct xc_insn insn;
		if (!xc_insn_decode(p, code + i, got - i, at + i, &insn) || !insn.length)
			break;
		bool jump = insn.kind == XC_INSN_JUMP && !insn.has_target && insn.has_memory;
		if (jump && insn.memory.base < 0 && insn.memory.index < 0 &&
		    xc_space_peek_uint(p->space, (xc_addr)insn.memory.displacement, 8, &to))
			return to;
		if (insn.kind != XC_INSN_OTHER || insn.writes)
			break;
		i += insn.length;
	}
	return at;
}

const char *xc_argument_callee(const struct xc_inquiry *q, size_t caller)
{
	const struct xc_process *p = q->process;
	uint8_t code[CALL_LONGEST];
	uint64_t to = 0;
	if (!supported(p) || caller >= q->frame_count || q->frames[caller].interrupted)
		return NULL;
	xc_addr pc = q->frames[caller].pc;
	for (unsigned len = 5; len <= 6 && !to; len++) { /* call there; call *slot(%rip) */
		struct xc_insn insn;
		if (xc_space_peek(p->space, pc - len, code, len) != len ||
		    !xc_insn_decode(p, code, len, pc - len, &insn) || insn.length != len || insn.kind != XC_INSN_CALL)
			continue;
		if (insn.has_target)
			to = through_stub(p, insn.target);
		else if (insn.has_memory && insn.memory.base < 0 && insn.memory.index < 0)
			(void)xc_space_peek_uint(p->space, (xc_addr)insn.memory.displacement, 8, &to);
	}
	return to ? xc_debuginfo_place(p, to)->symbol : NULL;
}
