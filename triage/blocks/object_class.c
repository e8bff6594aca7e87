#include "triage/blocks/object_class.h"

#include <string.h>

#include "heap/evidence/vtable.h"
#include "triage/util/same_type.h"

enum { VPTR = 8, DEPTH = 8 };

/* In the heap, the beginning of a live block. */
static bool is_place(const struct xc_crash_context *crash, xc_addr begin)
{
	const struct xc_blocks *blocks = crash->heap ? &crash->heap->blocks : NULL;
	uint32_t block = blocks ? xc_blocks_find(blocks, begin) : XC_NO_BLOCK;
	const struct xc_mapping *m = xc_process_mapping(crash->process, begin);
	if (block != XC_NO_BLOCK)
		return xc_block_addr(blocks, block) == begin && xc_block_state(blocks, block) == XC_BLOCK_LIVE &&
		       xc_block_size(blocks, block) >= 2 * VPTR;
	return m && m->writable;
}

const struct xc_type *xc_object_class(const struct xc_crash_context *crash, xc_addr begin)
{
	uint64_t vptr;
	if (!is_place(crash, begin) || !xc_space_peek_uint(crash->process->space, begin, VPTR, &vptr))
		return NULL;
	struct xc_vtables *tables = xc_vtables_new(crash->process);
	const struct xc_vtable *vtable = xc_vtables_at(tables, vptr);
	const struct xc_type *type = vtable && !vtable->to_top ? vtable->type : NULL;
	xc_vtables_free(tables);
	return type;
}

/* Does the type begin with a vptr? */
static bool is_polymorphic(const struct xc_type *type, unsigned depth)
{
	size_t count;
	if (!type || !xc_same_type_is_record(type) || !depth)
		return false;
	const struct xc_member *members = xc_type_members(type, &count);
	for (size_t i = 0; i < count; i++) {
		if (members[i].offset)
			continue;
		if (members[i].artificial && members[i].name && strncmp(members[i].name, "_vptr", 5) == 0)
			return true;
		if (members[i].base && !members[i].dynamic &&
		    is_polymorphic(xc_type_complete(xc_type_strip(members[i].type)), depth - 1))
			return true;
	}
	return false;
}

/* Does an object of class `whole` begin with one of class `part`? Also true when it is not known. */
static bool begins_with(const struct xc_type *whole, const struct xc_type *part, unsigned depth)
{
	size_t count;
	whole = xc_type_complete(xc_type_strip(whole));
	if (!depth || whole->is_declaration || part->is_declaration || whole == part ||
	    (whole->name && part->name && strcmp(whole->name, part->name) == 0))
		return true;
	if (!xc_same_type_is_record(whole))
		return false;
	const struct xc_member *members = xc_type_members(whole, &count);
	for (size_t i = 0; i < count; i++)
		if (members[i].dynamic ||
		    (!members[i].offset && members[i].type && begins_with(members[i].type, part, depth - 1)))
			return true;
	return false;
}

bool xc_object_class_is_polymorphic(const struct xc_type *type)
{
	return is_polymorphic(type, DEPTH);
}

const struct xc_type *xc_object_class_other(const struct xc_crash_context *crash, xc_addr begin,
					    const struct xc_type *type)
{
	const struct xc_type *found = is_polymorphic(type, DEPTH) ? xc_object_class(crash, begin) : NULL;
	return found && !begins_with(found, type, DEPTH) && !begins_with(type, found, DEPTH) ? found : NULL;
}
