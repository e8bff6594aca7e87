/* godeath: see godeath.h. */
#include "triage/go/godeath.h"

#include <signal.h>

#include "triage/goroutine/gopackage.h"

enum { FRAMES = 64 };

const char *xc_godeath_name(const struct xc_crash_context *crash, size_t index)
{
	const struct xc_place *place = index < crash->frame_count ? xc_crash_context_place(crash, index) : NULL;
	const char *name = place ? xc_place_outer_function(place) : NULL;
	return name ? name : "";
}

bool xc_godeath_is_runtime(const struct xc_crash_context *crash, size_t index)
{
	const char *name = xc_godeath_name(crash, index);
	return xc_gopackage_begins(name, "runtime.") && !xc_gopackage_begins(name, "runtime.main") &&
	       !xc_gopackage_begins(name, "runtime.goexit");
}

static bool is_called(const struct xc_crash_context *crash, size_t index, const char *name)
{
	const char *have = xc_godeath_name(crash, index);
	size_t len = strlen(name);
	return xc_gopackage_begins(have, name) && (!have[len] || strcmp(have + len, ".abi0") == 0);
}

size_t xc_godeath_before_program(const struct xc_crash_context *crash, size_t from, const char *name)
{
	for (size_t i = from; xc_godeath_is_runtime(crash, i) && i - from < FRAMES; i++)
		if (is_called(crash, i, name))
			return i;
	return crash->frame_count;
}

void xc_godeath_classify(struct xc_godeath *d, const char *kind, const char *confidence, const char *words)
{
	const struct xc_blame *blame = &d->crash->blame;
	bool nobody = !blame->place || xc_gopackage_is_runtime(xc_place_function(blame->place, blame->level));
	xc_auto(xc_freep) char *cause =
		xc_asprintf("%s %s", nobody ? "a goroutine" : xc_crash_context_culprit(d->crash), words);
	xc_crash_context_classify(d->crash, "panic", kind, "low", confidence, cause);
}

void xc_godeath_headline(struct xc_godeath *d, const char *what, const char *text)
{
	struct xc_verdict *v = d->crash->verdict;
	if (d->crash->fault.signal == SIGABRT && !v->headline)
		v->headline = xc_arena_printf(&d->crash->report->arena, "%s: %s", what, text);
}
