/* free_argument: the argument of the blamed function's call (argument.h). */
#include "triage/runtime/free_argument.h"

#include <inttypes.h>
#include <string.h>

#include "heap/report/audit.h"
#include "heap/report/overrun.h"
#include "heap/query/rootword.h"
#include "heap/query/whatis.h"
#include "triage/blocks/block_types.h"
#include "triage/blocks/value_place.h"
#include "triage/dataflow/argument.h"
#include "triage/dataflow/libcall.h"
#include "triage/blocks/referrers.h"
#include "triage/blocks/shallow_copy.h"
#include "triage/runtime/freed_holder.h"
#include "triage/util/memory_search.h"
#include "triage/util/names.h"

/* The target of the argument: with a heap the block, else the mapping. */
static void report_target(const struct xc_crash_context *crash, const char *function, const char *name, uint64_t value)
{
	struct xc_what what = xc_what(crash->process, crash->heap, value);
	struct xc_text text = {0};
	xc_what_text(crash->process, crash->heap, &what, &text);
	bool freed = what.kind == XC_WHAT_BLOCK && xc_block_is_free(xc_block_state(&crash->heap->blocks, what.block));
	xc_verdict_evidence(crash->report, "%s() was given 0x%" PRIx64 "%s%s, %s%s", function, value,
			    name ? ", the value of " : "", name ? name : "",
			    freed && !what.offset ? "which is free already: " : "which is: ", xc_text_string(&text));
	xc_text_fini(&text);
	if (freed && !what.offset) /* of several, each may have thought that it owns the block */
		xc_referrers_report(crash, what.block, false, "that block is still");
}

/* The block before the damaged header was written past its end, or the one after before its beginning. */
static bool is_underrun(const struct xc_crash_context *crash)
{
	const struct xc_damage *damage = crash->heap ? xc_audit_first(crash->heap) : NULL;
	struct xc_overrun overrun;
	if (!damage || damage->kind != XC_DAMAGE_HEADER)
		return false;
	xc_overrun_find(crash->heap, damage, &overrun);
	return overrun.behind != XC_NO_BLOCK;
}

static void classify_overrun(struct xc_crash_context *crash)
{
	if (is_underrun(crash)) {
		xc_crash_context_classify(
			crash, "heap-corruption", "underrun", "high", "likely",
			"the size of a heap block was overwritten: something wrote before the block's beginning");
		return;
	}
	xc_crash_context_classify(
		crash, "heap-corruption", "overrun", "high", "likely",
		"the size of a heap block was overwritten: something wrote past the end of the block before "
		"it");
}

/* "double free or corruption" is ambiguous: a block that is not free was not freed twice. */
static void reconsider_free(struct xc_crash_context *crash, bool block, const struct xc_what *what)
{
	if (block && xc_block_is_free(xc_block_state(&crash->heap->blocks, what->block)))
		return;
	const struct xc_damage *damage = crash->heap ? xc_audit_first(crash->heap) : NULL;
	if (damage && damage->kind == XC_DAMAGE_HEADER)
		classify_overrun(crash);
	else if (block)
		xc_crash_context_classify(
			crash, "heap-corruption", "list damage", "high", "likely",
			"the C library found a block that is in use as if it were free: its header was overwritten");
	else
		xc_crash_context_classify(crash, "heap-corruption", "double free", "high", "likely",
					  crash->verdict->cause);
}

/* Is the header of the argument's block damaged? */
enum header { HEADER_RIGHT, HEADER_UNKNOWN, HEADER_DAMAGED };

static enum header header_of(const struct xc_heap *heap, bool known, xc_addr block)
{
	if (!heap)
		return HEADER_UNKNOWN;
	const unsigned header = 2 * heap->process->arch->word;
	enum header found = HEADER_RIGHT;
	for (size_t i = 0; i < heap->damage_count; i++) {
		const struct xc_damage *damage = &heap->damages[i];
		if (damage->kind != XC_DAMAGE_HEADER)
			continue;
		if (known && damage->addr == block - header)
			return HEADER_DAMAGED;
		if (!known || (block - header >= damage->lost_lo && block - header <= damage->lost_hi))
			found = HEADER_UNKNOWN;
	}
	return found;
}

/* "invalid pointer" is also reported for a block whose header was overwritten. A pointer that malloc never returned
 * is not the start of a block. */
