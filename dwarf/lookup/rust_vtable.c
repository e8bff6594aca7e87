#include "dwarf/lookup/rust_vtable.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/lookup/lookup.h"
#include "dwarf/module/die.h"
#include "dwarf/module/exprcode.h"

enum { MOST = 1 << 20 };

struct tables {
	struct xc_rust_vtable *items;
	size_t count, capacity;
};

struct search {
	const struct xc_process *process;
	struct tables *tables;
};

static bool address_of(Dwarf_Die *die, uint64_t *addr)
{
	Dwarf_Attribute attr;
	Dwarf_Op op;
	if (!xc_die_attr(die, DW_AT_location, &attr) || !xc_exprcode_sole(&attr, &op))
		return false;
	*addr = op.number;
	return op.atom == DW_OP_addr || xc_exprcode_indexed(&attr, &op, addr);
}

static bool keep(void *user, const char *name, const struct xc_definition *definition)
{
	struct search *s = user;
	struct tables *t = s->tables;
	Dwarf_Die die = definition->die, table, concrete;
	uint64_t addr;
	if (!xc_ends_with(name, "{vtable}") || !definition->module->bias_known ||
	    !xc_die_ref(&die, DW_AT_type, &table) || !xc_die_ref(&table, DW_AT_containing_type, &concrete) ||
	    !address_of(&die, &addr))
		return true;
	if (t->count == t->capacity) {
		t->capacity = t->capacity ? 2 * t->capacity : 64;
		t->items = xc_realloc(t->items, t->capacity * sizeof *t->items);
	}
	t->items[t->count++] = (struct xc_rust_vtable){.addr = definition->module->bias + addr,
						       .type = xc_type_get(xc_types_of(s->process), &concrete)};
	return t->count < MOST;
}

static int by_address(const void *a, const void *b)
{
	const struct xc_rust_vtable *x = a, *y = b;
	return (x->addr > y->addr) - (x->addr < y->addr);
}

static struct tables *tables_of(const struct xc_process *process)
{
	/* The facts of a process are const once it is open; its caches are not facts. */
	struct xc_process *owner = (struct xc_process *)process;
	if (owner->rust_vtables)
		return owner->rust_vtables;
	struct tables *t = xc_arena_alloc(&owner->arena, sizeof *t);
	struct search s = {process, t};
	for (size_t i = 0; i < process->module_count && t->count < MOST; i++)
		xc_lookup_each(process, process->modules[i], XC_NAME_VARIABLE, keep, &s);
	struct xc_rust_vtable *unsorted = t->items;
	if (t->count) {
		qsort(unsorted, t->count, sizeof *unsorted, by_address);
		t->items = xc_arena_alloc(&owner->arena, t->count * sizeof *unsorted);
		memcpy(t->items, unsorted, t->count * sizeof *unsorted);
	}
	free(unsorted);
	return owner->rust_vtables = t;
}

const struct xc_rust_vtable *xc_rust_vtables(const struct xc_process *process, size_t *count_out)
{
	const struct tables *t = tables_of(process);
	*count_out = t->count;
	return t->items;
}

const struct xc_type *xc_rust_vtable_type(const struct xc_process *process, xc_addr table)
{
	const struct tables *t = tables_of(process);
	size_t lo = 0, hi = t->count;
	while (lo < hi) {
		size_t middle = lo + (hi - lo) / 2;
		if (t->items[middle].addr < table)
			lo = middle + 1;
		else
			hi = middle;
	}
	const struct xc_type *type = lo < t->count && t->items[lo].addr == table ? t->items[lo].type : NULL;
	for (; type && lo < t->count && t->items[lo].addr == table; lo++)
		if (strcmp(xc_type_name(t->items[lo].type), xc_type_name(type)) != 0)
			return NULL;
	return type;
}
