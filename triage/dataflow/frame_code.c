/* frame_code: the current instruction of a frame, and the frame's own registers at other instructions. */
#include "triage/dataflow/frame_code.h"

#include <string.h>

#include "dwarf/elf/symbol.h"
#include "dwarf/line/source_lines.h"
#include "triage/code/body_cache.h"
#include "triage/code/slice.h"
#include "triage/dataflow/access_path.h"
#include "triage/util/names.h"
#include "triage/util/user_code.h"

enum { PRICE = 512 /* instructions per step of the budget */, SYMBOL_MOST = 512 };

bool xc_frame_code_init(const struct xc_crash_context *crash, size_t frame, unsigned *budget, struct xc_frame_code *out)
{
	if (frame >= crash->frame_count)
		return false;
	const struct xc_frame *f = &crash->frames[frame];
	*out = (struct xc_frame_code){.crash = crash, .frame = frame, .budget = budget};
	out->body = xc_body_cache_get(crash->bodies, xc_frame_lookup(f));
	if (!out->body)
		return false;
	long at = f->interrupted ? xc_body_at(out->body, f->pc) : xc_body_before(out->body, f->pc);
	out->at = at >= 0 ? (size_t)at : 0;
	return at >= 0;
}

bool xc_frame_code_spend(const struct xc_frame_code *s)
{
	unsigned price = 1 + (unsigned)(s->body->count / PRICE);
	bool enough = *s->budget >= price;
	*s->budget = enough ? *s->budget - price : 0;
	return enough;
}

struct xc_frame_context xc_frame_code_context(const struct xc_frame_code *s, size_t at)
{
	struct xc_frame_context context = xc_crash_context_frame(s->crash, s->frame);
	context.place = xc_debuginfo_place(s->crash->process, s->body->insns[at].addr);
	return context;
}

static bool has_frame_pointer(const struct xc_body *body)
{
	const struct xc_arch *arch = body->process->arch;
	for (size_t i = 0; i < body->count; i++)
		if (body->insns[i].kind == XC_INSN_MOVE && body->insns[i].to == arch->fp &&
		    body->insns[i].from == arch->sp)
			return true;
	return false;
}

bool xc_frame_code_is_frame_register(const struct xc_frame_code *s, int reg)
{
	const struct xc_arch *arch = s->crash->process->arch;
	return reg >= 0 && (reg == arch->sp || (reg == arch->fp && has_frame_pointer(s->body)));
}

bool xc_frame_code_is_slot(const struct xc_frame_code *s, const struct xc_insn_memory *m)
{
	return xc_frame_code_is_frame_register(s, m->base) && m->index < 0 && m->segment < 0 && !m->complex;
}

/* The canonical frame address for an artificial stack pointer: shows how far below it sp is at this instruction. */
static bool cfa_from(const struct xc_frame_code *s, xc_addr pc, uint64_t sp, uint64_t *cfa)
{
	struct xc_frame frame = s->crash->frames[s->frame];
	frame.pc = pc;
	frame.interrupted = true;
	frame.cfa_known = false;
	xc_regs_set(&frame.regs, s->crash->process->arch->sp, sp);
	if (!xc_unwind_cfa(s->crash->unwinder, &frame))
		return false;
	*cfa = frame.cfa;
	return true;
}

/* Stack and frame pointer at another instruction of the frame: the frame pointer is constant, the stack pointer is
 * as far below the frame address as the call frame information says. */
bool xc_frame_code_frame_value(const struct xc_frame_code *s, size_t at, int reg, uint64_t *value)
{
	const struct xc_frame *f = &s->crash->frames[s->frame];
	uint64_t here, there;
	if (!xc_regs_get(&f->regs, reg, value))
		return false;
	if (reg != s->crash->process->arch->sp || at == s->at)
		return true;
	if (!cfa_from(s, s->body->insns[s->at].addr, *value, &here) ||
	    !cfa_from(s, s->body->insns[at].addr, *value, &there))
		return false;
	*value += here - there;
	return true;
}

/* Can a jump lead to behind the first instruction, up to the last? */
static bool is_entered(const struct xc_body *body, size_t first, size_t last)
{
	if (body->jumps_wild || body->incomplete)
		return true;
	for (size_t i = 0; i < body->edge_count; i++) {
		const struct xc_body_edge *e = &body->edges[i];
		if (e->to > first && e->to <= last && e->from + 1 != e->to)
			return true;
	}
	return false;
}

