/* builder: makes what workers miss in the cache: plain images of compressed debug files (inflate_cache.h).
 *
 * A worker has read a core, so nothing that it made may be kept for others. A builder has read none: it is a process in a worker's sandbox that
 * gets one ELF file, which the broker itself opened, and an empty file of the cache; only if it ends well that file gets its name. One runs at
 * a time, beside the workers; each file is tried once a batch. */
#ifndef XC_BUILDER_H
#define XC_BUILDER_H

#include "core/io/cache.h"
#include "batch/sandbox/worker_options.h"

enum { XC_BUILDER_FILES = 64 }; /* of one batch: a hostile core may name any of the user's files */

struct xc_builder {
	const struct xc_worker_options *options; /* set by who makes one; the rest zero, process -1 */
	int process;                             /* its pidfd; -1: none runs */
	pid_t pid;
	struct xc_cache_draft draft;
	uint64_t deadline_ns;
	char *tried[XC_BUILDER_FILES]; /* names in the cache */
	size_t tried_count;
};

/* Be one, in the process that the fork server made for it: write the image of one file to the other, and end. */
_Noreturn void xc_builder_live(const struct xc_worker_options *options, pid_t parent, int file, int image);

/* Start on the file that fd is of, whose image has this name, unless one runs or it was tried. The caller keeps the descriptor. That nothing
 * can be started or written is no error: the image is then not kept. */
void xc_builder_want(struct xc_builder *builder, const char *name, int fd);

/* When its process is readable, or its time is over: end it, and name what it made. Never blocks. */
void xc_builder_serve(struct xc_builder *builder);

/* Give one that runs this long, then end it; for the end of the batch. Frees what it has. */
void xc_builder_finish(struct xc_builder *builder, unsigned milliseconds);

#endif
