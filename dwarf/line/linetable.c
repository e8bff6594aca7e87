/* linetable: the state machine of DWARF 5, 6.2.2, and the header's two tables of names.
 *
 * libdw is not used: it allocates each row separately, keeps 48 bytes of it and sorts pointers, which took a third of
 * a whole backtrace. */
#include "dwarf/line/linetable.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/cursor.h"
#include "dwarf/elf/section.h"

enum { MAX_FILES = 1 << 20, MAX_DIRS = 1 << 20, MAX_NAME = 4096, LINE_MAX_KEPT = (1 << 23) - 1, NARROW_MAX = 65535 };

/* The program's header, and the state machine's registers. */
struct program {
	struct xc_cursor strings, line_strings; /* .debug_str, .debug_line_str */
	size_t max_rows;
	uint64_t version, min_length, max_ops, default_statement, line_range, opcode_base;
	int64_t line_base;
	size_t wide;          /* 4 or 8: size of offsets */
	uint8_t lengths[256]; /* operands of the standard opcodes */

	uint64_t addr, op_index, file, line, column;
	bool statement;
};

/* ---- names ---- */

static const char *string_at(struct xc_cursor section, uint64_t offset)
{
	const char *string = NULL;
	struct xc_error *err = xc_cursor_skip(&section, (size_t)offset);
	if (xc_cursor_left(&section) > MAX_NAME)
		section.end = section.at + MAX_NAME; /* a million names may share one string of a megabyte */
	if (!err)
		err = xc_cursor_string(&section, &string);
	xc_error_free(err);
	return string;
}

/* Read one form of an entry of version 5: a string, or a number. */
static struct xc_error *read_form(struct program *p, struct xc_cursor *c, uint64_t form, const char **string,
				  uint64_t *number)
{
	struct xc_error *err;
	uint64_t offset;
	switch (form) {
	case DW_FORM_string:
		return xc_cursor_string(c, string);
	case DW_FORM_line_strp:
	case DW_FORM_strp:
		if ((err = xc_cursor_uint(c, p->wide, &offset)))
			return err;
		*string = string_at(form == DW_FORM_strp ? p->strings : p->line_strings, offset);
		return NULL;
	case DW_FORM_udata:
		return xc_cursor_uleb(c, number);
	case DW_FORM_data1:
		return xc_cursor_uint(c, 1, number);
	case DW_FORM_data2:
		return xc_cursor_uint(c, 2, number);
	case DW_FORM_data4:
		return xc_cursor_uint(c, 4, number);
	case DW_FORM_data8:
		return xc_cursor_uint(c, 8, number);
	case DW_FORM_data16:
		return xc_cursor_skip(c, 16);
	case DW_FORM_block:
		if ((err = xc_cursor_uleb(c, &offset)))
			return err;
		return xc_cursor_skip(c, (size_t)offset);
	default:
		return xc_error_new(XC_ERR_UNSUPPORTED, ".debug_line: form 0x%x", (unsigned)form);
	}
}

/* NULL for a name longer than any file name. */
static const char *short_name(const char *name)
{
	return name && strnlen(name, MAX_NAME) < MAX_NAME ? name : NULL;
}

static void add_dir(struct xc_linetable *t, const char *name)
{
	t->dirs = xc_grow(t->dirs, t->dir_count, &t->dir_capacity, sizeof *t->dirs);
	t->dirs[t->dir_count++] = short_name(name);
}

static void add_file(struct xc_linetable *t, const char *name, uint64_t dir)
{
	t->files = xc_grow(t->files, t->file_count, &t->file_capacity, sizeof *t->files);
	t->files[t->file_count++] = (struct xc_linefile){.name = short_name(name), .dir = dir};
}

/* An absolute path from a name, its directory and the unit's directory. */
static const char *full_path(struct xc_linetable *t, const char *name, uint64_t dir)
{
	const char *in = dir < t->dir_count ? t->dirs[dir] : NULL, *unit = short_name(t->comp_dir);
	if (*name == '/' || !in)
		return xc_arena_strdup(&t->paths, name);
	if (*in == '/' || !unit || !*unit)
		return *in ? xc_arena_printf(&t->paths, "%s/%s", in, name) : xc_arena_strdup(&t->paths, name);
	return xc_arena_printf(&t->paths, "%s/%s/%s", unit, in, name);
}

