/* variable: plans and their evaluation.
 *
 * Everything that does not depend on the frame is computed once per (place, inline level) and kept in the level: the
 * variables in scope, their types, and the location list entry for this address. Two thousand threads at the same place
 * then only evaluate and format. All text of a row is in one allocation.
 *
 * An inlined or outlined instance may leave out variables of its abstract origin that were optimised away completely.
 * They are shown too, so that a signature is complete. */
#include "dwarf/stack/variable.h"

#include <dwarf.h>
#include <string.h>

#include "dwarf/elf/budget.h"
#include "dwarf/module/debugfile.h"
#include "dwarf/module/die.h"
#include "dwarf/value/entry_value.h"
#include "dwarf/view/view.h"

enum { MAX_VARIABLES = 2048, MAX_NESTING = 16, PAID_TEXT = 8 };

enum source { ABSENT, LOCATION, CONSTANT };

struct variable {
	const char *name;
	const struct xc_type *type;
	enum source source;
	struct xc_expr expr;      /* LOCATION */
	struct xc_expr at_entry;  /* of an argument, where the function begins; count 0: not known */
	Dwarf_Attribute constant; /* CONSTANT */
	const void *order;        /* the DIE of the declaration: arguments are in its order */
	uint64_t line;            /* of the declaration; 0: not known */
};

struct list {
	struct variable *items;
	size_t count, capacity;
};

struct plan {
	struct list args, locals;
	struct xc_expr frame_base;
	bool has_base;
};

struct collector {
	struct xc_types *types;
	uint64_t file_addr, entry; /* entry: of the function whose arguments these are; 0: inlined */
	struct list args, locals;
};

static Dwarf_Die origin_of(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Die to;
	return dwarf_attr(die, DW_AT_abstract_origin, &attr) && xc_die_follow(&attr, &to) ? to : *die;
}

static void add(struct collector *c, Dwarf_Die *die)
{
	bool is_argument = dwarf_tag(die) == DW_TAG_formal_parameter;
	struct list *list = is_argument ? &c->args : &c->locals;
	struct variable one = {.name = xc_die_identifier(die, c->types->arena), .order = origin_of(die).addr};
	Dwarf_Attribute attr;
	uint64_t line;
	if (!one.name || list->count >= MAX_VARIABLES)
		return;
	if (xc_die_attr(die, DW_AT_const_value, &one.constant)) {
		one.source = CONSTANT;
	} else if (xc_die_attr(die, DW_AT_location, &attr)) {
		one.source =
			xc_expr_of(c->types, &attr, c->file_addr, &one.expr) && one.expr.count > 0 ? LOCATION : ABSENT;
		if (!is_argument || !c->entry || !xc_expr_of(c->types, &attr, c->entry, &one.at_entry))
			one.at_entry.count = 0;
	} else if (xc_die_flag(die, DW_AT_declaration)) {
		return; /* extern int x; in a block: not a local */
	}
	one.type = xc_type_of(c->types, die);
	one.line = xc_die_number(die, DW_AT_decl_line, &line) ? line : 0;
	list->items = xc_grow(list->items, list->count, &list->capacity, sizeof *list->items);
	list->items[list->count++] = one;
}

static bool has_code(Dwarf_Die *block)
{
	return dwarf_hasattr(block, DW_AT_low_pc) || dwarf_hasattr(block, DW_AT_ranges);
}

static void collect_children(struct collector *c, Dwarf_Die *block, unsigned nesting)
{
	Dwarf_Die child, common;
	for (bool more = xc_die_child(block, &child); more; more = xc_die_next(&child)) {
		switch (dwarf_tag(&child)) {
		case DW_TAG_formal_parameter:
		case DW_TAG_variable:
			add(c, &child);
			break;
		case DW_TAG_lexical_block: /* without addresses it is not a scope */
			if (nesting < MAX_NESTING && !has_code(&child))
				collect_children(c, &child, nesting + 1);
			break;
		case DW_TAG_GNU_formal_parameter_pack:
		case DW_TAG_common_block: /* of Fortran: the variables have their own locations */
			if (nesting < MAX_NESTING)
				collect_children(c, &child, nesting + 1);
			break;
		case DW_TAG_common_inclusion:
			if (nesting < MAX_NESTING && xc_die_ref(&child, DW_AT_common_reference, &common))
				collect_children(c, &common, nesting + 1);
			break;
		default:
			break;
		}
	}
}

static bool has_order(const struct list *list, const void *order)
{
	for (size_t i = 0; i < list->count; i++) {
		if (list->items[i].order == order)
			return true;
	}
	return false;
}

static void sort_by_order(struct list *list, size_t from)
{
	for (size_t i = from + 1; i < list->count; i++) {
		struct variable one = list->items[i];
		size_t at = i;
		for (; at > from && list->items[at - 1].order > one.order; at--)
			list->items[at] = list->items[at - 1];
		list->items[at] = one;
	}
}

