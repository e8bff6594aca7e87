/* entry_value: DW_OP_entry_value (DWARF 5, 2.5.1.7).
 *
 *     caller:   mov  $42, %edi             DW_TAG_call_site, DW_AT_call_return_pc
 *               call f                       DW_TAG_call_site_parameter: location reg5 (rdi), call_value lit42
 *               nop  <- return address
 *     f:        ... rdi is reused: entry_value(reg5) is the value that the call site says was passed
 *
 * A call site describes a call of one function. If the caller called another function, which jumped to this one (a tail
 * call), the parameters belong to the other function. If this function may have jumped to itself, they are out of date.
 * Both are checked as gdb checks them; without proof there is no value. Results are marked as guessed. Call sites do
 * not change, so the search for one is remembered by (place of the caller, this function). */
#include "dwarf/value/entry_value.h"

#include <dwarf.h>
#include <string.h>

#include "dwarf/module/die.h"
#include "dwarf/module/exprcode.h"
#include "dwarf/elf/symbol.h"
#include "dwarf/unwind/sitetarget.h"
#include "dwarf/value/expr_impl.h"

enum { MAX_FUNCTIONS = 64, MAX_SITES = 4096, MAX_NESTING = 64 };

enum { MAX_PASSED = 8 };

/* A value that the call passed. Without these, a register that depends on two of the caller's would double the work in
 * each frame. */
struct passed_value {
	unsigned reg;
	bool deref;
	unsigned __int128 bits;
};

/* The frame that called the context's, with the call site. Made once per frame, in scratch. */
struct xc_entry_value_caller {
	const char *why; /* NULL when usable */
	Dwarf_Die site;
	struct xc_frame frame;
	struct xc_expr_context context;
	struct passed_value passed[MAX_PASSED];
	size_t passed_count;
};

struct site {
	const char *why;
	Dwarf_Die die;
};

static bool site_ref(Dwarf_Die *site, Dwarf_Die *to_out)
{
	return xc_die_ref(site, DW_AT_call_origin, to_out) || xc_die_ref(site, DW_AT_abstract_origin, to_out);
}

static const char *linkage_name(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	const char *name = NULL;
	if (xc_die_attr(die, DW_AT_linkage_name, &attr) || xc_die_attr(die, DW_AT_MIPS_linkage_name, &attr))
		name = dwarf_formstring(&attr);
	return name ? name : xc_die_name(die);
}

/* The abstract instance, or the declaration, of a concrete function. */
static Dwarf_Die origin_of(Dwarf_Die *die)
{
	Dwarf_Die at = *die, to;
	for (int i = 0; i < MAX_NESTING; i++) {
		Dwarf_Attribute attr;
		if ((!dwarf_attr(&at, DW_AT_abstract_origin, &attr) && !dwarf_attr(&at, DW_AT_specification, &attr)) ||
		    !xc_die_follow(&attr, &to))
			break;
		at = to;
	}
	return at;
}

/* Does the DIE that a call site names describe the function `ours`? */
static bool is_callee(struct xc_expr_context *c, Dwarf_Die *named, Dwarf_Die *ours)
{
	uint64_t named_lo, our_lo;
	if (named->addr == ours->addr)
		return true;
	bool placed = xc_die_entry(ours, &our_lo);
	if (xc_die_entry(named, &named_lo))
		return placed && named_lo == our_lo && dwarf_cu_getdwarf(named->cu) == dwarf_cu_getdwarf(ours->cu);
	Dwarf_Die a = origin_of(named), b = origin_of(ours);
	if (a.addr == b.addr)
		return true;
	const char *want = linkage_name(named), *have = linkage_name(ours);
	if (!want || !have || !xc_die_flag(named, DW_AT_external))
		return false;
	if (strcmp(want, have) == 0)
		return true;
	xc_addr addr; /* an alias: another name for the first instruction of the function */
	return placed && c->module && xc_symbol_find(c->process, want, NULL, &addr) && addr == our_lo + c->module->bias;
}

