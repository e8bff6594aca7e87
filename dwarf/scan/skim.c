/* skim: units and their DIEs. See skim.h; programs: skim_table.c. */
#include "dwarf/scan/skim.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/scan/raw.h"
#include "dwarf/scan/skim_impl.h"

enum { MAX_DEPTH = 1 << 16 };

struct xc_skim {
	const struct xc_skim_space *space;
	struct xc_skim_table table;
	struct xc_skim_unit unit;
	const uint8_t *at, *end; /* the reading position and the end of the unit */
};

struct xc_skim *xc_skim_new(const struct xc_skim_space *space)
{
	struct xc_skim *skim = xc_alloc(sizeof *skim);
	skim->space = space;
	skim->table.budget = 16 * (uint64_t)xc_cursor_left(&space->abbrev) + (UINT64_C(1) << 20);
	return skim;
}

void xc_skim_free(struct xc_skim *skim)
{
	if (!skim)
		return;
	xc_skim_table_fini(&skim->table);
	free(skim);
}

/* ---- unit headers ---- */

bool xc_skim_next_unit(const struct xc_skim_space *space, uint64_t *offset, struct xc_skim_unit *unit)
{
	struct xc_cursor c = space->info;
	struct xc_raw_unit raw;
	if (*offset >= xc_cursor_left(&c))
		return false;
	c.at += *offset;
	bool known = xc_raw_unit_at(c, space->types, &raw);
	if (!raw.size || (known && raw.first > raw.size))
		return false;
	*unit = (struct xc_skim_unit){.offset = *offset,
				      .size = raw.size,
				      .first = *offset + raw.first,
				      .abbrev = raw.abbrev,
				      .signature = raw.id,
				      .version = raw.version,
				      .type = known && raw.type <= DW_UT_split_type ? raw.type : 0,
				      .address_size = raw.address_size,
				      .offset_size = raw.offset_size};
	*offset += raw.size;
	return true;
}

/* ---- forms ---- */

static uint64_t load(const uint8_t *at, unsigned size)
{
	uint64_t value = 0;
	for (unsigned i = 0; i < size; i++)
		value |= (uint64_t)at[i] << 8 * i;
	return value;
}

static bool take(struct xc_skim *s, uint64_t size, const uint8_t **bytes_out)
{
	if (size > (uint64_t)(s->end - s->at))
		return false;
	*bytes_out = s->at;
	s->at += size;
	return true;
}

static bool read_fixed(struct xc_skim *s, unsigned size, uint64_t *value_out)
{
	const uint8_t *bytes;
	if (!take(s, size, &bytes))
		return false;
	*value_out = load(bytes, size < 8 ? size : 8);
	return true;
}

static bool read_uleb(struct xc_skim *s, uint64_t *value_out)
{
	uint64_t value = 0;
	for (unsigned shift = 0; s->at < s->end && shift < 70; shift += 7) {
		uint8_t byte = *s->at++;
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*value_out = value;
			return true;
		}
	}
	return false;
}

static bool skip_leb(struct xc_skim *s)
{
	while (s->at < s->end)
		if (!(*s->at++ & 0x80))
			return true;
	return false;
}

static bool skip_string(struct xc_skim *s)
{
	const uint8_t *nul = memchr(s->at, 0, (size_t)(s->end - s->at));
	if (nul)
		s->at = nul + 1;
	return nul != NULL;
}

static bool skip_block(struct xc_skim *s, enum xc_skim_step step)
{
	uint64_t size;
	const uint8_t *bytes;
	bool good = step == XC_STEP_BLOCK    ? read_uleb(s, &size)
		    : step == XC_STEP_BLOCK1 ? read_fixed(s, 1, &size)
		    : step == XC_STEP_BLOCK2 ? read_fixed(s, 2, &size)
					     : read_fixed(s, 4, &size);
	return good && take(s, size, &bytes);
}

static bool pass(struct xc_skim *s, enum xc_skim_step step, unsigned size)
{
	const uint8_t *bytes;
	switch (step) {
	case XC_STEP_SKIP:
		return take(s, size, &bytes);
	case XC_STEP_LEB:
		return skip_leb(s);
	case XC_STEP_STRING:
		return skip_string(s);
	case XC_STEP_BLOCK1:
	case XC_STEP_BLOCK2:
	case XC_STEP_BLOCK4:
	case XC_STEP_BLOCK:
		return skip_block(s, step);
	default:
		return false;
	}
}

