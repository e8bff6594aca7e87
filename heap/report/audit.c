/* The first damage is mostly the only original one: the others follow from it. */
#include "heap/report/audit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "heap/blocks/allocator.h"
#include "heap/report/audit_coverage.h"
#include "heap/report/overrun.h"
#include "heap/query/owner.h"
#include "heap/types/typing.h"
#include "heap/query/whatis.h"

enum {
	SHOWN_BYTES = 256, /* of an overrun */
	LINE = 16,
	WHAT = 6,
	FOUND, /* columns of the table */
};

/* ---- descriptions of blocks ---- */

/* "struct foo (heap, live, 352 bytes)" */
static char *block_text(const struct xc_heap *heap, uint32_t block)
{
	struct xc_text text = {0};
	struct xc_what what = xc_what(heap->process, heap, xc_block_addr(&heap->blocks, block));
	xc_text_printf(&text, "0x%" PRIx64 ", ", what.addr);
	xc_what_text(heap->process, heap, &what, &text);
	return xc_text_take(&text);
}

static const char *type_name(const struct xc_heap *heap, uint32_t block)
{
	return heap->typing && block != XC_NO_BLOCK ? xc_typing_name(heap->typing, block) : NULL;
}

/* ---- the culprit ---- */

static const char *const forms[] = {
	[XC_OVERRUN_BYTES] = "bytes",
	[XC_OVERRUN_TEXT] = "a text",
	[XC_OVERRUN_FILL] = "one byte repeated",
};

static void report_culprit(struct xc_section *s, struct xc_heap *heap, const struct xc_overrun *overrun)
{
	xc_auto(xc_freep) char *block = block_text(heap, overrun->block);
	xc_auto(xc_freep) char *how = NULL;
	if (overrun->certain)
		how = xc_asprintf("%s that begins in it, at +0x%" PRIx64 ", continues past its end",
				  forms[overrun->form],
				  overrun->whole_from - xc_block_addr(&heap->blocks, overrun->block));
	else
		how = xc_strdup("it ends where the damage begins; a write before the beginning of the damaged block "
				"is possible too");
	xc_section_text(s, "culprit", overrun->certain ? "written past its end" : "probably written past its end",
			block);
	xc_section_address(s, "culprit_addr", "its address", xc_block_addr(&heap->blocks, overrun->block))->quiet =
		true;
	xc_section_text(s, "culprit_why", "because", how);
	struct xc_text owner = {0};
	xc_owner_text(heap, overrun->block, &owner);
	if (owner.len)
		xc_section_text(s, "culprit_owner", "held by", owner.bytes);
	xc_text_fini(&owner);
	xc_section_bytes(s, "overran", "bytes past its end, at least", overrun->len);
}

/* "55d0c0ffee10  41 42 43 …  |ABC…|", a line for each 16 bytes. */
static void add_lines(struct xc_text *text, xc_addr addr, const uint8_t *bytes, size_t len)
{
	for (size_t at = 0; at < len; at += LINE) {
		size_t count = len - at < LINE ? len - at : LINE;
		xc_text_printf(text, "0x%" PRIx64 " ", addr + at);
		for (size_t i = 0; i < LINE; i++)
			i < count ? xc_text_printf(text, " %02x", bytes[at + i]) : xc_text_add(text, "   ");
		xc_text_add(text, "  ");
		for (size_t i = 0; i < count; i++) {
			uint8_t byte = bytes[at + i];
			xc_text_char(text, byte >= ' ' && byte < 0x7f ? (char)byte : '.');
		}
		xc_text_char(text, '\n');
	}
}

static void report_bytes(struct xc_section *s, const struct xc_heap *heap, const struct xc_overrun *overrun)
{
	uint8_t bytes[SHOWN_BYTES];
	struct xc_text text = {0};
	uint64_t most = overrun->len < sizeof bytes ? overrun->len : sizeof bytes;
	size_t len = xc_space_peek(heap->process->space, overrun->from, bytes, most);
	if (len == 0)
		return;
	if (overrun->form == XC_OVERRUN_TEXT) {
		xc_text_char(&text, '"');
		xc_text_escaped(&text, (const char *)bytes, len);
		xc_text_add(&text, len < overrun->len ? "\"…" : "\"");
		xc_section_text(s, "bytes", "which are", xc_text_string(&text))->cell.secret = true;
	} else {
		add_lines(&text, overrun->from, bytes, len);
		struct xc_item *item = xc_section_lines(s, "bytes", xc_text_string(&text));
		item->label = "which are";
		item->secret = true;
	}
	xc_text_fini(&text);
}

/* ---- the first damage ---- */

const struct xc_damage *xc_audit_first(const struct xc_heap *heap)
{
	for (size_t i = 0; i < heap->damage_count; i++)
		if (heap->damages[i].kind == XC_DAMAGE_HEADER)
			return &heap->damages[i];
	return heap->damage_count ? &heap->damages[0] : NULL;
}