struct search {
	Dwarf_Die *todo;
	size_t count;
	unsigned sites;
};

static void remember(struct search *s, Dwarf_Die *die)
{
	for (size_t i = 0; i < s->count; i++) {
		if (s->todo[i].addr == die->addr)
			return;
	}
	if (s->count < MAX_FUNCTIONS)
		s->todo[s->count++] = *die;
}

/* Collect the functions that tail calls below a DIE jump to. */
static void tail_calls(struct search *s, Dwarf_Die *die, unsigned nesting)
{
	Dwarf_Die child, to;
	for (bool more = xc_die_child(die, &child); more && s->sites < MAX_SITES; more = xc_die_next(&child)) {
		int tag = dwarf_tag(&child);
		s->sites++;
		if (tag == DW_TAG_call_site || tag == DW_TAG_GNU_call_site) {
			if ((xc_die_flag(&child, DW_AT_call_tail_call) || xc_die_flag(&child, DW_AT_GNU_tail_call)) &&
			    site_ref(&child, &to))
				remember(s, &to);
		} else if ((tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine) && nesting < MAX_NESTING) {
			tail_calls(s, &child, nesting + 1);
		}
	}
}

/* Can the function run itself again, with other arguments, by tail calls alone? */
static bool calls_itself(struct xc_expr_context *c, Dwarf_Die *function)
{
	struct xc_types *types = xc_types_of(c->process);
	void **slot = xc_pointer_map_at(&types->sites, types->arena, function->addr, NULL);
	static char yes, no;
	if (*slot)
		return *slot == &yes;
	Dwarf_Die todo[MAX_FUNCTIONS];
	struct search s = {.todo = todo};
	bool found = false;
	tail_calls(&s, function, 0);
	for (size_t i = 0; i < s.count && !found; i++) {
		found = is_callee(c, &todo[i], function);
		tail_calls(&s, &todo[i], 0);
	}
	*xc_pointer_map_at(&types->sites, types->arena, function->addr, NULL) = found ? &yes : &no;
	return found;
}

/* An indirect call has an expression for its target (DW_AT_call_target). */
static bool targets(struct xc_entry_value_caller *caller, Dwarf_Die *site, Dwarf_Die *ours, xc_addr bias)
{
	Dwarf_Attribute attr;
	struct xc_expr expr;
	uint64_t lo, target;
	if (!dwarf_attr(site, DW_AT_call_target, &attr) && !dwarf_attr(site, DW_AT_GNU_call_site_target, &attr))
		return false;
	return xc_die_entry(ours, &lo) &&
	       xc_expr_of(xc_types_of(caller->context.process), &attr, caller->context.file_addr, &expr) &&
	       !xc_expr_number(&caller->context, &expr, &target) && target == lo + bias;
}

/* Does the call instruction itself go to our function, whatever the name it was called by? */
static bool goes_to(struct xc_entry_value_caller *caller, Dwarf_Die *site, Dwarf_Die *ours, xc_addr bias)
{
	uint64_t lo;
	struct xc_site call = {.process = caller->context.process,
			       .module = caller->context.place->module,
			       .die = site,
			       .end = caller->frame.pc};
	if (!xc_die_entry(ours, &lo))
		return false;
	struct xc_callee likely = {.entry = lo + bias};
	return xc_site_target(&call, &likely) == likely.entry;
}

static const char *check_site(struct xc_expr_context *c, struct xc_entry_value_caller *caller, Dwarf_Die *ours,
			      Dwarf_Die *site_out)
{
	Dwarf_Die named;
	const struct xc_place *place = caller->context.place;
	if (!place->module || !xc_debuginfo_call_site(place, caller->frame.pc - place->module->bias, site_out))
		return "optimized out";
	if (site_ref(site_out, &named) && !is_callee(c, &named, ours) &&
	    !goes_to(caller, site_out, ours, c->module ? c->module->bias : 0))
		return "optimized out (entered by a tail call)";
	return calls_itself(c, ours) ? "optimized out (may have called itself)" : NULL;
}

