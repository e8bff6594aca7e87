/* expand: a compressed stream into a file without a name, behind what it already holds, until it ends, is found damaged, or a limit is reached. */
#ifndef XC_DECOMPRESS_H
#define XC_DECOMPRESS_H

#include "core/io/decoder.h"
#include "core/base/error.h"

struct xc_progress;

struct xc_decompression {
	const uint8_t *bytes; /* compressed */
	uint64_t size;
	const char *path;             /* for messages */
	uint64_t limit;               /* bytes after decoding */
	uint64_t room;                /* bytes that may be taken of the disk (holes take none); 0: all that it has */
	struct xc_progress *progress; /* or NULL */
	/* The result. */
	int fd;                 /* to be closed by the caller */
	uint64_t from, written; /* the first byte in the file, on a page of its own, and how many there are */
	uint64_t stored;        /* of these, not in holes */
	bool cut;               /* the stream ended early or is damaged: what could be decoded before is there */
};

/* The hint of who may not take more of the disk: the core may be fine where there is more. */
#define XC_DECOMPRESS_MORE_ROOM "set TMPDIR to a directory with more room"

/* Errors: XC_ERR_FORMAT (damaged before anything could be decoded), XC_ERR_LIMIT (the limit; the room, with the hint above; the decoder's
 * memory), those of making and writing a file, with a hint. */
XC_MUST_CHECK struct xc_error *xc_decompress(const struct xc_decoder *decoder, struct xc_decompression *expansion);

#endif
