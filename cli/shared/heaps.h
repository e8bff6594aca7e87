/* heaps: the heap of a command's target; shows progress of long work. */
#ifndef XC_HEAPS_H
#define XC_HEAPS_H

#include "heap/blocks/heap.h"
#include "cli/command.h"

/* The heap with its blocks. Never NULL. */
struct xc_heap *xc_job_heap(struct xc_job *job);

/* The heap with graph and types. If these fail, a line on stderr reports why. Never NULL. */
struct xc_heap *xc_job_typed_heap(struct xc_job *job);

/* The option --heap of commands that show pointers; `member` is the field of their settings. */
#define XC_HEAP_OPTION(member)                                                                                         \
	{                                                                                                              \
		.name = "heap", .kind = XC_OPTION_ON, .offset = offsetof(struct settings, member),                     \
		.about = "annotate pointers with the block or stack that they point into, and its type (walks the "    \
			 "whole heap)"                                                                                 \
	}

#endif