const char *xc_linetable_file(struct xc_linetable *t, uint64_t number)
{
	struct xc_linefile *file = number < t->file_count ? &t->files[number] : NULL;
	if (!file || !file->name)
		return NULL;
	if (!file->path)
		file->path = full_path(t, file->name, file->dir);
	return file->path;
}

/* A table of version 5: pairs (content, form), then entries in that format. */
static struct xc_error *read_table5(struct program *p, struct xc_cursor *c, struct xc_linetable *t, bool files)
{
	uint64_t format_count, count, content[16], form[16];
	struct xc_error *err;
	if ((err = xc_cursor_uint(c, 1, &format_count)))
		return err;
	if (format_count > XC_COUNT(content))
		return xc_error_new(XC_ERR_UNSUPPORTED, ".debug_line: entries of %u fields", (unsigned)format_count);
	for (size_t i = 0; i < format_count; i++)
		if ((err = xc_cursor_uleb(c, &content[i])) || (err = xc_cursor_uleb(c, &form[i])))
			return err;
	if ((err = xc_cursor_uleb(c, &count)))
		return err;
	for (uint64_t n = 0; n < count && n < MAX_FILES && format_count && xc_cursor_left(c); n++) {
		const char *name = NULL;
		uint64_t dir = 0, other = 0;
		for (size_t i = 0; i < format_count; i++)
			if ((err = read_form(p, c, form[i], &name,
					     content[i] == DW_LNCT_directory_index ? &dir : &other)))
				return err;
		if (files)
			add_file(t, name, dir);
		else
			add_dir(t, name ? name : "");
	}
	return NULL;
}

static struct xc_error *read_file4(struct xc_cursor *c, struct xc_linetable *t, const char *name)
{
	uint64_t dir, time, size;
	struct xc_error *err;
	if ((err = xc_cursor_uleb(c, &dir)) || (err = xc_cursor_uleb(c, &time)) || (err = xc_cursor_uleb(c, &size)))
		return err;
	add_file(t, name, dir);
	return NULL;
}

/* Up to version 4: directories, an empty name, files, an empty name. Number 0 is the unit's own. */
static struct xc_error *read_tables4(struct xc_cursor *c, struct xc_linetable *t)
{
	const char *name;
	struct xc_error *err;
	add_dir(t, t->comp_dir ? t->comp_dir : "");
	for (;;) {
		if ((err = xc_cursor_string(c, &name)))
			return err;
		if (!*name || t->dir_count > MAX_DIRS)
			break;
		add_dir(t, name);
	}
	add_file(t, NULL, 0);
	for (;;) {
		if ((err = xc_cursor_string(c, &name)))
			return err;
		if (!*name || t->file_count > MAX_FILES)
			return NULL;
		if ((err = read_file4(c, t, name)))
			return err;
	}
}

/* ---- the header ---- */

static struct xc_error *read_header(struct program *p, struct xc_cursor *c, struct xc_cursor *code,
				    struct xc_linetable *t, uint8_t address_size)
{
	uint64_t header_length, address = address_size, segment, base;
	struct xc_error *err;
	const void *lengths = NULL;
	if ((err = xc_cursor_uint(c, 2, &p->version)))
		return err;
	if (p->version < 2 || p->version > 5)
		return xc_error_new(XC_ERR_UNSUPPORTED, ".debug_line: version %u", (unsigned)p->version);
	if (p->version >= 5 && ((err = xc_cursor_uint(c, 1, &address)) || (err = xc_cursor_uint(c, 1, &segment))))
		return err;
	if ((err = xc_cursor_uint(c, p->wide, &header_length)))
		return err;
	*code = *c;
	if ((err = xc_cursor_skip(code, (size_t)header_length)) || (err = xc_cursor_uint(c, 1, &p->min_length)))
		return err;
	p->max_ops = 1;
	if (p->version >= 4 && (err = xc_cursor_uint(c, 1, &p->max_ops)))
		return err;
	if ((err = xc_cursor_uint(c, 1, &p->default_statement)) || (err = xc_cursor_uint(c, 1, &base)) ||
	    (err = xc_cursor_uint(c, 1, &p->line_range)) || (err = xc_cursor_uint(c, 1, &p->opcode_base)))
		return err;
	p->line_base = (int8_t)(uint8_t)base;
	if (p->line_range == 0 || p->opcode_base == 0 || p->max_ops == 0)
		return xc_error_new(XC_ERR_FORMAT, ".debug_line: a header that divides by zero");
	if ((err = xc_cursor_take(c, (size_t)p->opcode_base - 1, &lengths)))
		return err;
	memcpy(p->lengths + 1, lengths, (size_t)p->opcode_base - 1);
	if (p->version < 5)
		return read_tables4(c, t);
	if ((err = read_table5(p, c, t, false)))
		return err;
	return read_table5(p, c, t, true);
}

