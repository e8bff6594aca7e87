/* store: an index of the user's ELF files by build-id, which `xcore symbols index` builds.
 *
 * The index only says where a file might be. That file is opened like any other (finder.h) and used only if its own
 * build-id is the wanted one. So an old or forged store costs an open and never gives a wrong result. The index is one
 * mapped, sorted file. Each block has a checksum, which is verified when the block is read: damaged blocks are not
 * used, and indexing again repairs them. dwarf/symstore/store_index.h builds it.
 *
 * 	DIR/index   the index (store_layout.h)                  DIR/kept/   files linked or copied into the store
 * 	DIR/dull    files that need not be read again         DIR/lock    held while index and dull are replaced */
#ifndef XC_STORE_H
#define XC_STORE_H

#include "core/elf/elf.h"

enum xc_store_has {
	XC_STORE_CODE = 1,       /* machine code: it can be the mapped file */
	XC_STORE_SYMBOLS = 2,    /* .symtab */
	XC_STORE_DWARF = 4,      /* .debug_info */
	XC_STORE_ALT = 8,        /* it is an alternate file of dwz */
	XC_STORE_WANTS_ALT = 16, /* it refers to such a file */
	XC_STORE_DWO = 32,       /* split units, .dwo */
	XC_STORE_DWP = 64,       /* a package of split units, .dwp */
	XC_STORE_MINI = 128,     /* MiniDebugInfo */
	XC_STORE_KEPT = 256,     /* it is in DIR/kept */
};

struct xc_store_file {
	const char *path; /* absolute */
	struct xc_build_id
		id;        /* size 0: only split units can be looked up in it; of .debug_sup where it has no other */
	uint32_t has;      /* enum xc_store_has */
	uint64_t dev, ino; /* when it was indexed */
	uint64_t size;
	int64_t mtime_ns;
	int64_t seen; /* seconds since the epoch when indexing last found it */
};

/* An indexed directory tree. */
struct xc_store_root {
	const char *path;
	int64_t indexed; /* seconds since the epoch of its last complete scan; 0: never */
	uint64_t files;  /* regular files found then */
};

/* A split unit and the file that holds it. */
struct xc_store_split {
	uint64_t dwo_id;
	uint32_t file; /* its number */
};

struct xc_store;

/* The store's directory: `given` (--store), else $XCORE_SYMBOLS, else $XDG_DATA_HOME/xcore/symbols or
 * ~/.local/share/xcore/symbols. Malloc'ed. NULL: no store (XCORE_SYMBOLS is empty, or there is no home). */
char *xc_store_locate(const char *given);

/* May the store in `dir` be used? Not one that another user planted (core/io/planted.h), that is world-writable, or
 * that is at the default place and another's, as under sudo: debug files with the right build-id and wrong content
 * would give wrong results. A store of another user that was named is meant: a team shares it. Errors:
 * XC_ERR_PERMISSION; XC_ERR_NOT_FOUND: there is none. What passes cannot be replaced by another user. */
XC_MUST_CHECK struct xc_error *xc_store_check(const char *dir);

/* Open DIR/index. Errors: those of xc_store_check, XC_ERR_NOT_FOUND (nothing is indexed), XC_ERR_FORMAT (damaged, or
 * of another version), and those of opening a file. Cost: a few pages. */
XC_MUST_CHECK struct xc_error *xc_store_open(const char *dir, struct xc_store **store_out);
void xc_store_close(struct xc_store *store); /* NULL is fine */

/* True once a block with a wrong checksum was read. Results omit its entries. */
bool xc_store_damaged(const struct xc_store *store);

const char *xc_store_dir(const struct xc_store *store);

/* All entries by number, in the order of paths. False when the entry is damaged. Paths live as long as the store. */
size_t xc_store_file_count(const struct xc_store *store);
bool xc_store_file(struct xc_store *store, size_t number, struct xc_store_file *file_out);
size_t xc_store_root_count(const struct xc_store *store);
bool xc_store_root(struct xc_store *store, size_t number, struct xc_store_root *root_out);
size_t xc_store_split_count(const struct xc_store *store);
bool xc_store_split(struct xc_store *store, size_t number, struct xc_store_split *split_out);

/* Find files by build-id, or by its first `nibbles` half-bytes. Stores up to `max` numbers, ordered by build-id.
 * Returns the total (0 for no nibbles). NULL store: none. */
size_t xc_store_find(struct xc_store *store, const struct xc_build_id *id, size_t nibbles, uint32_t *numbers,
		     size_t max);

/* Find files that hold the split unit with this id, likewise. */
size_t xc_store_find_split(struct xc_store *store, uint64_t dwo_id, uint32_t *numbers, size_t max);

/* ---- writing ---- */

struct xc_store_content {
	const struct xc_store_file *files; /* in the order of paths, each once */
	size_t file_count;
	const struct xc_store_split *splits; /* in any order */
	size_t split_count;
	const struct xc_store_root *roots;
	size_t root_count;
};

/* Replace DIR/index: writes a temporary file, syncs it to disk and renames it. The caller holds DIR/lock. Errors:
 * XC_ERR_IO, XC_ERR_PERMISSION, XC_ERR_LIMIT (more than 4 GiB of paths); they leave the old index. */
XC_MUST_CHECK struct xc_error *xc_store_write(const char *dir, const struct xc_store_content *content);

/* Write bytes to DIR/name the same way. */
XC_MUST_CHECK struct xc_error *xc_store_replace(const char *dir, const char *name, const void *bytes, size_t size);

/* Remove temporary files of killed writers. The caller holds DIR/lock. */
void xc_store_remove_parts(const char *dir);

#endif
