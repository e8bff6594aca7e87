/* dwarfmake: layouts of DWARF 5 (7.5 units and entries, 7.26 to 7.29 tables) and of earlier versions. */
#include "tests/support/dwarfmake.h"

#include <dwarf.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/scratch.h"

void dm_fini(struct dm *dm)
{
	for (size_t i = 0; i < DM_SECTIONS; i++)
		xc_text_fini(&dm->sections[i]);
}

/* ---- bytes ---- */

size_t dm_at(const struct dm *dm, enum dm_section section)
{
	return dm->sections[section].len;
}

void dm_u(struct dm *dm, enum dm_section section, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		xc_text_char(&dm->sections[section], (char)(i < 8 ? value >> 8 * i : 0));
}

void dm_uleb(struct dm *dm, enum dm_section section, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		dm_u(dm, section, value | 0x80, 1);
	dm_u(dm, section, value, 1);
}

void dm_sleb(struct dm *dm, enum dm_section section, int64_t value)
{
	for (; value < -64 || value > 63; value >>= 7)
		dm_u(dm, section, (uint64_t)value | 0x80, 1);
	dm_u(dm, section, (uint64_t)value & 0x7f, 1);
}

void dm_bytes(struct dm *dm, enum dm_section section, const void *bytes, size_t len)
{
	xc_text_addn(&dm->sections[section], bytes, len);
}

size_t dm_string(struct dm *dm, enum dm_section section, const char *text)
{
	size_t at = dm_at(dm, section);
	dm_bytes(dm, section, text, strlen(text) + 1);
	return at;
}

void dm_patch(struct dm *dm, enum dm_section section, size_t at, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		dm->sections[section].bytes[at + i] = (char)(value >> 8 * i);
}

size_t dm_length_begin(struct dm *dm, enum dm_section section)
{
	size_t begin = dm_at(dm, section);
	if (dm->offset_size == 8)
		dm_u(dm, section, 0xffffffff, 4);
	dm_u(dm, section, 0, dm->offset_size);
	return begin;
}

void dm_length(struct dm *dm, enum dm_section section, size_t begin)
{
	size_t field = dm->offset_size == 8 ? begin + 4 : begin, from = field + dm->offset_size;
	dm_patch(dm, section, field, dm_at(dm, section) - from, dm->offset_size);
}

/* ---- units ---- */

static bool has_id(unsigned type)
{
	return type == DW_UT_skeleton || type == DW_UT_split_compile || type == DW_UT_type || type == DW_UT_split_type;
}

size_t dm_unit(struct dm *dm, const struct dm_unit *u)
{
	unsigned type = u->type ? u->type : DW_UT_compile;
	dm->version = u->version ? u->version : 5;
	dm->offset_size = u->offset_size ? u->offset_size : 4;
	dm->address_size = u->address_size ? u->address_size : 8;
	dm->info = type == DW_UT_type && dm->version < 5 ? DM_TYPES : DM_INFO;
	dm->code = 0;
	dm->open = false;
	dm->unit = dm->length_at = dm_length_begin(dm, dm->info);
	dm_u(dm, dm->info, dm->version, 2);
	if (dm->version >= 5) {
		dm_u(dm, dm->info, type, 1);
		dm_u(dm, dm->info, dm->address_size, 1);
	}
	dm_u(dm, dm->info, dm_at(dm, DM_ABBREV), dm->offset_size);
	if (dm->version < 5)
		dm_u(dm, dm->info, dm->address_size, 1);
	if (dm->version >= 5 ? has_id(type) : dm->info == DM_TYPES)
		dm_u(dm, dm->info, u->id, 8);
	if (type == DW_UT_type || type == DW_UT_split_type)
		dm_u(dm, dm->info, 0, dm->offset_size);
	return dm->unit;
}

void dm_type_offset(struct dm *dm, size_t die)
{
	size_t before = dm->version >= 5 ? 2 + 1 + 1 + dm->offset_size + 8 : 2 + dm->offset_size + 1 + 8;
	size_t length = dm->offset_size == 8 ? 12 : 4;
	dm_patch(dm, dm->info, dm->unit + length + before, die, dm->offset_size);
}

static void close_entry(struct dm *dm)
{
	if (dm->open)
		dm_u(dm, DM_ABBREV, 0, 2);
	dm->open = false;
}

