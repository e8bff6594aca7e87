/* format: walks a value by its type and writes it.
 *
 * Every list (members, elements) stops when the text has reached its length limit, and closes its brace, so that what was
 * cut can still be read by eye and by program. Depth bounds recursion, the element limit bounds arrays; runs of equal
 * elements are found by comparing bytes, before anything is formatted. */
#include "format.h"

#include <stdlib.h>
#include <string.h>

#include "format_impl.h"
#include "symbol.h"

enum { COMPARE_MAX = 1 << 20, MAX_DEPTH = 32 };

static void write_value(struct xc_writer *w, const struct xc_value *value);

struct xc_format_options xc_format_defaults(void)
{
	return (struct xc_format_options){.depth = 3, .elements = 200, .length = 4096, .symbols = true};
}

bool xc_writer_full(const struct xc_writer *w)
{
	return w->text->len - w->start >= w->options->length;
}

void xc_writer_absent(struct xc_writer *w, const struct xc_value *value, uint64_t len)
{
	bool top = w->depth == 0;
	size_t before = w->text->len;
	if (!top)
		xc_text_char(w->text, '<');
	if (!xc_value_why(value, 0, len, w->text))
		xc_text_add(w->text, "not readable");
	if (!top)
		xc_text_char(w->text, '>');
	else
		w->absent = w->text->len > before;
}

/* Names by address are asked for again and again (thread start routines); look-ups and demangling are not free. */
static const char *symbol_text(const struct xc_process *process, xc_addr addr)
{
	static const char none[] = "";
	char buf[256];
	if (addr == 0 || !xc_process_module(process, addr))
		return none;
	struct xc_types *types = xc_types_of(process);
	const void *key = (const void *)(uintptr_t)addr; /* only ever compared */
	void **slot = xc_memo_at(&types->symbols, types->arena, key, NULL);
	if (!*slot) {
		const char *text = xc_symbol_describe(process, addr, buf, sizeof buf);
		*xc_memo_at(&types->symbols, types->arena, key, NULL) =
			text ? xc_arena_strdup(types->arena, text) : (char *)none;
	}
	return *xc_memo_at(&types->symbols, types->arena, key, NULL);
}

void xc_format_symbol(struct xc_writer *w, const struct xc_process *process, xc_addr addr)
{
	const char *text = w->options->symbols ? symbol_text(process, addr) : "";
	if (!*text)
		return;
	xc_text_add(w->text, " <");
	xc_text_name(w->text, text);
	xc_text_char(w->text, '>');
}

static void write_integer(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type)
{
	unsigned __int128 bits;
	if (!xc_value_load_wide(value, &bits)) {
		xc_writer_absent(w, value, type->size);
		return;
	}
	bool negative = type->is_signed && (__int128)bits < 0;
	xc_format_decimal(w->text, negative ? -bits : bits, negative);
}

static void write_char(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type)
{
	unsigned width;
	uint64_t bits;
	const char *prefix = xc_format_textual(value->type, &width);
	if (!prefix)
		write_integer(w, value, type);
	else if (xc_value_load(value, &bits))
		xc_format_char(w, bits, type->is_signed, width, prefix);
	else
		xc_writer_absent(w, value, type->size);
}

static void write_bool(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type)
{
	uint64_t bits;
	if (!xc_value_load(value, &bits))
		xc_writer_absent(w, value, type->size);
	else if (bits <= 1)
		xc_text_add(w->text, bits ? "true" : "false");
	else
		xc_format_decimal(w->text, bits, false);
}

static void write_flags(struct xc_writer *w, const struct xc_enumerator *items, size_t count, uint64_t bits)
{
	const char *before = "(";
	for (size_t i = 0; i < count; i++) {
		if (!(bits & items[i].value))
			continue;
		xc_text_add(w->text, before);
		xc_text_name(w->text, items[i].name);
		bits &= ~items[i].value;
		before = " | ";
	}
	if (bits == 0 && *before == '(') {
		xc_text_char(w->text, '0');
		return;
	}
	if (bits != 0) {
		xc_text_add(w->text, before);
		xc_text_add(w->text, "unknown: ");
		xc_format_hex(w->text, bits);
	}
	xc_text_char(w->text, ')');
}

static void write_enum(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type)
{
	uint64_t bits;
	size_t count;
	if (!xc_value_load(value, &bits)) {
		xc_writer_absent(w, value, type->size);
		return;
	}
	const struct xc_enumerator *items = xc_type_enumerators(type, &count);
	for (size_t i = 0; i < count; i++) {
		if (items[i].value == bits) {
			xc_text_name(w->text, items[i].name);
			return;
		}
	}
	if (type->is_flags)
		write_flags(w, items, count, bits);
	else
		xc_format_integer(w->text, bits, type->is_signed);
}

static void write_float(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type)
{
	if (!xc_format_float(w, value, type, 0, (unsigned)type->size))
		xc_writer_absent(w, value, type->size);
}

