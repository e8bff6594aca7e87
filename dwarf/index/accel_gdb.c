/* accel_gdb: .gdb_index (gdb 13, gdb/doc, "Index Section Format").
 *
 *	u32 version, offsets of: units, type units, addresses, symbols, [9: shortcuts,] constant pool
 *	units       u64 offset, u64 size                           each
 *	type units  u64 offset, u64 type's offset, u64 signature
 *	symbols     u32 name, u32 vector (both in the pool); a hash table, a power of two, both 0: empty
 *	vector      u32 count, then u32: bits 0 to 23 the number of a unit, type units after the others */
#include <ctype.h>
#include <dwarf.h>
#include <string.h>

#include "dwarf/index/accel_impl.h"

enum {
	FIRST_VERSION = 7,
	LAST_VERSION = 9,
	UNIT_SIZE = 16,
	TYPE_UNIT_SIZE = 24,
	SYMBOL_SIZE = 8,
	UNIT_MASK = 0xffffff
};

struct header {
	uint32_t version, units, types, addresses, symbols, behind_symbols, pool;
};

static bool read_header(const struct xc_cursor *c, struct header *h)
{
	if (!xc_accel_u32(c, 0, &h->version) || h->version < FIRST_VERSION || h->version > LAST_VERSION)
		return false;
	bool shortcuts = h->version >= 9;
	return xc_accel_u32(c, 4, &h->units) && xc_accel_u32(c, 8, &h->types) && xc_accel_u32(c, 12, &h->addresses) &&
	       xc_accel_u32(c, 16, &h->symbols) && xc_accel_u32(c, 20, &h->behind_symbols) &&
	       xc_accel_u32(c, shortcuts ? 24 : 20, &h->pool) && h->units <= h->types && h->types <= h->addresses &&
	       h->addresses <= h->symbols && h->symbols <= h->behind_symbols && h->behind_symbols <= h->pool &&
	       h->pool <= xc_cursor_left(c);
}

static uint64_t u64_at(const struct xc_cursor *c, uint64_t offset)
{
	return xc_load_uint(c->at + offset, 8, false);
}

/* Type units of DWARF 4 are in .debug_types, and their offsets count there. */
static bool is_type_unit(const struct xc_accel_list *units, uint64_t offset)
{
	const struct xc_die_scan_unit *unit = xc_accel_unit(units, offset);
	return unit && unit->type == DW_UT_type;
}

bool xc_gdb_index_is_sound(const struct xc_cursor *c, const struct xc_accel_list *units)
{
	struct header h;
	if (!read_header(c, &h))
		return false;
	size_t count = (h.types - h.units) / UNIT_SIZE, type_count = (h.addresses - h.types) / TYPE_UNIT_SIZE,
	       types = 0;
	for (size_t i = 0; i < count; i++) {
		const struct xc_die_scan_unit *unit = xc_accel_unit(units, u64_at(c, h.units + i * UNIT_SIZE));
		if (!unit || unit->type == DW_UT_type || unit->size != u64_at(c, h.units + i * UNIT_SIZE + 8))
			return false;
	}
	for (size_t i = 0; i < type_count; i++)
		types += is_type_unit(units, u64_at(c, h.types + i * TYPE_UNIT_SIZE));
	size_t slots = (h.behind_symbols - h.symbols) / SYMBOL_SIZE;
	return count + types == units->count && slots && !(slots & (slots - 1));
}

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 0;
	for (; *name; name++)
		hash = hash * 67 + (uint32_t)tolower((unsigned char)*name) - 113;
	return hash;
}

/* Does a slot have this name? False when it is out of bounds. */
static bool slot_is(const struct xc_cursor *c, const struct header *h, uint32_t at, const char *name)
{
	size_t left = xc_cursor_left(c) - h->pool, len = strlen(name) + 1;
	return at <= left && left - at >= len && !memcmp(c->at + h->pool + at, name, len);
}

static bool add_vector(const struct xc_accel *accel, const struct header *h, uint32_t vector,
		       struct xc_accel_units *units)
{
	const struct xc_cursor *c = &accel->gdb_index;
	uint32_t count, value;
	uint64_t at = (uint64_t)h->pool + vector;
	if (!xc_accel_u32(c, at, &count) || count > (xc_cursor_left(c) - at) / 4)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		if (!xc_accel_u32(c, at + 4 + 4 * (uint64_t)i, &value))
			return false;
		uint64_t unit = value & UNIT_MASK, plain = (h->types - h->units) / UNIT_SIZE;
		uint64_t where =
			unit < plain ? h->units + unit * UNIT_SIZE : h->types + (unit - plain) * TYPE_UNIT_SIZE;
		if (where + 8 > h->addresses || (unit >= plain && !is_type_unit(&accel->units, u64_at(c, where))))
			return false;
		xc_accel_add(units, u64_at(c, where));
	}
	return count > 0;
}

bool xc_gdb_index_find(const struct xc_accel *accel, const char *name, struct xc_accel_units *units)
{
	const struct xc_cursor *c = &accel->gdb_index;
	struct header h;
	if (!read_header(c, &h))
		return false;
	uint32_t slots = (h.behind_symbols - h.symbols) / SYMBOL_SIZE, hash = hash_of(name);
	uint32_t slot = hash & (slots - 1), step = ((hash * 17) & (slots - 1)) | 1;
	for (uint32_t i = 0; i < slots; i++, slot = (slot + step) & (slots - 1)) {
		uint32_t at, vector;
		uint64_t where = h.symbols + (uint64_t)slot * SYMBOL_SIZE;
		if (!xc_accel_u32(c, where, &at) || !xc_accel_u32(c, where + 4, &vector) || (!at && !vector))
			return false;
		if (slot_is(c, &h, at, name))
			return add_vector(accel, &h, vector, units);
	}
	return false;
}
