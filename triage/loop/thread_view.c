/* thread_view: see thread_view.h. */
#include "triage/loop/thread_view.h"

#include "triage/code/body_cache.h"

void xc_thread_view(const struct xc_crash_context *crash, const struct xc_thread *thread, size_t most,
		    struct xc_crash_context *out)
{
	struct xc_arena *arena = &crash->report->arena;
	*out = *crash;
	out->thread = thread;
	out->frames = xc_arena_alloc(arena, most * sizeof *out->frames);
	out->bodies = crash->bodies ? crash->bodies : xc_body_cache_new(crash->process, arena);
	out->frame_count = xc_unwind_first(crash->unwinder, thread, &out->frames[0]);
	while (out->frame_count && out->frame_count < most &&
	       xc_unwind_step(crash->unwinder, &out->frames[out->frame_count - 1], &out->frames[out->frame_count],
			      &out->stop))
		out->frame_count++;
}