/* Variables of a block's abstract origin that neither the block nor its inner blocks list. gcc lists the arguments of
 * inlined calls in reverse; the origin has them in order. */
static void collect_inherited(struct collector *c, Dwarf_Die *block, size_t first_arg)
{
	Dwarf_Die origin = origin_of(block), child;
	if (origin.addr == block->addr)
		return;
	size_t left = 2 * MAX_VARIABLES;
	for (bool more = xc_die_child(&origin, &child); more && left > 0; more = xc_die_next(&child), left--) {
		int tag = dwarf_tag(&child);
		if ((tag == DW_TAG_formal_parameter && !has_order(&c->args, child.addr)) ||
		    (tag == DW_TAG_variable && !has_order(&c->locals, child.addr)))
			add(c, &child);
	}
	sort_by_order(&c->args, first_arg);
}

static struct list keep(struct xc_arena *arena, struct list *list)
{
	struct list kept = {.count = list->count, .capacity = list->count};
	if (list->count > 0) {
		kept.items = xc_arena_alloc(arena, list->count * sizeof *kept.items);
		memcpy(kept.items, list->items, list->count * sizeof *kept.items);
	}
	xc_freep(&list->items);
	return kept;
}

static struct plan *make_plan(const struct xc_process *process, const struct xc_place *place, size_t level)
{
	const struct xc_level *at = &place->levels[level];
	struct collector c = {.types = xc_types_of(process), .file_addr = place->file_addr};
	struct plan *plan = xc_arena_alloc(c.types->arena, sizeof *plan);
	Dwarf_Attribute attr;
	Dwarf_Die function = place->levels[place->level_count - 1].die;
	if (level != place->level_count - 1 || !xc_die_entry(&function, &c.entry))
		c.entry = 0;
	for (size_t i = 0; i < at->block_count; i++) {
		Dwarf_Die block = at->blocks[i];
		size_t first_arg = c.args.count;
		collect_children(&c, &block, 0);
		collect_inherited(&c, &block, first_arg);
	}
	plan->args = keep(c.types->arena, &c.args);
	plan->locals = keep(c.types->arena, &c.locals);
	plan->has_base = xc_die_attr(&function, DW_AT_frame_base, &attr) &&
			 xc_expr_of(c.types, &attr, place->file_addr, &plan->frame_base);
	return plan;
}

static const struct plan *plan_of(const struct xc_process *process, const struct xc_place *place, size_t level)
{
	struct xc_level *at = &place->levels[level];
	if (!at->variables)
		at->variables = make_plan(process, place, level);
	return at->variables;
}

static void evaluate(struct xc_expr_context *c, const struct variable *variable, struct xc_value *out)
{
	const struct xc_type *type = variable->type;
	struct xc_location location;
	if (type->is_dynamic)
		type = xc_expr_resolve(c, type);
	switch (variable->source) {
	case CONSTANT: {
		Dwarf_Attribute attr = variable->constant;
		xc_expr_constant(c, &attr, type, out);
		break;
	}
	case LOCATION:
		xc_expr_locate(c, &variable->expr, NULL, &location);
		xc_expr_value(c, &location, type, out);
		break;
	default:
		*out = xc_value_absent(c->process, type, "optimized out");
	}
}

/* Texts are collected in one buffer, as offsets, because it moves when it grows. */
struct row_text {
	struct xc_text text;
	const struct xc_format_options *options;
};

static size_t add_text(struct row_text *row, const char *string)
{
	size_t at = row->text.len;
	xc_text_addn(&row->text, string, strlen(string) + 1);
	return at;
}

/* A row's variable, with its texts as offsets into the buffer. */
struct draft {
	size_t name, type, short_type, value; /* short_type 0: none */
	bool readable, guessed;
};

static struct draft write_variable(struct row_text *row, struct xc_expr_context *c, const struct variable *variable)
{
	struct xc_value value;
	evaluate(c, variable, &value);
	if (value.kind == XC_VALUE_ABSENT && variable->at_entry.count > 0)
		xc_entry_value_variable(c, &variable->at_entry, value.type, &value);
	struct draft draft = {.name = add_text(row, variable->name), .type = add_text(row, xc_type_name(value.type))};
	draft.short_type = row->text.len;
	if (xc_view_brief_name(&row->text, value.type))
		xc_text_char(&row->text, '\0');
	else
		draft.short_type = 0;
	draft.guessed = value.guessed;
	draft.value = row->text.len;
	draft.readable = xc_format_whole(&row->text, &value, row->options);
	xc_text_char(&row->text, '\0');
	xc_budget_spend(1 + (row->text.len - draft.name) / PAID_TEXT);
	return draft;
}