/* ---- the program ---- */

static void reset(struct program *p)
{
	p->addr = p->op_index = p->column = 0;
	p->file = p->line = 1;
	p->statement = p->default_statement != 0;
}

static uint16_t narrow(uint64_t value)
{
	return value < NARROW_MAX ? (uint16_t)value : NARROW_MAX;
}

static void emit(const struct program *p, struct xc_linetable *t, bool end)
{
	if (t->row_count >= p->max_rows)
		return;
	t->rows = xc_grow(t->rows, t->row_count, &t->row_capacity, sizeof *t->rows);
	t->rows[t->row_count++] = (struct xc_linerow){
		.addr = p->addr,
		.line = (uint32_t)(p->line < LINE_MAX_KEPT ? p->line : 0) & LINE_MAX_KEPT,
		.statement = p->statement,
		.end = end,
		.file = narrow(p->file),
		.column = narrow(p->column),
	};
}

static void advance(struct program *p, uint64_t operations)
{
	if (p->max_ops == 1) {
		p->addr += p->min_length * operations;
		return;
	}
	p->addr += p->min_length * ((p->op_index + operations) / p->max_ops);
	p->op_index = (p->op_index + operations) % p->max_ops;
}

static void special(struct program *p, struct xc_linetable *t, uint64_t opcode)
{
	uint64_t adjusted = opcode - p->opcode_base;
	advance(p, adjusted / p->line_range);
	p->line += (uint64_t)(p->line_base + (int64_t)(adjusted % p->line_range));
	emit(p, t, false);
}

static struct xc_error *extended(struct program *p, struct xc_cursor *c, struct xc_linetable *t)
{
	uint64_t length, opcode, dir;
	const void *bytes = NULL;
	const char *name;
	struct xc_error *err;
	if ((err = xc_cursor_uleb(c, &length)) || (err = xc_cursor_take(c, (size_t)length, &bytes)) || length == 0)
		return err;
	struct xc_cursor own = xc_cursor(bytes, (size_t)length, ".debug_line");
	if ((err = xc_cursor_uint(&own, 1, &opcode)))
		return err;
	switch (opcode) {
	case DW_LNE_end_sequence:
		emit(p, t, true);
		reset(p);
		return NULL;
	case DW_LNE_set_address:
		p->op_index = 0;
		return length - 1 <= 8 ? xc_cursor_uint(&own, (size_t)length - 1, &p->addr) : NULL;
	case DW_LNE_define_file:
		if ((err = xc_cursor_string(&own, &name)) || (err = xc_cursor_uleb(&own, &dir)))
			return err;
		add_file(t, name, dir);
		return NULL;
	default: /* discriminators, and vendor extensions */
		return NULL;
	}
}

static struct xc_error *standard(struct program *p, struct xc_cursor *c, struct xc_linetable *t, uint64_t opcode)
{
	uint64_t operand;
	int64_t delta;
	struct xc_error *err = NULL;
	switch (opcode) {
	case DW_LNS_copy:
		emit(p, t, false);
		return NULL;
	case DW_LNS_advance_pc:
		if (!(err = xc_cursor_uleb(c, &operand)))
			advance(p, operand);
		return err;
	case DW_LNS_advance_line:
		if (!(err = xc_cursor_sleb(c, &delta)))
			p->line += (uint64_t)delta;
		return err;
	case DW_LNS_set_file:
		return xc_cursor_uleb(c, &p->file);
	case DW_LNS_set_column:
		return xc_cursor_uleb(c, &p->column);
	case DW_LNS_negate_stmt:
		p->statement = !p->statement;
		return NULL;
	case DW_LNS_const_add_pc:
		advance(p, (255 - p->opcode_base) / p->line_range);
		return NULL;
	case DW_LNS_fixed_advance_pc:
		if (!(err = xc_cursor_uint(c, 2, &operand)))
			p->addr += operand;
		p->op_index = 0;
		return err;
	default: /* no effect on rows, or unknown: skip its operands */
		for (uint8_t i = 0; i < p->lengths[opcode] && !err; i++)
			err = xc_cursor_uleb(c, &operand);
		return err;
	}
}

