/* index_macro: .debug_macro (DWARF 5, 6.3; version 4 is GNU's, of the same form). All units of the section are read
 * in order, independent of which ones import them:
 *
 *	u16 version   u8 flags: 1 wide offsets, 2 offset of lines, 4 table of operands   entries … 0
 *
 * An entry that defines a macro has a line and "NAME body". */
#include "dwarf/index/index_macro.h"

#include <ctype.h>
#include <string.h>

#include "dwarf/elf/name.h"

enum {
	WIDE = 1,
	HAS_LINES = 2,
	HAS_OPERANDS = 4,
	MAX_BODY = 256,
};

enum opcode {
	DEFINE = 1,
	UNDEF,
	START_FILE,
	END_FILE,
	DEFINE_STRP,
	UNDEF_STRP,
	IMPORT,
	DEFINE_SUP,
	UNDEF_SUP,
	IMPORT_SUP,
	DEFINE_STRX,
	UNDEF_STRX,
};

struct macros {
	struct xc_index_scan *scan;
	const struct xc_die_scan_space *space;
	struct xc_cursor c;
	uint32_t number;
	unsigned offset_size;
	uint32_t entry; /* offset of the current entry in the section */
	bool indexed;   /* take only strings that are found through the unit */
};

/* Could it be an expression? Its value is left to those who evaluate it. */
static bool is_expression(const char *body, size_t len)
{
	bool operand = false;
	if (len == 0 || len > MAX_BODY)
		return false;
	for (size_t i = 0; i < len; i++) {
		operand |= isalnum((unsigned char)body[i]) != 0;
		if (!isalnum((unsigned char)body[i]) && !strchr("_ \t()+-*/%<>&|^~!=?:.,'\"\\", body[i]))
			return false;
	}
	return operand;
}

static void add(struct macros *m, struct xc_die_scan_string string)
{
	size_t len;
	const char *text = xc_die_scan_text(m->space, string, &len);
	const char *space = text ? memchr(text, ' ', len) : NULL;
	if (!space || memchr(text, '(', (size_t)(space - text)))
		return;
	size_t name_len = (size_t)(space - text), body_len = len - name_len - 1;
	if (!name_len || !is_expression(space + 1, body_len))
		return;
	uint64_t hash = xc_name_hash(text, name_len);
	struct xc_index_item item = {.hash = (uint32_t)hash,
				     .unit = m->number,
				     .die = m->entry, /* it has no DIE: its offset, for sorting */
				     .name = xc_index_pack_name(string),
				     .tag = XC_INDEX_MACRO_TAG,
				     .kind = XC_NAME_MACRO};
	item.key = xc_name_mix(xc_name_mix(hash, XC_NAME_MACRO), xc_name_hash(space + 1, body_len));
	xc_index_items_add(&m->scan->all, &item);
}

static struct xc_error *read_entry(struct macros *m, enum opcode opcode)
{
	struct xc_error *err = NULL;
	uint64_t line, value;
	const char *text;
	if (opcode != END_FILE && opcode != IMPORT && opcode != IMPORT_SUP && (err = xc_cursor_uleb(&m->c, &line)))
		return err;
	switch (opcode) {
	case DEFINE:
	case UNDEF:
		value = (uint64_t)(m->c.at - m->space->macro.at);
		err = xc_cursor_string(&m->c, &text);
		if (!err && opcode == DEFINE && !m->indexed)
			add(m, (struct xc_die_scan_string){XC_DIE_SCAN_MACRO, value});
		return err;
	case DEFINE_STRP:
	case UNDEF_STRP:
	case DEFINE_SUP:
	case UNDEF_SUP:
	case IMPORT:
	case IMPORT_SUP:
		err = xc_cursor_uint(&m->c, m->offset_size, &value);
		if (!err && opcode == DEFINE_STRP && !m->indexed)
			add(m, (struct xc_die_scan_string){XC_DIE_SCAN_STR, value});
		if (!err && opcode == DEFINE_SUP && !m->indexed)
			add(m, (struct xc_die_scan_string){XC_DIE_SCAN_ALT_STR, value});
		return err;
	case START_FILE:
	case DEFINE_STRX:
	case UNDEF_STRX:
		err = xc_cursor_uleb(&m->c, &value);
		if (!err && opcode == DEFINE_STRX && m->indexed)
			add(m, xc_die_scan_indexed(m->scan->scan, value));
		return err;
	case END_FILE:
		return NULL;
	default:
		return xc_error_new(XC_ERR_UNSUPPORTED, "a macro entry of kind %d", (int)opcode);
	}
}

static struct xc_error *read_unit(struct macros *m)
{
	uint64_t version, flags, ignored, opcode;
	struct xc_error *err;
	if ((err = xc_cursor_uint(&m->c, 2, &version)) || (err = xc_cursor_uint(&m->c, 1, &flags)))
		return err;
	m->offset_size = flags & WIDE ? 8 : 4;
	if (version < 4 || version > 5 || (flags & HAS_OPERANDS))
		return xc_error_new(XC_ERR_UNSUPPORTED, "macros of version %d", (int)version);
	if ((flags & HAS_LINES) && (err = xc_cursor_uint(&m->c, m->offset_size, &ignored)))
		return err;
	while (!(err = xc_cursor_uint(&m->c, 1, &opcode)) && opcode) {
		m->entry = (uint32_t)(m->c.at - m->space->macro.at - 1);
		if ((err = read_entry(m, (enum opcode)opcode)))
			break;
	}
	return err;
}

void xc_index_scan_macros(struct xc_index_scan *scan, const struct xc_die_scan_space *space, uint32_t number)
{
	struct macros m = {.scan = scan, .space = space, .c = space->macro, .number = number};
	struct xc_error *err = NULL;
	while (!err && xc_cursor_left(&m.c))
		err = read_unit(&m);
	scan->damaged += err != NULL;
	xc_error_free(err);
}

void xc_index_scan_unit_macros(struct xc_index_scan *scan)
{
	const struct xc_die_scan_space *space = scan->space;
	struct macros m = {.scan = scan, .space = space, .c = space->macro, .number = scan->number, .indexed = true};
	if (scan->unit_macros >= xc_cursor_left(&m.c))
		return;
	m.c.at += scan->unit_macros;
	if (xc_cursor_left(&m.c) > scan->macros_left)
		m.c.end = m.c.at + scan->macros_left;
	const uint8_t *start = m.c.at;
	struct xc_error *err = read_unit(&m);
	scan->macros_left -= (uint64_t)(m.c.at - start);
	scan->damaged += err != NULL;
	xc_error_free(err);
}