/* From the instruction to what runs now nothing but the next instruction ever follows, and none writes the register. */
static bool is_kept_in_line(const struct xc_frame_code *s, size_t at, int reg)
{
	const struct xc_insn *insns = s->body->insns;
	if (at > s->at || reg < 0 || reg > 63)
		return false;
	for (size_t i = at; i < s->at; i++) {
		bool leaves = insns[i].kind == XC_INSN_CALL || insns[i].kind == XC_INSN_JUMP ||
			      insns[i].kind == XC_INSN_BRANCH || insns[i].kind == XC_INSN_RETURN;
		if (leaves || insns[i].writes >> reg & 1 || insns[i + 1].addr != insns[i].addr + insns[i].length)
			return false;
	}
	return !is_entered(s->body, at, s->at);
}

bool xc_frame_code_is_kept(const struct xc_frame_code *s, size_t at, int reg)
{
	struct xc_slice then, now;
	if (at == s->at || is_kept_in_line(s, at, reg))
		return true;
	if (!xc_frame_code_spend(s))
		return false;
	xc_slice_register(s->body, at, reg, &then);
	xc_slice_register(s->body, s->at, reg, &now);
	return then.count == 1 && now.count == 1 && then.items[0].kind != XC_DEFINITION_UNKNOWN &&
	       then.items[0].kind == now.items[0].kind && then.items[0].insn == now.items[0].insn;
}

bool xc_frame_code_in_scope(const struct xc_frame_code *s, const struct xc_level *level)
{
	const struct xc_place *here = xc_debuginfo_place(s->crash->process, s->body->insns[s->at].addr);
	for (size_t i = 0; i < here->level_count; i++)
		if (here->levels[i].die.addr == level->die.addr)
			return true;
	return false;
}

/* At most LINES inlined functions: outside of them the expression has other names. */
static void add_lines(const struct xc_frame_code *s, size_t at, struct xc_text *text)
{
	enum { LINES = 3 };
	const struct xc_place *place = xc_debuginfo_place(s->crash->process, s->body->insns[at].addr);
	for (size_t i = 0, told = 0; i < place->level_count && told < LINES; i++) {
		const struct xc_level *level = &place->levels[i];
		const char *line = level->file && level->line && xc_user_code_is(place, i)
					   ? xc_source_reader_line(s->crash->source, level->file, level->line)
					   : NULL;
		if (!line)
			continue;
		xc_access_path_plain(text, line);
		xc_text_char(text, '\n');
		told++;
	}
}

const char *xc_frame_code_source(const struct xc_frame_code *s, size_t at)
{
	struct xc_text text = {0};
	add_lines(s, at, &text);
	if (at != s->at)
		add_lines(s, s->at, &text);
	const char *lines = xc_arena_strdup(&s->crash->report->arena, xc_text_string(&text));
	xc_text_fini(&text);
	return lines;
}

/* ---- calls ---- */

static const char *function_of(const struct xc_frame_code *s)
{
	return xc_place_outer_function(xc_debuginfo_place(s->crash->process, s->body->insns[s->body->entry].addr));
}

/* Can a call through a pointer go to this function? Nobody has the address of a copy that the compiler made, and the C
 * library begins with main(): another function was jumped to by the one that was called. */
static bool may_be_pointed_to(const struct xc_frame_code *caller, const struct xc_frame_code *callee)
{
	static const char *const copies[] = {".isra.", ".constprop.", ".part.", NULL};
	static const char *const starters[] = {"__libc_start_call_main", "__libc_start_main", "libc_start_main_stage2",
					       NULL};
	char symbol[SYMBOL_MOST];
	const char *function = function_of(callee), *from = function_of(caller);
	if (from && xc_names_find(starters, from))
		return function && strcmp(function, "main") == 0;
	return !xc_symbol_describe(callee->crash->process, callee->body->insns[callee->body->entry].addr, symbol,
				   sizeof symbol) ||
	       !xc_names_in(copies, symbol);
}

bool xc_frame_code_calls(const struct xc_frame_code *caller, const struct xc_frame_code *callee)
{
	xc_addr addr;
	const struct xc_insn *call = &caller->body->insns[caller->at];
	if (call->kind != XC_INSN_CALL)
		return false;
	xc_body_callee(caller->body, call, &addr);
	if (!addr)
		return !call->has_target && may_be_pointed_to(caller, callee);
	return xc_body_at(callee->body, addr) >= 0;
}
