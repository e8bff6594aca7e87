/* index_key: identifies the debug file of a kept index. */
#ifndef XC_INDEX_KEY_H
#define XC_INDEX_KEY_H

#include "dwarf/elf/elffile.h"
#include "dwarf/index/index_format.h"

/* Name of the kept file: the build-id in hex, or "none-" and the key where there is none. */
struct xc_index_name {
	char text[2 * XC_BUILD_ID_MAX + 2 * XC_INDEX_KEY + 16];
};

/* SHA-256 over the size of the file, its section headers, .debug_abbrev as stored, its link to an alternate file, and
 * the CRC-32C of .debug_info and .debug_str. Cost: reads these. */
void xc_index_make_key(const struct xc_elffile *file, uint8_t key[XC_INDEX_KEY]);

struct xc_index_name xc_index_name_of(const struct xc_elffile *file, const uint8_t key[XC_INDEX_KEY]);

/* The facts of its inode, with their checksum; false when it is not a file with an inode. */
bool xc_index_seen_of(const struct xc_elffile *file, struct xc_index_seen *seen_out);

#endif
