/* store_file: reads pieces of a file without mapping it. Indexing reads a few kilobytes each of thousands of files.
 * Private to store_scan.c and store_dwo.c. */
#ifndef XC_STORE_FILE_H
#define XC_STORE_FILE_H

#include "core/base/arena.h"

enum {
	XC_STORE_MAX_UNITS = 1 << 20,
	XC_STORE_MAX_INFOS = 1 << 16
}; /* split units, and sections of them, of one file */

struct xc_store_section {
	uint32_t name, type;
	uint64_t flags, offset, size, align;
};

struct xc_store_reader {
	int fd;
	uint64_t size;
	bool big_endian;
};

/* Read up to `len` bytes at `at`; fewer at the end of the file or of the section. Returns the number of bytes read. */
size_t xc_store_read(const struct xc_store_reader *file, uint64_t at, void *buf, size_t len);
size_t xc_store_read_section(const struct xc_store_reader *file, const struct xc_store_section *section, uint64_t at,
			     void *buf, size_t len);

/* Store the ids of all units in sections .debug_info.dwo (abbrevs: .debug_abbrev.dwo, may be NULL), or of those in
 * the hash table of .debug_cu_index, in the arena. Returns the number of ids. */
size_t xc_store_dwo_units(const struct xc_store_reader *file, const struct xc_store_section *infos, size_t count,
			  const struct xc_store_section *abbrevs, struct xc_arena *arena, uint64_t **ids_out);
size_t xc_store_dwp_units(const struct xc_store_reader *file, const struct xc_store_section *index,
			  struct xc_arena *arena, uint64_t **ids_out);

#endif
