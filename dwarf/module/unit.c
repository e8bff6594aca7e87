/* unit: units opened by themselves. In memory:
 *
 *	      headroom of the source                       the mapped file
 *	 … │ header of unit B │ header of unit A │ .text … .debug_abbrev .debug_info [ A ][ B ] … │
 *	          └── offsets of its section headers count from here; all sections lie after ──→
 *
 * .debug_aranges (DWARF 5, 6.1.2) is read once into a sorted table. Where it does not know an address, the ranges of
 * the units that it does not list (clang lists none) are read, once a module. Unit headers: DWARF 5, 7.5.1. */
#include "dwarf/module/unit.h"

#include <dwarf.h>
#include <elf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/cursor.h"
#include "dwarf/elf/budget.h"
#include "dwarf/elf/elffile.h"
#include "dwarf/scan/abbrev.h"
#include "dwarf/elf/pointer_map.h"
#include "dwarf/scan/raw.h"
#include "dwarf/elf/section.h"
#include "dwarf/split/split.h"
#include "dwarf/module/walk.h"

enum {
	MAX_SECTIONS = 24,
	NAMES_SIZE = 512,
	MAX_RANGES = 1 << 22,
	BUDGET = 1 << 25,        /* one or two seconds */
	SLICE_MARK = 0x78637544, /* e_flags of a header made here */
};

struct header {
	Elf64_Ehdr ehdr;
	Elf64_Shdr sections[MAX_SECTIONS];
	char names[NAMES_SIZE];
};

struct arange {
	uint64_t lo, hi; /* inclusive */
	uint64_t unit;   /* offset of its header in .debug_info */
};

/* A unit that was opened, by itself or within the whole file. */
struct opened {
	struct opened *next;
	uint64_t offset;
	Dwarf_Die die; /* addr NULL: could not be opened */
	Elf *elf;      /* both NULL within the whole */
	Dwarf *dwarf;
};

struct module_units {
	struct module_units *next;
	struct xc_module *module;
	Dwarf *whole;
	struct xc_split *split;   /* or NULL */
	Elf *elf;                 /* of whole */
	struct xc_source *source; /* its bytes with headroom, or NULL: no slices */
	struct arange *ranges;    /* of .debug_aranges */
	size_t range_count, range_capacity;
	struct arange *rest; /* of the units that .debug_aranges does not list; read when it does not know an address */
	size_t rest_count, rest_capacity;
	bool rest_read;
	struct opened *opened;
	struct xc_arena arena;
	struct xc_pointer_map by_offset; /* offset + 1 → opened */
	enum xc_abbrevs abbrevs;         /* of the table checked last */
	uint64_t abbrevs_offset;
	size_t abbrevs_count;
	bool abbrevs_known;
	uint64_t file_size, abbrevs_left; /* xc_abbrevs_most() */
	enum { WHOLE_UNKNOWN, WHOLE_SANE, WHOLE_DAMAGED } whole_state;
};

struct xc_units {
	const struct xc_process *process;
	struct module_units *modules;
};

struct xc_units *xc_units_new(const struct xc_process *process)
{
	struct xc_units *units = xc_alloc(sizeof *units);
	units->process = process;
	xc_budget_set(BUDGET);
	return units;
}

void xc_units_free(struct xc_units *units)
{
	if (!units)
		return;
	xc_walk_forget();
	for (struct module_units *m; (m = units->modules); free(m)) {
		units->modules = m->next;
		for (struct opened *o; (o = m->opened); free(o)) {
			m->opened = o->next;
			if (o->dwarf)
				dwarf_end(o->dwarf);
			if (o->elf)
				elf_end(o->elf);
		}
		free(m->ranges);
		free(m->rest);
		xc_arena_fini(&m->arena);
	}
	free(units);
}

/* ---- address to unit ---- */

