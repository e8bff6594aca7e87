/* die_scan_table: abbreviations compiled. A typical function DIE of twelve attributes becomes
 *
 *	KEEP name strp   SKIP 3   KEEP decl_line…   SKIP 26   KEEP sibling ref4   END */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/scan/raw.h"
#include "dwarf/scan/die_scan_impl.h"

enum {
	MAX_CODE = 1 << 20,
	MAX_ATTRIBUTES = 1 << 10, /* compilers write a dozen */
	MAX_STEPS = 512,          /* bytes of one program */
};

static enum xc_die_scan_slot slot_of(uint64_t name)
{
	switch (name) {
	case DW_AT_name:
		return XC_DIE_SLOT_NAME;
	case DW_AT_linkage_name:
	case DW_AT_MIPS_linkage_name:
		return XC_DIE_SLOT_LINKAGE_NAME;
	case DW_AT_sibling:
		return XC_DIE_SLOT_SIBLING;
	case DW_AT_specification:
	case DW_AT_abstract_origin:
		return XC_DIE_SLOT_ORIGIN;
	case DW_AT_byte_size:
		return XC_DIE_SLOT_SIZE;
	case DW_AT_decl_line:
		return XC_DIE_SLOT_LINE;
	case DW_AT_const_value:
		return XC_DIE_SLOT_VALUE;
	case DW_AT_low_pc:
	case DW_AT_ranges:
	case DW_AT_entry_pc:
		return XC_DIE_SLOT_CODE;
	case DW_AT_location:
		return XC_DIE_SLOT_LOCATION;
	case DW_AT_external:
		return XC_DIE_SLOT_EXTERNAL;
	case DW_AT_declaration:
		return XC_DIE_SLOT_DECLARATION;
	case DW_AT_export_symbols:
		return XC_DIE_SLOT_EXPORTS;
	case DW_AT_enum_class:
		return XC_DIE_SLOT_ENUM_CLASS;
	case DW_AT_str_offsets_base:
		return XC_DIE_SLOT_STR_OFFSETS;
	case DW_AT_language:
		return XC_DIE_SLOT_LANGUAGE;
	case DW_AT_signature:
		return XC_DIE_SLOT_SIGNATURE;
	case DW_AT_macros:
	case DW_AT_GNU_macros:
		return XC_DIE_SLOT_MACROS;
	case DW_AT_type:
		return XC_DIE_SLOT_TYPE;
	default:
		return XC_DIE_SLOT_NONE;
	}
}

/* Tags of which the index needs more than how to skip them. */
static bool wanted_tag(uint64_t tag)
{
	switch (tag) {
	case DW_TAG_compile_unit:
	case DW_TAG_partial_unit:
	case DW_TAG_type_unit:
	case DW_TAG_skeleton_unit:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_interface_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_enumerator:
	case DW_TAG_typedef:
	case DW_TAG_template_alias:
	case DW_TAG_base_type:
	case DW_TAG_unspecified_type:
	case DW_TAG_subrange_type:
	case DW_TAG_subprogram:
	case DW_TAG_variable:
	case DW_TAG_constant:
	case DW_TAG_member:
		return true;
	default:
		return false;
	}
}

enum xc_die_scan_step xc_die_scan_step_of(uint64_t form, const struct xc_die_scan_unit *unit, unsigned *size_out)
{
	int size = xc_raw_form_size(form, unit->version, unit->address_size, unit->offset_size);
	*size_out = size < 0 ? 0 : (unsigned)size;
	if (size >= 0)
		return XC_DIE_STEP_SKIP;
	switch (form) {
	case DW_FORM_sdata:
	case DW_FORM_udata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index:
		return XC_DIE_STEP_LEB;
	case DW_FORM_string:
		return XC_DIE_STEP_STRING;
	case DW_FORM_block1:
		return XC_DIE_STEP_BLOCK1;
	case DW_FORM_block2:
		return XC_DIE_STEP_BLOCK2;
	case DW_FORM_block4:
		return XC_DIE_STEP_BLOCK4;
	case DW_FORM_block:
	case DW_FORM_exprloc:
		return XC_DIE_STEP_BLOCK;
	case DW_FORM_indirect:
		return XC_DIE_STEP_INDIRECT;
	default:
		return XC_DIE_STEP_END;
	}
}

