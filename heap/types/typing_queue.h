/* typing_queue: the state of one thread while types flow. Shared by typing_flow.c, typing_hit.c and typing_look.c. */
#ifndef XC_TYPING_QUEUE_H
#define XC_TYPING_QUEUE_H

#include "heap/types/typing_engine.h"

enum { XC_TYPING_BATCH = 64 }; /* hits that are looked up together */

/* What one thread works with. */
struct xc_typing_queue {
	struct xc_engine *engine;
	struct xc_window own, there; /* the object's own memory; what is pointed to */
	struct xc_hit hits[XC_TYPING_BATCH];
	unsigned count;
	uint8_t most;    /* enum xc_confidence: what is proposed here is no surer than its source */
	unsigned nest;   /* of objects that evidence has us look at */
	uint64_t steps;  /* that are left for what is being looked at */
	xc_hit_fn *seen; /* hits are shown, nothing is proposed */
	void *context;
	struct xc_type_conflict *claims; /* of a check */
	size_t claim_count, claim_capacity;
	const struct xc_root_object *root; /* being visited, or NULL */
};

/* The queue of a worker; made on first use, freed with the engine. */
struct xc_typing_queue *xc_typing_queue_of(struct xc_engine *engine, unsigned worker);

/* ---- typing_hit ---- */

/* Look up the pointers that were collected, and propose (or show, or check) what they say. */
void xc_typing_queue_flush(struct xc_typing_queue *queue);

/* ---- typing_look ---- */

/* Collect the pointers in all objects of a block that is what the item says; of a root object (then flushed). */
void xc_typing_look_at_block(struct xc_typing_queue *queue, uint32_t block, uint32_t item);
void xc_typing_look_at_root(struct xc_typing_queue *queue, const struct xc_root_object *root);

#endif