static struct xc_variable_text finish(const struct draft *draft, const char *bytes)
{
	struct xc_variable_text out = {.name = bytes + draft->name,
				       .type = bytes + draft->type,
				       .short_type = draft->short_type ? bytes + draft->short_type : NULL};
	if (draft->readable) {
		out.value = bytes + draft->value;
		out.guessed = draft->guessed;
	} else {
		out.why = bytes + draft->value;
	}
	return out;
}

static void fill_list(struct xc_expr_context *c, const struct list *list, const struct xc_format_options *options,
		      struct xc_arena *arena, struct xc_variable_text **out, size_t *count_out)
{
	struct row_text row = {.options = options};
	struct draft local[32], *drafts = local;
	if (list->count == 0)
		return;
	if (list->count > XC_COUNT(local))
		drafts = xc_alloc(list->count * sizeof *drafts);
	for (size_t i = 0; i < list->count; i++)
		drafts[i] = write_variable(&row, c, &list->items[i]);
	char *bytes = xc_arena_alloc(arena, row.text.len);
	memcpy(bytes, row.text.bytes, row.text.len);
	*out = xc_arena_alloc(arena, list->count * sizeof **out);
	for (size_t i = 0; i < list->count; i++)
		(*out)[i] = finish(&drafts[i], bytes);
	*count_out = list->count;
	xc_text_fini(&row.text);
	if (drafts != local)
		xc_freep(&drafts);
}

void xc_variables_fill(const struct xc_frame_context *context, size_t level, bool with_locals,
		       const struct xc_format_options *options, struct xc_arena *arena, struct xc_stack_row *row)
{
	if (!xc_place_has_die(context->place, level))
		return;
	const struct plan *plan = plan_of(context->process, context->place, level);
	struct xc_arena scratch = {0};
	struct xc_expr_context c = xc_expr_in_frame(context->process, context->thread, context->unwinder,
						    context->frame, context->place, &scratch);
	c.frame_base = plan->has_base ? &plan->frame_base : NULL;
	fill_list(&c, &plan->args, options, arena, &row->args, &row->arg_count);
	if (with_locals)
		fill_list(&c, &plan->locals, options, arena, &row->locals, &row->local_count);
	xc_arena_fini(&scratch);
}

/* ---- from a register to a name ---- */

struct holder {
	uint64_t number, value;
	const char *located, *equal; /* names */
	size_t equal_count;
};

static void look_for_holder(struct xc_expr_context *c, const struct list *list, struct holder *h)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct variable *variable = &list->items[i];
		struct xc_location location;
		struct xc_value value;
		uint64_t bits;
		if (variable->source != LOCATION)
			continue;
		xc_expr_locate(c, &variable->expr, NULL, &location);
		if (location.kind == XC_LOCATION_REGISTER && location.number == h->number && !h->located)
			h->located = variable->name;
		if (!xc_type_is_pointer(variable->type))
			continue;
		xc_expr_value(c, &location, variable->type, &value);
		if (!xc_value_load(&value, &bits) || bits != h->value ||
		    (h->equal && !strcmp(h->equal, variable->name)))
			continue;
		h->equal = variable->name;
		h->equal_count++;
	}
}

const char *xc_variables_in_register(const struct xc_frame_context *context, size_t level, int number, uint64_t value,
				     bool *located_out)
{
	struct holder h = {.number = (uint64_t)number, .value = value};
	struct xc_arena scratch = {0};
	if (level >= context->place->level_count || number < 0)
		return NULL;
	const struct plan *plan = plan_of(context->process, context->place, level);
	struct xc_expr_context c = xc_expr_in_frame(context->process, context->thread, context->unwinder,
						    context->frame, context->place, &scratch);
	c.frame_base = plan->has_base ? &plan->frame_base : NULL;
	look_for_holder(&c, &plan->args, &h);
	look_for_holder(&c, &plan->locals, &h);
	xc_arena_fini(&scratch);
	*located_out = h.located != NULL;
	return h.located ? h.located : h.equal_count == 1 ? h.equal : NULL;
}

/* The piece of a variable that is all of this register. */
static bool has_piece(const struct xc_location *location, int number, uint64_t *offset)
{
	uint64_t bits = 0;
	for (size_t i = 0; i < location->count; i++) {
		const struct xc_piece *piece = &location->pieces[i];
		*offset = bits / 8;
		if (piece->location.kind == XC_LOCATION_REGISTER && piece->location.number == (uint64_t)number &&
		    piece->bit_offset == 0 && bits % 8 == 0)
			return true;
		bits += piece->bit_size;
	}
	return false;
}

