/* goholder: see goholder.h. */
#include "triage/goroutine/goholder.h"

#include <inttypes.h>
#include <string.h>

#include "triage/goroutine/gopackage.h"
#include "triage/waits/frame_words.h"
#include "triage/locks/lock_name.h"
#include "triage/util/names.h"

enum { ASKED = 64, CALLERS = 6, WORDS = 256, ALL = 512, INNER = 12 };

/* Why a goroutine may hold a mutex, strongest first. */
enum claim {
	WAITS, /* it waits for another mutex, and LOCKS */
	LOCKS, /* a function on its stack that locks a mutex has this one */
	CLAIMS
};

/* The number of calls with which the function locks mutexes before the frame's own, and of all. Lock() is often
 * inlined, up to the call for the slow case; these are in the order of the source. */
static size_t count_locks(const struct xc_goholders *h, const struct xc_frame *frame, size_t *all_out)
{
	static const char *const names[] = {"sync.(*Mutex).Lock",
					    "sync.(*Mutex).lockSlow",
					    "sync.(*RWMutex).Lock",
					    "sync.(*RWMutex).RLock",
					    "sync.runtime_Semacquire",
					    "internal/sync.(*Mutex).lockSlow",
					    NULL};
	const struct xc_body *body = xc_body_cache_get(h->bodies, xc_frame_lookup(frame));
	size_t before = 0;
	*all_out = 0;
	for (size_t i = 0; body && i < body->count; i++)
		if (body->insns[i].kind == XC_INSN_CALL &&
		    xc_names_begin(names, xc_body_callee(body, &body->insns[i], NULL))) {
			++*all_out;
			before += body->insns[i].addr + body->insns[i].length < frame->pc;
		}
	return before;
}

/* The name by which variables of the frame, or of its callers, lead to the mutex; NULL: none do. */
static const char *name_in(const struct xc_goholders *h, const struct xc_frame *frame, const struct xc_place *place,
			   xc_addr mutex)
{
	struct xc_wait at = {.kind = XC_WAIT_RUST_MUTEX, /* for the names of members: a.b */
			     .has_place = true,
			     .place = place,
			     .thread = h->crash->thread,
			     .frame = *frame};
	return mutex ? xc_lock_name_at(h->crash->process, &at, h->crash->unwinder, mutex) : NULL;
}

const char *xc_goholder_own_name(const struct xc_goholders *h, const struct xc_gowait *w)
{
	return w->blame.place ? name_in(h, &w->blame.frame, w->blame.place, w->object) : NULL;
}

/* Functions of package sync may be inlined. */
static size_t programs_level(const struct xc_place *place)
{
	size_t level = 0;
	while (level + 1 < place->level_count && xc_gopackage_is_standard(xc_place_function(place, level)))
		level++;
	return level;
}

/* A deferred Unlock() keeps the mutex in the frame where no variable is left. */
static bool has_word(const struct xc_goholders *h, const struct xc_frame *frame, const struct xc_frame *caller,
		     xc_addr mutex)
{
	struct xc_frame_words words = xc_frame_words(h->crash->process, frame, 0, caller, WORDS);
	uint64_t value;
	while (xc_frame_words_next(&words, &value))
		if (value == mutex)
			return true;
	return false;
}

/* Does a function that locks have the mutex, at `frame` or outward? */
static bool locks_it(const struct xc_goholders *h, struct xc_frame frame, xc_addr mutex, struct xc_goholding *how)
{
	struct xc_frame caller;
	const char *stop;
	bool good = true;
	size_t all;
	for (size_t i = 0; good && i < CALLERS; i++, frame = caller) {
		const struct xc_place *place = xc_debuginfo_place(h->crash->process, xc_frame_lookup(&frame));
		count_locks(h, &frame, &all);
		good = xc_unwind_step(h->crash->unwinder, &frame, &caller, &stop);
		how->name = all ? name_in(h, &frame, place, mutex) : NULL;
		how->where = (struct xc_blame){.place = place, .level = programs_level(place), .frame = frame};
		if (how->name || (all && good && has_word(h, &frame, &caller, mutex)))
			return true;
	}
	return false;
}

