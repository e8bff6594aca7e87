/* format_array: arrays and vectors.
 *
 * Runs of equal elements are found by comparing bytes, before any element is formatted. */
#include <stdlib.h>
#include <string.h>

#include "dwarf/format/format_impl.h"

enum { COMPARE_MAX = 1 << 20 };

/* The bytes of all elements, for comparison; NULL when some are missing, or there are too many. The caller frees
 * *owned_out. */
static const uint8_t *element_bytes(const struct xc_value *value, uint64_t len, uint8_t **owned_out)
{
	*owned_out = NULL;
	if (len == 0 || len > COMPARE_MAX)
		return NULL;
	if (value->kind == XC_VALUE_MEMORY) {
		const void *view = xc_space_view(value->process->space, value->addr, (size_t)len);
		if (view)
			return view;
	}
	*owned_out = xc_alloc((size_t)len);
	return xc_value_peek(value, 0, *owned_out, (size_t)len) ? *owned_out : NULL;
}

static uint64_t equal_run(const uint8_t *bytes, uint64_t at, uint64_t count, uint64_t size)
{
	uint64_t end = at + 1;
	while (bytes && end < count && memcmp(bytes + at * size, bytes + end * size, (size_t)size) == 0)
		end++;
	return end - at;
}

/* The elements from `at` on that lie in one missing piece. */
static uint64_t lost_run(const struct xc_value *value, uint64_t at, uint64_t count, uint64_t size)
{
	uint64_t lost = size > 0 ? xc_value_hole(value, at * size) / size : 0;
	return lost < count - at ? lost : count - at;
}

void xc_format_elements(struct xc_writer *w, const struct xc_value *value, const struct xc_type *element,
			uint64_t count, uint64_t size)
{
	uint8_t *owned;
	uint64_t compared = size > 0 && count > COMPARE_MAX / size ? COMPARE_MAX / size : count;
	const uint8_t *bytes = element_bytes(value, compared * size, &owned);
	uint64_t at = 0, shown = 0;
	while (at < count && shown < w->options->elements && !xc_writer_full(w)) {
		struct xc_value one = *value;
		uint64_t run = at < compared ? equal_run(bytes, at, compared, size) : 1;
		uint64_t lost = lost_run(value, at, count, size);
		run = lost > run ? lost : run;
		one.type = element;
		one.addr += at * size;
		one.at += at * size;
		xc_text_add(w->text, at ? ", " : "");
		xc_format_nested(w, &one);
		if (run > XC_FORMAT_REPEATS) {
			xc_text_add(w->text, " <repeats ");
			xc_format_decimal(w->text, run, false);
			xc_text_add(w->text, " times>");
			at += run;
			shown += XC_FORMAT_REPEATS;
		} else {
			at++;
			shown++;
		}
	}
	if (at < count)
		xc_text_add(w->text, "...");
	free(owned);
}

/* Are some bytes there and others not? */
static bool is_torn(const struct xc_value *value, uint64_t total)
{
	xc_auto(xc_text_fini) struct xc_text why = {0};
	return value->kind == XC_VALUE_BYTES && value->buffer && xc_value_hole(value, 0) < total &&
	       xc_value_why(value, 0, total, &why);
}

void xc_format_array(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type)
{
	uint64_t size, total;
	unsigned width;
	if (!type->count_known || !xc_type_size(type->target, &size) || !xc_type_size(type, &total)) {
		if (value->kind == XC_VALUE_MEMORY && !type->is_dynamic) { /* int d[]: its address, as in gdb */
			xc_format_hex(w->text, value->addr);
			xc_format_symbol(w, value->process, value->addr);
		} else {
			xc_text_printf(w->text, "<%s>", type->unreadable ? type->unreadable : "length not known");
		}
		return;
	}
	if (xc_format_missing(w, value, total))
		return;
	bool numbers = type->is_vector || w->options->letter;
	const char *prefix = numbers ? NULL : xc_format_textual(type->target, &width);
	if (prefix && type->count > 0 && !is_torn(value, total)) {
		xc_format_array_text(w, value, type->count, width, prefix);
		return;
	}
	xc_text_char(w->text, type->is_rust ? '[' : '{');
	w->depth++;
	w->numbers = type->is_vector;
	xc_format_elements(w, value, type->target, type->count, size);
	w->numbers = false;
	w->depth--;
	xc_text_char(w->text, type->is_rust ? ']' : '}');
}
