/* split_file: a .dwo consists of the .dwo sections of one object file, with any number of .debug_info.dwo and
 * .debug_types.dwo. A .dwp holds those of many object files end to end, with an index of their contributions (DWARF
 * 5, 7.3.5). */
#include "dwarf/split/split_file.h"

#include <dwarf.h>
#include <elf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/elf/budget.h"
#include "dwarf/elf/section.h"

/* DW_SECT_… of a .dwp: DWARF 5, table 7.1; GNU's version 2, gcc wiki "DebugFissionDWP". */
enum {
	SECT_INFO = 1,
	SECT_TYPES = 2,
	SECT_ABBREV = 3,
	SECT_LINE = 4,
	SECT_LOC = 5, /* .debug_loc in version 2, .debug_loclists in 5 */
	SECT_STR_OFFSETS = 6,
	SECT_RNGLISTS = 8, /* in version 5 */
};

static const char *const NAMES[XC_SPLIT_SECTIONS] = {
	[XC_SPLIT_ABBREV] = ".debug_abbrev.dwo",           [XC_SPLIT_STR] = ".debug_str.dwo",
	[XC_SPLIT_STR_OFFSETS] = ".debug_str_offsets.dwo", [XC_SPLIT_LINE] = ".debug_line.dwo",
	[XC_SPLIT_LINE_STR] = ".debug_line_str.dwo",       [XC_SPLIT_LOC] = ".debug_loc.dwo",
	[XC_SPLIT_LOCLISTS] = ".debug_loclists.dwo",       [XC_SPLIT_RNGLISTS] = ".debug_rnglists.dwo",
};

/* ---- sections ---- */

static bool is_unit(const struct xc_raw_unit *u)
{
	return u->type == DW_UT_split_compile || u->type == DW_UT_compile;
}

/* Does a section hold a unit that is not a type unit? */
static bool holds_unit(struct xc_cursor info)
{
	struct xc_raw_unit u;
	for (; xc_budget_spend(1); info.at += u.size) {
		bool known = xc_raw_unit_at(info, false, &u);
		if (known && is_unit(&u))
			return true;
		if (u.size == 0)
			break;
	}
	return false;
}

/* References by offset in .debug_info count from the section with the unit, so that section comes first. */
static void add_info(struct xc_split_file *f, struct xc_cursor section, bool types)
{
	f->infos = xc_grow(f->infos, f->info_count, &f->info_capacity, sizeof *f->infos);
	f->infos_types = xc_grow(f->infos_types, f->info_count, &f->types_capacity, sizeof *f->infos_types);
	size_t at = f->info_count++;
	if (!types && at > 0 && holds_unit(section)) {
		f->infos[at] = f->infos[0];
		f->infos_types[at] = f->infos_types[0];
		at = 0;
	}
	f->infos[at] = section;
	f->infos_types[at] = types;
}

static void add_section(struct xc_split_file *f, const char *name, Elf_Scn *scn)
{
	Elf_Data *data = elf_rawdata(scn, NULL);
	if (!data || !data->d_buf || !data->d_size)
		return;
	if (!strcmp(name, ".debug_info.dwo") || !strcmp(name, ".debug_types.dwo"))
		add_info(f, xc_cursor(data->d_buf, data->d_size, ".debug_info"), name[7] == 't');
	for (size_t i = 0; i < XC_SPLIT_SECTIONS; i++)
		if (!strcmp(name, NAMES[i]) && !xc_cursor_left(&f->sections[i]))
			f->sections[i] = xc_cursor(data->d_buf, data->d_size, NAMES[i]);
	bool units = !strcmp(name, ".debug_cu_index"), types = !strcmp(name, ".debug_tu_index");
	if (units || types) {
		f->package = true;
		xc_split_index_read(xc_cursor(data->d_buf, data->d_size, name), units ? &f->units : &f->types);
	}
}

static struct xc_error *read_sections(struct xc_split_file *f, Elf *elf)
{
	struct xc_section_walk w;
	const char *ident = elf_getident(elf, NULL);
	if (!ident || ident[EI_DATA] != ELFDATA2LSB)
		return xc_error_new(XC_ERR_UNSUPPORTED, "split debug information of a big-endian machine");
	if (!xc_section_walk_begin(&w, elf))
		return xc_error_new(XC_ERR_FORMAT, "no section names");
	for (size_t i = 0; i < XC_SPLIT_SECTIONS; i++)
		f->sections[i] = xc_cursor("", 0, NAMES[i]);
	while (xc_section_walk_next(&w))
		if (w.header.sh_type != SHT_NOBITS && !(w.header.sh_flags & SHF_COMPRESSED))
			add_section(f, w.name, w.section);
	return f->info_count ? NULL : xc_error_new(XC_ERR_FORMAT, "no split debug information in it");
}

