/* reach: a search over functions by their jumps out. Each is read from its first instruction to the end that its
 * symbol tells, or else to the first jump or return that nothing before jumped over. */
#include "dwarf/unwind/reach.h"

#include "dwarf/decode/code.h"
#include "dwarf/decode/stackop.h"
#include "dwarf/elf/symbol.h"

enum { MAX_FUNCTIONS = 16, MAX_READ = 2048, NEAR = 64 << 10 };

struct search {
	const struct xc_process *process;
	const struct xc_function_range *callee;
	xc_addr functions[MAX_FUNCTIONS]; /* that the call leads to */
	size_t count, read;
};

struct xc_function_range xc_function_range_of(const struct xc_process *p, xc_addr pc)
{
	struct xc_module *m = xc_process_module(p, pc);
	const struct xc_symbol *s = m && m->bias_known ? xc_symbol_at(p, m, pc - m->bias) : NULL;
	struct xc_function_range range = {.pc = pc};
	if (s && s->size) {
		range.lo = m->bias + s->value;
		range.hi = range.lo + s->size;
	} else if (s) {
		range.lo = m->bias + s->value;
	}
	return range;
}

/* Is the address in the callee, as far as that is known? The beginning of code without a symbol is unknown: it may be
 * anywhere before pc, where no symbol names other code. */
static bool is_callee(const struct search *s, xc_addr addr)
{
	const struct xc_function_range *c = s->callee;
	if (c->hi)
		return addr >= c->lo && addr < c->hi;
	if (c->lo)
		return addr >= c->lo && addr <= c->pc;
	return xc_process_module(s->process, addr) == xc_process_module(s->process, c->pc) && addr <= c->pc &&
	       c->pc - addr < NEAR && !xc_function_range_of(s->process, addr).lo;
}

/* False when there are too many. */
static bool add(struct search *s, xc_addr function)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->functions[i] == function)
			return true;
	if (s->count == MAX_FUNCTIONS)
		return false;
	s->functions[s->count++] = function;
	return true;
}

/* Read a function; true when it leads to the callee or may lead anywhere. */
static bool leads_there(struct search *s, xc_addr entry)
{
	struct xc_function_range range = xc_function_range_of(s->process, entry);
	struct xc_stackop op, before;
	xc_addr slot = xc_code_stub(s->process, entry), furthest = entry;
	if (slot)
		return is_callee(s, slot) || !xc_code_executable(s->process, slot) || !add(s, slot);
	for (xc_addr at = entry; !range.hi || at < range.hi; at += op.length) {
		if (is_callee(s, at) || s->read++ >= MAX_READ ||
		    !xc_stackop_decode(s->process, at, at > entry ? &before : NULL, &op) || op.stores_return)
			return true;
		bool jumps = op.flow == XC_STACKOP_JUMP, goes = jumps || op.flow == XC_STACKOP_BRANCH;
		bool within = op.target >= entry && (range.hi ? op.target < range.hi : op.target - entry < NEAR);
		if (jumps && !op.target && !op.through_table)
			return true;
		if (goes && op.target && is_callee(s, op.target))
			return true;
		if (goes && op.target && !within && !add(s, op.target))
			return true;
		if (goes && within && op.target > furthest)
			furthest = op.target;
		before = op;
		if (!range.hi && at >= furthest && (jumps || op.flow == XC_STACKOP_RETURN || op.flow == XC_STACKOP_END))
			break;
	}
	return false;
}

bool xc_reach_may(const struct xc_process *p, xc_addr target, const struct xc_function_range *callee, uint64_t *cost)
{
	struct search s = {.process = p, .callee = callee};
	if (!target || !xc_stackop_decodes(p) || !xc_code_executable(p, callee->pc) || !xc_code_executable(p, target) ||
	    is_callee(&s, target))
		return true;
	bool may = false;
	add(&s, target);
	for (size_t i = 0; i < s.count && !may; i++)
		may = leads_there(&s, s.functions[i]);
	*cost += s.read;
	return may;
}
