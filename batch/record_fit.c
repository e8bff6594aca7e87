/* record_fit: records are bounded by their texts and rows, and yet all of those together may be more than a line is to have. */
#include <stdlib.h>

#include "record.h"

enum {
	HINTS = 64 << 10, /* bytes that are left for texts that are set later */
	FEWER_FRAMES = 32,
};

static size_t size_of(const struct xc_record *record)
{
	json_t *object = xc_record_json(record);
	const size_t size = json_dumpb(object, NULL, 0, JSON_COMPACT);
	json_decref(object);
	return size;
}

/* The innermost rows stay. */
static void keep_frames(struct xc_record *record, size_t count)
{
	if (__builtin_add_overflow(record->elided, record->frame_count - count, &record->elided))
		record->elided = UINT64_MAX;
	record->frame_count = record->elided_at = count;
	if (record->fault_at >= count)
		record->fault_at = 0;
}

/* False when there is nothing left to leave out. */
static bool shorten(struct xc_record *record)
{
	if (record->frame_count > FEWER_FRAMES)
		keep_frames(record, FEWER_FRAMES);
	else if (record->absent_count)
		record->absent_count /= 2;
	else if (record->frame_count)
		keep_frames(record, record->frame_count / 2);
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
	while (size_of(record) > XC_RECORD_MAX - HINTS && shorten(record))
		continue;
	if (record->frame_count < frames || record->absent_count < absent)
		record->note = note_of(record, frames, absent, arena);
}