/* ---- what is kept ---- */

static bool is_strx(uint64_t form)
{
	return form == DW_FORM_strx || form == DW_FORM_GNU_str_index ||
	       (form >= DW_FORM_strx1 && form <= DW_FORM_strx4);
}

struct xc_skim_string xc_skim_indexed(const struct xc_skim *s, uint64_t index)
{
	const struct xc_cursor *table = &s->space->str_offsets;
	unsigned size = s->unit.offset_size;
	uint64_t left = xc_cursor_left(table), base = s->unit.str_offsets_base;
	if (base > left || index >= (left - base) / size)
		return (struct xc_skim_string){0};
	return (struct xc_skim_string){XC_SKIM_STR, load(table->at + base + index * size, size)};
}

/* Read a string form at the position; `start` is where it stands. */
static struct xc_skim_string string_of(const struct xc_skim *s, uint64_t form, uint64_t value, const uint8_t *start)
{
	if (is_strx(form))
		return xc_skim_indexed(s, value);
	switch (form) {
	case DW_FORM_string:
		return (struct xc_skim_string){XC_SKIM_INFO, (uint64_t)(start - s->space->info.at)};
	case DW_FORM_strp:
		return (struct xc_skim_string){XC_SKIM_STR, value};
	case DW_FORM_line_strp:
		return (struct xc_skim_string){XC_SKIM_LINE_STR, value};
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_strp_alt:
		return (struct xc_skim_string){XC_SKIM_ALT_STR, value};
	default:
		return (struct xc_skim_string){0};
	}
}

struct reference {
	uint64_t offset; /* in info, or the other file's */
	bool far;        /* of another unit */
	bool alt;        /* of the file that dwz moved common parts to */
};

/* False for what cannot be followed so. */
static bool reference_of(const struct xc_skim *s, uint64_t form, uint64_t value, struct reference *to)
{
	*to = (struct reference){.offset = value, .far = true};
	switch (form) {
	case DW_FORM_ref1:
	case DW_FORM_ref2:
	case DW_FORM_ref4:
	case DW_FORM_ref8:
	case DW_FORM_ref_udata:
		*to = (struct reference){.offset = s->unit.offset + value};
		return value < s->unit.size;
	case DW_FORM_ref_addr:
		to->far = value < s->unit.offset || value - s->unit.offset >= s->unit.size;
		return true;
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_ref_sup4:
	case DW_FORM_ref_sup8:
		to->alt = true;
		return true;
	default:
		return false;
	}
}

static bool is_plain_number(uint64_t form)
{
	switch (form) {
	case DW_FORM_data1:
	case DW_FORM_data2:
	case DW_FORM_data4:
	case DW_FORM_data8:
	case DW_FORM_udata:
	case DW_FORM_sdata:
	case DW_FORM_implicit_const:
	case DW_FORM_sec_offset:
	case DW_FORM_flag:
		return true;
	default:
		return false;
	}
}

static void keep_number(struct xc_skim_die *die, uint32_t fact, uint64_t *to, uint64_t form, uint64_t value)
{
	if (!is_plain_number(form))
		return;
	die->has |= fact;
	*to = value;
}

static void keep_flag(struct xc_skim_die *die, uint32_t fact, uint64_t value)
{
	if (value)
		die->has |= fact;
}

static void keep_reference(const struct xc_skim *s, struct xc_skim_die *die, enum xc_skim_slot slot, uint64_t form,
			   uint64_t value)
{
	struct reference to;
	if (!reference_of(s, form, value, &to))
		return;
	if (slot == XC_SLOT_ORIGIN) {
		die->has |= !to.far  ? XC_SKIM_ORIGIN
			    : to.alt ? XC_SKIM_FAR_ORIGIN | XC_SKIM_ALT_ORIGIN
				     : XC_SKIM_FAR_ORIGIN;
		die->origin = to.offset;
	} else if (!to.far) {
		die->has |= slot == XC_SLOT_TYPE ? XC_SKIM_TYPE : XC_SKIM_SIBLING;
		*(slot == XC_SLOT_TYPE ? &die->type : &die->sibling) = to.offset;
	}
}

