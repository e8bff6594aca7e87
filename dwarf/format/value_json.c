/* value_json: walks a value by its type, like format.c, and builds JSON. Bounded by depth, by elements, and by the
 * total number of values. */

#include <dwarf.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/report/scrub.h"
#include "core/text/jsonvalue.h"
#include "dwarf/format/format_impl.h"
#include "dwarf/elf/symbol.h"
#include "dwarf/format/value_json_impl.h"

enum { MAX_PATH = 1024, MAX_SYMBOL = 512 };

/* The path of the current value; "." is the whole. */
static const char *path_of(const struct xc_json_walker *w)
{
	return w->path.len ? xc_text_string(&w->path) : ".";
}

/* ---- missing values ---- */

json_t *xc_json_unknown(struct xc_json_walker *w, const char *why)
{
	if (!w->out->unknown)
		w->out->unknown = json_object();
	if (json_object_size(w->out->unknown) < XC_JSON_UNKNOWN)
		xc_jsonvalue_set(w->out->unknown, path_of(w), xc_jsonvalue_text(why));
	return json_null();
}

json_t *xc_json_unreadable(struct xc_json_walker *w, const struct xc_value *value)
{
	struct xc_error *err = xc_value_check(value);
	json_t *json = xc_json_unknown(w, err ? err->message : "not of a known type");
	xc_error_free(err);
	return json;
}

json_t *xc_json_truncated(struct xc_json_walker *w)
{
	w->out->truncated = true;
	return json_null();
}

size_t xc_json_descend(struct xc_json_walker *w, const char *name)
{
	size_t len = w->path.len;
	if (len < MAX_PATH)
		xc_text_printf(&w->path, ".%s", name);
	return len;
}

size_t xc_json_descend_index(struct xc_json_walker *w, uint64_t index)
{
	size_t len = w->path.len;
	if (len < MAX_PATH)
		xc_text_printf(&w->path, "[%" PRIu64 "]", index);
	return len;
}

void xc_json_ascend(struct xc_json_walker *w, size_t len)
{
	w->path.len = len;
	if (w->path.bytes)
		w->path.bytes[len] = '\0';
}

/* ---- scalars ---- */

json_t *xc_json_redacted(void)
{
	return xc_jsonvalue_text(XC_REDACTED);
}

static json_t *integer(unsigned __int128 bits, const struct xc_type *type)
{
	bool negative = type->is_signed && (__int128)bits < 0;
	if (type->size <= 4)
		return json_integer((json_int_t)(__int128)bits);
	struct xc_text text = {0};
	xc_format_decimal(&text, negative ? -bits : bits, negative);
	json_t *json = xc_jsonvalue_text(text.bytes);
	xc_text_fini(&text);
	return json;
}

static json_t *number(struct xc_json_walker *w, const struct xc_value *value, const struct xc_type *type)
{
	unsigned __int128 bits;
	if (!xc_value_load_wide(value, &bits))
		return xc_json_unreadable(w, value);
	if (w->options->redact)
		return xc_json_redacted();
	if (type->kind == XC_TYPE_BOOL && bits <= 1)
		return json_boolean(bits);
	return integer(bits, type);
}

static json_t *real_at(struct xc_json_walker *w, const struct xc_value *value, uint64_t offset, unsigned size)
{
	long double real;
	char text[64];
	unsigned __int128 bits;
	if (!xc_value_load_bytes(value, offset, size, &bits))
		return xc_json_unreadable(w, value);
	if (!xc_value_load_float(value, offset, size, &real))
		return xc_json_unknown(w, "a float of a format that is not known");
	if (w->options->redact)
		return xc_json_redacted();
	if (isfinite(real) && (long double)(double)real != real) { /* all digits, as text */
		snprintf(text, sizeof text, "%.21Lg", real);
		return xc_jsonvalue_text(text);
	}
	return xc_jsonvalue_double((double)real);
}

/* Half of complex int of GNU C. */
static json_t *half_at(struct xc_json_walker *w, const struct xc_value *value, const struct xc_type *type,
		       uint64_t offset, unsigned size)
{
	uint64_t bits;
	if (!xc_format_half(value, type, offset, size, &bits))
		return xc_json_unreadable(w, value);
	if (w->options->redact)
		return xc_json_redacted();
	struct xc_type part = {.kind = XC_TYPE_INT, .size = size, .size_known = true, .is_signed = type->is_signed};
	return integer(type->is_signed ? (unsigned __int128)(__int128)(int64_t)bits : bits, &part);
}