static void add_range(struct arange **ranges, size_t *count, size_t *capacity, uint64_t lo, uint64_t len, uint64_t unit)
{
	if (lo == 0 || len == 0 || len - 1 > UINT64_MAX - lo || *count >= MAX_RANGES)
		return; /* code that the linker dropped is at address 0 */
	*ranges = xc_grow(*ranges, *count, capacity, sizeof **ranges);
	(*ranges)[(*count)++] = (struct arange){.lo = lo, .hi = lo + (len - 1), .unit = unit};
}

static int by_lo(const void *a, const void *b)
{
	const struct arange *x = a, *y = b;
	return x->lo < y->lo ? -1 : x->lo > y->lo;
}

static const struct arange *find_range(const struct arange *ranges, size_t count, uint64_t addr)
{
	size_t lo = XC_LOWER_BOUND(count, i, ranges[i].lo <= addr);
	return lo && ranges[lo - 1].hi >= addr ? &ranges[lo - 1] : NULL;
}

/* One set: length, version, unit offset, address size, segment size, padding to a pair, pairs up to (0, 0). */
static struct xc_error *read_set(struct module_units *m, struct xc_cursor *c)
{
	uint64_t length, version, unit, address, segment, lo, len;
	const void *bytes = NULL;
	const uint8_t *start = c->at;
	struct xc_error *err = xc_cursor_uint(c, 4, &length);
	size_t wide = !err && length == 0xffffffff ? 8 : 4;
	if (!err && wide == 8)
		err = xc_cursor_uint(c, 8, &length);
	size_t before = (size_t)(c->at - start);
	if (err || (err = xc_cursor_take(c, (size_t)length, &bytes)))
		return err;
	struct xc_cursor set = xc_cursor(bytes, (size_t)length, ".debug_aranges");
	if ((err = xc_cursor_uint(&set, 2, &version)) || (err = xc_cursor_uint(&set, wide, &unit)) ||
	    (err = xc_cursor_uint(&set, 1, &address)) || (err = xc_cursor_uint(&set, 1, &segment)))
		return err;
	if (version != 2 || (address != 4 && address != 8) || segment)
		return NULL; /* unknown form: the unit is found by its own ranges */
	size_t at = before + 2 + wide + 2, pair = 2 * (size_t)address;
	if ((err = xc_cursor_skip(&set, (pair - at % pair) % pair)))
		return err;
	while (xc_cursor_left(&set) >= pair) {
		if ((err = xc_cursor_uint(&set, (size_t)address, &lo)) ||
		    (err = xc_cursor_uint(&set, (size_t)address, &len)))
			return err;
		add_range(&m->ranges, &m->range_count, &m->range_capacity, lo, len, unit);
	}
	return NULL;
}

static void read_aranges(struct module_units *m)
{
	struct xc_cursor c = xc_section_cursor(m->elf, ".debug_aranges");
	struct xc_error *err = NULL;
	while (!err && xc_cursor_left(&c))
		err = read_set(m, &c);
	xc_error_free(err); /* what was read before the damage stays */
	if (m->range_count)
		qsort(m->ranges, m->range_count, sizeof *m->ranges, by_lo);
}

/* ---- does a unit stand alone? ---- */

/* The result for the abbreviations at an offset; neighbouring units often share a table. */
static enum xc_abbrevs check_table(struct module_units *m, uint64_t offset)
{
	if (!m->abbrevs_known || m->abbrevs_offset != offset)
		m->abbrevs = xc_abbrevs_check(m->elf, offset, &m->abbrevs_count);
	m->abbrevs_known = true;
	m->abbrevs_offset = offset;
	return m->abbrevs;
}

/* Are the abbreviations of all units of a section sane, and not too many? Headers of .debug_types (DWARF 4, 7.5.1.2)
 * begin like others. */
static bool check_section(struct module_units *m, const char *name, bool types, uint64_t *abbrevs_left)
{
	struct xc_cursor info = xc_section_cursor(m->elf, name);
	bool sane = true;
	while (sane && xc_cursor_left(&info)) {
		struct xc_raw_unit u;
		xc_raw_unit_at(info, types, &u); /* any version: only its size is used */
		if (u.size == 0)
			break;
		info.at += u.size;
		sane = xc_budget_spend(1) && check_table(m, u.abbrev) != XC_ABBREVS_HOSTILE &&
		       xc_abbrevs_take(abbrevs_left, m->abbrevs_count);
	}
	return sane;
}

