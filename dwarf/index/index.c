/* index: the input of an index, and the file in which it is kept. The format is read by index_table.c. */
#include "dwarf/index/index.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/progress.h"
#include "core/cache/cache.h"
#include "core/cache/cachedir.h"
#include "dwarf/index/accel.h"
#include "dwarf/index/index_build.h"
#include "dwarf/index/index_key.h"
#include "dwarf/index/index_macro.h"
#include "dwarf/elf/section.h"
#include "dwarf/split/split.h"

enum {
	FIXED_SPACES = XC_INDEX_SPLIT,
	WORTH_IT = 8, /* scan part of the units only when all together are this many times larger */
};

/* A split unit whose strings were needed. */
struct split_space {
	struct split_space *next;
	struct xc_index_part part;
	struct xc_die_scan_space space; /* empty when its file is gone */
};

struct xc_index {
	const struct xc_process *process;
	struct xc_module *module;
	const struct xc_elffile *file;
	struct xc_die_scan_space spaces[FIXED_SPACES];
	struct split_space *splits; /* those needed for names */
	struct xc_cache cache;
	struct xc_index_basis basis;
	struct xc_index_name name; /* empty: nothing is kept */
	struct xc_keyed_hash hash; /* with the cache's secret, if basis has it */
	struct xc_source *kept;    /* NULL: built in this run */
	void *built;
	struct xc_index_table table;
	struct xc_accel *accel; /* NULL: none, or not opened yet */
	bool accel_tried;
};

/* ---- input ---- */

static struct xc_die_scan_space space_of(Elf *elf, const char *info)
{
	return (struct xc_die_scan_space){.info = xc_section_cursor(elf, info),
					  .abbrev = xc_section_cursor(elf, ".debug_abbrev"),
					  .str = xc_section_cursor(elf, ".debug_str"),
					  .line_str = xc_section_cursor(elf, ".debug_line_str"),
					  .str_offsets = xc_section_cursor(elf, ".debug_str_offsets"),
					  .alt_str = xc_cursor("", 0, ".debug_str"),
					  .alt_info = xc_cursor("", 0, ".debug_info"),
					  .macro = xc_cursor("", 0, ".debug_macro")};
}

static void find_spaces(struct xc_index *index, Dwarf *dwarf)
{
	Elf *elf = dwarf_getelf(dwarf);
	Dwarf *alternate = dwarf_getalt(dwarf);
	index->spaces[XC_INDEX_MAIN] = space_of(elf, ".debug_info");
	index->spaces[XC_INDEX_TYPES] = space_of(elf, ".debug_types");
	index->spaces[XC_INDEX_TYPES].types = true;
	if (alternate)
		index->spaces[XC_INDEX_ALT] = space_of(dwarf_getelf(alternate), ".debug_info");
	for (size_t i = 0; i < XC_INDEX_ALT && alternate; i++) {
		index->spaces[i].alt_str = index->spaces[XC_INDEX_ALT].str;
		index->spaces[i].alt_info = index->spaces[XC_INDEX_ALT].info;
	}
	index->spaces[XC_INDEX_MACRO] = index->spaces[XC_INDEX_MAIN];
	index->spaces[XC_INDEX_MACRO].info = xc_cursor("", 0, ".debug_info");
	index->spaces[XC_INDEX_MACRO].macro = xc_section_cursor(elf, ".debug_macro");
	index->spaces[XC_INDEX_MAIN].macro = index->spaces[XC_INDEX_MACRO].macro;
}

/* ---- split units ---- */

static struct xc_die_scan_space space_of_part(const struct xc_split_part *part)
{
	return (struct xc_die_scan_space){.info = part->info,
					  .abbrev = part->abbrev,
					  .str = part->str,
					  .line_str = part->line_str,
					  .str_offsets = part->str_offsets,
					  .alt_str = xc_cursor("", 0, ".debug_str"),
					  .alt_info = xc_cursor("", 0, ".debug_info"),
					  .macro = xc_cursor("", 0, ".debug_macro"),
					  .types = part->types,
					  .split = true};
}

