/* deref: a slice leads from a value to the instruction that loaded it, through moves, slots of the frame and
 * arguments. The address of that load is again an expression with a pointer. Values are those of registers where
 * these are unchanged since, and otherwise those of memory as it is now. */
#include "triage/dataflow/deref.h"

#include "triage/code/cxx_accessor.h"
#include "triage/dataflow/origin.h"

enum {
	DEPTH = 32, /* clang -O0 passes an argument on through two slots in each function */
	CHAIN = 8,
};

/* An instruction that loads a value, or the call of a C++ library's accessor, which does. */
struct load {
	struct xc_frame_code code; /* .at: what runs now */
	size_t insn;
	size_t reached; /* the outermost frame that had the value, also when no load is found */
};

static void set_load(const struct xc_frame_code *s, size_t insn, struct load *out)
{
	out->code = *s;
	out->insn = insn;
}

static bool find_load(const struct xc_frame_code *s, size_t at, int reg, unsigned depth, struct load *out);

static bool find_stored(const struct xc_frame_code *s, size_t at, unsigned depth, struct load *out)
{
	struct xc_slice slice;
	const struct xc_insn_memory *m = &s->body->insns[at].memory;
	if (!depth || !xc_frame_code_spend(s))
		return false;
	xc_slice_slot(s->body, at, m->base, m->displacement, m->size, &slice);
	if (slice.count != 1 || slice.items[0].kind != XC_DEFINITION_INSN)
		return false;
	const struct xc_insn *store = &s->body->insns[slice.items[0].insn];
	return store->kind == XC_INSN_STORE && store->from >= 0 &&
	       find_load(s, slice.items[0].insn, store->from, depth - 1, out);
}

static bool find_insn(const struct xc_frame_code *s, size_t at, unsigned depth, struct load *out)
{
	const struct xc_insn *insn = &s->body->insns[at];
	if (insn->kind == XC_INSN_MOVE)
		return find_load(s, at, insn->from, depth, out);
	if (insn->kind != XC_INSN_LOAD && insn->kind != XC_INSN_CALL && insn->kind != XC_INSN_JUMP && !insn->divides)
		return false;
	if (!insn->has_memory)
		return false;
	if (insn->kind == XC_INSN_LOAD && xc_frame_code_is_slot(s, &insn->memory) && find_stored(s, at, depth, out))
		return true;
	set_load(s, at, out);
	return true;
}

/* std::vector::operator[], std::unique_ptr::operator->, …: read from the object that `this` points to. */
static bool find_accessor(const struct xc_frame_code *s, size_t call, struct load *out)
{
	const char *callee = xc_body_callee(s->body, &s->body->insns[call], NULL);
	uint64_t offset;
	if (!callee || !xc_cxx_accessor_reads(callee, s->crash->process->arch->word, &offset) ||
	    !xc_arch_is_x86_64(s->crash->process->arch))
		return false;
	set_load(s, call, out);
	return true;
}

static bool find_load(const struct xc_frame_code *s, size_t at, int reg, unsigned depth, struct load *out)
{
	struct xc_slice slice;
	struct xc_frame_code caller;
	struct xc_linear_expr passed;
	if (reg < 0 || !depth-- || !xc_frame_code_spend(s))
		return false;
	if (s->frame > out->reached)
		out->reached = s->frame;
	xc_slice_register(s->body, at, reg, &slice);
	if (slice.count != 1)
		return false;
	if (slice.items[0].kind == XC_DEFINITION_INSN)
		return find_insn(s, slice.items[0].insn, depth, out);
	if (slice.items[0].kind == XC_DEFINITION_RESULT)
		return find_accessor(s, slice.items[0].insn, out);
	return slice.items[0].kind == XC_DEFINITION_ENTRY && slice.items[0].reg >= 0 &&
	       xc_symbolic_value_caller(s, slice.items[0].reg, &caller, &passed) &&
	       find_load(&caller, caller.at, slice.items[0].reg, depth, out);
}

static bool find_term(const struct xc_frame_code *s, const struct xc_symbolic_value *term, struct load *out)
{
	out->reached = s->frame;
	if (s->body->insns[term->at].kind == XC_INSN_CALL && term->kind != XC_SYMBOLIC_UNKNOWN && term->reg < 0)
		return find_accessor(s, term->at, out);
	if (term->reg >= 0)
		return find_load(s, term->at, term->reg, DEPTH, out);
	return (term->kind == XC_SYMBOLIC_LOADED || term->kind == XC_SYMBOLIC_UNKNOWN) &&
	       find_insn(s, term->at, DEPTH, out);
}

/* ---- values ---- */

/* A call that led to where no code is: the registers are still those of the caller. */
static bool register_value(const struct xc_frame_code *s, size_t at, int reg, uint64_t *value)
{
	const struct xc_crash_context *crash = s->crash;
	bool fetched = s->frame == 1 && crash->fault.access == XC_ACCESS_EXECUTE;
	if (xc_frame_code_is_frame_register(s, reg))
		return xc_frame_code_frame_value(s, at, reg, value);
	return xc_frame_code_is_kept(s, at, reg) &&
	       xc_regs_get(fetched ? &crash->fault.frame.regs : &crash->frames[s->frame].regs, reg, value);
}