/* ---- writing a program ---- */

static void add_step(struct xc_die_scan_table *t, uint8_t byte)
{
	t->steps = xc_grow(t->steps, t->step_count, &t->step_capacity, 1);
	t->steps[t->step_count++] = byte;
}

struct program {
	struct xc_die_scan_table *table;
	struct xc_die_scan_abbrev *abbrev;
	const struct xc_die_scan_unit *unit;
	unsigned skip; /* bytes not yet written as a step */
	bool wanted;
};

static void flush_skip(struct program *p)
{
	while (p->skip) {
		unsigned n = p->skip < UINT8_MAX ? p->skip : UINT8_MAX;
		add_step(p->table, XC_DIE_STEP_SKIP);
		add_step(p->table, (uint8_t)n);
		p->skip -= n;
	}
}

/* The fact that DW_FORM_flag_present states without a byte. */
static uint32_t present_fact(enum xc_die_scan_slot slot)
{
	switch (slot) {
	case XC_DIE_SLOT_EXTERNAL:
		return XC_DIE_SCAN_EXTERNAL;
	case XC_DIE_SLOT_DECLARATION:
		return XC_DIE_SCAN_DECLARATION;
	case XC_DIE_SLOT_EXPORTS:
		return XC_DIE_SCAN_EXPORTS;
	case XC_DIE_SLOT_ENUM_CLASS:
		return XC_DIE_SCAN_ENUM_CLASS;
	default:
		return 0;
	}
}

static void keep_const(struct program *p, enum xc_die_scan_slot slot, uint64_t value)
{
	flush_skip(p);
	add_step(p->table, XC_DIE_STEP_KEEP_CONST);
	add_step(p->table, (uint8_t)slot);
	for (int i = 0; i < 8; i++)
		add_step(p->table, (uint8_t)(value >> 8 * i));
}

static bool add_attribute(struct program *p, uint64_t name, uint64_t form, int64_t constant)
{
	enum xc_die_scan_slot slot = slot_of(name);
	unsigned size;
	enum xc_die_scan_step step = xc_die_scan_step_of(form, p->unit, &size);
	if (step == XC_DIE_STEP_END)
		return false;
	if ((!p->wanted && slot != XC_DIE_SLOT_SIBLING) ||
	    (slot == XC_DIE_SLOT_TYPE && p->abbrev->tag != DW_TAG_typedef))
		slot = XC_DIE_SLOT_NONE;
	/* Only their presence counts; their bytes are skipped, except the beginning of a location. */
	if (slot == XC_DIE_SLOT_CODE || slot == XC_DIE_SLOT_LOCATION || slot == XC_DIE_SLOT_SIGNATURE) {
		p->abbrev->has |= slot == XC_DIE_SLOT_CODE       ? XC_DIE_SCAN_CODE
				  : slot == XC_DIE_SLOT_LOCATION ? XC_DIE_SCAN_LOCATION
								 : XC_DIE_SCAN_SIGNATURE;
		slot = slot == XC_DIE_SLOT_LOCATION && (form == DW_FORM_exprloc || form == DW_FORM_block1)
			       ? XC_DIE_SLOT_LOCATION
			       : XC_DIE_SLOT_NONE;
	}
	if (form == DW_FORM_flag_present) {
		p->abbrev->has |= present_fact(slot);
	} else if (form == DW_FORM_implicit_const) {
		if (slot != XC_DIE_SLOT_NONE)
			keep_const(p, slot, (uint64_t)constant);
	} else if (slot != XC_DIE_SLOT_NONE) {
		flush_skip(p);
		add_step(p->table, XC_DIE_STEP_KEEP);
		add_step(p->table, (uint8_t)slot);
		add_step(p->table, (uint8_t)form);
		add_step(p->table, (uint8_t)(form >> 8));
	} else if (step == XC_DIE_STEP_SKIP) {
		p->skip += size;
	} else {
		flush_skip(p);
		add_step(p->table, (uint8_t)step);
	}
	return p->table->step_count - p->abbrev->program < MAX_STEPS;
}

