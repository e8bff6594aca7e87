/* builder: adds to the cache what workers miss there: inflated images of compressed debug files (inflate_cache.h).
 *
 * A worker has read a core, so nothing that it makes may be kept for others. A builder has read none. It is a process
 * in a worker's sandbox that gets one ELF file, opened by the broker, and one empty cache file. The cache file gets its
 * name only if the builder succeeds. One builder runs at a time, beside the workers; each file is tried once per
 * batch. */
#ifndef XC_BUILDER_H
#define XC_BUILDER_H

#include "core/cache/cache.h"
#include "batch/sandbox/worker_options.h"

enum { XC_BUILDER_FILES = 64 }; /* per batch: a hostile core may name any of the user's files */

struct xc_builder {
	const struct xc_worker_options *options; /* set by the creator; the rest is zero, process is -1 */
	int process;                             /* its pidfd; -1: none is running */
	pid_t pid;
	struct xc_cache_draft draft;
	uint64_t deadline_ns;
	char *tried[XC_BUILDER_FILES]; /* names in the cache */
	size_t tried_count;
};

/* The builder's main function, in the process that the fork server made: writes the image of one file to the other, and
 * exits. */
_Noreturn void xc_builder_live(const struct xc_worker_options *options, pid_t parent, int file, int image);

/* Starts on the file behind fd, whose image gets this name, unless a builder is running or the file was tried. The
 * caller keeps the descriptor. A failure to start or to write is no error: the image is then not cached. */
void xc_builder_want(struct xc_builder *builder, const char *name, int fd);

/* To be called when its process is readable or its time is over: reaps it, and names the finished image. Never
 * blocks. */
void xc_builder_serve(struct xc_builder *builder);

/* For the end of the batch: gives a running builder this long, then ends it. Frees the builder's memory. */
void xc_builder_finish(struct xc_builder *builder, unsigned milliseconds);

#endif
