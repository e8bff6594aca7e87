/* graph_impl: steps of making a graph. Private to graph*.c. */
#ifndef XC_GRAPH_IMPL_H
#define XC_GRAPH_IMPL_H

#include "heap/graph/graph.h"

/* Insert claims (claim.h) into the rows, and into the roots. */
XC_MUST_CHECK struct xc_error *xc_graph_claim_edges(struct xc_graph *graph);
void xc_graph_claim_roots(struct xc_graph *graph);

#endif
