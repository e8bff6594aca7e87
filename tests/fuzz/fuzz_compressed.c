/* layer: core
 *
 * zstd, lz4, xz and gzip: decompressed below a limit, or an error. */
#include <stdlib.h>

#include "core/io/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CAP = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct xc_source_options options = {.max_size = CAP};
	struct xc_source *source = NULL;
	struct xc_error *err = xc_source_inflate(data, size, "fuzz", &options, &source);
	if ((err == NULL) != (source != NULL))
		abort();
	if (source) {
		uint8_t sum = 0;
		if (source->size > CAP || !source->compressed || (source->bytes == NULL) != (source->size == 0))
			abort();
		for (uint64_t i = 0; i < source->size; i += 512)
			sum ^= source->bytes[i];
		if (xc_source_changed(source))
			abort();
		(void)*(volatile uint8_t *)&sum;
	}
	xc_error_free(err);
	xc_source_close(source);
	return 0;
}
