/* store_scan: what one file is, from its headers, its notes and the heads of its split units.
 *
 * Told by content, never by name. Reads little: the ELF header, the section headers (16 MiB of them at most), names of
 * sections that may be debug sections, notes (64 KiB each, 16 at most), and of split DWARF the ids of its units.
 * Safe on any bytes and on a file that changes meanwhile. Thread-safe. */
#ifndef XC_STORE_SCAN_H
#define XC_STORE_SCAN_H

#include <sys/stat.h>

#include "core/base/arena.h"
#include "core/store/store.h"

enum xc_store_kind {
	XC_STORE_DULL,    /* nothing can be looked up in it: no ELF file, or without build-id and split units */
	XC_STORE_ELF,     /* it has a build-id, or split units */
	XC_STORE_PACKAGE, /* a .deb or .rpm, which has to be unpacked */
};

struct xc_store_scan {
	enum xc_store_kind kind;
	struct xc_build_id id;
	uint32_t has;
	uint64_t *dwo_ids; /* in the arena; ids of its split units */
	size_t dwo_count;
};

/* Look at the open file, of this size. Descriptor and offset stay as they are. */
struct xc_store_scan xc_store_scan(int fd, uint64_t size, struct xc_arena *arena);

/* The same of a file by its name below a directory (AT_FDCWD: anywhere), opened only when it is a regular one,
 * links not followed. False with errno when it is none or cannot be opened. */
bool xc_store_scan_at(int directory, const char *path, struct xc_arena *arena, struct stat *stat_out,
		      struct xc_store_scan *scan_out);

#endif