/* May libdw read any unit of the file? */
static bool whole_is_sane(struct module_units *m)
{
	uint64_t left = xc_abbrevs_most(m->file_size, false);
	if (m->whole_state == WHOLE_UNKNOWN)
		m->whole_state =
			check_section(m, ".debug_info", false, &left) && check_section(m, ".debug_types", true, &left)
				? WHOLE_SANE
				: WHOLE_DAMAGED;
	return m->whole_state == WHOLE_SANE;
}

/* ---- a header for one unit ---- */

static bool wanted_section(const char *name)
{
	return !strncmp(name, ".debug_", 7) && strcmp(name, ".debug_aranges") != 0 &&
	       strcmp(name, ".debug_types") != 0 && strcmp(name, ".debug_names") != 0 &&
	       strcmp(name, ".debug_frame") != 0;
}

static bool add_section(struct header *h, size_t *names_used, const char *name, uint32_t type, uint64_t offset,
			uint64_t size)
{
	size_t len = strlen(name) + 1;
	if (h->ehdr.e_shnum == MAX_SECTIONS || len > NAMES_SIZE - *names_used)
		return false;
	memcpy(h->names + *names_used, name, len);
	h->sections[h->ehdr.e_shnum++] = (Elf64_Shdr){.sh_name = (Elf64_Word)*names_used,
						      .sh_type = type,
						      .sh_offset = offset,
						      .sh_size = size,
						      .sh_addralign = 1};
	*names_used += len;
	return true;
}

/* Fill the header at `h`; `shift`: the distance from it to the file's first byte. */
static bool fill_header(struct header *h, Elf *elf, uint64_t shift, uint64_t unit, uint64_t size)
{
	size_t used = 1;
	GElf_Ehdr from;
	struct xc_section_walk w;
	if (!gelf_getehdr(elf, &from) || !xc_section_walk_begin(&w, elf))
		return false;
	*h = (struct header){.ehdr = {.e_type = from.e_type,
				      .e_machine = from.e_machine,
				      .e_version = EV_CURRENT,
				      .e_entry = unit,
				      .e_flags = SLICE_MARK,
				      .e_ehsize = sizeof h->ehdr,
				      .e_shentsize = sizeof h->sections[0],
				      .e_shoff = offsetof(struct header, sections),
				      .e_shnum = 1}};
	memcpy(h->ehdr.e_ident, from.e_ident, EI_NIDENT);
	while (xc_section_walk_next(&w)) {
		if (!wanted_section(w.name) || w.header.sh_type == SHT_NOBITS)
			continue;
		bool info = !strcmp(w.name, ".debug_info");
		if (!add_section(h, &used, w.name, SHT_PROGBITS, shift + w.header.sh_offset + (info ? unit : 0),
				 info ? size : w.header.sh_size))
			return false;
	}
	h->ehdr.e_shstrndx = h->ehdr.e_shnum;
	return add_section(h, &used, ".shstrtab", SHT_STRTAB, offsetof(struct header, names), NAMES_SIZE);
}

/* A unit of code and types, as are all of DWARF 2 to 4. */
static bool unit_header_at(struct module_units *m, uint64_t offset, struct xc_raw_unit *u)
{
	struct xc_cursor info = xc_section_cursor(m->elf, ".debug_info");
	if (offset > xc_cursor_left(&info))
		return false;
	info.at += offset;
	return xc_raw_unit_at(info, false, u) && u->type == DW_UT_compile;
}

