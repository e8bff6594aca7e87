/* index_scan_impl: hashes of what a unit defines, shared by the files of index_scan. */
#ifndef XC_INDEX_SCAN_IMPL_H
#define XC_INDEX_SCAN_IMPL_H

#include "dwarf/index/index_scan.h"

/* The hash of a string; 0 when it cannot be read. */
uint64_t xc_index_scan_hash(struct xc_index_scan *scan, struct xc_die_scan_string string);

/* The hash of the last component of a name, by which look-ups find it. `hash` is that of the whole name. The two
 * differ only in Rust: rustc puts paths into the names of some types. */
uint32_t xc_index_scan_hash_last(const struct xc_index_scan *scan, struct xc_die_scan_string string, uint64_t hash);

/* A key that equals no other: of the DIE at this offset of the unit. */
uint64_t xc_index_scan_own_key(const struct xc_index_scan *scan, uint64_t die);

/* A number of a DIE if it has that fact (XC_DIE_SCAN_…), else UINT64_MAX. */
uint64_t xc_index_scan_number(const struct xc_die_scan_entry *die, uint32_t fact, uint64_t number);

/* Mix the names of a record's members, or the names and values of enumerators, into *hash. Leaves the reader after
 * them. False when the unit is damaged; so for the next two. */
bool xc_index_scan_hash_members(struct xc_index_scan *scan, const struct xc_die_scan_entry *die, uint64_t *hash);

/* The size of an enum; in C mixed with its enumerators. The reader stays where it is. */
bool xc_index_scan_enum_size(struct xc_index_scan *scan, const struct xc_die_scan_entry *die, uint64_t *size_out);

/* A hash of the type that a C typedef names: its tag, name and size, and of an anonymous type the first members. The
 * reader stays where it is. */
bool xc_index_scan_hash_target(struct xc_index_scan *scan, const struct xc_die_scan_entry *die, uint64_t *hash_out);

/* Is it a class template whose name lacks its arguments (clang -gsimple-template-names; they are its first children)?
 * Then many types have the same name and line, and must not be folded. */
bool xc_index_scan_lacks_arguments(struct xc_index_scan *scan, const struct xc_die_scan_entry *die);

#endif
