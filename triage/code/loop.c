#include "triage/code/loop.h"

enum { FLAGS_KEPT = 3 }; /* moves between a comparison and its branch */

bool xc_loop_around(const struct xc_body *body, size_t at, const struct xc_loop *inner, struct xc_loop *out)
{
	size_t best = SIZE_MAX;
	for (size_t i = 0; i < body->edge_count; i++) {
		const struct xc_body_edge *e = &body->edges[i];
		size_t size = e->from - e->to;
		bool around = e->to <= e->from && e->to <= at && at <= e->from;
		bool larger = !inner ||
			      (e->to <= inner->first && e->from >= inner->last && size > inner->last - inner->first);
		if (!around || !larger || size >= best)
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

bool xc_loop_ends_by(const struct xc_body *body, const struct xc_loop *loop, size_t comparison)
{
	size_t at = comparison + 1, end = comparison + 1 + FLAGS_KEPT;
	while (at < end && at <= loop->last &&
	       (body->insns[at].kind == XC_INSN_MOVE || body->insns[at].kind == XC_INSN_LOAD))
		at++;
	if (at > loop->last || body->insns[at].kind != XC_INSN_BRANCH)
		return false;
	return at == loop->last || leaves(body, loop, &body->insns[at]) || is_left_inside(body, loop);
}

bool xc_loop_writes(const struct xc_body *body, const struct xc_loop *loop, int reg)
{
	for (size_t i = loop->first; i <= loop->last; i++)
		if (reg >= 0 && reg < 64 && (body->insns[i].writes >> reg & 1))
			return true;
	return false;
}
