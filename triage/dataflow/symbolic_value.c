/* symbolic_value: a register is named by its variable where debug information has one, else by the definitions of
 * its slice. When there are several definitions that are not written alike, the value is not known. */
#include "triage/dataflow/symbolic_value.h"

#include <string.h>

#include "core/process/module.h"
#include "dwarf/types/field.h"
#include "triage/dataflow/libcall.h"
#include "triage/dataflow/symbolic_value_impl.h"
#include "triage/util/user_code.h"
#include "triage/code/cxx_accessor.h"

enum { DEPTH = 12, STRAIGHT = 64 };

static struct xc_linear_expr form_register(const struct xc_frame_code *s, size_t at, int reg, unsigned depth);
static struct xc_linear_expr form_memory(const struct xc_frame_code *s, size_t at, const struct xc_insn_memory *m,
					 unsigned depth);

/* ---- registers ---- */

/* An aggregate in a register: its first member. */
static void set_variable(const struct xc_frame_code *s, const struct xc_held *held, struct xc_symbolic_value *term)
{
	struct xc_text text = {0};
	xc_text_add(&text, held->name);
	term->type = xc_field_path(&text, held->type, held->offset, NULL);
	term->text = xc_arena_strdup(&s->crash->report->arena, xc_text_string(&text));
	xc_text_fini(&text);
}

/* Names that inlined library functions have for their arguments (`this`, `__n`) are useless where the program has
 * its own. */
static bool has_own_level(const struct xc_place *place)
{
	for (size_t level = 0; level < place->level_count; level++)
		if (xc_user_code_is(place, level))
			return true;
	return false;
}

/* *internal_out: it is a local variable of a library's function, which says nothing to the reader. */
static bool named(const struct xc_frame_code *s, size_t at, int reg, struct xc_symbolic_value *term, bool *internal_out)
{
	struct xc_frame_context context = xc_frame_code_context(s, at);
	struct xc_held held;
	bool own = has_own_level(context.place);
	for (size_t level = 0; level < context.place->level_count && !context.place->line_only; level++) {
		if (own && !xc_user_code_is(context.place, level))
			continue;
		if (!xc_frame_code_in_scope(s, &context.place->levels[level]) ||
		    !xc_variable_held(&context, level, reg, 0, &held))
			continue;
		*term = (struct xc_symbolic_value){.kind = XC_SYMBOLIC_VARIABLE, .at = at, .reg = reg};
		*internal_out = !held.argument && context.place->module && xc_module_is_runtime(context.place->module);
		set_variable(s, &held, term);
		term->value_known = xc_frame_code_is_kept(s, at, reg) &&
				    xc_regs_get(&s->crash->frames[s->frame].regs, reg, &term->value);
		return true;
	}
	return false;
}

static const struct xc_type *result_type(const struct xc_process *p, xc_addr addr)
{
	const struct xc_place *place = xc_debuginfo_place(p, addr);
	if (!place->level_count)
		return NULL;
	Dwarf_Die die = place->levels[place->level_count - 1].die;
	return xc_type_of(xc_types_of(p), &die);
}

/* "[i]", "[3]" for an expression that is a number; false when it has no name. */
static bool add_index(const struct xc_linear_expr *index, struct xc_text *text)
{
	bool one = index->count == 1 && index->parts[0].times == 1 && !index->constant && index->parts[0].term.text;
	if (!index->known || index->absolute || (!one && index->count))
		return false;
	if (one)
		xc_text_printf(text, "[%s]", index->parts[0].term.text);
	else
		xc_text_printf(text, "[%lld]", (long long)index->constant);
	return true;
}

/* The target of a C++ library accessor, in terms of its object: `order->total` for `order.operator->()->total`.
 * psABI x86-64, 3.2.3: this and the index are in rdi and rsi. */
