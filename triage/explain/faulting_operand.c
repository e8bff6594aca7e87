/* faulting_operand: from the faulting instruction outward. In a function without debug information (a library's) the
 * operand is followed to the argument that it came from, and described where the program passed it. */
#include "triage/explain/faulting_operand.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "triage/code/division.h"
#include "triage/dataflow/deref.h"
#include "triage/dataflow/libcall.h"
#include "triage/dataflow/origin.h"
#include "triage/explain/length_divisor.h"
#include "triage/util/user_code.h"

enum { CLIMB = 6, WHOLE = INT32_MAX /* which part of it would be used is not known */ };

/* ---- the operand ---- */

static bool memory_of(const struct xc_crash_context *crash, const struct xc_insn *insn, struct xc_insn_memory *memory)
{
	const struct xc_memory_operand *o = &crash->fault.operand;
	if (!crash->fault.operand_known || o->stack)
		return false;
	if (insn->has_memory && insn->memory.base == o->base && insn->memory.index == o->index) {
		*memory = insn->memory;
		return true;
	}
	/* implied: string instructions */
	*memory =
		(struct xc_insn_memory){.segment = -1, .base = o->base, .index = o->index, .scale = 1, .size = o->size};
	return o->base >= 0 && o->index < 0;
}

static bool find_access(struct xc_crash_context *crash, struct xc_faulting_operand *f)
{
	struct xc_insn_memory memory;
	if (!xc_frame_code_init(crash, 0, &f->budget, &f->frame_code) ||
	    !memory_of(crash, &f->frame_code.body->insns[f->frame_code.at], &memory))
		return false;
	f->form = xc_symbolic_value_address(&f->frame_code, f->frame_code.at, &memory);
	f->value_known = crash->fault.operand.addr_known;
	f->value = crash->fault.operand.addr;
	return f->form.known;
}

/* The value that a call or jump goes to. */
static bool find_target(struct xc_faulting_operand *f)
{
	const struct xc_frame_code *s = &f->frame_code;
	const struct xc_insn *insn = &s->body->insns[s->at];
	f->called = true;
	if ((insn->kind != XC_INSN_CALL && insn->kind != XC_INSN_JUMP) || insn->has_target)
		return false;
	if (insn->from >= 0) {
		f->form = xc_symbolic_value_register(s, s->at, insn->from);
	} else if (insn->has_memory) {
		struct xc_linear_expr address = xc_symbolic_value_address(s, s->at, &insn->memory);
		struct xc_symbolic_value term;
		if (!xc_symbolic_value_place(s, s->at, &address, insn->memory.size, &term))
			return false;
		f->form = (struct xc_linear_expr){.known = true, .sure = address.sure, .count = 1};
		f->form.parts[0] = (struct xc_linear_expr_part){.term = term, .times = 1};
	}
	return f->form.known;
}

/* Did this call go to the place of the frame that it called? That frame has run nothing yet: its registers are still
 * those of the call. Otherwise a function called in between has jumped, or returned, to there. */
static bool went_there(const struct xc_crash_context *crash, const struct xc_insn *insn)
{
	const struct xc_arch *arch = crash->process->arch;
	const struct xc_regs *regs = &crash->fault.frame.regs;
	const struct xc_insn_memory *m = &insn->memory;
	uint64_t base = 0, index = 0, target;
	if (insn->from >= 0)
		return xc_regs_get(regs, insn->from, &target) && target == crash->fault.frame.pc;
	if (!insn->has_memory || m->complex || m->segment >= 0 ||
	    (m->base >= 0 && !xc_regs_get(regs, m->base, &base)) ||
	    (m->index >= 0 && !xc_regs_get(regs, m->index, &index)))
		return false;
	if (m->base == arch->sp)
		base += arch->word; /* the return address */
	return xc_space_peek_uint(crash->process->space, base + index * m->scale + (uint64_t)m->displacement,
				  arch->word, &target) &&
	       target == crash->fault.frame.pc;
}

