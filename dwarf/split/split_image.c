/* split_image: in memory
 *
 *	 mapped by us, low in the address space               files, mapped above
 *	┌─────────────────────────────────────────────┐   ┌────────────────────────────┐ ┌─────────────────┐
 *	│ header, names │ units │ abbreviations │ … │ … │ .debug_str.dwo, lists, … │ … │ .debug_addr │
 *	└───┬─────────────────────────────────────────┘   └────────────────────────────┘ └─────────────────┘
 *	    └── offsets of its section headers count from here, far beyond its end ──→
 *
 * These are copied: the units, since their headers change (offset of abbreviations; split_abbrev.c); the
 * abbreviations; and tables of string offsets and lines where members come from different contributions of a .dwp,
 * which are then laid end to end. Everything else stays where it is mapped: the strings of a .dwp are those of all
 * its units. A section that is not mapped above the image is copied. */
#include "dwarf/split/split_image.h"

#include <dwarf.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/base/text.h"
#include "dwarf/scan/abbrev.h"

enum {
	MAX_SECTIONS = 16,
	NAMES_SIZE = 256,
	ALIGNMENT = 16,
	SPLIT_TYPE_AT = 2, /* of the unit type behind the length, in DWARF 5 */
};

struct header {
	Elf64_Ehdr ehdr;
	Elf64_Shdr sections[MAX_SECTIONS];
	char names[NAMES_SIZE];
};

/* A section of the image: bytes that are copied into it, or bytes elsewhere. */
struct section {
	const char *name;
	struct xc_text copy;
	struct xc_cursor far;
};

/* Contributions of different members to one section. */
struct gathered {
	struct xc_cursor *parts; /* distinct */
	uint64_t *bases;
	size_t count, parts_capacity, bases_capacity;
	uint64_t size;
};

/* A table of abbreviations that was already written. */
struct table {
	const uint8_t *from;
	struct xc_split_bases bases;
	uint64_t at;
	size_t users;
};

struct build {
	struct xc_split_member *members;
	size_t count;
	const struct xc_skeleton_sections *main;
	uint64_t *budget;
	struct section sections[MAX_SECTIONS];
	size_t section_count;
	struct gathered str_offsets, lines;
	struct xc_text info, types, abbrev;
	struct table *tables;
	size_t table_count, table_capacity;
	uint64_t unit_bytes;
};

/* ---- contributions ---- */

/* The offset of a contribution among the gathered ones. Members of one .dwo all have the same; those of a .dwp come
 * in runs. */
static uint64_t gather(struct gathered *g, struct xc_cursor part)
{
	for (size_t i = g->count; i-- > 0;)
		if (g->parts[i].at == part.at && g->parts[i].end == part.end)
			return g->bases[i];
	g->parts = xc_grow(g->parts, g->count, &g->parts_capacity, sizeof *g->parts);
	g->bases = xc_grow(g->bases, g->count, &g->bases_capacity, sizeof *g->bases);
	g->parts[g->count] = part;
	g->bases[g->count++] = g->size;
	g->size += xc_cursor_left(&part);
	return g->size - xc_cursor_left(&part);
}

static void gather_fini(struct gathered *g)
{
	free(g->parts);
	free(g->bases);
}

/* Bytes of the header of a table of string offsets; gcc before 11 wrote none. */
static uint64_t str_offsets_header(const struct xc_split_member *m, const struct xc_cursor *part)
{
	uint64_t size = 2 * (uint64_t)m->unit.offset_size;
	bool there = m->unit.version >= 5 && xc_cursor_left(part) >= size &&
		     xc_load_uint(part->at + size - 4, 2, false) == 5;
	return there ? size : 0;
}

static struct xc_split_bases bases_of(struct build *b, const struct xc_split_member *m)
{
	const struct xc_cursor *offsets = &m->piece.sections[XC_SPLIT_STR_OFFSETS];
	struct xc_split_bases bases = {.has_str_offsets = xc_cursor_left(offsets) > 0};
	if (bases.has_str_offsets)
		bases.str_offsets = gather(&b->str_offsets, *offsets) + str_offsets_header(m, offsets);
	bases.has_lists = m->unit.version >= 5 && m->has_skeleton;
	bases.lists =
		bases.has_lists ? 4 + 2 * (uint64_t)m->unit.offset_size : 0; /* after the header: 12 or 20 bytes */
	bases.has_addr = m->has_skeleton;
	bases.addr = m->has_skeleton ? m->skeleton.addr_base : 0;
	return bases;
}

/* ---- abbreviations ---- */

static bool same_bases(const struct xc_split_bases *a, const struct xc_split_bases *b)
{
	return a->has_str_offsets == b->has_str_offsets && a->str_offsets == b->str_offsets;
}

