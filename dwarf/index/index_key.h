/* index_key: identifies the debug file of a kept index. */
#ifndef XC_INDEX_KEY_H
#define XC_INDEX_KEY_H

#include "core/cache/keyed_hash.h"
#include "core/process/finder.h"
#include "dwarf/elf/elffile.h"
#include "dwarf/index/index_format.h"

/* What an index is made from, and where it may be kept. */
struct xc_index_basis {
	const struct xc_elffile *file;
	Elf *alternate; /* of dwz; NULL: none */
	const struct xc_source *alternate_source;
	const struct xc_finder *finder;   /* may be NULL */
	bool packed;                      /* the file comes out of a pack */
	bool split;                       /* it has split units */
	const struct xc_keyed_hash *hash; /* NULL: no secret, so no key */
};

/* Name of the kept file: the build-id in hex. "none-" and 64 digits: of one without a build-id, by the facts of its
 * inode. "pack-" and the key: of a file out of a pack, so that no pack can take the place of a host's file. Empty when
 * the key is needed and NULL. */
struct xc_index_name {
	char text[2 * XC_BUILD_ID_MAX + 2 * XC_INDEX_KEY + 16];
};

struct xc_index_name xc_index_name_of(const struct xc_index_basis *basis, const uint8_t *key);

/* SHA-256 over the size of the file, its ELF and section headers, and the names, sizes and keyed hashes
 * (keyed_hash.h) of all sections that building reads, as stored, also those of the alternate file. For split units,
 * which would all have to be opened, over the places where they are searched: they are bound by their ids alone. False
 * without a secret. Cost: reads these sections at the speed of memory. */
bool xc_index_make_key(const struct xc_index_basis *basis, uint8_t key[XC_INDEX_KEY]);

/* The facts of its inode and of that of the alternate file, with their checksum; false when one is not a file with an
 * inode. */
bool xc_index_seen_of(const struct xc_index_basis *basis, struct xc_index_seen *seen_out);

#endif
