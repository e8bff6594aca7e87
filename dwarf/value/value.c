/* value: reads values.
 *
 * The bytes of a value come from memory, from `small` or from a buffer. A part of a value is another value with a later
 * start; a bit-field also has the position of its first bit. Integers are assembled byte by byte in the target's byte
 * order, so a value may have any alignment. Bit-fields and buffers assume little-endian, the byte order of every
 * machine whose values are read here. */
#include "dwarf/value/value.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/cursor.h"
#include "dwarf/value/float.h"

struct xc_value xc_value_memory(const struct xc_process *process, const struct xc_type *type, xc_addr addr)
{
	return (struct xc_value){.process = process, .type = type, .kind = XC_VALUE_MEMORY, .addr = addr};
}

struct xc_value xc_value_absent(const struct xc_process *process, const struct xc_type *type, const char *why)
{
	return (struct xc_value){.process = process, .type = type, .kind = XC_VALUE_ABSENT, .why = why};
}

struct xc_value xc_value_small(const struct xc_process *process, const struct xc_type *type, const void *bytes,
			       size_t size)
{
	struct xc_value value = {.process = process, .type = type, .kind = XC_VALUE_BYTES};
	memcpy(value.small, bytes, size < sizeof value.small ? size : sizeof value.small);
	return value;
}

static const struct xc_hole *hole_in(const struct xc_buffer *buffer, uint64_t first, uint64_t count)
{
	for (size_t i = 0; i < buffer->hole_count; i++) {
		const struct xc_hole *hole = &buffer->holes[i];
		if (hole->first < first + count && first < hole->first + hole->count)
			return hole;
	}
	return NULL;
}

uint64_t xc_value_hole(const struct xc_value *value, uint64_t offset)
{
	const struct xc_buffer *buffer = value->kind == XC_VALUE_BYTES ? value->buffer : NULL;
	uint64_t first = (value->at + offset) * 8;
	const struct xc_hole *hole = buffer ? hole_in(buffer, first, 8) : NULL;
	return hole && hole->first <= first ? (hole->first + hole->count - first) / 8 : 0;
}

static bool peek_bytes(const struct xc_value *value, uint64_t offset, void *buf, size_t len)
{
	const struct xc_buffer *buffer = value->buffer;
	uint64_t size = buffer ? buffer->size : sizeof value->small;
	if (value->at > size || offset > size - value->at || len > size - value->at - offset)
		return false;
	uint64_t from = value->at + offset;
	if (!buffer) {
		memcpy(buf, value->small + from, len);
		return true;
	}
	uint64_t bits = len * 8, first = from * 8;
	if (value->bit_size > 0) {
		bits = value->bit_size;
		first += value->bit_offset;
	}
	if (hole_in(buffer, first, bits))
		return false;
	memcpy(buf, buffer->bytes + from, len);
	return true;
}

bool xc_value_peek(const struct xc_value *value, uint64_t offset, void *buf, size_t len)
{
	if (value->kind == XC_VALUE_MEMORY)
		return xc_space_peek(value->process->space, value->addr + offset, buf, len) == len;
	return value->kind == XC_VALUE_BYTES && peek_bytes(value, offset, buf, len);
}

static bool big_endian(const struct xc_value *value, const struct xc_type *type)
{
	return value->process->arch->big_endian != type->is_swapped;
}

/* In a struct of the other byte order (gcc's scalar_storage_order), bits are counted from the high end of the first
 * byte. */
static unsigned __int128 swap_field(const uint8_t *bytes, unsigned len, unsigned first, unsigned count)
{
	unsigned __int128 bits = 0;
	for (unsigned i = first; i < first + count && i < len * 8; i++)
		bits = bits << 1 | (bytes[i / 8] >> (7 - i % 8) & 1);
	return bits;
}

/* The bits of a bit-field of up to 128 bits, which may straddle 17 bytes. */
static bool load_field(const struct xc_value *value, unsigned __int128 *bits_out)
{
	uint8_t bytes[17] = {0};
	unsigned len = (value->bit_offset + value->bit_size + 7u) / 8u;
	if (len > sizeof bytes || !xc_value_peek(value, 0, bytes, len))
		return false;
	if (xc_type_strip(value->type)->is_swapped) {
		*bits_out = swap_field(bytes, len, value->bit_offset, value->bit_size);
		return true;
	}
	unsigned __int128 bits;
	memcpy(&bits, bytes, sizeof bits);
	bits >>= value->bit_offset;
	if (value->bit_offset > 0)
		bits |= (unsigned __int128)bytes[16] << (128 - value->bit_offset);
	*bits_out = value->bit_size >= 128 ? bits : bits & (((unsigned __int128)1 << value->bit_size) - 1);
	return true;
}

