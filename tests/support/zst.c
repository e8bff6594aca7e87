/* zst: uses the streaming interface, so that frames need not state their content's size. */
#include "tests/support/zst.h"

#include <stdlib.h>
#include <zstd.h>

static void must(size_t code)
{
	if (ZSTD_isError(code))
		abort();
}

void zst_frame(struct xc_text *out, const void *bytes, size_t len, int level, bool checksum)
{
	char buf[4096];
	ZSTD_CCtx *c = ZSTD_createCCtx();
	ZSTD_inBuffer in = {bytes, len, 0};
	must(ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, level));
	must(ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, checksum));
	for (size_t left = 1; left;) {
		ZSTD_outBuffer to = {buf, sizeof buf, 0};
		left = ZSTD_compressStream2(c, &to, &in, ZSTD_e_end);
		must(left);
		xc_text_addn(out, buf, to.pos);
	}
	ZSTD_freeCCtx(c);
}

void zst_skippable(struct xc_text *out, size_t len)
{
	unsigned char header[8] = {0x5a, 0x2a, 0x4d, 0x18};
	for (size_t i = 0; i < 4; i++)
		header[4 + i] = (unsigned char)(len >> 8 * i);
	xc_text_addn(out, (char *)header, sizeof header);
	for (size_t i = 0; i < len; i++)
		xc_text_char(out, (char)(0x28 + i));
}

size_t zst_reference(const char *packed, size_t len, struct xc_text *out)
{
	char *buf = malloc(1 << 20);
	ZSTD_DCtx *d = ZSTD_createDCtx();
	bool good = true;
	for (size_t at = 0; good && at < len; at++) {
		ZSTD_inBuffer in = {packed + at, 1, 0};
		ZSTD_outBuffer to = {buf, 1 << 20, 0};
		good = !ZSTD_isError(ZSTD_decompressStream(d, &to, &in));
		xc_text_addn(out, buf, good ? to.pos : 0);
	}
	ZSTD_freeDCtx(d);
	free(buf);
	return out->len;
}
