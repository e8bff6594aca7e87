/* view_part: members by path, memory, types. */
#include "dwarf/view/view_part.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/cursor.h"
#include "dwarf/view/view_impl.h"

enum { MAX_NESTING = 24, MAX_NAME = 128 };

const struct xc_type *xc_view_plain(const struct xc_type *type)
{
	type = xc_type_strip(type);
	return type->is_declaration ? xc_type_complete(type) : type;
}

/* ---- members ---- */

/* Own members hide those of base classes. A failed search allocates nothing. */
static const struct xc_member *own_member(const struct xc_type *type, const char *name)
{
	size_t count;
	const struct xc_member *members = xc_type_members(type, &count);
	for (size_t i = 0; i < count; i++) {
		if (members[i].name && !members[i].base && strcmp(members[i].name, name) == 0)
			return &members[i];
	}
	return NULL;
}

static bool find_member(const struct xc_value *value, const char *name, unsigned nesting, struct xc_value *out)
{
	size_t count;
	const struct xc_type *type = xc_view_plain(value->type);
	const struct xc_member *members = xc_type_members(type, &count), *own = own_member(type, name);
	if (own) {
		xc_value_field(value, own, out);
		return true;
	}
	for (size_t i = 0; i < count && nesting < MAX_NESTING; i++) {
		struct xc_value inner;
		if (members[i].dynamic || (members[i].name && !members[i].base))
			continue;
		xc_value_field(value, &members[i], &inner);
		if (find_member(&inner, name, nesting + 1, out))
			return true;
	}
	return false;
}

static bool find_base(const struct xc_value *value, size_t number, struct xc_value *out)
{
	size_t count;
	const struct xc_member *members = xc_type_members(xc_view_plain(value->type), &count);
	for (size_t i = 0; i < count; i++) {
		if (!members[i].base || members[i].dynamic || number-- > 0)
			continue;
		xc_value_field(value, &members[i], out);
		return true;
	}
	return false;
}

static bool follow(struct xc_value *value)
{
	const struct xc_type *type = xc_type_strip(value->type);
	uint64_t addr;
	if (type->kind != XC_TYPE_POINTER && type->kind != XC_TYPE_REFERENCE && type->kind != XC_TYPE_RVALUE_REFERENCE)
		return true;
	if (!xc_value_load(value, &addr))
		return false;
	*value = xc_value_memory(value->process, type->target, addr);
	return true;
}

bool xc_view_part(const struct xc_value *value, const char *path, struct xc_value *out)
{
	struct xc_value at = *value;
	while (*path) {
		char name[MAX_NAME];
		size_t len = strcspn(path, ".");
		if (len >= sizeof name || !follow(&at))
			return false;
		memcpy(name, path, len);
		name[len] = '\0';
		if (*name == '<' ? !find_base(&at, strtoul(name + 1, NULL, 10), &at) : !find_member(&at, name, 0, &at))
			return false;
		path += len + (path[len] == '.');
	}
	*out = at;
	return true;
}

bool xc_view_part_of(const struct xc_value *value, struct xc_value *out, const char *const paths[])
{
	for (; *paths; paths++) {
		if (xc_view_part(value, *paths, out))
			return true;
	}
	return false;
}

bool xc_view_number(const struct xc_value *value, const char *path, uint64_t *bits_out)
{
	struct xc_value part;
	return xc_view_part(value, path, &part) && xc_value_load(&part, bits_out);
}

bool xc_view_number_of(const struct xc_value *value, const char *const paths[], uint64_t *bits_out)
{
	struct xc_value part;
	return xc_view_part_of(value, &part, paths) && xc_value_load(&part, bits_out);
}

struct xc_value xc_view_cast(const struct xc_value *value, const struct xc_type *type, uint64_t offset)
{
	struct xc_value out = *value;
	out.type = type;
	out.addr += offset;
	out.at += offset;
	out.bit_size = out.bit_offset = 0;
	return out;
}

bool xc_view_word(const struct xc_view *view, xc_addr addr, uint64_t *word_out)
{
	struct xc_value value = xc_value_memory(view->value.process, view->value.type, addr);
	const struct xc_arch *arch = view->value.process->arch;
	uint8_t bytes[8];
	if (!xc_value_peek(&value, 0, bytes, arch->word))
		return false;
	*word_out = xc_load_uint(bytes, arch->word, arch->big_endian);
	return true;
}

bool xc_view_readable(const struct xc_view *view, xc_addr addr, uint64_t len)
{
	uint8_t byte;
	struct xc_value value = xc_value_memory(view->value.process, view->value.type, addr);
	return len == 0 || (len - 1 <= UINT64_MAX - addr && xc_value_peek(&value, 0, &byte, 1) &&
			    xc_value_peek(&value, len - 1, &byte, 1));
}

/* ---- types ---- */

static const struct xc_type *member_type(const struct xc_type *type, const char *name, unsigned nesting)
{
	size_t count;
	const struct xc_type *found = NULL;
	type = xc_view_plain(type);
	const struct xc_member *members = xc_type_members(type, &count), *own = own_member(type, name);
	if (own)
		return own->type;
	for (size_t i = 0; i < count && nesting < MAX_NESTING && !found; i++) {
		if (members[i].base || !members[i].name)
			found = member_type(members[i].type, name, nesting + 1);
	}
	return found;
}