/* Written before its beginning. */
static void report_behind(struct xc_section *s, const struct xc_heap *heap, const struct xc_overrun *overrun)
{
	xc_auto(xc_freep) char *block = block_text(heap, overrun->behind);
	xc_section_text(s, "culprit", "probably written before its beginning", block);
	xc_section_address(s, "culprit_addr", "its address", xc_block_addr(&heap->blocks, overrun->behind))->quiet =
		true;
	xc_section_text(s, "culprit_why", "because",
			"the header's first bytes are right, and the wrong ones go on into the block");
}

static void report_header(struct xc_section *s, struct xc_heap *heap, const struct xc_damage *damage)
{
	struct xc_overrun overrun;
	xc_overrun_find(heap, damage, &overrun);
	if (overrun.behind != XC_NO_BLOCK) {
		report_behind(s, heap, &overrun);
		return;
	}
	if (overrun.block == XC_NO_BLOCK) {
		xc_section_unknown(s, "culprit", "written past its end", "no block is known to end there");
		return;
	}
	report_culprit(s, heap, &overrun);
	report_bytes(s, heap, &overrun);
}

/* The block whose header or link is damaged; XC_NO_BLOCK if it is lost. */
static uint32_t block_of(const struct xc_heap *heap, const struct xc_damage *damage)
{
	uint32_t block = xc_blocks_from(&heap->blocks, damage->addr);
	return block < heap->blocks.count && xc_block_addr(&heap->blocks, block) - damage->addr <= 16 ? block
												      : XC_NO_BLOCK;
}

/* The value of a link that leads nowhere is reported: the program wrote it there. */
static bool is_of_link(const struct xc_damage *damage)
{
	return damage->kind == XC_DAMAGE_LINK;
}

static void report_first(struct xc_section *s, struct xc_heap *heap)
{
	const struct xc_damage *damage = xc_audit_first(heap);
	uint32_t block = block_of(heap, damage);
	xc_section_address(s, "at", "damaged at", damage->addr);
	xc_section_text(s, "what", "what is wrong", damage->what)->cell.secret = is_of_link(damage);
	if (damage->found)
		xc_section_text(s, "found", "found", damage->found)->cell.secret =
			true; /* the data that overwrote it */
	if (damage->expected)
		xc_section_text(s, "expected", "expected", damage->expected);
	if (block != XC_NO_BLOCK) {
		xc_auto(xc_freep) char *text = block_text(heap, block);
		xc_section_text(s, "block", "the block it is of", text);
	}
	if (damage->kind == XC_DAMAGE_HEADER)
		report_header(s, heap, damage);
}

static const char *const headlines[] = {
	[XC_DAMAGE_HEADER] = "a block's header was overwritten",
	[XC_DAMAGE_LINK] = "a block was written to after it was freed",
	[XC_DAMAGE_TWICE] = "a block was freed twice",
	[XC_DAMAGE_BOOKS] = "the allocator's own state is damaged",
};

static const char *headline(struct xc_arena *memory, const struct xc_heap *heap)
{
	const struct xc_damage *first = xc_audit_first(heap);
	size_t others = heap->damage_count - 1 + heap->damage_dropped;
	return others ? xc_arena_printf(memory, "%s: 0x%" PRIx64 "; %zu other place%s damaged too",
					headlines[first->kind], first->addr, others, others == 1 ? " is" : "s are")
		      : xc_arena_printf(memory, "%s: 0x%" PRIx64, headlines[first->kind], first->addr);
}

/* ---- all damage ---- */

static const char *const kinds[] = {
	[XC_DAMAGE_HEADER] = "header",
	[XC_DAMAGE_LINK] = "link",
	[XC_DAMAGE_TWICE] = "twice",
	[XC_DAMAGE_BOOKS] = "books",
};

static uint64_t lost_bytes(const struct xc_damage *damage)
{
	return damage->lost_lo <= damage->lost_hi ? damage->lost_hi - damage->lost_lo + 1 : 0;
}

static void add_row(struct xc_section *s, struct xc_table *table, const struct xc_heap *heap,
		    const struct xc_damage *damage)
{
	struct xc_overrun overrun = {.block = XC_NO_BLOCK, .behind = XC_NO_BLOCK};
	if (damage->kind == XC_DAMAGE_HEADER)
		xc_overrun_find(heap, damage, &overrun);
	if (overrun.behind != XC_NO_BLOCK)
		overrun.block = XC_NO_BLOCK;
	bool known = overrun.block != XC_NO_BLOCK;
	struct xc_cell cells[] = {
		xc_cell_address(damage->addr),
		xc_cell_text(kinds[damage->kind]),
		known ? xc_cell_address(xc_block_addr(&heap->blocks, overrun.block)) : xc_cell_null(NULL),
		xc_cell_text(type_name(heap, overrun.block)),
		known ? xc_cell_bytes(overrun.len) : xc_cell_null(NULL),
		lost_bytes(damage) ? xc_cell_bytes(lost_bytes(damage)) : xc_cell_null(NULL),
		xc_cell_text(damage->what),
		xc_cell_text(damage->found),
		xc_cell_text(damage->expected),
	};
	cells[FOUND].secret = damage->found != NULL;
	cells[WHAT].secret = is_of_link(damage);
	xc_table_row(s, table, cells);
}

