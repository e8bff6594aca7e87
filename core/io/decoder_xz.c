/* decoder_xz: liblzma itself reads concatenated streams and the zeros between them. */
#include "core/io/decoder.h"

#include <lzma.h>
#include <stdlib.h>

enum { BESIDES = 1 << 20 }; /* memory of the decoder besides the window */

static void *xz_open(void)
{
	lzma_stream *stream = xc_alloc(sizeof *stream);
	*stream = (lzma_stream)LZMA_STREAM_INIT;
	if (lzma_stream_decoder(stream, XC_DECODER_WINDOW + BESIDES, LZMA_CONCATENATED) == LZMA_OK)
		return stream;
	free(stream);
	return NULL;
}

static const char *why(lzma_ret result)
{
	return result == LZMA_MEM_ERROR       ? "out of memory"
	       : result == LZMA_OPTIONS_ERROR ? "compressed with unknown options"
	       : result == LZMA_FORMAT_ERROR  ? "data of another format begins here"
					      : "damaged";
}

static enum xc_decoder_result xz_step(void *state, struct xc_decoder_step *step)
{
	lzma_stream *stream = state;
	if (!stream) {
		step->why = why(LZMA_MEM_ERROR);
		return XC_DECODER_DAMAGED;
	}
	stream->next_in = step->in;
	stream->avail_in = step->in_size;
	stream->next_out = step->out;
	stream->avail_out = step->out_size;
	const lzma_ret result = lzma_code(stream, step->last ? LZMA_FINISH : LZMA_RUN);
	step->taken = step->in_size - stream->avail_in;
	step->made = step->out_size - stream->avail_out;
	if (result == LZMA_OK || result == LZMA_BUF_ERROR)
		return XC_DECODER_MORE;
	if (result == LZMA_STREAM_END)
		return XC_DECODER_WHOLE;
	step->why = result == LZMA_MEMLIMIT_ERROR ? "compressed with a dictionary of more than 128 MiB" : why(result);
	return result == LZMA_MEMLIMIT_ERROR ? XC_DECODER_TOO_LARGE : XC_DECODER_DAMAGED;
}

static void xz_close(void *state)
{
	if (state)
		lzma_end(state);
	free(state);
}

const struct xc_decoder xc_decoder_xz = {"xz", "xz -d", xz_open, xz_step, xz_close};
