/* busy_loop: the branches that leave a loop, the comparisons before them, and whether the loop itself writes what is
 * compared. What a call may do is not known, except that of an atomic variable's methods. */
#include "triage/loop/busy_loop.h"

#include <inttypes.h>
#include <string.h>

#include "dwarf/types/field.h"
#include "triage/dataflow/origin.h"
#include "triage/dataflow/symbolic_value.h"
#include "triage/util/names.h"
#include "triage/util/statics.h"

enum { FLAGS_KEPT = 3, DEPTH = 6, TOLD = 4, THIS = 5 /* rdi */, RESULT = 0 /* rax */ };

struct search {
	const struct xc_frame_code *code;
	const struct xc_body *body;
	struct xc_loop loop;
	const char *told[TOLD];
	size_t count;
	const xc_addr *branches; /* the only ones to look at, with branch_count */
	size_t branch_count;
	bool still, shared, floats;
};

/* ---- what the loop does ---- */

static bool leaves(const struct search *s, const struct xc_insn *insn)
{
	return insn->has_target &&
	       (insn->target < s->body->insns[s->loop.first].addr || insn->target > s->body->insns[s->loop.last].addr);
}

/* The name of the atomic variable's method that is called, "load"; NULL: it is another function. */
static const char *atomic_method(const struct search *s, const struct xc_insn *call)
{
	static const char *const classes[] = {"std::atomic", "std::__atomic", "core::sync::atomic::", NULL};
	const char *name = xc_body_callee(s->body, call, NULL);
	bool atomic = name && (xc_names_begin(classes, name) || strstr(name, " as core::sync::atomic::"));
	const char *method = atomic ? strrchr(name, ':') : NULL;
	return method ? method + 1 : atomic ? name : NULL;
}

/* Does nothing but wait: std::hint::spin_loop(), sched_yield(). */
static bool is_pause(const struct search *s, const struct xc_insn *call)
{
	static const char *const names[] = {"sched_yield",           "std::this_thread::yield",
					    "core::hint::spin_loop", "std::thread::yield_now",
					    "__gthread_yield",       NULL};
	return xc_names_find(names, xc_body_callee(s->body, call, NULL));
}

/* Changes nothing but its result: a function of the C library, not one of the program with such a name. */
static bool is_of_mathematics(const struct search *s, const struct xc_insn *call)
{
	static const char *const names[] = {"sin",   "cos",   "tan",  "asin",   "acos",  "atan",  "atan2",
					    "sinh",  "cosh",  "tanh", "exp",    "exp2",  "log",   "log2",
					    "log10", "pow",   "sqrt", "cbrt",   "hypot", "floor", "ceil",
					    "fmod",  "round", "fabs", "sincos", NULL};
	xc_addr addr = 0;
	const struct xc_process *p = s->body->process;
	const char *name = xc_body_callee(s->body, call, &addr);
	char plain[16];
	if (addr && xc_process_module(p, addr) == xc_process_module(p, call->addr))
		return false;
	name = name && strncmp(name, "__", 2) == 0 ? name + 2 : name;
	size_t len = name ? strcspn(name, "@_") : 0;
	if (!len || len >= sizeof plain)
		return false;
	memcpy(plain, name, len);
	plain[len] = '\0';
	if (xc_names_find(names, plain))
		return true;
	plain[len - 1] = plain[len - 1] == 'f' || plain[len - 1] == 'l' ? '\0' : plain[len - 1];
	return xc_names_find(names, plain);
}

static bool same_place(const struct xc_insn_memory *a, const struct xc_insn_memory *b)
{
	return a->base == b->base && a->index == b->index && a->displacement == b->displacement;
}

/* May an instruction of the loop write this memory? An attempt to take a lock does not count. */
static bool is_written(const struct search *s, const struct xc_insn_memory *memory)
{
	bool slot = xc_frame_code_is_slot(s->code, memory);
	for (size_t i = s->loop.first; i <= s->loop.last; i++) {
		const struct xc_insn *insn = &s->body->insns[i];
		if (!insn->writes_memory || !insn->has_memory)
			continue;
		bool other = xc_frame_code_is_slot(s->code, &insn->memory);
		if (slot == other ? same_place(memory, &insn->memory) || !slot : false)
			return true;
	}
	return false;
}

static bool changes(const struct search *s, size_t at, int reg, unsigned depth);

