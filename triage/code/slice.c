/* slice: a walk over predecessors. Each instruction is visited once, until every path has met a definition. A slot
 * is followed by the register that addresses it; where the stack pointer moves, the displacement moves too. */
#include "triage/code/slice.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

struct place {
	int reg; /* the register, or the base of a slot */
	bool slot;
	int64_t displacement;
	uint32_t size;
	bool given; /* a later call got its address */
};

struct walk {
	const struct xc_body *body;
	struct xc_slice *out;
	struct step {
		size_t at; /* the value just before this instruction */
		struct place place;
	} * todo;
	size_t count, capacity;
	uint8_t *seen;       /* indexed by instruction */
	struct place *asked; /* the query at that instruction */
	bool escapes;
	bool given; /* of the place in question */
	unsigned steps;
};

static void define(struct walk *w, enum xc_definition_kind kind, size_t insn, const struct place *place)
{
	struct xc_slice *out = w->out;
	struct xc_slice_definition one = {.kind = kind, .insn = insn, .reg = -1, .before = w->given};
	if (place && kind == XC_DEFINITION_ENTRY) {
		one.reg = place->slot ? -1 : place->reg;
		one.offset = place->displacement;
	}
	for (size_t i = 0; i < out->count; i++)
		if (out->items[i].kind == kind && out->items[i].insn == insn) {
			out->items[i].before &= w->given;
			return;
		}
	if (out->count == XC_DEFINITIONS)
		out->items[XC_DEFINITIONS - 1].kind = XC_DEFINITION_UNKNOWN;
	else
		out->items[out->count++] = one;
}

static void ask(struct walk *w, size_t at, const struct place *place)
{
	if (w->seen[at]) {
		const struct place *before = &w->asked[at];
		if (before->reg != place->reg || before->displacement != place->displacement)
			define(w, XC_DEFINITION_UNKNOWN, at, NULL); /* the stack pointer differs between paths */
		return;
	}
	w->seen[at] = 1;
	w->asked[at] = *place;
	w->todo = xc_grow(w->todo, w->count, &w->capacity, sizeof *w->todo);
	w->todo[w->count++] = (struct step){.at = at, .place = *place};
}

/* ---- what an instruction does to the place ---- */

static bool touches(const struct place *place, const struct xc_insn_memory *m, uint32_t size)
{
	int64_t lo = place->displacement, end = lo + (int64_t)place->size;
	return m->base == place->reg && m->segment < 0 && m->displacement < end &&
	       m->displacement + (int64_t)(size ? size : 1) > lo;
}

/* mov %rsp,%rdi: the address of the top slot */
static bool is_stack_top(const struct xc_body *body, const struct xc_insn *insn, const struct place *place)
{
	const struct xc_arch *arch = body->process->arch;
	return insn->kind == XC_INSN_MOVE && insn->from == arch->sp && insn->to != arch->fp && place->reg == arch->sp &&
	       place->displacement == 0;
}

/* Does the call get the slot's address: a lea into a register in the instructions directly before it? */
static bool is_given(const struct walk *w, size_t call, const struct place *place)
{
	for (size_t i = call; i > 0 && call - i < 10; i--) {
		const struct xc_insn *insn = &w->body->insns[i - 1];
		if (insn->kind == XC_INSN_CALL || insn->kind == XC_INSN_JUMP || insn->kind == XC_INSN_RETURN)
			return false;
		if (insn->kind == XC_INSN_ADDRESS && insn->memory.index < 0 && touches(place, &insn->memory, 1))
			return true;
		if (is_stack_top(w->body, insn, place))
			return true;
	}
	return false;
}

