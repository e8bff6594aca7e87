/* format_record: structs, classes and unions, and pointers to their members.
 *
 * A virtual base is reached through each class that names it, but is there once: it is written where it is met first. */
#include <dwarf.h>

#include "die.h"
#include "format_impl.h"
#include "variant.h"

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

enum { MAX_NESTING = 16 };

/* The method with this place in the vtable that stands at the start of the class; in primary bases as well. */
static const struct xc_method *virtual_at(const struct xc_type *type, uint64_t slot, unsigned nesting)
{
	size_t count;
	type = xc_type_strip(type);
	type = type->is_declaration ? xc_type_complete(type) : type;
	const struct xc_method *methods = xc_type_methods(type, &count);
	for (size_t i = 0; i < count; i++) {
		if (methods[i].is_virtual && methods[i].slot == slot)
			return &methods[i];
	}
	const struct xc_member *members = xc_type_members(type, &count);
	for (size_t i = 0; i < count && nesting < MAX_NESTING; i++) {
		const struct xc_method *found = NULL;
		if (members[i].base && !members[i].is_virtual && members[i].offset == 0)
			found = virtual_at(members[i].type, slot, nesting + 1);
		if (found)
			return found;
	}
	return NULL;
}

static void write_virtual(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type,
			  uint64_t offset)
{
	unsigned word = value->process->arch->word;
	const struct xc_method *method = NULL;
	if (type->container && word > 0 && offset % word == 0)
		method = virtual_at(type->container, offset / word, 0);
	if (!method || !method->name) {
		xc_text_printf(w->text, "&virtual table offset %llu", (unsigned long long)offset);
		return;
	}
	xc_text_add(w->text, "&virtual ");
	xc_text_name(w->text, type->container->name ? type->container->name : "");
	xc_text_add(w->text, "::");
	xc_text_name(w->text, method->name);
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
		write_virtual(w, value, type, words[0] - 1);
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

/* Have the members of this base, which derived classes share, been written already? */
static bool was_seen(struct xc_writer *w, const struct xc_value *base)
{
	for (unsigned i = 0; i < w->seen_count; i++) {
		if (w->seen[i].addr == base->addr && w->seen[i].type == base->type)
			return true;
	}
	if (base->kind == XC_VALUE_MEMORY && w->seen_count < XC_COUNT(w->seen)) {
		w->seen[w->seen_count].addr = base->addr;
		w->seen[w->seen_count++].type = base->type;
	}
	return false;
}

/* Write `count` members; *written counts those of the record, of which some may stand already. */
static void write_list(struct xc_writer *w, const struct xc_value *value, const struct xc_member *members, size_t count,
		       size_t *written)
{
	size_t i;
	for (i = 0; i < count && !xc_writer_full(w); i++) {
		struct xc_value field;
		const char *name = members[i].name;
		xc_value_field(value, &members[i], &field);
		if (members[i].is_virtual && was_seen(w, &field))
			continue;
		xc_text_add(w->text, (*written)++ ? ", " : "");
		if (name || members[i].base) {
			xc_text_add(w->text, members[i].base ? "<" : "");
			xc_text_name(w->text, name ? name : "");
			xc_text_add(w->text, members[i].base ? "> = " : " = ");
		}
		xc_format_nested(w, &field);
	}
	if (i < count)
		xc_text_add(w->text, "...");
}

static void write_members(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type)
{
	size_t count, written = 0;
	const struct xc_member *members = xc_type_members(type, &count);
	write_list(w, value, members, count, &written);
	if (type->has_variants) {
		struct xc_text why = {0};
		const struct xc_variant *variant = xc_variant_of(value, &why);
		if (variant)
			write_list(w, value, variant->members, variant->count, &written);
		else
			xc_text_printf(w->text, "%s<%s>", written ? ", " : "", xc_text_string(&why));
		xc_text_fini(&why);
	}
	if (written == 0 && count == 0 && !type->has_variants)
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
	if (type->is_rust) {
		xc_format_rust(w, value, type);
		return;
	}
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