/* The only store to a slot of the frame in the loop, before `at`: what the code keeps there for a moment. */
static bool only_store(const struct search *s, size_t at, const struct xc_insn_memory *slot, size_t *store)
{
	size_t count = 0;
	if (!xc_frame_code_is_slot(s->code, slot))
		return false;
	for (size_t i = s->loop.first; i <= s->loop.last; i++) {
		const struct xc_insn *insn = &s->body->insns[i];
		if (!insn->has_memory || !insn->writes_memory || !same_place(&insn->memory, slot))
			continue;
		*store = i;
		count += insn->kind == XC_INSN_STORE && insn->from >= 0 && i < at ? 1 : 2;
	}
	return count == 1;
}

static bool memory_changes(const struct search *s, size_t at, const struct xc_insn_memory *m, unsigned depth)
{
	size_t store;
	if (depth && only_store(s, at, m, &store))
		return changes(s, store, s->body->insns[store].from, depth - 1);
	return !depth || m->complex || is_written(s, m) || (m->base >= 0 && changes(s, at, m->base, depth - 1)) ||
	       (m->index >= 0 && changes(s, at, m->index, depth - 1));
}

/* Does the loop itself give the register other values, as far as is known? */
static bool changes(const struct search *s, size_t at, int reg, unsigned depth)
{
	if (xc_frame_code_is_frame_register(s->code, reg) || !xc_loop_writes(s->body, &s->loop, reg))
		return false;
	for (size_t i = at; reg >= 0 && reg < 64 && depth && i-- > s->loop.first;) {
		const struct xc_insn *insn = &s->body->insns[i];
		if (!(insn->writes >> reg & 1))
			continue;
		switch (insn->kind) {
		case XC_INSN_CONSTANT:
			return false;
		case XC_INSN_MOVE:
			return changes(s, i, insn->from, depth - 1);
		case XC_INSN_LOAD:
		case XC_INSN_ADDRESS:
			return memory_changes(s, i, &insn->memory, depth - 1);
		case XC_INSN_CALL:
			return reg != RESULT || !atomic_method(s, insn);
		default:
			return true;
		}
	}
	return true;
}

/* ---- in words ---- */

static void take(struct search *s, const char *name, const struct xc_type *type, bool known, uint64_t bits)
{
	struct xc_arena *arena = &s->code->crash->report->arena;
	const struct xc_type *plain = type ? xc_type_strip(type) : NULL;
	if (strncmp(name, "__", 2) == 0 || strchr(name, '(')) { /* of a library's function */
		s->still = false;
		return;
	}
	if (strstr(name, ".poison.failed.")) /* of each lock of Rust */
		return;
	for (size_t i = 0; i < s->count; i++)
		if (strncmp(s->told[i] + 1, name, strlen(name)) == 0 && s->told[i][1 + strlen(name)] == '`')
			return;
	if (s->count == TOLD)
		return;
	bool pointer = plain && plain->kind == XC_TYPE_POINTER;
	s->told[s->count++] =
		!known    ? xc_arena_printf(arena, "`%s`", name)
		: pointer ? xc_arena_printf(arena, bits ? "`%s` (0x%" PRIx64 ")" : "`%s` (NULL)", name, bits)
		: plain && !plain->is_signed ? xc_arena_printf(arena, "`%s` (%" PRIu64 ")", name, bits)
					     : xc_arena_printf(arena, "`%s` (%" PRId64 ")", name, (int64_t)bits);
}

/* C's atomic_load() of GCC has a pointer of its own to the variable. */
static void look_through(const struct search *s, xc_addr addr, struct xc_symbolic_value *place)
{
	const struct xc_crash_context *view = s->code->crash;
	struct xc_held held;
	struct xc_text text = {0};
	if (strncmp(place->text, "*__atomic_", 10) != 0 ||
	    !xc_statics_at(view->process, xc_crash_context_place(view, s->code->frame), view->thread, addr, &held))
		return;
	xc_text_add(&text, held.name);
	place->type = xc_field_path(&text, held.type, held.offset, NULL);
	place->text = xc_arena_strdup(&view->report->arena, xc_text_string(&text));
	xc_text_fini(&text);
}

static void take_address(struct search *s, size_t at, const struct xc_linear_expr *address, uint32_t size)
{
	const struct xc_process *p = s->code->crash->process;
	struct xc_symbolic_value place;
	uint64_t addr, bits = 0, whole;
	bool there = xc_origin_value(s->code, address, &addr);
	const struct xc_mapping *m = there ? xc_process_mapping(p, addr) : NULL;
	s->shared |= m && m->shared;
	if (!address->known || !xc_symbolic_value_place(s->code, at, address, size, &place) || !place.text)
		return;
	if (there)
		look_through(s, addr, &place);
	if (place.type && xc_type_size(place.type, &whole) && whole && whole <= 8)
		size = (uint32_t)whole;
	bool known = there && size && size <= 8 && xc_space_peek_uint(p->space, addr, size, &bits);
	if (known && place.type && xc_type_strip(place.type)->is_signed)
		bits = xc_extend(bits, 8 * size, true);
	take(s, place.text, place.type, known, bits);
}

