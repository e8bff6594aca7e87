/* format_record: structs, classes and unions, and pointers to their members. */
#include "format_impl.h"

static bool data_member_at(struct xc_writer *w, const struct xc_type *container, uint64_t offset)
{
	size_t count;
	const struct xc_member *members = xc_type_members(xc_type_strip(container), &count);
	for (size_t i = 0; i < count; i++) {
		if (members[i].offset == offset && members[i].name && !members[i].base) {
			xc_text_char(w->text, '&');
			xc_text_name(w->text, container->name ? container->name : "");
			xc_text_add(w->text, "::");
			xc_text_name(w->text, members[i].name);
			return true;
		}
	}
	return false;
}

/* Itanium C++ ABI 2.3: an offset, -1 for null; for functions an address (or 1 + an offset in the vtable) and the
 * adjustment of `this`. */
void xc_format_member_pointer(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type)
{
	uint64_t words[2] = {0};
	if (type->size > sizeof words || !xc_value_peek(value, 0, words, type->size)) {
		xc_writer_absent(w, value, type->size);
	} else if (xc_type_strip(type->target)->kind != XC_TYPE_FUNCTION) {
		if (words[0] == UINT64_MAX)
			xc_text_add(w->text, "NULL");
		else if (!type->container || !data_member_at(w, type->container, words[0]))
			xc_format_decimal(w->text, words[0], false);
	} else if (words[0] == 0) {
		xc_text_add(w->text, "NULL");
	} else if (words[0] & 1) {
		xc_text_printf(w->text, "&virtual table offset %llu", (unsigned long long)(words[0] - 1));
	} else {
		xc_format_hex(w->text, words[0]);
		xc_format_symbol(w, value->process, words[0]);
		if (words[1] != 0)
			xc_text_printf(w->text, ", this adjustment %lld", (long long)words[1]);
	}
}

bool xc_format_missing(struct xc_writer *w, const struct xc_value *value, uint64_t size)
{
	uint8_t byte;
	if (value->kind == XC_VALUE_ABSENT || value->kind == XC_VALUE_POINTEE) {
		xc_writer_absent(w, value, 0);
		return true;
	}
	if (value->kind != XC_VALUE_MEMORY || size == 0 || xc_value_peek(value, 0, &byte, 1) ||
	    xc_value_peek(value, size - 1, &byte, 1))
		return false;
	xc_writer_absent(w, value, 1);
	return true;
}

static void write_members(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type)
{
	size_t count, i;
	const struct xc_member *members = xc_type_members(type, &count);
	for (i = 0; i < count && !xc_writer_full(w); i++) {
		struct xc_value field;
		const char *name = members[i].name;
		xc_value_field(value, &members[i], &field);
		xc_text_add(w->text, i ? ", " : "");
		if (name || members[i].base) {
			xc_text_add(w->text, members[i].base ? "<" : "");
			xc_text_name(w->text, name ? name : "");
			xc_text_add(w->text, members[i].base ? "> = " : " = ");
		}
		xc_format_nested(w, &field);
	}
	if (type->has_variants)
		xc_text_add(w->text, i ? ", ..." : "...");
	else if (i < count)
		xc_text_add(w->text, "...");
	else if (count == 0)
		xc_text_add(w->text, "<No data fields>");
}

void xc_format_record(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type)
{
	type = type->is_declaration ? xc_type_complete(type) : type;
	if (type->is_declaration) {
		xc_text_add(w->text, "<incomplete type>");
		return;
	}
	if (xc_format_missing(w, value, type->size) || (!w->options->raw && xc_format_view(w, value)))
		return;
	if (w->records > w->options->depth) {
		xc_text_add(w->text, "{...}");
		return;
	}
	xc_text_char(w->text, '{');
	w->depth++;
	w->records++;
	write_members(w, value, type);
	w->records--;
	w->depth--;
	xc_text_char(w->text, '}');
}
