/* fixed: the path is applied to a struct at address 0, without reading, so the resulting address is the offset. */
#include "lua/bulk/fixed.h"

#include <stdlib.h>
#include <string.h>

#include "core/elf/arch.h"

enum { MAX_NAME = 512, MAX_STEPS = 64 };

static bool is_indirect(const struct xc_type *bare)
{
	return bare->kind == XC_TYPE_POINTER || bare->kind == XC_TYPE_REFERENCE ||
	       bare->kind == XC_TYPE_RVALUE_REFERENCE;
}

static const char *step_index(lua_State *L, const char *at, struct xc_value *value)
{
	char *end;
	long long index = strtoll(at + 1, &end, 0);
	if (end == at + 1 || *end != ']')
		xc_bind_fail(L, XC_ERR_USAGE, "'%s' is not an index", at);
	xc_bind_raise(L, xc_value_index(value, index, value));
	return end + 1;
}

static const char *step_name(lua_State *L, const char *at, struct xc_value *value)
{
	char name[MAX_NAME];
	at += *at == '.';
	size_t len = strcspn(at, ".[");
	if (len == 0 || len >= sizeof name)
		xc_bind_fail(L, XC_ERR_USAGE, "'%s' is not a member", at);
	memcpy(name, at, len);
	name[len] = '\0';
	xc_bind_raise(L, xc_value_member(value, name, value));
	return at + len;
}

static struct xc_value walk(lua_State *L, const struct xc_type *type, const char *path)
{
	struct xc_value value = xc_value_memory(xc_bind_host(L)->process, xc_bind_shape(type), 0);
	const char *at = path;
	for (unsigned steps = 0; steps == 0 || *at; steps++) {
		if (steps == MAX_STEPS)
			xc_bind_fail(L, XC_ERR_USAGE, "a path of more than %d steps", MAX_STEPS);
		if (is_indirect(xc_type_strip(value.type)))
			xc_bind_fail(L, XC_ERR_USAGE, "%s: the target of a pointer is not in the struct", path);
		at = *at == '[' ? step_index(L, at, &value) : step_name(L, at, &value);
	}
	if (value.kind != XC_VALUE_MEMORY)
		xc_bind_fail(L, XC_ERR_USAGE, "%s of %s is not in memory", path, xc_type_name(type));
	return value;
}

struct xc_fixed xc_fixed_find(lua_State *L, const struct xc_type *type, const char *path)
{
	struct xc_value value = walk(L, type, path);
	struct xc_fixed fixed = {.offset = value.addr,
				 .reading = xc_reading_of(value.process, value.type),
				 .bit_offset = value.bit_offset,
				 .bit_size = value.bit_size};
	if (value.bit_size > 0)
		xc_reading_narrow(&fixed.reading, value.bit_offset, value.bit_size);
	return fixed;
}

static enum xc_fixed_form form_of(const struct xc_type *bare)
{
	return bare->kind == XC_TYPE_FLOAT  ? XC_FIXED_DOUBLE
	       : bare->kind == XC_TYPE_BOOL ? XC_FIXED_BOOL
					    : XC_FIXED_INTEGER;
}

struct xc_fixed xc_fixed_find_number(lua_State *L, const struct xc_type *type, const char *path)
{
	struct xc_fixed fixed = xc_fixed_find(L, type, path);
	const struct xc_type *bare = xc_bind_shape(fixed.reading.type);
	fixed.form = form_of(bare);
	if (fixed.reading.kind != XC_READ_SLOWLY && fixed.reading.kind != XC_READ_PLACE)
		return fixed;
	if (is_indirect(bare) && bare->size > 0 && bare->size <= 8 && !xc_bind_host(L)->process->arch->big_endian) {
		fixed.reading.kind = XC_READ_POINTER;
		fixed.reading.size = (uint8_t)bare->size;
		return fixed;
	}
	bool is_number = bare->kind == XC_TYPE_INT || bare->kind == XC_TYPE_CHAR || bare->kind == XC_TYPE_ENUM ||
			 bare->kind == XC_TYPE_BOOL || bare->kind == XC_TYPE_POINTER;
	if (bare->kind != XC_TYPE_FLOAT && (!is_number || bare->size > 8))
		xc_bind_fail(L, XC_ERR_USAGE, "%s is a %s, not a number of at most 64 bits", path,
			     xc_type_name(fixed.reading.type));
	return fixed;
}

static bool load_value(const struct xc_fixed *fixed, const struct xc_value *value, uint64_t *bits_out)
{
	long double wide;
	if (fixed->form != XC_FIXED_DOUBLE)
		return xc_value_load(value, bits_out);
	if (!xc_value_load_float(value, 0, (unsigned)xc_value_size(value), &wide))
		return false;
	double number = (double)wide;
	memcpy(bits_out, &number, sizeof number);
	return true;
}

struct xc_error *xc_fixed_load(struct xc_host *host, const struct xc_fixed *fixed, xc_addr addr, uint64_t *bits_out)
{
	struct xc_value value = xc_value_memory(host->process, fixed->reading.type, addr + fixed->offset);
	uint64_t bits;
	value.bit_offset = fixed->bit_offset;
	value.bit_size = fixed->bit_size;
	if (fixed->reading.kind == XC_READ_SLOWLY) {
		if (load_value(fixed, &value, bits_out))
			return NULL;
	} else if (xc_bind_load(host, value.addr, fixed->reading.size, &bits)) {
		*bits_out = xc_fixed_number(&fixed->reading, bits);
		return NULL;
	}
	struct xc_error *err = xc_value_check(&value);
	return err ? err : xc_error_fault(value.addr, "could be could only be read at the second attempt");
}