static bool holds_place(const struct xc_location *location, const struct xc_type *type, int number, xc_addr addr,
			uint64_t *offset)
{
	uint64_t size;
	*offset = 0;
	if (number >= 0 && location->kind == XC_LOCATION_PIECES)
		return has_piece(location, number, offset);
	if (number >= 0)
		return location->kind == XC_LOCATION_REGISTER && location->number == (uint64_t)number;
	*offset = addr - location->number;
	return location->kind == XC_LOCATION_MEMORY && xc_type_size(type, &size) && *offset < size;
}

static bool find_held(struct xc_expr_context *c, const struct list *list, int number, xc_addr addr, struct xc_held *out)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct variable *variable = &list->items[i];
		struct xc_location location;
		if (variable->source != LOCATION)
			continue;
		xc_expr_locate(c, &variable->expr, NULL, &location);
		*out = (struct xc_held){.name = variable->name, .type = variable->type};
		if (holds_place(&location, variable->type, number, addr, &out->offset))
			return true;
	}
	return false;
}

bool xc_variable_held(const struct xc_frame_context *context, size_t level, int number, xc_addr addr,
		      struct xc_held *out)
{
	struct xc_arena scratch = {0};
	if (!xc_place_has_die(context->place, level))
		return false;
	const struct plan *plan = plan_of(context->process, context->place, level);
	struct xc_expr_context c = xc_expr_in_frame(context->process, context->thread, context->unwinder,
						    context->frame, context->place, &scratch);
	c.frame_base = plan->has_base ? &plan->frame_base : NULL;
	bool local = find_held(&c, &plan->locals, number, addr, out);
	bool found = local || find_held(&c, &plan->args, number, addr, out);
	out->argument = found && !local;
	xc_arena_fini(&scratch);
	return found;
}

/* ---- by name ---- */

static const struct variable *named(const struct list *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++) {
		if (strcmp(list->items[i].name, name) == 0)
			return &list->items[i];
	}
	return NULL;
}

bool xc_variable_find(const struct xc_frame_context *context, size_t level, const char *name, struct xc_arena *arena,
		      struct xc_value *out)
{
	if (!xc_place_has_die(context->place, level))
		return false;
	const struct plan *plan = plan_of(context->process, context->place, level);
	const struct variable *variable = named(&plan->locals, name);
	if (!variable)
		variable = named(&plan->args, name);
	if (!variable)
		return false;
	struct xc_expr_context c = xc_expr_in_frame(context->process, context->thread, context->unwinder,
						    context->frame, context->place, arena);
	c.frame_base = plan->has_base ? &plan->frame_base : NULL;
	evaluate(&c, variable, out);
	const enum xc_type_kind kind = xc_type_strip(out->type)->kind; /* a reference stays what it was at entry */
	if (out->kind == XC_VALUE_ABSENT && (kind == XC_TYPE_REFERENCE || kind == XC_TYPE_RVALUE_REFERENCE))
		xc_entry_value_variable(&c, &variable->at_entry, out->type, out);
	return true;
}

size_t xc_variable_values_of(const struct xc_frame_context *context, size_t level, bool locals,
			     xc_variable_wanted_fn *wanted, void *user, struct xc_arena *arena,
			     struct xc_named_value **out)
{
	size_t count = 0;
	*out = NULL;
	if (!xc_place_has_die(context->place, level))
		return 0;
	const struct plan *plan = plan_of(context->process, context->place, level);
	const struct list *list = locals ? &plan->locals : &plan->args;
	struct xc_expr_context c = xc_expr_in_frame(context->process, context->thread, context->unwinder,
						    context->frame, context->place, arena);
	c.frame_base = plan->has_base ? &plan->frame_base : NULL;
	for (size_t i = 0; i < list->count; i++) {
		if (!wanted(user, list->items[i].type))
			continue;
		if (!*out)
			*out = xc_arena_alloc(arena, (list->count - i) * sizeof **out);
		(*out)[count].name = list->items[i].name;
		(*out)[count].line = list->items[i].line;
		evaluate(&c, &list->items[i], &(*out)[count++].value);
	}
	return count;
}

static bool wants_all(void *user, const struct xc_type *type)
{
	(void)user;
	(void)type;
	return true;
}

size_t xc_variable_values(const struct xc_frame_context *context, size_t level, bool locals, struct xc_arena *arena,
			  struct xc_named_value **out)
{
	return xc_variable_values_of(context, level, locals, wants_all, NULL, arena, out);
}

void xc_variable_names(const struct xc_frame_context *context, size_t level, xc_variable_name_fn *each, void *user)
{
	if (!xc_place_has_die(context->place, level))
		return;
	const struct plan *plan = plan_of(context->process, context->place, level);
	for (size_t i = 0; i < plan->args.count; i++) {
		if (!each(user, plan->args.items[i].name))
			return;
	}
	for (size_t i = 0; i < plan->locals.count; i++) {
		if (!each(user, plan->locals.items[i].name))
			return;
	}
}