/* The address that a load used, by its registers; false when one of them has another value now. */
static bool address_value(const struct load *load, uint64_t *addr)
{
	const struct xc_frame_code *s = &load->code;
	const struct xc_insn_memory *m = &s->body->insns[load->insn].memory;
	uint64_t base = 0, index = 0, segment = 0;
	if (m->complex || (m->base >= 0 && !register_value(s, load->insn, m->base, &base)) ||
	    (m->index >= 0 && !register_value(s, load->insn, m->index, &index)) ||
	    (m->segment >= 0 && !xc_regs_get(&s->crash->frames[s->frame].regs, m->segment, &segment)))
		return false;
	*addr = base + index * m->scale + segment + (uint64_t)m->displacement;
	return true;
}

/* The same where the base register has been overwritten: it was loaded, too, from memory as it is now. */
static bool chained_address(const struct load *load, unsigned depth, uint64_t *addr)
{
	const struct xc_frame_code *s = &load->code;
	const struct xc_insn_memory *m = &s->body->insns[load->insn].memory;
	struct load before = {.reached = 0};
	uint64_t base;
	if (address_value(load, addr))
		return true;
	if (!depth || m->index >= 0 || m->segment >= 0 || m->complex || m->base < 0 ||
	    !find_load(s, load->insn, m->base, DEPTH, &before) ||
	    before.code.body->insns[before.insn].kind != XC_INSN_LOAD || !chained_address(&before, depth - 1, addr) ||
	    !xc_space_peek_uint(s->crash->process->space, *addr, s->crash->process->arch->word, &base))
		return false;
	*addr = base + (uint64_t)m->displacement;
	return true;
}

/* From the load to what runs now: one path, on which the thread changes nothing but other slots of its frame. */
static bool is_straight(const struct load *load)
{
	const struct xc_frame_code *s = &load->code;
	const struct xc_crash_context *crash = s->crash;
	bool own = xc_frame_code_is_slot(s, &s->body->insns[load->insn].memory);
	bool reads = crash->blame.through && crash->fault.access == XC_ACCESS_READ && s->frame == crash->blamed;
	if (load->insn > s->at || (s->frame && !reads && crash->fault.access != XC_ACCESS_EXECUTE))
		return false;
	for (size_t i = load->insn + 1; i <= s->at; i++) {
		const struct xc_insn *insn = &s->body->insns[i], *before = &s->body->insns[i - 1];
		bool leaves = insn->kind == XC_INSN_CALL || insn->kind == XC_INSN_JUMP || insn->kind == XC_INSN_RETURN;
		if (insn->addr != before->addr + before->length)
			return false;
		bool writes = insn->writes_memory && insn->kind != XC_INSN_PUSH &&
			      (own || !xc_frame_code_is_slot(s, &insn->memory));
		if (i < s->at && (leaves || writes))
			return false;
	}
	return true;
}

/* ---- */

/* A pointer that the code keeps in a slot without a name: the argument of the function that has its value. */
static void name_by_value(const struct xc_frame_code *s, struct xc_deref *out)
{
	const struct xc_frame_context context = xc_frame_code_context(s, s->at);
	struct xc_named_value *values;
	const struct xc_place *place = context.place;
	size_t count = place->line_only || !place->level_count
			       ? 0
			       : xc_variable_values(&context, place->level_count - 1, false, &s->crash->report->arena,
						    &values);
	for (size_t i = 0; i < count && !out->pointer; i++) {
		const struct xc_type *type = values[i].value.type;
		uint64_t value;
		if (!type || !xc_type_is_pointer(type) || !xc_value_load(&values[i].value, &value) || value != out->led)
			continue;
		out->pointer = xc_arena_strdup(&s->crash->report->arena, values[i].name);
		out->pointer_type = type;
	}
}

static void set_pointer(const struct xc_frame_code *s, const struct xc_linear_expr *form, struct xc_deref *out)
{
	const struct xc_linear_expr_part *pointer = xc_symbolic_value_pointer(form);
	if (!pointer)
		return;
	out->pointer = pointer->term.text;
	out->pointer_type = pointer->term.type;
	out->led_known = out->at_known && form->count == 1;
	out->led = out->at - (uint64_t)form->constant;
	if (!out->led_known && pointer->term.value_known) {
		out->led_known = true;
		out->led = pointer->term.value;
	}
	if (!out->pointer && out->led_known && out->led)
		name_by_value(s, out);
}

/* The end of a function: what is left are pops and the return, or the jump to another function. */
static bool is_epilogue(const struct xc_body *body, size_t at)
{
	enum { POPS = 8 };
	for (size_t i = at + 1; i < body->count && i <= at + POPS; i++) {
		const struct xc_insn *insn = &body->insns[i];
		if (insn->kind == XC_INSN_RETURN || insn->kind == XC_INSN_JUMP)
			return true;
		if (!insn->stack_known || insn->kind >= XC_INSN_CALL)
			return false;
	}
	return false;
}