/* True when the search ends here. */
static bool pass_slot(struct walk *w, size_t i, struct place *place)
{
	const struct xc_insn *insn = &w->body->insns[i];
	int sp = w->body->process->arch->sp;
	if (insn->kind == XC_INSN_CALL && w->escapes && is_given(w, i, place)) {
		if (!place->given) /* the call may not set it: the earlier value may remain */
			define(w, XC_DEFINITION_FILLED, i, NULL);
		place->given = w->given = true;
	}
	if (insn->writes_memory && insn->has_memory && touches(place, &insn->memory, insn->memory.size)) {
		bool whole = insn->memory.index < 0 && insn->memory.displacement == place->displacement &&
			     insn->memory.size == place->size;
		define(w, whole ? XC_DEFINITION_INSN : XC_DEFINITION_UNKNOWN, i, NULL);
		return true;
	}
	if (place->reg == sp && insn->kind != XC_INSN_CALL) {
		if (!insn->stack_known) {
			define(w, XC_DEFINITION_UNKNOWN, i, NULL);
			return true;
		}
		bool pushed = insn->kind == XC_INSN_PUSH && place->displacement >= 0 &&
			      place->displacement < -insn->stack_moves;
		place->displacement += insn->stack_moves;
		if (pushed) {
			define(w, XC_DEFINITION_UNKNOWN, i, NULL);
			return true;
		}
	} else if (place->reg != sp && place->reg < 64 && insn->writes >> place->reg & 1) {
		if (insn->kind != XC_INSN_MOVE || insn->from != sp) {
			define(w, XC_DEFINITION_UNKNOWN, i, NULL);
			return true;
		}
		place->reg = sp; /* mov %rsp,%rbp: the frame is set up here */
	}
	return false;
}

static bool is_result(const struct xc_process *process, int reg)
{
	return reg == 0 && process->arch->lr < 0; /* rax, eax */
}

/* Go's own convention preserves no register but the frame pointer and that of the goroutine (Go 1.17 to 1.22,
 * cmd/compile/abi-internal.md). */
static bool is_kept(const struct xc_body *body, int reg)
{
	enum { R14 = 14 };
	const struct xc_arch *arch = body->process->arch;
	if (body->is_go && arch->machine == EM_X86_64)
		return reg == arch->sp || reg == arch->fp || reg == R14;
	return reg == arch->sp || (arch->preserved[0] >> reg & 1);
}

static bool pass_register(struct walk *w, size_t i, const struct place *place)
{
	const struct xc_insn *insn = &w->body->insns[i];
	if (insn->kind == XC_INSN_CALL) {
		bool kept = is_kept(w->body, place->reg);
		if (!kept)
			define(w,
			       is_result(w->body->process, place->reg) ? XC_DEFINITION_RESULT : XC_DEFINITION_UNKNOWN,
			       i, NULL);
		return !kept;
	}
	if (!(insn->writes >> place->reg & 1))
		return false;
	bool known = insn->kind != XC_INSN_OTHER && insn->to == place->reg && !insn->part;
	define(w, known ? XC_DEFINITION_INSN : XC_DEFINITION_UNKNOWN, i, NULL);
	return !(known && (insn->kind == XC_INSN_CHOOSE || insn->kind == XC_INSN_CHOOSE_MEMORY));
}

static void pass(struct walk *w, size_t i, struct place place)
{
	if (!(place.slot ? pass_slot(w, i, &place) : pass_register(w, i, &place)))
		ask(w, i, &place);
}

/* A function of Go whose stack is too small has it moved, and begins again with the same arguments. */
static bool begins_again(const struct xc_body *body, size_t jump)
{
	enum { BACK = 16 };
	if (!body->is_go || body->insns[jump].kind != XC_INSN_JUMP)
		return false;
	for (size_t i = jump; i > 0 && jump - i < BACK; i--) {
		const struct xc_insn *insn = &body->insns[i - 1];
		const char *callee = insn->kind == XC_INSN_CALL ? xc_body_callee(body, insn, NULL) : NULL;
		if (insn->kind == XC_INSN_CALL)
			return callee && strncmp(callee, "runtime.morestack", strlen("runtime.morestack")) == 0;
		if (insn->kind == XC_INSN_JUMP || insn->kind == XC_INSN_RETURN)
			return false;
	}
	return false;
}

static void go_back(struct walk *w, const struct step *step)
{
	const struct xc_body *body = w->body;
	size_t at = step->at, ways = 0;
	w->given = step->place.given;
	if (at == body->entry) {
		define(w, XC_DEFINITION_ENTRY, at, &step->place);
		ways++;
	}
	if (xc_body_falls_into(body, at)) {
		pass(w, at - 1, step->place);
		ways++;
	}
	for (size_t e = xc_body_first_edge(body, at); e < body->edge_count && body->edges[e].to == at; e++, ways++)
		if (at != body->entry || !begins_again(body, body->edges[e].from))
			pass(w, body->edges[e].from, step->place);
	if (!ways)
		define(w, XC_DEFINITION_UNKNOWN, at, NULL); /* a landing pad, or a case of a jump table */
}

