/* disas_report: finds the starts of instructions, then decodes the ones to show.
 *
 * Code can only be decoded forwards. So decoding starts at the function's start, and records the start of each
 * instruction. If the given address is not one of them (data between code, a wrong range), decoding restarts there,
 * with a message. Only the instructions that are shown are decoded in full. */
#include "dwarf/disas/disas_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/report/scrub.h"
#include "core/text/jsonvalue.h"
#include "dwarf/decode/code.h"
#include "dwarf/symbolize/debuginfo.h"
#include "dwarf/disas/disas_note.h"
#include "dwarf/disas/disas_range.h"
#include "dwarf/line/source_lines.h"
#include "dwarf/elf/symbol.h"

enum { INSTRUCTION = 34, BYTES = 8, NAME = 512, MOST = 1 << 18 };

struct listing {
	const struct xc_process *process;
	const struct xc_frame_scope *scope;
	const struct xc_disas_options *options;
	struct xc_disas *disas;
	struct xc_source_reader *source;
	bool has_range;
	struct xc_code_range range;
	xc_addr lo; /* of bytes */
	uint8_t *bytes;
	size_t size;      /* readable */
	size_t wanted;    /* in the range */
	uint32_t *starts; /* of instructions, from lo */
	size_t count, capacity;
	xc_addr asked;      /* the address to show */
	bool has_pc, exact; /* has_pc: asked is the pc; exact: an instruction starts there */
	bool cut_in;        /* decoding was restarted at pc */
	xc_addr pc;
	size_t current, marked;     /* indexes; count: none */
	size_t first, end;          /* the instructions to show */
	const char *file, *inlined; /* of the last source line shown */
	unsigned line;
	struct xc_regs pages;
	struct xc_text text;
	json_t *instructions;
};

/* ---- starts of instructions ---- */

static struct xc_error *read_bytes(struct listing *l, uint64_t length)
{
	if (length > XC_CODE_MAX)
		length = XC_CODE_MAX;
	l->wanted = (size_t)length;
	l->bytes = xc_alloc(l->wanted);
	l->size = xc_space_peek(l->process->space, l->lo, l->bytes, l->wanted);
	if (l->size > 0)
		return NULL;
	struct xc_error *err = xc_space_read(l->process->space, l->lo, l->bytes, 1);
	return err ? xc_error_wrap(err, "code") : NULL;
}

static void add_start(struct listing *l, size_t at)
{
	l->starts = xc_grow(l->starts, l->count, &l->capacity, sizeof *l->starts);
	l->starts[l->count++] = (uint32_t)at;
}

/* Record the starts of instructions in the first `within` bytes. The current instruction must be one: an instruction
 * that overlaps its start is cut short. */
static void find_starts(struct listing *l, uint64_t most, uint64_t within)
{
	size_t must = l->has_pc && l->exact && l->pc >= l->lo && l->pc - l->lo < l->size ? (size_t)(l->pc - l->lo) : 0;
	uint8_t length;
	for (size_t at = 0; at < l->size && at < within && l->count < most; at += length) {
		add_start(l, at);
		xc_disas_length(l->disas, l->bytes + at, l->size - at, l->lo + at, &length);
		if (at >= must || must - at >= length)
			continue;
		length = (uint8_t)(must - at);
		l->cut_in = true;
	}
}

/* The index of the instruction that contains an address; count when none does. */
static size_t index_of(const struct listing *l, xc_addr addr)
{
	size_t lo = 0, hi = l->count;
	if (!l->count || addr < l->lo || addr - l->lo >= l->size)
		return l->count;
	while (hi - lo > 1) {
		size_t middle = lo + (hi - lo) / 2;
		if (l->lo + l->starts[middle] <= addr)
			lo = middle;
		else
			hi = middle;
	}
	return lo;
}

/* ---- instructions to show ---- */

static void choose_window(struct listing *l, bool whole)
{
	size_t center = l->marked < l->count ? l->marked : l->current;
	l->first = 0;
	l->end = l->count;
	if (l->options->all || whole) {
		l->end = l->count < MOST ? l->count : MOST;
		return;
	}
	if (center == l->count) { /* a function from its start */
		l->end = l->count < XC_DISAS_MOST ? l->count : XC_DISAS_MOST;
		return;
	}
	l->first = center > l->options->before ? center - l->options->before : 0;
	if (l->count - center > (size_t)l->options->after + 1)
		l->end = center + l->options->after + 1;
}

