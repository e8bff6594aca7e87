/* store_dwo: the ids by which skeleton units ask for this file.
 *
 * DWARF 5 (7.5.1.2): version 5, unit type DW_UT_split_compile, dwo_id in the unit header. GCC's and clang's DWARF 4:
 * the attribute DW_AT_GNU_dwo_id of the unit's first entry. A package: the hash table of .debug_cu_index (DWARF 5,
 * 7.3.5.3; its version 2 is GNU's and differs only in a wider version field). */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/cursor.h"
#include "dwarf/scan/raw.h"
#include "dwarf/symstore/store_file.h"

enum { HEAD = 2048, MAX_ABBREVS = 4096 };

size_t xc_store_read_section(const struct xc_store_reader *file, const struct xc_store_section *section, uint64_t at,
			     void *buf, size_t len)
{
	if (at >= section->size || section->offset > UINT64_MAX - at)
		return 0;
	uint64_t left = section->size - at;
	return xc_store_read(file, section->offset + at, buf, left < len ? (size_t)left : len);
}

/* ---- one unit of .debug_info.dwo ---- */

struct unit {
	uint64_t end; /* in its section */
	unsigned version, type, address_size;
	uint64_t abbrevs;
	bool wide; /* 64-bit DWARF */
};

static struct xc_error *read_header(struct xc_cursor *c, uint64_t at, struct unit *u)
{
	struct xc_error *err;
	uint64_t length, version, type = DW_UT_compile, address_size = 0;
	if ((err = xc_cursor_uint(c, 4, &length)))
		return err;
	*u = (struct unit){.wide = length == UINT32_MAX};
	if (u->wide && (err = xc_cursor_uint(c, 8, &length)))
		return err;
	uint64_t head = u->wide ? 12 : 4;
	u->end = length <= UINT64_MAX - at - head ? at + head + length : UINT64_MAX;
	if ((err = xc_cursor_uint(c, 2, &version)))
		return err;
	if (version >= 5 && ((err = xc_cursor_uint(c, 1, &type)) || (err = xc_cursor_uint(c, 1, &address_size))))
		return err;
	if ((err = xc_cursor_uint(c, u->wide ? 8 : 4, &u->abbrevs)))
		return err;
	if (version < 5 && (err = xc_cursor_uint(c, 1, &address_size)))
		return err;
	u->version = (unsigned)version;
	u->type = (unsigned)type;
	u->address_size = (unsigned)address_size;
	return NULL;
}

/* Find the declaration of `code`; leaves the cursor at its attributes. */
static struct xc_error *find_abbrev(struct xc_cursor *c, uint64_t code)
{
	uint64_t at, tag, name, form;
	struct xc_error *err;
	for (unsigned seen = 0; seen < MAX_ABBREVS; seen++) {
		if ((err = xc_cursor_uleb(c, &at)) || (err = xc_cursor_uleb(c, &tag)) || (err = xc_cursor_skip(c, 1)))
			return err;
		if (at == code)
			return NULL;
		do {
			if ((err = xc_cursor_uleb(c, &name)) || (err = xc_cursor_uleb(c, &form)))
				return err;
		} while (name || form);
	}
	return xc_error_new(XC_ERR_LIMIT, "too many abbreviations");
}

/* Walk the attributes of the first entry up to the id. */
static struct xc_error *id_of_entry(struct xc_cursor *entry, struct xc_cursor *abbrevs, const struct unit *u,
				    uint64_t *id_out)
{
	const struct xc_raw_unit unit = {.version = (uint8_t)u->version,
					 .address_size = (uint8_t)u->address_size,
					 .offset_size = u->wide ? 8 : 4};
	struct xc_raw_attribute a;
	uint64_t code;
	struct xc_error *err;
	if ((err = xc_cursor_uleb(entry, &code)) || (err = find_abbrev(abbrevs, code)))
		return err;
	while (xc_raw_attribute_next(&unit, abbrevs, entry, &a))
		if (a.name == DW_AT_GNU_dwo_id && a.form == DW_FORM_data8) {
			*id_out = xc_load_uint(a.value, 8, entry->big_endian);
			return NULL;
		}
	return xc_error_new(XC_ERR_NOT_FOUND, "no id");
}

