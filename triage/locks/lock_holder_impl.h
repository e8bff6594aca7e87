/* lock_holder_impl: the search of lock_holder.c and lock_holder_rust.c. */
#ifndef XC_LOCK_HOLDER_IMPL_H
#define XC_LOCK_HOLDER_IMPL_H

#include "dwarf/unwind/unwind.h"
#include "triage/code/body_cache.h"
#include "triage/code/rust_release.h"
#include "triage/locks/lock_holder.h"
#include "triage/waits/wait_kind.h"

enum { XC_HOLDER_OPEN = 64, XC_HOLDER_FRAMES = 48, XC_HOLDER_VARIABLES = 1 << 19 };

/* The locks to search for, and the current frame. */
struct xc_holder_search {
	struct xc_process *process;
	struct xc_locks *locks;
	struct xc_lock *open[XC_HOLDER_OPEN];
	bool doubtful[XC_HOLDER_OPEN]; /* several threads may hold it */
	struct xc_holder_inside {
		xc_addr from, end; /* what a lock of Rust protects; 0: not known */
	} inside[XC_HOLDER_OPEN];
	size_t open_count;
	struct xc_unwinder *unwinder;
	struct xc_body_cache *bodies;
	size_t variables; /* variables whose types were checked */
	bool deeper;      /* a stack is deeper than XC_HOLDER_FRAMES */
	size_t thread;    /* the current one */
	struct xc_frame frame;
	const struct xc_frame *above; /* its caller; NULL: not known */
	const struct xc_place *place;
	bool outward;  /* outside of the frame that waits */
	bool nameless; /* the second pass, for guards without a name, and references into what is protected */
	size_t words;  /* that it may still read */
};

/* Take the current thread for the holder, as far as is known. When true, the caller sets the reason. */
static inline bool xc_holder_takes(struct xc_holder_search *s, size_t number)
{
	struct xc_lock *lock = s->open[number];
	if (lock->holder == s->thread)
		return false;
	if (lock->holder != XC_LOCK_NOBODY) {
		s->doubtful[number] = true;
		return false;
	}
	lock->holder = s->thread;
	return true;
}

static inline const struct xc_wait *xc_holder_wait(const struct xc_holder_search *s)
{
	return &s->locks->waits->items[s->thread];
}

static inline bool xc_holder_waits_for(const struct xc_holder_search *s, const struct xc_lock *lock)
{
	size_t index = s->locks->lock_of[s->thread];
	return index != XC_LOCK_NOBODY && &s->locks->locks[index] == lock;
}

static inline const struct xc_body *xc_holder_body(const struct xc_holder_search *s)
{
	return xc_body_cache_get(s->bodies, xc_frame_lookup(&s->frame));
}

static inline bool xc_holder_gave_back(const struct xc_holder_search *s, const struct xc_lock *lock)
{
	return xc_rust_release(xc_holder_body(s), &s->frame, lock->addr) == XC_RUST_RELEASE_PAST;
}

/* ---- lock_holder_rust.c ---- */

/* Can a guard without a name still tell who holds the lock? */
bool xc_holder_may_be_nameless(const struct xc_holder_search *search, const struct xc_lock *lock);

/* Take what the current frame, of a second pass, has of open locks of Rust: references to what they protect, guards
 * without a name, and code that takes them or gives them back. */
void xc_holder_look_nameless(struct xc_holder_search *search);

/* Learn where the data is that open lock `number` protects, if a thread that waits for it tells. */
void xc_holder_find_inside(struct xc_holder_search *search, size_t number);

#endif
