#include "dwarf/types/type_impl.h"

struct xc_types *xc_types_of(const struct xc_process *process)
{
	/* The facts of a process are const once it is open; its caches are not facts. */
	struct xc_process *owner = (struct xc_process *)process;
	if (!owner->types) {
		struct xc_types *types = xc_arena_alloc(&owner->arena, sizeof *types);
		types->process = process;
		types->arena = types->codes.arena = &owner->arena;
		types->unknown = (struct xc_type){.kind = XC_TYPE_UNKNOWN, .name = "<unknown type>"};
		types->void_type = (struct xc_type){.kind = XC_TYPE_VOID, .name = "void"};
		types->unknown.detail = xc_arena_alloc(types->arena, sizeof(struct xc_type_detail));
		types->unknown.detail->types = types;
		types->void_type.detail = xc_arena_alloc(types->arena, sizeof(struct xc_type_detail));
		types->void_type.detail->types = types;
		owner->types = types;
	}
	return owner->types;
}

const struct xc_type *xc_type_strip(const struct xc_type *type)
{
	static const struct xc_type circular = {.kind = XC_TYPE_UNKNOWN, .name = "<circular type>"};
	for (int i = 0; i < XC_TYPE_DEPTH; i++) {
		if (type->kind < XC_TYPE_TYPEDEF || type->kind > XC_TYPE_ATOMIC || !type->target)
			return type;
		type = type->target;
	}
	return &circular;
}

bool xc_type_is_record(const struct xc_type *type)
{
	type = xc_type_strip(type);
	return type->kind == XC_TYPE_STRUCT || type->kind == XC_TYPE_CLASS || type->kind == XC_TYPE_UNION;
}

bool xc_type_is_pointer(const struct xc_type *type)
{
	type = xc_type_strip(type);
	return type->kind == XC_TYPE_POINTER || type->kind == XC_TYPE_REFERENCE ||
	       type->kind == XC_TYPE_RVALUE_REFERENCE;
}

bool xc_type_size(const struct xc_type *type, uint64_t *size_out)
{
	uint64_t count = 1;
	for (int i = 0; i < XC_TYPE_DEPTH; i++) {
		type = xc_type_strip(type);
		if (type->kind != XC_TYPE_ARRAY) {
			type = type->is_declaration ? xc_type_complete(type) : type;
			if (!type->size_known || __builtin_mul_overflow(count, type->size, &count))
				return false;
			*size_out = count;
			return true;
		}
		if (!type->count_known || __builtin_mul_overflow(count, type->count, &count))
			return false;
		type = type->target;
	}
	return false;
}