static void write_complex(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type)
{
	unsigned half = (unsigned)(type->size / 2);
	if (type->size > 32 || !xc_format_float(w, value, type, 0, half)) {
		xc_writer_absent(w, value, type->size);
		return;
	}
	xc_text_add(w->text, " + ");
	if (xc_format_float(w, value, type, half, half))
		xc_text_char(w->text, 'i');
	else
		xc_text_add(w->text, "<unreadable>");
}

/* The pointer was optimised away, but the debug information knows what it pointed to. */
static void write_pointee(struct xc_writer *w, const struct xc_value *value)
{
	bool top = w->depth == 0;
	xc_text_add(w->text, top ? "synthetic pointer to " : "<synthetic pointer to ");
	w->depth++;
	write_value(w, value->pointee);
	w->depth--;
	if (!top)
		xc_text_char(w->text, '>');
	w->absent = top;
}

static void write_pointer(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type)
{
	uint64_t addr;
	unsigned width;
	if (value->kind == XC_VALUE_POINTEE) {
		write_pointee(w, value);
		return;
	}
	if (!xc_value_load(value, &addr)) {
		xc_writer_absent(w, value, type->size);
		return;
	}
	xc_format_hex(w->text, addr);
	xc_format_symbol(w, value->process, addr);
	const char *prefix = xc_format_textual(type->target, &width);
	if (prefix && addr != 0)
		xc_format_pointer_text(w, value->process, addr, width, prefix);
}

static void write_reference(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type)
{
	uint64_t addr;
	struct xc_value target;
	if (value->kind == XC_VALUE_POINTEE) {
		write_value(w, value->pointee);
		return;
	}
	if (!xc_value_load(value, &addr)) {
		xc_writer_absent(w, value, type->size);
		return;
	}
	xc_text_char(w->text, '@');
	xc_format_hex(w->text, addr);
	xc_text_add(w->text, ": ");
	target = xc_value_memory(value->process, type->target, addr);
	w->depth++;
	write_value(w, &target);
	w->depth--;
}

static bool data_member_at(struct xc_writer *w, const struct xc_type *container, uint64_t offset)
{
	size_t count;
	const struct xc_member *members = xc_type_members(xc_type_strip(container), &count);
	for (size_t i = 0; i < count; i++) {
		if (members[i].offset == offset && members[i].name && !members[i].base) {
			xc_text_char(w->text, '&');
			xc_text_name(w->text, container->name ? container->name : "");
			xc_text_add(w->text, "::");
			xc_text_name(w->text, members[i].name);
			return true;
		}
	}
	return false;
}

/* Itanium C++ ABI 2.3: an offset, -1 for null; for functions an address (or 1 + an offset in the vtable) and the
 * adjustment of `this`. */
static void write_member_pointer(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type)
{
	uint64_t words[2] = {0};
	if (type->size > sizeof words || !xc_value_peek(value, 0, words, type->size)) {
		xc_writer_absent(w, value, type->size);
	} else if (xc_type_strip(type->target)->kind != XC_TYPE_FUNCTION) {
		if (words[0] == UINT64_MAX)
			xc_text_add(w->text, "NULL");
		else if (!type->container || !data_member_at(w, type->container, words[0]))
			xc_format_decimal(w->text, words[0], false);
	} else if (words[0] == 0) {
		xc_text_add(w->text, "NULL");
	} else if (words[0] & 1) {
		xc_text_printf(w->text, "&virtual table offset %llu", (unsigned long long)(words[0] - 1));
	} else {
		xc_format_hex(w->text, words[0]);
		xc_format_symbol(w, value->process, words[0]);
		if (words[1] != 0)
			xc_text_printf(w->text, ", this adjustment %lld", (long long)words[1]);
	}
}

/* The bytes of all elements, to compare them; NULL when some are missing or they are too many. *owned_out is what to
 * free. */
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
		one.type = element;
		one.addr += at * size;
		one.at += at * size;
		xc_text_add(w->text, at ? ", " : "");
		write_value(w, &one);
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

/* True, with the reason written, when neither end of something in memory can be read. */
static bool all_missing(struct xc_writer *w, const struct xc_value *value, uint64_t size)
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

static void write_array(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type)
{
	uint64_t size, total;
	unsigned width;
	if (!type->count_known || !xc_type_size(type->target, &size) || !xc_type_size(type, &total)) {
		if (value->kind == XC_VALUE_MEMORY && !type->is_dynamic) { /* int d[]: where it starts, as gdb */
			xc_format_hex(w->text, value->addr);
			xc_format_symbol(w, value->process, value->addr);
		} else {
			xc_text_add(w->text, "<length not known>");
		}
		return;
	}
	if (all_missing(w, value, total))
		return;
	const char *prefix = type->is_vector ? NULL : xc_format_textual(type->target, &width);
	if (prefix && type->count > 0) {
		xc_format_array_text(w, value, type->count, width, prefix);
		return;
	}
	xc_text_char(w->text, '{');
	w->depth++;
	xc_format_elements(w, value, type->target, type->count, size);
	w->depth--;
	xc_text_char(w->text, '}');
}