static void reconsider_pointer(struct xc_crash_context *crash, bool block, const struct xc_what *what,
			       enum header header)
{
	bool begins = block && what->offset == 0;
	if (begins && header == HEADER_DAMAGED)
		classify_overrun(crash);
	else if (begins || header != HEADER_RIGHT)
		xc_crash_context_classify(
			crash, "heap-corruption", "bad pointer", "high", "likely",
			"free or realloc was given a pointer that malloc never returned, or one to a block "
			"whose header was overwritten");
}

/* The C library compares with its lists of free blocks, but for large blocks with a bit after the block only. */
static void settle_freed(struct xc_crash_context *crash, bool block, const struct xc_what *what, enum header header)
{
	if (block && !what->offset && header == HEADER_RIGHT &&
	    xc_block_is_free(xc_block_state(&crash->heap->blocks, what->block)))
		crash->verdict->cause = xc_arena_strdup(&crash->report->arena,
							"the C library found that a block was freed a second time");
}

static void reconsider(struct xc_crash_context *crash, bool known, uint64_t value)
{
	const char *message = crash->verdict->message ? crash->verdict->message : "", *kind = crash->verdict->kind;
	struct xc_what what = xc_what(crash->process, crash->heap, known ? value : 0);
	bool block = crash->heap && known && what.kind == XC_WHAT_BLOCK;
	if (strstr(message, "double free or corruption"))
		reconsider_free(crash, block, &what);
	else if (kind && strcmp(kind, "overrun") == 0 && is_underrun(crash))
		classify_overrun(crash);
	else if (kind && strcmp(kind, "bad pointer") == 0)
		reconsider_pointer(crash, block, &what, header_of(crash->heap, known, value));
	if (xc_crash_context_is(crash, "heap-corruption") && strcmp(crash->verdict->kind, "double free") == 0)
		settle_freed(crash, block, &what, header_of(crash->heap, known, value));
}

/* The variable of a function of glibc that is being run for the blamed function: a chunk, whose header is before the
 * block. */
static bool find_variable(const struct xc_crash_context *crash, const char *const names[], const char *variable,
			  uint64_t *value_out)
{
	struct xc_value chunk;
	for (size_t i = 0; i < crash->blamed; i++) {
		const struct xc_frame_context in = xc_crash_context_frame(crash, i);
		for (size_t level = 0; level < in.place->level_count && !in.place->line_only; level++)
			if (xc_names_find(names, xc_place_function(in.place, level)) &&
			    xc_variable_find(&in, level, variable, &crash->report->arena, &chunk) &&
			    xc_value_load(&chunk, value_out)) {
				*value_out += 2 * crash->process->arch->word;
				return true;
			}
	}
	return false;
}

/* The program need not have called free() itself: Rust's destructors do. Later checks, of the chunks around, move the
 * variable. */
static bool find_chunk(const struct xc_crash_context *crash, uint64_t *value_out)
{
	static const char *const names[] = {"_int_free", "munmap_chunk", NULL};
	const char *kind = crash->verdict->kind;
	const char *message = crash->verdict->message;
	bool early = message && strstr(message, "free(): invalid next size");
	return kind && (early || strcmp(kind, "double free") == 0 || strcmp(kind, "bad pointer") == 0) &&
	       find_variable(crash, names, "p", value_out);
}

/* The size in a chunk's header, when no chunk there can have it. */
static bool is_overwritten(const struct xc_crash_context *crash, xc_addr chunk, uint64_t *size_out)
{
	const unsigned word = crash->process->arch->word;
	const struct xc_mapping *m = xc_process_mapping(crash->process, chunk);
	return m && xc_space_peek_uint(crash->process->space, chunk + word, word, size_out) && *size_out > 7 &&
	       (*size_out & ~(uint64_t)7) - 1 > m->hi - chunk;
}

static void report_overwritten(const struct xc_crash_context *crash, const char *which, xc_addr chunk)
{
	uint64_t size;
	if (!is_overwritten(crash, chunk, &size))
		return;
	const char *text = xc_arena_printf(&crash->report->arena, "the header of %s is damaged", which);
	xc_verdict_evidence(crash->report, "%s: its size was overwritten with 0x%" PRIx64, text, size);
	xc_verdict_redact(crash->report, text);
}