static json_t *complex_number(struct xc_json_walker *w, const struct xc_value *value, const struct xc_type *type)
{
	unsigned half = (unsigned)(type->size / 2);
	if (type->size > 32)
		return xc_json_unknown(w, "not of a known type");
	bool whole = type->encoding != DW_ATE_complex_float;
	json_t *json = json_object();
	xc_jsonvalue_set(json, "real", whole ? half_at(w, value, type, 0, half) : real_at(w, value, 0, half));
	xc_jsonvalue_set(json, "imag", whole ? half_at(w, value, type, half, half) : real_at(w, value, half, half));
	return json;
}

/* "RED", "A | B"; NULL when no name fits. */
static char *enum_name(const struct xc_type *type, uint64_t bits)
{
	size_t count;
	const struct xc_enumerator *items = xc_type_search_enumerators(type, &count);
	struct xc_text text = {0};
	uint64_t rest = bits;
	for (size_t i = 0; i < count; i++) {
		if (items[i].value == bits)
			return xc_strdup(items[i].name);
	}
	for (size_t i = 0; type->is_flags && i < count; i++) {
		if (!(rest & items[i].value))
			continue;
		rest &= ~items[i].value;
		if (*items[i].name)
			xc_text_printf(&text, "%s%s", text.len ? " | " : "", items[i].name);
	}
	if (rest == 0 && text.len > 0)
		return xc_text_take(&text);
	xc_text_fini(&text);
	return NULL;
}

static json_t *enumeration(struct xc_json_walker *w, const struct xc_value *value, const struct xc_type *type)
{
	uint64_t bits;
	if (!xc_value_load(value, &bits))
		return xc_json_unreadable(w, value);
	if (w->options->redact)
		return xc_json_redacted();
	xc_auto(xc_freep) char *name = enum_name(type, bits);
	json_t *json = json_object();
	xc_jsonvalue_set(json, "name", xc_jsonvalue_text(name));
	xc_jsonvalue_set(json, "value",
			 integer(type->is_signed ? (unsigned __int128)(__int128)(int64_t)bits : bits, type));
	return json;
}

/* ---- texts ---- */

/* Characters up to `count` or a NUL as one string; wide ones become UTF-8. */
static json_t *text_of(struct xc_json_walker *w, const uint8_t *bytes, uint64_t count, unsigned width)
{
	struct xc_text text = {0};
	if (w->options->redact)
		return xc_json_redacted();
	for (uint64_t i = 0; i < count; i++) {
		uint32_t unit = 0;
		memcpy(&unit, bytes + i * width, width);
		if (width == 1)
			xc_text_char(&text, (char)unit);
		else
			xc_format_utf8(&text, unit);
	}
	json_t *json = xc_jsonvalue_bytes(xc_text_string(&text), text.len);
	xc_text_fini(&text);
	return json;
}

/* Letters of well-formed UTF-8 with line ends and tabs. */
static bool is_unicode(const uint8_t *bytes, uint64_t len)
{
	for (uint64_t i = 0; i < len;) {
		size_t n = xc_text_plain_length((const char *)bytes + i, (size_t)(len - i));
		if (n == 0 && bytes[i] != '\n' && bytes[i] != '\t' && bytes[i] != '\r')
			return false;
		i += n ? n : 1;
	}
	return true;
}

json_t *xc_json_characters(struct xc_json_walker *w, const struct xc_value *value, uint64_t count, unsigned width,
			   bool whole)
{
	uint64_t shown = count < w->options->elements ? count : w->options->elements, end = shown;
	xc_auto(xc_freep) uint8_t *bytes = xc_alloc((size_t)(shown * width) + 1);
	if (shown > 0 && !xc_value_peek(value, 0, bytes, (size_t)(shown * width)))
		return xc_json_unreadable(w, value);
	bool ends = true;
	if (!whole)
		end = xc_format_text_end(value, bytes, (size_t)shown, count, width, &ends);
	if (!ends && width == 1 && !is_unicode(bytes, end)) /* more likely data than a text with leftovers after it */
		end = shown;
	if (end == shown && shown < count)
		w->out->truncated = true;
	return text_of(w, bytes, end, width);
}

