/* body: linear decoding of each piece from its first byte. Compilers put no data into x86 functions, and loops and
 * branches start at instructions that the decoding reaches. Bytes that do not decode end a piece. */
#include "triage/code/body.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/elf/budget.h"
#include "dwarf/symbolize/debuginfo.h"
#include "dwarf/disas/disas_range.h"
#include "triage/util/imports.h"
#include "triage/util/names.h"

enum { PIECES = 16, LONGEST = 15, STUB = 3 };

struct piece {
	xc_addr lo, end;
};

struct pieces {
	struct piece items[PIECES];
	size_t count;
	uint64_t size;
	bool cut;
};

static void add_piece(struct pieces *pieces, xc_addr lo, xc_addr end)
{
	if (end <= lo)
		return;
	if (pieces->count == PIECES || end - lo > XC_BODY_MAX) {
		pieces->cut = true;
		return;
	}
	pieces->items[pieces->count++] = (struct piece){lo, end};
	pieces->size += end - lo;
}

static int compare_pieces(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;
	return x->lo < y->lo ? -1 : x->lo > y->lo;
}

static void find_pieces(const struct xc_process *process, xc_addr addr, struct pieces *pieces)
{
	const struct xc_place *place = xc_debuginfo_place(process, addr);
	Dwarf_Addr base, lo, end;
	ptrdiff_t at = 0;
	struct xc_code_range range;
	if (place->level_count && place->module && place->module->bias_known) {
		Dwarf_Die die = place->levels[place->level_count - 1].die;
		while (xc_budget_spend(1) && (at = dwarf_ranges(&die, at, &base, &lo, &end)) > 0)
			add_piece(pieces, place->module->bias + lo, place->module->bias + end);
	}
	if (!pieces->count && !pieces->cut && xc_disas_range(process, addr, &range) && range.hi < UINT64_MAX)
		add_piece(pieces, range.lo, range.hi + 1);
}

/* ---- decoding ---- */

struct decoder {
	const struct xc_process *process;
	struct xc_insn *insns;
	size_t count, capacity;
	bool incomplete;
};

static void decode_piece(struct decoder *d, const struct piece *piece)
{
	size_t size = (size_t)(piece->end - piece->lo);
	uint8_t *code = xc_alloc(size);
	size_t got = xc_space_peek(d->process->space, piece->lo, code, size), at = 0;
	while (at < got) {
		struct xc_insn one;
		if (!xc_insn_decode(d->process, code + at, got - at, piece->lo + at, &one))
			break;
		d->insns = xc_grow(d->insns, d->count, &d->capacity, sizeof *d->insns);
		d->insns[d->count++] = one;
		at += one.length;
	}
	d->incomplete |= at < size;
	free(code);
}

