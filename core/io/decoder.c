/* decoder: the first bytes identify the format. zstd: RFC 8878; lz4: its frame format 1.6.4; xz: its file format 1.2.0;
 * gzip: RFC 1952. */
#include "core/io/decoder.h"

#include <string.h>

#include "core/io/archive_layout.h"
#include "core/base/cursor.h"

enum { SKIPPED_MAX = 64 };

static const uint64_t SKIPPABLE = 0x184d2a50; /* to …5f */

static const struct {
	const struct xc_decoder *decoder;
	const char *magic;
	size_t len;
	bool framed; /* skippable frames may precede it: pzstd writes one first */
} formats[] = {
	{&xc_decoder_zstd, "\x28\xb5\x2f\xfd", 4, true},
	{&xc_decoder_lz4, "\x04\x22\x4d\x18", 4, true},
	{&xc_decoder_xz, "\xfd\x37zXZ", 6, false},
	{&xc_decoder_gzip, "\x1f\x8b\x08", 3, false},
};

static uint64_t behind_skipped(const uint8_t *bytes, uint64_t size)
{
	uint64_t at = 0;
	for (int i = 0; i < SKIPPED_MAX && size - at >= 8; i++) {
		uint64_t magic = xc_load_uint(bytes + at, 4, false), len = xc_load_uint(bytes + at + 4, 4, false);
		if ((magic & ~UINT64_C(15)) != SKIPPABLE || len > size - at - 8)
			break;
		at += 8 + len;
	}
	return at;
}

const struct xc_decoder *xc_decoder_of(const uint8_t *bytes, uint64_t size)
{
	if (size >= 16 && !memcmp(bytes + 8, XC_ARCHIVE_MAGIC, 8))
		return NULL; /* a pack: archive.h reads it */
	const uint64_t behind = behind_skipped(bytes, size);
	for (size_t i = 0; i < XC_COUNT(formats); i++) {
		const uint64_t at = formats[i].framed ? behind : 0;
		if (size - at >= formats[i].len && !memcmp(bytes + at, formats[i].magic, formats[i].len))
			return formats[i].decoder;
	}
	return NULL;
}