static bool accessed_term(const struct xc_frame_code *s, size_t call, const char *callee, unsigned depth,
			  struct xc_symbolic_value *term)
{
	enum { THIS = 5, INDEX = 4 };
	enum xc_cxx_accessor_way kind = xc_cxx_accessor_of(callee);
	struct xc_symbolic_value object;
	struct xc_text text = {0};
	if (!kind || !depth || !xc_arch_is_x86_64(s->crash->process->arch))
		return false;
	struct xc_linear_expr this = form_register(s, call, THIS, depth), index;
	if (!xc_symbolic_value_object(s, call, &this, &object) || !object.text)
		return false;
	bool plain = object.text[0] != '*', told = true;
	xc_text_printf(&text,
		       kind == XC_CXX_ACCESSOR_REFERENCE          ? "*%s"
		       : plain || kind == XC_CXX_ACCESSOR_POINTER ? "%s"
								  : "(%s)",
		       object.text);
	if (kind == XC_CXX_ACCESSOR_ELEMENT) {
		index = form_register(s, call, INDEX, depth);
		told = add_index(&index, &text);
	} else if (kind == XC_CXX_ACCESSOR_FIRST || kind == XC_CXX_ACCESSOR_LAST) {
		xc_text_add(&text, kind == XC_CXX_ACCESSOR_FIRST ? ".front()" : ".back()");
	}
	if (told) {
		term->kind = XC_SYMBOLIC_LOADED;
		term->text = xc_arena_strdup(&s->crash->report->arena, xc_text_string(&text));
	}
	xc_text_fini(&text);
	return told;
}

/* "group->samples.size()": what a method of the C++ library tells of its object. */
static const char *asked_text(const struct xc_frame_code *s, size_t call, const char *callee, unsigned depth)
{
	enum { THIS = 5 };
	const char *method = xc_cxx_accessor_query(callee);
	struct xc_symbolic_value object;
	if (!method || !depth || !xc_arch_is_x86_64(s->crash->process->arch))
		return NULL;
	struct xc_linear_expr this = form_register(s, call, THIS, depth);
	if (!xc_symbolic_value_object(s, call, &this, &object) || !object.text)
		return NULL;
	return xc_arena_printf(&s->crash->report->arena, object.text[0] == '*' ? "(%s).%s()" : "%s.%s()", object.text,
			       method);
}

static struct xc_linear_expr result_form(const struct xc_frame_code *s, size_t call, bool sure, unsigned depth)
{
	struct xc_arena *arena = &s->crash->report->arena;
	xc_addr addr;
	struct xc_symbolic_value term = {.kind = XC_SYMBOLIC_RESULT, .at = call, .reg = -1};
	const char *callee = xc_body_callee(s->body, &s->body->insns[call], &addr);
	if (callee && addr)
		term.type = result_type(s->crash->process, addr);
	if (callee && !accessed_term(s, call, callee, depth, &term) &&
	    !(term.text = asked_text(s, call, callee, depth)))
		term.text =
			xc_arena_printf(arena, "%s()", xc_cxx_accessor_short(xc_libcall_name(callee, arena), arena));
	return xc_linear_expr_term(&term, sure);
}

/* A slot of the global offset table, or similar: it has no variable, and holds the address of one. */
static bool is_import(const struct xc_frame_code *s, const struct xc_linear_expr *address, uint64_t *value)
{
	const struct xc_process *p = s->crash->process;
	const struct xc_mapping *m = xc_process_mapping(p, (xc_addr)address->constant);
	if (!address->absolute || address->count || !m || !m->path || !xc_process_module(p, (xc_addr)address->constant))
		return false;
	return !xc_debuginfo_place(p, (xc_addr)address->constant)->symbol &&
	       xc_space_peek_uint(p->space, (xc_addr)address->constant, p->arch->word, value) &&
	       xc_process_module(p, *value);
}

static bool value_of(const struct xc_linear_expr *form, uint64_t *value)
{
	*value = (uint64_t)form->constant;
	for (size_t i = 0; i < form->count; i++) {
		if (!form->parts[i].term.value_known)
			return false;
		*value += form->parts[i].term.value * (uint64_t)form->parts[i].times;
	}
	return form->known;
}

static bool is_signed(const struct xc_type *type, uint64_t size)
{
	uint64_t own;
	type = type ? xc_type_strip(type) : NULL;
	return type && type->kind == XC_TYPE_INT && type->is_signed && xc_type_size(type, &own) && own == size;
}