struct xc_error *xc_split_file_open(struct xc_source *source, const char *cache_dir, struct xc_split_file **file_out)
{
	Elf *elf = NULL;
	struct xc_split_file *f = xc_alloc(sizeof *f);
	struct xc_error *err =
		xc_elffile_open(&f->elf, source, true) ? NULL : xc_error_new(XC_ERR_FORMAT, "not an ELF file");
	if (!err)
		err = xc_elffile_plain(&f->elf, cache_dir, &elf);
	if (!err)
		err = elf ? read_sections(f, elf) : xc_error_new(XC_ERR_FORMAT, "not an ELF file");
	if (err)
		xc_split_file_close(f);
	else
		*file_out = f;
	return err;
}

void xc_split_file_close(struct xc_split_file *f)
{
	if (!f)
		return;
	xc_elffile_close(&f->elf);
	free(f->infos);
	free(f->infos_types);
	free(f);
}

/* ---- pieces ---- */

static bool each_in(const struct xc_split_file *f, size_t info, xc_split_piece_fn *each, void *context)
{
	struct xc_split_piece piece = {.types = f->infos_types[info]};
	struct xc_cursor at = f->infos[info];
	struct xc_raw_unit u;
	memcpy(piece.sections, f->sections, sizeof piece.sections);
	for (; xc_budget_spend(1); at.at += u.size) {
		bool known = xc_raw_unit_at(at, piece.types, &u);
		if (u.size == 0)
			break;
		piece.info = at;
		piece.info.end = at.at + u.size;
		if (known && !each(context, &piece, &u))
			return false;
	}
	return true;
}

void xc_split_file_each(const struct xc_split_file *f, xc_split_piece_fn *each, void *context)
{
	bool more = true;
	for (size_t i = 0; more && i < f->info_count; i++)
		more = each_in(f, i, each, context);
}

/* The part of a section that a row refers to; empty when the column is absent. */
static bool part_of(const struct xc_split_index *x, uint32_t row, uint32_t section, struct xc_cursor *part)
{
	uint64_t offset, size;
	if (!xc_split_index_part(x, row, section, &offset, &size)) {
		part->end = part->at;
		return true;
	}
	if (offset > xc_cursor_left(part) || size > xc_cursor_left(part) - offset)
		return false;
	part->at += offset;
	part->end = part->at + size;
	return true;
}

static const struct xc_cursor *section_of(const struct xc_split_file *f, bool types)
{
	for (size_t i = 0; i < f->info_count; i++)
		if (f->infos_types[i] == types)
			return &f->infos[i];
	return NULL;
}

bool xc_split_file_find(const struct xc_split_file *f, bool type, uint64_t id, struct xc_split_piece *p)
{
	const struct xc_split_index *x = type ? &f->types : &f->units;
	uint32_t row = xc_split_index_find(x, id);
	bool types = type && x->version == 2; /* .debug_types.dwo has its own column there */
	const struct xc_cursor *info = row ? section_of(f, types) : NULL;
	if (!info)
		return false;
	*p = (struct xc_split_piece){.info = *info, .types = types};
	memcpy(p->sections, f->sections, sizeof p->sections);
	uint32_t loc = x->version == 2 ? XC_SPLIT_LOC : XC_SPLIT_LOCLISTS;
	return part_of(x, row, types ? SECT_TYPES : SECT_INFO, &p->info) &&
	       part_of(x, row, SECT_ABBREV, &p->sections[XC_SPLIT_ABBREV]) &&
	       part_of(x, row, SECT_LINE, &p->sections[XC_SPLIT_LINE]) &&
	       part_of(x, row, SECT_LOC, &p->sections[loc]) &&
	       part_of(x, row, SECT_STR_OFFSETS, &p->sections[XC_SPLIT_STR_OFFSETS]) &&
	       (x->version == 2 || part_of(x, row, SECT_RNGLISTS, &p->sections[XC_SPLIT_RNGLISTS]));
}

bool xc_split_piece_id(const struct xc_split_piece *p, const struct xc_raw_unit *u, uint64_t *id_out)
{
	struct xc_cursor entry = p->info, table = p->sections[XC_SPLIT_ABBREV];
	struct xc_raw_attribute a;
	struct xc_raw_abbrev abbrev;
	*id_out = u->id;
	if (u->version >= 5)
		return u->type == DW_UT_split_compile;
	if (u->type != DW_UT_compile || !xc_raw_unit_entry(u, &entry, &table, &abbrev))
		return false;
	while (xc_raw_attribute_next(u, &abbrev.attributes, &entry, &a))
		if (a.name == DW_AT_GNU_dwo_id)
			return a.form == DW_FORM_data8 && xc_raw_number(&a, id_out);
	return false;
}
