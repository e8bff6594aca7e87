/* decoder_lz4: an error discards everything that a call decoded. So each call gets only the block that lz4 waits for,
 * without the header of the next block, and nothing while lz4 may still hold bytes of the previous block. A block has
 * at most 4 MiB, so no limit on memory is needed. */
#include "core/io/decoder.h"

#include <lz4frame.h>
#include <stdlib.h>

enum { BLOCK_HEADER = 4, FRAME_HEADER = 7 };

struct lz4 {
	LZ4F_dctx *context;
	size_t hint;
	bool full; /* the last step filled its output */
};

static void *lz4_open(void)
{
	struct lz4 *z = xc_alloc(sizeof *z);
	LZ4F_errorCode_t code = LZ4F_createDecompressionContext(&z->context, LZ4F_VERSION);
	if (LZ4F_isError(code))
		z->context = NULL;
	return z;
}

static size_t decode(struct lz4 *z, struct xc_decoder_step *step, size_t wanted)
{
	step->taken = wanted < step->in_size ? wanted : step->in_size;
	step->made = step->out_size;
	size_t hint = LZ4F_decompress(z->context, step->out, &step->made, step->in, &step->taken, NULL);
	if (LZ4F_isError(hint))
		step->taken = step->made = 0;
	return hint;
}

static size_t next(const struct lz4 *z)
{
	return z->hint > BLOCK_HEADER ? z->hint - BLOCK_HEADER : z->hint ? z->hint : FRAME_HEADER;
}

static enum xc_decoder_result lz4_step(void *state, struct xc_decoder_step *step)
{
	struct lz4 *z = state;
	if (!z->context) {
		step->why = "out of memory";
		return XC_DECODER_DAMAGED;
	}
	step->made = 0;
	if (z->full)
		z->hint = decode(z, step, 0);
	if (!step->made)
		z->hint = decode(z, step, next(z));
	z->full = step->made == step->out_size;
	if (!LZ4F_isError(z->hint))
		return z->hint ? XC_DECODER_MORE : XC_DECODER_WHOLE;
	step->why = LZ4F_getErrorName(z->hint);
	return XC_DECODER_DAMAGED;
}

static void lz4_close(void *state)
{
	struct lz4 *z = state;
	LZ4F_freeDecompressionContext(z->context);
	free(z);
}

const struct xc_decoder xc_decoder_lz4 = {"lz4", "lz4 -d", lz4_open, lz4_step, lz4_close};