static void report_all(struct xc_section *s, const struct xc_heap *heap)
{
	static const struct xc_column columns[] = {
		{.key = "addr", .label = "AT", .kind = XC_FIELD_ADDRESS},
		{.key = "kind", .label = "KIND", .kind = XC_FIELD_TEXT},
		{.key = "culprit", .label = "WRITTEN PAST", .kind = XC_FIELD_ADDRESS},
		{.key = "type", .label = "TYPE", .kind = XC_FIELD_TEXT, .verbose = true},
		{.key = "overran", .label = "BY", .kind = XC_FIELD_BYTES},
		{.key = "lost", .label = "LOST", .kind = XC_FIELD_BYTES},
		{.key = "what", .label = "WHAT", .kind = XC_FIELD_TEXT},
		{.key = "found", .label = "FOUND", .kind = XC_FIELD_TEXT, .verbose = true},
		{.key = "expected", .label = "EXPECTED", .kind = XC_FIELD_TEXT, .verbose = true},
	};
	struct xc_table *table = xc_section_table(s, "damages", columns, XC_COUNT(columns));
	for (size_t i = 0; i < heap->damage_count; i++)
		add_row(s, table, heap, &heap->damages[i]);
	if (heap->damage_dropped)
		xc_section_message(s, XC_WARNING, NULL, "%zu more damaged places are not listed", heap->damage_dropped);
}

/* ---- lost memory ---- */

uint64_t xc_audit_lost(const struct xc_heap *heap)
{
	uint64_t bytes = 0;
	for (size_t i = 0; i < heap->damage_count; i++)
		bytes += lost_bytes(&heap->damages[i]);
	return bytes;
}

static void report_loss(struct xc_section *s, const struct xc_heap *heap)
{
	uint64_t bytes = xc_audit_lost(heap);
	size_t ranges = 0;
	for (size_t i = 0; i < heap->damage_count; i++)
		ranges += lost_bytes(&heap->damages[i]) > 0;
	xc_section_bytes(s, "lost", "memory whose blocks are not known", bytes)->quiet = bytes == 0;
	if (ranges)
		xc_section_message(
			s, XC_WARNING, NULL,
			"in %zu range%s the blocks could not be identified; leaks and totals do not include them",
			ranges, ranges == 1 ? "" : "s");
	if (heap->blocks.left_out)
		xc_section_message(s, XC_WARNING, NULL, "%zu blocks overlap others and are left out",
				   heap->blocks.left_out);
}

/* ---- a running process ---- */

static void report_looks(struct xc_section *s, const struct xc_heap *heap)
{
	const struct xc_audit_coverage *audit_coverage = heap->audit_coverage;
	if (heap->damage_count && audit_coverage->looks > 1)
		xc_section_message(
			s, XC_INFO, NULL,
			"the process is running; each of %u passes found this damage: it is no change in progress",
			audit_coverage->looks);
	else if (heap->damage_count)
		xc_section_message(s, XC_WARNING, NULL,
				   "the process is running and was examined once: this may be a change in progress");
	if (audit_coverage->passing)
		xc_section_message(
			s, XC_INFO, NULL,
			"%zu more place%s looked damaged in one pass but not in another: changes in progress",
			audit_coverage->passing, audit_coverage->passing == 1 ? "" : "s");
	xc_section_count(s, "looks", "looks", audit_coverage->looks ? audit_coverage->looks : 1)->quiet = true;
	xc_section_count(s, "passing", "places that changed meanwhile", audit_coverage->passing)->quiet = true;
}

/* ---- the report ---- */

static int damage_order(const void *a, const void *b)
{
	const struct xc_damage *x = a, *y = b;
	return x->addr != y->addr ? (x->addr < y->addr ? -1 : 1) : (int)x->kind - (int)y->kind;
}

void xc_audit_lists(struct xc_heap *heap)
{
	if (heap->audit_coverage)
		return;
	heap->audit_coverage = xc_arena_alloc(&heap->memory, sizeof *heap->audit_coverage);
	for (size_t i = 0; i < heap->part_count; i++)
		if (heap->parts[i].allocator->audit)
			heap->parts[i].allocator->audit(heap, heap->parts[i].state, heap->audit_coverage);
	if (heap->damage_count)
		qsort(heap->damages, heap->damage_count, sizeof *heap->damages, damage_order);
}

void xc_audit(struct xc_section *section, struct xc_heap *heap)
{
	const char *why = xc_heap_why_empty(heap);
	struct xc_typing *typing;
	xc_audit_lists(heap);
	if (why)
		xc_section_message(section, XC_WARNING, NULL, "there are no blocks to check: %s", why);
	if (heap->damage_count) {
		xc_error_free(xc_typing_of(heap, &typing)); /* without types the report is made all the same */
		section->headline = headline(&section->report->arena, heap);
		report_first(section, heap);
		report_all(section, heap);
		report_loss(section, heap);
	} else if (!why) {
		section->headline = xc_audit_coverage_headline(section, heap);
	}
	if (heap->process->live)
		report_looks(section, heap);
	xc_section_bool(section, "damaged", "damaged", heap->damage_count > 0)->quiet = true;
	xc_audit_coverage_report(section, heap);
}