static void write_members(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type)
{
	size_t count, i;
	const struct xc_member *members = xc_type_members(type, &count);
	for (i = 0; i < count && !xc_writer_full(w); i++) {
		struct xc_value field;
		const char *name = members[i].name;
		xc_value_field(value, &members[i], &field);
		xc_text_add(w->text, i ? ", " : "");
		if (name || members[i].base) {
			xc_text_add(w->text, members[i].base ? "<" : "");
			xc_text_name(w->text, name ? name : "");
			xc_text_add(w->text, members[i].base ? "> = " : " = ");
		}
		write_value(w, &field);
	}
	if (type->has_variants)
		xc_text_add(w->text, i ? ", ..." : "...");
	else if (i < count)
		xc_text_add(w->text, "...");
	else if (count == 0)
		xc_text_add(w->text, "<No data fields>");
}

static void write_record(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type)
{
	type = type->is_declaration ? xc_type_complete(type) : type;
	if (type->is_declaration) {
		xc_text_add(w->text, "<incomplete type>");
		return;
	}
	if (all_missing(w, value, type->size) || (!w->options->raw && xc_format_view(w, value)))
		return;
	if (w->records > w->options->depth) {
		xc_text_add(w->text, "{...}");
		return;
	}
	xc_text_char(w->text, '{');
	w->depth++;
	w->records++;
	write_members(w, value, type);
	w->records--;
	w->depth--;
	xc_text_char(w->text, '}');
}

static void write_function(struct xc_writer *w, const struct xc_value *value)
{
	xc_text_char(w->text, '{');
	xc_text_name(w->text, xc_type_name(value->type));
	xc_text_add(w->text, "} ");
	xc_format_hex(w->text, value->addr);
	xc_format_symbol(w, value->process, value->addr);
}

/* Decimal floats and other types we only know the size of: their bytes. */
static void write_unknown(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type)
{
	uint64_t bits;
	if (value->kind == XC_VALUE_ABSENT)
		xc_writer_absent(w, value, 0);
	else if (type->name && strcmp(type->name, "decltype(nullptr)") == 0)
		xc_text_add(w->text, "nullptr"); /* the only value it has */
	else if (type->size_known && type->size <= 8 && xc_value_load(value, &bits))
		xc_format_hex(w->text, bits);
	else
		xc_text_add(w->text, "<not of a known type>");
}

static void write_value(struct xc_writer *w, const struct xc_value *value)
{
	const struct xc_type *type = xc_type_strip(value->type);
	if (w->depth > MAX_DEPTH) {
		xc_text_add(w->text, "{...}");
		return;
	}
	switch (type->kind) {
	case XC_TYPE_INT:
	case XC_TYPE_CHAR:
		write_char(w, value, type);
		break;
	case XC_TYPE_BOOL:
		write_bool(w, value, type);
		break;
	case XC_TYPE_ENUM:
		write_enum(w, value, type);
		break;
	case XC_TYPE_FLOAT:
		write_float(w, value, type);
		break;
	case XC_TYPE_COMPLEX:
		write_complex(w, value, type);
		break;
	case XC_TYPE_POINTER:
		write_pointer(w, value, type);
		break;
	case XC_TYPE_REFERENCE:
	case XC_TYPE_RVALUE_REFERENCE:
		write_reference(w, value, type);
		break;
	case XC_TYPE_MEMBER_POINTER:
		write_member_pointer(w, value, type);
		break;
	case XC_TYPE_ARRAY:
		write_array(w, value, type);
		break;
	case XC_TYPE_STRUCT:
	case XC_TYPE_CLASS:
	case XC_TYPE_UNION:
		write_record(w, value, type);
		break;
	case XC_TYPE_FUNCTION:
		write_function(w, value);
		break;
	case XC_TYPE_VOID:
		xc_text_add(w->text, "void");
		break;
	default:
		write_unknown(w, value, type);
	}
}

void xc_format_nested(struct xc_writer *w, const struct xc_value *value)
{
	write_value(w, value);
}

bool xc_format_whole(struct xc_text *text, const struct xc_value *value, const struct xc_format_options *options)
{
	struct xc_writer w = {.text = text, .options = options, .start = text->len};
	write_value(&w, value);
	return !w.absent;
}

void xc_format_value(struct xc_text *text, const struct xc_value *value, const struct xc_format_options *options)
{
	size_t start = text->len;
	if (xc_format_whole(text, value, options))
		return;
	char *why = xc_strdup(text->bytes + start);
	text->len = start;
	xc_text_printf(text, "<%s>", why);
	xc_freep(&why);
}
