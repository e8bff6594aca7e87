/* origin: the slice again, this time for the definition of the value and not for its name. */
#include "triage/dataflow/origin.h"

#include <inttypes.h>
#include <string.h>

#include "triage/code/body_cache.h"
#include "triage/dataflow/go_lookup.h"
#include "triage/dataflow/induction.h"
#include "triage/dataflow/libcall.h"
#include "triage/util/sourceline.h"
#include "triage/util/user_code.h"
#include "triage/code/cxx_accessor.h"

enum { DEPTH = 12, FRAMES = 4, TOLD = 3 };

/* The state of a description: how far it may go, and what is known. */
struct origin_query {
	const struct xc_frame_code *frame_code;
	const uint64_t *value;
	unsigned depth, frames;
	bool pointer; /* the value is known */
	bool number;  /* it is known to be no pointer */
};

static bool describe_register(struct origin_query t, size_t at, int reg, struct xc_text *text, bool *sure);
static bool describe_slot(struct origin_query t, size_t at, const struct xc_insn_memory *m, struct xc_text *text,
			  bool *sure);

bool xc_origin_line(const struct xc_frame_code *s, size_t at, const char *before, struct xc_text *text)
{
	const struct xc_place *place = xc_debuginfo_place(s->crash->process, s->body->insns[at].addr);
	size_t level = 0;
	for (size_t l = place->level_count; l-- > 0;) /* of the library, not inlined code but its call is meant */
		if (xc_user_code_is(place, l))
			level = l;
	if (level < place->level_count && level + 1 == place->level_count && xc_user_code_is(place, level) &&
	    xc_user_code_is_library_line(&place->levels[level]))
		return false; /* what is left of a call that was inlined */
	return xc_sourceline(place, level, before, text);
}

const char *xc_origin_function(const struct xc_frame_code *s)
{
	const struct xc_place *place = xc_debuginfo_place(s->crash->process, s->body->insns[s->at].addr);
	return place->level_count ? place->levels[0].function : place->symbol;
}

/* ---- what a definition says ---- */

static void add_line(const struct xc_process *process, const struct xc_body *body, long at, struct xc_text *text)
{
	xc_sourceline(xc_debuginfo_place(process, body->insns[at].addr), 0, " at ", text);
}

/* How a function of Go came to return nil, where its code has only one way to. */
static void describe_nil(const struct origin_query *t, xc_addr callee, struct xc_text *text)
{
	const struct xc_crash_context *crash = t->frame_code->crash;
	const struct xc_body *body = callee ? xc_body_cache_get(crash->bodies, callee) : NULL;
	if (!body || !body->is_go || !t->value || *t->value || !xc_frame_code_spend(t->frame_code))
		return;
	long looked_up = xc_go_lookup_returned(body), nil = looked_up < 0 ? xc_go_lookup_nil(body) : XC_BODY_NONE;
	if (looked_up >= 0)
		xc_text_add(text, ", likely for a key that its map does not have,");
	else if (nil >= 0)
		xc_text_add(text, ", which likely set it to nil");
	if (looked_up >= 0 || nil >= 0)
		add_line(crash->process, body, looked_up >= 0 ? looked_up : nil, text);
}

static bool describe_result(const struct origin_query *t, size_t call, struct xc_text *text)
{
	const struct xc_frame_code *s = t->frame_code;
	const struct xc_insn *insn = &s->body->insns[call];
	xc_addr start = 0;
	const char *callee = xc_body_callee(s->body, insn, &start);
	if (callee) {
		struct xc_arena *arena = &s->crash->report->arena;
		xc_text_printf(text, "returned by %s()", xc_cxx_accessor_short(xc_libcall_name(callee, arena), arena));
	} else {
		struct xc_linear_expr form = {.known = false};
		struct xc_symbolic_value term = {.text = NULL};
		if (insn->from >= 0)
			form = xc_symbolic_value_register(s, call, insn->from);
		if (form.known && form.count == 1 && form.parts[0].times == 1 && !form.constant)
			term = form.parts[0].term;
		else if (insn->has_memory) {
			form = xc_symbolic_value_address(s, call, &insn->memory);
			if (!xc_symbolic_value_place(s, call, &form, insn->memory.size, &term))
				term.text = NULL;
		}
		if (term.text)
			xc_text_printf(text, "returned by (*%s)()", term.text);
		else
			xc_text_add(text, "returned by a call");
	}
	xc_origin_line(s, call, " at ", text);
	describe_nil(t, start, text);
	return true;
}

