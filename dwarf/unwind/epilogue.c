/* epilogue: a walk over paths from pc, the nearest code first, each instruction once.
 *
 * Slots below sp are not followed: what the path itself pushes there is not in memory yet, and it is popped before the
 * return; a register that is loaded from such a slot has the value that it has now. */
#include "dwarf/unwind/epilogue.h"

#include <stdlib.h>
#include <string.h>

#include "dwarf/decode/stackop.h"

enum { MAX_READ = 1024, MAX_PATHS = 64, SEEN_SLOTS = 4096, REGISTERS = 32, FAR = 1 << 24 };

enum state {
	KEPT,
	LOADED,   /* from `places` */
	COMPUTED, /* the frame pointer: from sp or itself */
	LOST,
};

struct path {
	xc_addr pc;
	struct xc_stack_place sp, fp; /* fp: when COMPUTED */
	uint8_t states[REGISTERS];
	struct xc_stack_place places[REGISTERS];
};

struct walk {
	const struct xc_process *process;
	xc_addr lo, hi;
	struct path pending[MAX_PATHS];
	size_t pending_count;
	xc_addr seen[SEEN_SLOTS];
	struct xc_epilogue *out;
	struct xc_epilogue tails; /* ways by a jump to another function as the last action */
	xc_addr goal;             /* an instruction: at the first arrival the walk ends; 0: none */
	bool arrived;
	struct xc_stack_place sp; /* at the arrival */
};

/* False when it was seen before. */
static bool mark(struct walk *w, xc_addr pc)
{
	size_t at = (size_t)(pc * UINT64_C(0x9e3779b97f4a7c15) >> 40) % SEEN_SLOTS;
	while (w->seen[at] && w->seen[at] != pc)
		at = (at + 1) % SEEN_SLOTS;
	bool fresh = !w->seen[at];
	w->seen[at] = pc;
	return fresh;
}

static bool inside(const struct walk *w, xc_addr pc)
{
	return pc && (!w->hi || (pc >= w->lo && pc < w->hi));
}

static void follow(struct walk *w, const struct path *path, xc_addr pc)
{
	if (!inside(w, pc) || w->pending_count == MAX_PATHS)
		return;
	w->pending[w->pending_count] = *path;
	w->pending[w->pending_count++].pc = pc;
}

/* ---- ways out ---- */

static bool same_place(struct xc_stack_place a, struct xc_stack_place b)
{
	return a.by_fp == b.by_fp && a.at == b.at;
}

static bool below(struct xc_stack_place place)
{
	return !place.by_fp && place.at < 0;
}

static bool plausible(struct xc_stack_place place)
{
	return !below(place) && place.at > -FAR && place.at < FAR;
}

static void leave(const struct walk *w, const struct path *path, struct xc_epilogue *out)
{
	const struct xc_arch *arch = w->process->arch;
	struct xc_way_out way = {.ret = path->sp, .sp = path->sp};
	if (arch->lr >= 0) {
		way.in_link = path->states[arch->lr] == KEPT;
		way.ret = path->places[arch->lr];
		if (path->states[arch->lr] != KEPT && path->states[arch->lr] != LOADED)
			return;
	} else {
		way.sp.at += arch->reg_size;
	}
	if ((!way.in_link && !plausible(way.ret)) || !plausible(way.sp))
		return;
	for (size_t i = 0; i < out->count; i++)
		if (same_place(out->ways[i].sp, way.sp) && same_place(out->ways[i].ret, way.ret))
			return;
	for (int reg = 0; reg < REGISTERS; reg++) {
		if (path->states[reg] == KEPT)
			way.kept |= UINT32_C(1) << reg;
		if (path->states[reg] != LOADED || !plausible(path->places[reg]))
			continue;
		way.restored |= UINT32_C(1) << reg;
		way.places[reg] = path->places[reg];
	}
	if (out->count < XC_WAYS_OUT)
		out->ways[out->count++] = way;
}

/* ---- effects ---- */

static void write_registers(struct path *path, uint64_t writes)
{
	for (int reg = 0; reg < REGISTERS; reg++)
		if (writes >> reg & 1)
			path->states[reg] = LOST;
}

/* The place of an operand relative to sp or the frame pointer; false when the frame pointer is not known. */
static bool place_of(const struct path *path, int fp, bool by_fp, int64_t at, struct xc_stack_place *out)
{
	*out = path->sp;
	if (by_fp && path->states[fp] == KEPT)
		*out = (struct xc_stack_place){.by_fp = true};
	else if (by_fp && path->states[fp] == COMPUTED)
		*out = path->fp;
	else if (by_fp)
		return false;
	out->at += at;
	return true;
}

