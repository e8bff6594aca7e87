/* decoder: a compressed stream, piece by piece; one decoder for each format that we read (decoder_*.c), all of one shape.
 *
 * Streams may follow each other, as `cat a.gz b.gz` writes them. Cut and damaged ones give what can be decoded before the damage. */
#ifndef XC_DECODER_H
#define XC_DECODER_H

#include "core/base/base.h"

enum {
	XC_DECODER_WINDOW =
		128
		<< 20, /* bytes a stream may make us remember: what zstd itself takes without being asked for more */
};

enum xc_decoder_result {
	XC_DECODER_MORE,      /* the stream goes on */
	XC_DECODER_WHOLE,     /* it is over, or another one may follow */
	XC_DECODER_DAMAGED,   /* `why` tells; no further step may follow */
	XC_DECODER_TOO_LARGE, /* it wants more memory than XC_DECODER_WINDOW */
};

struct xc_decoder_step {
	const uint8_t *in;
	size_t in_size;
	bool last; /* there is no more behind `in` */
	uint8_t *out;
	size_t out_size;
	size_t taken, made; /* what the step used of `in`, and wrote to `out`: also with damage */
	const char *why;
};

struct xc_decoder {
	const char *name; /* "zstd" */
	const char *tool; /* which unpacks what is too large for us: "zstd -d --long=31" */
	void *(*open)(void);
	enum xc_decoder_result (*step)(void *state, struct xc_decoder_step *step);
	void (*close)(void *state);
};

extern const struct xc_decoder xc_decoder_zstd, xc_decoder_lz4, xc_decoder_xz, xc_decoder_gzip;

/* By the first bytes, after frames that zstd and lz4 skip; NULL for what is compressed by none of these, and for packs. */
const struct xc_decoder *xc_decoder_of(const uint8_t *bytes, uint64_t size);

#endif
