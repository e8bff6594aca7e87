/* stack_cycle: for each length k, the number of consecutive frames whose address equals the one k frames before. */
#include "dwarf/stack/stack_cycle.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/text.h"
#include "dwarf/symbolize/debuginfo.h"

void xc_stack_cycle_watch(struct xc_stack_cycle *c, xc_addr pc)
{
	for (size_t k = 1; k <= XC_CYCLE_LENGTH && k <= c->seen; k++) {
		c->run[k] = c->recent[(c->seen - k) % XC_CYCLE_RECENT] == pc ? c->run[k] + 1 : 0;
		if (c->run[k] <= c->best_run || c->run[k] < (uint64_t)k * XC_CYCLE_TIMES)
			continue;
		if (c->best_length && k % c->best_length == 0 && k != c->best_length)
			continue; /* a multiple of the cycle already found */
		c->best_run = c->run[k];
		c->best_length = k;
		c->best[k - 1] = pc;
		for (size_t i = 1; i < k; i++)
			c->best[k - 1 - i] = c->recent[(c->seen - i) % XC_CYCLE_RECENT];
	}
	c->recent[c->seen++ % XC_CYCLE_RECENT] = pc;
}

enum { SHORT_NAME = 256 }; /* bytes: each stack has such a text */

static const char *place_name(const struct xc_place *place)
{
	if (place->level_count && place->levels[place->level_count - 1].function)
		return place->levels[place->level_count - 1].function;
	return place->symbol;
}

const char *xc_stack_cycle_text(const struct xc_stack_cycle *c, const struct xc_process *process,
				struct xc_arena *arena)
{
	if (!c->best_length)
		return NULL;
	xc_auto(xc_text_fini) struct xc_text text = {0};
	xc_text_printf(&text, "%" PRIu64 " × [", (c->best_run + c->best_length) / c->best_length);
	for (size_t i = c->best_length; i-- > 0;) {
		const char *name = place_name(xc_debuginfo_place(process, c->best[i] - 1));
		if (name)
			xc_text_printf(&text, "%.*s%s", SHORT_NAME, name,
				       strnlen(name, SHORT_NAME + 1) > SHORT_NAME ? "…" : "");
		else
			xc_text_printf(&text, "0x%" PRIx64, c->best[i]);
		if (i)
			xc_text_add(&text, " → ");
	}
	xc_text_add(&text, "]");
	return xc_arena_strdup(arena, xc_text_string(&text));
}
