/* heaps: the heap of a command's target, with progress on long work. */
#ifndef XC_HEAPS_H
#define XC_HEAPS_H

#include "heap/blocks/heap.h"
#include "cli/command.h"

/* Its blocks. Never NULL. */
struct xc_heap *xc_job_heap(struct xc_job *job);

/* With graph and types; where those cannot be made a line on stderr says why. */
struct xc_heap *xc_job_typed_heap(struct xc_job *job);

/* --heap of commands that show pointers; `member` is of its settings. */
#define XC_HEAP_OPTION(member)                                                                                         \
	{                                                                                                              \
		.name = "heap", .kind = XC_OPTION_ON, .offset = offsetof(struct settings, member),                     \
		.about = "say of pointers which block or stack they point into, with its type (walks the whole heap)"  \
	}

#endif
