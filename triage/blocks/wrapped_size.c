/* wrapped_size: see wrapped_size.h. That some product of a few numbers is the size by chance, to the byte, after 32
 * bits were cut off, is less likely than one in 100,000; that the numbers are what they were when the block was made is
 * not known. */
#include "triage/blocks/wrapped_size.h"

#include <inttypes.h>

#include "dwarf/types/field.h"
#include "triage/blocks/block_types.h"
#include "triage/blocks/value_place.h"
#include "triage/util/memory_search.h"
#include "triage/util/same_type.h"

enum {
	HITS = 32,    /* pointers to the block */
	FACTORS = 12, /* numbers of one owner */
	MEMBERS = 64,
	NESTING = 16,
	FRAMES = 8,
	LEVELS = 8,
	ROUNDING = 24,      /* bytes that malloc adds to what was asked for */
	MAPPED = 128 << 10, /* from here on it may be mapped by itself, */
	PAGES = 4096 + 24,  /* and is rounded to pages */
};

struct factor {
	const char *name;
	uint64_t value;
	bool wide; /* 64 bits */
};

struct owner {
	const struct xc_crash_context *crash;
	xc_addr begin; /* of the block */
	uint64_t size, header;
	uint64_t element; /* size of what the pointer leads to; 0: not known */
	struct factor factors[FACTORS];
	size_t count;
};

/* ---- products ---- */

static bool is_size(const struct owner *o, uint64_t asked)
{
	uint64_t rounding = o->size >= MAPPED ? PAGES : ROUNDING;
	return asked <= o->size && o->size - asked <= rounding;
}

/* The factors of a product, and a constant one. */
struct product {
	const struct factor *factors[3];
	size_t count;
	uint64_t scale;
};

static void explain(const struct owner *o, const struct product *p, const char *value, unsigned bits)
{
	struct xc_verdict *v = o->crash->verdict;
	struct xc_text text = {0};
	for (size_t i = 0; i < p->count; i++)
		xc_text_printf(&text, "%s%s", i ? " * " : "", p->factors[i]->name);
	if (p->scale > 1)
		xc_text_printf(&text, " * %" PRIu64, p->scale);
	if (o->header)
		xc_text_printf(&text, " + %" PRIu64, o->header);
	v->cause = xc_arena_printf(&o->crash->report->arena,
				   "%s%slikely the size wrapped: %s%s%s does not fit in %u bits, and the block has "
				   "%" PRIu64 " bytes",
				   v->cause ? v->cause : "", v->cause ? "; " : "", xc_text_string(&text),
				   *value ? " = " : "", value, bits, o->size);
	xc_text_fini(&text);
}

static bool try_product(const struct owner *o, const struct product *p)
{
	uint64_t all = p->scale, cut = all;
	bool over = false, wide = false;
	char value[32] = "";
	for (size_t i = 0; i < p->count; i++) {
		over |= __builtin_mul_overflow(all, p->factors[i]->value, &all);
		cut *= p->factors[i]->value;
		wide |= p->factors[i]->wide;
	}
	over |= __builtin_add_overflow(all, o->header, &all);
	cut += o->header;
	if (over && wide && is_size(o, cut)) {
		explain(o, p, value, 64);
		return true;
	}
	if (over || wide || all <= UINT32_MAX || !is_size(o, (uint32_t)all))
		return false;
	snprintf(value, sizeof value, "%" PRIu64, all);
	explain(o, p, value, 32);
	return true;
}

static bool try_scales(const struct owner *o, struct product p)
{
	const uint64_t scales[] = {1, o->element, 2, 3, 4, 8, 16};
	for (size_t i = 0; i < XC_COUNT(scales); i++) {
		p.scale = scales[i];
		if (p.scale && (p.count > 1 || p.scale > 1) && try_product(o, &p))
			return true;
	}
	return false;
}

/* Products of more numbers first: a constant may be one of them. */
static bool try_all(const struct owner *o)
{
	for (size_t i = 0; i < o->count; i++)
		for (size_t k = i + 1; k < o->count; k++)
			for (size_t m = k + 1; m < o->count; m++)
				if (try_scales(o, (struct product){
							  {&o->factors[i], &o->factors[k], &o->factors[m]}, 3, 1}))
					return true;
	for (size_t i = 0; i < o->count; i++)
		for (size_t k = i + 1; k < o->count; k++)
			if (try_scales(o, (struct product){{&o->factors[i], &o->factors[k]}, 2, 1}))
				return true;
	for (size_t i = 0; i < o->count; i++)
		if (try_scales(o, (struct product){{&o->factors[i]}, 1, 1}))
			return true;
	return false;
}

/* ---- owners ---- */

static void take(struct owner *o, const char *name, const struct xc_value *value)
{
	uint64_t number, size;
	const struct xc_type *type = value->type ? xc_type_strip(value->type) : NULL;
	if (o->count == FACTORS || !name || !type || type->kind != XC_TYPE_INT || !xc_type_size(type, &size) ||
	    size < 2 || size > 8 || !xc_value_load(value, &number))
		return;
	if (size < 8)
		number &= (UINT64_C(1) << 8 * size) - 1;
	if (number < 2)
		return;
	/* a size_t that is small was likely converted */
	o->factors[o->count++] = (struct factor){name, number, number > UINT32_MAX};
}

static struct owner owner_of(const struct xc_crash_context *crash, xc_addr begin, uint64_t size,
			     const struct xc_type *pointer)
{
	struct owner o = {.crash = crash, .begin = begin, .size = size};
	const struct xc_type *target = xc_same_type_pointed(pointer);
	if (!target || !xc_type_size(target, &o.element))
		o.element = 0;
	return o;
}

