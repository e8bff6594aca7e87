#include "triage/runtime/freed_holder.h"

#include <inttypes.h>
#include <string.h>

#include "heap/query/whatis.h"
#include "triage/blocks/referrers.h"
#include "triage/survey/dying_object.h"
#include "triage/util/same_type.h"

enum { OUTWARD = 2 /* frames beyond the blamed one */ };

struct holder {
	const char *name; /* of the argument */
	const char *function;
	xc_addr at;
	uint32_t block;
};

static bool is_freed_block(const struct xc_blocks *blocks, uint32_t block)
{
	return block != XC_NO_BLOCK && xc_block_is_freed(xc_block_state(blocks, block));
}

/* A freed block, not the one that was to be freed. */
static bool is_freed(const struct xc_crash_context *crash, xc_addr at, xc_addr given, uint32_t *block_out)
{
	const struct xc_blocks *blocks = &crash->heap->blocks;
	uint32_t block = xc_blocks_find(blocks, at);
	*block_out = block;
	return is_freed_block(blocks, block) && block != xc_blocks_find(blocks, given);
}

static bool find_at_level(const struct xc_crash_context *crash, size_t frame, size_t level, xc_addr given,
			  struct holder *out)
{
	const struct xc_frame_context in = xc_crash_context_frame(crash, frame);
	struct xc_named_value *values;
	size_t count = xc_variable_values(&in, level, false, &crash->report->arena, &values);
	for (size_t i = 0; i < count; i++) {
		uint64_t at;
		if (!values[i].name || !values[i].value.type || !xc_type_is_pointer(values[i].value.type) ||
		    !xc_same_type_is_record(xc_same_type_pointed(values[i].value.type)) ||
		    !xc_value_load(&values[i].value, &at) || !is_freed(crash, at, given, &out->block))
			continue;
		out->name = values[i].name;
		out->function = xc_place_function(in.place, level);
		out->at = at;
		return true;
	}
	return false;
}

/* The blamed function first; what it called or was called by may have the pointer where optimized code has lost it. */
static bool find(const struct xc_crash_context *crash, xc_addr given, struct holder *out)
{
	for (size_t frame = crash->blamed; frame < crash->frame_count && frame <= crash->blamed + OUTWARD; frame++) {
		const struct xc_frame_context in = xc_crash_context_frame(crash, frame);
		size_t level = frame == crash->blamed ? crash->blame.level : 0;
		for (; level < in.place->level_count && !in.place->line_only; level++)
			if (find_at_level(crash, frame, level, given, out))
				return true;
	}
	return crash->blame.level > 0 && find_at_level(crash, crash->blamed, crash->blame.level - 1, given, out);
}

static bool is_destructor(const struct holder *holder)
{
	return holder->function && strchr(holder->function, '~') && strcmp(holder->name, "this") == 0;
}

void xc_freed_holder_report(struct xc_crash_context *crash, xc_addr given)
{
	struct holder holder = {.name = NULL};
	struct xc_arena *arena = &crash->report->arena;
	if (!crash->heap || !crash->blame.place || !xc_crash_context_is(crash, "heap-corruption") ||
	    !find(crash, given, &holder))
		return;
	struct xc_text text = {0};
	struct xc_what what = xc_what(crash->process, crash->heap, holder.at);
	const char *function = holder.function ? holder.function : "the function";
	xc_what_text(crash->process, crash->heap, &what, &text);
	xc_verdict_evidence(crash->report, "`%s` of %s(), 0x%" PRIx64 ", is in freed memory itself: %s", holder.name,
			    function, holder.at, xc_text_string(&text));
	xc_text_fini(&text);
	struct xc_verdict *v = crash->verdict;
	v->cause = xc_arena_printf(
		arena, "%s%s%s", v->cause ? v->cause : "", v->cause ? "; " : "",
		is_destructor(&holder)
			? "the destructor runs on an object that had been freed: it is destroyed a second time"
			: xc_arena_printf(arena, "`%s` of %s() points to an object that had been freed itself",
					  holder.name, function));
	xc_referrers_report(crash, holder.block, false, "that freed object is still");
}

/* ---- destructors ---- */

static bool begins_freed_block(const struct xc_crash_context *crash, xc_addr at)
{
	const struct xc_blocks *blocks = &crash->heap->blocks;
	uint32_t block = xc_blocks_find(blocks, at);
	return is_freed_block(blocks, block) && xc_block_addr(blocks, block) == at;
}

/* The outermost of them is that of the whole object. */
static const char *find_destructor(const struct xc_crash_context *crash)
{
	struct xc_dying_objects dying;
	xc_dying_objects_of(crash, &dying);
	for (size_t i = dying.count; i--;)
		if (dying.ranges[i].kind == XC_DYING_DESTRUCTOR && begins_freed_block(crash, dying.ranges[i].begin))
			return dying.ranges[i].function;
	return NULL;
}

void xc_freed_holder_report_destructor(struct xc_crash_context *crash)
{
	struct xc_verdict *v = crash->verdict;
	const char *function =
		crash->heap && xc_crash_context_is(crash, "use-after-free") ? find_destructor(crash) : NULL;
	if (function)
		v->cause = xc_arena_printf(
			&crash->report->arena,
			"%s%slikely the object is destroyed a second time, or its destructor has freed it "
			"itself: %s runs on a freed block",
			v->cause ? v->cause : "", v->cause ? "; " : "", function);
}
