/* trace: the spellings of frames are in a hash table. */
#include "batch/cluster/trace.h"

#include <inttypes.h>
#include <string.h>

struct spelling {
	uint32_t number;
	char text[];
};

/* Copies the spelling if it is new. Equal hashes cost time only, and each such name takes up to 4 KiB of a record's
 * megabyte. */
static uint32_t number_of(struct xc_tracer *tracer, const char *spelling)
{
	const uint64_t hash = xc_hash_bytes(0, spelling, strlen(spelling));
	union xc_hashtable_value *slot;
	const struct spelling *known;
	for (uint64_t i = 0; (known = (slot = xc_hashtable_at(&tracer->spellings, NULL, hash, i))->pointer); i++)
		if (strcmp(known->text, spelling) == 0)
			return known->number;
	size_t size = strlen(spelling) + 1;
	struct spelling *made = xc_arena_alloc(&tracer->arena, sizeof *made + size);
	made->number = ++tracer->count;
	memcpy(made->text, spelling, size);
	slot->pointer = made;
	return made->number;
}

/* No name begins with a blank. */
static uint32_t number_of_place(struct xc_tracer *tracer, const struct xc_record_frame *frame)
{
	const char *binary = frame->build_id ? frame->build_id : frame->module;
	if (!binary || !frame->has_offset)
		return 0;
	xc_auto(xc_freep) char *spelling = xc_asprintf(" %s+0x%" PRIx64, binary, frame->offset);
	return number_of(tracer, spelling);
}

struct xc_trace xc_trace_make(struct xc_tracer *tracer, const struct xc_record *record,
			      const struct xc_signature *signature)
{
	struct xc_trace trace = {.count = signature->kept_count < XC_TRACE_MAX ? signature->kept_count : XC_TRACE_MAX};
	trace.frames = xc_arena_alloc(&tracer->arena, (trace.count + 1) * sizeof *trace.frames);
	for (size_t i = 0; i < trace.count; i++) {
		size_t at = signature->kept[i];
		const char *name = signature->frames[at].name;
		trace.frames[i] = name ? number_of(tracer, name) : number_of_place(tracer, &record->frames[at]);
	}
	return trace;
}

uint32_t xc_trace_name(struct xc_tracer *tracer, const char *name)
{
	return name ? number_of(tracer, name) : 0;
}

void xc_tracer_fini(struct xc_tracer *tracer)
{
	xc_hashtable_fini(&tracer->spellings);
	xc_arena_fini(&tracer->arena);
}