static bool try_record(struct owner *o, const struct xc_type *type, xc_addr at)
{
	size_t count;
	const struct xc_member *members = xc_type_members(type, &count);
	const struct xc_value record = xc_value_memory(o->crash->process, type, at);
	for (size_t i = 0; i < count && i < MEMBERS; i++) {
		struct xc_value member;
		if (members[i].dynamic || members[i].bit_size || !members[i].type || !members[i].name)
			continue;
		xc_value_field(&record, &members[i], &member);
		take(o, members[i].name, &member);
	}
	return try_all(o);
}

/* The records that a word is in, the innermost last: each is tried. */
static bool try_word(const struct xc_crash_context *crash, xc_addr begin, uint64_t size, const struct xc_type *type,
		     xc_addr base, uint64_t offset)
{
	struct xc_field_step step;
	const struct xc_type *pointer = xc_field_path(NULL, type, offset, NULL);
	bool found = false;
	for (unsigned i = 0; i < NESTING && !found; i++) {
		type = xc_type_complete(xc_type_strip(type));
		struct owner o = owner_of(crash, begin, size, pointer);
		if (xc_same_type_is_record(type))
			found = try_record(&o, type, base);
		if (!xc_field_step(type, offset, &step))
			break;
		base += offset - step.offset;
		offset = step.offset;
		type = step.type;
	}
	return found;
}

static bool try_block_word(const struct xc_crash_context *crash, xc_addr begin, uint64_t size, xc_addr at)
{
	uint32_t block;
	uint64_t whole;
	const struct xc_typed *typed = xc_block_types_at(crash, at, &block);
	if (!typed || typed->shape == XC_TYPED_TEXT || !xc_type_size(typed->type, &whole) || !whole)
		return false;
	uint64_t offset = at - xc_block_addr(&crash->heap->blocks, block);
	if (offset < typed->offset)
		return false;
	offset -= typed->offset;
	if (typed->shape == XC_TYPED_ARRAY)
		offset %= whole;
	return offset < whole && try_word(crash, begin, size, typed->type, at - offset, offset);
}

static bool try_variable_word(const struct xc_crash_context *crash, xc_addr begin, uint64_t size, xc_addr at)
{
	uint64_t offset;
	const struct xc_type *type = xc_value_place_variable(crash, at, &offset);
	return type && try_word(crash, begin, size, type, at - offset, offset);
}

/* The variables of one function, among them a pointer to the block. */
static bool try_function(const struct xc_crash_context *crash, xc_addr begin, uint64_t size, size_t frame, size_t level)
{
	const struct xc_frame_context context = xc_crash_context_frame(crash, frame);
	struct owner o = owner_of(crash, begin, size, NULL);
	bool points = false;
	for (int locals = 0; locals <= 1; locals++) {
		struct xc_named_value *values;
		size_t count = xc_variable_values(&context, level, locals, &crash->report->arena, &values);
		for (size_t i = 0; i < count; i++) {
			uint64_t value;
			const struct xc_type *target = xc_same_type_pointed(values[i].value.type);
			if (!target)
				take(&o, values[i].name, &values[i].value);
			else if (xc_value_load(&values[i].value, &value) && value == begin) {
				points = true;
				if (!xc_type_size(target, &o.element))
					o.element = 0;
			}
		}
	}
	return points && try_all(&o);
}

static bool try_functions(const struct xc_crash_context *crash, xc_addr begin, uint64_t size)
{
	for (size_t i = 0; i < FRAMES && i < crash->frame_count; i++) {
		const struct xc_place *place = xc_crash_context_place(crash, i);
		for (size_t level = 0; !place->line_only && level < place->level_count && level < LEVELS; level++)
			if (try_function(crash, begin, size, i, level))
				return true;
	}
	return false;
}

/* A record with an array at its end, which it counts itself. */
static bool try_own(const struct xc_crash_context *crash, xc_addr begin, uint64_t size)
{
	uint32_t block;
	size_t count;
	const struct xc_typed *typed = xc_block_types_at(crash, begin, &block);
	const struct xc_type *type =
		typed && typed->shape == XC_TYPED_ONE ? xc_type_complete(xc_type_strip(typed->type)) : NULL;
	struct owner o = owner_of(crash, begin, size, NULL);
	if (!type || !xc_same_type_is_record(type) || !xc_type_size(type, &o.header))
		return false;
	const struct xc_member *members = xc_type_members(type, &count);
	const struct xc_type *last = count && members[count - 1].type ? xc_type_strip(members[count - 1].type) : NULL;
	if (!last || last->kind != XC_TYPE_ARRAY || !last->target || !xc_type_size(last->target, &o.element))
		return false;
	return try_record(&o, type, begin);
}

bool xc_wrapped_size_report(struct xc_crash_context *crash, xc_addr begin)
{
	const struct xc_blocks *blocks = &crash->heap->blocks;
	xc_addr found[HITS];
	xc_block_types_infer(crash);
	uint32_t block = xc_blocks_find(blocks, begin);
	if (block == XC_NO_BLOCK || xc_block_addr(blocks, block) != begin || crash->wrapped)
		return false;
	uint64_t size = xc_block_size(blocks, block);
	size_t count = xc_memory_search_words(crash->process, begin, 0, found, HITS);
	bool told = false;
	for (size_t i = 0; i < count && !told; i++)
		told = xc_blocks_find(blocks, found[i]) == XC_NO_BLOCK ? try_variable_word(crash, begin, size, found[i])
								       : try_block_word(crash, begin, size, found[i]);
	crash->wrapped = told || try_functions(crash, begin, size) || try_own(crash, begin, size);
	return crash->wrapped;
}
