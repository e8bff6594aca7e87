/* trace: a hash table of the spellings of frames, with open addressing, at most half full. */
#include "batch/cluster/trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct xc_tracer_slot {
	const char *spelling; /* NULL: free */
	uint32_t number;
};

/* FNV-1a (Fowler, Noll, Vo, 1991). Collisions cost time only, and each colliding name takes up to 4 KiB of a record's
 * megabyte. */
static size_t hash_of(const char *text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return (size_t)(hash ^ (hash >> 32));
}

static struct xc_tracer_slot *slot_of(const struct xc_tracer *tracer, const char *spelling)
{
	size_t at = hash_of(spelling);
	while (tracer->slots[at & (tracer->capacity - 1)].spelling &&
	       strcmp(tracer->slots[at & (tracer->capacity - 1)].spelling, spelling) != 0)
		at++;
	return &tracer->slots[at & (tracer->capacity - 1)];
}

static void grow(struct xc_tracer *tracer)
{
	struct xc_tracer old = *tracer;
	tracer->capacity = old.capacity ? 2 * old.capacity : 1024;
	tracer->slots = xc_alloc(tracer->capacity * sizeof *tracer->slots);
	for (size_t i = 0; i < old.capacity; i++)
		if (old.slots[i].spelling)
			*slot_of(tracer, old.slots[i].spelling) = old.slots[i];
	free(old.slots);
}

/* Copies the spelling if it is new. */
static uint32_t number_of(struct xc_tracer *tracer, const char *spelling)
{
	if (2 * (size_t)tracer->count >= tracer->capacity)
		grow(tracer);
	struct xc_tracer_slot *slot = slot_of(tracer, spelling);
	if (!slot->spelling)
		*slot = (struct xc_tracer_slot){xc_arena_strdup(&tracer->arena, spelling), ++tracer->count};
	return slot->number;
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
	free(tracer->slots);
	xc_arena_fini(&tracer->arena);
}
