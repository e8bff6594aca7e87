/* list_prefetch: follows a list with scattered nodes from many starting points at once.
 *
 * Following a pointer waits for memory at each node, while memory could serve dozens of requests. So words that look
 * like pointers to nodes are picked at random from the memory of the list. From each of them a lane is followed, all in
 * turn, up to the start of another lane. The list is then one lane after another: exactly the result of following it
 * node by node, since a lane is the list from some node on. Lanes that started at something else are never reached.
 *
 * Only for memory that is mapped in this process (memory_view.h); a lane ends where that ends. */
#ifndef XC_LIST_PREFETCH_H
#define XC_LIST_PREFETCH_H

#include "lua/vm/bind.h"

struct xc_list_prefetch;

/* Prefetch the list that continues with the node `from`; `nodes` are some earlier nodes. offset and size are those
 * of the pointer in a node. NULL: no starting points were found, or the nodes are not scattered. */
struct xc_list_prefetch *xc_list_prefetch_new(struct xc_memory_views *views, uint64_t offset, unsigned size,
					      const xc_addr *nodes, size_t count, xc_addr from);
void xc_list_prefetch_free(struct xc_list_prefetch *prefetch); /* NULL is fine */

/* The successor of the node that was returned last, `from` at first. False: prefetching no longer helps. */
bool xc_list_prefetch_next(struct xc_list_prefetch *prefetch, xc_addr *next_out);

#endif