/* Type units share tables: an existing table with the same bases is used again. Type units of a .dwo need no bases. */
static bool add_table(struct build *b, const struct xc_split_member *m, uint64_t *at_out)
{
	struct xc_split_bases bases = bases_of(b, m);
	struct xc_cursor table = m->piece.sections[XC_SPLIT_ABBREV];
	bool unit = m->unit.type == DW_UT_split_compile || m->unit.type == DW_UT_compile;
	bool plain = !unit && b->str_offsets.count == 1;
	if (m->unit.abbrev > xc_cursor_left(&table))
		return false;
	const uint8_t *from = table.at + m->unit.abbrev;
	for (size_t i = b->table_count; !unit && i-- > 0;)
		if (b->tables[i].from == from && same_bases(&b->tables[i].bases, &bases)) {
			*at_out = b->tables[i].at;
			b->tables[i].users++;
			return true;
		}
	*at_out = b->abbrev.len;
	if (!(plain ? xc_split_abbrev_copy(m, &b->abbrev) : xc_split_abbrev_add(m, &bases, &b->abbrev)) ||
	    !xc_spend(b->budget, b->abbrev.len - *at_out))
		return false;
	b->tables = xc_grow(b->tables, b->table_count, &b->table_capacity, sizeof *b->tables);
	b->tables[b->table_count++] =
		(struct table){.from = unit ? NULL : from, .bases = bases, .at = *at_out, .users = 1};
	return true;
}

/* ---- units ---- */

static void store(uint8_t *to, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		to[i] = (uint8_t)(value >> 8 * i);
}

/* See split_abbrev.c. The length of the code does not change. */
static void place_low_pc(const struct xc_split_member *m, uint8_t *unit)
{
	size_t code = 0;
	while (m->unit.first + code < m->unit.size && (unit[m->unit.first + code++] & 0x80))
		;
	memmove(unit + m->unit.first - 8, unit + m->unit.first, code);
	uint8_t *value = unit + m->unit.first - 8 + code;
	memset(value, 0, 8);
	store(value, m->skeleton.low_pc, m->unit.address_size);
	unit[m->unit.offset_size == 8 ? 12 + SPLIT_TYPE_AT : 4 + SPLIT_TYPE_AT] = DW_UT_compile;
}

static bool root_attribute(const struct xc_split_member *m, uint64_t name, struct xc_raw_attribute *a)
{
	struct xc_cursor entry = m->piece.info, table = m->piece.sections[XC_SPLIT_ABBREV];
	struct xc_raw_abbrev abbrev;
	if (!xc_raw_unit_entry(&m->unit, &entry, &table, &abbrev))
		return false;
	while (xc_raw_attribute_next(&m->unit, &abbrev.attributes, &entry, a))
		if (a->name == name)
			return true;
	return false;
}

/* The id of DWARF 4 is replaced by the address. */
static void replace_id(const struct xc_split_member *m, uint8_t *unit)
{
	struct xc_raw_attribute a;
	if (!root_attribute(m, DW_AT_GNU_dwo_id, &a) || a.form != DW_FORM_data8)
		return;
	uint8_t *value = unit + (a.value - m->piece.info.at);
	memset(value, 0, 8);
	store(value, m->skeleton.low_pc, m->unit.address_size);
}

/* A type unit refers to its table of files by the offset in its contribution. */
static void move_lines(struct build *b, const struct xc_split_member *m, uint8_t *unit)
{
	struct xc_raw_attribute a;
	uint64_t at, base = gather(&b->lines, m->piece.sections[XC_SPLIT_LINE]);
	if (base && root_attribute(m, DW_AT_stmt_list, &a) && a.form == DW_FORM_sec_offset && xc_raw_number(&a, &at))
		store(unit + (a.value - m->piece.info.at), at + base, a.size);
}

static struct xc_error *add_member(struct build *b, struct xc_split_member *m)
{
	struct xc_text *to = m->piece.types ? &b->types : &b->info;
	uint64_t abbrev = 0;
	size_t size = (size_t)m->unit.size;
	if (!xc_spend(b->budget, size))
		return xc_error_new(XC_ERR_LIMIT, "split units larger than their file");
	if (!add_table(b, m, &abbrev))
		return xc_error_new(XC_ERR_FORMAT, "damaged abbreviations");
	m->at = to->len;
	m->first = m->unit.first;
	b->unit_bytes += size;
	xc_text_addn(to, (const char *)m->piece.info.at, size);
	uint8_t *unit = (uint8_t *)to->bytes + m->at;
	store(unit + m->unit.abbrev_at, abbrev, m->unit.offset_size);
	if (!m->has_skeleton) {
		move_lines(b, m, unit);
	} else if (m->unit.version < 5) {
		replace_id(m, unit);
	} else {
		place_low_pc(m, unit);
		m->first -= 8;
	}
	return NULL;
}