static bool describe_constant(const struct origin_query *t, size_t at, struct xc_text *text)
{
	int64_t constant = t->frame_code->body->insns[at].constant;
	if (t->number)
		xc_text_printf(text, "set to %" PRId64, constant);
	else if (constant)
		xc_text_printf(text, "set to 0x%" PRIx64, (uint64_t)constant);
	else
		xc_text_add(text, "set to NULL");
	xc_origin_line(t->frame_code, at, " at ", text);
	return true;
}

/* Memory other than the frame's own: only its name is known. */
static bool describe_place(const struct origin_query *t, size_t at, struct xc_text *text)
{
	const struct xc_insn *insn = &t->frame_code->body->insns[at];
	struct xc_linear_expr form = xc_symbolic_value_address(t->frame_code, at, &insn->memory);
	struct xc_symbolic_value term;
	if (!xc_symbolic_value_place(t->frame_code, at, &form, insn->memory.size, &term))
		return false;
	xc_text_printf(text, "read from `%s`", term.text);
	xc_origin_line(t->frame_code, at, " at ", text);
	return form.sure;
}

/* A key that the map does not have gives nil, as one with a nil does. */
static bool describe_lookup(const struct origin_query *t, size_t at, struct xc_text *text)
{
	const struct xc_body *body = t->frame_code->body;
	const struct xc_insn *insn = &body->insns[at];
	if (!body->is_go || !t->value || *t->value || insn->to < 0 || at + 1 >= body->count)
		return false;
	long call = xc_go_lookup_call(body, at + 1, insn->to);
	if (call < 0)
		return false;
	xc_text_add(text, "looked up in a map");
	xc_origin_line(t->frame_code, (size_t)call, " at ", text);
	xc_text_add(text, ", likely for a key that it does not have");
	return true;
}

static bool describe_load(struct origin_query t, size_t at, struct xc_text *text, bool *sure)
{
	const struct xc_insn *insn = &t.frame_code->body->insns[at];
	if (xc_frame_code_is_slot(t.frame_code, &insn->memory))
		return describe_slot(t, at, &insn->memory, text, sure);
	if (describe_lookup(&t, at, text))
		return true;
	size_t before = text->len;
	bool certain = describe_place(&t, at, text);
	*sure &= certain;
	return text->len > before;
}

static bool describe_insn(struct origin_query t, size_t at, struct xc_text *text, bool *sure)
{
	const struct xc_insn *insn = &t.frame_code->body->insns[at];
	switch (insn->kind) {
	case XC_INSN_MOVE:
	case XC_INSN_STORE:
	case XC_INSN_CHOOSE:
		return insn->from >= 0 && describe_register(t, at, insn->from, text, sure);
	case XC_INSN_CONSTANT:
	case XC_INSN_STORE_CONSTANT:
		return describe_constant(&t, at, text);
	case XC_INSN_LOAD:
	case XC_INSN_CHOOSE_MEMORY:
		return describe_load(t, at, text, sure);
	default:
		return false;
	}
}

/* ---- into the callers ---- */

/* The result of a call is fully described by its origin. */
static const char *form_text(const struct xc_linear_expr *form)
{
	bool one = form->count == 1 && form->parts[0].times == 1 && !form->constant;
	return one && form->parts[0].term.kind != XC_SYMBOLIC_RESULT ? form->parts[0].term.text : NULL;
}

/* "read from `x`" for a value described as `x`. */
static bool is_read_of(const char *told, const char *name)
{
	static const char read[] = "read from `";
	size_t len = strlen(name);
	return strncmp(told, read, sizeof read - 1) == 0 && strncmp(told + sizeof read - 1, name, len) == 0 &&
	       told[sizeof read - 1 + len] == '`';
}