static bool find_call(struct xc_crash_context *crash, struct xc_faulting_operand *f)
{
	const struct xc_fault *fault = &crash->fault;
	const struct xc_mapping *m = xc_process_mapping(crash->process, fault->frame.pc);
	bool there = m && m->executable; /* at the jumping instruction: the target is not canonical */
	if (!there && (crash->frame_count < 2 || crash->frames[1].interrupted))
		return false;
	f->value_known = true;
	f->value = there ? fault->addr : fault->frame.pc;
	if ((there && !fault->addr_known) || !xc_frame_code_init(crash, there ? 0 : 1, &f->budget, &f->frame_code))
		return false;
	return (there || went_there(crash, &f->frame_code.body->insns[f->frame_code.at])) && find_target(f);
}

/* The value of a variable that makes the divisor, its sum with a constant, 0: in the bits of the division. False when
 * the variable's type has no such value. */
static bool find_summand(const struct xc_linear_expr *form, const struct xc_division *division, uint64_t *value)
{
	const struct xc_type *type = form->parts[0].term.type ? xc_type_strip(form->parts[0].term.type) : NULL;
	uint64_t size;
	*value = 0;
	if (!form->constant)
		return true;
	if (!type || !xc_type_size(type, &size) || !size || size > division->size)
		return false;
	*value = xc_extend(-(uint64_t)form->constant, 8 * division->size, type->is_signed);
	return xc_extend(*value, 8 * (unsigned)size, type->is_signed) == *value;
}

/* A difference of two pointers. */
static bool find_length(struct xc_faulting_operand *f, int reg)
{
	struct xc_symbolic_value term;
	f->value = 0;
	if (!xc_length_divisor_find(&f->frame_code, reg, &term))
		return false;
	f->form = xc_linear_expr_term(&term, true);
	return true;
}

static bool find_divisor(struct xc_crash_context *crash, struct xc_faulting_operand *f)
{
	const struct xc_division division = xc_division_find(crash->process, &crash->fault.frame.regs);
	if (division.error != XC_DIVISION_ZERO)
		return false;
	if (!xc_frame_code_init(crash, 0, &f->budget, &f->frame_code))
		return false;
	const struct xc_insn *insn = &f->frame_code.body->insns[f->frame_code.at];
	struct xc_linear_expr address;
	f->divides = true;
	if (!insn->divides)
		return false;
	if (insn->divisor >= 0) {
		f->form = xc_symbolic_value_register(&f->frame_code, f->frame_code.at, insn->divisor);
		f->value_known = true;
		bool plain = f->form.known && f->form.count == 1 && f->form.parts[0].term.text &&
			     f->form.parts[0].times == 1;
		return plain ? find_summand(&f->form, &division, &f->value) : find_length(f, insn->divisor);
	}
	address = xc_symbolic_value_address(&f->frame_code, f->frame_code.at, &insn->memory);
	f->form = (struct xc_linear_expr){.known = insn->has_memory, .sure = address.sure, .count = 1};
	f->form.parts[0].times = 1;
	f->value_known = true;
	return f->form.known && xc_symbolic_value_place(&f->frame_code, f->frame_code.at, &address, insn->memory.size,
							&f->form.parts[0].term);
}

/* ---- from a library's function to who called it ---- */

/* Is it the frame to look at, or one further out? */
static bool is_blamed(const struct xc_faulting_operand *f)
{
	const struct xc_crash_context *crash = f->frame_code.crash;
	const struct xc_place *place =
		xc_debuginfo_place(crash->process, f->frame_code.body->insns[f->frame_code.at].addr);
	if (crash->blame.place)
		return f->frame_code.frame >= crash->blamed;
	return place->level_count && !place->line_only;
}

/* The function that made the access, for the reader. Where no name is known it may not be what its frame is taken
 * for. */
static const char *function_words(const struct xc_frame_code *frame_code)
{
	struct xc_arena *arena = &frame_code->crash->report->arena;
	const struct xc_module *module = frame_code->crash->frames[frame_code->frame].module;
	const char *name = xc_origin_function(frame_code);
	if (name)
		return xc_arena_printf(arena, "%s()", xc_libcall_name(name, arena));
	return xc_arena_printf(arena, "a function without a name%s%s", module ? " of " : "",
			       module ? module->name : "");
}

