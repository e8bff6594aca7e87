/* element_index: see wild_index.h. */
#include "triage/memory/wild_index.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "heap/types/typing.h"
#include "triage/blocks/block_types.h"
#include "triage/util/odd_number.h"

enum {
	LEVELS = 4,      /* inlined functions whose variables are compared */
	COMMON = 1 << 8, /* smaller numbers are in many registers by chance */
};

/* ---- who holds it ---- */

struct holder {
	const char *name;
	bool is_register;
};

/* Is it this index, in a variable of this size? */
static bool is_index(uint64_t bits, uint64_t size, int64_t index)
{
	uint64_t mask = size >= 8 ? UINT64_MAX : (UINT64_C(1) << (8 * size)) - 1;
	bool fits = size >= 8 || (index < 0 ? -index <= (int64_t)(mask / 2 + 1) : (uint64_t)index <= mask);
	return fits && (bits & mask) == ((uint64_t)index & mask);
}

static bool is_number(const struct xc_type *type)
{
	return type->kind == XC_TYPE_INT || type->kind == XC_TYPE_ENUM || type->kind == XC_TYPE_CHAR;
}

/* Is the name a word of the expression that the code evaluated? A variable of the same value may be the count that the
 * index went past. */
static bool is_in_expression(const struct xc_crash_context *crash, const char *name)
{
	const char *expression = crash->verdict->expression;
	size_t len = strlen(name);
	for (const char *at = expression; at && (at = strstr(at, name)); at += len) {
		bool begins = at == expression || (!isalnum((unsigned char)at[-1]) && at[-1] != '_');
		if (begins && !isalnum((unsigned char)at[len]) && at[len] != '_')
			return true;
	}
	return false;
}

static const char *find_variable(const struct xc_crash_context *crash, int64_t index)
{
	const struct xc_frame_context context = xc_crash_context_frame(crash, crash->blamed);
	const char *found = NULL;
	for (size_t level = 0; level < context.place->level_count && level < LEVELS; level++)
		for (int locals = 1; locals >= 0; locals--) {
			struct xc_named_value *values;
			size_t count = xc_variable_values(&context, level, locals, &crash->report->arena, &values);
			for (size_t i = 0; i < count && !found; i++) {
				uint64_t bits;
				if (values[i].name && is_number(xc_type_strip(values[i].value.type)) &&
				    xc_value_load(&values[i].value, &bits) &&
				    is_index(bits, xc_value_size(&values[i].value), index) &&
				    is_in_expression(crash, values[i].name))
					found = values[i].name;
			}
		}
	return found;
}

static const char *find_register(const struct xc_crash_context *crash, int64_t index)
{
	const struct xc_arch *arch = crash->process->arch;
	for (int number = 0; number < arch->frame_regs; number++) {
		uint64_t value;
		if (number != arch->pc && number != arch->sp && xc_arch_reg_name(arch, number) &&
		    xc_regs_get(&crash->fault.frame.regs, number, &value) &&
		    (is_index(value, 8, index) || (value <= UINT32_MAX && is_index(value, 4, index))))
			return xc_arch_reg_name(arch, number);
	}
	return NULL;
}

static struct holder find_holder(const struct xc_crash_context *crash, int64_t index)
{
	struct holder h = {.name = NULL};
	bool common = index > -COMMON && index < COMMON;
	if (crash->blame.place && crash->blame.place->level_count && !crash->blame.place->line_only &&
	    crash->blamed < crash->frame_count)
		h.name = find_variable(crash, index);
	if (!h.name && crash->fault.frame_known && !common) {
		h.name = find_register(crash, index);
		h.is_register = true;
	}
	return h;
}

/* ---- the array ---- */

struct array {
	xc_addr begin;
	uint64_t size, count; /* of an element; elements */
	bool sure;            /* the block has no room for more than were asked for */
	const char *type;
};

/* A block of which one object is known: it may be the first of several numbers, or end with the array. */
static bool fill(const struct xc_type *type, uint64_t block, struct array *out)
{
	size_t count = 0;
	type = xc_type_complete(xc_type_strip(type));
	const struct xc_member *members = xc_type_is_record(type) ? xc_type_members(type, &count) : NULL;
	if (!members)
		out->count = block / out->size;
	if (!members || block < 2 * out->size || !count)
		return !members || block < 2 * out->size;
	const struct xc_member *last = &members[count - 1];
	const struct xc_type *array = xc_type_strip(last->type);
	if (array->kind != XC_TYPE_ARRAY || (array->count_known && array->count > 1) || !array->target ||
	    !xc_type_size(array->target, &out->size) || !out->size || last->offset >= block)
		return false;
	out->begin += last->offset;
	out->count = 0;
	out->type = xc_type_name(array->target);
	return true;
}

static bool find_array(const struct xc_crash_context *crash, xc_addr addr, struct array *out)
{
	uint32_t block;
	const struct xc_typed *typed = xc_block_types_at(crash, addr, &block);
	if (!typed || (typed->shape != XC_TYPED_ARRAY && typed->shape != XC_TYPED_ONE) ||
	    !xc_type_size(typed->type, &out->size) || !out->size)
		return false;
	out->begin = xc_block_addr(&crash->heap->blocks, block) + typed->offset;
	out->count = xc_typing_count(crash->heap->typing, block);
	out->sure = typed->shape == XC_TYPED_ARRAY && xc_typing_count_sure(crash->heap->typing, block);
	out->type = xc_type_name(typed->type);
	return typed->shape == XC_TYPED_ARRAY || fill(typed->type, xc_block_size(&crash->heap->blocks, block), out);
}

bool xc_element_index_in_block(const struct xc_crash_context *crash, uint32_t block, struct xc_text *text,
			       bool *named_out)
{
	struct array array;
	if (!crash->fault.addr_known || !find_array(crash, xc_block_addr(&crash->heap->blocks, block), &array) ||
	    array.size > INT32_MAX)
		return false;
	int64_t distance = (int64_t)(crash->fault.addr - array.begin), size = (int64_t)array.size;
	int64_t index = distance / size - (distance % size < 0), rest = distance - index * size;
	if (rest + (int64_t)crash->fault.operand.size > size)
		return false;
	struct holder h = find_holder(crash, index);
	xc_text_add(text, h.name && !h.is_register ? "the index " : "index ");
	if (h.name && !h.is_register)
		xc_text_printf(text, "`%s` = ", h.name);
	xc_text_printf(text, "%" PRId64, index);
	xc_odd_number_index(index, array.count, array.sure, text);
	xc_text_printf(text, ", of elements of 0x%" PRIx64 " bytes (%s)", array.size, array.type);
	if (h.name && h.is_register)
		xc_text_printf(text, "; %s holds it", h.name);
	*named_out = h.name != NULL;
	return true;
}