static int compare_edges(const void *a, const void *b)
{
	const struct xc_body_edge *x = a, *y = b;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

static bool is_jump(const struct xc_insn *insn)
{
	return insn->kind == XC_INSN_JUMP || insn->kind == XC_INSN_BRANCH;
}

static bool is_call(const struct xc_insn *insn)
{
	return insn->kind == XC_INSN_CALL || insn->kind == XC_INSN_JUMP;
}

static void connect(struct xc_body *body, struct xc_arena *arena)
{
	size_t jumping = 0, calling = 0;
	for (size_t i = 0; i < body->count; i++) {
		jumping += is_jump(&body->insns[i]);
		calling += is_call(&body->insns[i]);
	}
	body->edges = xc_arena_alloc(arena, (jumping + 1) * sizeof *body->edges);
	body->calls = xc_arena_alloc(arena, (calling + 1) * sizeof *body->calls);
	for (size_t i = 0; i < body->count; i++) {
		const struct xc_insn *insn = &body->insns[i];
		if (is_call(insn))
			body->calls[body->call_count++].insn = i;
		long to = is_jump(insn) && insn->has_target ? xc_body_at(body, insn->target) : XC_BODY_NONE;
		if (to >= 0)
			body->edges[body->edge_count++] = (struct xc_body_edge){.to = (size_t)to, .from = i};
		body->jumps_wild |= insn->kind == XC_INSN_JUMP && !insn->has_target;
	}
	qsort(body->edges, body->edge_count, sizeof *body->edges, compare_edges);
}

/* Debug information lists the piece with the function's entry first, and the others after it. */
struct xc_body *xc_body_read(const struct xc_process *process, xc_addr addr, struct xc_arena *arena)
{
	struct pieces pieces = {.cut = false};
	struct decoder d = {.process = process};
	if (!xc_insn_decodes(process))
		return NULL;
	find_pieces(process, addr, &pieces);
	if (!pieces.count || pieces.size > XC_BODY_MAX)
		return NULL;
	xc_addr entry = pieces.items[0].lo;
	qsort(pieces.items, pieces.count, sizeof *pieces.items, compare_pieces);
	for (size_t i = 0; i < pieces.count; i++)
		decode_piece(&d, &pieces.items[i]);
	struct xc_body *body = xc_arena_alloc(arena, sizeof *body);
	*body = (struct xc_body){.process = process, .count = d.count, .incomplete = d.incomplete || pieces.cut};
	body->insns = xc_arena_alloc(arena, (d.count + 1) * sizeof *body->insns);
	if (d.count)
		memcpy(body->insns, d.insns, d.count * sizeof *body->insns);
	free(d.insns);
	connect(body, arena);
	long first = xc_body_at(body, entry);
	body->entry = first >= 0 ? (size_t)first : 0;
	body->is_go = xc_place_language(xc_debuginfo_place(process, entry), 0) == DW_LANG_Go;
	return first >= 0 ? body : NULL;
}

/* The first instruction at or above an address. */
static size_t lower_bound(const struct xc_body *body, xc_addr addr)
{
	return XC_LOWER_BOUND(body->count, i, body->insns[i].addr < addr);
}

bool xc_body_holds(const struct xc_body *body, xc_addr addr)
{
	size_t above = lower_bound(body, addr);
	const struct xc_insn *insn = above < body->count && body->insns[above].addr == addr ? &body->insns[above]
				     : above                                                ? &body->insns[above - 1]
											    : NULL;
	return insn && addr - insn->addr < insn->length;
}

long xc_body_at(const struct xc_body *body, xc_addr addr)
{
	size_t at = lower_bound(body, addr);
	return at < body->count && body->insns[at].addr == addr ? (long)at : XC_BODY_NONE;
}

long xc_body_before(const struct xc_body *body, xc_addr addr)
{
	size_t at = lower_bound(body, addr);
	return at && body->insns[at - 1].addr + body->insns[at - 1].length == addr ? (long)at - 1 : XC_BODY_NONE;
}

/* ---- who is called ---- */

/* The target of an indirect call or jump by the current value of its slot. Slots of import tables do not change
 * after the call. */
static bool through_slot(const struct xc_body *body, const struct xc_insn *insn, xc_addr *addr)
{
	const struct xc_insn_memory *m = &insn->memory;
	const struct xc_process *p = body->process;
	return insn->has_memory && !m->complex && m->base < 0 && m->index < 0 && m->segment < 0 &&
	       xc_space_peek_uint(p->space, (xc_addr)m->displacement, p->arch->word, addr);
}

/* A stub of the procedure linkage table: at most an endbr64, then a jump through a slot. Returns the address of the
 * slot; 0: not a stub. */
static xc_addr stub_slot(const struct xc_body *body, xc_addr addr)
{
	for (unsigned i = 0; i < STUB; i++) {
		uint8_t code[LONGEST];
		struct xc_insn insn;
		size_t got = xc_space_peek(body->process->space, addr, code, sizeof code);
		xc_addr target;
		if (!got || !xc_insn_decode(body->process, code, got, addr, &insn))
			return 0;
		if (insn.kind == XC_INSN_JUMP)
			return !insn.has_target && through_slot(body, &insn, &target)
				       ? (xc_addr)insn.memory.displacement
				       : 0;
		if (insn.writes || insn.writes_memory || insn.kind != XC_INSN_OTHER)
			return 0;
		addr += insn.length;
	}
	return 0;
}

/* The function that begins at an address. */
static const char *function_at(const struct xc_body *body, xc_addr addr)
{
	const struct xc_place *place = xc_debuginfo_place(body->process, addr);
	if (place->level_count)
		return place->levels[place->level_count - 1].function;
	return place->symbol && place->symbol_offset == 0 ? place->symbol : NULL;
}

static const char *find_callee(const struct xc_body *body, const struct xc_insn *insn, xc_addr *addr_out)
{
	xc_addr addr = insn->target, slot = 0, through;
	*addr_out = 0;
	if (insn->has_target)
		slot = stub_slot(body, addr);
	else if (through_slot(body, insn, &addr))
		slot = (xc_addr)insn->memory.displacement;
	else
		return NULL;
	if (slot && xc_space_peek_uint(body->process->space, slot, body->process->arch->word, &through))
		addr = through;
	const char *name = function_at(body, addr);
	if (name || !slot)
		*addr_out = addr;
	return name ? name : slot ? xc_imports_at(body->process, slot) : NULL;
}

static int compare_calls(const void *a, const void *b)
{
	const struct xc_body_call *x = a, *y = b;
	return x->insn < y->insn ? -1 : x->insn > y->insn;
}

/* The cache entry; NULL for other instructions than calls, or one that the caller decoded. */
static struct xc_body_call *kept_call(const struct xc_body *body, const struct xc_insn *insn)
{
	uintptr_t first = (uintptr_t)body->insns, at = (uintptr_t)insn;
	if (!body->call_count || at < first || at - first >= body->count * sizeof *insn)
		return NULL;
	const struct xc_body_call key = {.insn = (at - first) / sizeof *insn};
	return bsearch(&key, body->calls, body->call_count, sizeof key, compare_calls);
}

const char *xc_body_callee(const struct xc_body *body, const struct xc_insn *insn, xc_addr *addr_out)
{
	struct xc_body_call once = {.asked = false}, *call = kept_call(body, insn);
	if (!call)
		call = &once;
	if (!call->asked)
		call->name = find_callee(body, insn, &call->addr);
	call->asked = true;
	if (addr_out)
		*addr_out = call->addr;
	return call->name;
}

size_t xc_body_first_edge(const struct xc_body *body, size_t to)
{
	return XC_LOWER_BOUND(body->edge_count, i, body->edges[i].to < to);
}

bool xc_body_never_returns(const struct xc_body *body, const struct xc_insn *insn)
{
	static const char *const names[] = {"abort",
					    "exit",
					    "_exit",
					    "quick_exit",
					    "__stack_chk_fail",
					    "__assert_fail",
					    "__assert_perror_fail",
					    "__chk_fail",
					    "__fortify_fail",
					    "longjmp",
					    "siglongjmp",
					    "__longjmp_chk",
					    "pthread_exit",
					    "__cxa_throw",
					    "__cxa_rethrow",
					    "_Unwind_Resume",
					    "__cxa_bad_cast",
					    "__cxa_pure_virtual",
					    "std::terminate",
					    NULL};
	static const char *const prefixes[] = {"std::__throw_",
					       "core::panicking::",
					       "core::result::unwrap_failed",
					       "core::option::unwrap_failed",
					       "core::option::expect_failed",
					       NULL};
	const char *callee = insn->kind == XC_INSN_CALL ? xc_body_callee(body, insn, NULL) : NULL;
	return xc_names_find(names, callee) || xc_names_begin(prefixes, callee);
}

static bool is_target(const struct xc_body *body, size_t at)
{
	size_t e = xc_body_first_edge(body, at);
	return e < body->edge_count && body->edges[e].to == at;
}

static bool goes_on(const struct xc_body *body, size_t at)
{
	const struct xc_insn *before = at > 0 ? &body->insns[at - 1] : NULL;
	return before && before->kind != XC_INSN_JUMP && before->kind != XC_INSN_RETURN &&
	       before->addr + before->length == body->insns[at].addr && !xc_body_never_returns(body, before);
}

/* Is the instruction before it alignment padding of a loop, after a jump? Where no known jump leads to `at`, an
 * unknown one may lead to the padding. */
static bool is_padded(const struct xc_body *body, size_t at)
{
	size_t first = at;
	if (!is_target(body, at))
		return false;
	while (first > 0 && first != body->entry && body->insns[first - 1].kind == XC_INSN_NOP &&
	       goes_on(body, first) && !is_target(body, first - 1))
		first--;
	return first != at && first != body->entry && !goes_on(body, first);
}

bool xc_body_falls_into(const struct xc_body *body, size_t at)
{
	return goes_on(body, at) && !is_padded(body, at);
}
