/* decoder_gzip: zlib reads one member; the next one begins where it ends. Zeros after the last one are padding, as on
 * tapes.
 *
 * ISA-L would take half the time, but loses bytes where a step ends at a bad place (2.30: some streams in steps of 7
 * bytes, some in two steps of any size into 4,093 bytes). */
#include "core/io/decoder.h"

#include <stdlib.h>
#define ZLIB_CONST
#include <zlib.h>

enum { GZIP_WINDOW = 16 + MAX_WBITS }; /* zlib.h: 16 is the gzip wrapper, and nothing else */

struct gzip {
	z_stream z;
	bool between; /* a member has ended */
};

static void *allocate(void *user, uInt n, uInt size)
{
	(void)user;
	return xc_alloc((size_t)n * size);
}

static void release(void *user, void *block)
{
	(void)user;
	free(block);
}

static void *gzip_open(void)
{
	struct gzip *g = xc_alloc(sizeof *g);
	g->z.zalloc = allocate;
	g->z.zfree = release;
	inflateInit2(&g->z, GZIP_WINDOW); /* if it fails, each step returns Z_STREAM_ERROR */
	return g;
}

static void gzip_close(void *state)
{
	struct gzip *g = state;
	inflateEnd(&g->z);
	free(g);
}

static size_t zeros(const struct xc_decoder_step *step)
{
	size_t n = 0;
	while (n < step->in_size && !step->in[n])
		n++;
	return n;
}

static enum xc_decoder_result gzip_step(void *state, struct xc_decoder_step *step)
{
	struct gzip *g = state;
	if (g->between) {
		step->made = 0;
		step->taken = zeros(step);
		if (step->taken)
			return XC_DECODER_WHOLE;
		inflateReset(&g->z);
	}
	g->z.next_in = step->in;
	g->z.avail_in = (uInt)step->in_size;
	g->z.next_out = step->out;
	g->z.avail_out = (uInt)step->out_size;
	const int result = inflate(&g->z, Z_NO_FLUSH);
	step->taken = step->in_size - g->z.avail_in;
	step->made = step->out_size - g->z.avail_out;
	g->between = result == Z_STREAM_END;
	if (result == Z_OK || result == Z_BUF_ERROR || result == Z_STREAM_END)
		return g->between ? XC_DECODER_WHOLE : XC_DECODER_MORE;
	step->why = g->z.msg ? g->z.msg : "damaged";
	return XC_DECODER_DAMAGED;
}

const struct xc_decoder xc_decoder_gzip = {"gzip", "gzip -d", gzip_open, gzip_step, gzip_close};