/* A function that moves its stack pointer by a value that is not constant: memory below it may have been its own when
 * it was read. */
static bool moves_stack(const struct xc_body *body)
{
	for (size_t i = 0; i < body->count; i++) {
		const struct xc_insn *insn = &body->insns[i];
		if (!insn->stack_known && insn->kind != XC_INSN_CALL && insn->kind != XC_INSN_RETURN &&
		    !is_epilogue(body, i))
			return true;
	}
	return body->incomplete;
}

/* psABI x86-64, 3.2.3: `this` is in rdi. */
static void take_accessor(const struct load *load, struct xc_linear_expr *form, struct xc_deref *out)
{
	enum { THIS = 5 };
	const struct xc_frame_code *s = &load->code;
	*form = xc_symbolic_value_register(s, load->insn, THIS);
	const unsigned word = s->crash->process->arch->word;
	const char *callee = xc_body_callee(s->body, &s->body->insns[load->insn], NULL);
	uint64_t offset = 0;
	bool reads = callee && xc_cxx_accessor_reads(callee, word, &offset);
	out->at_known = reads && form->known && xc_origin_value(s, form, &out->at);
	out->at += offset;
	form->constant += (int64_t)offset;
	out->size = word;
}

static void take_load(const struct load *load, struct xc_linear_expr *form, struct xc_deref *out)
{
	const struct xc_frame_code *s = &load->code;
	const struct xc_insn *insn = &s->body->insns[load->insn];
	struct xc_symbolic_value place;
	*form = xc_symbolic_value_address(s, load->insn, &insn->memory);
	out->size = insn->memory.size;
	out->frame = s->frame;
	out->place = xc_symbolic_value_place(s, load->insn, form, insn->memory.size, &place) ? place.text : NULL;
	out->own = xc_frame_code_is_slot(s, &insn->memory);
	out->at_known = out->exact = address_value(load, &out->at);
	if (!out->at_known && form->known)
		out->at_known = xc_origin_value(s, form, &out->at);
	if (!out->at_known)
		out->at_known = chained_address(load, CHAIN, &out->at);
	out->straight = is_straight(load);
}

static bool is_accessor(const struct load *load)
{
	const struct xc_insn *insn = &load->code.body->insns[load->insn];
	return insn->kind == XC_INSN_CALL && load->insn != load->code.at;
}

static void take(const struct load *load, struct xc_linear_expr *form, struct xc_deref *out)
{
	out->holder = load->code.frame;
	out->stack_moves = moves_stack(load->code.body);
	if (is_accessor(load))
		take_accessor(load, form, out);
	else
		take_load(load, form, out);
	if (form->known)
		set_pointer(&load->code, form, out);
}

void xc_derefs_collect(const struct xc_frame_code *frame_code, const struct xc_symbolic_value *bad,
		       const uint64_t *value, struct xc_derefs *out)
{
	struct xc_frame_code s = *frame_code;
	struct xc_symbolic_value term = *bad;
	struct load load;
	out->count = 0;
	while (out->count < XC_DEREFS) {
		bool found = find_term(&s, &term, &load);
		if (out->count && load.reached > out->items[out->count - 1].holder)
			out->items[out->count - 1].holder = load.reached;
		if (!found)
			return;
		struct xc_deref *one = &out->items[out->count++];
		struct xc_linear_expr form;
		*one = (struct xc_deref){.text = term.text, .value_known = value != NULL, .value = value ? *value : 0};
		take(&load, &form, one);
		const struct xc_linear_expr_part *pointer = form.known ? xc_symbolic_value_pointer(&form) : NULL;
		if (!pointer || one->own)
			return;
		s = load.code;
		term = pointer->term;
		value = one->led_known ? &one->led : NULL;
	}
}

/* Nothing on the way was changed by the thread itself, since it was read. */
static bool is_unchanged_by_itself(const struct xc_derefs *derefs)
{
	for (size_t i = 0; i < derefs->count; i++) {
		const struct xc_deref *one = &derefs->items[i];
		if (!one->straight)
			return false;
		if (one->exact)
			return true;
	}
	return false;
}

bool xc_derefs_changed(const struct xc_crash_context *crash, uint64_t *now)
{
	const struct xc_deref *bad = xc_derefs_bad(crash->derefs);
	if (!bad || !bad->value_known || !bad->at_known || !bad->size || bad->size > 8 ||
	    !is_unchanged_by_itself(crash->derefs) ||
	    !xc_space_peek_uint(crash->process->space, bad->at, bad->size, now))
		return false;
	uint64_t mask = bad->size < 8 ? (UINT64_C(1) << 8 * bad->size) - 1 : UINT64_MAX;
	return ((*now ^ bad->value) & mask) != 0;
}
