/* index: the kept file, page by page.
 *
 * Opening reads the header and the sums and compares the key; a look-up then touches a page of buckets, one of entries
 * and one of units. A bit that flipped on the disk is found by the sum of its page before the page is believed. */
#include "index.h"

#include <dwarf.h>
#include <isa-l/crc.h>
#include <stdlib.h>
#include <string.h>

#include "../core/cache.h"
#include "../core/progress.h"
#include "accel.h"
#include "index_build.h"
#include "index_key.h"
#include "lookup.h"
#include "section.h"
#include "split.h"

enum {
	FIXED_SPACES = XC_INDEX_SPLIT,
	WORTH_IT = 8, /* a part of the units is scanned when it is smaller by this */
};

/* A split unit whose strings were asked for. */
struct split_space {
	struct split_space *next;
	struct xc_index_part part;
	struct xc_skim_space space; /* empty when its file is gone */
};

struct xc_index {
	const struct xc_process *process;
	struct xc_module *module;
	const struct xc_elffile *file;
	struct xc_skim_space spaces[FIXED_SPACES];
	struct split_space *splits; /* asked for by name */
	struct xc_cache cache;
	struct xc_index_name name;
	struct xc_source *kept; /* NULL: built in this run */
	void *built;
	const uint8_t *bytes;
	struct xc_index_header header;
	uint8_t *checked; /* a bit per page; NULL for what we built ourselves */
	bool damaged;
	struct xc_accel *accel; /* NULL: none, or not asked for yet */
	bool accel_tried;
};

/* ---- what is scanned ---- */

static struct xc_skim_space space_of(Elf *elf, const char *info)
{
	return (struct xc_skim_space){.info = xc_section_cursor(elf, info),
				      .abbrev = xc_section_cursor(elf, ".debug_abbrev"),
				      .str = xc_section_cursor(elf, ".debug_str"),
				      .line_str = xc_section_cursor(elf, ".debug_line_str"),
				      .str_offsets = xc_section_cursor(elf, ".debug_str_offsets"),
				      .alt_str = xc_cursor("", 0, ".debug_str")};
}

static void find_spaces(struct xc_index *index, Dwarf *dwarf)
{
	Elf *elf = dwarf_getelf(dwarf);
	Dwarf *alternate = dwarf_getalt(dwarf);
	index->spaces[XC_INDEX_MAIN] = space_of(elf, ".debug_info");
	index->spaces[XC_INDEX_TYPES] = space_of(elf, ".debug_types");
	index->spaces[XC_INDEX_TYPES].types = true;
	if (!alternate)
		return;
	index->spaces[XC_INDEX_ALT] = space_of(dwarf_getelf(alternate), ".debug_info");
	for (size_t i = 0; i < XC_INDEX_ALT; i++)
		index->spaces[i].alt_str = index->spaces[XC_INDEX_ALT].str;
}

/* ---- split units ---- */

static struct xc_skim_space space_of_part(const struct xc_split_part *part)
{
	return (struct xc_skim_space){.info = part->info,
				      .abbrev = part->abbrev,
				      .str = part->str,
				      .line_str = part->line_str,
				      .str_offsets = part->str_offsets,
				      .alt_str = xc_cursor("", 0, ".debug_str"),
				      .types = part->types,
				      .split = true};
}

/* All that is scanned: the fixed spaces, then a space for each split unit. */
struct scanned {
	struct xc_skim_space *spaces;
	struct xc_index_part *parts;
	size_t count, capacity, part_count, part_capacity, missing;
};

static bool add_part(void *context, const struct xc_split_part *part)
{
	struct scanned *s = context;
	s->spaces = xc_grow(s->spaces, s->count, &s->capacity, sizeof *s->spaces);
	s->spaces[s->count++] = space_of_part(part);
	s->parts = xc_grow(s->parts, s->part_count, &s->part_capacity, sizeof *s->parts);
	s->parts[s->part_count++] = (struct xc_index_part){part->skeleton, part->signature};
	return true;
}

static struct scanned list_spaces(const struct xc_index *index)
{
	struct scanned s = {.count = FIXED_SPACES, .capacity = FIXED_SPACES};
	struct xc_split *split = xc_debugfile_split(index->module->debug);
	s.spaces = xc_alloc(sizeof index->spaces);
	memcpy(s.spaces, index->spaces, sizeof index->spaces);
	if (split)
		xc_split_each(split, add_part, &s, &s.missing);
	return s;
}

