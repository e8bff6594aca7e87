/* store_layout: the layout of DIR/index. Private to store*.c. Integers are in the byte order of the machine: a store of
 * the other byte order is treated as one of another version.
 *
 * 	block 0    struct xc_store_header
 * 	           files × struct xc_store_disk_file, in the order of paths
 * 	           ids × u32: numbers of the files that have a build-id, in the order of build-ids
 * 	           splits × struct xc_store_disk_split, in the order of ids
 * 	           roots × struct xc_store_disk_root
 * 	           paths, NUL-terminated
 * 	           u32 CRC-32 (that of gzip) of each block from block 1 to here; the last block may be short */
#ifndef XC_STORE_LAYOUT_H
#define XC_STORE_LAYOUT_H

#include "core/elf/elf.h"

#define XC_STORE_MAGIC "XCSTORE1"

enum { XC_STORE_BLOCK = 4096, XC_STORE_ORDER = 0x01020304, XC_STORE_VERSION = 1 };

struct xc_store_table {
	uint64_t at, count; /* bytes from the start of the file; items (bytes for paths) */
};

struct xc_store_header {
	char magic[8];
	uint32_t order, version;
	struct xc_store_table files, ids, splits, roots, paths, crcs;
	uint32_t crcs_crc; /* of the table of checksums */
	uint32_t crc;      /* of this header up to here */
};

struct xc_store_disk_file {
	uint64_t dev, ino, size;
	int64_t mtime_ns, seen;
	uint32_t has, path_at; /* path_at: from the start of the paths */
	uint16_t path_len;
	uint8_t id_size, zero[5];
	uint8_t id[XC_BUILD_ID_MAX];
};

struct xc_store_disk_split {
	uint64_t dwo_id;
	uint32_t file, zero;
};

struct xc_store_disk_root {
	int64_t indexed;
	uint64_t files;
	uint32_t path_at;
	uint16_t path_len, zero;
};

_Static_assert(sizeof(struct xc_store_header) == 120, "no padding in what is kept");
_Static_assert(sizeof(struct xc_store_disk_file) == 120, "no padding in what is kept");
_Static_assert(sizeof(struct xc_store_disk_split) == 16, "no padding in what is kept");
_Static_assert(sizeof(struct xc_store_disk_root) == 24, "no padding in what is kept");

uint32_t xc_store_crc(const void *bytes, size_t size);

#endif
