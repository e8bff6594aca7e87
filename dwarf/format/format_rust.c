/* format_rust: structs and enums of Rust, in the syntax of Rust.
 *
 *	{items: [1, 2, 3], len: 3}      a struct       (-1, 2)     a tuple      NonZeroU32(5)     a tuple struct
 *	Shape::Circle{radius: 2.5}      enums: the variant with its fields
 *	Some(5)   None   Err({…})       Option and Result, without the enum's name
 *	PhantomData                     a struct without fields is its name
 *
 * gdb writes whole paths (core::option::Option<i32>::Some(5)) and the type before each struct. Here types are shown
 * beside values already, and nested generics would hide the values. */
#include <stdio.h>
#include <string.h>

#include "dwarf/format/format_impl.h"
#include "dwarf/value/variant.h"

/* "Shape" of "shop::Shape<alloc::Global>". */
static void write_short(struct xc_writer *w, const char *name)
{
	const char *start = name, *at;
	for (at = name; *at && *at != '<'; at++) {
		if (at[0] == ':' && at[1] == ':')
			start = at + 2;
	}
	char buf[256];
	snprintf(buf, sizeof buf, "%.*s", (int)(at - start < 255 ? at - start : 255), start);
	xc_text_name(w->text, buf);
}

/* Fields of tuples are __0, __1, … */
static bool is_tuple(const struct xc_member *members, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char want[24];
		snprintf(want, sizeof want, "__%zu", i);
		if (!members[i].name || strcmp(members[i].name, want) != 0)
			return false;
	}
	return count > 0;
}

static void write_fields(struct xc_writer *w, const struct xc_value *value, const struct xc_member *members,
			 size_t count)
{
	bool tuple = is_tuple(members, count);
	size_t i;
	xc_text_char(w->text, tuple ? '(' : '{');
	for (i = 0; i < count && !xc_writer_full(w); i++) {
		struct xc_value field;
		xc_value_field(value, &members[i], &field);
		xc_text_add(w->text, i ? ", " : "");
		if (!tuple && members[i].name) {
			xc_text_name(w->text, members[i].name);
			xc_text_add(w->text, ": ");
		}
		xc_format_nested(w, &field);
	}
	if (i < count)
		xc_text_add(w->text, "...");
	xc_text_char(w->text, tuple ? ')' : '}');
}

/* Write the fields after a variant's or struct's name; nothing when there are none. */
static void write_body(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type)
{
	size_t count;
	const struct xc_member *members = xc_type_members(type, &count);
	if (count == 0)
		return;
	if (w->records > w->options->depth) {
		xc_text_add(w->text, "{...}");
		return;
	}
	w->depth++;
	w->records++;
	write_fields(w, value, members, count);
	w->records--;
	w->depth--;
}

/* A tuple struct has its name: NonZeroU32(5). */
static void write_struct(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type)
{
	size_t count;
	const struct xc_member *members = xc_type_members(type, &count);
	if (type->name && *type->name != '(' && is_tuple(members, count))
		write_short(w, type->name);
	write_body(w, value, type);
}

static bool needs_no_enum(const char *name)
{
	return strncmp(name, "core::option::Option<", 21) == 0 || strncmp(name, "core::result::Result<", 21) == 0;
}

static void write_enum(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type)
{
	struct xc_text why = {0};
	struct xc_value payload;
	const struct xc_member *variant = xc_variant_member(value, &why);
	if (!variant) {
		xc_text_printf(w->text, "<%s>", xc_text_string(&why));
		xc_text_fini(&why);
		return;
	}
	if (type->name && !needs_no_enum(type->name)) {
		write_short(w, type->name);
		xc_text_add(w->text, "::");
	}
	xc_text_name(w->text, variant->name);
	xc_value_field(value, variant, &payload);
	write_body(w, &payload, xc_type_strip(variant->type));
}

void xc_format_rust(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type)
{
	size_t count;
	xc_type_members(type, &count);
	if (type->has_variants)
		write_enum(w, value, type);
	else if (count > 0)
		write_struct(w, value, type);
	else if (type->name && *type->name != '(')
		write_short(w, type->name);
	else
		xc_text_add(w->text, "()");
}

void xc_format_rust_enumerator(struct xc_writer *w, const char *name)
{
	const char *start = name, *before = name;
	for (const char *at = name; *at && *at != '<'; at++) {
		if (at[0] == ':' && at[1] == ':') {
			before = start;
			start = at + 2;
		}
	}
	xc_text_name(w->text, before);
}