static bool open_alone(struct module_units *m, struct opened *o)
{
	struct xc_raw_unit u;
	if (!m->source || !unit_header_at(m, o->offset, &u))
		return false;
	bool alone = check_table(m, u.abbrev) == XC_ABBREVS_ALONE;
	struct header *h = alone ? xc_source_headroom(m->source, sizeof *h) : NULL;
	if (!h)
		return false;
	uint64_t shift = (uint64_t)(m->source->bytes - (const uint8_t *)h);
	if (!fill_header(h, m->elf, shift, o->offset, u.size))
		return false;
	o->elf = elf_memory((char *)h, (size_t)(shift + m->source->size));
	o->dwarf = o->elf ? dwarf_begin_elf(o->elf, DWARF_C_READ, NULL) : NULL;
	return o->dwarf && dwarf_offdie(o->dwarf, u.first, &o->die);
}

static bool open_in_whole(struct module_units *m, struct opened *o)
{
	Dwarf_Off next;
	size_t header;
	return whole_is_sane(m) &&
	       dwarf_next_unit(m->whole, o->offset, &next, &header, NULL, NULL, NULL, NULL, NULL, NULL) == 0 &&
	       dwarf_offdie(m->whole, o->offset + header, &o->die);
}

/* May libdw keep the unit's abbreviations, too? */
static bool may_open(struct module_units *m, uint64_t offset)
{
	struct xc_cursor info = xc_section_cursor(m->elf, ".debug_info");
	struct xc_raw_unit u;
	if (offset > xc_cursor_left(&info))
		return false;
	info.at += offset;
	xc_raw_unit_at(info, false, &u); /* any version: only its size is used */
	return u.size && check_table(m, u.abbrev) != XC_ABBREVS_HOSTILE &&
	       xc_abbrevs_take(&m->abbrevs_left, m->abbrevs_count);
}

static struct opened *open_unit(struct module_units *m, uint64_t offset)
{
	void **slot = xc_pointer_map_at(&m->by_offset, &m->arena, (const void *)(uintptr_t)(offset + 1), NULL);
	if (*slot)
		return *slot;
	struct opened *o = xc_alloc(sizeof *o);
	*slot = o;
	o->offset = offset;
	o->next = m->opened;
	m->opened = o; /* kept even when it does not open, so that it is freed */
	if (!may_open(m, offset) || (!open_alone(m, o) && !open_in_whole(m, o)))
		o->die.addr = NULL;
	return o;
}

/* ---- units that .debug_aranges leaves out ---- */