/* Everything that is scanned: the fixed spaces, then a space for each split unit. */
struct scanned {
	struct xc_die_scan_space *spaces;
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

static const struct xc_die_scan_space *split_space(struct xc_index *index, const struct xc_index_unit *unit)
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

/* Was it last checked against this same inode? */
static bool was_seen(const struct xc_index *index, const struct xc_source *s)
{
	struct xc_index_seen now;
	return xc_index_seen_of(&index->basis, &now) && s->size >= XC_INDEX_SEEN_AT + sizeof now &&
	       !memcmp(s->bytes + XC_INDEX_SEEN_AT, &now, sizeof now);
}

static void remember_seen(const struct xc_index *index)
{
	struct xc_index_seen now;
	if (xc_index_seen_of(&index->basis, &now))
		xc_cache_patch(&index->cache, index->name.text, XC_INDEX_SEEN_AT, &now, sizeof now);
}

/* make: also make the secret when there is none. */
static void read_secret(struct xc_index *index, bool make)
{
	uint8_t secret[XC_KEYED_HASH_SECRET];
	if (index->basis.hash || !xc_cachedir_secret(index->cache.dir, make, secret))
		return;
	xc_keyed_hash_init(&index->hash, secret);
	index->basis.hash = &index->hash;
}

/* The same program may have other split units in another pack. */
static bool is_keepable(const struct xc_index *index)
{
	return !index->basis.packed || !index->basis.split;
}

static bool open_kept(struct xc_index *index)
{
	uint8_t key[XC_INDEX_KEY];
	const bool packed = index->basis.packed;
	if (!is_keepable(index))
		return false;
	if (packed)
		read_secret(index, false);
	bool keyed = packed && xc_index_make_key(&index->basis, key);
	index->name = xc_index_name_of(&index->basis, keyed ? key : NULL);
	xc_auto(xc_source_closep) struct xc_source *s =
		index->name.text[0] ? xc_cache_get(&index->cache, index->name.text) : NULL;
	if (!s || s->size < XC_INDEX_PAGE)
		return false;
	const bool seen = was_seen(index, s);
	if (!seen && !keyed) {
		read_secret(index, false);
		keyed = xc_index_make_key(&index->basis, key);
	}
	if (!seen && !keyed)
		return false;
	if (!xc_index_table_open(&index->table, s->bytes, s->size, seen ? NULL : key))
		return false;
	index->kept = xc_take(s);
	if (!seen)
		remember_seen(index);
	return true;
}

static void keep(const struct xc_index *index, size_t size)
{
	struct xc_index_seen seen;
	uint8_t *bytes = index->built;
	if (xc_index_seen_of(&index->basis, &seen))
		memcpy(bytes + XC_INDEX_SEEN_AT, &seen, sizeof seen);
	const struct xc_cache_piece piece = {bytes, size};
	xc_cache_put(&index->cache, index->name.text, &piece, 1);
}

/* Does the file refer to a dwz file that was not found? */
static bool lacks_alternate(const struct xc_index *index)
{
	Elf *elf = index->file->elf;
	bool wanted = xc_elffile_section(elf, ".gnu_debugaltlink") || xc_elffile_section(elf, ".debug_sup");
	return wanted && !xc_debugfile_alternate(index->module->debug);
}

/* Is all that was read what the key was made of? Its owner may have written to it meanwhile. */
static bool is_unchanged(const struct xc_index *index, const uint8_t key[XC_INDEX_KEY])
{
	uint8_t now[XC_INDEX_KEY];
	return xc_index_make_key(&index->basis, now) && !memcmp(now, key, XC_INDEX_KEY);
}

static void build(struct xc_index *index)
{
	uint8_t key[XC_INDEX_KEY] = {0};
	size_t size;
	read_secret(index, true);
	const bool keyed = is_keepable(index) && xc_index_make_key(&index->basis, key);
	if (keyed && !index->name.text[0])
		index->name = xc_index_name_of(&index->basis, key);
	const struct xc_finder *finder = xc_debugfile_finder(index->module->debug);
	xc_auto(xc_freep) char *what = xc_asprintf("indexing %s", index->module->name);
	struct xc_progress progress = xc_progress_start(what, !finder || finder->quiet);
	struct scanned scanned = list_spaces(index);
	const struct xc_index_input input = {.spaces = scanned.spaces,
					     .space_count = scanned.count,
					     .parts = scanned.parts,
					     .jobs = finder ? finder->jobs : 0,
					     .progress = &progress};
	index->built = xc_index_build(&input, key, &size);
	xc_progress_end(&progress);
	free(scanned.spaces);
	free(scanned.parts);
	if (!index->built)
		return;
	xc_index_table_built(&index->table, index->built);
	if (!keyed || scanned.missing || lacks_alternate(index))
		return; /* a file that is found later would not be scanned */
	if (is_unchanged(index, key))
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
	const struct xc_source *alternate = xc_debugfile_alternate(df);
	index->basis = (struct xc_index_basis){.file = index->file,
					       .alternate = alternate ? dwarf_getelf(dwarf_getalt(dwarf)) : NULL,
					       .alternate_source = alternate,
					       .finder = finder,
					       .packed = process->archive != NULL,
					       .split = xc_debugfile_split(df) != NULL};
	find_spaces(index, dwarf);
	open_kept(index);
	return index;
}

bool xc_index_ready(const struct xc_index *index)
{
	return index->table.bytes != NULL;
}

static void drop(struct xc_index *index)
{
	xc_source_close(index->kept);
	free(index->built);
	xc_index_table_fini(&index->table);
	index->kept = NULL;
	index->built = NULL;
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
	build(index);
}

/* ---- a part of it ---- */

static uint64_t size_of_units(const struct xc_die_scan_space *space, const struct xc_accel_units *units)
{
	uint64_t total = 0;
	for (size_t i = 0; i < units->count; i++) {
		struct xc_die_scan_unit unit;
		uint64_t offset = units->offsets[i];
		total += xc_die_scan_next_unit(space, &offset, &unit) ? unit.size : 0;
	}
	return total;
}

struct xc_index *xc_index_partial(struct xc_index *index, const char *name, const char *last, size_t last_len)
{
	struct xc_die_scan_space *space = &index->spaces[XC_INDEX_MAIN];
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
	if (part->built) {
		xc_index_table_built(&part->table, part->built);
		return part;
	}
	xc_index_close(part);
	return NULL;
}

/* ---- reading ---- */

struct xc_index_table *xc_index_table(struct xc_index *index)
{
	return &index->table;
}

const char *xc_index_name(struct xc_index *index, const struct xc_index_entry *entry, size_t *len_out)
{
	struct xc_index_unit unit;
	struct xc_die_scan_string string = {.where = entry->flags >> 4,
					    .offset = (uint64_t)entry->name_high << 32 | entry->name_low};
	if (!string.where || !xc_index_table_unit(&index->table, entry->unit, &unit) || unit.space > XC_INDEX_SPLIT)
		return NULL;
	const struct xc_die_scan_space *space =
		unit.space == XC_INDEX_SPLIT ? split_space(index, &unit) : &index->spaces[unit.space];
	const char *text = xc_die_scan_text(space, string, len_out);
	if (text && entry->tag == XC_INDEX_MACRO_TAG)
		*len_out = strcspn(text, " ");
	return text;
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
	case XC_INDEX_MACRO_TAG:
		return XC_NAME_MACRO;
	default:
		return XC_NAME_TYPE;
	}
}
