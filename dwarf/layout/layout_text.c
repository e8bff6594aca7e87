/* layout_text: one line per row of a layout, with braces, comments and sums.
 *
 * The declaration of a member is split after its base (xc_type_declare), because the members of an expanded one go
 * between: `struct {` … `} name[3];`. */
#include "dwarf/layout/layout_text.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "dwarf/module/die.h"

enum { STEP = 4, PLACE = 23 }; /* columns: of a level of depth; of the comment with offset and size */

const char *xc_layout_kind_name(const struct xc_type *type)
{
	static const char *const names[] = {
		[XC_TYPE_VOID] = "void",
		[XC_TYPE_INT] = "integer",
		[XC_TYPE_BOOL] = "boolean",
		[XC_TYPE_CHAR] = "character",
		[XC_TYPE_FLOAT] = "float",
		[XC_TYPE_COMPLEX] = "complex",
		[XC_TYPE_ENUM] = "enum",
		[XC_TYPE_POINTER] = "pointer",
		[XC_TYPE_REFERENCE] = "reference",
		[XC_TYPE_RVALUE_REFERENCE] = "rvalue reference",
		[XC_TYPE_MEMBER_POINTER] = "member pointer",
		[XC_TYPE_ARRAY] = "array",
		[XC_TYPE_STRUCT] = "struct",
		[XC_TYPE_CLASS] = "class",
		[XC_TYPE_UNION] = "union",
		[XC_TYPE_FUNCTION] = "function",
		[XC_TYPE_TYPEDEF] = "typedef",
		[XC_TYPE_CONST] = "const",
		[XC_TYPE_VOLATILE] = "volatile",
		[XC_TYPE_RESTRICT] = "restrict",
		[XC_TYPE_ATOMIC] = "atomic",
		[XC_TYPE_UNKNOWN] = "unknown",
	};
	return (size_t)type->kind < XC_COUNT(names) && names[type->kind] ? names[type->kind] : "unknown";
}

static bool has_body(const struct xc_type *type)
{
	return xc_type_is_record(type) || xc_type_strip(type)->kind == XC_TYPE_ENUM;
}

const struct xc_type *xc_layout_body(const struct xc_type *type)
{
	for (int i = 0; i < XC_TYPE_DEPTH && type; i++) {
		type = xc_type_strip(type);
		if (has_body(type))
			return xc_type_complete(type);
		if (type->kind < XC_TYPE_POINTER || type->kind > XC_TYPE_ARRAY)
			return NULL;
		type = type->target;
	}
	return NULL;
}

/* ---- pieces of lines ---- */

static void indent(struct xc_text *text, unsigned depth)
{
	xc_text_printf(text, "%*s", (int)(PLACE + STEP * depth), "");
}

static void add_gap(struct xc_text *text, struct xc_layout_gap gap)
{
	if (gap.bytes)
		xc_text_printf(text, "%" PRIu64 "-byte", gap.bytes);
	if (gap.bits)
		xc_text_printf(text, "%s%u-bit", gap.bytes ? " and " : "", gap.bits);
}

static void add_gap_line(struct xc_text *text, struct xc_layout_gap gap, unsigned depth, const char *what)
{
	if (!gap.bytes && !gap.bits)
		return;
	indent(text, depth);
	xc_text_add(text, "/* XXX ");
	add_gap(text, gap);
	xc_text_printf(text, " %s */\n", what);
}

static void add_place(struct xc_text *text, const struct xc_layout_row *row)
{
	const struct xc_member *member = row->member;
	char size[24] = "?", bit[8] = "";
	if (member->bit_size)
		snprintf(size, sizeof size, "%u bit%s", member->bit_size, member->bit_size == 1 ? " " : "s");
	else if (row->size_known)
		snprintf(size, sizeof size, "%" PRIu64, row->size);
	else if (xc_layout_is_flexible(member->type))
		snprintf(size, sizeof size, "0");
	if (member->bit_size)
		snprintf(bit, sizeof bit, ":%u", member->bit_offset);
	if (row->placed)
		xc_text_printf(text, "/* %6" PRIu64 "%-3s %7s */", row->offset, bit, size);
	else
		xc_text_printf(text, "/* virtual   %7s */", size);
}

/* The keyword that is required in C, but not in C++ and Rust. */
static void add_keyword(struct xc_text *text, const struct xc_type *record)
{
	if (record->has_variants)
		xc_text_add(text, "enum ");
	else if (!record->is_c || !record->name)
		xc_text_printf(text, "%s ", xc_layout_kind_name(record));
}

static void add_bases(struct xc_text *text, const struct xc_type *record)
{
	size_t count, shown = 0;
	const struct xc_member *members = xc_type_members(record, &count);
	for (size_t i = 0; i < count; i++) {
		if (!members[i].base)
			continue;
		xc_text_printf(text, "%s%s", shown++ ? ", " : " : ", members[i].is_virtual ? "virtual " : "");
		xc_text_name(text, xc_type_name(members[i].type));
	}
}