/* In terms of the program: climb while the pointer is an argument that was passed on. */
static bool climb(struct xc_faulting_operand *f)
{
	for (unsigned i = 0; i < CLIMB && !is_blamed(f); i++) {
		const struct xc_linear_expr_part *pointer = xc_symbolic_value_pointer(&f->form);
		struct xc_frame_code caller;
		struct xc_linear_expr form;
		int reg = pointer ? xc_origin_argument(&f->frame_code, &pointer->term, false) : -1;
		if (reg < 0 || !xc_symbolic_value_caller(&f->frame_code, reg, &caller, &form))
			return false;
		if (f->divides && (f->form.constant || form.count != 1 || form.constant))
			return false;
		f->value_known &= f->form.count == 1;
		f->value -= (uint64_t)f->form.constant;
		f->passed_to = function_words(&f->frame_code);
		form.sure &= xc_origin_function(&f->frame_code) != NULL;
		f->frame_code = caller;
		f->form = form;
	}
	/* A language's own library whose caller cannot be read (the stack is missing): its internals help nobody. */
	size_t level;
	const struct xc_place *place =
		xc_debuginfo_place(f->frame_code.crash->process, f->frame_code.body->insns[f->frame_code.at].addr);
	return is_blamed(f) && (!place->level_count || xc_user_code_level(place, &level));
}

/* ---- a library's function that cannot be followed ---- */

static bool is_bad(const struct xc_process *p, uint64_t value)
{
	return value < XC_NULL_PAGES || !xc_process_mapping(p, value);
}

/* The argument that is bad, or the only one that is not known to be good; -1 when that is open. */
static int choose_argument(const struct xc_faulting_operand *f, unsigned candidates)
{
	static const int registers[] = {5, 4, 1}; /* rdi, rsi, rdx: psABI x86-64, 3.2.3 */
	int bad = -1, open = -1;
	unsigned bads = 0, opens = 0;
	for (unsigned i = 0; i < XC_COUNT(registers); i++) {
		uint64_t value;
		if (!(candidates >> i & 1))
			continue;
		struct xc_linear_expr form = xc_symbolic_value_register(&f->frame_code, f->frame_code.at, registers[i]);
		bool known = xc_origin_value(&f->frame_code, &form, &value);
		if (known && !is_bad(f->frame_code.crash->process, value))
			continue;
		bads += known;
		opens += !known;
		*(known ? &bad : &open) = registers[i];
	}
	return bads == 1 ? bad : bads == 0 && opens == 1 ? open : -1;
}

/* Where the library's code cannot be followed: what is known of its function's arguments. */
static bool take_argument(struct xc_crash_context *crash, struct xc_faulting_operand *f)
{
	const struct xc_fault *fault = &crash->fault;
	if (!crash->blame.place || !crash->blamed || !xc_arch_is_x86_64(crash->process->arch) ||
	    crash->frames[crash->blamed].interrupted ||
	    !xc_frame_code_init(crash, crash->blamed, &f->budget, &f->frame_code))
		return false;
	const struct xc_insn *call = &f->frame_code.body->insns[f->frame_code.at];
	const char *callee = call->kind == XC_INSN_CALL ? xc_body_callee(f->frame_code.body, call, NULL) : NULL;
	callee = callee ? xc_libcall_name(callee, &crash->report->arena) : NULL;
	unsigned candidates = xc_libcall_arguments(callee, fault->access);
	int reg = candidates ? choose_argument(f, candidates) : -1;
	bool one = candidates && !(candidates & (candidates - 1));
	if (reg < 0 && one) /* the pointer is good: the size was too large */
		reg = candidates == 1 ? 5 : 4;
	if (reg < 0)
		return false;
	f->form = xc_symbolic_value_register(&f->frame_code, f->frame_code.at, reg);
	f->value_known = xc_origin_value(&f->frame_code, &f->form, &f->value);
	if (!f->value_known && fault->addr_known && !fault->addr)
		f->value_known = true, f->value = 0;
	f->passed_to = xc_arena_printf(&crash->report->arena, "%s()", callee);
	return f->form.known;
}

