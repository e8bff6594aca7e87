/* chase: follow a pointer from node to node at the speed of memory.
 *
 * The one loop behind xcore.follow. It only collects addresses: what stands in the nodes is read afterwards, when they are known and
 * can be fetched ahead. Cycles are found on the way (Brent): one compare a node. */
#ifndef XC_CHASE_H
#define XC_CHASE_H

#include "lua/vm/bind.h"
#include "lua/bulk/scout.h"

enum xc_chase_end {
	XC_CHASE_GOES_ON,
	XC_CHASE_DONE,  /* NULL, head again, or `stop` */
	XC_CHASE_CYCLE, /* back to a node behind head */
	XC_CHASE_FAULT, /* the pointer of the node at `at` cannot be read */
};

struct xc_chase {
	struct xc_host *host;
	uint64_t offset; /* of the pointer, from where such pointers point to */
	unsigned size;   /* of the pointer, bytes */
	xc_addr head, stop;
	xc_addr at; /* the node that comes next; of a FAULT the one that cannot be read */
	enum xc_chase_end end;
	xc_addr mark;           /* a node behind us ... */
	uint64_t since, span;   /* ... by `since` nodes; moved up when they are `span` */
	struct xc_scout *scout; /* who helps; NULL: nobody */
	size_t scout_from;      /* nodes after which to look for help again */
};

/* host, offset and size are set. stop 0: none. head 0 or equal to stop: done at once. */
void xc_chase_begin(struct xc_chase *chase, xc_addr head, xc_addr stop);

/* Append up to `room` nodes whose pointer could be read; returns how many. Fewer than room only at the end, which
 * chase->end then tells. */
size_t xc_chase_run(struct xc_chase *chase, xc_addr *nodes, size_t room);

/* Between two runs, given all nodes so far: when they lie scattered, let scouts find the following ones from now on. */
void xc_chase_look_ahead(struct xc_chase *chase, const xc_addr *nodes, size_t count);

/* Free what xc_chase_look_ahead made. May be called twice. */
void xc_chase_end(struct xc_chase *chase);

/* After XC_CHASE_CYCLE: all nodes that were given, `count` of them, tell where the cycle begins. */
struct xc_chase_cycle {
	size_t count; /* different nodes: the last one ... */
	size_t back;  /* ... leads back to this one; from 0 */
};
struct xc_chase_cycle xc_chase_cycle(const struct xc_chase *chase, const xc_addr *nodes, size_t count);

#endif
