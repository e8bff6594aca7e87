/* origin_disproved: a way that a value may have come, which memory as it is now shows to be wrong. */
#include "triage/dataflow/origin.h"

#include <stdlib.h>

/* The instructions that may have run before what runs now, back to the definition. */
struct back {
	const struct xc_body *body;
	size_t *todo, count;
	uint8_t *seen;
};

static void come(struct back *b, size_t at)
{
	if (b->seen[at])
		return;
	b->seen[at] = 1;
	b->todo[b->count++] = at;
}

static void come_before(struct back *b, size_t at)
{
	if (xc_body_falls_into(b->body, at))
		come(b, at - 1);
	for (size_t e = xc_body_first_edge(b->body, at); e < b->body->edge_count && b->body->edges[e].to == at; e++)
		come(b, b->body->edges[e].from);
}

static bool changes(const struct xc_frame_code *s, const struct xc_insn *insn)
{
	return insn->kind == XC_INSN_CALL ||
	       (insn->writes_memory && insn->kind != XC_INSN_PUSH && !xc_frame_code_is_slot(s, &insn->memory));
}

/* Does nothing on the way from the instruction (XC_BODY_NONE: the entry) change memory of others? */
static bool is_untouched(const struct xc_frame_code *s, long from)
{
	struct back b = {.body = s->body};
	bool good = !s->body->incomplete && !s->body->jumps_wild;
	b.todo = xc_alloc(s->body->count * sizeof *b.todo);
	b.seen = xc_alloc(s->body->count);
	come_before(&b, s->at);
	while (good && b.count) {
		size_t at = b.todo[--b.count];
		if ((long)at == from)
			continue;
		good = !changes(s, &s->body->insns[at]);
		come_before(&b, at);
	}
	free(b.todo);
	free(b.seen);
	return good;
}

/* The variable at a fixed address that the value was read from. */
static bool read_variable(const struct xc_frame_code *s, const struct xc_linear_expr *form, uint64_t *value, long *at)
{
	const struct xc_symbolic_value *term = &form->parts[0].term;
	const struct xc_insn *insn = &s->body->insns[term->at];
	const struct xc_insn_memory *m = &insn->memory;
	*at = (long)term->at;
	return term->kind == XC_SYMBOLIC_LOADED && !term->slot && insn->kind == XC_INSN_LOAD && insn->has_memory &&
	       m->base < 0 && m->index < 0 && m->segment < 0 && !m->complex &&
	       m->size == s->crash->process->arch->word &&
	       xc_space_peek_uint(s->crash->process->space, (uint64_t)m->displacement, m->size, value);
}

bool xc_origin_disproved(const struct xc_frame_code *s, const struct xc_slice_definition *d,
			 const struct xc_frame_code *whose, const struct xc_linear_expr *form, uint64_t value)
{
	uint64_t now = 0;
	long from = XC_BODY_NONE;
	if (s->frame || s->crash->process->thread_count != 1 || !form->known || form->count != 1 ||
	    form->parts[0].times != 1 || form->constant || !xc_frame_code_spend(s))
		return false;
	bool known = d->kind == XC_DEFINITION_ENTRY && d->reg >= 0 ? xc_origin_value(whose, form, &now)
		     : d->kind == XC_DEFINITION_INSN               ? read_variable(s, form, &now, &from)
								   : false;
	return known && now != value && is_untouched(s, from);
}
