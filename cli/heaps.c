#include "heaps.h"

#include "../heap/graph.h"
#include "../heap/typing.h"

struct xc_heap *xc_job_heap(struct xc_job *job)
{
	struct xc_progress progress = xc_progress_start("walking the heap", job->common.quiet == XC_ON);
	const struct xc_heap_options options = {.jobs = job->common.jobs, .progress = &progress};
	struct xc_heap *heap = xc_heap_of(job->process, &options);
	xc_progress_end(&progress);
	heap->progress = NULL;
	return heap;
}

struct xc_heap *xc_job_typed_heap(struct xc_job *job)
{
	struct xc_heap *heap = xc_job_heap(job);
	struct xc_progress progress = xc_progress_start("typing the heap", job->common.quiet == XC_ON);
	struct xc_graph *graph;
	struct xc_typing *typing;
	heap->progress = &progress;
	xc_auto(xc_error_freep) struct xc_error *err = xc_graph_of(heap, &graph);
	if (!err)
		err = xc_typing_of(heap, &typing);
	xc_progress_end(&progress);
	heap->progress = NULL;
	if (err && job->common.quiet != XC_ON)
		fprintf(stderr, "xcore: %s: heap: %s\n", job->process->target, err->message);
	return heap;
}
