/* rust_poison: see rust_poison.h. Of rustc 1.63 to 1.95 (library/std/src/sync/poison.rs):
 *
 *	Mutex<T>, RwLock<T> { inner, poison: Flag { failed: AtomicBool }, data: UnsafeCell<T> } */
#include "triage/rust/rust_poison.h"

#include <dwarf.h>

#include "dwarf/view/view_part.h"
#include "triage/survey/survey.h"
#include "triage/util/names.h"

enum { TOLD = 2 };

struct search {
	const struct xc_crash_context *crash;
	size_t told;
};

static bool is_lock(const struct xc_type *type)
{
	static const char *const names[] = {"std::sync::mutex::Mutex<", "std::sync::rwlock::RwLock<",
					    "std::sync::poison::mutex::Mutex<", "std::sync::poison::rwlock::RwLock<",
					    NULL};
	return xc_names_begin(names, xc_type_strip(type)->name);
}

static void look(void *user, const struct xc_surveyed *it)
{
	struct search *s = user;
	uint64_t failed;
	if (s->told == TOLD || !is_lock(it->value->type) ||
	    (!xc_view_number(it->value, "poison.failed.v.value", &failed) &&
	     !xc_view_number(it->value, "poison.failed", &failed)) ||
	    failed != 1)
		return;
	xc_verdict_evidence(s->crash->report, "`%s` is likely poisoned: a thread panicked while it had locked it",
			    it->path);
	s->told++;
}

void xc_rust_poison_report(struct xc_crash_context *crash)
{
	struct search s = {.crash = crash};
	if (crash->blame.place && xc_place_language(crash->blame.place, crash->blame.level) == DW_LANG_Rust &&
	    (xc_crash_context_is(crash, "panic") || xc_crash_context_is(crash, "abort")))
		xc_survey_walk(crash, look, &s);
}