static void run(struct walk *w, size_t at, const struct place *place)
{
	const struct xc_body *body = w->body;
	*w->out = (struct xc_slice){.sure = !body->jumps_wild && !body->incomplete && !w->escapes};
	if (at >= body->count || place->reg < 0 || place->reg >= 64) {
		define(w, XC_DEFINITION_UNKNOWN, at, NULL);
		return;
	}
	w->seen = xc_alloc(body->count);
	w->asked = xc_alloc(body->count * sizeof *w->asked);
	ask(w, at, place);
	while (w->count && w->steps++ < XC_SLICE_STEPS) {
		struct step step = w->todo[--w->count];
		go_back(w, &step);
	}
	if (w->count)
		define(w, XC_DEFINITION_UNKNOWN, at, NULL);
	free(w->todo);
	free(w->seen);
	free(w->asked);
}

static void slice_register(const struct xc_body *body, size_t at, int reg, struct xc_slice *out)
{
	struct walk w = {.body = body, .out = out};
	run(&w, at, &(struct place){.reg = reg});
}

enum { COPIES = 8 };

/* Moves between registers that were followed, and those to follow. */
struct copies {
	size_t insns[COPIES];
	size_t count;
	const struct xc_slice_definition *entry; /* what they lead to; NULL: not met yet */
};

/* False when it is something else than the one value at entry, or a copy. */
static bool is_copied(const struct xc_body *body, struct copies *c, const struct xc_slice_definition *d)
{
	if (d->kind == XC_DEFINITION_ENTRY) {
		bool same = !c->entry || c->entry->reg == d->reg;
		c->entry = c->entry ? c->entry : d;
		return same && d->reg >= 0;
	}
	if (d->kind != XC_DEFINITION_INSN || body->insns[d->insn].kind != XC_INSN_MOVE)
		return false;
	for (size_t i = 0; i < c->count; i++)
		if (c->insns[i] == d->insn)
			return true;
	if (c->count == COPIES)
		return false;
	c->insns[c->count++] = d->insn;
	return true;
}

/* A loop may keep an argument in turn in one register and in another: then all definitions are copies of the value at
 * entry. */
static void settle_copies(const struct xc_body *body, struct xc_slice *slice)
{
	struct copies c = {.count = 0};
	struct xc_slice sources[COPIES];
	bool same = slice->count > 1;
	for (size_t i = 0; same && i < slice->count; i++)
		same = is_copied(body, &c, &slice->items[i]);
	for (size_t k = 0; same && k < c.count; k++) {
		slice_register(body, c.insns[k], body->insns[c.insns[k]].from, &sources[k]);
		same = sources[k].count > 0;
		for (size_t i = 0; same && i < sources[k].count; i++)
			same = is_copied(body, &c, &sources[k].items[i]);
	}
	if (!same || !c.entry)
		return;
	slice->items[0] = *c.entry;
	slice->count = 1;
}

void xc_slice_register(const struct xc_body *body, size_t at, int reg, struct xc_slice *out)
{
	slice_register(body, at, reg, out);
	settle_copies(body, out);
}

/* Is the slot's address taken anywhere? */
static bool escapes(const struct xc_body *body, const struct place *place)
{
	for (size_t i = 0; i < body->count; i++)
		if ((body->insns[i].kind == XC_INSN_ADDRESS && touches(place, &body->insns[i].memory, 1)) ||
		    is_stack_top(body, &body->insns[i], place))
			return true;
	return false;
}

void xc_slice_slot(const struct xc_body *body, size_t at, int base, int64_t displacement, uint32_t size,
		   struct xc_slice *out)
{
	struct place place = {.reg = base, .slot = true, .displacement = displacement, .size = size};
	struct walk w = {.body = body, .out = out, .escapes = escapes(body, &place)};
	run(&w, at, &place);
}
