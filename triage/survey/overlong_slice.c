/* overlong_slice: who makes a slice says how long it is; that of memory only the allocator knows. */
#include "triage/survey/overlong_slice.h"

#include <inttypes.h>

#include "dwarf/view/view.h"
#include "triage/survey/survey.h"

struct search {
	const struct xc_crash_context *crash;
	const char *path, *title;
	uint64_t count, room; /* elements: of the slice; that the block has from there on */
	uint32_t block;
};

/* Does it begin in a live block, end behind it, and reach the fault? */
static bool is_overlong(struct search *s, const struct xc_view *view)
{
	const struct xc_crash_context *crash = s->crash;
	const struct xc_blocks *blocks = &crash->heap->blocks;
	const xc_addr begin = view->elements.addr, fault = crash->fault.addr;
	uint64_t size;
	if (!(view->contiguous || view->kind == XC_VIEW_TEXT) || !view->count_known ||
	    view->elements.kind != XC_VALUE_MEMORY || !xc_type_size(view->elements.type, &size) || !size ||
	    view->count > UINT64_MAX / size)
		return false;
	uint32_t block = xc_blocks_find(blocks, begin);
	if (block == XC_NO_BLOCK || xc_block_is_free(xc_block_state(blocks, block)))
		return false;
	uint64_t left = xc_block_addr(blocks, block) + xc_block_size(blocks, block) - begin;
	if (view->count * size <= left || fault < begin + left || fault - begin >= view->count * size)
		return false;
	s->count = view->count;
	s->room = left / size;
	s->block = block;
	return true;
}

/* What a range-based for loop calls it is taken only when it has no other name. */
static void look(void *user, const struct xc_surveyed *it)
{
	struct search *s = user;
	struct xc_arena *arena = &s->crash->report->arena;
	const struct xc_view *view = it->view;
	struct xc_view invalid;
	if ((s->path && !xc_begins_with(s->path, "__")) || !xc_type_is_record(it->value->type))
		return;
	if (!view && xc_view_open(it->value, &invalid) == XC_VIEW_INVALID)
		view = &invalid;
	if (!view || !is_overlong(s, view))
		return;
	s->path = xc_arena_strdup(arena, it->path);
	s->title = xc_arena_strdup(arena, view->shape->title);
}

void xc_overlong_slice_report(struct xc_crash_context *crash)
{
	struct search s = {.crash = crash};
	struct xc_verdict *v = crash->verdict;
	if (!crash->heap || !crash->fault.addr_known || crash->fault.sent || !xc_crash_context_is_access(crash))
		return;
	xc_survey_walk(crash, look, &s);
	if (!s.path)
		return;
	const struct xc_blocks *blocks = &crash->heap->blocks;
	xc_verdict_evidence(crash->report,
			    "`%s` (%s) has %" PRIu64 " elements, and the block at 0x%" PRIx64
			    " that it begins in has room for %" PRIu64 " from there on",
			    s.path, s.title, s.count, xc_block_addr(blocks, s.block), s.room);
	v->cause = xc_arena_printf(&crash->report->arena, "%s%slikely `%s` is longer than the memory that it refers to",
				   v->cause ? v->cause : "", v->cause ? "; " : "", s.path);
	v->expression = v->expression ? v->expression : s.path;
	crash->outside = true;
}
