#include "dwarf/stack/ended_variable.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/module/debugfile.h"
#include "dwarf/module/die.h"
#include "dwarf/value/expr.h"

enum { MAX_VARIABLES = 2048, MAX_NESTING = 32, MAX_ENTRIES = 1 << 16 };

struct collector {
	struct xc_expr_context *context;
	struct xc_types *types;
	uint64_t file_addr;
	struct xc_ended_variable *items;
	size_t count, capacity;
	size_t entries; /* that were read */
};

/* A location that is not a list: of the whole life of the variable. */
static bool is_single(Dwarf_Attribute *attr)
{
	unsigned form = dwarf_whatform(attr);
	return form == DW_FORM_exprloc || form == DW_FORM_block1 || form == DW_FORM_block2 || form == DW_FORM_block4 ||
	       form == DW_FORM_block;
}

static void add(struct collector *c, Dwarf_Die *die)
{
	struct xc_ended_variable one = {.name = xc_die_identifier(die, c->types->arena)};
	struct xc_location location;
	Dwarf_Attribute attr;
	struct xc_expr expr;
	if (!one.name || c->count >= MAX_VARIABLES || !xc_die_attr(die, DW_AT_location, &attr) || !is_single(&attr) ||
	    !xc_expr_of(c->types, &attr, c->file_addr, &expr) || !expr.count)
		return;
	xc_expr_locate(c->context, &expr, NULL, &location);
	const struct xc_type *type = xc_type_of(c->types, die);
	if (location.kind != XC_LOCATION_MEMORY || !xc_type_size(type, &one.size) || !one.size)
		return;
	one.lo = location.number;
	c->items = xc_grow(c->items, c->count, &c->capacity, sizeof *c->items);
	c->items[c->count++] = one;
}

static bool is_scope(int tag)
{
	return tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine || tag == DW_TAG_try_block ||
	       tag == DW_TAG_catch_block;
}

/* `ended`: the block is not in scope itself. One without addresses is part of the block around it. */
static void collect(struct collector *c, Dwarf_Die *block, bool ended, unsigned nesting)
{
	Dwarf_Die child;
	for (bool more = xc_die_child(block, &child); more && c->entries < MAX_ENTRIES; more = xc_die_next(&child)) {
		int tag = dwarf_tag(&child);
		c->entries++;
		if (ended && (tag == DW_TAG_variable || tag == DW_TAG_formal_parameter))
			add(c, &child);
		if (!is_scope(tag) || nesting >= MAX_NESTING)
			continue;
		bool has_code = dwarf_hasattr(&child, DW_AT_low_pc) || dwarf_hasattr(&child, DW_AT_ranges);
		collect(c, &child, ended || (has_code && dwarf_haspc(&child, c->file_addr) == 0), nesting + 1);
	}
}

size_t xc_ended_variables(const struct xc_frame_context *context, struct xc_arena *arena,
			  struct xc_ended_variable **out)
{
	const struct xc_place *place = context->place;
	struct xc_arena scratch = {0};
	struct xc_expr frame_base;
	Dwarf_Attribute attr;
	*out = NULL;
	if (!place->level_count || place->line_only)
		return 0;
	struct xc_expr_context expr_context =
		xc_expr_in_frame(context->process, context->thread, context->unwinder, context->frame, place, &scratch);
	struct collector c = {
		.context = &expr_context, .types = xc_types_of(context->process), .file_addr = place->file_addr};
	Dwarf_Die function = place->levels[place->level_count - 1].die;
	if (xc_die_attr(&function, DW_AT_frame_base, &attr) &&
	    xc_expr_of(c.types, &attr, place->file_addr, &frame_base))
		expr_context.frame_base = &frame_base;
	collect(&c, &function, false, 0);
	if (c.count)
		*out = memcpy(xc_arena_alloc(arena, c.count * sizeof *c.items), c.items, c.count * sizeof *c.items);
	free(c.items);
	xc_arena_fini(&scratch);
	return c.count;
}

const struct xc_ended_variable *xc_ended_variable_at(const struct xc_frame_context *context,
						     const struct xc_ended_variable *variables, size_t count,
						     xc_addr addr)
{
	const struct xc_ended_variable *found = NULL;
	struct xc_held held;
	for (size_t i = 0; i < count && !found; i++)
		if (addr >= variables[i].lo && addr - variables[i].lo < variables[i].size)
			found = &variables[i];
	for (size_t level = 0; found && level < context->place->level_count; level++)
		if (xc_variable_held(context, level, -1, addr, &held))
			return NULL;
	return found;
}
