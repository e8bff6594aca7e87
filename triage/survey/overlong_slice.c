/* overlong_slice: who makes a slice says how long it is; that of memory only the allocator knows. In C a slice is a
 * pointer to a block and a number beside it, which may be in a structure of its own: a header as it was received. */
#include "triage/survey/overlong_slice.h"

#include <inttypes.h>

#include "dwarf/view/view.h"
#include "triage/survey/survey.h"
#include "triage/util/same_type.h"

enum { MEMBERS = 64, NESTING = 2, LOOKS = 1 << 16 /* at members, in all */ };

struct search {
	const struct xc_crash_context *crash;
	const char *path, *title; /* of the slice; title NULL: the pointer of one in C, which begins the block */
	const char *length;       /* of that: the number's path */
	uint64_t count, room;     /* elements: of the slice; that the block has from there on */
	uint32_t block;
	unsigned looks;
};

/* Do `count` elements from `begin` on begin in a live block, end behind it, and reach the fault? */
static bool reaches(struct search *s, xc_addr begin, uint64_t count, uint64_t size)
{
	const struct xc_blocks *blocks = &s->crash->heap->blocks;
	const xc_addr fault = s->crash->fault.addr;
	if (!size || count > UINT64_MAX / size)
		return false;
	uint32_t block = xc_blocks_find(blocks, begin);
	if (block == XC_NO_BLOCK || xc_block_is_free(xc_block_state(blocks, block)))
		return false;
	uint64_t left = xc_block_addr(blocks, block) + xc_block_size(blocks, block) - begin;
	if (count * size <= left || fault < begin + left || fault - begin >= count * size)
		return false;
	s->count = count;
	s->room = left / size;
	s->block = block;
	return true;
}

static bool is_overlong(struct search *s, const struct xc_view *view)
{
	uint64_t size;
	return (view->contiguous || view->kind == XC_VIEW_TEXT) && view->count_known &&
	       view->elements.kind == XC_VALUE_MEMORY && xc_type_size(view->elements.type, &size) &&
	       reaches(s, view->elements.addr, view->count, size);
}

/* ---- of C ---- */

/* A number of the record, or of a record in it, that is too large for what `begin` points to; its name in `path`. */
static bool find_length(struct search *s, const struct xc_value *record, xc_addr begin, uint64_t size, unsigned depth,
			struct xc_text *path)
{
	size_t count, len = path->len;
	const struct xc_member *members = xc_type_members(xc_type_complete(xc_type_strip(record->type)), &count);
	for (size_t i = 0; i < count && i < MEMBERS && s->looks < LOOKS; i++) {
		const struct xc_member *member = &members[i];
		struct xc_value value;
		uint64_t number;
		s->looks++;
		if (!member->name || member->dynamic || member->base || !member->type)
			continue;
		xc_value_field(record, member, &value);
		path->len = len;
		xc_text_printf(path, "%s%s", len ? "." : "", member->name);
		if (xc_same_type_is_record(xc_type_strip(member->type))) {
			if (depth && find_length(s, &value, begin, size, depth - 1, path))
				return true;
		} else if (xc_survey_is_count(member->name) && xc_type_strip(member->type)->kind == XC_TYPE_INT &&
			   xc_value_load(&value, &number) &&
			   !(xc_type_strip(member->type)->is_signed && number > INT64_MAX) &&
			   reaches(s, begin, number, size)) {
			return true;
		}
	}
	path->len = len;
	return false;
}

/* A pointer to the beginning of a block, and a number beside it. */
static void look_at_record(struct search *s, const struct xc_surveyed *it)
{
	const struct xc_blocks *blocks = &s->crash->heap->blocks;
	size_t count;
	const struct xc_member *members = xc_type_members(xc_type_complete(xc_type_strip(it->value->type)), &count);
	for (size_t i = 0; i < count && i < MEMBERS && !s->path; i++) {
		const struct xc_type *target = members[i].type ? xc_same_type_pointed(members[i].type) : NULL;
		struct xc_value value;
		xc_addr begin;
		uint64_t size = 1;
		if (!target || !members[i].name || members[i].dynamic || xc_same_type_is_record(target) ||
		    (!xc_same_type_is_bytes(target) && !xc_type_size(target, &size)))
			continue;
		xc_value_field(it->value, &members[i], &value);
		if (!xc_value_load(&value, &begin))
			continue;
		uint32_t block = xc_blocks_find(blocks, begin);
		struct xc_text path = {0};
		if (block != XC_NO_BLOCK && xc_block_addr(blocks, block) == begin &&
		    find_length(s, it->value, begin, size, NESTING, &path)) {
			struct xc_arena *arena = &s->crash->report->arena;
			s->path = xc_arena_printf(arena, "%s%s%s", it->path, it->joint, members[i].name);
			s->length = xc_arena_printf(arena, "%s%s%s", it->path, it->joint, xc_text_string(&path));
		}
		xc_text_fini(&path);
	}
}

/* ---- */

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
	if (!view && !s->path)
		look_at_record(s, it);
	if (!view || !is_overlong(s, view))
		return;
	s->length = NULL;
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
	if (s.length) { /* that these two belong together is a guess */
		xc_verdict_evidence(crash->report,
				    "perhaps `%s` is wrong: it is %" PRIu64
				    ", and the block that `%s` points to, at 0x%" PRIx64 ", has room for %" PRIu64,
				    s.length, s.count, s.path, xc_block_addr(blocks, s.block), s.room);
		xc_verdict_redact(crash->report,
				  xc_arena_printf(&crash->report->arena,
						  "perhaps `%s` is wrong: the block that `%s` points to has "
						  "less room",
						  s.length, s.path));
		return;
	}
	xc_verdict_evidence(crash->report,
			    "`%s` (%s) has %" PRIu64 " elements, and the block at 0x%" PRIx64
			    " that it begins in has room for %" PRIu64 " from there on",
			    s.path, s.title, s.count, xc_block_addr(blocks, s.block), s.room);
	v->cause = xc_arena_printf(&crash->report->arena, "%s%slikely `%s` is longer than the memory that it refers to",
				   v->cause ? v->cause : "", v->cause ? "; " : "", s.path);
	v->expression = v->expression ? v->expression : s.path;
	crash->outside = true;
}