void dm_unit_end(struct dm *dm)
{
	close_entry(dm);
	dm_u(dm, DM_ABBREV, 0, 1);
	dm_length(dm, dm->info, dm->length_at);
}

size_t dm_die(struct dm *dm, unsigned tag, bool children)
{
	size_t at = dm_at(dm, dm->info) - dm->unit;
	close_entry(dm);
	dm_uleb(dm, dm->info, ++dm->code);
	dm_uleb(dm, DM_ABBREV, dm->code);
	dm_uleb(dm, DM_ABBREV, tag);
	dm_u(dm, DM_ABBREV, children, 1);
	dm->open = true;
	return at;
}

void dm_end(struct dm *dm)
{
	close_entry(dm);
	dm_u(dm, dm->info, 0, 1);
}

/* ---- attributes ---- */

void dm_attr(struct dm *dm, unsigned name, unsigned form)
{
	dm_uleb(dm, DM_ABBREV, name);
	dm_uleb(dm, DM_ABBREV, form);
}

void dm_name(struct dm *dm, const char *name)
{
	dm_attr(dm, DW_AT_name, DW_FORM_string);
	dm_string(dm, dm->info, name);
}

/* Size of a form in bytes; 0 for LEB128. */
static size_t size_of(const struct dm *dm, unsigned form)
{
	switch (form) {
	case DW_FORM_data1:
	case DW_FORM_ref1:
	case DW_FORM_flag:
	case DW_FORM_strx1:
	case DW_FORM_addrx1:
		return 1;
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2:
		return 2;
	case DW_FORM_strx3:
	case DW_FORM_addrx3:
		return 3;
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_ref_sup4:
	case DW_FORM_strx4:
	case DW_FORM_addrx4:
		return 4;
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8:
		return 8;
	case DW_FORM_data16:
		return 16;
	case DW_FORM_addr:
		return dm->address_size;
	case DW_FORM_ref_addr:
		return dm->version == 2 ? dm->address_size : dm->offset_size;
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_strp_sup:
	case DW_FORM_sec_offset:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
		return dm->offset_size;
	default:
		return 0;
	}
}

static void put_value(struct dm *dm, unsigned form, uint64_t value)
{
	if (size_of(dm, form))
		dm_u(dm, dm->info, value, size_of(dm, form));
	else if (form == DW_FORM_sdata)
		dm_sleb(dm, dm->info, (int64_t)value);
	else if (form != DW_FORM_flag_present)
		dm_uleb(dm, dm->info, value);
}

void dm_number(struct dm *dm, unsigned name, unsigned form, uint64_t value)
{
	dm_attr(dm, name, form);
	if (form == DW_FORM_implicit_const)
		dm_sleb(dm, DM_ABBREV, (int64_t)value);
	else
		put_value(dm, form, value);
}

void dm_indirect(struct dm *dm, unsigned name, unsigned form, uint64_t value)
{
	dm_attr(dm, name, DW_FORM_indirect);
	dm_uleb(dm, dm->info, form);
	put_value(dm, form, value);
}

void dm_block(struct dm *dm, unsigned name, unsigned form, const void *bytes, size_t len)
{
	dm_attr(dm, name, form);
	size_t width = form == DW_FORM_block1 ? 1 : form == DW_FORM_block2 ? 2 : form == DW_FORM_block4 ? 4 : 0;
	if (width)
		dm_u(dm, dm->info, len, width);
	else if (form != DW_FORM_data16)
		dm_uleb(dm, dm->info, len);
	dm_bytes(dm, dm->info, bytes, len);
}

void dm_expr(struct dm *dm, unsigned name, const void *bytes, size_t len)
{
	dm_block(dm, name, dm->version >= 4 ? DW_FORM_exprloc : DW_FORM_block1, bytes, len);
}

/* ---- tables ---- */

size_t dm_table(struct dm *dm, enum dm_section section, uint32_t count, size_t *begin_out)
{
	*begin_out = dm_at(dm, section);
	if (dm->version < 5)
		return *begin_out;
	dm_length_begin(dm, section);
	dm_u(dm, section, 5, 2);
	if (section == DM_STR_OFFSETS) {
		dm_u(dm, section, 0, 2);
		return dm_at(dm, section);
	}
	dm_u(dm, section, dm->address_size, 1);
	dm_u(dm, section, 0, 1); /* segment selectors */
	if (section == DM_ADDR)
		return dm_at(dm, section);
	dm_u(dm, section, count, 4);
	size_t at = dm_at(dm, section);
	for (uint32_t i = 0; i < count; i++)
		dm_u(dm, section, 0, dm->offset_size);
	return at;
}

