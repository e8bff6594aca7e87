/* govalue: runtime types of Go 1.19 (runtime/type.go; since 1.21 internal/abi/type.go), by the offsets of the
 * program's debug information:
 *
 *	_type   { size, ptrdata, hash, tflag, align, fieldAlign, kind, …, str (of the name, from moduledata.types) }
 *	name    1 byte of flags, length (7 bits a byte, lowest first), text
 *
 * The low five bits of kind are the kind; bit 5 says that the interface's data is the value itself, not its address.
 * tflag bit 1: the text has a star before it that is not part of the name. */
#include "triage/goroutine/govalue.h"

#include <dwarf.h>
#include <inttypes.h>
#include <string.h>

#include "dwarf/format/format.h"
#include "dwarf/lookup/lookup.h"
#include "dwarf/types/type.h"
#include "dwarf/value/value.h"

enum {
	KIND_MASK = 31,
	DIRECT = 32,
	EXTRA_STAR = 2,
	BOOL = 1,
	INT = 2,
	INT8 = 3,
	INT64 = 6,
	UINT = 7,
	UINT8 = 8,
	UINTPTR = 12,
	FLOAT32 = 13,
	FLOAT64 = 14,
	STRING = 24,
	STRUCT = 25,
	NAME_MOST = 400,
	TEXT_MOST = 1000,
};

/* A member of a type, by its names in older and newer versions. */
static bool of_type(const struct xc_goruntime *go, xc_addr type, const char *old, const char *new, uint64_t *out)
{
	return xc_goruntime_read(go, "runtime._type", type, old, out) ||
	       xc_goruntime_read(go, "internal/abi.Type", type, new, out);
}

/* The start of the names of the program's types, when `type` is one of them. */
static bool names_of(const struct xc_goruntime *go, xc_addr type, uint64_t *names_out)
{
	xc_addr module;
	uint64_t size, end;
	return xc_goruntime_variable(go, "runtime.firstmoduledata", &module, &size) &&
	       xc_goruntime_read(go, "runtime.moduledata", module, "types", names_out) &&
	       xc_goruntime_read(go, "runtime.moduledata", module, "etypes", &end) && type >= *names_out && type < end;
}

/* Can a type of the program be at this address? */
static bool is_type(const struct xc_goruntime *go, xc_addr type)
{
	uint64_t names;
	if (names_of(go, type, &names))
		return true;
	const struct xc_mapping *m = xc_process_mapping(go->process, type);
	return m && !m->writable && xc_process_module(go->process, type) == go->module && type % 8 == 0;
}

const char *xc_govalue_type(const struct xc_goruntime *go, xc_addr type, struct xc_arena *arena)
{
	uint64_t names, offset, flags;
	uint8_t head[3];
	char text[NAME_MOST];
	if (!names_of(go, type, &names) || !of_type(go, type, "str", "Str", &offset) ||
	    !of_type(go, type, "tflag", "TFlag", &flags))
		return NULL;
	xc_addr at = names + (uint32_t)offset;
	if (xc_space_peek(go->process->space, at, head, sizeof head) != sizeof head)
		return NULL;
	bool longer = head[1] & 0x80;
	size_t length = longer ? (size_t)(head[1] & 0x7f) | (size_t)head[2] << 7 : head[1];
	if (!length || length > sizeof text ||
	    xc_space_peek(go->process->space, at + 2 + longer, text, length) != length ||
	    xc_text_readable_length(text, length) != length)
		return NULL;
	size_t star = (flags & EXTRA_STAR) && text[0] == '*';
	return xc_arena_strndup(arena, text + star, length - star);
}

bool xc_govalue_string(const struct xc_goruntime *go, xc_addr addr, size_t most, struct xc_text *text)
{
	const struct xc_space *space = go->process->space;
	char bytes[TEXT_MOST];
	uint64_t data, length;
	if (!xc_space_peek_uint(space, addr, 8, &data) || !xc_space_peek_uint(space, addr + 8, 8, &length))
		return false;
	size_t shown = most < sizeof bytes ? most : sizeof bytes;
	shown = length < shown ? (size_t)length : shown;
	size_t got = xc_space_peek(space, data, bytes, shown);
	if (got < shown)
		return false;
	if (memchr(bytes, '\0', got)) /* texts of a report are C strings */
		xc_text_escaped(text, bytes, got);
	else
		xc_text_addn(text, bytes, got);
	if (shown < length)
		xc_text_add(text, "...");
	return true;
}

/* ---- values ---- */

static bool add_number(unsigned kind, uint64_t bits, unsigned size, struct xc_text *text)
{
	float single;
	double number;
	switch (kind) {
	case BOOL:
		xc_text_add(text, bits & 1 ? "true" : "false");
		return true;
	case FLOAT32:
		memcpy(&single, &bits, sizeof single);
		xc_text_printf(text, "%g", (double)single);
		return true;
	case FLOAT64:
		memcpy(&number, &bits, sizeof number);
		xc_text_printf(text, "%g", number);
		return true;
	default:
		if (kind <= INT64)
			xc_text_printf(text, "%" PRId64, (int64_t)xc_sign_extend(bits, 8 * size));
		else
			xc_text_printf(text, "%" PRIu64, bits);
		return true;
	}
}

/* A struct, by the debug information of the type with this name. */
static bool add_struct(const struct xc_goruntime *go, const struct xc_goface *face, struct xc_text *text)
{
	struct xc_arena arena = {.blocks = NULL};
	struct xc_format_options options = xc_format_defaults();
	const char *name = xc_govalue_type(go, face->type, &arena);
	const struct xc_query query = {
		.name = name, .kinds = XC_NAME_TYPE, .tag = DW_TAG_structure_type, .module = go->module};
	struct xc_definition found;
	options.length = TEXT_MOST;
	options.depth = 1;
	bool known = name && xc_lookup_one(go->process, &query, &found);
	if (known) {
		const struct xc_type *type = xc_type_get(xc_types_of(go->process), &found.die);
		const struct xc_value value = xc_value_memory(go->process, type, face->data);
		struct xc_text shown = {0};
		known = xc_format_whole(&shown, &value, &options);
		if (known)
			xc_text_printf(text, "%s%s", name, xc_text_string(&shown));
		xc_text_fini(&shown);
	}
	xc_arena_fini(&arena);
	return known;
}

bool xc_govalue_text(const struct xc_goruntime *go, const struct xc_goface *face, struct xc_text *text)
{
	uint64_t kind, size, bits;
	if (!face->type) {
		xc_text_add(text, "nil");
		return true;
	}
	if (!is_type(go, face->type) || !of_type(go, face->type, "kind", "Kind_", &kind) ||
	    !of_type(go, face->type, "size", "Size_", &size))
		return false;
	unsigned what = kind & KIND_MASK;
	if (what == STRING)
		return xc_govalue_string(go, face->data, TEXT_MOST, text);
	if (what == STRUCT && !(kind & DIRECT))
		return add_struct(go, face, text);
	if (what < BOOL || what > FLOAT64 || (size != 1 && size != 2 && size != 4 && size != 8))
		return false;
	if (kind & DIRECT)
		bits = face->data;
	else if (!xc_space_peek_uint(go->process->space, face->data, (size_t)size, &bits))
		return false;
	return add_number(what, bits, (unsigned)size, text);
}
