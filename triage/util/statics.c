#include "triage/util/statics.h"

#include <dwarf.h>
#include <elf.h>
#include <string.h>

#include "dwarf/module/die.h"
#include "dwarf/elf/demangle.h"
#include "dwarf/elf/symbol.h"

enum { NESTING = 4, MOST = 100000, EACH = 300 };

struct search {
	const struct xc_process *process;
	const struct xc_place *place;
	const struct xc_thread *thread;
	struct xc_arena scratch;
	xc_addr addr;
	const char *symbol; /* that begins at `begin`, or NULL */
	xc_addr begin;
	struct xc_held *out;
	unsigned left;
	bool declared; /* out has the type of a declaration */
};

static bool covers(const struct search *s, const struct xc_value *value)
{
	uint64_t size;
	return value->kind == XC_VALUE_MEMORY && s->addr >= value->addr && xc_type_size(value->type, &size) &&
	       s->addr - value->addr < size;
}

static const char *linkage_name(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	return xc_die_attr(die, DW_AT_linkage_name, &attr) ? dwarf_formstring(&attr) : xc_die_name(die);
}

static bool look_at(struct search *s, Dwarf_Die *die)
{
	struct xc_value value;
	Dwarf_Attribute attr;
	const char *name = xc_die_name(die), *linkage = linkage_name(die);
	bool placed = xc_die_attr(die, DW_AT_location, &attr);
	bool same = s->symbol && linkage && strcmp(s->symbol, linkage) == 0;
	if (!name || (!placed && !same))
		return false;
	if (placed) {
		xc_variable_static(s->process, s->place->module, s->thread, die, &s->scratch, &value);
		if (!covers(s, &value))
			return false;
		*s->out = (struct xc_held){.name = name, .type = value.type, .offset = s->addr - value.addr};
		return true;
	}
	*s->out = (struct xc_held){
		.name = name, .type = xc_type_of(xc_types_of(s->process), die), .offset = s->addr - s->begin};
	s->declared = true;
	return false; /* the definition may follow */
}

static bool search_children(struct search *s, Dwarf_Die *parent, unsigned nesting)
{
	Dwarf_Die child;
	for (bool more = xc_die_child(parent, &child); more && s->left; more = xc_die_next(&child)) {
		s->left--;
		int tag = dwarf_tag(&child);
		if (tag == DW_TAG_variable && look_at(s, &child))
			return true;
		if (tag == DW_TAG_namespace && nesting < NESTING && search_children(s, &child, nesting + 1))
			return true;
	}
	return false;
}

/* The data symbol at the address. */
static void find_symbol(struct search *s)
{
	const struct xc_place *at = xc_debuginfo_place(s->process, s->addr);
	struct xc_module *module = at->module;
	if (!module || !module->bias_known)
		return;
	const struct xc_symbol *symbol =
		xc_symtab_at(xc_debugfile_symbols(xc_debugfile_of(s->process, module)), at->file_addr);
	if (!symbol || (symbol->type != STT_OBJECT && symbol->type != STT_NOTYPE) || !symbol->size)
		return;
	s->symbol = symbol->name;
	s->begin = s->addr - (at->file_addr - symbol->value);
}

/* "main::gate" of a static of a function, which has no declaration outside of it. */
static const char *plain_name(const struct xc_process *process, const char *symbol)
{
	xc_auto(xc_freep) char *plain = xc_demangle(symbol, false);
	return plain ? xc_arena_strdup(xc_types_of(process)->arena, plain) : symbol;
}

bool xc_statics_at(const struct xc_process *process, const struct xc_place *place, const struct xc_thread *thread,
		   xc_addr addr, struct xc_held *out)
{
	struct search s = {
		.process = process, .place = place, .thread = thread, .addr = addr, .out = out, .left = MOST};
	find_symbol(&s);
	bool found = false;
	if (place->level_count) {
		Dwarf_Die unit = place->unit;
		found = search_children(&s, &unit, 0) || s.declared;
	}
	xc_arena_fini(&s.scratch);
	if (!found && s.symbol) {
		*out = (struct xc_held){.name = plain_name(process, s.symbol), .offset = addr - s.begin};
		found = true;
	}
	return found;
}

/* ---- all of them ---- */

struct visit {
	const struct xc_process *process;
	const struct xc_place *place;
	const struct xc_thread *thread;
	struct xc_arena scratch;
	xc_statics_fn *each;
	void *user;
	unsigned left, told;
};

static void visit(struct visit *v, Dwarf_Die *die)
{
	struct xc_value value;
	Dwarf_Attribute attr;
	const char *name = xc_die_name(die);
	if (!xc_die_attr(die, DW_AT_location, &attr))
		return;
	xc_variable_static(v->process, v->place->module, v->thread, die, &v->scratch, &value);
	if (!name && xc_die_attr(die, DW_AT_specification, &attr)) { /* the definition of a declared one */
		Dwarf_Die declared;
		name = dwarf_formref_die(&attr, &declared) ? xc_die_name(&declared) : NULL;
	}
	if (!name || value.kind != XC_VALUE_MEMORY)
		return;
	v->each(v->user, name, &value);
	v->told++;
}

static void visit_children(struct visit *v, Dwarf_Die *parent, unsigned nesting)
{
	Dwarf_Die child;
	for (bool more = xc_die_child(parent, &child); more && v->left && v->told < EACH; more = xc_die_next(&child)) {
		v->left--;
		int tag = dwarf_tag(&child);
		if (tag == DW_TAG_variable)
			visit(v, &child);
		else if (tag == DW_TAG_namespace && nesting < NESTING)
			visit_children(v, &child, nesting + 1);
	}
}

void xc_statics_each(const struct xc_process *process, const struct xc_place *place, const struct xc_thread *thread,
		     xc_statics_fn *each, void *user)
{
	struct visit v = {
		.process = process, .place = place, .thread = thread, .each = each, .user = user, .left = MOST};
	if (!place->level_count)
		return;
	Dwarf_Die unit = place->unit;
	visit_children(&v, &unit, 0);
	xc_arena_fini(&v.scratch);
}