/* An expression as a block: what stands behind its length, which has one byte where it can hold no more than an address. */
static void keep_location(const struct xc_skim *s, struct xc_skim_die *die, const uint8_t *start)
{
	if (s->at - start < 2 || (start[0] & 0x80))
		return;
	die->has |= start[1] == DW_OP_addr || start[1] == DW_OP_addrx || start[1] == DW_OP_GNU_addr_index
			    ? XC_SKIM_PLACED
			    : 0;
}

static void keep(const struct xc_skim *s, struct xc_skim_die *die, enum xc_skim_slot slot, uint64_t form,
		 uint64_t value, const uint8_t *start)
{
	switch (slot) {
	case XC_SLOT_NAME:
		die->name = string_of(s, form, value, start);
		die->has |= die->name.where ? XC_SKIM_NAME : 0;
		break;
	case XC_SLOT_LINKAGE_NAME:
		die->linkage_name = string_of(s, form, value, start);
		die->has |= die->linkage_name.where ? XC_SKIM_LINKAGE_NAME : 0;
		break;
	case XC_SLOT_SIBLING:
	case XC_SLOT_ORIGIN:
	case XC_SLOT_TYPE:
		keep_reference(s, die, slot, form, value);
		break;
	case XC_SLOT_SIZE:
		keep_number(die, XC_SKIM_SIZE, &die->size, form, value);
		break;
	case XC_SLOT_LINE:
		keep_number(die, XC_SKIM_LINE, &die->line, form, value);
		break;
	case XC_SLOT_VALUE:
		die->has |= XC_SKIM_VALUE;
		die->value = value;
		break;
	case XC_SLOT_EXTERNAL:
		keep_flag(die, XC_SKIM_EXTERNAL, value);
		break;
	case XC_SLOT_DECLARATION:
		keep_flag(die, XC_SKIM_DECLARATION, value);
		break;
	case XC_SLOT_EXPORTS:
		keep_flag(die, XC_SKIM_EXPORTS, value);
		break;
	case XC_SLOT_ENUM_CLASS:
		keep_flag(die, XC_SKIM_ENUM_CLASS, value);
		break;
	case XC_SLOT_STR_OFFSETS:
		keep_number(die, XC_SKIM_STR_OFFSETS, &die->str_offsets, form, value);
		break;
	case XC_SLOT_MACROS:
		keep_number(die, XC_SKIM_MACROS, &die->macros, form, value);
		break;
	case XC_SLOT_LOCATION:
		keep_location(s, die, start);
		break;
	case XC_SLOT_LANGUAGE:
		keep_number(die, XC_SKIM_LANGUAGE, &die->language, form, value);
		break;
	default:
		break;
	}
}

/* Step over a value, which may be one to keep (slot not NONE). */
static bool read_value(struct xc_skim *s, struct xc_skim_die *die, enum xc_skim_slot slot, uint64_t form)
{
	unsigned size;
	if (form == DW_FORM_indirect &&
	    (!read_uleb(s, &form) || form == DW_FORM_indirect || form == DW_FORM_implicit_const))
		return false;
	uint64_t value = form == DW_FORM_flag_present;
	const uint8_t *start = s->at;
	enum xc_skim_step step = xc_skim_step_of(form, &s->unit, &size);
	bool good = step == XC_STEP_LEB                ? read_uleb(s, &value)
		    : step == XC_STEP_SKIP && size > 0 ? read_fixed(s, size, &value)
						       : pass(s, step, size);
	if (good && slot != XC_SLOT_NONE)
		keep(s, die, slot, form, value, start);
	return good;
}

static bool run(struct xc_skim *s, struct xc_skim_die *die, const uint8_t *step)
{
	for (;;) {
		switch (*step) {
		case XC_STEP_END:
			return true;
		case XC_STEP_SKIP:
			if (step[1] > s->end - s->at)
				return false;
			s->at += step[1];
			step += 2;
			break;
		case XC_STEP_INDIRECT:
			if (!read_value(s, die, XC_SLOT_NONE, DW_FORM_indirect))
				return false;
			step++;
			break;
		case XC_STEP_KEEP:
			if (!read_value(s, die, step[1], load(step + 2, 2)))
				return false;
			step += 4;
			break;
		case XC_STEP_KEEP_CONST:
			keep(s, die, step[1], DW_FORM_implicit_const, load(step + 2, 8), s->at);
			step += 10;
			break;
		default:
			if (!pass(s, *step, 0))
				return false;
			step++;
			break;
		}
	}
}

/* ---- DIEs ---- */

