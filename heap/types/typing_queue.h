/* typing_queue: the state of one thread while types flow. Shared by typing_flow.c, typing_hit.c and typing_look.c; the
 * queue of blocks, by typing_vote.c, too. */
#ifndef XC_TYPING_QUEUE_H
#define XC_TYPING_QUEUE_H

#include "heap/graph/stale_range.h"
#include "heap/types/typing_engine.h"

enum { XC_TYPING_BATCH = 64 }; /* hits looked up together */

/* Of an array in a block only this part has elements. */
struct xc_typing_used {
	uint32_t block;
	struct xc_used_part part;
};

/* The state of one thread. */
struct xc_typing_queue {
	struct xc_engine *engine;
	struct xc_window own, there; /* the object's own memory; that of targets */
	struct xc_hit hits[XC_TYPING_BATCH];
	unsigned count;
	uint8_t most;    /* enum xc_confidence: a proposal is no more certain than its source */
	unsigned nest;   /* depth of objects that evidence named */
	uint64_t steps;  /* left for the object being examined */
	xc_hit_fn *seen; /* not NULL: hits are passed to it and nothing is proposed */
	void *context;
	struct xc_type_conflict *claims; /* while checking */
	size_t claim_count, claim_capacity;
	const struct xc_root_object *root; /* the root being visited, or NULL */
	struct xc_stale_range *stale;      /* what evidence said, while stale_wanted */
	size_t stale_count, stale_capacity;
	bool stale_wanted;
	struct xc_typing_used *used; /* what evidence said since the level began */
	size_t used_count, used_capacity;
};

/* The queue of a worker; made on first use, freed with the engine. */
struct xc_typing_queue *xc_typing_queue_of(struct xc_engine *engine, unsigned worker);

/* ---- typing_flow ---- */

/* Calls `seen` with the hits of all objects of some types, after typing is complete: `maps` says which, by number. */
void xc_typing_hits_of_maps(struct xc_engine *engine, const bool *maps, xc_hit_fn *seen, void *context);

/* ---- typing_hit ---- */

/* Looks up the collected pointers, and proposes (or passes on, or checks) their items. */
void xc_typing_queue_flush(struct xc_typing_queue *queue);

/* The block is part of the next level, if it is not yet. Threads may call it at the same time. */
void xc_typing_enqueue(struct xc_engine *engine, uint32_t block);

/* ---- typing_look ---- */

/* Collect the pointers in all objects of a block that has the item's type; in a root object (flushed afterwards). */
void xc_typing_look_at_block(struct xc_typing_queue *queue, uint32_t block, uint32_t item);
void xc_typing_look_at_root(struct xc_typing_queue *queue, const struct xc_root_object *root);

#endif
