/* The place of an address, in one line. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/facts/facts.h"
#include "core/text/jsonvalue.h"
#include "dwarf/symbolize/debuginfo.h"
#include "dwarf/types/field.h"
#include "dwarf/lookup/lookup.h"
#include "dwarf/elf/symbol.h"
#include "heap/graph/claim.h"
#include "heap/query/objects.h"
#include "heap/types/typing.h"
#include "heap/query/whatis.h"

enum { NAME = 512 };

/* ---- place ---- */

/* The thread whose stack pointer is nearest below addr in the mapping; else nearest above it. */
static const struct xc_thread *thread_in(const struct xc_process *process, const struct xc_mapping *m, xc_addr addr)
{
	const struct xc_thread *best = NULL;
	uint64_t best_sp = 0, sp;
	for (size_t i = 0; i < process->thread_count; i++) {
		const struct xc_thread *thread = &process->threads[i];
		if (!thread->has_regs || !xc_regs_get(&thread->regs, process->arch->sp, &sp) || sp < m->lo ||
		    sp > m->hi)
			continue;
		bool below = sp <= addr, best_below = best && best_sp <= addr;
		if (!best || (below && (!best_below || sp > best_sp)) || (!below && !best_below && sp < best_sp)) {
			best = thread;
			best_sp = sp;
		}
	}
	return best;
}

struct xc_what xc_what(const struct xc_process *process, const struct xc_heap *heap, xc_addr addr)
{
	struct xc_what what = {.kind = XC_WHAT_NOTHING, .addr = addr, .block = XC_NO_BLOCK};
	what.mapping = xc_process_mapping(process, addr);
	if (heap)
		what.block = xc_blocks_find(&heap->blocks, addr);
	what.region = heap ? xc_heap_region(heap, addr) : NULL;
	if (what.block != XC_NO_BLOCK) {
		what.kind = XC_WHAT_BLOCK;
		what.offset = addr - xc_block_addr(&heap->blocks, what.block);
	} else if (what.region) {
		what.kind = XC_WHAT_MANAGED;
	} else if ((what.module = xc_process_module(process, addr))) {
		what.kind = what.mapping && what.mapping->writable ? XC_WHAT_DATA : XC_WHAT_CODE;
	} else if (what.mapping) {
		what.thread = what.mapping->path ? NULL : thread_in(process, what.mapping, addr);
		what.kind = what.thread ? XC_WHAT_STACK : XC_WHAT_MAPPING;
	} else if (xc_space_find(process->space, addr)) {
		what.kind = XC_WHAT_MAPPING;
	}
	return what;
}

/* ---- text ---- */

static void add_offset(struct xc_text *text, uint64_t offset)
{
	if (offset)
		xc_text_printf(text, "+0x%llx", (unsigned long long)offset);
}

/* The place in an object of the type: ".querybuf+3". */
static void add_path(struct xc_text *text, const struct xc_type *type, uint64_t offset)
{
	uint64_t rest;
	struct xc_text path = {0};
	xc_field_path(&path, type, offset, &rest);
	if (path.len)
		xc_text_printf(text, " %s", path.bytes);
	else if (rest)
		xc_text_char(text, ' ');
	add_offset(text, rest);
	xc_text_fini(&path);
}

static void add_typed_path(struct xc_text *text, const struct xc_typed *typed, uint64_t offset)
{
	uint64_t size;
	if (offset == 0)
		return;
	if (offset < typed->offset || typed->shape == XC_TYPED_TEXT) {
		xc_text_char(text, ' ');
		add_offset(text, offset);
		return;
	}
	offset -= typed->offset;
	if (typed->shape == XC_TYPED_ARRAY && xc_type_size(typed->type, &size) && size > 0) {
		xc_text_printf(text, " [%llu]", (unsigned long long)(offset / size));
		offset %= size;
		struct xc_text path = {0};
		uint64_t rest;
		xc_field_path(&path, typed->type, offset, &rest);
		xc_text_add(text, xc_text_string(&path));
		add_offset(text, rest);
		xc_text_fini(&path);
		return;
	}
	add_path(text, typed->type, offset);
}