/* The head of a definition: "struct client", "class D : B", "enum color". */
static void add_head(struct xc_text *text, const struct xc_type *type)
{
	add_keyword(text, type);
	if (type->name)
		xc_text_name(text, xc_type_name(type));
	else
		text->bytes[--text->len] = '\0'; /* the space after the keyword */
	add_bases(text, type);
}

/* ---- members ---- */

static void add_declaration(struct xc_text *text, const struct xc_type *type, const char *name)
{
	xc_auto(xc_text_fini) struct xc_text base = {0}, declarator = {0};
	xc_type_declare(type, name, &base, &declarator);
	xc_text_name(text, xc_text_string(&base));
	xc_text_add(text, declarator.len ? " " : "");
	xc_text_name(text, xc_text_string(&declarator));
}

/* The condition of a variant: "when 0, 2 to 5", "otherwise". */
static void add_condition(struct xc_text *text, const struct xc_variant *variant)
{
	if (variant->is_default || !variant->range_count) {
		xc_text_add(text, variant->is_default ? " /* otherwise */" : "");
		return;
	}
	xc_text_add(text, " /* when ");
	for (size_t i = 0; i < variant->range_count; i++) {
		const struct xc_variant_range *range = &variant->ranges[i];
		xc_text_printf(text, "%s%" PRIu64, i ? ", " : "", (uint64_t)range->lo);
		if (range->lo != range->hi)
			xc_text_printf(text, " to %" PRIu64, (uint64_t)range->hi);
	}
	xc_text_add(text, " */");
}

static const char *remark_of(const struct xc_layout_row *row)
{
	const struct xc_member *member = row->member;
	if (row->is_discriminant)
		return " /* discriminant */";
	return !member->base ? "" : member->is_virtual ? " /* virtual base class */" : " /* base class */";
}

static void add_member(struct xc_text *text, const struct xc_layout_row *row)
{
	const struct xc_member *member = row->member;
	xc_text_printf(text, "%*s", (int)(PLACE - 22 + 1 + STEP * (row->depth + 1)), "");
	if (row->opens && row->variant)
		xc_text_name(text, member->name ? member->name : "");
	else if (row->opens)
		add_head(text, xc_layout_body(member->type));
	else
		add_declaration(text, member->type, member->base ? NULL : member->name);
	if (member->bit_size)
		xc_text_printf(text, " : %u", member->bit_size);
	xc_text_add(text, row->opens ? " {" : ";");
	xc_text_add(text, remark_of(row));
	if (row->variant)
		add_condition(text, row->variant);
	xc_text_char(text, '\n');
}

static void add_cacheline(struct xc_text *text, const struct xc_layout_row *row, unsigned size)
{
	if (!row->cacheline)
		return;
	indent(text, row->depth + 1);
	xc_text_printf(text, "/* --- cacheline %u boundary (%" PRIu64 " bytes)", row->cacheline,
		       (uint64_t)row->cacheline * size);
	if (row->line_began)
		xc_text_printf(text, " was %" PRIu64 " byte%s ago", row->line_began, row->line_began == 1 ? "" : "s");
	xc_text_add(text, " --- */\n");
}

/* The text after the closing brace of an expanded member: an array, but never a pointer. */
static void add_close(struct xc_text *text, const struct xc_layout_row *row)
{
	xc_auto(xc_text_fini) struct xc_text base = {0}, declarator = {0};
	add_gap_line(text, row->hole, row->depth + 1, "padding");
	indent(text, row->depth);
	if (!row->member->base && !row->variant)
		xc_type_declare(row->member->type, row->member->name, &base, &declarator);
	xc_text_add(text, declarator.len ? "} " : "}");
	xc_text_name(text, xc_text_string(&declarator));
	xc_text_add(text, ";\n");
}

static void add_row(struct xc_text *text, const struct xc_layout_row *row, unsigned cacheline)
{
	if (row->kind == XC_LAYOUT_END) {
		if (row->member)
			add_close(text, row);
		return;
	}
	add_gap_line(text, row->hole, row->depth + 1, "hole");
	add_cacheline(text, row, cacheline);
	add_place(text, row);
	add_member(text, row);
}

/* ---- static members and methods ---- */

static void add_statics(struct xc_text *text, const struct xc_type *record)
{
	size_t count;
	const struct xc_static *items = xc_type_statics(record, &count);
	for (size_t i = 0; i < count; i++) {
		indent(text, 1);
		xc_text_add(text, "static ");
		add_declaration(text, items[i].type, items[i].name);
		xc_text_add(text, ";\n");
	}
}

