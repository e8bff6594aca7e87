/* go_lookup: m[k] is *runtime.mapaccess1(type, m, k), or of mapaccess2(), which also tells whether there is such a key;
 * without one they lead to a zero value (Go 1.19, runtime/map.go). The first result is in rax (Go 1.17 and later). */
#include "triage/dataflow/go_lookup.h"

#include <elf.h>
#include <string.h>

enum { DEPTH = 8, RAX = 0, RETURNS = 16 };

/* What a value comes from, as far as it is asked. */
enum source { OTHER, LOOKED_UP, NIL, MADE };

struct found {
	enum source source;
	size_t insn;
};

static struct found trace(const struct xc_body *body, size_t at, int reg, unsigned depth);

static bool is_slot(const struct xc_body *body, const struct xc_insn_memory *m)
{
	return m->base == body->process->arch->sp && m->index < 0 && m->segment < 0 && !m->complex;
}

static bool begins(const char *name, const char *with)
{
	return name && strncmp(name, with, strlen(with)) == 0;
}

/* The call that returned what the register has, through copies and slots; XC_BODY_NONE: none. */
static long result_call(const struct xc_body *body, size_t at, int reg)
{
	struct xc_slice slice;
	xc_slice_register(body, at, reg, &slice);
	for (unsigned depth = DEPTH; depth; depth--) {
		if (slice.count != 1 || slice.items[0].kind == XC_DEFINITION_ENTRY)
			return XC_BODY_NONE;
		const struct xc_insn *insn = &body->insns[slice.items[0].insn];
		size_t here = slice.items[0].insn;
		if (slice.items[0].kind == XC_DEFINITION_RESULT)
			return (long)here;
		if (slice.items[0].kind != XC_DEFINITION_INSN)
			return XC_BODY_NONE;
		if ((insn->kind == XC_INSN_MOVE || insn->kind == XC_INSN_STORE) && insn->from >= 0)
			xc_slice_register(body, here, insn->from, &slice);
		else if (insn->kind == XC_INSN_LOAD && is_slot(body, &insn->memory))
			xc_slice_slot(body, here, insn->memory.base, insn->memory.displacement, insn->memory.size,
				      &slice);
		else
			return XC_BODY_NONE;
	}
	return XC_BODY_NONE;
}

static struct found of_load(const struct xc_body *body, size_t at)
{
	const struct xc_insn_memory *m = &body->insns[at].memory;
	if (m->base < 0 || m->index >= 0 || m->displacement || m->complex)
		return (struct found){.source = OTHER};
	long call = result_call(body, at, m->base);
	const char *callee = call >= 0 ? xc_body_callee(body, &body->insns[call], NULL) : NULL;
	if (!begins(callee, "runtime.mapaccess1") && !begins(callee, "runtime.mapaccess2"))
		return (struct found){.source = OTHER};
	return (struct found){.source = LOOKED_UP, .insn = (size_t)call};
}

static struct found of_definition(const struct xc_body *body, const struct xc_slice_definition *d, unsigned depth)
{
	const struct xc_insn *insn = &body->insns[d->insn];
	const char *callee;
	struct xc_slice slice;
	if (d->kind == XC_DEFINITION_RESULT) {
		callee = xc_body_callee(body, insn, NULL);
		return (struct found){.source = begins(callee, "runtime.newobject") ? MADE : OTHER};
	}
	if (d->kind != XC_DEFINITION_INSN)
		return (struct found){.source = OTHER};
	switch (insn->kind) {
	case XC_INSN_MOVE:
	case XC_INSN_STORE:
		return insn->from >= 0 ? trace(body, d->insn, insn->from, depth) : (struct found){.source = OTHER};
	case XC_INSN_CONSTANT:
	case XC_INSN_STORE_CONSTANT:
		return (struct found){.source = insn->constant ? MADE : NIL, .insn = d->insn};
	case XC_INSN_ADDRESS:
		return (struct found){.source = MADE};
	case XC_INSN_LOAD:
		if (!is_slot(body, &insn->memory))
			return of_load(body, d->insn);
		xc_slice_slot(body, d->insn, insn->memory.base, insn->memory.displacement, insn->memory.size, &slice);
		return slice.count == 1 ? of_definition(body, &slice.items[0], depth) : (struct found){.source = OTHER};
	default:
		return (struct found){.source = OTHER};
	}
}

/* Several ways lead to the same only when each definition is the same. */
static struct found trace(const struct xc_body *body, size_t at, int reg, unsigned depth)
{
	struct xc_slice slice;
	if (!depth)
		return (struct found){.source = OTHER};
	xc_slice_register(body, at, reg, &slice);
	return slice.count == 1 ? of_definition(body, &slice.items[0], depth - 1) : (struct found){.source = OTHER};
}

static bool is_asked(const struct xc_body *body)
{
	return body->is_go && body->process->arch->machine == EM_X86_64;
}

long xc_go_lookup_call(const struct xc_body *body, size_t at, int reg)
{
	struct found one = {.source = OTHER};
	if (is_asked(body) && reg >= 0)
		one = trace(body, at, reg, DEPTH);
	return one.source == LOOKED_UP ? (long)one.insn : XC_BODY_NONE;
}

/* The only way to return this source, where all others are made. */
static long sole_return(const struct xc_body *body, enum source source)
{
	long found = XC_BODY_NONE;
	size_t returns = 0;
	for (size_t i = 0; is_asked(body) && i < body->count; i++) {
		struct xc_slice slice;
		if (body->insns[i].kind != XC_INSN_RETURN)
			continue;
		if (++returns > RETURNS)
			return XC_BODY_NONE;
		xc_slice_register(body, i, RAX, &slice);
		for (size_t k = 0; k < slice.count; k++) {
			struct found one = of_definition(body, &slice.items[k], DEPTH);
			if (one.source == MADE)
				continue;
			if (one.source != source || (found >= 0 && found != (long)one.insn))
				return XC_BODY_NONE;
			found = (long)one.insn;
		}
	}
	return found;
}

long xc_go_lookup_returned(const struct xc_body *body)
{
	return sole_return(body, LOOKED_UP);
}

long xc_go_lookup_nil(const struct xc_body *body)
{
	return sole_return(body, NIL);
}