/* The text that a character pointer points to, up to its NUL. */
static json_t *pointed_text(struct xc_json_walker *w, const struct xc_process *process, xc_addr addr, unsigned width)
{
	size_t most = w->options->elements, end = 0;
	xc_auto(xc_freep) uint8_t *bytes = xc_alloc((most + 1) * width);
	size_t got = addr ? xc_space_peek(process->space, addr, bytes, (most + 1) * width) / width : 0;
	uint32_t unit = 1;
	for (; end < got; end++) {
		unit = 0;
		memcpy(&unit, bytes + end * width, width);
		if (unit == 0)
			break;
	}
	if (got == 0 || (unit != 0 && got <= most))
		return json_null(); /* unreadable, or without a NUL in readable memory */
	if (end > most) {
		end = most;
		w->out->truncated = true;
	}
	return text_of(w, bytes, end, width);
}

/* ---- pointers ---- */

static json_t *symbol_of(const struct xc_process *process, xc_addr addr)
{
	char name[MAX_SYMBOL];
	return xc_jsonvalue_text(xc_symbol_describe(process, addr, name, sizeof name));
}

static json_t *located_code(const struct xc_process *process, xc_addr addr)
{
	json_t *json = json_object();
	xc_jsonvalue_set(json, "addr", xc_jsonvalue_address(addr));
	xc_jsonvalue_set(json, "symbol", symbol_of(process, addr));
	return json;
}

static json_t *function(struct xc_json_walker *w, const struct xc_value *value, const struct xc_type *type)
{
	uint64_t closure;
	xc_addr code;
	if (!xc_format_is_closure(type))
		return located_code(value->process, value->addr);
	if (!xc_format_closure(value, type, &closure, &code))
		return xc_json_unreadable(w, value);
	json_t *json = json_object();
	xc_jsonvalue_set(json, "addr", xc_jsonvalue_address(closure));
	xc_jsonvalue_set(json, "symbol", symbol_of(value->process, code));
	return json;
}

static void describe(struct xc_json_walker *w, xc_addr addr)
{
	json_t *hit = w->options->describe ? w->options->describe(w->options->describe_context, addr) : NULL;
	if (!hit)
		return;
	if (!w->out->hits)
		w->out->hits = json_object();
	if (json_object_size(w->out->hits) < XC_JSON_HITS) {
		xc_jsonvalue_set(w->out->hits, path_of(w), hit);
	} else {
		json_decref(hit);
		w->out->truncated = true;
	}
}

static json_t *pointer(struct xc_json_walker *w, const struct xc_value *value, const struct xc_type *type)
{
	uint64_t addr;
	unsigned width;
	if (!xc_value_load(value, &addr))
		return xc_json_unreadable(w, value);
	if (w->options->redact)
		return xc_json_redacted();
	if (xc_type_strip(type->target)->kind == XC_TYPE_FUNCTION)
		return located_code(value->process, addr);
	describe(w, addr);
	if (!xc_format_textual(type->target, &width))
		return xc_jsonvalue_address(addr);
	json_t *json = json_object();
	xc_jsonvalue_set(json, "addr", xc_jsonvalue_address(addr));
	xc_jsonvalue_set(json, "text", pointed_text(w, value->process, addr, width));
	return json;
}

static json_t *reference(struct xc_json_walker *w, const struct xc_value *value, const struct xc_type *type)
{
	uint64_t addr;
	if (value->kind == XC_VALUE_POINTEE)
		return xc_json_any(w, value->pointee);
	if (!xc_value_load(value, &addr))
		return xc_json_unreadable(w, value);
	struct xc_value target = xc_value_memory(value->process, type->target, addr);
	const struct xc_format_around *around = w->around;
	w->around = NULL;
	json_t *json = xc_json_any(w, &target);
	w->around = around;
	return json;
}

