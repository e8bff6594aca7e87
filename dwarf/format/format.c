/* format: walks a value by its type and writes it.
 *
 * Every list (members, elements) stops when the text reaches its length limit, and closes its brace, so that people and
 * programs can still read the rest. Depth bounds recursion, and the element limit bounds arrays (format_array.c).
 * Structs are in format_record.c. */
#include "dwarf/format/format.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/format/format_impl.h"
#include "dwarf/elf/symbol.h"

enum { MAX_DEPTH = 32 };

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

/* Cached: names are needed for the same addresses repeatedly (thread start routines), and lookups and demangling are
 * slow. */
static const char *symbol_text(const struct xc_process *process, xc_addr addr)
{
	static const char none[] = "";
	char buf[256];
	if (addr == 0 || !xc_process_module(process, addr))
		return none;
	struct xc_types *types = xc_types_of(process);
	const void *key = (const void *)(uintptr_t)addr; /* only compared, never dereferenced */
	void **slot = xc_pointer_map_at(&types->symbols, types->arena, key, NULL);
	if (!*slot) {
		const char *text = xc_symbol_describe(process, addr, buf, sizeof buf);
		*xc_pointer_map_at(&types->symbols, types->arena, key, NULL) =
			text ? xc_arena_strdup(types->arena, text) : (char *)none;
	}
	return *xc_pointer_map_at(&types->symbols, types->arena, key, NULL);
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
	if (type->size_known && type->size == 0) { /* () of Rust */
		xc_text_name(w->text, type->name ? type->name : "<No data>");
		return;
	}
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
	if (type->is_rust && type->kind == XC_TYPE_CHAR && type->encoding == DW_ATE_UTF)
		prefix = "";
	if (!prefix || w->numbers)
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
		if (!*items[i].name) { /* a bit of a register that is always set */
			bits &= ~items[i].value;
			continue;
		}
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
	const struct xc_enumerator *items = xc_type_search_enumerators(type, &count);
	for (size_t i = 0; i < count; i++) {
		if (items[i].value == bits) {
			if (type->is_rust)
				xc_format_rust_enumerator(w, items[i].name);
			else
				xc_text_name(w->text, items[i].name);
			return;
		}
	}
	if (type->is_flags && count && !type->is_rust) /* in Rust such a value is invalid */
		write_flags(w, items, count, bits);
	else
		xc_format_integer(w->text, bits, type->is_signed);
}

static void write_float(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type)
{
	if (!xc_format_float(w, value, type, 0, (unsigned)type->size))
		xc_writer_absent(w, value, type->size);
}

/* Only the name of the type has the signedness. */
bool xc_format_half(const struct xc_value *value, const struct xc_type *type, uint64_t offset, unsigned half,
		    uint64_t *bits_out)
{
	unsigned __int128 wide;
	if (half == 0 || half > 8 || !xc_value_load_bytes(value, offset, half, &wide))
		return false;
	*bits_out = (uint64_t)wide;
	if (type->is_signed)
		*bits_out = xc_sign_extend(*bits_out, half * 8);
	return true;
}

static bool add_half(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type, unsigned half,
		     uint64_t offset)
{
	uint64_t bits;
	if (type->encoding == DW_ATE_complex_float)
		return xc_format_float(w, value, type, offset, half);
	if (!xc_format_half(value, type, offset, half, &bits))
		return false;
	xc_format_integer(w->text, bits, type->is_signed);
	return true;
}

static void write_complex(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type)
{
	unsigned half = (unsigned)(type->size / 2);
	if (type->size > 32 || !add_half(w, value, type, half, 0)) {
		xc_writer_absent(w, value, type->size);
		return;
	}
	xc_text_add(w->text, " + ");
	if (add_half(w, value, type, half, half)) {
		xc_text_char(w->text, 'i');
		return;
	}
	xc_text_char(w->text, '<');
	if (!xc_value_why(value, half, half, w->text))
		xc_text_add(w->text, "not readable");
	xc_text_char(w->text, '>');
}

/* The pointer was optimised away, but the debug information has its target. */
static void write_pointee(struct xc_writer *w, const struct xc_value *value)
{
	bool top = w->depth == 0;
	xc_text_add(w->text, top ? "synthetic pointer to " : "<synthetic pointer to ");
	w->depth++;
	xc_format_nested(w, value->pointee);
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
	if (w->options->annotate)
		w->options->annotate(w->options->annotate_context, addr, w->text);
}

