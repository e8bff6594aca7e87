#include "triage/code/loop.h"

#include <stdlib.h>

enum { FLAGS_KEPT = 3 }; /* moves between a comparison and its branch */

/* ---- which jumps back make a loop ---- */

struct walk {
	const struct xc_body *body;
	size_t first, last; /* the walk stays between these */
	bool *seen;
	size_t *todo, count;
};

static void visit(struct walk *w, long at)
{
	if (at < (long)w->first || at > (long)w->last || w->seen[(size_t)at - w->first])
		return;
	w->seen[(size_t)at - w->first] = true;
	w->todo[w->count++] = (size_t)at;
}

static bool falls_through(const struct xc_insn *insn)
{
	return insn->kind != XC_INSN_JUMP && insn->kind != XC_INSN_RETURN;
}

/* Does the code lead from one instruction to another, without leaving what is between the two ends? */
static bool leads(struct walk *w, size_t from, size_t to)
{
	const struct xc_body *body = w->body;
	for (size_t i = w->first; i <= w->last; i++)
		w->seen[i - w->first] = false;
	w->count = 0;
	visit(w, (long)from);
	while (w->count && !w->seen[to - w->first]) {
		size_t at = w->todo[--w->count];
		const struct xc_insn *insn = &body->insns[at];
		if (falls_through(insn))
			visit(w, (long)at + 1);
		if (insn->has_target && (insn->kind == XC_INSN_JUMP || insn->kind == XC_INSN_BRANCH))
			visit(w, xc_body_at(body, insn->target));
	}
	return w->seen[to - w->first];
}

/* A jump back to what the function does at its end, past code that was moved behind that, makes none. */
static bool goes_round(const struct xc_body *body, const struct xc_body_edge *e, size_t at)
{
	size_t size = e->from - e->to + 1;
	if (body->jumps_wild || body->incomplete)
		return true;
	struct walk w = {.body = body, .first = e->to, .last = e->from};
	w.seen = xc_alloc(size * sizeof *w.seen);
	w.todo = xc_alloc(size * sizeof *w.todo);
	bool round = leads(&w, e->to, at) && leads(&w, at, e->from);
	free(w.seen);
	free(w.todo);
	return round;
}

bool xc_loop_around(const struct xc_body *body, size_t at, const struct xc_loop *inner, struct xc_loop *out)
{
	size_t best = SIZE_MAX;
	for (size_t i = 0; i < body->edge_count; i++) {
		const struct xc_body_edge *e = &body->edges[i];
		size_t size = e->from - e->to;
		bool around = e->to <= e->from && e->to <= at && at <= e->from;
		bool larger = !inner ||
			      (e->to <= inner->first && e->from >= inner->last && size > inner->last - inner->first);
		if (!around || !larger || size >= best || !goes_round(body, e, at))
			continue;
		best = size;
		*out = (struct xc_loop){.first = e->to, .last = e->from};
	}
	return best != SIZE_MAX;
}

bool xc_loop_has(const struct xc_loop *loop, size_t insn)
{
	return insn >= loop->first && insn <= loop->last;
}

static bool leaves(const struct xc_body *body, const struct xc_loop *loop, const struct xc_insn *insn)
{
	if (insn->kind == XC_INSN_RETURN)
		return true;
	if ((insn->kind != XC_INSN_JUMP && insn->kind != XC_INSN_BRANCH) || !insn->has_target)
		return false;
	return insn->target < body->insns[loop->first].addr || insn->target > body->insns[loop->last].addr;
}

static bool is_left_inside(const struct xc_body *body, const struct xc_loop *loop)
{
	for (size_t i = loop->first; i <= loop->last; i++)
		if (body->insns[i].kind != XC_INSN_BRANCH && leaves(body, loop, &body->insns[i]))
			return true;
	return false;
}

/* The branch that a comparison decides; XC_BODY_NONE: none in the loop. */
static long branch_of(const struct xc_body *body, const struct xc_loop *loop, size_t comparison)
{
	size_t at = comparison + 1, end = comparison + 1 + FLAGS_KEPT;
	while (at < end && at <= loop->last &&
	       (body->insns[at].kind == XC_INSN_MOVE || body->insns[at].kind == XC_INSN_LOAD))
		at++;
	return at > loop->last || body->insns[at].kind != XC_INSN_BRANCH ? XC_BODY_NONE : (long)at;
}

bool xc_loop_ends_by(const struct xc_body *body, const struct xc_loop *loop, size_t comparison)
{
	const long at = branch_of(body, loop, comparison);
	return at >= 0 &&
	       ((size_t)at == loop->last || leaves(body, loop, &body->insns[at]) || is_left_inside(body, loop));
}

unsigned xc_loop_condition(const struct xc_body *body, size_t branch)
{
	enum { SHORT = 0x70, SECOND_PAGE = 0x0f, NEAR_JUMP = 0x80 };
	const struct xc_insn *insn = &body->insns[branch];
	uint8_t code[2] = {0};
	if (!xc_arch_is_x86_64(body->process->arch) ||
	    xc_space_peek(body->process->space, insn->addr, code, sizeof code) < sizeof code)
		return 0;
	if ((code[0] & 0xf0) == SHORT)
		return code[0] & 15u;
	return code[0] == SECOND_PAGE && (code[1] & 0xf0) == NEAR_JUMP ? code[1] & 15u : 0;
}

enum xc_loop_end xc_loop_ends_when(const struct xc_body *body, const struct xc_loop *loop, size_t comparison)
{
	enum { EQUAL = 4 };
	const long at = branch_of(body, loop, comparison);
	const unsigned condition = at < 0 ? 0 : xc_loop_condition(body, (size_t)at);
	if (condition >> 1 != EQUAL >> 1)
		return XC_LOOP_END_UNKNOWN;
	const bool goes = leaves(body, loop, &body->insns[at]);
	if (!goes && (size_t)at != loop->last)
		return XC_LOOP_END_UNKNOWN;
	return (condition == EQUAL) == goes ? XC_LOOP_END_EQUAL : XC_LOOP_END_UNEQUAL;
}

bool xc_loop_writes(const struct xc_body *body, const struct xc_loop *loop, int reg)
{
	for (size_t i = loop->first; i <= loop->last; i++)
		if (reg >= 0 && reg < 64 && (body->insns[i].writes >> reg & 1))
			return true;
	return false;
}