/* What the register holds at a comparison: the place it was read from, or the atomic variable of a call. */
static void take_register(struct search *s, size_t at, int reg, unsigned depth)
{
	size_t i = at, store;
	while (i-- > s->loop.first && !(s->body->insns[i].writes >> reg & 1))
		;
	if (i + 1 > s->loop.first && depth) {
		const struct xc_insn *insn = &s->body->insns[i];
		struct xc_linear_expr address;
		if (insn->kind == XC_INSN_MOVE) {
			take_register(s, i, insn->from, depth - 1);
		} else if (insn->kind == XC_INSN_LOAD && only_store(s, i, &insn->memory, &store)) {
			take_register(s, store, s->body->insns[store].from, depth - 1);
		} else if (insn->kind == XC_INSN_LOAD) {
			address = xc_symbolic_value_address(s->code, i, &insn->memory);
			take_address(s, i, &address, insn->memory.size);
		} else if (insn->kind == XC_INSN_OTHER && insn->has_memory && insn->reads_memory &&
			   insn->writes_memory) { /* xchg, xadd */
			address = xc_symbolic_value_address(s->code, i, &insn->memory);
			take_address(s, i, &address, insn->memory.size);
		} else if (insn->kind == XC_INSN_CALL && atomic_method(s, insn)) {
			address = xc_symbolic_value_register(s->code, i, THIS);
			take_address(s, i, &address, 0);
		}
		return;
	}
	struct xc_linear_expr form = xc_symbolic_value_register(s->code, at, reg);
	uint64_t bits = 0;
	if (form.known && form.count == 1 && !form.constant && form.parts[0].times == 1 && form.parts[0].term.text) {
		bool known = xc_regs_get(&s->code->crash->frames[s->code->frame].regs, reg, &bits);
		take(s, form.parts[0].term.text, form.parts[0].term.type, known, bits);
	}
}

static void take_memory(struct search *s, size_t at)
{
	struct xc_linear_expr address = xc_symbolic_value_address(s->code, at, &s->body->insns[at].memory);
	take_address(s, at, &address, s->body->insns[at].memory.size);
}

/* ---- the ends of the loop ---- */

/* An attempt to set what has another value: cmpxchg. */
static bool is_attempt(const struct xc_insn *insn)
{
	return insn->kind == XC_INSN_OTHER && insn->has_memory && insn->reads_memory && insn->writes_memory &&
	       (insn->writes >> RESULT & 1);
}

/* `cmp; setne al; test al, al` asks what the first does. */
static size_t asked(const struct search *s, size_t at)
{
	const struct xc_insn *insn = &s->body->insns[at];
	size_t i = at;
	if (!insn->compares_zero || insn->left < 0 || insn->left != insn->right || insn->compare_size != 1)
		return at;
	while (i-- > s->loop.first && !(s->body->insns[i].writes >> insn->left & 1))
		;
	bool set = i > s->loop.first && i < at && s->body->insns[i].kind == XC_INSN_OTHER;
	return set && (s->body->insns[i - 1].compares || is_attempt(&s->body->insns[i - 1])) ? i - 1 : at;
}

static void judge(struct search *s, size_t at)
{
	at = asked(s, at);
	const struct xc_insn *insn = &s->body->insns[at];
	if (is_attempt(insn)) {
		take_memory(s, at);
		s->still &=
			(insn->memory.base < 0 || !changes(s, at, insn->memory.base, DEPTH)) && insn->memory.index < 0;
		return;
	}
	int sides[] = {insn->left, insn->right};
	for (size_t i = 0; i < XC_COUNT(sides); i++)
		if (sides[i] >= 0 && !(i && sides[i] == sides[0])) {
			s->still &= !changes(s, at, sides[i], DEPTH);
			take_register(s, at, sides[i], DEPTH);
		}
	if (insn->has_memory) {
		s->still &= !memory_changes(s, at, &insn->memory, DEPTH);
		take_memory(s, at);
	}
}