/* Parameters, without those that the compiler adds: the object, and the vtable pointer of virtual bases in
 * constructors. */
static void add_parameters(struct xc_text *text, const struct xc_method *method)
{
	size_t count, at = 0, shown = 0;
	const struct xc_type *const *types = xc_type_parameters(method->type, &count);
	Dwarf_Die die = method->die, child;
	xc_text_char(text, '(');
	for (bool more = xc_die_child(&die, &child); more && at < count; more = xc_die_next(&child)) {
		if (dwarf_tag(&child) != DW_TAG_formal_parameter)
			continue;
		if (!xc_die_flag(&child, DW_AT_artificial)) {
			xc_text_add(text, shown++ ? ", " : "");
			xc_text_name(text, xc_type_name(types[at]));
		}
		at++;
	}
	if (method->type->is_variadic)
		xc_text_add(text, shown ? ", ..." : "...");
	xc_text_char(text, ')');
}

/* The object is const in a const method: `const C * const this`. */
static bool is_const(const struct xc_method *method)
{
	size_t count;
	const struct xc_type *const *types = xc_type_parameters(method->type, &count);
	if (method->is_static || count == 0)
		return false;
	const struct xc_type *self = xc_type_strip(types[0]);
	return self->kind == XC_TYPE_POINTER && self->target && self->target->kind == XC_TYPE_CONST;
}

static void add_method(struct xc_text *text, const struct xc_type *record, const struct xc_method *method)
{
	const char *own = record->name ? record->name : "";
	size_t own_len = strcspn(own, "<"), len = strcspn(method->name, "<");
	bool constructs = *method->name == '~' ||
			  (own_len >= len && len > 0 && strncmp(own + own_len - len, method->name, len) == 0 &&
			   (own_len == len || own[own_len - len - 1] == ':'));
	indent(text, 1);
	xc_text_add(text, method->is_static ? "static " : method->is_virtual ? "virtual " : "");
	if (!constructs && method->type->target)
		add_declaration(text, method->type->target, method->name);
	else
		xc_text_name(text, method->name);
	add_parameters(text, method);
	xc_text_printf(text, "%s%s;\n", is_const(method) ? " const" : "",
		       method->is_pure        ? " = 0"
		       : method->is_deleted   ? " = delete"
		       : method->is_defaulted ? " = default"
					      : "");
}

static void add_methods(struct xc_text *text, const struct xc_type *record)
{
	size_t count;
	const struct xc_method *items = xc_type_methods(record, &count);
	for (size_t i = 0; i < count; i++)
		if (items[i].name && !items[i].artificial)
			add_method(text, record, &items[i]);
}

/* ---- sums ---- */

static void add_count(struct xc_text *text, const char *what, uint64_t count, uint64_t sum, const char *unit)
{
	if (count)
		xc_text_printf(text, ", %s: %" PRIu64 " (%" PRIu64 " %s%s)", what, count, sum, unit,
			       sum == 1 ? "" : "s");
}

static void add_sums(struct xc_text *text, const struct xc_layout *l, unsigned cacheline)
{
	indent(text, 1);
	if (!l->size_known) {
		xc_text_add(text, "/* incomplete: only declared here, and its definition was not found */\n");
		return;
	}
	const struct xc_variant_part *part = l->type->has_variants ? xc_variant_part_of(l->type) : NULL;
	xc_text_printf(text, "/* size: %" PRIu64, l->size);
	if (part)
		xc_text_printf(text, ", variants: %zu", part->count);
	else
		xc_text_printf(text, ", members: %zu", l->member_count);
	if (cacheline)
		xc_text_printf(text, ", cachelines: %" PRIu64, (l->size + cacheline - 1) / cacheline);
	uint64_t alignment = xc_type_alignment(l->type);
	if (alignment)
		xc_text_printf(text, ", alignas: %" PRIu64, alignment);
	xc_text_add(text, " */\n");
	bool padded = l->padding.bytes || l->padding.bits;
	if (!l->hole_count && !l->bit_hole_count && !padded && l->padding_known)
		return;
	indent(text, 1);
	xc_text_printf(text, "/* sum of members: %" PRIu64, l->member_bytes);
	if (l->member_bits)
		xc_text_printf(text, " and %" PRIu64 " bits", l->member_bits);
	add_count(text, "holes", l->hole_count, l->hole_bytes, "byte");
	add_count(text, "bit holes", l->bit_hole_count, l->bit_hole_bits, "bit");
	if (l->padding.bytes)
		xc_text_printf(text, ", padding: %" PRIu64, l->padding.bytes);
	if (l->padding.bits)
		xc_text_printf(text, ", bit padding: %u", l->padding.bits);
	if (l->unsized)
		xc_text_add(text, "; some members are only declared: their sizes, and holes after them, are not known");
	else if (!l->padding_known)
		xc_text_add(text, ", padding unknown: virtual bases have no fixed offset");
	xc_text_add(text, " */\n");
}