static bool describe_caller(struct origin_query t, int reg, struct xc_text *text)
{
	struct xc_frame_code caller;
	struct xc_linear_expr form;
	if (!t.frames || !xc_symbolic_value_caller(t.frame_code, reg, &caller, &form))
		return false;
	const char *function = xc_origin_function(&caller);
	if (function && strncmp(function, "__libc_start", strlen("__libc_start")) == 0)
		return false; /* main's */
	bool null = !form.count && !form.absolute && !form.constant;
	const char *name = form_text(&form);
	if (!function || (null && t.value && *t.value))
		return false;
	xc_text_printf(text, "passed%s by %s()",
		       !null      ? ""
		       : t.number ? " as 0"
				  : " as NULL",
		       xc_cxx_accessor_short(function, &t.frame_code->crash->report->arena));
	xc_origin_line(&caller, caller.at, " at ", text);
	if (name)
		xc_text_printf(text, " as `%s`", name);
	if (null)
		return true;
	struct xc_text more = {0};
	bool further_sure = true;
	t.frame_code = &caller;
	t.frames--;
	bool told = describe_register(t, caller.at, reg, &more, &further_sure) && more.len;
	if (told && !(name && is_read_of(xc_text_string(&more), name)))
		xc_text_printf(text, ", %s%s", further_sure ? "" : "likely ", xc_text_string(&more));
	xc_text_fini(&more);
	return true;
}

/* ---- the paths together ---- */

static bool describe_entry(struct origin_query t, const struct xc_slice_definition *d, struct xc_text *text)
{
	if (d->reg >= 0)
		return describe_caller(t, d->reg, text);
	if (d->offset >= 0)
		return false; /* an argument on the stack */
	const char *function = xc_origin_function(t.frame_code);
	xc_text_printf(text, "never set%s%s%s", function ? " in " : "", function ? function : "", function ? "()" : "");
	return true;
}

static bool describe_definition(struct origin_query t, const struct xc_slice_definition *d, struct xc_text *text,
				bool *sure)
{
	const char *callee;
	switch (d->kind) {
	case XC_DEFINITION_INSN:
		return describe_insn(t, d->insn, text, sure);
	case XC_DEFINITION_RESULT:
		return describe_result(&t, d->insn, text);
	case XC_DEFINITION_ENTRY:
		return describe_entry(t, d, text);
	case XC_DEFINITION_FILLED:
		callee = xc_body_callee(t.frame_code->body, &t.frame_code->body->insns[d->insn], NULL);
		if (!callee)
			return false;
		callee = xc_cxx_accessor_short(callee, &t.frame_code->crash->report->arena);
		xc_text_printf(text, "set by %s(), which got its address,", callee);
		xc_origin_line(t.frame_code, d->insn, " at ", text);
		*sure = false;
		return true;
	default:
		return false;
	}
}

/* The value that a definition set, and the code that describes it: this frame's, or its caller's. */
static struct xc_linear_expr form_of(const struct xc_frame_code *s, const struct xc_slice_definition *d,
				     struct xc_frame_code *whose)
{
	const struct xc_insn *insn = &s->body->insns[d->insn];
	struct xc_linear_expr form = {.known = false};
	*whose = *s;
	if (d->kind == XC_DEFINITION_ENTRY && d->reg >= 0 && !xc_symbolic_value_caller(s, d->reg, whose, &form))
		return (struct xc_linear_expr){.known = false};
	if (d->kind == XC_DEFINITION_INSN && insn->kind == XC_INSN_STORE_CONSTANT)
		form = (struct xc_linear_expr){.known = true, .constant = insn->constant};
	else if (d->kind == XC_DEFINITION_INSN && insn->kind == XC_INSN_STORE && insn->from >= 0)
		form = xc_symbolic_value_register(s, d->insn, insn->from);
	else if (d->kind == XC_DEFINITION_INSN)
		form = xc_symbolic_value_definition(s, d);
	return form;
}

/* The definition of what a store to the frame stored, when there is only one; else the store itself. */
static struct xc_slice_definition stored_by(const struct xc_frame_code *s, const struct xc_slice_definition *d)
{
	struct xc_slice slice;
	const struct xc_insn *insn = &s->body->insns[d->insn];
	if (d->kind != XC_DEFINITION_INSN || insn->kind != XC_INSN_STORE || insn->from < 0 || !xc_frame_code_spend(s))
		return *d;
	xc_slice_register(s->body, d->insn, insn->from, &slice);
	return slice.count == 1 ? slice.items[0] : *d;
}

static bool disproved(const struct origin_query *t, const struct xc_slice_definition *d)
{
	struct xc_frame_code whose;
	if (!t->value || !t->pointer)
		return false;
	struct xc_slice_definition set = stored_by(t->frame_code, d);
	struct xc_linear_expr form = form_of(t->frame_code, &set, &whose);
	return xc_origin_disproved(t->frame_code, &set, &whose, &form, *t->value);
}

