/* format_record: structs, classes and unions, and pointers to their members.
 *
 * A virtual base can be reached through several classes but exists once: it is written the first time. */
#include <dwarf.h>

#include "dwarf/module/die.h"
#include "dwarf/format/format_impl.h"
#include "dwarf/value/variant.h"

enum { MAX_STEPS = 1 << 10 }; /* members visited, since classes of a damaged file may contain themselves */

static const struct xc_type *class_of(const struct xc_type *type)
{
	type = xc_type_strip(type);
	return type->is_declaration ? xc_type_complete(type) : type;
}

/* The method at an index of the vtable of the part of a class at `offset`; *type gets the class that declares it. Bases
 * at the start share the vtable. */
static const struct xc_method *virtual_at(const struct xc_type **type, uint64_t offset, uint64_t slot, unsigned *steps)
{
	size_t count;
	const struct xc_type *whole = class_of(*type);
	const struct xc_method *methods = xc_type_methods(whole, &count);
	for (size_t i = 0; i < count && offset == 0; i++) {
		if (methods[i].is_virtual && methods[i].slot == slot)
			return &methods[i];
	}
	const struct xc_member *members = xc_type_members(whole, &count);
	for (size_t i = 0; i<count && * steps> 0; i++) {
		const struct xc_type *base = members[i].type;
		const struct xc_method *found = NULL;
		*steps -= 1;
		if (members[i].base && !members[i].is_virtual && members[i].offset <= offset)
			found = virtual_at(&base, offset - members[i].offset, slot, steps);
		if (found) {
			*type = base;
			return found;
		}
	}
	return NULL;
}

static void write_member(struct xc_writer *w, const char *before, const struct xc_type *type, const char *name)
{
	xc_text_add(w->text, before);
	xc_text_name(w->text, type->name ? type->name : "");
	xc_text_add(w->text, "::");
	xc_text_name(w->text, name);
}

static void write_virtual(struct xc_writer *w, const struct xc_value *value, const struct xc_type *container,
			  uint64_t entry, uint64_t adjustment)
{
	unsigned word = value->process->arch->word, steps = MAX_STEPS;
	const struct xc_method *method = NULL;
	if (container && word > 0 && entry % word == 0)
		method = virtual_at(&container, adjustment, entry / word, &steps);
	if (method && method->name)
		write_member(w, "&virtual ", container, method->name);
	else
		xc_text_printf(w->text, "&virtual table offset %llu", (unsigned long long)entry);
}

/* The member at an offset, and the class that declares it, which may be a base. */
static const struct xc_member *data_member_at(const struct xc_type **type, uint64_t offset, unsigned *steps)
{
	size_t count;
	const struct xc_type *plain = xc_type_strip(*type);
	const struct xc_type *whole = plain->is_declaration ? xc_type_complete(plain) : plain;
	const struct xc_member *members = xc_type_members(whole, &count);
	for (size_t i = 0; i<count && * steps> 0; i++) {
		const struct xc_type *base = members[i].type;
		const struct xc_member *found = NULL;
		uint64_t size;
		*steps -= 1;
		if (!members[i].base && members[i].name && members[i].offset == offset)
			return &members[i];
		if (members[i].base && !members[i].is_virtual && offset >= members[i].offset &&
		    xc_type_size(base, &size) && offset - members[i].offset < size)
			found = data_member_at(&base, offset - members[i].offset, steps);
		if (found) {
			*type = base;
			return found;
		}
	}
	return NULL;
}

static void write_data_member(struct xc_writer *w, const struct xc_type *container, uint64_t offset)
{
	unsigned steps = MAX_STEPS;
	const struct xc_member *member = container ? data_member_at(&container, offset, &steps) : NULL;
	if (member)
		write_member(w, "&", container, member->name);
	else
		xc_format_decimal(w->text, offset, false);
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
		else
			write_data_member(w, type->container, words[0]);
	} else if (words[0] == 0) {
		xc_text_add(w->text, "NULL");
	} else if (words[0] & 1) {
		write_virtual(w, value, type->container, words[0] - 1, words[1]);
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

/* Was this base, which derived classes share, written before? */
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

/* Write `count` members. *written counts the members of the record that were written, including earlier ones. */
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

/* The reference of an object to itself is no such case: whoever follows it begins anew. */
bool xc_format_holds_itself(const struct xc_format_around *around, const struct xc_value *value,
			    const struct xc_type *type)
{
	for (const struct xc_format_around *at = around; at && type->size > 0; at = at->outer)
		if (at->type == type && value->kind == XC_VALUE_MEMORY && value->addr - at->addr < type->size)
			return true;
	return false;
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
	if (xc_format_holds_itself(w->around, value, type)) {
		xc_text_add(w->text, "<" XC_FORMAT_HOLDS_ITSELF ">");
		return;
	}
	const struct xc_format_around around = {w->around, type, value->addr};
	if (value->kind == XC_VALUE_MEMORY)
		w->around = &around;
	xc_text_char(w->text, '{');
	w->depth++;
	w->records++;
	write_members(w, value, type);
	w->around = around.outer;
	w->records--;
	w->depth--;
	xc_text_char(w->text, '}');
}