/* ---- sections ---- */

static void add_far(struct build *b, const char *name, struct xc_cursor bytes)
{
	if (xc_cursor_left(&bytes))
		b->sections[b->section_count++] = (struct section){.name = name, .far = bytes};
}

/* Takes the text. */
static void add_copy(struct build *b, const char *name, struct xc_text *text)
{
	if (text->len)
		b->sections[b->section_count++] = (struct section){.name = name, .copy = *text};
	*text = (struct xc_text){0};
}

static bool add_gathered(struct build *b, const char *name, const struct gathered *g)
{
	struct xc_text all = {0};
	if (g->count == 1) {
		add_far(b, name, g->parts[0]);
		return true;
	}
	if (!xc_spend(b->budget, g->size))
		return false;
	for (size_t i = 0; i < g->count; i++)
		xc_text_addn(&all, (const char *)g->parts[i].at, xc_cursor_left(&g->parts[i]));
	add_copy(b, name, &all);
	return true;
}

/* Skeletons give the base of DW_AT_ranges in split units of DWARF 4; all skeletons of a .dwo give the same. */
static struct xc_cursor ranges_of(const struct build *b)
{
	struct xc_cursor ranges = b->main->ranges;
	uint64_t base = b->members[0].has_skeleton ? b->members[0].skeleton.ranges_base : 0;
	ranges.at += base <= xc_cursor_left(&ranges) ? base : xc_cursor_left(&ranges);
	return ranges;
}

static bool add_sections(struct build *b)
{
	const struct xc_cursor *first = b->members[0].piece.sections;
	add_copy(b, ".debug_info", &b->info);
	add_copy(b, ".debug_types", &b->types);
	add_copy(b, ".debug_abbrev", &b->abbrev);
	add_far(b, ".debug_str", first[XC_SPLIT_STR]);
	add_far(b, ".debug_line_str", first[XC_SPLIT_LINE_STR]);
	add_far(b, ".debug_loc", first[XC_SPLIT_LOC]);
	add_far(b, ".debug_loclists", first[XC_SPLIT_LOCLISTS]);
	add_far(b, ".debug_rnglists", first[XC_SPLIT_RNGLISTS]);
	add_far(b, ".debug_addr", b->main->addr);
	add_far(b, ".debug_ranges", ranges_of(b));
	return add_gathered(b, ".debug_str_offsets", &b->str_offsets) && add_gathered(b, ".debug_line", &b->lines);
}

/* ---- memory ---- */

/* Low, so that files are mapped above it; one range for all images of the process. Under ASan the lowest 2 GiB are
 * free too. */
