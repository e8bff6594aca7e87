/* sample_guest: frames of interpreted languages in the stacks of samples: what a reader of such stacks tells, and the
 * places that it names.
 *
 *	the unwinder comes to a frame of an interpreter, or of code in no module ─→ the guest's `take`
 *	─→ the frames that this frame runs are added to the stack, before it; rules for its code may be told
 *	(foreign_frame.h), by which it is unwound then
 *
 * Such stacks are in the memory of the process and read after the sample, not with it. A guest proves that the
 * innermost function is that of the sample, or tells it as torn. Its callers are those of when they are read: maybe
 * those of a later call, unless the time between is short (profile/read_delays.h). */
#ifndef XC_SAMPLE_GUEST_H
#define XC_SAMPLE_GUEST_H

#include "core/base/arena.h"
#include "core/base/hashtable.h"
#include "dwarf/sample/sample_values.h"
#include "dwarf/unwind/unwind.h"

/* A place in a program of a guest's language. Texts are owned by the places. */
struct xc_guest_place {
	const char *function;        /* "parse" */
	const char *file;            /* "app.lua"; NULL: unknown */
	unsigned line;               /* 0: unknown */
	const char *language, *kind; /* "lua"; "function", "trace", "builtin"; may be NULL */
};

struct xc_guest_places {
	struct xc_arena arena;
	struct xc_guest_place *items; /* the first is "[torn]" */
	size_t count, capacity;
	size_t bytes;                 /* of texts */
	struct xc_hashtable by_texts; /* (hash of all fields, n) → index into items */
};

enum { XC_GUEST_TORN = 0, XC_GUEST_PLACES = 1 << 20, XC_GUEST_BYTES = 64 << 20 };

void xc_guest_places_init(struct xc_guest_places *places);
void xc_guest_places_fini(struct xc_guest_places *places);

/* Add a place, or find the one that is equal; its texts are copied. False: there are too many, or too many bytes of
 * them. */
XC_MUST_CHECK bool xc_guest_places_add(struct xc_guest_places *places, const struct xc_guest_place *place,
				       uint32_t *number_out);

/* Give the function of a place another name, for all stacks that have it. The place counts as another one for later
 * xc_guest_places_add. False: there are too many bytes of names. */
XC_MUST_CHECK bool xc_guest_places_rename(struct xc_guest_places *places, uint32_t number, const char *function);

struct xc_sample_stack;

struct xc_sample_guest {
	void *ctx;
	struct xc_guest_places places;
	struct xc_sample_values *values; /* for those of the dimension that is asked for; borrowed; NULL: none is */
	/* A sample of this thread is unwound, of this time by CLOCK_MONOTONIC. */
	void (*begin)(void *ctx, pid_t tid, uint64_t time_ns);
	/* Is it of interest what runs in this frame? Asked for every frame. */
	bool (*wants)(void *ctx, const struct xc_frame *frame);
	/* Add what it runs (xc_sample_stack_add), and set stack->torn; and stack->value and proof, once they are known.
	 * `callee`: the address for look-ups of the native frame that it called; 0: none. True: rules for its code were
	 * told. Reads of the stack give the sample's copy. */
	bool (*take)(void *ctx, const struct xc_frame *frame, xc_addr callee, struct xc_sample_stack *stack);
};

#endif
