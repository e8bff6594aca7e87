/* decompress: decodes a compressed stream into an unnamed temporary file, after its existing content, until the stream
 * ends, is found damaged, or reaches a limit. */
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
	uint64_t room;                /* limit on disk space in bytes (holes take none); 0: no limit */
	struct xc_progress *progress; /* or NULL */
	/* The result. */
	int fd;                 /* the caller closes it */
	uint64_t from, written; /* offset of the first byte in the file, on a page boundary, and the number of bytes */
	uint64_t stored;        /* those of them that are not in holes */
	bool cut;               /* the stream ended early or is damaged: the bytes before that are there */
};

/* The hint when disk space runs out: with more of it the core may open. */
#define XC_DECOMPRESS_MORE_ROOM "set TMPDIR to a directory with more room"

/* Errors: XC_ERR_FORMAT (damaged before anything could be decoded), XC_ERR_LIMIT (the limit; the room, with the hint
 * above; the memory of the decoder), and those of creating and writing a file, with a hint. */
XC_MUST_CHECK struct xc_error *xc_decompress(const struct xc_decoder *decoder, struct xc_decompression *expansion);

#endif