/* One that waits in the first call that locks holds nothing by its function, only by its callers. */
static bool claims(const struct xc_goholders *h, const struct xc_gowait *w, xc_addr mutex, enum claim claim,
		   struct xc_goholding *how)
{
	bool waits = w->kind == XC_GOWAIT_MUTEX, for_it = waits && w->object == mutex;
	struct xc_frame frame = w->blame.frame;
	const char *stop;
	size_t all;
	if (!w->blame.place || (claim == WAITS && (for_it || !waits)))
		return false;
	bool first = waits && !count_locks(h, &frame, &all);
	return !((for_it || first) && !xc_unwind_step(h->crash->unwinder, &frame, &frame, &stop)) &&
	       locks_it(h, frame, mutex, how);
}

const struct xc_gowait *xc_goholder_find(const struct xc_goholders *h, xc_addr mutex, struct xc_goholding *how)
{
	const struct xc_gowait *found = NULL;
	struct xc_goholding one = {.name = NULL};
	size_t count = 0;
	for (enum claim claim = WAITS; mutex && claim < CLAIMS && !count; claim++)
		for (size_t i = 0; i < h->count && i < ASKED; i++) {
			const struct xc_gowait *w = &h->items[i];
			if (!w->frame_count && claim != WAITS)
				return NULL;
			if (!claims(h, w, mutex, claim, &one))
				continue;
			found = w;
			*how = one;
			count++;
		}
	return count == 1 ? found : NULL;
}

static bool has_again(const struct xc_goholders *h, const struct xc_gowait *w, struct xc_goholding *how)
{
	return w->kind == XC_GOWAIT_MUTEX && w->object && claims(h, w, w->object, LOCKS, how);
}

bool xc_goholder_reads_again(const struct xc_goholders *h, const struct xc_gowait *w, struct xc_goholding *how)
{
	return w->behind_writer && has_again(h, w, how);
}

size_t xc_goholder_count(const struct xc_goholders *h, xc_addr mutex)
{
	struct xc_goholding how;
	size_t count = 0;
	for (size_t i = 0; i < h->count && i < ASKED; i++)
		count += claims(h, &h->items[i], mutex, LOCKS, &how);
	return count;
}

/* Does it run in a function of package sync? It may be about to take the mutex. */
static bool runs_in_sync(const struct xc_goholders *h, const struct xc_gowait *w)
{
	for (size_t i = 0; w->kind == XC_GOWAIT_NOT && i < w->frame_count && i < INNER; i++) {
		const struct xc_place *place = xc_debuginfo_place(h->crash->process, xc_frame_lookup(&w->frames[i]));
		for (size_t level = 0; level == 0 || level < place->level_count; level++)
			if (xc_gopackage_begins(xc_place_function(place, level), "sync.") ||
			    xc_gopackage_begins(xc_place_function(place, level), "internal/sync."))
				return true;
	}
	return false;
}

/* The first member of sync.RWMutex is the sync.Mutex of its writers; that of sync.Mutex is its state. */
static bool is_locked(const struct xc_goholders *h, xc_addr mutex)
{
	enum { LOCKED = 1 };
	uint64_t state;
	return mutex && xc_space_peek_uint(h->crash->process->space, mutex, 4, &state) && (state & LOCKED);
}

bool xc_goholder_is_missing(const struct xc_goholders *h, xc_addr mutex)
{
	struct xc_goholding how;
	if (h->count > ALL || !is_locked(h, mutex))
		return false;
	for (size_t i = 0; i < h->count; i++) {
		const struct xc_gowait *w = &h->items[i];
		if (!w->frame_count || runs_in_sync(h, w) || claims(h, w, mutex, LOCKS, &how))
			return false;
	}
	return h->count > 0;
}

static void describe(const struct xc_goholding *how, struct xc_text *text)
{
	if (how->name)
		xc_text_printf(text, "has it as `%s` in ", how->name);
	else
		xc_text_add(text, "has its address in ");
	xc_gowait_where(&how->where, text);
}

void xc_goholder_describe(const struct xc_goholders *h, const struct xc_gowait *w, struct xc_text *text)
{
	struct xc_goholding how;
	const struct xc_gowait *holder = xc_goholder_reads_again(h, w, &how) ? w : xc_goholder_find(h, w->object, &how);
	if (!holder)
		return;
	if (holder == w)
		xc_text_add(text, "; likely it holds it itself: a caller ");
	else
		xc_text_printf(text, "; likely held by goroutine %" PRIu64 ", which ", holder->id);
	describe(&how, text);
}
