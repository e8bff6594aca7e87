/* cdef_enum: enums. gcc's integer for them is unsigned int, int when a value is negative, the next one that holds
 * all values when these do not; the smallest when the enum is packed. A constant that int holds is an int (C11
 * 6.4.4.3), others have the enum's type. */
#include "lua/cdef/cdef_impl.h"

#include <stdlib.h>

struct item {
	struct xc_cdef_token token;
	struct xc_cdef_value value;
};

struct reader {
	struct xc_cdef_parser *p;
	struct item *items;
	size_t count, capacity;
	size_t mark; /* names before the enum's own */
};

static bool fits(__int128 value, uint64_t size, bool is_signed)
{
	return xc_cdef_fit(value, size, is_signed).bits == value;
}

static void declare_constant(struct xc_cdef_parser *p, const struct item *item)
{
	struct xc_cdef_name name = xc_cdef_new_name(p, XC_CDEF_ORDINARY, XC_CDEF_CONSTANT, &item->token);
	name.value = item->value;
	xc_cdef_add(p->cdef, &name);
}

static bool add(struct reader *r, const struct item *item)
{
	struct xc_cdef_parser *p = r->p;
	const struct xc_cdef_token *token = &item->token;
	const struct xc_cdef_name *before = xc_cdef_find(p->cdef, XC_CDEF_ORDINARY, token->text, token->len);
	if (before && (before->kind == XC_CDEF_TYPE || before->value.bits != item->value.bits) &&
	    before->kind != XC_CDEF_LIBRARY)
		return xc_cdef_conflict(p, token, before,
					before->kind == XC_CDEF_TYPE ? "a type" : "an enumerator of another value");
	if (r->count == XC_CDEF_RECORD_ITEMS || ++p->cdef->items > XC_CDEF_ITEMS)
		return xc_cdef_fail(p, token, XC_ERR_LIMIT, "more than %d enumerators",
				    r->count == XC_CDEF_RECORD_ITEMS ? XC_CDEF_RECORD_ITEMS : XC_CDEF_ITEMS);
	r->items = xc_grow(r->items, r->count, &r->capacity, sizeof *r->items);
	r->items[r->count++] = *item;
	declare_constant(p, item);
	return true;
}

/* The value after the last one, of a type that holds it. */
static bool following(struct reader *r, struct item *item)
{
	if (r->count == 0) {
		item->value = xc_cdef_fit(0, 4, true);
		return true;
	}
	const struct xc_cdef_value *last = &r->items[r->count - 1].value;
	__int128 next = last->bits + 1;
	if (!fits(next, 8, last->is_signed || next < 0) && !fits(next, 8, false))
		return xc_cdef_fail(r->p, &item->token, XC_ERR_FORMAT, "no integer holds the value of this enumerator");
	bool wider = !fits(next, last->size, last->is_signed);
	bool is_signed = last->is_signed && fits(next, 8, true);
	item->value = xc_cdef_fit(next, wider ? 8 : last->size, is_signed);
	return true;
}

static bool parse_item(struct reader *r)
{
	struct xc_cdef_parser *p = r->p;
	struct item item = {.token = p->token};
	if (!xc_cdef_at_name(p))
		return xc_cdef_unexpected(p, "an enumerator");
	xc_cdef_next(p);
	if (!xc_cdef_parse_attributes(p, &(struct xc_cdef_attributes){0}))
		return false;
	if (xc_cdef_skip(p, '=')) {
		struct xc_cdef_token spot = p->token;
		if (!xc_cdef_parse_constant(p, &item.value))
			return false;
		if (!fits(item.value.bits, 8, item.value.bits < 0))
			return xc_cdef_fail(p, &spot, XC_ERR_FORMAT, "more than 64 bits");
	} else if (!following(r, &item)) {
		return false;
	}
	if (fits(item.value.bits, 4, true))
		item.value = xc_cdef_fit(item.value.bits, 4, true);
	return add(r, &item);
}

