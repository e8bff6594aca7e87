/* accel_names: .debug_names (DWARF 5, 6.1.1.4), one or more tables one after the other.
 *
 *	header    unit_length, version 5, padding, counts: units, local and foreign type units, buckets, names; sizes of
 *	          abbreviations and of the augmentation string
 *	lists     offsets of units and local type units; signatures of foreign ones
 *	buckets   u32: number of the first name, from 1; 0: empty
 *	hashes    u32 a name, when there are buckets
 *	names     offset in .debug_str, then as many offsets in the pool
 *	abbrevs   code, tag, (index, form) pairs, as LEB128
 *	pool      per name: code, values, …, 0 */
#include <ctype.h>
#include <dwarf.h>
#include <string.h>

#include "dwarf/index/accel_impl.h"

enum { MAX_TABLES = 1 << 16, MAX_ENTRIES = 1 << 16, MAX_PAIRS = 16, IDX_UNIT = 1, IDX_TYPE_UNIT = 2 };

struct table {
	struct xc_cursor bytes; /* from unit_length to its end */
	unsigned wide;          /* bytes of an offset */
	uint32_t units, local_types, foreign_types, buckets, names, abbrev_size;
	uint64_t units_at, types_at, buckets_at, hashes_at, strings_at, entries_at, abbrevs_at, pool_at;
};

static uint64_t word_at(const struct table *t, uint64_t offset, unsigned size)
{
	return xc_load_uint(t->bytes.at + offset, size, false);
}

/* Read the header of the table at *all, which moves past the table. */
static bool read_table(struct xc_cursor *all, struct table *t)
{
	uint32_t length, augmentation;
	uint64_t size;
	*t = (struct table){.bytes = *all, .wide = 4};
	if (!xc_accel_u32(all, 0, &length))
		return false;
	size = length;
	if (length == UINT32_MAX) {
		if (xc_cursor_left(all) < 12)
			return false;
		t->wide = 8;
		size = xc_load_uint(all->at + 4, 8, false);
	}
	uint64_t at = t->wide == 8 ? 12 : 4;
	if (size > xc_cursor_left(all) - at)
		return false;
	t->bytes.end = t->bytes.at + at + size;
	all->at = t->bytes.end;
	const struct xc_cursor *c = &t->bytes;
	uint32_t version;
	if (!xc_accel_u32(c, at, &version) || (version & 0xffff) != 5 || !xc_accel_u32(c, at + 4, &t->units) ||
	    !xc_accel_u32(c, at + 8, &t->local_types) || !xc_accel_u32(c, at + 12, &t->foreign_types) ||
	    !xc_accel_u32(c, at + 16, &t->buckets) || !xc_accel_u32(c, at + 20, &t->names) ||
	    !xc_accel_u32(c, at + 24, &t->abbrev_size) || !xc_accel_u32(c, at + 28, &augmentation))
		return false;
	t->units_at = at + 32 + ((augmentation + UINT64_C(3)) & ~UINT64_C(3));
	t->types_at = t->units_at + (uint64_t)t->units * t->wide;
	t->buckets_at = t->types_at + (uint64_t)t->local_types * t->wide + (uint64_t)t->foreign_types * 8;
	t->hashes_at = t->buckets_at + (uint64_t)t->buckets * 4;
	t->strings_at = t->hashes_at + (t->buckets ? (uint64_t)t->names * 4 : 0);
	t->entries_at = t->strings_at + (uint64_t)t->names * t->wide;
	t->abbrevs_at = t->entries_at + (uint64_t)t->names * t->wide;
	t->pool_at = t->abbrevs_at + t->abbrev_size;
	return t->pool_at <= xc_cursor_left(c);
}

bool xc_debug_names_are_sound(const struct xc_cursor *names, const struct xc_accel_list *units)
{
	struct xc_cursor all = *names;
	struct table t;
	uint64_t listed = 0;
	for (int i = 0; xc_cursor_left(&all); i++) {
		if (i == MAX_TABLES || !read_table(&all, &t) || t.foreign_types)
			return false;
		for (uint64_t u = 0; u < (uint64_t)t.units + t.local_types; u++, listed++)
			if (!xc_accel_unit(units, word_at(&t, t.units_at + u * t.wide, t.wide)))
				return false;
	}
	return listed == units->count;
}

/* Bernstein's hash of the folded name (DWARF 5, 7.33). Names with letters outside ASCII are not folded here, and so
 * are not found. */
static uint32_t hash_of(const char *name, size_t len)
{
	uint32_t hash = 5381;
	for (size_t i = 0; i < len; i++)
		hash = hash * 33 + (uint32_t)tolower((unsigned char)name[i]);
	return hash;
}

static bool string_is(const struct xc_accel *accel, uint64_t at, const char *name, size_t len)
{
	size_t left = xc_cursor_left(&accel->str);
	return at < left && left - at > len && !memcmp(accel->str.at + at, name, len) && !accel->str.at[at + len];
}

/* ---- entries ---- */

struct pair {
	uint64_t index, form;
};