/* False when sp is not known any more. */
static bool apply(struct walk *w, const struct xc_stackop *op, struct path *path)
{
	int fp = w->process->arch->fp;
	struct xc_stack_place place, sp = path->sp;
	if (op->sp_lost || (op->sets_sp && !place_of(path, fp, true, op->from_fp, &sp)))
		return false;
	path->sp = sp;
	write_registers(path, op->writes);
	for (size_t i = 0; i < op->load_count; i++) {
		int reg = op->loads[i].reg;
		if (reg < 0 || reg >= REGISTERS)
			continue;
		bool known = place_of(path, fp, op->loads[i].by_fp, op->loads[i].at, &place);
		path->states[reg] = !known ? LOST : below(place) ? KEPT : LOADED;
		path->places[reg] = place;
	}
	if (op->fp_from_sp) {
		path->states[fp] = COMPUTED;
		path->fp = path->sp;
		path->fp.at += op->fp_add;
	}
	path->sp.at += op->moves;
	return path->sp.at > -FAR && path->sp.at < FAR;
}

static void walk_path(struct walk *w, struct path path)
{
	struct xc_stackop op, before;
	bool any = false;
	while (!w->arrived) {
		if (w->goal && path.pc == w->goal) {
			w->arrived = true;
			w->sp = path.sp;
			return;
		}
		if (!inside(w, path.pc) || w->out->read == MAX_READ || !mark(w, path.pc))
			return;
		w->out->read++;
		if (!xc_stackop_decode(w->process, path.pc, any ? &before : NULL, &op))
			return;
		if (op.flow == XC_STACKOP_RETURN)
			leave(w, &path, w->out);
		if (op.flow == XC_STACKOP_RETURN || op.flow == XC_STACKOP_END || !apply(w, &op, &path))
			return;
		if (op.flow == XC_STACKOP_BRANCH)
			follow(w, &path, op.target);
		if (op.flow == XC_STACKOP_JUMP && op.target && !inside(w, op.target))
			leave(w, &path, &w->tails);
		if (op.flow == XC_STACKOP_JUMP && !op.target)
			return;
		path.pc = op.flow == XC_STACKOP_JUMP ? op.target : path.pc + op.length;
		before = op;
		any = true;
	}
}

/* NULL: this machine's code is not read. */
static struct walk *begin(const struct xc_process *process, xc_addr pc, xc_addr lo, xc_addr hi, struct xc_epilogue *out)
{
	if (!xc_stackop_decodes(process) || process->arch->fp < 0)
		return NULL;
	struct walk *w = xc_alloc(sizeof *w); /* large, and zeroed */
	w->process = process;
	w->lo = lo;
	w->hi = hi;
	w->out = out;
	follow(w, &(struct path){.pc = pc}, pc);
	return w;
}

void xc_epilogue_read(const struct xc_process *process, xc_addr pc, xc_addr lo, xc_addr hi, bool tails,
		      struct xc_epilogue *out)
{
	*out = (struct xc_epilogue){.pc = pc};
	struct walk *w = begin(process, pc, lo, hi, out);
	if (!w)
		return;
	while (w->pending_count && out->count < XC_WAYS_OUT && out->read < MAX_READ)
		walk_path(w, w->pending[--w->pending_count]);
	if (tails && !out->count) {
		out->count = w->tails.count;
		memcpy(out->ways, w->tails.ways, sizeof out->ways);
	}
	free(w);
}

bool xc_epilogue_depth(const struct xc_process *process, xc_addr lo, xc_addr hi, xc_addr pc, uint64_t *depth_out,
		       uint64_t *cost)
{
	struct xc_epilogue none = {.pc = pc};
	struct walk *w = pc < lo || pc > hi ? NULL : begin(process, lo, lo, hi, &none);
	if (!w)
		return false;
	w->goal = pc;
	while (w->pending_count && none.read < MAX_READ && !w->arrived)
		walk_path(w, w->pending[--w->pending_count]);
	bool known = w->arrived && !w->sp.by_fp && w->sp.at <= 0;
	*depth_out = known ? (uint64_t)-w->sp.at : 0;
	*cost += none.read;
	free(w);
	return known;
}
