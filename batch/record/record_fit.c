/* record_fit: texts and rows are bounded, but together they may still exceed the limit of a line. */
#include <stdlib.h>

#include "batch/record/record.h"

enum {
	HINTS = 64 << 10, /* bytes reserved for texts that are set later */
	FEWER_FRAMES = 32,
};

static size_t size_of(const struct xc_record *record)
{
	json_t *object = xc_record_json(record);
	const size_t size = json_dumpb(object, NULL, 0, JSON_COMPACT);
	json_decref(object);
	return size;
}

/* Keeps the innermost rows; of several stacks equally many of each. */
static void keep_frames(struct xc_record *record, size_t most, struct xc_arena *arena)
{
	struct xc_record_frame *frames = xc_arena_alloc(arena, (record->frame_count + 1) * sizeof *frames);
	const size_t share = most / xc_record_stack_count(record);
	size_t count = 0, of_stack = 0;
	for (size_t i = 0; i < record->frame_count; i++) {
		of_stack = record->frames[i].thread ? 0 : of_stack;
		if (of_stack++ < share)
			frames[count++] = record->frames[i];
	}
	if (__builtin_add_overflow(record->elided, record->frame_count - count, &record->elided))
		record->elided = UINT64_MAX;
	record->frames = frames;
	record->frame_count = record->elided_at = count;
	record->stop = "its record was too long";
	if (record->fault_at >= count)
		record->fault_at = 0;
}

/* False if nothing is left to drop. */
static bool shorten(struct xc_record *record, struct xc_arena *arena)
{
	if (record->frame_count > FEWER_FRAMES)
		keep_frames(record, FEWER_FRAMES, arena);
	else if (record->absent_count)
		record->absent_count /= 2;
	else if (record->frame_count)
		keep_frames(record, record->frame_count / 2, arena);
	else
		return false;
	return true;
}

static const char *note_of(const struct xc_record *record, size_t frames, size_t absent, struct xc_arena *arena)
{
	const char *note = xc_arena_printf(
		arena,
		"%s%sits record was too long: %zu rows of the stack and %zu modules without a file were left out",
		record->note ? record->note : "", record->note ? "; " : "", frames - record->frame_count,
		absent - record->absent_count);
	return xc_record_text(arena, note);
}

void xc_record_fit(struct xc_record *record, struct xc_arena *arena)
{
	const size_t frames = record->frame_count, absent = record->absent_count;
	while (size_of(record) > XC_RECORD_MAX - HINTS && shorten(record, arena))
		continue;
	if (record->frame_count < frames || record->absent_count < absent)
		record->note = note_of(record, frames, absent, arena);
}
