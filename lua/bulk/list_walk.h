/* list_walk: follows a pointer from node to node at the speed of memory.
 *
 * The loop behind xcore.follow. It only collects addresses: the members of the nodes are read afterwards, when the
 * addresses are known and can be prefetched. Cycles are found on the way (Brent): one comparison per node. */
#ifndef XC_LIST_WALK_H
#define XC_LIST_WALK_H

#include "lua/vm/bind.h"
#include "lua/bulk/list_prefetch.h"

enum xc_list_walk_end {
	XC_LIST_WALK_GOES_ON,
	XC_LIST_WALK_DONE,  /* NULL, head again, or `stop` */
	XC_LIST_WALK_CYCLE, /* back to a node after head */
	XC_LIST_WALK_FAULT, /* the pointer of the node at `at` cannot be read */
};

struct xc_list_walk {
	struct xc_host *host;
	uint64_t offset; /* of the pointer, relative to the target of such pointers */
	unsigned size;   /* size of the pointer in bytes */
	xc_addr head, stop;
	xc_addr at; /* the next node; for FAULT the one that cannot be read */
	enum xc_list_walk_end end;
	xc_addr mark;                      /* an earlier node ... */
	uint64_t since, span;              /* ... by `since` nodes; moved forward when that reaches `span` */
	struct xc_list_prefetch *prefetch; /* NULL: no prefetching */
	size_t prefetch_from;              /* nodes after which prefetching is tried again */
};

/* host, offset and size are set by the caller. stop 0: none. head 0 or equal to stop: done at once. */
void xc_list_walk_begin(struct xc_list_walk *walk, xc_addr head, xc_addr stop);

/* Append up to `room` nodes whose pointer could be read; returns their number. Fewer than room only at the end;
 * walk->end then has the reason. */
size_t xc_list_walk_run(struct xc_list_walk *walk, xc_addr *nodes, size_t room);

/* Between two runs, given all nodes so far: if they are scattered, prefetch the following ones from now on. */
void xc_list_walk_look_ahead(struct xc_list_walk *walk, const xc_addr *nodes, size_t count);

/* Free the memory of xc_list_walk_look_ahead. May be called twice. */
void xc_list_walk_end(struct xc_list_walk *walk);

/* After XC_LIST_WALK_CYCLE: find the start of the cycle, given all nodes that were returned. */
struct xc_list_walk_cycle {
	size_t count; /* different nodes: the last one ... */
	size_t back;  /* ... leads back to this one; from 0 */
};
struct xc_list_walk_cycle xc_list_walk_cycle(const struct xc_list_walk *walk, const xc_addr *nodes, size_t count);

#endif
