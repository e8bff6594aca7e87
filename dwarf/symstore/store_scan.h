/* store_scan: identifies one file by its headers, its notes and the heads of its split units.
 *
 * Uses the content, never the name. Reads little: the ELF header, the section headers (at most 16 MiB), names of
 * sections that may be debug sections, notes (64 KiB each, at most 16), and the unit ids of split DWARF. Safe on any
 * bytes and on a file that changes meanwhile. Thread-safe. */
#ifndef XC_STORE_SCAN_H
#define XC_STORE_SCAN_H

#include <sys/stat.h>

#include "core/base/arena.h"
#include "core/store/store.h"

enum xc_store_kind {
	XC_STORE_DULL,    /* no look-up leads to it: not an ELF file, or one without build-id and split units */
	XC_STORE_ELF,     /* it has a build-id, or split units */
	XC_STORE_PACKAGE, /* a .deb or .rpm, which must be unpacked */
};

struct xc_store_scan {
	enum xc_store_kind kind;
	struct xc_build_id id;
	uint32_t has;
	uint64_t *dwo_ids; /* in the arena; ids of its split units */
	size_t dwo_count;
};

/* Scan the open file of this size. Does not change the descriptor's offset. */
struct xc_store_scan xc_store_scan(int fd, uint64_t size, struct xc_arena *arena);

/* The same for a file by its name below a directory (AT_FDCWD: anywhere). Opens only regular files, and follows no
 * links. False with errno when it is no regular file or cannot be opened. */
bool xc_store_scan_at(int directory, const char *path, struct xc_arena *arena, struct stat *stat_out,
		      struct xc_store_scan *scan_out);

#endif