static int by_unit(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

static void add_ranges_of(struct module_units *m, uint64_t offset)
{
	struct opened *o = open_unit(m, offset);
	Dwarf_Addr base, lo, end;
	ptrdiff_t at = 0;
	if (!o->die.addr)
		return;
	while (xc_budget_spend(1) && (at = dwarf_ranges(&o->die, at, &base, &lo, &end)) > 0)
		if (lo < end)
			add_range(&m->rest, &m->rest_count, &m->rest_capacity, lo, end - lo, offset);
}

/* Step from header to header, and read the ranges of units that the table did not list. */
static void read_rest(struct module_units *m)
{
	uint64_t *listed = xc_alloc((m->range_count + 1) * sizeof *listed);
	struct xc_cursor info = xc_section_cursor(m->elf, ".debug_info");
	const uint8_t *start = info.at;
	m->rest_read = true;
	for (size_t i = 0; i < m->range_count; i++)
		listed[i] = m->ranges[i].unit;
	if (m->range_count)
		qsort(listed, m->range_count, sizeof *listed, by_unit);
	while (xc_cursor_left(&info)) {
		struct xc_raw_unit u;
		uint64_t offset = (uint64_t)(info.at - start);
		xc_raw_unit_at(info, false, &u); /* any version: only its size is used */
		if (u.size == 0 || !xc_budget_spend(1))
			break;
		if (!bsearch(&offset, listed, m->range_count, sizeof *listed, by_unit))
			add_ranges_of(m, offset);
		info.at += u.size;
	}
	free(listed);
	if (m->rest_count)
		qsort(m->rest, m->rest_count, sizeof *m->rest, by_lo);
}

static bool find_offset(struct module_units *m, uint64_t file_addr, uint64_t *offset_out)
{
	const struct arange *r = find_range(m->ranges, m->range_count, file_addr);
	if (!r && !m->rest_read)
		read_rest(m);
	if (!r)
		r = find_range(m->rest, m->rest_count, file_addr);
	if (r)
		*offset_out = r->unit;
	return r != NULL;
}

/* ---- modules ---- */

static struct module_units *units_of(struct xc_units *units, struct xc_module *module)
{
	for (struct module_units *m = units->modules; m; m = m->next)
		if (m->module == module)
			return m;
	struct module_units *m = xc_alloc(sizeof *m);
	struct xc_debugfile *df = xc_debugfile_of(units->process, module);
	m->module = module;
	m->next = units->modules;
	units->modules = m;
	m->whole = xc_debugfile_dwarf(df);
	if (!m->whole)
		return m;
	m->elf = dwarf_getelf(m->whole);
	m->split = xc_debugfile_split(df);
	m->source = units->process->arch->word == 8 ? xc_debugfile_dwarf_source(df) : NULL;
	struct xc_cursor info = xc_section_cursor(m->elf, ".debug_info");
	xc_budget_add(xc_cursor_left(&info));
	const struct xc_elffile *file = xc_debugfile_dwarf_file(df);
	m->file_size = file && file->source ? file->source->size : 0;
	m->abbrevs_left = xc_abbrevs_most(m->file_size, true);
	read_aranges(m);
	return m;
}

bool xc_unit_at(struct xc_units *units, struct xc_module *module, uint64_t file_addr, Dwarf_Die *unit_out)
{
	uint64_t offset;
	struct module_units *m = units_of(units, module);
	if (!m->whole || !find_offset(m, file_addr, &offset))
		return false;
	if (m->split && xc_split_unit(m->split, offset, unit_out))
		return true;
	struct opened *o = open_unit(m, offset);
	if (!o->die.addr)
		return false;
	*unit_out = o->die;
	return true;
}

bool xc_unit_die(struct xc_units *units, struct xc_module *module, enum xc_unit_space space, uint64_t unit,
		 uint64_t die, Dwarf_Die *die_out)
{
	struct module_units *m = units_of(units, module);
	if (!m->whole)
		return false;
	if (space == XC_UNIT_INFO) {
		struct opened *o = open_unit(m, unit);
		return o->die.addr &&
		       dwarf_offdie(o->dwarf ? o->dwarf : m->whole, o->dwarf ? die : unit + die, die_out);
	}
	if (!whole_is_sane(m))
		return false;
	if (space == XC_UNIT_TYPES)
		return dwarf_offdie_types(m->whole, unit + die, die_out) != NULL;
	Dwarf *alternate = dwarf_getalt(m->whole);
	return alternate && dwarf_offdie(alternate, unit + die, die_out);
}

bool xc_unit_skeleton(struct xc_units *units, const Dwarf_Die *unit, Dwarf_Die *skeleton_out)
{
	uint64_t offset;
	for (size_t i = 0; i < units->process->module_count; i++) {
		struct xc_module *module = units->process->modules[i];
		const struct xc_split *split = module->debug ? xc_debugfile_split_in_use(module->debug) : NULL;
		if (!split || !xc_split_skeleton(split, unit, &offset))
			continue;
		*skeleton_out = open_unit(units_of(units, module), offset)->die;
		return skeleton_out->addr != NULL;
	}
	return false;
}

uint64_t xc_unit_base(Dwarf *dwarf)
{
	GElf_Ehdr header;
	Elf *elf = dwarf_getelf(dwarf);
	return elf && gelf_getehdr(elf, &header) && header.e_flags == SLICE_MARK ? header.e_entry : 0;
}

struct xc_module *xc_unit_module(const struct xc_units *units, Dwarf *dwarf)
{
	for (struct module_units *m = units->modules; m; m = m->next) {
		if (m->whole == dwarf || (m->whole && dwarf_getalt(m->whole) == dwarf))
			return m->module;
		if (m->split && xc_split_owns(m->split, dwarf))
			return m->module;
		for (const struct opened *o = m->opened; o; o = o->next)
			if (o->dwarf == dwarf)
				return m->module;
	}
	return NULL;
}
