/* expression: from the faulting instruction outward: in a function without debug information (a library's) the operand is
 * followed to the argument that it came in by, and told where the program passed it. */
#include "expression.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "../core/text.h"
#include "libcall.h"
#include "names.h"
#include "origin.h"
#include "own.h"
#include "stdobject.h"

enum { NULL_PAGES = 64 << 10, CLIMB = 6, WHOLE = INT32_MAX /* which part of it will be used is not known */ };

/* What is found out about the operand. */
struct finding {
	struct xc_scene scene; /* where it is told */
	struct xc_form form;   /* of the address, or of the value that is called or divides */
	struct xc_term place;  /* what is accessed; text NULL: not written */
	struct xc_term bad;    /* the value that is bad; text NULL: not known which */
	const char *passed_to; /* the library function that did the access, "strlen()"; NULL: none */
	bool called, divides;  /* not an access: control went there; or it divided by it */
	bool value_known;
	uint64_t value; /* of bad */
	unsigned fuel;
};

/* ---- the operand ---- */

static bool memory_of(const struct xc_inquiry *q, const struct xc_insn *insn, struct xc_insn_memory *memory)
{
	const struct xc_memory_operand *o = &q->fault.operand;
	if (!q->fault.operand_known || o->stack)
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

static bool find_access(struct xc_inquiry *q, struct finding *f)
{
	struct xc_insn_memory memory;
	if (!xc_scene_set(q, 0, &f->fuel, &f->scene) || !memory_of(q, &f->scene.body->insns[f->scene.at], &memory))
		return false;
	f->form = xc_form_memory(&f->scene, f->scene.at, &memory);
	f->value_known = q->fault.operand.addr_known;
	f->value = q->fault.operand.addr;
	return f->form.known;
}

/* The value that a call or jump goes to. */
static bool find_target(struct finding *f)
{
	const struct xc_scene *s = &f->scene;
	const struct xc_insn *insn = &s->body->insns[s->at];
	f->called = true;
	if ((insn->kind != XC_INSN_CALL && insn->kind != XC_INSN_JUMP) || insn->has_target)
		return false;
	if (insn->from >= 0) {
		f->form = xc_form_register(s, s->at, insn->from);
	} else if (insn->has_memory) {
		struct xc_form address = xc_form_memory(s, s->at, &insn->memory);
		struct xc_term term;
		if (!xc_form_place(s, s->at, &address, insn->memory.size, &term))
			return false;
		f->form = (struct xc_form){.known = true, .sure = address.sure, .count = 1};
		f->form.parts[0] = (struct xc_form_part){.term = term, .times = 1};
	}
	return f->form.known;
}

/* Did this call go to where the frame that it called stands? That has run nothing yet: its registers are still those of the call. Else a
 * function that was called in between has jumped on, or returned, to there. */
static bool went_there(const struct xc_inquiry *q, const struct xc_insn *insn)
{
	const struct xc_arch *arch = q->process->arch;
	const struct xc_regs *regs = &q->fault.frame.regs;
	const struct xc_insn_memory *m = &insn->memory;
	uint64_t base = 0, index = 0, target;
	if (insn->from >= 0)
		return xc_regs_get(regs, insn->from, &target) && target == q->fault.frame.pc;
	if (!insn->has_memory || m->complex || m->segment >= 0 ||
	    (m->base >= 0 && !xc_regs_get(regs, m->base, &base)) ||
	    (m->index >= 0 && !xc_regs_get(regs, m->index, &index)))
		return false;
	if (m->base == arch->sp)
		base += arch->word; /* the return address */
	return xc_space_peek_uint(q->process->space, base + index * m->scale + (uint64_t)m->displacement, arch->word,
				  &target) &&
	       target == q->fault.frame.pc;
}

static bool find_call(struct xc_inquiry *q, struct finding *f)
{
	const struct xc_fault *fault = &q->fault;
	const struct xc_mapping *m = xc_process_mapping(q->process, fault->frame.pc);
	bool there = m && m->executable; /* at the instruction that jumps: a target that is not canonical */
	if (!there && (q->frame_count < 2 || q->frames[1].interrupted))
		return false;
	f->value_known = true;
	f->value = there ? fault->addr : fault->frame.pc;
	if ((there && !fault->addr_known) || !xc_scene_set(q, there ? 0 : 1, &f->fuel, &f->scene))
		return false;
	return (there || went_there(q, &f->scene.body->insns[f->scene.at])) && find_target(f);
}

static bool find_divisor(struct xc_inquiry *q, struct finding *f)
{
	if (!xc_scene_set(q, 0, &f->fuel, &f->scene))
		return false;
	const struct xc_insn *insn = &f->scene.body->insns[f->scene.at];
	struct xc_form address;
	f->divides = true;
	if (!insn->divides)
		return false;
	if (insn->divisor >= 0) {
		f->form = xc_form_register(&f->scene, f->scene.at, insn->divisor);
		return f->form.known && f->form.count == 1 && f->form.parts[0].term.text &&
		       f->form.parts[0].times == 1 && !f->form.constant;
	}
	address = xc_form_memory(&f->scene, f->scene.at, &insn->memory);
	f->form = (struct xc_form){.known = insn->has_memory, .sure = address.sure, .count = 1};
	f->form.parts[0].times = 1;
	return f->form.known &&
	       xc_form_place(&f->scene, f->scene.at, &address, insn->memory.size, &f->form.parts[0].term);
}

/* ---- from a library's function to who called it ---- */

/* Is it the frame that a person should look at, or one further out? */
static bool is_blamed(const struct finding *f)
{
	const struct xc_inquiry *q = f->scene.q;
	const struct xc_place *place = xc_debuginfo_place(q->process, f->scene.body->insns[f->scene.at].addr);
	if (q->blame.place)
		return f->scene.frame >= q->blamed;
	return place->level_count && !place->line_only;
}

/* What did the access, for people. Where no name is known it may not be what its frame is taken for. */
static const char *function_words(const struct xc_scene *scene)
{
	struct xc_arena *arena = &scene->q->report->arena;
	const struct xc_module *module = scene->q->frames[scene->frame].module;
	const char *name = xc_origin_function(scene);
	if (name)
		return xc_arena_printf(arena, "%s()", xc_libcall_name(name, arena));
	return xc_arena_printf(arena, "a function without a name%s%s", module ? " of " : "",
			       module ? module->name : "");
}

/* In the program's own words: climb while the pointer is an argument that was passed on. */
static bool climb(struct finding *f)
{
	for (unsigned i = 0; i < CLIMB && !is_blamed(f); i++) {
		const struct xc_form_part *pointer = xc_form_pointer(&f->form);
		struct xc_scene caller;
		struct xc_form form;
		int reg = pointer ? xc_origin_argument(&f->scene, &pointer->term) : -1;
		if (reg < 0 || !xc_origin_caller(&f->scene, reg, &caller, &form))
			return false;
		f->value_known &= f->form.count == 1;
		f->value -= (uint64_t)f->form.constant;
		f->passed_to = function_words(&f->scene);
		form.sure &= xc_origin_function(&f->scene) != NULL;
		f->scene = caller;
		f->form = form;
	}
	/* A language's own library, called from where nothing can be read (the stack is not there): its innards tell nobody anything. */
	size_t level;
	const struct xc_place *place = xc_debuginfo_place(f->scene.q->process, f->scene.body->insns[f->scene.at].addr);
	return is_blamed(f) && (!place->level_count || xc_own_level(place, &level));
}

/* ---- a library's function that cannot be followed ---- */

static bool is_bad(const struct xc_process *p, uint64_t value)
{
	return value < NULL_PAGES || !xc_process_mapping(p, value);
}

/* The one of the arguments that is bad, or that is not known to be good when the others are; -1 when that is open. */
static int choose_argument(const struct finding *f, unsigned candidates)
{
	static const int registers[] = {5, 4, 1}; /* rdi, rsi, rdx: psABI x86-64, 3.2.3 */
	int bad = -1, open = -1;
	unsigned bads = 0, opens = 0;
	for (unsigned i = 0; i < XC_COUNT(registers); i++) {
		uint64_t value;
		if (!(candidates >> i & 1))
			continue;
		struct xc_form form = xc_form_register(&f->scene, f->scene.at, registers[i]);
		bool known = xc_origin_value(&f->scene, &form, &value);
		if (known && !is_bad(f->scene.q->process, value))
			continue;
		bads += known;
		opens += !known;
		*(known ? &bad : &open) = registers[i];
	}
	return bads == 1 ? bad : bads == 0 && opens == 1 ? open : -1;
}

/* Where the library's code cannot be followed: what its function is known to do with its arguments. */
static bool take_argument(struct xc_inquiry *q, struct finding *f)
{
	const struct xc_fault *fault = &q->fault;
	if (!q->blame.place || !q->blamed || !xc_arch_is_x86_64(q->process->arch) || q->frames[q->blamed].interrupted ||
	    !xc_scene_set(q, q->blamed, &f->fuel, &f->scene))
		return false;
	const struct xc_insn *call = &f->scene.body->insns[f->scene.at];
	const char *callee = call->kind == XC_INSN_CALL ? xc_body_callee(f->scene.body, call, NULL) : NULL;
	callee = callee ? xc_libcall_name(callee, &q->report->arena) : NULL;
	unsigned candidates = xc_libcall_arguments(callee, fault->access);
	int reg = candidates ? choose_argument(f, candidates) : -1;
	bool one = candidates && !(candidates & (candidates - 1));
	if (reg < 0 && one) /* it is a good pointer: too much was asked for */
		reg = candidates == 1 ? 5 : 4;
	if (reg < 0)
		return false;
	f->form = xc_form_register(&f->scene, f->scene.at, reg);
	f->value_known = xc_origin_value(&f->scene, &f->form, &f->value);
	if (!f->value_known && fault->addr_known && !fault->addr)
		f->value_known = true, f->value = 0;
	f->passed_to = xc_arena_printf(&q->report->arena, "%s()", callee);
	return f->form.known;
}

/* ---- which part is bad ---- */

/* What the operand's base register holds, when it is the pointer alone. */
static bool base_value(const struct xc_inquiry *q, const struct finding *f, const struct xc_form_part *pointer,
		       uint64_t *value)
{
	const struct xc_memory_operand *o = &q->fault.operand;
	if (f->scene.frame || f->called || f->divides || o->base < 0 ||
	    !xc_regs_get(&q->fault.frame.regs, o->base, value))
		return false;
	struct xc_form form = xc_form_register(&f->scene, f->scene.at, o->base);
	*value -= (uint64_t)form.constant;
	return form.known && form.count == 1 && form.parts[0].times == 1 && form.parts[0].term.text &&
	       pointer->term.text && strcmp(form.parts[0].term.text, pointer->term.text) == 0;
}

/* What is offset from it lies where nothing ever is: likely the pointer is NULL, though its value is not known any more. */
static bool likely_null(const struct xc_inquiry *q, struct finding *f)
{
	bool null = q->fault.operand_known && q->fault.operand.addr_known && q->fault.operand.addr < NULL_PAGES;
	if (f->value_known || f->called || f->passed_to || !null)
		return false;
	f->value = 0;
	f->form.sure = false;
	return true;
}

/* The pointer that all else is offset from; an index, when the pointer is good. */
static void find_bad(const struct xc_inquiry *q, struct finding *f)
{
	uint64_t value;
	const struct xc_form_part *pointer = f->called || f->divides ? &f->form.parts[0] : xc_form_pointer(&f->form);
	if (f->form.count == 0 || !pointer || pointer->times != 1)
		return;
	if (f->form.count == 1 && f->value_known) {
		f->value -= (uint64_t)f->form.constant;
	} else if (base_value(q, f, pointer, &value)) {
		f->value = value;
		f->value_known = true;
	} else if (pointer->term.value_known) {
		f->value = pointer->term.value;
		f->value_known = true;
	} else {
		f->value_known = false;
	}
	if (f->divides || (f->value_known && is_bad(q->process, f->value)) || likely_null(q, f))
		f->bad = pointer->term;
}

static void write_place(struct finding *f, uint32_t size)
{
	if (f->called || f->divides || f->passed_to) {
		if (f->form.count == 1 && f->form.parts[0].times == 1 && !f->form.constant)
			f->place = f->form.parts[0].term;
		return;
	}
	if (!xc_form_place(&f->scene, f->scene.at, &f->form, size, &f->place))
		f->place.text = NULL;
}

/* ---- words ---- */

static const char *verb(const struct xc_inquiry *q)
{
	return q->fault.access == XC_ACCESS_WRITE  ? "writing"
	       : q->fault.access == XC_ACCESS_READ ? "reading"
						   : "accessing";
}

static bool is_reference(const struct xc_type *type)
{
	type = type ? xc_type_strip(type) : NULL;
	return type && (type->kind == XC_TYPE_REFERENCE || type->kind == XC_TYPE_RVALUE_REFERENCE);
}

/* "`r` is NULL", "`n->next` is 0x10", "`p` leads to where nothing is mapped" */
static void add_bad(const struct xc_inquiry *q, const struct finding *f, struct xc_text *text)
{
	bool result = f->bad.kind == XC_TERM_RESULT;
	if (!f->bad.text)
		return;
	xc_text_printf(text, "`%s` ", f->bad.text);
	if (is_reference(f->bad.type) && f->value)
		xc_text_add(text, "lies where nothing is mapped");
	else if (f->divides)
		xc_text_add(text, result ? "returned 0" : "is 0");
	else if (!f->value)
		xc_text_add(text, result ? "returned NULL" : "is NULL");
	else if (f->value < NULL_PAGES)
		xc_text_printf(text, "is 0x%" PRIx64 ", which is no pointer", f->value);
	else if (!xc_operand_canonical(f->value) && q->process->arch->word == 8)
		xc_text_add(text, "is no address");
	else
		xc_text_add(text, "points to where nothing is mapped");
}

/* The library's function that the program called, else the one that was passed the pointer. */
static const char *function_passed_to(const struct finding *f)
{
	const struct xc_inquiry *q = f->scene.q;
	bool through = q->blame.place && q->blame.through && f->scene.frame == q->blamed;
	const char *function = through ? xc_arena_printf(&q->report->arena, "%s()",
							 xc_libcall_name(q->blame.through, &q->report->arena))
				       : f->passed_to;
	return xc_stdobject_short(function, &q->report->arena);
}

/* An element where nothing is mapped, of what lies in mapped memory: the index leads there. NULL: it is not so, or has no name. */
static const struct xc_form_part *wild_index(const struct xc_inquiry *q, const struct finding *f)
{
	const struct xc_form *form = &f->form;
	const struct xc_form_part *pointer = xc_form_pointer(form), *index = NULL;
	size_t indexes = form->count - (pointer != NULL);
	bool good = form->absolute || (pointer && f->value_known && xc_process_mapping(q->process, f->value));
	if (f->bad.text || f->called || f->divides || f->passed_to || indexes != 1 || !good ||
	    !q->fault.operand.addr_known || xc_process_mapping(q->process, q->fault.addr))
		return NULL;
	for (size_t i = 0; i < form->count; i++)
		if (&form->parts[i] != pointer)
			index = &form->parts[i];
	return index->term.text ? index : NULL;
}

static void write_cause(const struct xc_inquiry *q, const struct finding *f, struct xc_text *text)
{
	const char *expression = f->place.text;
	if (f->called)
		xc_text_printf(text, "calling `(*%s)()`: ", expression);
	else if (f->divides)
		xc_text_printf(text, "dividing by `%s`: ", expression);
	else if (f->passed_to)
		xc_text_printf(text, "%s what `%s` points to, in %s: ", verb(q), expression, function_passed_to(f));
	else
		xc_text_printf(text, "%s `%s`", verb(q), expression);
	if (!f->called && !f->divides && !f->passed_to) {
		if (f->bad.text && f->form.count == 1 && f->form.constant > 0)
			xc_text_printf(text, " (offset 0x%" PRIx64 ")", (uint64_t)f->form.constant);
		if (f->bad.text)
			xc_text_add(text, ": ");
	}
	add_bad(q, f, text);
	if (wild_index(q, f))
		xc_text_printf(text, ": the index `%s` leads to where nothing is mapped", wild_index(q, f)->term.text);
}

/* Classes that say no more than this does. */
static bool may_explain(const struct xc_inquiry *q)
{
	static const char *const names[] = {"null-read",   "null-write", "null-access", "wild-read",   "wild-write",
					    "wild-access", "call-null",  "pc-control",  "div-by-zero", NULL};
	return xc_names_find(names, q->verdict->class_name);
}

/* A base register that is not zero made a NULL pointer only likely: here it is seen. */
static void explain(struct xc_inquiry *q, const struct finding *f, const char *cause)
{
	bool null = xc_inquiry_is(q, "null-read") || xc_inquiry_is(q, "null-write");
	q->verdict->cause = xc_arena_strdup(&q->report->arena, cause);
	if (null && f->form.sure && f->value_known && !f->value)
		q->verdict->confidence = xc_arena_strdup(&q->report->arena, "certain");
}

static void tell(struct xc_inquiry *q, struct finding *f)
{
	struct xc_arena *arena = &q->report->arena;
	struct xc_text cause = {0}, origin = {0};
	const struct xc_form_part *index = wild_index(q, f);
	bool sure = false, told = false;
	if (f->bad.text)
		told = xc_origin_tell(&f->scene, &f->bad, f->value_known || f->divides ? &f->value : NULL, &origin,
				      &sure);
	else if (index)
		told = xc_origin_tell(&f->scene, &index->term, NULL, &origin, &sure);
	if (told)
		q->verdict->origin = xc_arena_printf(arena, "%s%s", sure ? "" : "likely ", xc_text_string(&origin));
	if (f->place.text) {
		q->verdict->expression = f->called ? xc_arena_printf(arena, "(*%s)()", f->place.text)
						   : xc_arena_strdup(arena, f->place.text);
		if (!f->form.sure)
			xc_text_add(&cause, "likely ");
		write_cause(q, f, &cause);
		if (q->verdict->origin && index)
			xc_text_printf(&cause, "; %s", q->verdict->origin);
		if (q->verdict->origin && f->bad.text && f->bad.kind != XC_TERM_RESULT &&
		    !(f->bad.kind == XC_TERM_LOADED && !f->bad.slot))
			xc_text_printf(&cause, "; %s", q->verdict->origin);
		if ((f->bad.text || index) && may_explain(q))
			explain(q, f, xc_text_string(&cause));
	} else if (f->bad.text && !f->called && !f->divides && !f->passed_to && may_explain(q)) {
		xc_text_printf(&cause, "%s%s at an offset from `%s`: ", f->form.sure ? "" : "likely ", verb(q),
			       f->bad.text);
		add_bad(q, f, &cause);
		explain(q, f, xc_text_string(&cause));
	}
	xc_text_fini(&cause);
	xc_text_fini(&origin);
}

void xc_expression_tell(struct xc_inquiry *q)
{
	const struct xc_fault *fault = &q->fault;
	struct finding f = {.fuel = XC_TERM_FUEL};
	bool memory = fault->signal == SIGSEGV || fault->signal == SIGBUS, found;
	if (!q->frame_count || fault->sent || !fault->frame_known || xc_inquiry_is(q, "stack-overflow"))
		return; /* the place of a stack that is used up is of no interest */
	if (fault->signal == SIGFPE)
		found = find_divisor(q, &f);
	else if (memory && fault->access == XC_ACCESS_EXECUTE)
		found = find_call(q, &f);
	else
		found = memory && find_access(q, &f);
	bool accessed =
		memory && fault->access != XC_ACCESS_EXECUTE; /* what went wrong at a call is no argument of it */
	if ((!found || !climb(&f)) && !(accessed && take_argument(q, &f)))
		return;
	write_place(&f, fault->probed ? WHOLE : fault->operand.size);
	find_bad(q, &f);
	if (accessed && f.bad.text && f.value_known)
		q->pointer = f.value;
	tell(q, &f);
}