static bool is_integral(const struct xc_type *type)
{
	switch (type->kind) {
	case XC_TYPE_INT:
	case XC_TYPE_BOOL:
	case XC_TYPE_CHAR:
	case XC_TYPE_ENUM:
	case XC_TYPE_POINTER:
	case XC_TYPE_REFERENCE:
	case XC_TYPE_RVALUE_REFERENCE:
		return true;
	case XC_TYPE_MEMBER_POINTER:
		return type->size <= 8;
	default:
		return type->kind == XC_TYPE_UNKNOWN && type->size_known && type->size <= 8;
	}
}

bool xc_value_load_wide(const struct xc_value *value, unsigned __int128 *bits_out)
{
	const struct xc_type *type = xc_type_strip(value->type);
	unsigned __int128 bits;
	if (!is_integral(type) || !type->size_known || type->size == 0 || type->size > sizeof bits)
		return false;
	unsigned width = (unsigned)type->size * 8;
	if (value->bit_size > 0) {
		width = value->bit_size;
		if (!load_field(value, &bits))
			return false;
	} else if (!xc_value_load_bytes(value, 0, (unsigned)type->size, &bits)) {
		return false;
	}
	if (type->is_signed)
		bits = (unsigned __int128)((__int128)(bits << (128 - width)) >> (128 - width));
	*bits_out = bits;
	return true;
}

bool xc_value_load(const struct xc_value *value, uint64_t *bits_out)
{
	const struct xc_type *type = xc_type_strip(value->type);
	uint8_t bytes[8];
	size_t size = type->size;
	if (value->bit_size > 0 || (size != 8 && size != 4 && size != 2 && size != 1)) {
		unsigned __int128 wide;
		if (size > 8 || !xc_value_load_wide(value, &wide))
			return false;
		*bits_out = (uint64_t)wide;
		return true;
	}
	if (!is_integral(type) || !xc_value_peek(value, 0, bytes, size))
		return false;
	uint64_t bits = xc_load_uint(bytes, size, big_endian(value, type));
	*bits_out = type->is_signed ? xc_sign_extend(bits, (unsigned)size * 8) : bits;
	return true;
}

bool xc_value_load_bytes(const struct xc_value *value, uint64_t offset, unsigned size, unsigned __int128 *bits_out)
{
	uint8_t bytes[16];
	unsigned __int128 bits = 0;
	if (size > sizeof bytes || !xc_value_peek(value, offset, bytes, size))
		return false;
	bool big = big_endian(value, xc_type_strip(value->type));
	for (unsigned i = 0; i < size; i++)
		bits |= (unsigned __int128)bytes[big ? size - 1 - i : i] << 8 * i;
	*bits_out = bits;
	return true;
}

bool xc_value_load_float(const struct xc_value *value, uint64_t offset, unsigned size, long double *number_out)
{
	unsigned __int128 bits;
	if (!xc_value_load_bytes(value, offset, size, &bits))
		return false;
	enum xc_float_kind kind = xc_float_kind_of(xc_type_strip(value->type), size, value->process->arch);
	return xc_float_decode(kind, bits, number_out);
}

bool xc_value_fault(const struct xc_process *process, xc_addr addr, uint64_t len, struct xc_text *text)
{
	uint8_t chunk[4096];
	while (len > 0) {
		size_t want = len < sizeof chunk ? (size_t)len : sizeof chunk;
		size_t got = xc_space_peek(process->space, addr, chunk, want);
		addr += got;
		len -= got;
		if (got < want)
			break;
	}
	if (len == 0)
		return false;
	const struct xc_segment *s = xc_space_find(process->space, addr);
	const char *why = NULL;
	if (s && s->backing && s->backing->why)
		why = s->backing->why(s->ctx, s->offset + (addr - s->lo));
	if (!why)
		why = xc_provenance_text(s ? s->provenance : XC_UNMAPPED);
	xc_text_printf(text, "0x%" PRIx64 ": %s", addr, why);
	return true;
}