static const struct xc_type *base_type(const struct xc_type *type, size_t number)
{
	size_t count;
	const struct xc_member *members = xc_type_members(xc_view_plain(type), &count);
	for (size_t i = 0; i < count; i++) {
		if (members[i].base && number-- == 0)
			return members[i].type;
	}
	return NULL;
}

bool xc_view_has(const struct xc_type *type, const char *path, const struct xc_type **type_out)
{
	while (*path) {
		char name[MAX_NAME];
		size_t len = strcspn(path, ".");
		if (len >= sizeof name)
			return false;
		memcpy(name, path, len);
		name[len] = '\0';
		type = xc_type_strip(type);
		if (type->kind == XC_TYPE_POINTER)
			type = type->target;
		type = *name == '<' ? base_type(type, strtoul(name + 1, NULL, 10)) : member_type(type, name, 0);
		if (!type)
			return false;
		path += len + (path[len] == '.');
	}
	if (type_out)
		*type_out = type;
	return true;
}

bool xc_view_offset(const struct xc_type *type, const char *path, uint64_t *offset_out)
{
	struct xc_value at = {.type = type, .kind = XC_VALUE_BYTES}; /* used for offsets only; never read */
	if (!xc_view_has(type, path, NULL) || !xc_view_part(&at, path, &at))
		return false;
	*offset_out = at.at;
	return true;
}

bool xc_view_has_of(const struct xc_type *type, const char *const paths[], const struct xc_type **type_out)
{
	while (*paths && !xc_view_has(type, *paths, type_out))
		paths++;
	return *paths != NULL;
}

bool xc_view_offset_of(const struct xc_type *type, const char *const paths[], uint64_t *offset_out)
{
	while (*paths && !xc_view_offset(type, *paths, offset_out))
		paths++;
	return *paths != NULL;
}

const struct xc_type *xc_view_argument(const struct xc_type *type, size_t position)
{
	size_t count;
	const struct xc_template *all = xc_type_templates(xc_view_plain(type), &count);
	return position < count && !all[position].is_value ? all[position].type : NULL;
}

size_t xc_view_argument_count(const struct xc_type *type)
{
	size_t count;
	const struct xc_template *all = xc_type_templates(xc_view_plain(type), &count);
	return count == 1 && all[0].is_pack && !all[0].type ? 0 : count;
}

static const struct xc_type *nested_in(const struct xc_type *type, const char *name, unsigned nesting)
{
	size_t count, len = strlen(name);
	type = xc_view_plain(type);
	const struct xc_type *const *all = xc_type_nested(type, &count);
	for (size_t i = 0; i < count; i++) {
		const char *own = all[i]->name; /* qualified */
		size_t own_len = own ? strlen(own) : 0;
		if (own_len >= len && strcmp(own + own_len - len, name) == 0 &&
		    (own_len == len || own[own_len - len - 1] == ':'))
			return all[i];
	}
	const struct xc_member *members = xc_type_members(type, &count);
	for (size_t i = 0; i < count && nesting < MAX_NESTING; i++) {
		const struct xc_type *found = members[i].base ? nested_in(members[i].type, name, nesting + 1) : NULL;
		if (found)
			return found;
	}
	return NULL;
}

const struct xc_type *xc_view_nested(const struct xc_type *type, const char *name)
{
	return nested_in(type, name, 0);
}

static uint64_t scalar_alignment(const struct xc_type *type)
{
	uint64_t size = type->size_known ? type->size : 0;
	uint64_t lowest = size & (~size + 1);
	return lowest == 0 ? 1 : lowest > 16 && !type->is_vector ? 16 : lowest;
}

static uint64_t alignment(const struct xc_type *type, unsigned nesting)
{
	size_t count;
	type = xc_view_plain(type);
	uint64_t most = xc_type_alignment(type), size;
	if (most)
		return most;
	if (type->kind == XC_TYPE_ARRAY && !type->is_vector && nesting < MAX_NESTING)
		return alignment(type->target, nesting + 1);
	if (type->kind != XC_TYPE_STRUCT && type->kind != XC_TYPE_CLASS && type->kind != XC_TYPE_UNION)
		return scalar_alignment(type);
	const struct xc_member *members = xc_type_members(type, &count);
	for (size_t i = 0; i < count && nesting < MAX_NESTING; i++) {
		uint64_t one = members[i].alignment ? members[i].alignment : alignment(members[i].type, nesting + 1);
		while (one > 1 && members[i].offset % one != 0)
			one /= 2; /* a packed struct */
		most = one > most ? one : most;
	}
	while (most > 1 && xc_type_size(type, &size) && size % most != 0)
		most /= 2;
	return most ? most : 1;
}

uint64_t xc_view_alignment(const struct xc_type *type)
{
	return alignment(type, 0);
}

uint64_t xc_view_align(uint64_t offset, const struct xc_type *type)
{
	uint64_t mask = xc_view_alignment(type) - 1;
	return (offset + mask) & ~mask;
}
