/* layer: dwarf
 *
 * The symbol store: the input is a file to be indexed or, if it starts like one, the cached index with corrected
 * checksums. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/store/store_layout.h"
#include "dwarf/symstore/store_scan.h"
#include "tests/support/scratch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void scan(const uint8_t *data, size_t size)
{
	struct xc_arena arena = {NULL};
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	struct xc_store_scan s = xc_store_scan(fd, size, &arena);
	if (s.kind == XC_STORE_ELF && s.id.size < 2 && !s.dwo_count)
		abort();
	close(fd);
	xc_arena_fini(&arena);
}

static void seal(uint8_t *bytes, size_t size)
{
	struct xc_store_header h;
	memcpy(&h, bytes, sizeof h);
	h.order = XC_STORE_ORDER;
	h.version = XC_STORE_VERSION;
	if (h.crcs.at >= XC_STORE_BLOCK && h.crcs.at <= size && h.crcs.count <= (size - h.crcs.at) / sizeof(uint32_t)) {
		for (uint64_t i = 0; i < h.crcs.count; i++) {
			uint64_t begin = (i + 1) * XC_STORE_BLOCK;
			uint64_t left = begin < h.crcs.at ? h.crcs.at - begin : 0;
			uint32_t crc =
				xc_store_crc(bytes + begin, left < XC_STORE_BLOCK ? (size_t)left : XC_STORE_BLOCK);
			memcpy(bytes + h.crcs.at + i * sizeof crc, &crc, sizeof crc);
		}
		h.crcs_crc = xc_store_crc(bytes + h.crcs.at, (size_t)h.crcs.count * sizeof(uint32_t));
	}
	h.crc = xc_store_crc(&h, offsetof(struct xc_store_header, crc));
	memcpy(bytes, &h, sizeof h);
}

/* All queries of a reader; every path in the results is a path. */
static void read_all(struct xc_store *store)
{
	struct xc_store_root root;
	struct xc_store_split split;
	struct xc_store_file file;
	uint32_t numbers[8];
	for (size_t i = 0; i < xc_store_file_count(store) && i < 256; i++) {
		if (!xc_store_file(store, i, &file))
			continue;
		if (file.path[0] != '/' || file.id.size > XC_BUILD_ID_MAX)
			abort();
		xc_store_find(store, &file.id, 2 * (size_t)file.id.size, numbers, XC_COUNT(numbers));
		xc_store_find(store, &file.id, file.id.size, numbers, XC_COUNT(numbers));
	}
	for (size_t i = 0; i < xc_store_root_count(store) && i < 256; i++)
		xc_store_root(store, i, &root);
	for (size_t i = 0; i < xc_store_split_count(store) && i < 256; i++)
		if (xc_store_split(store, i, &split))
			xc_store_find_split(store, split.dwo_id, numbers, XC_COUNT(numbers));
}

static void read_index(const uint8_t *data, size_t size)
{
	struct xc_store *store = NULL;
	uint8_t *bytes = malloc(size);
	memcpy(bytes, data, size);
	seal(bytes, size);
	scratch_file("index", bytes, size);
	struct xc_error *err = xc_store_open(scratch_dir(), &store);
	if (!err)
		read_all(store);
	xc_error_free(err);
	xc_store_close(store);
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size >= XC_STORE_BLOCK && !memcmp(data, XC_STORE_MAGIC, strlen(XC_STORE_MAGIC)))
		read_index(data, size);
	else
		scan(data, size);
	return 0;
}
