/* phase: by the functions on the stacks: those that a compiler makes for the static objects of a file, and those of the
 * C library that run handlers at exit. */
#include "triage/crash/phase.h"

#include <string.h>

#include "core/text/threadlabel.h"
#include "dwarf/stack/frame_walk.h"
#include "triage/util/names.h"
#include "triage/util/sourceline.h"
#include "triage/util/user_code.h"

enum { THREADS = 64, FRAMES = 24 };

static bool begins(const struct xc_place *place, const char *const *names)
{
	for (size_t level = 0; level < place->level_count; level++)
		if (xc_names_begin(names, xc_place_function(place, level)))
			return true;
	return xc_names_begin(names, place->symbol);
}

static bool is_constructing(const struct xc_place *place)
{
	static const char *const names[] = {"_GLOBAL__sub_I_", "_GLOBAL__I_", "__static_initialization_and_destruction",
					    "__cxx_global_var_init", NULL};
	return begins(place, names);
}

static bool is_exit(const struct xc_place *place)
{
	static const char *const names[] = {"__run_exit_handlers", "__cxa_finalize", "_dl_fini", "__funcs_on_exit",
					    NULL};
	return begins(place, names);
}

static const char *file_of(const struct xc_place *place)
{
	const char *file = place->level_count ? place->levels[place->level_count - 1].file : NULL;
	const char *slash = file ? strrchr(file, '/') : NULL;
	return slash ? slash + 1 : file;
}

/* Classes of which a missing or dead object may be the reason. */
static bool may_follow(const struct xc_crash_context *crash)
{
	static const char *const names[] = {
		"null-", "call-null", "wild-",           "use-after-free",    "pc-control", "exec-data",
		"abort", "assertion", "heap-corruption", "pure-virtual-call", "terminate",  "protected-access",
		NULL};
	return xc_names_begin(names, crash->verdict->class_name);
}

static void tell(struct xc_crash_context *crash, const char *words)
{
	struct xc_verdict *v = crash->verdict;
	if (may_follow(crash) && v->cause)
		v->cause = xc_arena_printf(&crash->report->arena, "%s; %s", v->cause, words);
	else
		xc_verdict_evidence(crash->report, "%s", words);
}

/* ---- the crashed thread ---- */

static bool report_own(struct xc_crash_context *crash)
{
	struct xc_arena *arena = &crash->report->arena;
	for (size_t i = 0; i < crash->frame_count; i++) {
		const struct xc_place *place = xc_crash_context_place(crash, i);
		const char *file = file_of(place);
		if (is_constructing(place)) {
			tell(crash, xc_arena_printf(
					    arena,
					    "it happened before main(), while the static objects of %s are "
					    "constructed: those of other files, and those further down, may not be yet",
					    file ? file : "a file"));
			return true;
		}
		if (is_exit(place)) {
			tell(crash,
			     "it happened in the handlers that exit() runs: static objects that were constructed "
			     "later, and what later handlers free, are gone already");
			return true;
		}
	}
	return false;
}

/* ---- another thread ---- */

/* "in Metrics::~Metrics, metrics.cc:8" */
static void add_where(const struct xc_place *place, size_t level, struct xc_text *text)
{
	const char *function = xc_place_function(place, level);
	xc_text_printf(text, ", in %s", function ? function : "a function without a name");
	xc_sourceline(place, level, ", ", text);
}

static bool report_other(struct xc_crash_context *crash, const struct xc_thread *thread)
{
	struct xc_frame_walk walk;
	struct xc_text where = {0};
	bool found = false;
	xc_frame_walk_begin(&walk, crash->process, crash->unwinder, thread, FRAMES);
	while (!found && xc_frame_walk_next(&walk)) {
		size_t level;
		const struct xc_place *place = walk.context.place;
		found = is_exit(place);
		if (!found && !where.len && place->level_count && xc_user_code_level(place, &level))
			add_where(place, level, &where);
	}
	if (found) {
		struct xc_text text = {0};
		xc_threadlabel(&text, (int)thread->tid, thread->name);
		xc_text_printf(&text,
			       " has left main() and runs the handlers of exit()%s: static objects are being "
			       "destroyed while this thread goes on",
			       xc_text_string(&where));
		tell(crash, xc_text_string(&text));
		xc_verdict_involve(crash->report, thread->tid);
		xc_text_fini(&text);
	}
	xc_text_fini(&where);
	return found;
}

void xc_phase_report(struct xc_crash_context *crash)
{
	const struct xc_process *p = crash->process;
	if (!crash->verdict->class_name || !crash->frame_count || !crash->thread || report_own(crash))
		return;
	for (size_t i = 0; i < p->thread_count && i < THREADS; i++)
		if (&p->threads[i] != crash->thread && p->threads[i].has_regs && report_other(crash, &p->threads[i]))
			return;
}