void dm_strx(struct dm *dm, const char *text)
{
	dm_u(dm, DM_STR_OFFSETS, dm_string(dm, DM_STR, text), dm->offset_size);
}

/* ---- the file ---- */

static const char *const NAMES[DM_SECTIONS] = {
	[DM_INFO] = ".debug_info",         [DM_TYPES] = ".debug_types",       [DM_ABBREV] = ".debug_abbrev",
	[DM_STR] = ".debug_str",           [DM_LINE_STR] = ".debug_line_str", [DM_STR_OFFSETS] = ".debug_str_offsets",
	[DM_ADDR] = ".debug_addr",         [DM_LOC] = ".debug_loc",           [DM_LOCLISTS] = ".debug_loclists",
	[DM_RANGES] = ".debug_ranges",     [DM_RNGLISTS] = ".debug_rnglists", [DM_ARANGES] = ".debug_aranges",
	[DM_CU_INDEX] = ".debug_cu_index", [DM_TU_INDEX] = ".debug_tu_index", [DM_ALTLINK] = ".gnu_debugaltlink",
	[DM_SUP] = ".debug_sup",           [DM_NOTE] = ".note.gnu.build-id",
};

static bool plain_name(size_t section)
{
	return section == DM_CU_INDEX || section == DM_TU_INDEX || section >= DM_ALTLINK;
}

void *dm_image(const struct dm *dm, size_t *size_out)
{
	struct xc_text out = {0}, names = {0};
	Elf64_Shdr shdrs[DM_SECTIONS + 2] = {{0}};
	uint16_t count = 1;
	Elf64_Ehdr header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			     .e_type = dm->dwo ? ET_REL : ET_DYN,
			     .e_machine = dm->machine ? dm->machine : EM_X86_64,
			     .e_version = EV_CURRENT,
			     .e_ehsize = sizeof header,
			     .e_phentsize = sizeof(Elf64_Phdr),
			     .e_shentsize = sizeof(Elf64_Shdr)};
	Elf64_Phdr load = {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = dm->base, .p_align = 0x1000};
	xc_text_addn(&out, (const char *)&header, sizeof header);
	xc_text_addn(&out, (const char *)&load, sizeof load);
	xc_text_char(&names, '\0');
	for (size_t i = 0; i <= DM_SECTIONS; i++) {
		const struct xc_text *bytes = i < DM_SECTIONS ? &dm->sections[i] : &names;
		if (bytes->len == 0)
			continue;
		size_t name = names.len;
		xc_text_printf(&names, "%s%s", i < DM_SECTIONS ? NAMES[i] : ".shstrtab",
			       i < DM_SECTIONS && dm->dwo && !plain_name(i) ? ".dwo" : "");
		xc_text_char(&names, '\0');
		while (out.len % 8)
			xc_text_char(&out, '\0');
		shdrs[count++] = (Elf64_Shdr){.sh_name = (Elf64_Word)name,
					      .sh_type = i == DM_SECTIONS ? SHT_STRTAB
							 : i == DM_NOTE   ? SHT_NOTE
									  : SHT_PROGBITS,
					      .sh_offset = out.len,
					      .sh_size = bytes->len,
					      .sh_addralign = i == DM_NOTE ? 4 : 1};
		xc_text_addn(&out, bytes->bytes, bytes->len);
	}
	while (out.len % 8)
		xc_text_char(&out, '\0');
	header.e_shoff = out.len;
	header.e_shnum = count;
	header.e_shstrndx = (uint16_t)(count - 1);
	xc_text_addn(&out, (const char *)shdrs, count * sizeof *shdrs);
	*size_out = out.len;
	if (dm->base) {
		header.e_phoff = sizeof header;
		header.e_phnum = 1;
		load.p_filesz = load.p_memsz = out.len;
	}
	memcpy(out.bytes, &header, sizeof header);
	memcpy(out.bytes + sizeof header, &load, sizeof load);
	xc_text_fini(&names);
	return xc_text_take(&out); /* NUL-terminated, like every text */
}

const char *dm_file(const struct dm *dm, const char *name)
{
	size_t size;
	xc_auto(xc_freep) char *image = dm_image(dm, &size);
	scratch_file(name, image, size);
	return scratch_path(name);
}