/* The id of the unit that starts with these bytes; *next_out is the start of the next unit. */
static struct xc_error *unit_id(const struct xc_store_reader *file, const struct xc_store_section *abbrevs,
				struct xc_cursor *c, uint64_t at, uint64_t *next_out, uint64_t *id_out)
{
	struct unit u;
	struct xc_error *err = read_header(c, at, &u);
	if (err)
		return err;
	*next_out = u.end;
	if (u.version >= 5)
		return u.type == DW_UT_split_compile ? xc_cursor_uint(c, 8, id_out)
						     : xc_error_new(XC_ERR_NOT_FOUND, "not a split unit");
	uint8_t bytes[HEAD];
	size_t got = abbrevs ? xc_store_read_section(file, abbrevs, u.abbrevs, bytes, sizeof bytes) : 0;
	struct xc_cursor table = xc_cursor(bytes, got, ".debug_abbrev.dwo");
	return id_of_entry(c, &table, &u, id_out);
}

struct ids {
	uint64_t *items;
	size_t count, capacity;
	unsigned units; /* looked at so far */
};

static void add_id(struct ids *ids, uint64_t id)
{
	ids->items = xc_grow(ids->items, ids->count, &ids->capacity, sizeof *ids->items);
	ids->items[ids->count++] = id;
}

static size_t take_ids(struct ids *ids, struct xc_arena *arena, uint64_t **ids_out)
{
	*ids_out = xc_arena_alloc(arena, ids->count * sizeof *ids->items);
	if (ids->count)
		memcpy(*ids_out, ids->items, ids->count * sizeof *ids->items);
	free(ids->items);
	return ids->count;
}

static void read_units(const struct xc_store_reader *file, const struct xc_store_section *info,
		       const struct xc_store_section *abbrevs, struct ids *ids)
{
	uint8_t bytes[HEAD];
	size_t got;
	for (uint64_t at = 0, next; ids->units++ < XC_STORE_MAX_UNITS; at = next) {
		if (!(got = xc_store_read_section(file, info, at, bytes, sizeof bytes)))
			break;
		struct xc_cursor c = xc_cursor(bytes, got, ".debug_info.dwo");
		c.big_endian = file->big_endian;
		uint64_t id = 0;
		next = 0;
		struct xc_error *err = unit_id(file, abbrevs, &c, at, &next, &id);
		if (!err)
			add_id(ids, id);
		xc_error_free(err);
		if (next <= at)
			break;
	}
}

size_t xc_store_dwo_units(const struct xc_store_reader *file, const struct xc_store_section *infos, size_t count,
			  const struct xc_store_section *abbrevs, struct xc_arena *arena, uint64_t **ids_out)
{
	struct ids ids = {.count = 0};
	for (size_t i = 0; i < count; i++)
		read_units(file, &infos[i], abbrevs, &ids);
	return take_ids(&ids, arena, ids_out);
}

/* ---- packages ---- */

size_t xc_store_dwp_units(const struct xc_store_reader *file, const struct xc_store_section *index,
			  struct xc_arena *arena, uint64_t **ids_out)
{
	uint8_t head[16], row[4096];
	struct ids ids = {.count = 0};
	size_t got = 0;
	if (xc_store_read_section(file, index, 0, head, sizeof head) == sizeof head)
		got = sizeof row;
	uint64_t slots = got ? xc_load_uint(head + 12, 4, file->big_endian) : 0;
	slots = slots < XC_STORE_MAX_UNITS ? slots : XC_STORE_MAX_UNITS;
	for (uint64_t done = 0; done < slots && got >= 8; done += got / 8) {
		uint64_t want = (slots - done) * 8;
		got = xc_store_read_section(file, index, sizeof head + done * 8, row,
					    want < sizeof row ? (size_t)want : sizeof row);
		for (size_t i = 0; i + 8 <= got; i += 8) {
			uint64_t id = xc_load_uint(row + i, 8, file->big_endian);
			if (id) /* else an empty slot */
				add_id(&ids, id);
		}
	}
	return take_ids(&ids, arena, ids_out);
}