static void *map_low(size_t size)
{
	static const uintptr_t LOW = 0x10000000, HIGH = 0x70000000;
	static uintptr_t hint = 0x10000000;
	if (size > HIGH - LOW)
		hint = 0;
	else if (hint > HIGH - size)
		hint = LOW;
	void *at = mmap((void *)hint, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	hint += (size + 0xffff) & ~(size_t)0xffff;
	return at == MAP_FAILED ? NULL : at;
}

static size_t aligned(size_t size)
{
	return (size + 1 + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1); /* a NUL after each */
}

static size_t size_of(const struct section *s)
{
	return s->copy.len ? s->copy.len : xc_cursor_left(&s->far);
}

/* Map the image. Sections that are not above it become copies, and it is mapped again. */
static uint8_t *map_image(struct build *b, size_t *size_out)
{
	for (int tries = 0; tries <= MAX_SECTIONS; tries++) {
		size_t size = aligned(sizeof(struct header)), below = 0;
		for (size_t i = 0; i < b->section_count; i++)
			size += b->sections[i].copy.len ? aligned(b->sections[i].copy.len) : 0;
		uint8_t *bytes = map_low(size);
		for (size_t i = 0; bytes && i < b->section_count; i++) {
			struct section *s = &b->sections[i];
			if (s->copy.len || s->far.at > bytes)
				continue;
			below++;
			if (!xc_spend(b->budget, xc_cursor_left(&s->far)))
				tries = MAX_SECTIONS;
			else
				xc_text_addn(&s->copy, (const char *)s->far.at, xc_cursor_left(&s->far));
		}
		*size_out = size;
		if (!bytes || !below)
			return bytes;
		munmap(bytes, size);
	}
	return NULL;
}

/* Fill it in. Returns one past the last byte used, counted from the start of the image. */
static uint64_t fill_image(const struct build *b, uint8_t *bytes)
{
	struct header *h = (struct header *)bytes;
	size_t at = aligned(sizeof *h), names = 1;
	uint64_t end = at;
	h->ehdr = (Elf64_Ehdr){
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = b->main->machine,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof h->ehdr,
		.e_shentsize = sizeof h->sections[0],
		.e_shoff = offsetof(struct header, sections),
		.e_shnum = (Elf64_Half)(b->section_count + 2),
		.e_shstrndx = (Elf64_Half)(b->section_count + 1),
	};
	for (size_t i = 0; i <= b->section_count; i++) {
		const struct section *s = i < b->section_count ? &b->sections[i] : NULL;
		const char *name = s ? s->name : ".shstrtab";
		size_t len = strlen(name) + 1;
		memcpy(h->names + names, name, len);
		Elf64_Shdr *header = &h->sections[i + 1];
		*header = (Elf64_Shdr){.sh_name = (Elf64_Word)names, .sh_type = SHT_PROGBITS, .sh_addralign = 1};
		names += len;
		if (!s) {
			header->sh_type = SHT_STRTAB;
			header->sh_offset = offsetof(struct header, names);
			header->sh_size = NAMES_SIZE;
			continue;
		}
		header->sh_size = size_of(s);
		header->sh_offset = s->copy.len ? at : (uint64_t)(s->far.at - bytes);
		if (s->copy.len) {
			memcpy(bytes + at, s->copy.bytes, s->copy.len);
			at += aligned(s->copy.len);
		}
		end = header->sh_offset + header->sh_size > end ? header->sh_offset + header->sh_size : end;
	}
	return end;
}

/* ---- all together ---- */

static void build_fini(struct build *b)
{
	for (size_t i = 0; i < b->section_count; i++)
		xc_text_fini(&b->sections[i].copy);
	xc_text_fini(&b->info);
	xc_text_fini(&b->types);
	xc_text_fini(&b->abbrev);
	gather_fini(&b->str_offsets);
	gather_fini(&b->lines);
	free(b->tables);
}

static bool few_abbrevs(const struct build *b, Elf *elf)
{
	uint64_t left = xc_abbrevs_most(b->unit_bytes, false);
	for (size_t i = 0; i < b->table_count; i++) {
		size_t count;
		if (xc_abbrevs_check(elf, b->tables[i].at, &count) == XC_ABBREVS_HOSTILE ||
		    !xc_abbrevs_take(&left, count * b->tables[i].users))
			return false;
	}
	return true;
}

static struct xc_error *open_image(struct build *b, struct xc_split_image *image)
{
	image->bytes = map_image(b, &image->size);
	if (!image->bytes)
		return xc_error_new(XC_ERR_LIMIT, "no memory for split units");
	uint64_t end = fill_image(b, image->bytes);
	image->elf = elf_memory(image->bytes, (size_t)end);
	if (image->elf && !few_abbrevs(b, image->elf))
		return xc_error_new(XC_ERR_LIMIT, "too many abbreviations");
	image->dwarf = image->elf ? dwarf_begin_elf(image->elf, DWARF_C_READ, NULL) : NULL;
	return image->dwarf ? NULL : xc_error_new(XC_ERR_FORMAT, "libdw cannot read it: %s", dwarf_errmsg(-1));
}

struct xc_error *xc_split_image_new(struct xc_split_member *members, size_t count,
				    const struct xc_skeleton_sections *main, uint64_t *budget,
				    struct xc_split_image **image_out)
{
	struct build b = {.members = members, .count = count, .main = main, .budget = budget};
	struct xc_split_image *image = xc_alloc(sizeof *image);
	struct xc_error *err = count ? NULL : xc_error_new(XC_ERR_FORMAT, "no units");
	image->members = members;
	image->member_count = count;
	for (size_t i = 0; !err && i < count; i++) /* so that their number is known when tables are written */
		gather(&b.str_offsets, members[i].piece.sections[XC_SPLIT_STR_OFFSETS]);
	for (size_t i = 0; !err && i < count; i++)
		err = add_member(&b, &members[i]);
	if (!err && !add_sections(&b))
		err = xc_error_new(XC_ERR_LIMIT, "split units larger than their file");
	if (!err)
		err = open_image(&b, image);
	build_fini(&b);
	if (err)
		xc_split_image_free(image);
	else
		*image_out = image;
	return err;
}

void xc_split_image_free(struct xc_split_image *image)
{
	if (!image)
		return;
	if (image->dwarf)
		dwarf_end(image->dwarf);
	if (image->elf)
		elf_end(image->elf);
	if (image->bytes)
		munmap(image->bytes, image->size);
	free(image->members);
	free(image);
}
