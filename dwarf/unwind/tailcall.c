/* tailcall: a search over call sites.
 *
 *   caller ──call site──→ F0 ──tail──→ F1 ──tail──→ callee          F0 and F1 have left no frame
 *
 *                       ┌─→ A ─┐
 *   caller ──→ F0 ──→ F1       F2 ──→ callee                         F0, F1 by their only way on, F2 by the only way in
 *                       └─→ B ─┘
 *
 * The functions that F0 can reach by tail calls are collected up to the callee. A tail call with an unknown target
 * may lead anywhere, and so may functions beyond a limit: then the answer is none. Paths that visit a function twice
 * do not count as different paths: for loops, too, the number of rounds is unknown. The answer lies on all paths, so
 * it dominates the callee, and each query for the answer itself comes nearer to F0. */
#include "dwarf/unwind/tailcall.h"

#include <stdlib.h>
#include <string.h>

#include "dwarf/decode/disas.h"
#include "dwarf/elf/pointer_map.h"
#include "dwarf/unwind/sitetarget.h"
#include "dwarf/unwind/tailsites.h"

enum {
	MAX_FUNCTIONS = 64, /* of one search; chains are seldom longer than three */
	MAX_CALLS = 512,
	MAX_READ = 2048, /* functions whose sites are read, per process */
};

struct xc_tailcalls {
	const struct xc_process *process;
	struct xc_arena arena;
	struct xc_pointer_map answers; /* (DIE of the callee's function, place of the caller) → struct xc_lost_call */
	struct xc_pointer_map
		by_symbol;           /* the same for functions that only a symbol names: (first instruction, place) */
	struct xc_pointer_map sites; /* (first instruction of a function) → struct xc_tailsites */
	size_t read;
	struct xc_disas *disas;
};

enum { GOAL = MAX_FUNCTIONS };

struct call {
	size_t from, to; /* indexes of functions, or GOAL */
	xc_addr end;
};

/* The functions between the one that was called and the callee, and their calls of each other. */
struct graph {
	xc_addr goal;
	xc_addr functions[MAX_FUNCTIONS];
	size_t function_count;
	struct call calls[MAX_CALLS];
	size_t call_count;
};

struct xc_tailcalls *xc_tailcalls_new(const struct xc_process *process)
{
	struct xc_tailcalls *t = xc_alloc(sizeof *t);
	t->process = process;
	return t;
}

void xc_tailcalls_free(struct xc_tailcalls *t)
{
	if (!t)
		return;
	xc_disas_close(t->disas);
	xc_arena_fini(&t->arena);
	free(t);
}

/* ---- the graph ---- */

static const struct xc_tailsites *sites_of(struct xc_tailcalls *t, xc_addr entry)
{
	void **slot = xc_pointer_map_at(&t->sites, &t->arena, (const void *)(uintptr_t)entry, NULL);
	if (*slot)
		return *slot;
	struct xc_tailsites *sites = xc_arena_alloc(&t->arena, sizeof *sites);
	*slot = sites;
	if (t->read++ < MAX_READ)
		xc_tailsites_read(t->process, entry, &t->arena, &t->disas, sites);
	return sites;
}

/* The index of a function, which may be new; false when there are too many. */
static bool index_of(struct graph *g, xc_addr entry, size_t *index_out)
{
	size_t i = 0;
	while (i < g->function_count && g->functions[i] != entry)
		i++;
	*index_out = entry == g->goal ? GOAL : i;
	if (entry == g->goal || i < g->function_count)
		return true;
	if (i == MAX_FUNCTIONS)
		return false;
	g->functions[g->function_count++] = entry;
	return true;
}

/* False when a path may have been missed. */
static bool collect(struct xc_tailcalls *t, struct graph *g, xc_addr first)
{
	size_t index;
	bool whole = index_of(g, first, &index);
	for (size_t from = 0; from < g->function_count && whole; from++) {
		const struct xc_tailsites *sites = sites_of(t, g->functions[from]);
		whole = sites->whole;
		for (size_t i = 0; i < sites->count && whole; i++) {
			whole = index_of(g, sites->items[i].target, &index) && g->call_count < MAX_CALLS;
			if (whole)
				g->calls[g->call_count++] =
					(struct call){.from = from, .to = index, .end = sites->items[i].end};
		}
	}
	return whole;
}

/* ---- paths ---- */