static const struct xc_skim_space *split_space(struct xc_index *index, const struct xc_index_unit *unit)
{
	struct xc_split_part part;
	struct split_space *s = index->splits;
	while (s && (s->part.skeleton != unit->offset || s->part.signature != unit->signature))
		s = s->next;
	if (!s) {
		struct xc_split *split = xc_debugfile_split(index->module->debug);
		s = xc_alloc(sizeof *s);
		s->part = (struct xc_index_part){unit->offset, unit->signature};
		if (split && xc_split_part_of(split, unit->offset, unit->signature, &part))
			s->space = space_of_part(&part);
		s->next = index->splits;
		index->splits = s;
	}
	return &s->space;
}

/* ---- the kept file ---- */

/* A part of `count` items of `size` bytes that ends before the sums and starts on a page. */
static bool part_fits(const struct xc_index_header *h, uint64_t at, uint64_t count, uint64_t size)
{
	return at >= XC_INDEX_PAGE && at % XC_INDEX_PAGE == 0 && at <= h->sums_at && count <= (h->sums_at - at) / size;
}

static bool header_is_sound(const struct xc_index_header *h, const struct xc_source *s, const uint8_t *key)
{
	uint32_t crc = crc32_iscsi((unsigned char *)(uintptr_t)h, (int)offsetof(struct xc_index_header, header_crc), 0);
	return !memcmp(h->magic, "XCINDEX", sizeof h->magic) && h->version == XC_INDEX_VERSION &&
	       h->order == XC_INDEX_ORDER && h->header_crc == crc && h->size == s->size &&
	       (!key || !memcmp(h->key, key, XC_INDEX_KEY)) && h->bucket_bits > 0 && h->bucket_bits < 32 &&
	       h->sums_at <= h->size && h->sums_at == (h->page_count + UINT64_C(1)) * XC_INDEX_PAGE &&
	       h->page_count <= INT32_MAX / sizeof(uint32_t) &&
	       h->page_count * sizeof(uint32_t) == h->size - h->sums_at &&
	       part_fits(h, h->units_at, h->unit_count, sizeof(struct xc_index_unit)) &&
	       part_fits(h, h->buckets_at, (UINT64_C(1) << h->bucket_bits) + 1, sizeof(uint32_t)) &&
	       part_fits(h, h->entries_at, h->entry_count, sizeof(struct xc_index_entry));
}

static bool sums_are_sound(const struct xc_index_header *h, const uint8_t *bytes)
{
	return h->sums_crc == crc32_iscsi((unsigned char *)(uintptr_t)(bytes + h->sums_at),
					  (int)(h->page_count * sizeof(uint32_t)), 0);
}

/* Was it last checked against this very inode? */
static bool was_seen(const struct xc_index *index, const struct xc_source *s)
{
	struct xc_index_seen now;
	return xc_index_seen_of(index->file, &now) && s->size >= XC_INDEX_SEEN_AT + sizeof now &&
	       !memcmp(s->bytes + XC_INDEX_SEEN_AT, &now, sizeof now);
}

static void remember_seen(const struct xc_index *index)
{
	struct xc_index_seen now;
	if (xc_index_seen_of(index->file, &now))
		xc_cache_patch(&index->cache, index->name.text, XC_INDEX_SEEN_AT, &now, sizeof now);
}

static bool open_kept(struct xc_index *index)
{
	uint8_t key[XC_INDEX_KEY];
	bool named = xc_elffile_build_id(index->file->elf).size > 0;
	if (!named)
		xc_index_make_key(index->file, key);
	index->name = xc_index_name_of(index->file, key);
	xc_auto(xc_source_closep) struct xc_source *s = xc_cache_get(&index->cache, index->name.text);
	if (!s || s->size < XC_INDEX_PAGE)
		return false;
	memcpy(&index->header, s->bytes, sizeof index->header);
	bool seen = was_seen(index, s);
	if (named && !seen)
		xc_index_make_key(index->file, key);
	if (!header_is_sound(&index->header, s, named && seen ? NULL : key) ||
	    !sums_are_sound(&index->header, s->bytes))
		return false;
	index->checked = xc_alloc(index->header.page_count / 8 + 1);
	index->kept = xc_take(s);
	index->bytes = index->kept->bytes;
	if (!seen)
		remember_seen(index);
	return true;
}