/* The innermost line of an address, and the inlined function it is in (NULL for the function itself). */
static void line_of(const struct listing *l, xc_addr addr, const char **file, unsigned *line, const char **inlined)
{
	const struct xc_place *place = xc_debuginfo_place(l->process, addr);
	*file = *inlined = NULL;
	*line = 0;
	if (!place->levels || (!place->level_count && !place->line_only))
		return;
	*file = place->levels[0].file;
	*line = place->levels[0].line;
	if (place->level_count > 1)
		*inlined = place->levels[0].function ? place->levels[0].function : "an inlined function";
}

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* The name is escaped: the listing's own ends of lines are its only ones. */
static void add_named(struct xc_text *text, const char *before, const char *name, const char *behind)
{
	xc_text_add(text, before);
	xc_text_name(text, name);
	xc_text_add(text, behind);
}

static void add_source(struct listing *l, const char *file, unsigned line, const char *inlined)
{
	if (l->options->no_source || !file || !line ||
	    (line == l->line && same(file, l->file) && same(inlined, l->inlined)))
		return;
	const char *slash = strrchr(file, '/'), *source = xc_source_reader_line(l->source, file, line);
	xc_text_name(&l->text, slash ? slash + 1 : file);
	xc_text_printf(&l->text, ":%u", line);
	if (inlined)
		add_named(&l->text, "  (inlined ", inlined, ")");
	const struct xc_scrub none = {.count = 0};
	xc_auto(xc_text_fini) struct xc_text without = {0};
	if (source && l->options->redact && xc_scrub_source(&none, source, &without))
		source = xc_text_string(&without);
	if (source && *source)
		xc_text_printf(&l->text, "  %s", source);
	xc_text_char(&l->text, '\n');
	l->file = file;
	l->line = line;
	l->inlined = inlined;
}

static void add_hex(struct xc_text *text, const uint8_t *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		xc_text_printf(text, i ? " %02x" : "%02x", bytes[i]);
}

static void pad_to(struct xc_text *text, size_t start, size_t width)
{
	do
		xc_text_char(text, ' ');
	while (text->len - start < width);
}

static uint64_t offset_of(const struct listing *l, xc_addr addr, bool *known_out)
{
	const struct xc_place *place = xc_debuginfo_place(l->process, addr);
	*known_out = true;
	if (l->has_range && addr >= l->range.lo && addr <= l->range.hi)
		return addr - l->range.lo;
	*known_out = place->symbol != NULL;
	return place->symbol_offset;
}

/* "=> 0x401136 <+10>:  " */
static void add_place(struct listing *l, const struct xc_code *code, size_t index)
{
	bool known;
	uint64_t offset = offset_of(l, code->addr, &known);
	xc_text_printf(&l->text, "%s 0x%" PRIx64,
		       index == l->current  ? "=>"
		       : index == l->marked ? "->"
					    : "  ",
		       code->addr);
	size_t start = l->text.len;
	if (known)
		xc_text_printf(&l->text, " <+%" PRIu64 ">:", offset);
	else
		xc_text_char(&l->text, ':');
	pad_to(&l->text, start, 10);
	if (l->options->bytes) {
		start = l->text.len;
		add_hex(&l->text, l->bytes + (code->addr - l->lo), code->length);
		pad_to(&l->text, start, 3 * BYTES + 1);
	}
}