static void add_block(const struct xc_heap *heap, const struct xc_what *what, struct xc_text *text)
{
	const struct xc_blocks *blocks = &heap->blocks;
	enum xc_block_state state = xc_block_state(blocks, what->block);
	const char *kept = xc_block_free_word(state);
	bool lost =
		xc_heap_blocks_lost(heap, xc_block_addr(blocks, what->block)); /* a type by its size means nothing */
	const struct xc_typed *typed = heap->typing && !lost ? xc_typing_get(heap->typing, what->block) : NULL;
	if (typed)
		xc_text_name(text, xc_typing_name(heap->typing, what->block));
	else
		xc_text_add(text, kept ? "free block" : "block");
	if (typed && (typed->shape == XC_TYPED_ARRAY || typed->shape == XC_TYPED_TEXT))
		xc_text_printf(text, xc_typing_count_sure(heap->typing, what->block) ? " [%llu]" : " [up to %llu]",
			       (unsigned long long)xc_typing_count(heap->typing, what->block));
	xc_text_printf(text, " (heap, %s, %llu bytes%s", kept ? kept : xc_object_state(heap, what->block),
		       (unsigned long long)xc_block_size(blocks, what->block), lost ? " if it is one block" : "");
	const struct xc_heap_claim *claim = xc_claim_of(heap, what->block);
	if (claim) {
		xc_text_add(text, ", ");
		xc_text_name(text, claim->what);
	}
	xc_text_char(text, ')');
	if (typed) {
		add_typed_path(text, typed, what->offset);
	} else if (what->offset) {
		xc_text_char(text, ' ');
		add_offset(text, what->offset);
	}
}

/* The type of a data symbol's variable; NULL if debug information lacks it. */
static const struct xc_type *type_of_symbol(const struct xc_process *process, const struct xc_module *module,
					    const char *name)
{
	const struct xc_query query = {
		.name = name, .kinds = XC_NAME_VARIABLE, .module = (struct xc_module *)(uintptr_t)module};
	struct xc_definition found;
	return xc_lookup_one(process, &query, &found) ? xc_type_of(xc_types_of(process), &found.die) : NULL;
}

static void add_data(const struct xc_process *process, const struct xc_what *what, struct xc_text *text)
{
	char name[NAME];
	const char *symbol = xc_symbol_describe(process, what->addr, name, sizeof name);
	if (!symbol) {
		char place[NAME];
		const char *where = xc_facts_place(process, what->addr, place, sizeof place);
		xc_text_name(text, where ? where : what->module->name);
		xc_text_add(text, " (data)");
		return;
	}
	char *plus = strrchr(name, '+');
	uint64_t offset = plus ? strtoull(plus + 1, NULL, 16) : 0;
	if (plus)
		*plus = '\0';
	const struct xc_type *type = type_of_symbol(process, what->module, name);
	xc_text_name(text, name);
	if (type)
		add_path(text, type, offset);
	else
		add_offset(text, offset);
	xc_text_add(text, " (");
	xc_text_name(text, what->module->name);
	xc_text_add(text, ", data)");
}

static void add_code(const struct xc_process *process, const struct xc_what *what, struct xc_text *text)
{
	char name[NAME];
	const char *symbol = xc_symbol_describe(process, what->addr, name, sizeof name);
	xc_text_name(text, symbol ? symbol : what->module->name);
	bool code = what->mapping && what->mapping->executable;
	xc_text_printf(text, " (%s%s%s)", symbol ? what->module->name : "", symbol ? ", " : "",
		       code ? "code" : "constants");
}

void xc_what_text(const struct xc_process *process, const struct xc_heap *heap, const struct xc_what *what,
		  struct xc_text *text)
{
	char place[NAME];
	const char *where;
	switch (what->kind) {
	case XC_WHAT_BLOCK:
		add_block(heap, what, text);
		break;
	case XC_WHAT_MANAGED:
		xc_text_printf(text, "between blocks (heap, %s, %s)", heap->arenas[what->region->arena].name,
			       what->region->what);
		break;
	case XC_WHAT_STACK:
		xc_text_printf(text, "stack of thread %d", (int)what->thread->tid);
		break;
	case XC_WHAT_DATA:
		add_data(process, what, text);
		break;
	case XC_WHAT_CODE:
		add_code(process, what, text);
		break;
	case XC_WHAT_MAPPING:
		where = xc_facts_place(process, what->addr, place, sizeof place);
		xc_text_name(text, where ? where : "anonymous memory");
		break;
	case XC_WHAT_NOTHING:
		xc_text_add(text, "not mapped");
		break;
	}
}