static struct xc_linear_expr loaded_form(const struct xc_frame_code *s, size_t at, bool sure, unsigned depth)
{
	const struct xc_insn_memory *m = &s->body->insns[at].memory;
	struct xc_linear_expr address = form_memory(s, at, m, depth);
	struct xc_symbolic_value term = {.kind = XC_SYMBOLIC_LOADED, .at = at, .reg = -1};
	struct xc_symbolic_value place;
	uint64_t value = 0;
	term.slot = xc_frame_code_is_slot(s, m);
	if (!address.known)
		return (struct xc_linear_expr){.known = false};
	if (xc_symbolic_value_place(s, at, &address, m->size, &place)) {
		term.text = place.text;
		term.type = place.type;
		term.choices = place.choices;
		term.choice_count = place.choice_count;
	} else if (is_import(s, &address, &value)) {
		struct xc_linear_expr import = xc_linear_expr_constant((int64_t)value);
		import.absolute = true;
		return import;
	} else if (term.slot && depth) {
		struct xc_linear_expr stored = xc_symbolic_value_stored(s, at, m);
		if (stored.known && (stored.count > 1 || (stored.count && stored.parts[0].term.text)))
			return stored;
	}
	term.value_known = m->size && m->size <= 8 && value_of(&address, &value) &&
			   xc_space_peek_uint(s->crash->process->space, value, m->size, &term.value);
	if (term.value_known && m->size < 8 &&
	    (s->body->insns[at].extends_signed || (m->size >= 4 && is_signed(term.type, m->size))))
		term.value = xc_extend(term.value, 8 * m->size, true); /* as an index or an addend is */
	return xc_linear_expr_term(&term, sure && address.sure);
}

/* An argument that the compiler made of a part of one has no name here, but what the caller passed may have. */
static void named_by_caller(const struct xc_frame_code *s, struct xc_symbolic_value *term)
{
	struct xc_frame_code caller;
	struct xc_linear_expr form;
	const struct xc_frame_context context = xc_frame_code_context(s, s->body->entry);
	if (context.place->line_only || !has_own_level(context.place) ||
	    !xc_symbolic_value_caller(s, term->reg, &caller, &form) || form.count != 1 || form.constant ||
	    form.parts[0].times != 1)
		return;
	term->text = form.parts[0].term.text;
	term->type = form.parts[0].term.type;
}

static struct xc_linear_expr entry_form(const struct xc_frame_code *s, const struct xc_slice_definition *definition,
					bool sure)
{
	struct xc_symbolic_value term = {.kind = XC_SYMBOLIC_ENTRY, .at = s->body->entry, .reg = definition->reg};
	struct xc_held held;
	bool internal;
	if (definition->reg < 0)
		return (struct xc_linear_expr){.known = false};
	if (!named(s, s->body->entry, definition->reg, &term, &internal)) {
		term.kind = XC_SYMBOLIC_ENTRY;
		if (xc_symbolic_value_spilled(s, term.reg, &held))
			set_variable(s, &held, &term);
		else
			named_by_caller(s, &term);
	}
	return xc_linear_expr_term(&term, sure);
}

/* The low bytes of a value, which the instruction extends. */
static struct xc_linear_expr extended(struct xc_linear_expr form, const struct xc_insn *insn)
{
	struct xc_symbolic_value *term = &form.parts[0].term;
	bool whole = form.known && form.count == 1 && form.parts[0].times == 1 && !form.constant && !form.absolute;
	if (whole && term->value_known && insn->taken && (insn->taken < 4 || insn->extends_signed))
		term->value = xc_extend(term->value, 8 * insn->taken, insn->extends_signed);
	return form;
}

/* The result of an instruction, from its operands. */
static struct xc_linear_expr insn_form(const struct xc_frame_code *s, size_t at, bool sure, unsigned depth)
{
	const struct xc_insn *insn = &s->body->insns[at];
	struct xc_linear_expr form = xc_linear_expr_constant(0), other;
	form.sure = sure;
	switch (insn->kind) {
	case XC_INSN_MOVE:
	case XC_INSN_CHOOSE:
		return extended(form_register(s, at, insn->from, depth), insn);
	case XC_INSN_CONSTANT:
		form.constant = insn->constant;
		return form;
	case XC_INSN_LOAD:
	case XC_INSN_CHOOSE_MEMORY:
		return loaded_form(s, at, sure, depth);
	case XC_INSN_ADDRESS:
		return form_memory(s, at, &insn->memory, depth);
	case XC_INSN_ADD:
		form.constant = insn->constant;
		other = form_register(s, at, insn->to, depth);
		xc_linear_expr_add(&form, &other, 1);
		return form;
	case XC_INSN_ADD_REGISTER:
	case XC_INSN_ADD_MEMORY:
		form = form_register(s, at, insn->to, depth);
		other = insn->kind == XC_INSN_ADD_REGISTER ? form_register(s, at, insn->from, depth)
							   : loaded_form(s, at, sure, depth);
		xc_linear_expr_add(&form, &other, 1);
		return form;
	case XC_INSN_SHIFT:
	case XC_INSN_MULTIPLY:
		other = insn->from >= 0 ? form_register(s, at, insn->from, depth) : loaded_form(s, at, sure, depth);
		xc_linear_expr_add(&form, &other,
				   insn->kind == XC_INSN_SHIFT ? (int64_t)1 << (insn->constant & 31) : insn->constant);
		return form;
	default:
		return (struct xc_linear_expr){.known = false};
	}
}