/* The call site in the caller; the result of the search is remembered. */
static const struct site *find_site(struct xc_expr_context *c, struct xc_entry_value_caller *caller, Dwarf_Die *ours)
{
	struct xc_types *types = xc_types_of(c->process);
	const struct xc_place *place = caller->context.place;
	void **slot = xc_pointer_map_at(&types->sites, types->arena, place, ours->addr);
	if (*slot)
		return *slot;
	struct site *site = xc_arena_alloc(types->arena, sizeof *site);
	site->why = check_site(c, caller, ours, &site->die);
	*xc_pointer_map_at(&types->sites, types->arena, place, ours->addr) = site;
	return site;
}

static void find_caller(struct xc_expr_context *c, struct xc_entry_value_caller *caller)
{
	const char *stop;
	Dwarf_Die named;
	caller->why = c->callers < XC_EXPR_CALLERS ? "optimized out" : "computed from too many callers";
	if (c->callers >= XC_EXPR_CALLERS || !c->unwinder || !c->frame || !c->place || c->place->level_count == 0 ||
	    c->frame->signal || !xc_unwind_step(c->unwinder, c->frame, &caller->frame, &stop))
		return;
	if (caller->frame.trust != XC_TRUST_CFI || caller->frame.interrupted)
		return;
	const struct xc_place *place = xc_debuginfo_place(c->process, xc_frame_lookup(&caller->frame));
	if (!place->module || place->level_count == 0)
		return;
	caller->context = xc_expr_in_frame(c->process, c->thread, c->unwinder, &caller->frame, place, c->scratch);
	caller->context.depth = c->depth;
	caller->context.callers = c->callers + 1;
	Dwarf_Die *ours = &c->place->levels[c->place->level_count - 1].die;
	const struct site *site = find_site(c, caller, ours);
	caller->why = site->why;
	caller->site = site->die;
	if (!site->why && !site_ref(&caller->site, &named) &&
	    !targets(caller, &caller->site, ours, c->module ? c->module->bias : 0))
		caller->why = "optimized out (called through a pointer)";
}

static struct xc_entry_value_caller *caller_of(struct xc_expr_context *c)
{
	if (!c->caller) {
		c->caller = xc_arena_alloc(c->scratch, sizeof *c->caller);
		c->caller->why = "optimized out"; /* during the search, for hostile expressions that ask again */
		find_caller(c, c->caller);
	}
	return c->caller;
}

static bool is_parameter(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);
	return tag == DW_TAG_call_site_parameter || tag == DW_TAG_GNU_call_site_parameter;
}

static bool names_register(const Dwarf_Op *op, uint64_t *reg_out)
{
	*reg_out = op->atom == DW_OP_regx ? op->number : op->atom - (uint64_t)DW_OP_reg0;
	return op->atom == DW_OP_regx || (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31);
}

static bool passes(Dwarf_Die *parameter, unsigned reg)
{
	Dwarf_Attribute attr;
	Dwarf_Op op;
	uint64_t number;
	return dwarf_attr(parameter, DW_AT_location, &attr) && xc_exprcode_sole(&attr, &op) &&
	       names_register(&op, &number) && number == reg;
}

/* Evaluate a call site parameter in the frame that makes the call. Registers of that frame must survive the call. */
static const char *passed(struct xc_expr_context *c, struct xc_expr_context *caller, Dwarf_Die *parameter, bool deref,
			  unsigned __int128 *bits_out)
{
	Dwarf_Attribute attr;
	struct xc_expr expr;
	bool found = deref ? dwarf_attr(parameter, DW_AT_call_data_value, &attr) ||
				     dwarf_attr(parameter, DW_AT_GNU_call_site_data_value, &attr)
			   : dwarf_attr(parameter, DW_AT_call_value, &attr) ||
				     dwarf_attr(parameter, DW_AT_GNU_call_site_value, &attr);
	if (!found || !xc_expr_of(xc_types_of(c->process), &attr, caller->file_addr, &expr))
		return "optimized out";
	unsigned depth = caller->depth;
	expr.survives_call = true;
	caller->depth = c->depth ? c->depth : 1; /* inside an evaluation: the step count continues */
	caller->steps = c->steps;
	const char *why = xc_expr_bits(caller, &expr, bits_out);
	c->steps = caller->steps;
	caller->depth = depth;
	return why;
}