/* The instruction that decides a branch; false: it is not known. */
static bool decider(const struct search *s, size_t branch, size_t *at)
{
	for (size_t i = 1; i <= FLAGS_KEPT && branch >= s->loop.first + i; i++) {
		const struct xc_insn *insn = &s->body->insns[branch - i];
		*at = branch - i;
		if (insn->compares || is_attempt(insn))
			return true;
		if (insn->kind != XC_INSN_MOVE && insn->kind != XC_INSN_LOAD)
			return false;
	}
	return false;
}

/* `ucomisd; jp; jne`: two branches ask one comparison. */
static bool by_floats(const struct search *s, size_t branch)
{
	for (size_t i = branch; i-- > s->loop.first && branch - i <= FLAGS_KEPT + 1;) {
		const struct xc_insn *insn = &s->body->insns[i];
		bool quiet = insn->kind == XC_INSN_OTHER && !insn->writes && !insn->has_memory && !insn->compares;
		if (insn->compares_floats)
			return true;
		if (insn->kind != XC_INSN_BRANCH && insn->kind != XC_INSN_MOVE && insn->kind != XC_INSN_LOAD && !quiet)
			return false;
	}
	return false;
}

/* A jump or return in the middle of the loop leaves it. */
static bool is_way_out(const struct search *s, const struct xc_insn *insn)
{
	return insn->kind == XC_INSN_RETURN || (insn->kind == XC_INSN_JUMP && (!insn->has_target || leaves(s, insn)));
}

static bool is_chosen(const struct search *s, const struct xc_insn *insn)
{
	for (size_t i = 0; i < s->branch_count; i++)
		if (s->branches[i] == insn->addr)
			return true;
	return false;
}

static void look_at_loop(struct search *s, struct xc_busy_loop *out)
{
	bool ends = false, acts = false, inside = false;
	for (size_t i = s->loop.first; i <= s->loop.last; i++)
		inside |= is_way_out(s, &s->body->insns[i]);
	s->still = !s->body->incomplete && !s->body->jumps_wild;
	for (size_t i = s->loop.first; i <= s->loop.last; i++) {
		const struct xc_insn *insn = &s->body->insns[i];
		size_t at;
		bool branch = insn->kind == XC_INSN_BRANCH, end = branch && (i == s->loop.last || leaves(s, insn));
		ends |= end || inside;
		acts |= insn->kind == XC_INSN_CALL && !atomic_method(s, insn) && !is_pause(s, insn) &&
			!is_of_mathematics(s, insn);
		if (s->branch_count ? !is_chosen(s, insn) : !end && !(branch && inside))
			continue;
		if (decider(s, i, &at))
			judge(s, at);
		else
			s->still = false;
		s->floats |= by_floats(s, i);
	}
	out->floats = s->floats;
	out->has_end = ends;
	out->still = s->still && !acts && s->count;
	out->shared = s->shared;
	out->endless = !ends && !acts && !s->body->incomplete && !s->body->jumps_wild;
}

static const char *list(const struct search *s)
{
	struct xc_text text = {0};
	for (size_t i = 0; i < s->count; i++)
		xc_text_printf(&text, "%s%s", !i ? "" : i + 1 == s->count ? " and " : ", ", s->told[i]);
	const char *words = s->count ? xc_arena_strdup(&s->code->crash->report->arena, xc_text_string(&text)) : NULL;
	xc_text_fini(&text);
	return words;
}

void xc_busy_loop_look(const struct xc_frame_code *code, const struct xc_loop *loop, const xc_addr *branches,
		       size_t count, struct xc_busy_loop *out)
{
	struct search s = {
		.code = code, .body = code->body, .loop = *loop, .branches = branches, .branch_count = count};
	*out = (struct xc_busy_loop){.ends = NULL};
	look_at_loop(&s, out);
	out->ends = list(&s);
}

bool xc_busy_loop_describe(const struct xc_busy_loop *loop, struct xc_text *text)
{
	if (loop->endless)
		xc_text_add(text, "whose code has no way out: nothing is tested in it (a compiler reads a variable "
				  "that is neither volatile nor atomic only once, before the loop)");
	else if (loop->still && loop->ends)
		xc_text_printf(text, "that ends only by %s, which nothing in it changes", loop->ends);
	else if (loop->ends || loop->floats)
		xc_text_printf(text, "that ends by %s%s%s", loop->ends ? loop->ends : "",
			       loop->ends && loop->floats ? " and " : "",
			       loop->floats ? "a comparison of floating-point numbers" : "");
	return loop->endless || loop->ends || loop->floats;
}