static json_t *instruction_object(const struct listing *l, const struct xc_code *code, size_t index, const char *file,
				  unsigned line, const char *inlined)
{
	const struct xc_place *place = xc_debuginfo_place(l->process, code->addr);
	xc_auto(xc_text_fini) struct xc_text hex = {0};
	bool known;
	uint64_t offset = offset_of(l, code->addr, &known);
	const char *function = l->has_range && l->range.function ? l->range.function : place->symbol;
	json_t *object = json_object();
	add_hex(&hex, l->bytes + (code->addr - l->lo), code->length);
	xc_jsonvalue_set(object, "addr", xc_jsonvalue_address(code->addr));
	xc_jsonvalue_set(object, "offset", known ? xc_jsonvalue_count(offset) : json_null());
	xc_jsonvalue_set(object, "function", xc_jsonvalue_text(function));
	xc_jsonvalue_set(object, "text", xc_jsonvalue_text(code->text));
	xc_jsonvalue_set(object, "bytes", xc_jsonvalue_text(hex.bytes));
	xc_jsonvalue_set(object, "file", xc_jsonvalue_text(file));
	xc_jsonvalue_set(object, "line", line ? xc_jsonvalue_count(line) : json_null());
	if (inlined)
		xc_jsonvalue_set(object, "inlined", xc_jsonvalue_text(inlined));
	xc_jsonvalue_set(object, "current", json_boolean(index == l->current));
	if (!code->valid)
		xc_jsonvalue_set(object, "invalid", json_true());
	return object;
}

static void add_instruction(struct listing *l, size_t index)
{
	size_t at = l->starts[index], next = index + 1 < l->count ? l->starts[index + 1] : l->size;
	xc_auto(xc_text_fini) struct xc_text comment = {0}, operands = {0};
	const struct xc_code_view view = {
		.process = l->process,
		.disas = l->disas,
		.range = l->has_range ? &l->range : NULL,
		.regs = l->scope->has_frame ? &l->scope->frame.regs : NULL,
		.redact = l->options->redact,
		.pages = &l->pages,
	};
	const char *file, *inlined;
	unsigned line;
	struct xc_code code;
	xc_disas_decode(l->disas, l->bytes + at, next - at, l->lo + at, &code);
	line_of(l, code.addr, &file, &line, &inlined);
	json_t *object = instruction_object(l, &code, index, file, line, inlined);
	add_source(l, file, line, inlined);
	add_place(l, &code, index);
	size_t start = l->text.len;
	xc_text_add(&l->text, code.text);
	xc_disas_note(&view, &code, &l->text, &comment, object);
	if (comment.len) {
		pad_to(&l->text, start, INSTRUCTION);
		xc_text_printf(&l->text, "# %s", comment.bytes);
	}
	xc_text_char(&l->text, '\n');
	if (index == l->current) {
		xc_disas_note_operands(&view, &code, &operands, object);
		if (operands.len)
			xc_text_printf(&l->text, "%*s# %s\n", 14, "", operands.bytes);
	}
	json_array_append_new(l->instructions, object);
}

/* ---- the document ---- */

static void add_head(struct listing *l, json_t *root)
{
	char name[NAME];
	const struct xc_module *module = xc_process_module(l->process, l->asked);
	const char *function = l->has_range && l->range.function
				       ? l->range.function
				       : xc_symbol_describe(l->process, l->asked, name, sizeof name);
	xc_jsonvalue_set(root, "function", xc_jsonvalue_text(function));
	xc_jsonvalue_set(root, "module", xc_jsonvalue_text(module ? module->name : NULL));
	xc_jsonvalue_set(root, "start", l->has_range ? xc_jsonvalue_address(l->range.lo) : json_null());
	xc_jsonvalue_set(root, "end",
			 l->has_range && l->range.end_known ? xc_jsonvalue_address(l->range.hi) : json_null());
	xc_jsonvalue_set(root, "bounds", xc_jsonvalue_text(l->has_range ? l->range.how : NULL));
	xc_text_name(&l->text, function ? function : "code without a name");
	if (module)
		add_named(&l->text, " in ", module->name, "");
	if (l->has_range && l->range.end_known)
		xc_text_printf(&l->text, ", %" PRIu64 " bytes at 0x%" PRIx64, l->range.hi - l->range.lo + 1,
			       l->range.lo);
	if (l->current < l->count && l->scope->thread)
		xc_text_printf(&l->text, "; frame #%u of thread %d", l->scope->row, l->scope->thread->tid);
	xc_text_char(&l->text, '\n');
}

static void add_left_out(struct listing *l, size_t count, const char *where)
{
	if (count)
		xc_text_printf(&l->text, "   … %zu instruction%s %s\n", count, count == 1 ? "" : "s", where);
}