/* ---- pointers ---- */

static void annotate(const void *context, xc_addr addr, struct xc_text *text)
{
	const struct xc_heap *heap = context;
	const struct xc_what what = xc_what(heap->process, heap, addr);
	if (what.kind != XC_WHAT_BLOCK && what.kind != XC_WHAT_STACK)
		return;
	xc_text_add(text, " → ");
	xc_what_text(heap->process, heap, &what, text);
}

/* Describes the target of a pointer into a block or a stack. */
static json_t *describe(const void *context, xc_addr addr)
{
	const struct xc_heap *heap = context;
	const struct xc_what what = xc_what(heap->process, heap, addr);
	const struct xc_typed *typed = NULL;
	struct xc_text path = {0};
	if (what.kind == XC_WHAT_STACK)
		return json_pack("{s:s, s:i}", "state", "stack", "thread", (int)what.thread->tid);
	if (what.kind != XC_WHAT_BLOCK)
		return NULL;
	if (heap->typing && (typed = xc_typing_get(heap->typing, what.block)))
		add_typed_path(&path, typed, what.offset);
	const char *field = xc_text_string(&path);
	json_t *json = json_object();
	xc_jsonvalue_set(json, "addr", xc_jsonvalue_address(xc_block_addr(&heap->blocks, what.block)));
	xc_jsonvalue_set(json, "size", xc_jsonvalue_count(xc_block_size(&heap->blocks, what.block)));
	xc_jsonvalue_set(json, "state", xc_jsonvalue_text(xc_object_state(heap, what.block)));
	xc_jsonvalue_set(json, "type", xc_jsonvalue_text(typed ? xc_typing_name(heap->typing, what.block) : NULL));
	xc_jsonvalue_set(json, "count", xc_jsonvalue_count(typed ? xc_typing_count(heap->typing, what.block) : 0));
	xc_jsonvalue_set(json, "confidence",
			 xc_jsonvalue_text(typed ? xc_confidence_word((enum xc_confidence)typed->confidence) : NULL));
	xc_jsonvalue_set(json, "offset", xc_jsonvalue_count(what.offset));
	xc_jsonvalue_set(json, "path", xc_jsonvalue_text(typed && path.len ? field + (*field == ' ') : NULL));
	xc_text_fini(&path);
	return json;
}

void xc_what_annotate(struct xc_format_options *format, const struct xc_heap *heap)
{
	format->annotate = annotate;
	format->describe = describe;
	format->annotate_context = heap;
}

static void add_word(struct xc_section *s, struct xc_table *table, const struct xc_heap *heap, xc_addr at, xc_addr word)
{
	const struct xc_what what = xc_what(heap->process, heap, word);
	struct xc_text text = {0};
	if (what.kind == XC_WHAT_NOTHING || what.kind == XC_WHAT_MAPPING)
		return;
	xc_what_text(heap->process, heap, &what, &text);
	const struct xc_cell row[] = {xc_cell_address(at), xc_cell_address(word), xc_cell_text(xc_text_string(&text))};
	xc_table_row(s, table, row);
	xc_text_fini(&text);
}

void xc_what_words(struct xc_section *s, const struct xc_heap *heap, xc_addr addr, uint64_t len)
{
	static const struct xc_column columns[] = {
		{.key = "at", .label = "AT", .kind = XC_FIELD_ADDRESS},
		{.key = "value", .label = "POINTS TO", .kind = XC_FIELD_ADDRESS},
		{.key = "what", .label = "WHICH IS", .kind = XC_FIELD_TEXT},
	};
	const size_t size = heap->process->arch->word;
	struct xc_table *table = xc_section_table(s, "pointers", columns, XC_COUNT(columns));
	uint64_t word, skip = (size - addr % size) % size;
	for (uint64_t at = skip; at < len && size <= len - at; at += size)
		if (xc_space_peek_uint(heap->process->space, addr + at, size, &word))
			add_word(s, table, heap, addr + at, word);
}
