/* decoder: decodes a compressed stream step by step. One decoder per format (decoder_*.c), all with one interface.
 *
 * Streams may be concatenated, as `cat a.gz b.gz` does. A truncated or damaged one gives the bytes before the
 * damage. */
#ifndef XC_DECODER_H
#define XC_DECODER_H

#include "core/base/base.h"

enum {
	XC_DECODER_WINDOW = 128 << 20, /* largest window of a stream in bytes: the default limit of zstd */
};

enum xc_decoder_result {
	XC_DECODER_MORE,      /* the stream continues */
	XC_DECODER_WHOLE,     /* the stream has ended; another one may follow */
	XC_DECODER_DAMAGED,   /* `why` gives the reason; no further step may follow */
	XC_DECODER_TOO_LARGE, /* it needs more memory than XC_DECODER_WINDOW */
};

struct xc_decoder_step {
	const uint8_t *in;
	size_t in_size;
	bool last; /* no input follows `in` */
	uint8_t *out;
	size_t out_size;
	size_t taken, made; /* bytes read from `in` and written to `out`; also set for damage */
	const char *why;
};

struct xc_decoder {
	const char *name; /* "zstd" */
	const char *tool; /* command that decodes streams that are too large here: "zstd -d --long=31" */
	void *(*open)(void);
	enum xc_decoder_result (*step)(void *state, struct xc_decoder_step *step);
	void (*close)(void *state);
};

extern const struct xc_decoder xc_decoder_zstd, xc_decoder_lz4, xc_decoder_xz, xc_decoder_gzip;

/* The decoder for a file that begins with these bytes, after skippable frames of zstd and lz4. NULL for other files and
 * for packs. */
const struct xc_decoder *xc_decoder_of(const uint8_t *bytes, uint64_t size);

#endif