static void keep(const struct xc_index *index, size_t size)
{
	struct xc_index_seen seen;
	uint8_t *bytes = index->built;
	if (xc_index_seen_of(index->file, &seen))
		memcpy(bytes + XC_INDEX_SEEN_AT, &seen, sizeof seen);
	const struct xc_cache_piece piece = {bytes, size};
	xc_cache_put(&index->cache, index->name.text, &piece, 1);
}

static void build(struct xc_index *index)
{
	uint8_t key[XC_INDEX_KEY];
	size_t size;
	const struct xc_finder *finder = xc_debugfile_finder(index->module->debug);
	xc_auto(xc_freep) char *what = xc_asprintf("indexing %s", index->module->name);
	struct xc_progress progress = xc_progress_start(what, !finder || finder->quiet);
	struct scanned scanned = list_spaces(index);
	const struct xc_index_input input = {.spaces = scanned.spaces,
					     .space_count = scanned.count,
					     .parts = scanned.parts,
					     .jobs = finder ? finder->jobs : 0,
					     .progress = &progress};
	xc_index_make_key(index->file, key);
	index->built = xc_index_build(&input, key, &size);
	xc_progress_end(&progress);
	free(scanned.spaces);
	free(scanned.parts);
	index->bytes = index->built;
	if (!index->built)
		return;
	memcpy(&index->header, index->built, sizeof index->header);
	if (!scanned.missing) /* else a file that is found later would not be looked into */
		keep(index, size);
}

struct xc_index *xc_index_open(const struct xc_process *process, struct xc_module *module)
{
	struct xc_debugfile *df = xc_debugfile_of(process, module);
	Dwarf *dwarf = xc_debugfile_dwarf(df);
	if (!dwarf)
		return NULL;
	const struct xc_finder *finder = xc_debugfile_finder(df);
	struct xc_index *index = xc_alloc(sizeof *index);
	*index = (struct xc_index){.process = process, .module = module, .file = xc_debugfile_dwarf_file(df)};
	index->cache = (struct xc_cache){
		.dir = finder ? finder->cache_dir : NULL, .kind = "index", .capacity = UINT64_C(4) << 30};
	find_spaces(index, dwarf);
	open_kept(index);
	return index;
}

bool xc_index_ready(const struct xc_index *index)
{
	return index->bytes != NULL;
}

static void drop(struct xc_index *index)
{
	xc_source_close(index->kept);
	free(index->built);
	free(index->checked);
	index->kept = NULL;
	index->built = index->checked = NULL;
	index->bytes = NULL;
}

void xc_index_close(struct xc_index *index)
{
	if (!index)
		return;
	drop(index);
	for (struct split_space *s; (s = index->splits); free(s))
		index->splits = s->next;
	xc_accel_close(index->accel);
	free(index);
}

void xc_index_rebuild(struct xc_index *index)
{
	drop(index);
	index->damaged = false;
	build(index);
}

/* ---- a part of it ---- */

static uint64_t size_of_units(const struct xc_skim_space *space, const struct xc_accel_units *units)
{
	uint64_t total = 0;
	for (size_t i = 0; i < units->count; i++) {
		struct xc_skim_unit unit;
		uint64_t offset = units->offsets[i];
		total += xc_skim_next_unit(space, &offset, &unit) ? unit.size : 0;
	}
	return total;
}

struct xc_index *xc_index_partial(struct xc_index *index, const char *name, const char *last, size_t last_len)
{
	struct xc_skim_space *space = &index->spaces[XC_INDEX_MAIN];
	if (!index->accel_tried)
		index->accel = xc_accel_open(dwarf_getelf(xc_debugfile_dwarf(index->module->debug)), space);
	index->accel_tried = true;
	xc_auto(xc_accel_units_fini) struct xc_accel_units units = {0};
	if (!index->accel || !xc_accel_find(index->accel, name, last, last_len, &units) ||
	    size_of_units(space, &units) > xc_cursor_left(&space->info) / WORTH_IT)
		return NULL;
	struct xc_index *part = xc_alloc(sizeof *part);
	size_t size;
	const uint8_t key[XC_INDEX_KEY] = {0};
	const struct xc_index_input input = {.spaces = index->spaces,
					     .space_count = FIXED_SPACES,
					     .only = units.offsets,
					     .only_count = units.count,
					     .jobs = 1};
	*part = (struct xc_index){.process = index->process, .module = index->module, .file = index->file};
	memcpy(part->spaces, index->spaces, sizeof part->spaces);
	part->built = xc_index_build(&input, key, &size);
	part->bytes = part->built;
	if (part->built)
		memcpy(&part->header, part->built, sizeof part->header);
	return part;
}