/* Find the functions that can reach the goal without those in `passed`. */
static void mark_useful(const struct graph *g, const bool *passed, bool useful[MAX_FUNCTIONS + 1])
{
	memset(useful, 0, (MAX_FUNCTIONS + 1) * sizeof *useful);
	useful[GOAL] = true;
	for (bool changed = true; changed;) {
		changed = false;
		for (size_t i = g->call_count; i-- > 0;) {
			const struct call *c = &g->calls[i];
			if (useful[c->to] && !useful[c->from] && !passed[c->from])
				changed = useful[c->from] = true;
		}
	}
}

/* The last call of the common beginning of all paths, NULL when there is none; *reached_out: there is only one path. */
static const struct call *common_beginning(const struct graph *g, bool *reached_out)
{
	bool passed[MAX_FUNCTIONS] = {false}, useful[MAX_FUNCTIONS + 1];
	const struct call *last = NULL;
	size_t at = 0;
	while (at != GOAL) {
		const struct call *on = NULL;
		bool one = true;
		passed[at] = true;
		mark_useful(g, passed, useful);
		for (size_t i = 0; i < g->call_count && one; i++) {
			const struct call *c = &g->calls[i];
			if (c->from != at || !useful[c->to])
				continue;
			one = !on;
			on = c;
		}
		if (!on || !one)
			break;
		last = on;
		at = on->to;
	}
	*reached_out = at == GOAL;
	return last;
}

/* The only call of the goal, NULL when there are several or none. */
static const struct call *common_end(const struct graph *g, bool *any_out)
{
	const struct call *found = NULL;
	size_t count = 0;
	for (size_t i = 0; i < g->call_count; i++)
		if (g->calls[i].to == GOAL) {
			found = &g->calls[i];
			count++;
		}
	*any_out = count > 0;
	return count == 1 ? found : NULL;
}

static struct xc_lost_call search(struct xc_tailcalls *t, xc_addr goal, xc_addr first)
{
	struct xc_lost_call none = {.pc = 0};
	struct graph g;
	bool any, only;
	g.goal = goal;
	g.function_count = g.call_count = 0;
	if (!collect(t, &g, first))
		return none;
	const struct call *end = common_end(&g, &any);
	if (!any)
		return none;
	const struct call *beginning = common_beginning(&g, &only), *told = only || !end ? beginning : end;
	return told ? (struct xc_lost_call){.pc = told->end, .partial = !only} : none;
}

/* ---- answers ---- */

static struct xc_lost_call find(struct xc_tailcalls *t, const struct xc_place *below, const struct xc_place *above,
				xc_addr ret)
{
	struct xc_lost_call none = {.pc = 0};
	Dwarf_Die site_die, function;
	struct xc_callee callee = {.entry = xc_site_function(below, &function), .die = &function};
	if (!callee.entry || !above->module || !xc_debuginfo_call_site(above, ret - above->module->bias, &site_die))
		return none;
	if (!function.addr)
		callee.die = NULL;
	struct xc_site site = {.process = t->process, .module = above->module, .die = &site_die, .end = ret};
	xc_addr first = xc_site_target(&site, &callee);
	return first && first != callee.entry ? search(t, callee.entry, first) : none;
}

/* The slot for the answer; NULL when the callee has no name. */
static void **answer_slot(struct xc_tailcalls *t, const struct xc_place *below, const struct xc_place *above)
{
	Dwarf_Die function;
	if (below->level_count > 0 && !below->line_only)
		return xc_pointer_map_at(&t->answers, &t->arena, below->levels[below->level_count - 1].die.addr, above);
	xc_addr entry = xc_site_function(below, &function);
	return entry ? xc_pointer_map_at(&t->by_symbol, &t->arena, (const void *)(uintptr_t)entry, above) : NULL;
}

struct xc_lost_call xc_tailcall_between(struct xc_tailcalls *t, xc_addr callee, xc_addr ret)
{
	const struct xc_place *below = xc_debuginfo_place(t->process, callee);
	const struct xc_place *above = xc_debuginfo_place(t->process, ret - 1);
	void **slot = above->level_count ? answer_slot(t, below, above) : NULL;
	if (!slot)
		return (struct xc_lost_call){.pc = 0};
	if (*slot)
		return *(struct xc_lost_call *)*slot;
	struct xc_lost_call *answer = xc_arena_alloc(&t->arena, sizeof *answer);
	*slot = answer;
	*answer = find(t, below, above, ret);
	return *answer;
}