static struct xc_error *run(struct program *p, struct xc_cursor *c, struct xc_linetable *t)
{
	reset(p);
	while (c->at < c->end) {
		uint8_t opcode = *c->at++;
		struct xc_error *err = NULL;
		if (opcode >= p->opcode_base)
			special(p, t, opcode);
		else
			err = opcode == 0 ? extended(p, c, t) : standard(p, c, t, opcode);
		if (err)
			return err;
	}
	return NULL;
}

/* ---- sequences in address order ---- */

struct sequence {
	size_t from, count;
	uint64_t addr;
};

static int by_addr(const void *a, const void *b)
{
	const struct sequence *x = a, *y = b;
	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

/* Rows ascend within a sequence; sequences are in any order. Those at address 0 belong to code that the linker
 * dropped. */
static void sort_sequences(struct xc_linetable *t)
{
	struct sequence *list = NULL;
	size_t count = 0, capacity = 0, used = 0, from = 0;
	struct xc_linerow *sorted = xc_alloc((t->row_count + 1) * sizeof *sorted);
	for (size_t i = 0; i < t->row_count; i++) {
		if (!t->rows[i].end)
			continue;
		list = xc_grow(list, count, &capacity, sizeof *list);
		list[count] = (struct sequence){.from = from, .count = i + 1 - from, .addr = t->rows[from].addr};
		count++;
		from = i + 1;
	}
	if (count)
		qsort(list, count, sizeof *list, by_addr);
	for (size_t i = 0; i < count; i++) {
		if (list[i].addr == 0)
			continue;
		memcpy(sorted + used, t->rows + list[i].from, list[i].count * sizeof *sorted);
		used += list[i].count;
	}
	free(list);
	free(t->rows);
	t->rows = sorted;
	t->row_count = used;
}

/* State between reading the header and running the program. */
struct xc_lineprogram {
	struct program program;
	struct xc_cursor code;
};

void xc_linetable_read(struct xc_linetable *t, Elf *elf, uint64_t offset, const char *comp_dir, uint8_t address_size)
{
	struct program p = {.strings = xc_section_cursor(elf, ".debug_str"),
			    .wide = 4,
			    .line_strings = xc_section_cursor(elf, ".debug_line_str")};
	struct xc_cursor c = xc_section_cursor(elf, ".debug_line"), code;
	const void *bytes = NULL;
	uint64_t length = 0;
	*t = (struct xc_linetable){.comp_dir = comp_dir};
	struct xc_error *err = offset > xc_cursor_left(&c) ? xc_error_new(XC_ERR_FORMAT, "offset") : NULL;
	if (!err && !(err = xc_cursor_skip(&c, (size_t)offset)) && !(err = xc_cursor_uint(&c, 4, &length)) &&
	    length == 0xffffffff) {
		p.wide = 8;
		err = xc_cursor_uint(&c, 8, &length);
	}
	if (!err)
		err = xc_cursor_take(&c, (size_t)length, &bytes);
	if (!err) {
		c = xc_cursor(bytes, (size_t)length, ".debug_line");
		err = read_header(&p, &c, &code, t, address_size);
	}
	if (!err) {
		t->program = xc_alloc(sizeof *t->program);
		*t->program = (struct xc_lineprogram){.program = p, .code = code};
	}
	xc_error_free(err); /* what was read before the damage stays */
}

void xc_linetable_run(struct xc_linetable *t, size_t max_rows)
{
	if (!t->program)
		return;
	t->program->program.max_rows = max_rows;
	xc_error_free(run(&t->program->program, &t->program->code, t));
	sort_sequences(t);
	free(xc_take(t->program));
}

void xc_linetable_fini(struct xc_linetable *t)
{
	free(t->program);
	free(t->rows);
	free(t->files);
	free(t->dirs);
	xc_arena_fini(&t->paths);
}