static void add_document(struct listing *l, struct xc_section *s)
{
	json_t *root = json_object();
	l->instructions = json_array();
	l->source = xc_source_reader_new(l->process);
	add_head(l, root);
	add_left_out(l, l->first, "before");
	for (size_t i = l->first; i < l->end; i++)
		add_instruction(l, i);
	add_left_out(l, l->count - l->end, "more");
	xc_jsonvalue_set(root, "before", xc_jsonvalue_count(l->first));
	xc_jsonvalue_set(root, "after", xc_jsonvalue_count(l->count - l->end));
	xc_jsonvalue_set(root, "instructions", l->instructions);
	if (xc_source_reader_hint(l->source))
		xc_text_printf(&l->text, "   source lines: %s\n", xc_source_reader_hint(l->source));
	xc_source_reader_free(l->source);
	xc_section_document(s, "code", xc_text_string(&l->text), root);
}

static void add_messages(const struct listing *l, struct xc_section *s)
{
	if (!l->has_range)
		xc_section_message(s, XC_INFO, NULL,
				   "the start of the function is not known: decoding starts at the address");
	if (!xc_code_executable(l->process, l->asked))
		xc_section_message(s, XC_WARNING, NULL, "these bytes are not in executable memory: they are data");
	if (l->has_range && !l->range.end_known)
		xc_section_message(s, XC_INFO, NULL, "the symbol has no size: the end of the function is not known");
	if (l->cut_in)
		xc_section_message(s, XC_WARNING, NULL,
				   "decoding from the start of the function misses this address, so it restarts there");
	if (l->count > l->end && !l->options->all)
		xc_section_message(s, XC_INFO, NULL, "--all shows the whole function");
	if (l->size == l->wanted || l->options->count || (l->options->length && l->size >= l->options->length))
		return;
	xc_auto(xc_text_fini) struct xc_text why = {0};
	xc_value_fault(l->process, l->lo + l->size, 1, &why);
	xc_section_message(s, XC_WARNING, NULL, "code ends at %s", xc_text_string(&why));
}

static struct xc_error *list(struct listing *l, struct xc_section *s)
{
	const struct xc_disas_options *o = l->options;
	bool exact = o->count || o->length;
	l->has_range = xc_disas_range(l->process, l->asked, &l->range);
	xc_disas_thumb(l->disas, l->has_range && l->range.thumb);
	l->lo = l->has_range && !exact ? l->range.lo : l->asked;
	uint64_t length = o->length                ? o->length + XC_CODE_LONGEST - 1 /* the last may extend past it */
			  : exact || !l->has_range ? (exact ? o->count : XC_DISAS_BEFORE) * XC_CODE_LONGEST
						   : l->range.hi - l->lo + 1;
	struct xc_error *err = read_bytes(l, length);
	if (err)
		return err;
	uint64_t most = o->count ? o->count : l->has_range || o->length ? UINT64_MAX : XC_DISAS_BEFORE;
	find_starts(l, most, o->length ? o->length : UINT64_MAX);
	l->current = l->has_pc ? index_of(l, l->pc) : l->count;
	l->marked = exact || l->asked == l->lo ? l->count : index_of(l, l->asked);
	if (l->marked == l->current)
		l->marked = l->count;
	choose_window(l, exact);
	add_document(l, s);
	add_messages(l, s);
	return NULL;
}

struct xc_error *xc_disas_report(struct xc_section *s, const struct xc_frame_scope *scope, const xc_addr *addr,
				 const struct xc_disas_options *options)
{
	struct listing l = {.process = scope->process, .scope = scope, .options = options};
	const struct xc_frame *frame = scope->has_frame ? &scope->frame : NULL;
	if (frame) {
		l.has_pc = true;
		l.pc = xc_frame_lookup(frame);
		l.exact = frame->interrupted;
	}
	if (!frame && !addr)
		return xc_error_new(XC_ERR_NOT_FOUND, "the current instruction is not known: %s",
				    scope->why_no_frame ? scope->why_no_frame : "there is no frame");
	l.asked = addr ? *addr : l.pc;
	struct xc_error *err = xc_disas_open(l.process->arch, options->syntax, &l.disas);
	if (!err)
		err = list(&l, s);
	xc_disas_close(l.disas);
	xc_text_fini(&l.text);
	free(l.starts);
	free(l.bytes);
	return err;
}
