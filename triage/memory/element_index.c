/* element_index: see wild_index.h. Few programs count to 4294967295: an index just below a power of two is a
 * negative number in an unsigned variable, and one that is small when its bytes are reversed was not converted from
 * network byte order. Smaller indexes are told as they are. */
#include "triage/memory/wild_index.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "heap/types/typing.h"
#include "triage/blocks/block_types.h"

enum {
	BACK = 4096,     /* a negative number, not a large one */
	LEVELS = 4,      /* inlined functions whose variables are compared */
	COMMON = 1 << 8, /* smaller numbers are in many registers by chance */
	WRAPPED = 16,    /* how far below 0 a row was, */
	WIDE = 1 << 16,  /* and how many elements it has */
};

/* A row below 0 in an unsigned variable, of so many elements, and one of these: "640 × 4294967295, (unsigned)-1, +
 * 3". */
static bool is_wrapped_row(int64_t index, struct xc_text *text)
{
	for (int64_t back = 1; back <= WRAPPED; back++) {
		int64_t row = (INT64_C(1) << 32) - back, width = index / row, column = index % row;
		if (index < 0 || width < 2 || width > WIDE || column >= width)
			continue;
		xc_text_printf(text, ", that is %" PRId64 " × %" PRId64 ", (unsigned)-%" PRId64, width, row, back);
		if (column)
			xc_text_printf(text, ", + %" PRId64, column);
		return true;
	}
	return false;
}

/* A valid index that was taken for a signed number, as of a table of 256 by a char; of larger tables -1 … -128 are likely
 * what they seem. */
static bool is_narrowed(int64_t index, uint64_t count, struct xc_text *text)
{
	for (unsigned bits = 8; bits <= 32; bits *= 2) {
		int64_t whole = index + (INT64_C(1) << bits);
		if (index >= -WRAPPED || index < -(INT64_C(1) << (bits - 1)) || (uint64_t)whole >= count ||
		    count > UINT64_C(1) << bits)
			continue;
		xc_text_printf(text, ", that is %" PRId64 " as a signed number of %u bits", whole, bits);
		return true;
	}
	return false;
}

bool xc_element_index_remark(int64_t index, uint64_t count, bool sure, struct xc_text *text)
{
	static const struct {
		unsigned bits;
		const char *type;
	} types[] = {{32, "unsigned"}, {16, "unsigned short"}};
	for (size_t i = 0; i < XC_COUNT(types); i++) {
		int64_t back = (INT64_C(1) << types[i].bits) - index;
		if (back > 0 && back <= (types[i].bits == 16 ? 16 : BACK)) {
			xc_text_printf(text, ", that is (%s)-%" PRId64, types[i].type, back);
			return true;
		}
	}
	if (is_wrapped_row(index, text) || is_narrowed(index, count, text))
		return true;
	if (count && sure && index == (int64_t)count) {
		xc_text_printf(text, ", one past the last of %" PRIu64, count);
		return true;
	}
	uint32_t reversed = __builtin_bswap32((uint32_t)index);
	if (index > UINT16_MAX && index <= UINT32_MAX && reversed <= (count ? count : COMMON)) {
		xc_text_printf(text, ", that is %" PRIu32 " with its bytes reversed", reversed);
		return true;
	}
	return false;
}

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
	xc_element_index_remark(index, array.count, array.sure, text);
	xc_text_printf(text, ", of elements of 0x%" PRIx64 " bytes (%s)", array.size, array.type);
	if (h.name && h.is_register)
		xc_text_printf(text, "; %s holds it", h.name);
	*named_out = h.name != NULL;
	return true;
}
