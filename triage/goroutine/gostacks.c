/* gostacks: see gostacks.h. */
#include "triage/goroutine/gostacks.h"

#include <inttypes.h>
#include <stdlib.h>

#include "triage/goroutine/goroutine.h"
#include "triage/goroutine/gowait.h"

enum { THREADS = 10000 };

static int by_address(const void *a, const void *b)
{
	const xc_addr *one = a, *other = b;
	return *one < *other ? -1 : *one > *other;
}

/* The goroutines that threads run, sorted. */
static size_t running(const struct xc_goruntime *go, xc_addr **out)
{
	const struct xc_process *p = go->process;
	size_t count = 0;
	*out = xc_alloc((p->thread_count + 1) * sizeof **out);
	for (size_t i = 0; i < p->thread_count && i < THREADS; i++)
		count += p->threads[i].has_regs && xc_goruntime_current(go, &p->threads[i].regs, &(*out)[count]);
	qsort(*out, count, sizeof **out, by_address);
	return count;
}

static bool is_shown(const struct xc_goruntime *go, xc_addr g, const xc_addr *on, size_t on_count,
		     struct xc_goroutine_starts *starts)
{
	uint64_t status;
	return xc_goroutine_status(go, g, &status) && status && status != XC_GOROUTINE_ENDED &&
	       xc_goroutine_is_programs(go, g, starts) && !bsearch(&g, on, on_count, sizeof g, by_address);
}

static bool read_one(const struct xc_crash_context *crash, const struct xc_goruntime *go,
		     const struct xc_gosemas *semas, xc_addr g, struct xc_parked_stack *out)
{
	struct xc_arena *arena = &crash->report->arena;
	struct xc_gowait wait;
	xc_gowait_read(crash, go, semas, g, &wait);
	if (!wait.frame_count)
		return false;
	*out = (struct xc_parked_stack){
		.name = xc_arena_printf(arena, "goroutine %" PRIu64, wait.id),
		.state = *wait.behind ? xc_arena_printf(arena, "%s,%s", wait.words, wait.behind) : wait.words,
		.first = wait.frames[0],
	};
	return true;
}

size_t xc_gostacks(struct xc_report *report, struct xc_process *process, size_t most, struct xc_parked_stack **out,
		   uint64_t *more_out)
{
	struct xc_crash_context crash = {.report = report, .process = process};
	struct xc_goroutine_starts starts = {0};
	struct xc_goruntime go;
	struct xc_goroutine_list list;
	size_t count = 0;
	xc_addr g, *on;
	*out = NULL;
	*more_out = 0;
	if (!xc_goruntime_find(process, &go) || !xc_goroutine_list(&go, &list))
		return 0;
	crash.unwinder = xc_unwinder_new(process);
	const struct xc_gosemas semas = xc_gosemas_read(&crash, &go);
	size_t on_count = running(&go, &on), room = list.count < most ? (size_t)list.count : most;
	*out = xc_arena_alloc(&report->arena, (room + 1) * sizeof **out);
	for (uint64_t i = 0; xc_goroutine_at(&go, &list, i, &g); i++) {
		if (!is_shown(&go, g, on, on_count, &starts))
			continue;
		if (count < room)
			count += read_one(&crash, &go, &semas, g, &(*out)[count]);
		else
			++*more_out;
	}
	free(on);
	xc_unwinder_free(crash.unwinder);
	return count;
}