static const char *find_passed(struct xc_expr_context *c, struct xc_entry_value_caller *caller, unsigned reg,
			       bool deref, unsigned __int128 *bits_out)
{
	Dwarf_Die child;
	for (bool more = xc_die_child(&caller->site, &child); more; more = xc_die_next(&child)) {
		if (is_parameter(&child) && passes(&child, reg)) {
			c->guessed = true;
			return passed(c, &caller->context, &child, deref, bits_out);
		}
	}
	return "optimized out";
}

static bool was_asked(const struct xc_entry_value_caller *caller, unsigned reg, bool deref, unsigned __int128 *bits_out)
{
	for (size_t i = 0; i < caller->passed_count; i++) {
		*bits_out = caller->passed[i].bits;
		if (caller->passed[i].reg == reg && caller->passed[i].deref == deref)
			return true;
	}
	return false;
}

const char *xc_entry_value_register(struct xc_expr_context *c, unsigned reg, bool deref, unsigned __int128 *bits_out)
{
	struct xc_entry_value_caller *caller = caller_of(c);
	if (caller->why)
		return caller->why;
	if (was_asked(caller, reg, deref, bits_out)) {
		c->guessed = true;
		return NULL;
	}
	const char *why = find_passed(c, caller, reg, deref, bits_out);
	if (!why && caller->passed_count < MAX_PASSED)
		caller->passed[caller->passed_count++] = (struct passed_value){reg, deref, *bits_out};
	return why;
}

const char *xc_entry_value_argument(struct xc_expr_context *c, unsigned reg, unsigned __int128 *bits_out)
{
	Dwarf_Die site, child;
	if (!c->place->module || !xc_debuginfo_call_site(c->place, c->frame->pc - c->place->module->bias, &site))
		return "optimized out";
	for (bool more = xc_die_child(&site, &child); more; more = xc_die_next(&child)) {
		if (is_parameter(&child) && passes(&child, reg))
			return passed(c, c, &child, false, bits_out);
	}
	return "optimized out";
}

const char *xc_entry_value_parameter(struct xc_expr_context *c, Dwarf_Die *parameter, unsigned __int128 *bits_out)
{
	struct xc_entry_value_caller *caller = caller_of(c);
	Dwarf_Die child, named;
	if (caller->why)
		return caller->why;
	for (bool more = xc_die_child(&caller->site, &child); more; more = xc_die_next(&child)) {
		if (is_parameter(&child) &&
		    (xc_die_ref(&child, DW_AT_call_parameter, &named) ||
		     xc_die_ref(&child, DW_AT_abstract_origin, &named)) &&
		    named.addr == parameter->addr) {
			c->guessed = true;
			return passed(c, &caller->context, &child, false, bits_out);
		}
	}
	return "optimized out";
}

bool xc_entry_value_variable(struct xc_expr_context *c, const struct xc_expr *at_entry, const struct xc_type *type,
			     struct xc_value *out)
{
	struct xc_location location = {.kind = XC_LOCATION_VALUE, .guessed = true};
	uint64_t reg, size;
	if (at_entry->count != 1 || !names_register(at_entry->ops, &reg) || reg > UINT32_MAX ||
	    !xc_type_size(type, &size) || size > c->process->arch->reg_size)
		return false;
	c->steps = 0;
	if (xc_entry_value_register(c, (unsigned)reg, false, &location.bits))
		return false;
	location.size = (size_t)size;
	xc_expr_value(c, &location, type, out);
	return true;
}
