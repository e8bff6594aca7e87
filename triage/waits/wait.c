/* wait: see wait.h. */
#include "triage/waits/wait.h"

#include <stdlib.h>
#include <string.h>

#include "triage/util/user_code.h"
#include "triage/util/sourceline.h"

/* ---- lists of ids ---- */

static int by_tid(const void *a, const void *b)
{
	const struct xc_wait_id *x = a, *y = b;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

void xc_wait_ids_sort(struct xc_wait_id *ids, size_t count)
{
	if (count)
		qsort(ids, count, sizeof *ids, by_tid);
}

const struct xc_wait_id *xc_wait_ids_find(const struct xc_wait_id *ids, size_t count, pid_t tid)
{
	size_t lo = XC_LOWER_BOUND(count, i, ids[i].tid < tid);
	return lo < count && ids[lo].tid == tid ? &ids[lo] : NULL;
}

/* ---- words ---- */

const char *xc_wait_function(const struct xc_wait *wait)
{
	return wait->place ? xc_place_function(wait->place, wait->level) : NULL;
}

static void add_place(const struct xc_place *place, size_t level, xc_addr pc, struct xc_text *text)
{
	const char *function = xc_place_function(place, level);
	if (function)
		xc_text_name(text, function);
	else if (place->module)
		xc_text_name(text, place->module->name);
	else
		xc_text_printf(text, "0x%llx", (unsigned long long)pc);
	if (xc_sourceline(place, level, " (", text))
		xc_text_add(text, ")");
}

void xc_wait_where(const struct xc_wait *wait, struct xc_text *text)
{
	if (wait->place)
		add_place(wait->place, wait->level, wait->frame.pc, text);
	else
		xc_text_add(text, "an unknown place");
}

/* The functions of user code at a place, from `level` on. False after main, whose callers are of no interest. */
static bool add_callers(const struct xc_place *place, size_t level, xc_addr pc, size_t *told, struct xc_text *text)
{
	size_t count = place->level_count ? place->level_count : 1;
	for (; level < count && *told < XC_WAIT_CALLERS; level++) {
		const char *function = xc_place_function(place, level);
		if (!xc_user_code_is(place, level))
			continue;
		xc_text_add(text, *told ? " ← " : "");
		add_place(place, level, pc, text);
		++*told;
		if (function && strcmp(function, "main") == 0)
			return false;
	}
	return *told < XC_WAIT_CALLERS;
}

void xc_wait_callers(const struct xc_process *process, const struct xc_wait *wait, struct xc_unwinder *unwinder,
		     struct xc_text *text)
{
	struct xc_frame frame = wait->frame;
	const char *stop;
	size_t told = 0, level = wait->level;
	if (!wait->has_place) {
		xc_wait_where(wait, text);
		return;
	}
	if (!add_callers(wait->place, level, frame.pc, &told, text))
		return;
	for (size_t n = 0; n < XC_WAIT_FRAMES && xc_unwind_step(unwinder, &frame, &frame, &stop); n++) {
		const struct xc_place *place = xc_debuginfo_place(process, xc_frame_lookup(&frame));
		if (xc_user_code_level(place, &level) && !add_callers(place, level, frame.pc, &told, text))
			break;
	}
}