/* glibc finds the damage by the header of this block, or by that of the block after it. */
static void report_header(const struct xc_crash_context *crash, xc_addr block)
{
	const unsigned word = crash->process->arch->word;
	if (!crash->heap || !xc_crash_context_is(crash, "heap-corruption"))
		return;
	struct xc_what what = xc_what(crash->process, crash->heap, block);
	bool known = what.kind == XC_WHAT_BLOCK && xc_block_state(&crash->heap->blocks, what.block) != XC_BLOCK_UNKNOWN;
	if (block % (2 * word) || (known && what.offset))
		return; /* no block begins there */
	report_overwritten(crash, "that block", block - 2 * word);
	if (what.kind == XC_WHAT_BLOCK && !what.offset)
		report_overwritten(crash, "the block after it",
				   block + xc_block_size(&crash->heap->blocks, what.block) - word);
}

void xc_free_argument_report(struct xc_crash_context *crash)
{
	uint64_t value = 0;
	bool located;
	const char *function = crash->blame.place ? xc_libcall_frees(xc_argument_callee(crash, crash->blamed)) : NULL;
	bool known = function && xc_argument_find(crash, crash->blamed, 0, &value);
	bool below = crash->blame.place && !known && find_chunk(crash, &value);
	if (below) {
		known = true;
		function = function ? function : "free";
	}
	reconsider(crash, known, value);
	if (!known) {
		xc_freed_holder_report(crash, 0);
		return;
	}
	struct xc_frame_context context = xc_crash_context_frame(crash, crash->blamed);
	const char *name = !below && context.place->level_count > crash->blame.level && !context.place->line_only
				   ? xc_variables_in_register(&context, crash->blame.level, -1, value, &located)
				   : NULL;
	if (name)
		crash->verdict->expression = xc_arena_strdup(&crash->report->arena, name);
	report_target(crash, function, name, value);
	report_header(crash, value);
	xc_shallow_copy_report(crash);
	xc_freed_holder_report(crash, value);
}

/* ---- accesses in free() itself ---- */

/* Can malloc not have returned it? Memory of modules and stacks, and the middle of a block that is in use. */
static bool is_no_block(const struct xc_crash_context *crash, const struct xc_what *what)
{
	return what->kind == XC_WHAT_CODE || what->kind == XC_WHAT_DATA || what->kind == XC_WHAT_STACK ||
	       (what->kind == XC_WHAT_BLOCK && what->offset &&
		xc_block_state(&crash->heap->blocks, what->block) == XC_BLOCK_LIVE);
}

static void report_stored(const struct xc_crash_context *crash, uint64_t value)
{
	enum { HITS = 64 };
	struct xc_deref place;
	struct xc_text text = {0};
	xc_addr found[HITS];
	size_t count = crash->heap ? xc_memory_search_words(crash->process, value, 0, found, HITS) : 0;
	if (!count || !xc_value_place_find(crash, value, found, count, &place))
		return;
	xc_block_types_infer(crash);
	xc_rootword_place(crash->heap, place.at, true, &text);
	xc_verdict_evidence(crash->report, "it is stored at 0x%" PRIx64 ", in %s", place.at, xc_text_string(&text));
	xc_text_fini(&text);
}

void xc_free_argument_report_fault(struct xc_crash_context *crash)
{
	static const char *const glibc[] = {"arena_for_chunk", NULL};
	uint64_t value;
	if (crash->fault.sent || !xc_crash_context_is_access(crash) || !crash->blame.place || !crash->blamed)
		return;
	const char *function = xc_libcall_frees(xc_argument_callee(crash, crash->blamed));
	if (!function ||
	    (!xc_argument_find(crash, crash->blamed, 0, &value) && !find_variable(crash, glibc, "ptr", &value)))
		return;
	const struct xc_what what = xc_what(crash->process, crash->heap, value);
	if (!is_no_block(crash, &what))
		return;
	const bool sure = what.kind == XC_WHAT_CODE || what.kind == XC_WHAT_STACK;
	xc_auto(xc_freep) char *cause = xc_asprintf(
		"%s%s() was given a pointer that malloc never returned%s", sure ? "" : "likely ", function,
		what.kind == XC_WHAT_BLOCK ? ", or one to a block whose header, or that of the block before "
					     "it, was overwritten"
					   : "");
	xc_crash_context_classify(crash, "heap-corruption", "bad pointer", "high", sure ? "certain" : "likely", cause);
	report_target(crash, function, NULL, value);
	report_stored(crash, value);
}