/* ---- reading ---- */

static bool page_is_sound(struct xc_index *index, uint64_t page)
{
	if (!index->checked || page == 0)
		return true;
	uint64_t bit = page - 1;
	if (index->checked[bit / 8] & 1u << bit % 8)
		return true;
	uint32_t sum;
	memcpy(&sum, index->bytes + index->header.sums_at + bit * sizeof sum, sizeof sum);
	if (crc32_iscsi((unsigned char *)(uintptr_t)(index->bytes + page * XC_INDEX_PAGE), XC_INDEX_PAGE, 0) != sum) {
		index->damaged = true;
		return false;
	}
	index->checked[bit / 8] |= (uint8_t)(1u << bit % 8);
	return true;
}

/* Copy an item of `size` bytes; it may straddle two pages. */
static bool read_item(struct xc_index *index, uint64_t part, uint64_t number, size_t size, void *out)
{
	uint64_t at = part + number * size;
	if (!index->bytes || index->damaged || !page_is_sound(index, at / XC_INDEX_PAGE) ||
	    !page_is_sound(index, (at + size - 1) / XC_INDEX_PAGE))
		return false;
	memcpy(out, index->bytes + at, size);
	return true;
}

size_t xc_index_find(struct xc_index *index, uint32_t hash, uint32_t *first_out)
{
	uint32_t range[2];
	struct xc_index_entry entry;
	if (!index->bytes)
		return 0;
	uint32_t bucket = hash >> (32 - index->header.bucket_bits);
	for (uint32_t i = 0; i < 2; i++)
		if (!read_item(index, index->header.buckets_at, bucket + i, sizeof range[i], &range[i]))
			return 0;
	size_t count = 0;
	for (uint32_t i = range[0]; i < range[1] && xc_index_entry_at(index, i, &entry); i++) {
		if (entry.hash == hash && count++ == 0)
			*first_out = i;
	}
	return count;
}

bool xc_index_entry_at(struct xc_index *index, uint32_t number, struct xc_index_entry *entry_out)
{
	return number < xc_index_count(index) &&
	       read_item(index, index->header.entries_at, number, sizeof *entry_out, entry_out);
}

bool xc_index_unit_at(struct xc_index *index, uint32_t number, struct xc_index_unit *unit_out)
{
	return index->bytes && number < index->header.unit_count &&
	       read_item(index, index->header.units_at, number, sizeof *unit_out, unit_out);
}

bool xc_index_damaged(const struct xc_index *index)
{
	return index->damaged;
}

uint32_t xc_index_count(const struct xc_index *index)
{
	return index->bytes ? index->header.entry_count : 0;
}

const char *xc_index_name(struct xc_index *index, const struct xc_index_entry *entry, size_t *len_out)
{
	struct xc_index_unit unit;
	struct xc_skim_string string = {.where = entry->flags >> 4,
					.offset = (uint64_t)entry->name_high << 32 | entry->name_low};
	if (!string.where || !xc_index_unit_at(index, entry->unit, &unit) || unit.space > XC_INDEX_SPLIT)
		return NULL;
	return xc_skim_text(unit.space == XC_INDEX_SPLIT ? split_space(index, &unit) : &index->spaces[unit.space],
			    string, len_out);
}

unsigned xc_index_kind(const struct xc_index_entry *entry)
{
	switch (entry->tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
		return XC_NAME_NAMESPACE;
	case DW_TAG_subprogram:
		return XC_NAME_FUNCTION;
	case DW_TAG_variable:
	case DW_TAG_constant:
	case DW_TAG_member:
		return XC_NAME_VARIABLE;
	case DW_TAG_enumerator:
		return XC_NAME_ENUMERATOR;
	default:
		return XC_NAME_TYPE;
	}
}