static struct xc_linear_expr definition_form(const struct xc_frame_code *s,
					     const struct xc_slice_definition *definition, bool sure, unsigned depth)
{
	struct xc_linear_expr form;
	switch (definition->kind) {
	case XC_DEFINITION_INSN:
		form = insn_form(s, definition->insn, sure, depth);
		break;
	case XC_DEFINITION_RESULT:
		form = result_form(s, definition->insn, sure, depth);
		break;
	case XC_DEFINITION_ENTRY:
		form = entry_form(s, definition, sure);
		break;
	default:
		return (struct xc_linear_expr){.known = false};
	}
	form.sure &= sure;
	return form;
}

static struct xc_linear_expr unknown_form(size_t at, int reg)
{
	return xc_linear_expr_term(&(struct xc_symbolic_value){.at = at, .reg = reg}, false);
}

/* A pointer that a loop advances: set once, and then incremented by `step` again and again. */
static bool is_walked(const struct xc_frame_code *s, const struct xc_slice *slice, int reg, size_t *start,
		      int64_t *step)
{
	size_t added = slice->count;
	for (size_t i = 0; i < slice->count; i++) {
		const struct xc_insn *insn = &s->body->insns[slice->items[i].insn];
		if (slice->items[i].kind == XC_DEFINITION_INSN && insn->kind == XC_INSN_ADD && insn->to == reg)
			added = i;
	}
	if (slice->count != 2 || added == slice->count || !xc_frame_code_spend(s))
		return false;
	struct xc_slice before; /* of the addition: the same two */
	xc_slice_register(s->body, slice->items[added].insn, reg, &before);
	for (size_t i = 0; i < before.count; i++)
		if (before.items[i].kind != slice->items[0].kind && before.items[i].kind != slice->items[1].kind)
			return false;
	*start = 1 - added;
	*step = s->body->insns[slice->items[added].insn].constant;
	const struct xc_slice_definition *other = &slice->items[*start];
	return before.count <= 2 && !(other->kind == XC_DEFINITION_INSN && other->insn == slice->items[added].insn);
}

static struct xc_linear_expr walked_form(const struct xc_frame_code *s, const struct xc_slice *slice, int reg,
					 unsigned depth)
{
	size_t start;
	int64_t step;
	if (!is_walked(s, slice, reg, &start, &step))
		return (struct xc_linear_expr){.known = false};
	struct xc_linear_expr form = definition_form(s, &slice->items[start], slice->sure, depth);
	struct xc_linear_expr_part part = {.term = {.at = slice->items[1 - start].insn, .reg = reg},
					   .times = step < 0 ? -step : step};
	form.known &= form.absolute || form.count > 0; /* a counter does not count */
	if (form.known)
		xc_linear_expr_add_part(&form, &part, 1);
	return form;
}

/* Does the register hold what it held there, as the code lies there in one piece? */
static bool is_unchanged(const struct xc_frame_code *s, size_t at, int reg)
{
	const struct xc_body *body = s->body;
	if (reg < 0 || reg > 63 || at > s->at || s->at - at > STRAIGHT)
		return false;
	for (size_t i = at; i < s->at; i++) {
		const struct xc_insn *insn = &body->insns[i];
		const size_t edge = xc_body_first_edge(body, i + 1);
		if ((insn->writes >> reg & 1) || insn->kind == XC_INSN_JUMP || insn->kind == XC_INSN_RETURN ||
		    (insn->kind == XC_INSN_CALL && !xc_arch_has(body->process->arch->preserved, reg)) ||
		    (edge < body->edge_count && body->edges[edge].to == i + 1))
			return false;
	}
	return true;
}

/* A value without a name is known where the register still has it. */
static struct xc_linear_expr with_value(const struct xc_frame_code *s, size_t at, int reg, struct xc_linear_expr form)
{
	struct xc_symbolic_value *term = &form.parts[0].term;
	uint64_t value;
	if (form.count == 1 && form.parts[0].times == 1 && !form.absolute && !term->value_known &&
	    is_unchanged(s, at, reg) && xc_regs_get(&s->crash->frames[s->frame].regs, reg, &value)) {
		term->value = value - (uint64_t)form.constant;
		term->value_known = true;
	}
	return form;
}

