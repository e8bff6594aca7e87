/* linear_expr: equal terms of a sum are merged; a sum with too many terms is not known. */
#include "triage/code/linear_expr.h"

#include <string.h>

struct xc_linear_expr xc_linear_expr_constant(int64_t constant)
{
	return (struct xc_linear_expr){.known = true, .sure = true, .constant = constant};
}

struct xc_linear_expr xc_linear_expr_term(const struct xc_symbolic_value *term, bool sure)
{
	struct xc_linear_expr form = {.known = true, .sure = sure, .count = 1};
	form.parts[0] = (struct xc_linear_expr_part){.term = *term, .times = 1};
	return form;
}

static bool same_term(const struct xc_symbolic_value *a, const struct xc_symbolic_value *b)
{
	if (a->text && b->text)
		return strcmp(a->text, b->text) == 0 && a->kind != XC_SYMBOLIC_RESULT;
	return !a->text && !b->text && a->kind == b->kind && a->at == b->at && a->reg == b->reg;
}

void xc_linear_expr_add_part(struct xc_linear_expr *form, const struct xc_linear_expr_part *part, int64_t times)
{
	int64_t all = (int64_t)((uint64_t)part->times * (uint64_t)times);
	for (size_t i = 0; i < form->count; i++) {
		if (!same_term(&form->parts[i].term, &part->term))
			continue;
		form->parts[i].times = (int64_t)((uint64_t)form->parts[i].times + (uint64_t)all);
		return;
	}
	if (form->count == XC_LINEAR_EXPR_PARTS) {
		form->known = false;
		return;
	}
	form->parts[form->count] = *part;
	form->parts[form->count++].times = all;
}

void xc_linear_expr_add(struct xc_linear_expr *form, const struct xc_linear_expr *other, int64_t times)
{
	form->known &= other->known && !(other->absolute && (times != 1 || form->absolute));
	form->sure &= other->sure;
	form->absolute |= other->absolute;
	form->constant = (int64_t)((uint64_t)form->constant + (uint64_t)other->constant * (uint64_t)times);
	for (size_t i = 0; i < other->count && form->known; i++)
		xc_linear_expr_add_part(form, &other->parts[i], times);
}

bool xc_linear_expr_same(const struct xc_linear_expr *a, const struct xc_linear_expr *b)
{
	if (!a->known || !b->known || a->constant != b->constant || a->count != b->count || a->absolute != b->absolute)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (a->parts[i].times != b->parts[i].times || !same_term(&a->parts[i].term, &b->parts[i].term))
			return false;
	return true;
}