/* ---- reading a table ---- */

static bool read_attributes(struct xc_cursor *c, struct program *p)
{
	for (size_t i = 0; i < MAX_ATTRIBUTES; i++) {
		uint64_t name = 0, form = 0;
		int64_t constant = 0;
		struct xc_error *err = xc_cursor_uleb(c, &name);
		if (!err)
			err = xc_cursor_uleb(c, &form);
		if (!err && form == DW_FORM_implicit_const)
			err = xc_cursor_sleb(c, &constant);
		if (err) {
			xc_error_free(err);
			return false;
		}
		if (name == 0 && form == 0) {
			flush_skip(p);
			add_step(p->table, XC_DIE_STEP_END);
			return true;
		}
		if (!add_attribute(p, name, form, constant))
			return false;
	}
	return false;
}

/* Codes count up from 1; entries allocated for gaps are charged to the budget like bytes. */
static struct xc_die_scan_abbrev *slot_for_code(struct xc_die_scan_table *t, uint64_t code)
{
	if (code > MAX_CODE || (code > t->count && code - t->count > t->budget))
		return NULL;
	t->budget -= code > t->count ? code - t->count : 0;
	while (t->count <= code) {
		t->abbrevs = xc_grow(t->abbrevs, t->count, &t->capacity, sizeof *t->abbrevs);
		t->abbrevs[t->count++] = (struct xc_die_scan_abbrev){0};
	}
	return &t->abbrevs[code];
}

static bool read_abbreviation(struct xc_die_scan_table *t, struct xc_cursor *c, const struct xc_die_scan_unit *unit,
			      bool *last_out)
{
	uint64_t code = 0, tag = 0, children = 0;
	struct xc_error *err = xc_cursor_uleb(c, &code);
	*last_out = !err && code == 0;
	if (!err && !*last_out && !(err = xc_cursor_uleb(c, &tag)))
		err = xc_cursor_uint(c, 1, &children);
	bool good = !err;
	xc_error_free(err);
	if (!good || *last_out)
		return good;
	struct xc_die_scan_abbrev *abbrev = slot_for_code(t, code);
	if (!abbrev || tag == 0 || tag > UINT16_MAX)
		return false;
	*abbrev = (struct xc_die_scan_abbrev){
		.program = (uint32_t)t->step_count, .tag = (uint16_t)tag, .children = children != 0};
	struct program p = {.table = t, .abbrev = abbrev, .unit = unit, .wanted = wanted_tag(tag)};
	return read_attributes(c, &p);
}

static bool is_compiled(const struct xc_die_scan_table *t, const struct xc_die_scan_unit *unit)
{
	return t->valid && t->offset == unit->abbrev && t->address_size == unit->address_size &&
	       t->offset_size == unit->offset_size && t->version == unit->version;
}

bool xc_die_scan_compile(struct xc_die_scan_table *t, const struct xc_die_scan_space *space,
			 const struct xc_die_scan_unit *unit)
{
	struct xc_cursor c = space->abbrev;
	bool last = false;
	if (is_compiled(t, unit))
		return !t->damaged;
	t->valid = true;
	t->damaged = true;
	t->offset = unit->abbrev;
	t->version = unit->version;
	t->address_size = unit->address_size;
	t->offset_size = unit->offset_size;
	t->count = t->step_count = 0;
	if (unit->abbrev >= xc_cursor_left(&c))
		return false;
	c.at += unit->abbrev;
	while (!last) {
		const uint8_t *before = c.at;
		if (!read_abbreviation(t, &c, unit, &last))
			return false;
		uint64_t used = (uint64_t)(c.at - before);
		if (used > t->budget)
			return false;
		t->budget -= used;
	}
	t->damaged = false;
	return true;
}

void xc_die_scan_table_fini(struct xc_die_scan_table *t)
{
	free(t->abbrevs);
	free(t->steps);
}