/* ---- which part is bad ---- */

/* The value of the operand's base register, when that is the pointer alone. */
static bool base_value(const struct xc_crash_context *crash, const struct xc_faulting_operand *f,
		       const struct xc_linear_expr_part *pointer, uint64_t *value)
{
	const struct xc_memory_operand *o = &crash->fault.operand;
	if (f->frame_code.frame || f->called || f->divides || o->base < 0 ||
	    !xc_regs_get(&crash->fault.frame.regs, o->base, value))
		return false;
	struct xc_linear_expr form = xc_symbolic_value_register(&f->frame_code, f->frame_code.at, o->base);
	*value -= (uint64_t)form.constant;
	return form.known && form.count == 1 && form.parts[0].times == 1 && form.parts[0].term.text &&
	       pointer->term.text && strcmp(form.parts[0].term.text, pointer->term.text) == 0;
}

/* The place lies where nothing is ever mapped: the pointer is likely NULL, though its value is lost. */
static bool likely_null(const struct xc_crash_context *crash, struct xc_faulting_operand *f)
{
	bool null = crash->fault.operand_known && crash->fault.operand.addr_known &&
		    crash->fault.operand.addr < XC_NULL_PAGES;
	if (f->value_known || f->called || f->passed_to || !null)
		return false;
	f->value = 0;
	f->form.sure = false;
	return true;
}

bool xc_faulting_operand_unwritable(const struct xc_crash_context *crash, const struct xc_faulting_operand *f)
{
	const struct xc_mapping *m = f->value_known && !f->called && !f->divides && !f->passed_to && f->form.count > 1
					     ? xc_process_mapping(crash->process, f->value)
					     : NULL;
	return m && !m->writable && crash->fault.access == XC_ACCESS_WRITE;
}

/* The pointer that is the base of all offsets; an index, when the pointer is good. */
static void find_bad(const struct xc_crash_context *crash, struct xc_faulting_operand *f)
{
	uint64_t value;
	const struct xc_linear_expr_part *pointer =
		f->called || f->divides ? &f->form.parts[0] : xc_symbolic_value_pointer(&f->form);
	if (f->form.count == 0 || !pointer || pointer->times != 1)
		return;
	if (f->divides) {
		/* the value is the term's */
	} else if (f->form.count == 1 && f->value_known) {
		f->value -= (uint64_t)f->form.constant;
	} else if (base_value(crash, f, pointer, &value)) {
		f->value = value;
		f->value_known = true;
	} else if (pointer->term.value_known) {
		f->value = pointer->term.value;
		f->value_known = true;
	} else {
		f->value_known = false;
	}
	if (f->divides || (f->value_known && is_bad(crash->process, f->value)) || likely_null(crash, f) ||
	    xc_faulting_operand_unwritable(crash, f))
		f->bad = pointer->term;
}

/* `v[--n]` reads v[n - 1] for the n that it had: memory has the new one, and the constant counts twice. */
static void settle_constant(struct xc_faulting_operand *f)
{
	const struct xc_memory_operand *o = &f->frame_code.crash->fault.operand;
	struct xc_linear_expr stepped = f->form;
	uint64_t now;
	stepped.constant = 0;
	if (f->form.constant && f->form.count > 1 && o->addr_known &&
	    (!xc_origin_value(&f->frame_code, &f->form, &now) || now != o->addr) &&
	    xc_origin_value(&f->frame_code, &stepped, &now) && now == o->addr)
		f->form = stepped;
}

static void write_place(struct xc_faulting_operand *f, uint32_t size)
{
	if (f->passed_to && f->form.count == 1 && f->form.constant > 0 &&
	    xc_symbolic_value_object(&f->frame_code, f->frame_code.at, &f->form, &f->place) && f->place.text) {
		f->member = true;
		return;
	}
	if (f->called || f->divides || f->passed_to) {
		if (f->form.count == 1 && f->form.parts[0].times == 1 && (!f->form.constant || f->divides))
			f->place = f->form.parts[0].term;
		if (f->place.text && f->form.constant)
			f->place.text = xc_arena_printf(&f->frame_code.crash->report->arena, "%s %c %" PRIu64,
							f->place.text, f->form.constant < 0 ? '-' : '+',
							f->form.constant < 0 ? -(uint64_t)f->form.constant
									     : (uint64_t)f->form.constant);
		return;
	}
	settle_constant(f);
	if (!xc_symbolic_value_place(&f->frame_code, f->frame_code.at, &f->form, size, &f->place))
		f->place.text = NULL;
	xc_symbolic_value_settle(&f->frame_code, &f->place, &f->form);
}