/* The smallest integer of at least `least` bytes that holds all values; 0: none. */
static uint64_t choose_size(const struct reader *r, uint64_t least, bool is_signed)
{
	for (uint64_t size = least; size <= 8; size *= 2) {
		bool holds = true;
		for (size_t i = 0; i < r->count && holds; i++)
			holds = fits(r->items[i].value.bits, size, is_signed);
		if (holds)
			return size;
	}
	return 0;
}

static const struct xc_type *integer(const struct xc_process *process, uint64_t size, bool is_signed)
{
	static const enum xc_ctype types[] = {XC_C_SCHAR, XC_C_SHORT, XC_C_INT, XC_C_LONG, XC_C_LLONG};
	for (size_t i = 0; i < XC_COUNT(types); i++) {
		const struct xc_type *type = xc_ctype(process, types[i] + !is_signed);
		if (type->size == size)
			return type;
	}
	return NULL;
}

static struct xc_type *make_type(struct reader *r, bool packed, const struct xc_cdef_token *spot)
{
	struct xc_cdef_parser *p = r->p;
	struct xc_types *types = xc_types_of(p->process);
	bool is_signed = false;
	for (size_t i = 0; i < r->count; i++)
		is_signed |= r->items[i].value.bits < 0;
	uint64_t size = choose_size(r, packed ? 1 : 4, is_signed);
	if (size == 0) {
		xc_cdef_fail(p, spot, XC_ERR_FORMAT, "no integer holds all values of this enum");
		return NULL;
	}
	struct xc_type *type = xc_type_new(types, XC_TYPE_ENUM);
	struct xc_enumerator *items = xc_arena_alloc(types->arena, r->count * sizeof *items + 1);
	for (size_t i = 0; i < r->count; i++) {
		const struct xc_cdef_token *token = &r->items[i].token;
		items[i].name = xc_arena_strndup(types->arena, token->text, token->len);
		items[i].value = (uint64_t)r->items[i].value.bits;
	}
	type->is_c = true;
	type->target = integer(p->process, size, is_signed);
	type->is_signed = is_signed;
	type->size = size;
	type->size_known = true;
	xc_type_set_items(type, items, r->count);
	xc_type_classify_enum(type);
	return type;
}

/* Constants beyond int get the type of the enum. */
static void retype_constants(struct reader *r, const struct xc_type *type)
{
	for (size_t i = 0; i < r->count; i++) {
		struct item *item = &r->items[i];
		if (fits(item->value.bits, 4, true))
			continue;
		item->value = xc_cdef_fit(item->value.bits, type->size, type->is_signed);
		declare_constant(r->p, item);
	}
}

static const struct xc_type *parse_body(struct reader *r, struct xc_cdef_attributes *attributes,
					const struct xc_cdef_token *name, const struct xc_cdef_token *spot)
{
	struct xc_cdef_parser *p = r->p;
	while (!xc_cdef_is(p, '}')) {
		if (!parse_item(r))
			return NULL;
		if (!xc_cdef_skip(p, ','))
			break;
	}
	if (!xc_cdef_expect(p, '}', "}") || !xc_cdef_parse_attributes(p, attributes))
		return NULL;
	if (r->count == 0) {
		xc_cdef_fail(p, spot, XC_ERR_FORMAT, "an enum without enumerators");
		return NULL;
	}
	struct xc_type *fresh = make_type(r, attributes->packed, spot);
	if (fresh)
		retype_constants(r, fresh);
	return fresh ? xc_cdef_define(p, fresh, name) : NULL;
}

const struct xc_type *xc_cdef_parse_enum(struct xc_cdef_parser *p)
{
	struct reader r = {.p = p};
	struct xc_cdef_attributes attributes = {0};
	struct xc_cdef_token name, spot;
	if (!xc_cdef_parse_head(p, &attributes, &name, &spot))
		return NULL;
	const struct xc_type *type = NULL;
	if (xc_cdef_skip(p, '{'))
		type = parse_body(&r, &attributes, &name, &spot);
	else if (name.kind != XC_TOKEN_END)
		type = xc_cdef_tag(p, XC_TYPE_ENUM, &name);
	else
		xc_cdef_unexpected(p, "a name or {");
	free(r.items);
	return p->err ? NULL : type;
}
