/* list_prefetch: a list whose nodes lie scattered, followed from many places at once.
 *
 * Who follows a pointer waits for memory at each node, while memory could serve dozens of such requests. So words that look like
 * pointers to nodes are picked at random from where the list lies, and from each a lane is followed, all in turn, up to the start
 * of another. The list is then lane after lane: exactly what following it node by node gives, since a lane is just that, from a
 * place on. Lanes that began with something else are never asked for.
 *
 * Only for memory that need not be copied (memory_view.h); where that ends, a lane does. */
#ifndef XC_LIST_PREFETCH_H
#define XC_LIST_PREFETCH_H

#include "lua/vm/bind.h"

struct xc_list_prefetch;

/* Scouts for the list that goes on with the node `from`; `nodes` are some that came before. offset and size are those of the
 * pointer in a node. NULL when no places to start from are found, or the nodes do not lie scattered. */
struct xc_list_prefetch *xc_list_prefetch_new(struct xc_memory_views *views, uint64_t offset, unsigned size,
					      const xc_addr *nodes, size_t count, xc_addr from);
void xc_list_prefetch_free(struct xc_list_prefetch *prefetch); /* NULL is fine */

/* What follows the node that was given last, `from` to begin with. False when prefetching no longer helps. */
bool xc_list_prefetch_next(struct xc_list_prefetch *prefetch, xc_addr *next_out);

#endif