/* It certainly set another value. */
static bool excluded(const struct origin_query *t, const struct xc_slice_definition *d)
{
	struct xc_frame_code whose;
	struct xc_linear_expr form = {.known = false};
	if (t->value)
		form = form_of(t->frame_code, d, &whose);
	uint64_t value = (uint64_t)form.constant;
	return form.known && !form.count && value != *t->value &&
	       (value >> 32 || *t->value >> 32 || (uint32_t)value != (uint32_t)*t->value);
}

/* Does a loop begin with a valid pointer, as far as its source still shows? Then the pointer became NULL in the
 * loop. */
static bool begins_well(const struct origin_query *t, const struct xc_slice_definition *start)
{
	struct xc_frame_code whose;
	struct xc_linear_expr form = form_of(t->frame_code, start, &whose);
	uint64_t value;
	return xc_origin_value(&whose, &form, &value) && value;
}

/* The initial value of a NULL pointer that a loop advances. */
static bool describe_start(const struct origin_query *t, const struct xc_slice *slice, struct xc_text *text, bool *sure)
{
	bool null = t->pointer && t->value && !*t->value;
	size_t start = null ? xc_induction_start(t->frame_code, slice) : slice->count;
	if (start == slice->count || begins_well(t, &slice->items[start]))
		return false;
	*sure = false; /* an unknown step may be as large as the distance to NULL */
	return describe_definition(*t, &slice->items[start], text, sure);
}

static bool describe_slice(struct origin_query t, const struct xc_slice *slice, struct xc_text *text, bool *sure)
{
	struct xc_text all = {0};
	unsigned told = 0, asked = 0;
	if (!t.depth--)
		return false;
	*sure &= slice->sure;
	if (describe_start(&t, slice, text, sure))
		return true;
	for (size_t i = 0; i < slice->count; i++) {
		struct xc_text one = {0};
		if (excluded(&t, &slice->items[i]) || disproved(&t, &slice->items[i]))
			continue;
		asked += !slice->items[i].before;
		if (told < TOLD && describe_definition(t, &slice->items[i], &one, sure) && one.len &&
		    !(all.len && strstr(all.bytes, one.bytes))) {
			xc_text_printf(&all, "%s%s", all.len ? " or " : "", one.bytes);
			told++;
			asked += slice->items[i].before;
		}
		xc_text_fini(&one);
	}
	bool complete = told && told == asked;
	*sure &= complete && told == 1;
	if (complete)
		xc_text_add(text, xc_text_string(&all));
	xc_text_fini(&all);
	return complete;
}

static bool describe_register(struct origin_query t, size_t at, int reg, struct xc_text *text, bool *sure)
{
	struct xc_slice slice;
	if (!xc_frame_code_spend(t.frame_code))
		return false;
	xc_slice_register(t.frame_code->body, at, reg, &slice);
	return describe_slice(t, &slice, text, sure);
}

static bool describe_slot(struct origin_query t, size_t at, const struct xc_insn_memory *m, struct xc_text *text,
			  bool *sure)
{
	struct xc_slice slice;
	if (!xc_frame_code_spend(t.frame_code))
		return false;
	xc_slice_slot(t.frame_code->body, at, m->base, m->displacement, m->size, &slice);
	return describe_slice(t, &slice, text, sure);
}

bool xc_origin_describe(const struct xc_frame_code *frame_code, const struct xc_symbolic_value *term,
			const uint64_t *value, struct xc_text *text, bool *sure_out)
{
	struct origin_query t = {.frame_code = frame_code, .value = value, .depth = DEPTH, .frames = FRAMES};
	t.pointer = xc_symbolic_value_is_pointer(term->type);
	t.number = term->type && xc_type_strip(term->type)->kind == XC_TYPE_INT;
	*sure_out = true;
	switch (term->kind) {
	case XC_SYMBOLIC_VARIABLE:
	case XC_SYMBOLIC_ENTRY:
		return describe_register(t, term->at, term->reg, text, sure_out);
	case XC_SYMBOLIC_LOADED:
		if (term->slot)
			return describe_slot(t, term->at, &frame_code->body->insns[term->at].memory, text, sure_out);
		if (term->text)
			xc_text_printf(text, "read from `%s`", term->text);
		return term->text != NULL;
	case XC_SYMBOLIC_RESULT:
		return describe_result(&t, term->at, text);
	default:
		return false;
	}
}