bool xc_skim_die(struct xc_skim *s, struct xc_skim_die *die)
{
	uint64_t code;
	die->offset = (uint64_t)(s->at - s->space->info.at);
	die->has = 0;
	die->tag = 0;
	die->children = false;
	if (s->at == s->end) /* gcc ends some units without the last zero */
		return true;
	if (!read_uleb(s, &code) || code >= s->table.count)
		return false;
	if (code == 0)
		return true;
	const struct xc_skim_abbrev *abbrev = &s->table.abbrevs[code];
	die->tag = abbrev->tag;
	die->children = abbrev->children;
	die->has = abbrev->has;
	return abbrev->tag && run(s, die, s->table.steps + abbrev->program);
}

bool xc_skim_seek(struct xc_skim *s, uint64_t offset)
{
	if (offset < s->unit.first || offset - s->unit.offset > s->unit.size)
		return false;
	s->at = s->space->info.at + offset;
	return true;
}

bool xc_skim_peek(struct xc_skim *s, uint64_t offset, uint16_t *tag_out, bool *children_out)
{
	uint64_t code;
	if (!xc_skim_seek(s, offset))
		return false;
	*tag_out = 0;
	*children_out = false;
	if (s->at == s->end)
		return true;
	if (!read_uleb(s, &code) || code >= s->table.count || (code && !s->table.abbrevs[code].tag))
		return false;
	*tag_out = code ? s->table.abbrevs[code].tag : 0;
	*children_out = code && s->table.abbrevs[code].children;
	return true;
}

bool xc_skim_die_at(struct xc_skim *s, uint64_t offset, struct xc_skim_die *die)
{
	if (offset < s->unit.first || offset - s->unit.offset >= s->unit.size)
		return false;
	s->at = s->space->info.at + offset;
	return xc_skim_die(s, die);
}

uint64_t xc_skim_position(const struct xc_skim *s)
{
	return (uint64_t)(s->at - s->space->info.at);
}

bool xc_skim_leave(struct xc_skim *s, const struct xc_skim_die *die)
{
	if (!die->children)
		return true;
	uint64_t here = (uint64_t)(s->at - s->space->info.at);
	if ((die->has & XC_SKIM_SIBLING) && die->sibling > here && die->sibling - s->unit.offset < s->unit.size) {
		s->at = s->space->info.at + die->sibling;
		return true;
	}
	for (size_t depth = 1; depth > 0;) {
		struct xc_skim_die child;
		if (s->at == s->end)
			return true;
		if (!xc_skim_die(s, &child) || depth > MAX_DEPTH)
			return false;
		here = (uint64_t)(s->at - s->space->info.at);
		if (!child.tag)
			depth--;
		else if (child.children && (child.has & XC_SKIM_SIBLING) && child.sibling > here &&
			 child.sibling - s->unit.offset < s->unit.size)
			s->at = s->space->info.at + child.sibling;
		else if (child.children)
			depth++;
	}
	return true;
}

bool xc_skim_enter(struct xc_skim *s, const struct xc_skim_unit *unit)
{
	struct xc_skim_die die;
	if (!unit->type || !xc_skim_compile(&s->table, s->space, unit))
		return false;
	s->unit = *unit;
	s->end = s->space->info.at + unit->offset + unit->size;
	s->unit.str_offsets_base = s->space->split && unit->version >= 5 ? unit->offset_size * 2u : 0;
	if (!xc_skim_die_at(s, unit->first, &die))
		return false;
	if (die.has & XC_SKIM_STR_OFFSETS)
		s->unit.str_offsets_base = die.str_offsets;
	s->at = s->space->info.at + unit->first;
	return true;
}

const char *xc_skim_text(const struct xc_skim_space *space, struct xc_skim_string string, size_t *len_out)
{
	const struct xc_cursor *sections[] = {
		NULL, &space->info, &space->str, &space->line_str, &space->alt_str, &space->macro, &space->alt_info};
	const struct xc_cursor *c = string.where < XC_COUNT(sections) ? sections[string.where] : NULL;
	if (!c || string.offset >= xc_cursor_left(c))
		return NULL;
	const char *text = (const char *)c->at + string.offset;
	const char *nul = memchr(text, 0, xc_cursor_left(c) - (size_t)string.offset);
	if (!nul)
		return NULL;
	*len_out = (size_t)(nul - text);
	return text;
}
