/* gocalls: a direct call is 0xe8 and the distance to its target, 4 bytes. Such bytes within another instruction that
 * lead to the beginning of one certain function are as good as impossible. */
#include "triage/go/gocalls.h"

#include <stdlib.h>
#include <string.h>

#include "triage/goroutine/gopackage.h"

enum { PIECE = 1 << 16, MOST = 128 << 20, CALL = 0xe8, LENGTH = 5 };

struct wanted {
	const xc_addr *targets;
	size_t count;
	const char *through;
};

/* The program's function that the call stands in; NULL: it is the library's own, or not by `through`. */
static const char *caller_of(const struct xc_place *place, const char *through, size_t *level_out)
{
	const char *function = xc_place_function(place, 0);
	*level_out = 0;
	if (through) {
		if (!function || strcmp(function, through) != 0 || place->level_count < 2)
			return NULL;
		*level_out = 1;
		function = xc_place_function(place, 1);
	}
	return function && !xc_gopackage_is_standard(function) ? function : NULL;
}

static void add(const struct xc_goruntime *go, xc_addr at, xc_addr target, const char *through, struct xc_gocalls *out)
{
	const char *name = xc_goruntime_function(go, at);
	size_t level;
	if (!name || xc_gopackage_is_standard(name))
		return;
	const struct xc_place *place = xc_debuginfo_place(go->process, at);
	const char *called = xc_place_outer_function(xc_debuginfo_place(go->process, target));
	const char *function = caller_of(place, through, &level);
	if (!function || !called)
		return;
	out->more |= out->count == XC_GOCALLS;
	if (out->count < XC_GOCALLS)
		out->items[out->count++] = (struct xc_gocall){
			.addr = at, .function = function, .callee = called, .place = place, .level = level};
}

static void search(const struct xc_goruntime *go, const uint8_t *bytes, size_t size, xc_addr from,
		   const struct wanted *wanted, struct xc_gocalls *out)
{
	for (size_t i = 0; i + LENGTH <= size; i++) {
		int32_t distance;
		const uint8_t *call = memchr(bytes + i, CALL, size - LENGTH + 1 - i);
		if (!call)
			return;
		i = (size_t)(call - bytes);
		memcpy(&distance, call + 1, sizeof distance);
		const xc_addr target = from + i + LENGTH + (uint64_t)(int64_t)distance;
		for (size_t t = 0; t < wanted->count; t++)
			if (wanted->targets[t] == target) {
				add(go, from + i, target, wanted->through, out);
				break;
			}
	}
}

void xc_gocalls_find(const struct xc_goruntime *go, const xc_addr *targets, size_t target_count, const char *through,
		     struct xc_gocalls *out)
{
	const struct wanted wanted = {targets, target_count, through};
	const xc_addr from = go->codes[XC_GO_TEXT].from, end = go->codes[XC_GO_TEXT].end;
	uint8_t *bytes = xc_alloc(PIECE + LENGTH);
	out->count = 0;
	out->more = end - from > MOST;
	for (xc_addr at = from; at < end && at - from < MOST; at += PIECE) {
		const size_t most = end - at < PIECE + LENGTH - 1 ? (size_t)(end - at) : PIECE + LENGTH - 1;
		const size_t size = xc_space_peek(go->process->space, at, bytes, most);
		search(go, bytes, size, at, &wanted, out);
	}
	free(bytes);
}
