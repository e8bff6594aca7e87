/* unit_functions: per unit, on first use, a sorted table of address ranges and the functions that they belong to. */
#include "dwarf/symbolize/unit_functions.h"

#include <dwarf.h>
#include <stdlib.h>

#include "dwarf/elf/budget.h"
#include "dwarf/module/die.h"

enum {
	MAX_DEPTH = 64,      /* namespaces and classes around a function */
	MAX_RANGES = 1 << 21 /* of a process: functions of a hostile file may share one long list of ranges */
};

struct range {
	uint64_t lo, hi; /* inclusive */
	Dwarf_Die die;
};

struct ranges {
	struct range *items;
	size_t count, capacity;
	size_t *left; /* how many may still be added; shared by all tables */
};

struct unit {
	struct unit *next;
	Dwarf_Die die;
	struct ranges functions;
	struct ranges hidden; /* functions at deeper levels; collected when an address is not in `functions` */
	bool hidden_collected;
};

struct module_units {
	struct module_units *next;
	const struct xc_module *module;
	struct unit *units; /* the units looked up so far */
};

struct xc_unit_functions {
	struct module_units *modules;
	size_t left;
};

struct xc_unit_functions *xc_unit_functions_new(void)
{
	struct xc_unit_functions *all = xc_alloc(sizeof *all);
	all->left = MAX_RANGES;
	return all;
}

static void free_units(struct module_units *m)
{
	for (struct unit *u; (u = m->units); free(u)) {
		m->units = u->next;
		free(u->functions.items);
		free(u->hidden.items);
	}
	free(m);
}

void xc_unit_functions_free(struct xc_unit_functions *all)
{
	if (!all)
		return;
	for (struct module_units *m; (m = all->modules);) {
		all->modules = m->next;
		free_units(m);
	}
	free(all);
}

static void add_range(struct ranges *r, uint64_t lo, uint64_t end, const Dwarf_Die *die)
{
	if (lo >= end)
		return;
	*r->left -= 1;
	r->items = xc_grow(r->items, r->count, &r->capacity, sizeof *r->items);
	r->items[r->count++] = (struct range){.lo = lo, .hi = end - 1, .die = *die};
}

/* Add the ranges of a DIE. Linkers move dead functions to address 0; those are skipped. */
static void add_ranges(struct ranges *r, Dwarf_Die *die)
{
	Dwarf_Addr base, lo, end;
	ptrdiff_t at = 0;
	while (*r->left > 0 && xc_budget_spend(1) && (at = dwarf_ranges(die, at, &base, &lo, &end)) > 0)
		if (lo != 0)
			add_range(r, lo, end, die);
}

static int by_lo(const void *a, const void *b)
{
	const struct range *x = a, *y = b;
	if (x->lo != y->lo)
		return x->lo < y->lo ? -1 : 1;
	return x->hi > y->hi ? -1 : x->hi < y->hi; /* the wider first */
}

static void sort_ranges(struct ranges *r)
{
	if (r->count)
		qsort(r->items, r->count, sizeof *r->items, by_lo);
}

/* The innermost range that holds addr. Ranges of functions nest only in unusual languages, so the nearest start below
 * is nearly always right; a few steps back cover the rest. */
static struct range *find_range(const struct ranges *r, uint64_t addr)
{
	size_t lo = XC_LOWER_BOUND(r->count, i, r->items[i].lo <= addr);
	for (size_t back = 0; lo > 0 && back < 64; back++)
		if (r->items[--lo].hi >= addr)
			return &r->items[lo];
	return NULL;
}

static struct module_units *units_of(struct xc_unit_functions *all, const struct xc_module *module)
{
	for (struct module_units *m = all->modules; m; m = m->next)
		if (m->module == module)
			return m;
	struct module_units *m = xc_alloc(sizeof *m);
	m->module = module;
	m->next = all->modules;
	all->modules = m;
	return m;
}

/* Collect functions at the top of the unit and in its namespaces: nearly all of them in C and C++. */
static void collect_functions(struct ranges *functions, Dwarf_Die *parent, unsigned depth)
{
	Dwarf_Die child;
	if (depth > MAX_DEPTH || !xc_die_child(parent, &child))
		return;
	do {
		int tag = xc_die_tag(&child);
		if (tag == DW_TAG_subprogram)
			add_ranges(functions, &child);
		else if (tag == DW_TAG_namespace || tag == DW_TAG_module)
			collect_functions(functions, &child, depth + 1);
	} while (xc_die_next(&child));
}

/* Collect functions anywhere else: in types (Rust, Swift, D), in types local to a function (lambdas), in functions
 * (GNU C). */
static void collect_hidden_functions(struct ranges *functions, Dwarf_Die *parent, unsigned depth)
{
	Dwarf_Die child;
	if (depth > MAX_DEPTH || !xc_die_child(parent, &child))
		return;
	do {
		switch (xc_die_tag(&child)) {
		case DW_TAG_subprogram:
			if (depth)
				add_ranges(functions, &child);
			collect_hidden_functions(functions, &child, depth + 1);
			break;
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
		case DW_TAG_union_type:
		case DW_TAG_enumeration_type:
		case DW_TAG_lexical_block:
		case DW_TAG_inlined_subroutine:
			collect_hidden_functions(functions, &child, depth + 1);
			break;
		default:
			break;
		}
	} while (xc_die_next(&child));
}

static struct unit *unit_of(struct module_units *m, Dwarf_Die *die, size_t *left)
{
	for (struct unit *u = m->units; u; u = u->next)
		if (u->die.addr == die->addr)
			return u;
	struct unit *u = xc_alloc(sizeof *u);
	u->die = *die;
	u->functions.left = u->hidden.left = left;
	u->next = m->units;
	m->units = u;
	collect_functions(&u->functions, die, 0);
	sort_ranges(&u->functions);
	return u;
}

static struct range *find_function(struct unit *unit, uint64_t file_addr)
{
	struct range *function = find_range(&unit->functions, file_addr);
	if (function)
		return function;
	if (!unit->hidden_collected) {
		collect_hidden_functions(&unit->hidden, &unit->die, 0);
		sort_ranges(&unit->hidden);
		unit->hidden_collected = true;
	}
	return find_range(&unit->hidden, file_addr);
}

bool xc_unit_functions_at(struct xc_unit_functions *all, const struct xc_module *module, Dwarf_Die *unit,
			  uint64_t file_addr, Dwarf_Die *function_out)
{
	struct range *found = find_function(unit_of(units_of(all, module), unit, &all->left), file_addr);
	if (found)
		*function_out = found->die;
	return found != NULL;
}
