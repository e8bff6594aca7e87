/* decoder_zstd: an error discards everything that a call decoded. So each call gets only the block that zstd waits for,
 * without the header of the next block, which zstd's hint includes: otherwise a damaged block would cost the block
 * before it. */
#include "core/io/decoder.h"

#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

enum { WINDOW_LOG = 27, BLOCK_HEADER = 3, FRAME_HEADER = 16 };

struct zstd {
	ZSTD_DStream *stream;
	size_t hint;
};

static void *zstd_open(void)
{
	struct zstd *z = xc_alloc(sizeof *z);
	_Static_assert(1 << WINDOW_LOG == XC_DECODER_WINDOW, "the same limit");
	z->stream = ZSTD_createDStream();
	ZSTD_DCtx_setParameter(z->stream, ZSTD_d_windowLogMax, WINDOW_LOG);
	return z;
}

static enum xc_decoder_result zstd_step(void *state, struct xc_decoder_step *step)
{
	struct zstd *z = state;
	const size_t wanted = z->hint > BLOCK_HEADER ? z->hint - BLOCK_HEADER : z->hint ? z->hint : FRAME_HEADER;
	ZSTD_inBuffer in = {step->in, wanted < step->in_size ? wanted : step->in_size, 0};
	ZSTD_outBuffer out = {step->out, step->out_size, 0};
	z->hint = ZSTD_decompressStream(z->stream, &out, &in);
	step->taken = in.pos;
	step->made = out.pos;
	if (!ZSTD_isError(z->hint))
		return z->hint ? XC_DECODER_MORE : XC_DECODER_WHOLE;
	step->why = ZSTD_getErrorName(z->hint);
	if (ZSTD_getErrorCode(z->hint) != ZSTD_error_frameParameter_windowTooLarge)
		return XC_DECODER_DAMAGED;
	step->why = "compressed with a window of more than 128 MiB";
	return XC_DECODER_TOO_LARGE;
}

static void zstd_close(void *state)
{
	struct zstd *z = state;
	ZSTD_freeDStream(z->stream);
	free(z);
}

const struct xc_decoder xc_decoder_zstd = {"zstd", "zstd -d --long=31", zstd_open, zstd_step, zstd_close};