bool xc_value_why(const struct xc_value *value, uint64_t offset, uint64_t len, struct xc_text *text)
{
	switch (value->kind) {
	case XC_VALUE_ABSENT:
		xc_text_add(text, value->why);
		return true;
	case XC_VALUE_POINTEE:
		xc_text_add(text, "synthetic pointer");
		return true;
	case XC_VALUE_MEMORY:
		if (len > XC_VALUE_MAX)
			len = XC_VALUE_MAX;
		return xc_value_fault(value->process, value->addr + offset, len, text);
	case XC_VALUE_BYTES:
		break;
	}
	const struct xc_buffer *buffer = value->buffer;
	uint64_t size = buffer ? buffer->size : sizeof value->small;
	if (value->at > size || offset > size - value->at || len > size - value->at - offset) {
		xc_text_add(text, "its location is shorter than its type");
		return true;
	}
	bool field = value->bit_size > 0;
	uint64_t first = (value->at + offset) * 8 + (field ? value->bit_offset : 0);
	const struct xc_hole *hole = buffer ? hole_in(buffer, first, field ? value->bit_size : len * 8) : NULL;
	if (hole)
		xc_text_add(text, hole->why);
	return hole != NULL;
}

uint64_t xc_value_size(const struct xc_value *value)
{
	uint64_t size;
	return xc_type_size(value->type, &size) ? size : 0;
}

struct xc_error *xc_value_check(const struct xc_value *value)
{
	struct xc_text text = {0};
	uint64_t len = value->bit_size > 0 ? (value->bit_offset + value->bit_size + 7u) / 8u : xc_value_size(value);
	struct xc_error *err = NULL;
	if (xc_value_why(value, 0, len, &text)) {
		bool fault = value->kind == XC_VALUE_MEMORY;
		err = xc_error_new(fault ? XC_ERR_FAULT : XC_ERR_ABSENT, "%s", xc_text_string(&text));
		if (fault) /* it begins with the first address that cannot be read */
			err->addr = strtoull(xc_text_string(&text), NULL, 16);
	}
	xc_text_fini(&text);
	return err;
}

struct xc_error *xc_value_number(const struct xc_value *value, uint64_t *bits_out)
{
	if (xc_value_load(value, bits_out))
		return NULL;
	struct xc_error *err = xc_value_check(value);
	return err ? err : xc_error_new(XC_ERR_USAGE, "%s is not a number", xc_type_name(value->type));
}

struct xc_error *xc_value_deref(const struct xc_value *value, struct xc_value *out)
{
	const struct xc_type *type = xc_type_strip(value->type);
	uint64_t addr;
	struct xc_error *err;
	if (!xc_type_is_pointer(type))
		return xc_error_new(XC_ERR_USAGE, "%s is not a pointer", xc_type_name(value->type));
	if (value->kind == XC_VALUE_POINTEE) {
		*out = *value->pointee;
		return NULL;
	}
	if ((err = xc_value_number(value, &addr)))
		return err;
	*out = xc_value_memory(value->process, type->target, addr);
	return NULL;
}

struct xc_error *xc_value_index(const struct xc_value *value, int64_t index, struct xc_value *out)
{
	const struct xc_type *type = xc_type_strip(value->type);
	struct xc_value element = *value;
	struct xc_error *err;
	uint64_t size;
	if (xc_type_is_pointer(type) && (err = xc_value_deref(value, &element)))
		return err;
	if (type->kind == XC_TYPE_ARRAY && type->unreadable)
		return xc_error_new(XC_ERR_USAGE, "%s is %s", xc_type_name(value->type), type->unreadable);
	if (type->kind == XC_TYPE_ARRAY) {
		element.type = type->target;
		if (index < 0 || (type->count_known && (uint64_t)index >= type->count))
			return xc_error_new(XC_ERR_LIMIT, "index %" PRId64 " of %s", index, xc_type_name(value->type));
	} else if (!xc_type_is_pointer(type)) {
		return xc_error_new(XC_ERR_USAGE, "%s has no elements", xc_type_name(value->type));
	}
	if (!xc_type_size(element.type, &size))
		return xc_error_new(XC_ERR_USAGE, "the size of %s is not known", xc_type_name(element.type));
	element.addr += (uint64_t)index * size;
	element.at += (uint64_t)index * size;
	*out = element;
	return NULL;
}
