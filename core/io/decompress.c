/* decompress: the file has holes where the stream has zeros. Most of a large core is zeros, and so is all of a
 * decompression bomb that would fill the disk. */
#include "core/io/decompress.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/io/opener.h"
#include "core/base/progress.h"
#include "core/io/tempfile.h"

#ifdef XC_HOSTILE
enum { OUT_SIZE = 509, STEP_MAX = 7 };
#else
enum { OUT_SIZE = 1 << 20, STEP_MAX = 1 << 20 };
#endif

static struct xc_error *temporary_file(int *fd_out)
{
	const struct xc_opener *opener = xc_opener();
	const char *dir = getenv("TMPDIR");
	if (!dir || !*dir)
		dir = "/var/tmp"; /* for large files: /tmp is often in memory */
	int fd = opener ? opener->scratch(opener->user) : xc_opener_scratch(dir);
	if (fd < 0)
		return xc_error_hint(xc_error_errno(errno, "making a temporary file in %s", dir),
				     "set TMPDIR to a directory with room for the inflated core");
	*fd_out = fd;
	return NULL;
}

/* A sandbox provides one file for all streams: the next one begins at the first page after the existing content. */
static uint64_t next_page(int fd)
{
	const off_t page = (off_t)sysconf(_SC_PAGESIZE), end = lseek(fd, 0, SEEK_END);
	const off_t from = end > 0 ? (end + page - 1) / page * page : 0;
	return lseek(fd, from, SEEK_SET) == from ? (uint64_t)from : 0;
}

static struct xc_error *append(struct xc_decompression *e, const struct xc_decoder_step *step)
{
	const uint8_t *bytes = step->out;
	const size_t len = step->made;
	if (len > e->limit - e->written)
		return xc_error_new(XC_ERR_LIMIT, "%s: inflates to more than %" PRIu64 " bytes", e->path, e->limit);
	e->written += len;
	if (len && !bytes[0] && !memcmp(bytes, bytes + 1, len - 1))
		return lseek(e->fd, (off_t)len, SEEK_CUR) < 0 ? xc_error_errno(errno, "inflating %s", e->path) : NULL;
	e->stored += len;
	if (e->room && e->stored > e->room)
		return xc_error_hint(xc_error_new(XC_ERR_LIMIT,
						  "%s: inflates to more than the %" PRIu64
						  " bytes of disk space that it may use",
						  e->path, e->room),
				     XC_DECOMPRESS_MORE_ROOM);
	if (xc_tempfile_write(e->fd, bytes, len))
		return NULL;
	return xc_error_hint(xc_error_errno(errno, "inflating %s", e->path), XC_DECOMPRESS_MORE_ROOM);
}

static struct xc_error *refused(const struct xc_decoder *decoder, enum xc_decoder_result result, const char *path,
				const char *why)
{
	const bool large = result == XC_DECODER_TOO_LARGE;
	struct xc_error *err =
		xc_error_new(large ? XC_ERR_LIMIT : XC_ERR_FORMAT, "%s: %s: %s", path, decoder->name, why);
	return large ? xc_error_hint(err, "unpack it first (%s)", decoder->tool) : err;
}

/* Decode until the input ends or is found damaged. Bytes decoded before damage are kept. */
static struct xc_error *decode(const struct xc_decoder *decoder, void *state, struct xc_decompression *e, uint8_t *out)
{
	enum xc_decoder_result result = XC_DECODER_MORE;
	struct xc_error *err = NULL;
	const size_t size = (size_t)e->size;
	for (size_t at = 0; !err && !e->cut && (at < size || result != XC_DECODER_WHOLE);) {
		const size_t left = size - at;
		struct xc_decoder_step step = {.in = e->bytes + at,
					       .in_size = left < STEP_MAX ? left : STEP_MAX,
					       .last = left <= STEP_MAX,
					       .out = out,
					       .out_size = OUT_SIZE};
		result = decoder->step(state, &step);
		const bool failed = result == XC_DECODER_DAMAGED || result == XC_DECODER_TOO_LARGE;
		if (failed && !step.made && !e->written)
			return refused(decoder, result, e->path, step.why);
		err = append(e, &step);
		at += step.taken;
		xc_progress_step(e->progress, at, size);
		e->cut = failed || (!step.made && !step.taken); /* no progress: the input ended inside a stream */
	}
	return err;
}

struct xc_error *xc_decompress(const struct xc_decoder *decoder, struct xc_decompression *e)
{
	struct xc_error *err = temporary_file(&e->fd);
	if (err)
		return err;
	e->from = next_page(e->fd);
	void *state = decoder->open();
	uint8_t *out = xc_alloc(OUT_SIZE);
	err = decode(decoder, state, e, out);
	if (!err && ftruncate(e->fd, (off_t)(e->from + e->written)) < 0)
		err = xc_error_errno(errno, "inflating %s", e->path);
	xc_progress_end(e->progress);
	decoder->close(state);
	free(out);
	if (err)
		close(e->fd);
	return err;
}