/* Values without a JSON form of their own: pointers to members. */
static json_t *as_text(struct xc_json_walker *w, const struct xc_value *value)
{
	struct xc_format_options options = xc_format_defaults();
	struct xc_text text = {0};
	bool whole = xc_format_whole(&text, value, &options);
	json_t *json = !whole               ? xc_json_unknown(w, xc_text_string(&text))
		       : w->options->redact ? xc_json_redacted()
					    : xc_jsonvalue_text(xc_text_string(&text));
	xc_text_fini(&text);
	return json;
}

/* ---- arrays ---- */

static json_t *elements(struct xc_json_walker *w, const struct xc_value *first, const struct xc_type *element,
			uint64_t count)
{
	uint64_t size;
	json_t *json = json_array();
	if (!xc_type_size(element, &size))
		return json;
	for (uint64_t i = 0; i < count; i++) {
		struct xc_value one = *first;
		if (i >= w->options->elements || w->left == 0) {
			w->out->truncated = true;
			break;
		}
		one.type = element;
		one.addr += i * size;
		one.at += i * size;
		size_t len = xc_json_descend_index(w, i);
		json_array_append_new(json, xc_json_any(w, &one));
		xc_json_ascend(w, len);
	}
	return json;
}

bool xc_json_is_gone(const struct xc_value *value, uint64_t size)
{
	uint8_t byte;
	return value->kind == XC_VALUE_ABSENT || value->kind == XC_VALUE_POINTEE ||
	       (value->kind == XC_VALUE_MEMORY && size > 0 && !xc_value_peek(value, 0, &byte, 1) &&
		!xc_value_peek(value, size - 1, &byte, 1));
}

static json_t *array(struct xc_json_walker *w, const struct xc_value *value, const struct xc_type *type)
{
	uint64_t size;
	unsigned width;
	if (!type->count_known || !xc_type_size(type, &size))
		return xc_json_unknown(w, "its length is not known");
	if (xc_json_is_gone(value, size))
		return xc_json_unreadable(w, value);
	if (!type->is_vector && xc_format_textual(type->target, &width))
		return xc_json_characters(w, value, type->count, width, false);
	return elements(w, value, type->target, type->count);
}

/* ---- any ---- */

static json_t *by_kind(struct xc_json_walker *w, const struct xc_value *value, const struct xc_type *type)
{
	switch (type->kind) {
	case XC_TYPE_INT:
	case XC_TYPE_CHAR:
	case XC_TYPE_BOOL:
		return number(w, value, type);
	case XC_TYPE_ENUM:
		return enumeration(w, value, type);
	case XC_TYPE_FLOAT:
		return type->size > 16 ? xc_json_unknown(w, "not of a known type")
				       : real_at(w, value, 0, (unsigned)type->size);
	case XC_TYPE_COMPLEX:
		return complex_number(w, value, type);
	case XC_TYPE_POINTER:
		return pointer(w, value, type);
	case XC_TYPE_REFERENCE:
	case XC_TYPE_RVALUE_REFERENCE:
		return reference(w, value, type);
	case XC_TYPE_MEMBER_POINTER:
		return as_text(w, value);
	case XC_TYPE_ARRAY:
		return array(w, value, type);
	case XC_TYPE_STRUCT:
	case XC_TYPE_CLASS:
	case XC_TYPE_UNION:
		return xc_json_record(w, value, type);
	case XC_TYPE_FUNCTION:
		return function(w, value, type);
	case XC_TYPE_VOID:
		return json_null();
	default:
		return value->kind == XC_VALUE_ABSENT ? xc_json_unreadable(w, value) : as_text(w, value);
	}
}

json_t *xc_json_any(struct xc_json_walker *w, const struct xc_value *value)
{
	if (w->depth >= XC_JSON_DEPTH || w->left == 0)
		return xc_json_truncated(w);
	w->left--;
	w->depth++;
	json_t *json = by_kind(w, value, xc_type_strip(value->type));
	w->depth--;
	return json;
}

void xc_value_json(const struct xc_value *value, const struct xc_json_options *options, struct xc_json_result *out)
{
	struct xc_json_walker w = {.options = options, .out = out, .left = XC_JSON_VALUES};
	*out = (struct xc_json_result){0};
	out->value = xc_json_any(&w, value);
	xc_text_fini(&w.path);
}