static void write_reference(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type)
{
	uint64_t addr;
	struct xc_value target;
	if (value->kind == XC_VALUE_POINTEE) {
		xc_format_nested(w, value->pointee);
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
	const struct xc_format_around *around = w->around;
	w->around = NULL;
	w->depth++;
	xc_format_nested(w, &target);
	w->depth--;
	w->around = around;
}

bool xc_format_closure(const struct xc_value *value, const struct xc_type *type, uint64_t *closure_out,
		       xc_addr *code_out)
{
	const unsigned word = value->process->arch->word;
	*closure_out = *code_out = 0;
	if (!xc_value_peek(value, 0, closure_out, type->size < word ? (size_t)type->size : word))
		return false;
	if (!*closure_out || !xc_space_peek_uint(value->process->space, *closure_out, word, code_out))
		*code_out = 0;
	return true;
}

bool xc_format_is_closure(const struct xc_type *type)
{
	return type->kind == XC_TYPE_FUNCTION && type->is_go && type->size_known;
}

static void write_closure(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type)
{
	uint64_t closure;
	xc_addr code;
	if (!xc_format_closure(value, type, &closure, &code)) {
		xc_writer_absent(w, value, type->size);
		return;
	}
	if (!closure) {
		xc_text_add(w->text, "nil");
		return;
	}
	xc_format_hex(w->text, closure);
	if (code)
		xc_format_symbol(w, value->process, code);
}

static void write_function(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type)
{
	if (xc_format_is_closure(type)) {
		write_closure(w, value, type);
		return;
	}
	xc_text_char(w->text, '{');
	xc_text_name(w->text, xc_type_name(value->type));
	xc_text_add(w->text, "} ");
	xc_format_hex(w->text, value->addr);
	xc_format_symbol(w, value->process, value->addr);
}

/* The bytes in the order of memory; many are cut with "...". False when they cannot be read. */
bool xc_format_bytes(struct xc_writer *w, const struct xc_value *value, uint64_t offset, uint64_t size)
{
	enum { MOST = 32 };
	uint8_t bytes[MOST];
	size_t count = size < MOST ? (size_t)size : MOST;
	if (size == 0 || !xc_value_peek(value, offset, bytes, count))
		return false;
	xc_text_add(w->text, "<bytes");
	for (size_t i = 0; i < count; i++)
		xc_text_printf(w->text, " %02x", bytes[i]);
	xc_text_add(w->text, count < size ? " ...>" : ">");
	return true;
}

/* Types of which only the size is known. */
static void write_unknown(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type)
{
	xc_auto(xc_text_fini) struct xc_text why = {0};
	if (value->kind == XC_VALUE_ABSENT)
		xc_writer_absent(w, value, 0);
	else if (type->name && strcmp(type->name, "decltype(nullptr)") == 0)
		xc_text_add(w->text, "nullptr"); /* its only value */
	else if (xc_format_decimal_float(w, value, type) || xc_format_fixed(w, value, type))
		return;
	else if (type->size_known && xc_format_bytes(w, value, 0, type->size))
		return;
	else if (type->size_known && xc_value_why(value, 0, type->size, &why))
		xc_writer_absent(w, value, type->size);
	else
		xc_text_add(w->text, "<not of a known type>");
}

void xc_format_nested(struct xc_writer *w, const struct xc_value *value)
{
	const struct xc_type *type = xc_type_strip(value->type);
	if (w->depth > MAX_DEPTH) {
		xc_text_add(w->text, "{...}");
		return;
	}
	if (w->options->letter && xc_format_letter(w, value, type))
		return;
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
		xc_format_member_pointer(w, value, type);
		break;
	case XC_TYPE_ARRAY:
		xc_format_array(w, value, type);
		break;
	case XC_TYPE_STRUCT:
	case XC_TYPE_CLASS:
	case XC_TYPE_UNION:
		xc_format_record(w, value, type);
		break;
	case XC_TYPE_FUNCTION:
		write_function(w, value, type);
		break;
	case XC_TYPE_VOID:
		xc_text_add(w->text, "void");
		break;
	default:
		write_unknown(w, value, type);
	}
}

bool xc_format_whole(struct xc_text *text, const struct xc_value *value, const struct xc_format_options *options)
{
	struct xc_writer w = {.text = text, .options = options, .start = text->len};
	xc_format_nested(&w, value);
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