/* ---- whole types ---- */

static void add_record(struct xc_text *text, const struct xc_type *record, const struct xc_layout_shown *shown)
{
	struct xc_layout layout;
	if (!xc_layout_read(&layout, record, &shown->layout))
		return;
	xc_text_add(text, "\n");
	for (size_t i = 0; i < layout.row_count; i++)
		add_row(text, &layout.rows[i], shown->layout.cacheline);
	if (layout.cut) {
		indent(text, 1);
		xc_text_add(text, "/* and more: cut here */\n");
	}
	add_statics(text, layout.type);
	if (shown->methods)
		add_methods(text, layout.type);
	const struct xc_layout_row *end = &layout.rows[layout.row_count - 1];
	if (end->kind == XC_LAYOUT_END && !end->member)
		add_gap_line(text, end->hole, 1, "padding");
	add_sums(text, &layout, shown->layout.cacheline);
	indent(text, 0);
	xc_layout_fini(&layout);
}

static void add_enum(struct xc_text *text, const struct xc_type *type)
{
	size_t count;
	const struct xc_enumerator *items = xc_type_enumerators(type, &count);
	if (type->size_known) {
		xc_text_printf(text, " /* %" PRIu64 " byte%s%s", type->size, type->size == 1 ? "" : "s",
			       type->target ? ", " : "");
		xc_text_name(text, type->target ? xc_type_name(type->target) : "");
		xc_text_add(text, " */");
	}
	xc_text_add(text, "\n");
	for (size_t i = 0; i < count; i++) {
		const char *scope = strrchr(items[i].name, ':');
		const char *name = scope && !type->is_c ? scope + 1 : items[i].name;
		const char *format = type->is_flags    ? " = 0x%" PRIx64 ",\n"
				     : type->is_signed ? " = %" PRId64 ",\n"
						       : " = %" PRIu64 ",\n";
		xc_text_printf(text, "%*s", STEP, "");
		xc_text_name(text, name);
		xc_text_printf(text, format, items[i].value);
	}
	if (type->is_declaration && !count)
		xc_text_printf(text, "%*s/* incomplete: only declared here, and its definition was not found */\n",
			       STEP, "");
}

/* `prefix` and `name` surround it in `typedef struct { … } name;`. */
static void add_body(struct xc_text *text, const struct xc_type *type, const char *prefix, const char *name,
		     const struct xc_layout_shown *shown)
{
	bool record = type->kind != XC_TYPE_ENUM;
	if (record)
		xc_text_add(text, "/* offset       size */\n");
	if (record)
		indent(text, 0);
	xc_text_add(text, prefix);
	add_head(text, type);
	xc_text_add(text, " {");
	if (record)
		add_record(text, type, shown);
	else
		add_enum(text, type);
	xc_text_add(text, name ? "} " : "}");
	xc_text_name(text, name ? name : "");
	xc_text_add(text, ";\n");
}

static void add_scalar_size(struct xc_text *text, const struct xc_type *type)
{
	uint64_t size;
	const struct xc_type *plain = xc_type_strip(type);
	if (!xc_type_size(type, &size) || plain->kind == XC_TYPE_FUNCTION) {
		xc_text_add(text, "\n");
		return;
	}
	xc_text_printf(text, " /* %" PRIu64 " byte%s", size, size == 1 ? "" : "s");
	if (plain->kind == XC_TYPE_INT || plain->kind == XC_TYPE_CHAR)
		xc_text_add(text, plain->is_signed ? ", signed" : ", unsigned");
	xc_text_add(text, " */\n");
}

void xc_layout_text(struct xc_text *text, const struct xc_type *type, const struct xc_layout_shown *shown)
{
	bool chain = type->kind == XC_TYPE_TYPEDEF && type->name;
	for (int i = 0; i < XC_TYPE_DEPTH && type->kind == XC_TYPE_TYPEDEF && type->name && type->target; i++) {
		const struct xc_type *to = type->target;
		if (has_body(to) && to->kind != XC_TYPE_TYPEDEF && !xc_type_strip(to)->name) {
			add_body(text, xc_type_strip(to), "typedef ", type->name, shown);
			return;
		}
		xc_text_add(text, "typedef ");
		add_declaration(text, to, type->name);
		xc_text_char(text, ';');
		add_scalar_size(text, type);
		if (shown->brief)
			break;
		type = to;
	}
	const struct xc_type *body = chain && shown->brief ? NULL : xc_layout_body(type);
	if (!chain && (!has_body(type) || !body)) {
		xc_text_name(text, xc_type_name(type));
		xc_text_char(text, ';');
		add_scalar_size(text, type);
	}
	if (body)
		add_body(text, body, "", NULL, shown);
}
