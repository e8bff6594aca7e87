/* die_scan: units and their DIEs. The compiled abbreviations are in die_scan_table.c. */
#include "dwarf/scan/die_scan.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/scan/raw.h"
#include "dwarf/scan/die_scan_impl.h"

enum { MAX_DEPTH = 1 << 16 };

struct xc_die_scan *xc_die_scan_new(const struct xc_die_scan_space *space)
{
	struct xc_die_scan *scan = xc_alloc(sizeof *scan);
	scan->space = space;
	scan->table.budget = 16 * (uint64_t)xc_cursor_left(&space->abbrev) + (UINT64_C(1) << 20);
	return scan;
}

void xc_die_scan_free(struct xc_die_scan *scan)
{
	if (!scan)
		return;
	xc_die_scan_table_fini(&scan->table);
	free(scan);
}

/* ---- unit headers ---- */

bool xc_die_scan_next_unit(const struct xc_die_scan_space *space, uint64_t *offset, struct xc_die_scan_unit *unit)
{
	struct xc_cursor c = space->info;
	struct xc_raw_unit raw;
	if (*offset >= xc_cursor_left(&c))
		return false;
	c.at += *offset;
	bool known = xc_raw_unit_at(c, space->types, &raw);
	if (!raw.size || (known && raw.first > raw.size))
		return false;
	*unit = (struct xc_die_scan_unit){.offset = *offset,
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

static bool take(struct xc_die_scan *s, uint64_t size, const uint8_t **bytes_out)
{
	if (size > (uint64_t)(s->end - s->at))
		return false;
	*bytes_out = s->at;
	s->at += size;
	return true;
}

static bool read_fixed(struct xc_die_scan *s, unsigned size, uint64_t *value_out)
{
	const uint8_t *bytes;
	if (!take(s, size, &bytes))
		return false;
	*value_out = xc_die_scan_load(bytes, size < 8 ? size : 8);
	return true;
}

static bool read_uleb(struct xc_die_scan *s, uint64_t *value_out)
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

static bool skip_leb(struct xc_die_scan *s)
{
	while (s->at < s->end)
		if (!(*s->at++ & 0x80))
			return true;
	return false;
}

static bool skip_string(struct xc_die_scan *s)
{
	const uint8_t *nul = memchr(s->at, 0, (size_t)(s->end - s->at));
	if (nul)
		s->at = nul + 1;
	return nul != NULL;
}

static bool skip_block(struct xc_die_scan *s, enum xc_die_scan_step step)
{
	uint64_t size;
	const uint8_t *bytes;
	bool good = step == XC_DIE_STEP_BLOCK    ? read_uleb(s, &size)
		    : step == XC_DIE_STEP_BLOCK1 ? read_fixed(s, 1, &size)
		    : step == XC_DIE_STEP_BLOCK2 ? read_fixed(s, 2, &size)
						 : read_fixed(s, 4, &size);
	return good && take(s, size, &bytes);
}

static bool pass(struct xc_die_scan *s, enum xc_die_scan_step step, unsigned size)
{
	const uint8_t *bytes;
	switch (step) {
	case XC_DIE_STEP_SKIP:
		return take(s, size, &bytes);
	case XC_DIE_STEP_LEB:
		return skip_leb(s);
	case XC_DIE_STEP_STRING:
		return skip_string(s);
	case XC_DIE_STEP_BLOCK1:
	case XC_DIE_STEP_BLOCK2:
	case XC_DIE_STEP_BLOCK4:
	case XC_DIE_STEP_BLOCK:
		return skip_block(s, step);
	default:
		return false;
	}
}

/* Step over a value; keep it unless slot is NONE. */
static bool read_value(struct xc_die_scan *s, struct xc_die_scan_entry *die, enum xc_die_scan_slot slot, uint64_t form)
{
	unsigned size;
	if (form == DW_FORM_indirect &&
	    (!read_uleb(s, &form) || form == DW_FORM_indirect || form == DW_FORM_implicit_const))
		return false;
	uint64_t value = form == DW_FORM_flag_present;
	const uint8_t *start = s->at;
	enum xc_die_scan_step step = xc_die_scan_step_of(form, &s->unit, &size);
	bool good = step == XC_DIE_STEP_LEB                ? read_uleb(s, &value)
		    : step == XC_DIE_STEP_SKIP && size > 0 ? read_fixed(s, size, &value)
							   : pass(s, step, size);
	if (good && slot != XC_DIE_SLOT_NONE)
		xc_die_scan_keep(s, die, slot, form, value, start);
	return good;
}

static bool run(struct xc_die_scan *s, struct xc_die_scan_entry *die, const uint8_t *step)
{
	for (;;) {
		switch (*step) {
		case XC_DIE_STEP_END:
			return true;
		case XC_DIE_STEP_SKIP:
			if (step[1] > s->end - s->at)
				return false;
			s->at += step[1];
			step += 2;
			break;
		case XC_DIE_STEP_INDIRECT:
			if (!read_value(s, die, XC_DIE_SLOT_NONE, DW_FORM_indirect))
				return false;
			step++;
			break;
		case XC_DIE_STEP_KEEP:
			if (!read_value(s, die, step[1], xc_die_scan_load(step + 2, 2)))
				return false;
			step += 4;
			break;
		case XC_DIE_STEP_KEEP_CONST:
			xc_die_scan_keep(s, die, step[1], DW_FORM_implicit_const, xc_die_scan_load(step + 2, 8), s->at);
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

bool xc_die_scan_next(struct xc_die_scan *s, struct xc_die_scan_entry *die)
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
	const struct xc_die_scan_abbrev *abbrev = &s->table.abbrevs[code];
	die->tag = abbrev->tag;
	die->children = abbrev->children;
	die->has = abbrev->has;
	return abbrev->tag && run(s, die, s->table.steps + abbrev->program);
}

bool xc_die_scan_seek(struct xc_die_scan *s, uint64_t offset)
{
	if (offset < s->unit.first || offset - s->unit.offset > s->unit.size)
		return false;
	s->at = s->space->info.at + offset;
	return true;
}

bool xc_die_scan_peek(struct xc_die_scan *s, uint64_t offset, uint16_t *tag_out, bool *children_out)
{
	uint64_t code;
	if (!xc_die_scan_seek(s, offset))
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

bool xc_die_scan_at(struct xc_die_scan *s, uint64_t offset, struct xc_die_scan_entry *die)
{
	if (offset < s->unit.first || offset - s->unit.offset >= s->unit.size)
		return false;
	s->at = s->space->info.at + offset;
	return xc_die_scan_next(s, die);
}

uint64_t xc_die_scan_position(const struct xc_die_scan *s)
{
	return (uint64_t)(s->at - s->space->info.at);
}

bool xc_die_scan_leave(struct xc_die_scan *s, const struct xc_die_scan_entry *die)
{
	if (!die->children)
		return true;
	uint64_t here = (uint64_t)(s->at - s->space->info.at);
	if ((die->has & XC_DIE_SCAN_SIBLING) && die->sibling > here && die->sibling - s->unit.offset < s->unit.size) {
		s->at = s->space->info.at + die->sibling;
		return true;
	}
	for (size_t depth = 1; depth > 0;) {
		struct xc_die_scan_entry child;
		if (s->at == s->end)
			return true;
		if (!xc_die_scan_next(s, &child) || depth > MAX_DEPTH)
			return false;
		here = (uint64_t)(s->at - s->space->info.at);
		if (!child.tag)
			depth--;
		else if (child.children && (child.has & XC_DIE_SCAN_SIBLING) && child.sibling > here &&
			 child.sibling - s->unit.offset < s->unit.size)
			s->at = s->space->info.at + child.sibling;
		else if (child.children)
			depth++;
	}
	return true;
}

bool xc_die_scan_enter(struct xc_die_scan *s, const struct xc_die_scan_unit *unit)
{
	struct xc_die_scan_entry die;
	if (!unit->type || !xc_die_scan_compile(&s->table, s->space, unit))
		return false;
	s->unit = *unit;
	s->end = s->space->info.at + unit->offset + unit->size;
	s->unit.str_offsets_base = s->space->split && unit->version >= 5 ? unit->offset_size * 2u : 0;
	if (!xc_die_scan_at(s, unit->first, &die))
		return false;
	if (die.has & XC_DIE_SCAN_STR_OFFSETS)
		s->unit.str_offsets_base = die.str_offsets;
	s->at = s->space->info.at + unit->first;
	return true;
}

const char *xc_die_scan_text(const struct xc_die_scan_space *space, struct xc_die_scan_string string, size_t *len_out)
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
