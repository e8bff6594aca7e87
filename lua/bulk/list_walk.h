/* list_walk: follow a pointer from node to node at the speed of memory.
 *
 * The one loop behind xcore.follow. It only collects addresses: what stands in the nodes is read afterwards, when they are known and
 * can be fetched ahead. Cycles are found on the way (Brent): one compare a node. */
#ifndef XC_LIST_WALK_H
#define XC_LIST_WALK_H

#include "lua/vm/bind.h"
#include "lua/bulk/list_prefetch.h"

enum xc_list_walk_end {
	XC_LIST_WALK_GOES_ON,
	XC_LIST_WALK_DONE,  /* NULL, head again, or `stop` */
	XC_LIST_WALK_CYCLE, /* back to a node behind head */
	XC_LIST_WALK_FAULT, /* the pointer of the node at `at` cannot be read */
};

struct xc_list_walk {
	struct xc_host *host;
	uint64_t offset; /* of the pointer, from where such pointers point to */
	unsigned size;   /* of the pointer, bytes */
	xc_addr head, stop;
	xc_addr at; /* the node that comes next; of a FAULT the one that cannot be read */
	enum xc_list_walk_end end;
	xc_addr mark;                      /* a node behind us ... */
	uint64_t since, span;              /* ... by `since` nodes; moved up when they are `span` */
	struct xc_list_prefetch *prefetch; /* who helps; NULL: nobody */
	size_t prefetch_from;              /* nodes after which to look for help again */
};

/* host, offset and size are set. stop 0: none. head 0 or equal to stop: done at once. */
void xc_list_walk_begin(struct xc_list_walk *walk, xc_addr head, xc_addr stop);

/* Append up to `room` nodes whose pointer could be read; returns how many. Fewer than room only at the end, which
 * walk->end then tells. */
size_t xc_list_walk_run(struct xc_list_walk *walk, xc_addr *nodes, size_t room);

/* Between two runs, given all nodes so far: when they lie scattered, prefetch the following ones from now on. */
void xc_list_walk_look_ahead(struct xc_list_walk *walk, const xc_addr *nodes, size_t count);

/* Free what xc_list_walk_look_ahead made. May be called twice. */
void xc_list_walk_end(struct xc_list_walk *walk);

/* After XC_LIST_WALK_CYCLE: all nodes that were given, `count` of them, tell where the cycle begins. */
struct xc_list_walk_cycle {
	size_t count; /* different nodes: the last one ... */
	size_t back;  /* ... leads back to this one; from 0 */
};
struct xc_list_walk_cycle xc_list_walk_cycle(const struct xc_list_walk *walk, const xc_addr *nodes, size_t count);

#endif