/* ---- who passed it on ---- */

static size_t passed_by(const struct xc_faulting_operand *f, const struct xc_type **type_out)
{
	struct xc_frame_code frame_code = f->frame_code, caller;
	struct xc_linear_expr form;
	const struct xc_symbolic_value *term = &f->bad;
	size_t outermost = 0;
	if (term->kind == XC_SYMBOLIC_LOADED && !term->slot) {
		form = xc_symbolic_value_address(&frame_code, term->at, &frame_code.body->insns[term->at].memory);
		const struct xc_linear_expr_part *through = xc_symbolic_value_pointer(&form);
		if (!through)
			return 0;
		term = &through->term;
	}
	*type_out = term->type;
	for (unsigned i = 0; i < CLIMB; i++) {
		int reg = xc_origin_argument(&frame_code, term, true);
		if (reg < 0 || !xc_symbolic_value_caller(&frame_code, reg, &caller, &form) || form.count != 1 ||
		    form.constant)
			break;
		term = &form.parts[0].term;
		outermost = caller.frame;
		frame_code = caller;
	}
	return outermost;
}

/* ---- */

static bool is_access(const struct xc_fault *fault)
{
	return (fault->signal == SIGSEGV || fault->signal == SIGBUS) && fault->access != XC_ACCESS_EXECUTE;
}

static bool find_operand(struct xc_crash_context *crash, struct xc_faulting_operand *f)
{
	if (crash->fault.signal == SIGFPE)
		return find_divisor(crash, f);
	if (is_access(&crash->fault))
		return find_access(crash, f);
	return (crash->fault.signal == SIGSEGV || crash->fault.signal == SIGBUS) && find_call(crash, f);
}

/* `value`: of the term; NULL: not known. */
static void set_way(struct xc_crash_context *crash, const struct xc_faulting_operand *f,
		    const struct xc_symbolic_value *term, const uint64_t *value)
{
	struct xc_derefs *derefs = xc_arena_alloc(&crash->report->arena, sizeof *derefs);
	xc_derefs_collect(&f->frame_code, term, value, derefs);
	crash->derefs = derefs->count ? derefs : crash->derefs;
}

/* The way of the operand's pointer, in the function that faulted. */
static void set_first_way(struct xc_crash_context *crash, const struct xc_faulting_operand *f)
{
	const struct xc_linear_expr_part *pointer =
		f->called || f->divides ? &f->form.parts[0] : xc_symbolic_value_pointer(&f->form);
	if (!f->form.count || !pointer || pointer->times != 1)
		return;
	uint64_t value = f->value - (f->called || f->divides ? 0 : (uint64_t)f->form.constant);
	set_way(crash, f, &pointer->term, f->value_known && f->form.count == 1 ? &value : NULL);
}

bool xc_faulting_operand_find(struct xc_crash_context *crash, struct xc_faulting_operand *f)
{
	bool accessed = is_access(&crash->fault); /* the error at a call is not in its arguments */
	*f = (struct xc_faulting_operand){.budget = XC_SYMBOLIC_BUDGET};
	bool found = find_operand(crash, f);
	if (found)
		set_first_way(crash, f);
	if ((!found || !climb(f)) && !(accessed && take_argument(crash, f)))
		return false;
	write_place(f, crash->fault.probed ? WHOLE : crash->fault.operand.size);
	find_bad(crash, f);
	if (f->bad.text)
		set_way(crash, f, &f->bad, f->value_known ? &f->value : NULL);
	if (accessed && f->bad.text && f->value_known)
		crash->pointer = f->value, crash->passed = passed_by(f, &crash->pointer_type);
	return true;
}
