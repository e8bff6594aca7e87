#include "graph.h"

struct xc_error *xc_graph_of(struct xc_heap *heap, struct xc_graph **graph_out)
{
	(void)heap;
	(void)graph_out;
	return xc_error_new(XC_ERR_UNSUPPORTED, "the graph of the heap is not built yet");
}

void xc_graph_free(struct xc_graph *graph)
{
	(void)graph;
}