/* The register's value by the definitions that reach it. */
static struct xc_linear_expr sliced_form(const struct xc_frame_code *s, size_t at, int reg, unsigned depth)
{
	struct xc_slice slice;
	if (!depth || !xc_frame_code_spend(s))
		return unknown_form(at, reg);
	xc_slice_register(s->body, at, reg, &slice);
	if (!slice.count)
		return unknown_form(at, reg);
	struct xc_linear_expr form = definition_form(s, &slice.items[0], slice.sure, depth - 1);
	for (size_t i = 1; i < slice.count && form.known; i++) {
		struct xc_linear_expr other = definition_form(s, &slice.items[i], slice.sure, depth - 1);
		form.known = xc_linear_expr_same(&form, &other);
	}
	if (!form.known && slice.count == 2)
		form = walked_form(s, &slice, reg, depth - 1);
	return form.known ? form : unknown_form(at, reg);
}

/* A part of what the function was given: `&dirp->lock` has a name of its own in the library's code. */
static bool is_of_argument(const struct xc_frame_code *s, const struct xc_linear_expr *form)
{
	const struct xc_symbolic_value *term = &form->parts[0].term;
	struct xc_slice slice;
	if (!form->known || !form->sure || form->count != 1 || form->parts[0].times != 1 || !form->constant)
		return false;
	if (term->kind != XC_SYMBOLIC_VARIABLE || !xc_frame_code_spend(s))
		return term->kind == XC_SYMBOLIC_ENTRY;
	xc_slice_register(s->body, term->at, term->reg, &slice);
	return slice.count == 1 && slice.items[0].kind == XC_DEFINITION_ENTRY;
}

static struct xc_linear_expr form_register(const struct xc_frame_code *s, size_t at, int reg, unsigned depth)
{
	struct xc_symbolic_value term;
	uint64_t value = 0;
	bool internal = false;
	if (xc_frame_code_is_frame_register(s, reg)) {
		struct xc_linear_expr form = xc_linear_expr_constant(0);
		form.known = form.absolute = xc_frame_code_frame_value(s, at, reg, &value);
		form.constant = (int64_t)value;
		return form;
	}
	const bool has_name = named(s, at, reg, &term, &internal);
	if (has_name && !internal)
		return xc_linear_expr_term(&term, true);
	struct xc_linear_expr form = sliced_form(s, at, reg, depth);
	if (has_name && !is_of_argument(s, &form))
		return xc_linear_expr_term(&term, true);
	return with_value(s, at, reg, form);
}

static struct xc_linear_expr form_memory(const struct xc_frame_code *s, size_t at, const struct xc_insn_memory *m,
					 unsigned depth)
{
	struct xc_linear_expr form = xc_linear_expr_constant(m->displacement), part;
	uint64_t segment = 0;
	form.known = !m->complex;
	if (m->segment >= 0) {
		form.known &= xc_regs_get(&s->crash->frames[s->frame].regs, m->segment, &segment);
		form.constant = (int64_t)((uint64_t)form.constant + segment);
	}
	/* A displacement alone is an address. A small one beside an index may be one, too, in programs at low
	 * addresses. */
	form.absolute = m->segment >= 0 || (m->base < 0 && (m->index < 0 || m->displacement >= 0x10000));
	if (m->base >= 0 && form.known) {
		part = form_register(s, at, m->base, depth);
		xc_linear_expr_add(&form, &part, 1);
	}
	if (m->index >= 0 && form.known) {
		part = form_register(s, at, m->index, depth);
		xc_linear_expr_add(&form, &part, m->scale);
	}
	return form;
}

struct xc_linear_expr xc_symbolic_value_register(const struct xc_frame_code *frame_code, size_t at, int reg)
{
	return form_register(frame_code, at, reg, DEPTH);
}

struct xc_linear_expr xc_symbolic_value_definition(const struct xc_frame_code *frame_code,
						   const struct xc_slice_definition *definition)
{
	return definition_form(frame_code, definition, true, DEPTH);
}

struct xc_linear_expr xc_symbolic_value_address(const struct xc_frame_code *frame_code, size_t at,
						const struct xc_insn_memory *memory)
{
	return form_memory(frame_code, at, memory, DEPTH);
}