/* The pairs of an abbreviation. */
static bool find_abbrev(const struct table *t, uint64_t wanted, struct pair pairs[MAX_PAIRS], size_t *count_out)
{
	struct xc_cursor c = xc_cursor(t->bytes.at + t->abbrevs_at, t->abbrev_size, ".debug_names");
	struct xc_error *err = NULL;
	uint64_t code = 0, tag;
	while (!err && !(err = xc_cursor_uleb(&c, &code)) && code && !(err = xc_cursor_uleb(&c, &tag))) {
		size_t count = 0;
		struct pair p = {1, 1};
		while (!err && (p.index || p.form)) {
			if (!(err = xc_cursor_uleb(&c, &p.index)))
				err = xc_cursor_uleb(&c, &p.form);
			if (!err && (p.index || p.form) && count < MAX_PAIRS)
				pairs[count++] = p;
		}
		if (!err && code == wanted) {
			*count_out = count;
			return true;
		}
	}
	xc_error_free(err);
	return false;
}

static bool read_form(struct xc_cursor *c, uint64_t form, uint64_t *value_out)
{
	struct xc_error *err = NULL;
	*value_out = 0;
	switch (form) {
	case DW_FORM_flag_present:
		break;
	case DW_FORM_data1:
	case DW_FORM_ref1:
		err = xc_cursor_uint(c, 1, value_out);
		break;
	case DW_FORM_data2:
	case DW_FORM_ref2:
		err = xc_cursor_uint(c, 2, value_out);
		break;
	case DW_FORM_data4:
	case DW_FORM_ref4:
		err = xc_cursor_uint(c, 4, value_out);
		break;
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sig8:
		err = xc_cursor_uint(c, 8, value_out);
		break;
	case DW_FORM_udata:
	case DW_FORM_ref_udata:
		err = xc_cursor_uleb(c, value_out);
		break;
	default:
		return false;
	}
	bool good = !err;
	xc_error_free(err);
	return good;
}

/* Read one entry; false at the end of the list or when it is damaged: then *damaged_out is set. */
static bool read_entry(const struct table *t, struct xc_cursor *c, struct xc_accel_units *units, bool *damaged_out)
{
	struct pair pairs[MAX_PAIRS];
	uint64_t code, value, unit = 0, type = UINT64_MAX;
	size_t count = 0;
	struct xc_error *err = xc_cursor_uleb(c, &code);
	*damaged_out = err != NULL;
	xc_error_free(err);
	if (*damaged_out || !code)
		return false;
	*damaged_out = true;
	if (!find_abbrev(t, code, pairs, &count))
		return false;
	for (size_t i = 0; i < count; i++) {
		if (!read_form(c, pairs[i].form, &value))
			return false;
		unit = pairs[i].index == IDX_UNIT ? value : unit;
		type = pairs[i].index == IDX_TYPE_UNIT ? value : type;
	}
	uint64_t number = type == UINT64_MAX ? unit : t->units + type;
	if ((type == UINT64_MAX && unit >= t->units) || number >= (uint64_t)t->units + t->local_types)
		return false;
	xc_accel_add(units, word_at(t, t->units_at + number * t->wide, t->wide));
	*damaged_out = false;
	return true;
}

static bool add_entries(const struct table *t, uint64_t name, struct xc_accel_units *units)
{
	uint64_t at = word_at(t, t->entries_at + name * t->wide, t->wide),
		 left = xc_cursor_left(&t->bytes) - t->pool_at;
	bool damaged = at >= left;
	if (damaged)
		return false;
	struct xc_cursor c = xc_cursor(t->bytes.at + t->pool_at + at, (size_t)(left - at), ".debug_names");
	for (int i = 0; i < MAX_ENTRIES && read_entry(t, &c, units, &damaged); i++)
		;
	return !damaged;
}

/* Names of one bucket are adjacent; without buckets all names are searched. */
static bool find_in(const struct xc_accel *accel, const struct table *t, const char *last, size_t len,
		    struct xc_accel_units *units)
{
	uint32_t hash = hash_of(last, len);
	uint64_t from = 0;
	if (t->buckets) {
		uint64_t first = word_at(t, t->buckets_at + (uint64_t)(hash % t->buckets) * 4, 4);
		if (!first || first > t->names)
			return true;
		from = first - 1;
	}
	for (uint64_t i = from; i < t->names; i++) {
		uint64_t have = t->buckets ? word_at(t, t->hashes_at + i * 4, 4) : hash;
		if (t->buckets && have % t->buckets != hash % t->buckets)
			break;
		if (have == hash && string_is(accel, word_at(t, t->strings_at + i * t->wide, t->wide), last, len) &&
		    !add_entries(t, i, units))
			return false;
	}
	return true;
}

bool xc_debug_names_find(const struct xc_accel *accel, const char *last, size_t last_len, struct xc_accel_units *units)
{
	struct xc_cursor all = accel->debug_names;
	struct table t;
	while (xc_cursor_left(&all))
		if (!read_table(&all, &t) || !find_in(accel, &t, last, last_len, units))
			return false;
	return units->count > 0;
}
