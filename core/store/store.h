/* store: the user's own files by build-id: which ELF files `xcore symbols index` saw, and what each has.
 *
 * The kept file only answers "where might it be". A file that it names is opened as any other (finder.h) and serves
 * only when its own build-id is the one wanted; so an old or a forged store costs a look at a file and never gives a
 * wrong answer. It is one mapped file, sorted, with a checksum per block that is checked when the block is read: what
 * is damaged is not used, and indexing again mends it. dwarf/symstore/store_index.h fills it.
 *
 *	DIR/index   what this header reads (store_layout.h)     DIR/kept/   files linked or copied into the store
 *	DIR/dull    what need not be read again                 DIR/lock    held while index and dull are replaced */
#ifndef XC_STORE_H
#define XC_STORE_H

#include "core/elf/elf.h"

enum xc_store_has {
	XC_STORE_CODE = 1,       /* machine code: it can stand for the mapped file */
	XC_STORE_SYMBOLS = 2,    /* .symtab */
	XC_STORE_DWARF = 4,      /* .debug_info */
	XC_STORE_ALT = 8,        /* it is a common part that dwz made */
	XC_STORE_WANTS_ALT = 16, /* it refers to one */
	XC_STORE_DWO = 32,       /* split units, .dwo */
	XC_STORE_DWP = 64,       /* a package of split units, .dwp */
	XC_STORE_MINI = 128,     /* MiniDebugInfo */
	XC_STORE_KEPT = 256,     /* it stands in the store itself */
};

struct xc_store_file {
	const char *path; /* absolute */
	struct xc_build_id
		id;        /* size 0: only split units can be looked up in it; of .debug_sup where it has no other */
	uint32_t has;      /* enum xc_store_has */
	uint64_t dev, ino; /* what it was when it was read */
	uint64_t size;
	int64_t mtime_ns;
	int64_t seen; /* seconds since the epoch: when indexing met it last */
};

/* A tree that was indexed. */
struct xc_store_root {
	const char *path;
	int64_t indexed; /* seconds since the epoch, of the last time it was gone through to its end; 0: never */
	uint64_t files;  /* regular files met then */
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

/* Open DIR/index. Errors: XC_ERR_NOT_FOUND (nothing was indexed), XC_ERR_FORMAT (damaged, or of another version),
 * and those of opening. Cost: a few pages. */
XC_MUST_CHECK struct xc_error *xc_store_open(const char *dir, struct xc_store **store_out);
void xc_store_close(struct xc_store *store); /* NULL is fine */

/* True once a block was met whose checksum is wrong; what stands in it is left out of all answers. */
bool xc_store_damaged(const struct xc_store *store);

const char *xc_store_dir(const struct xc_store *store);

/* Everything, by number, in the order of paths. False when that entry is damaged. Paths live as long as the store. */
size_t xc_store_file_count(const struct xc_store *store);
bool xc_store_file(struct xc_store *store, size_t number, struct xc_store_file *file_out);
size_t xc_store_root_count(const struct xc_store *store);
bool xc_store_root(struct xc_store *store, size_t number, struct xc_store_root *root_out);
size_t xc_store_split_count(const struct xc_store *store);
bool xc_store_split(struct xc_store *store, size_t number, struct xc_store_split *split_out);

/* Files by build-id, or by its first `nibbles` half-bytes: their numbers, ordered by build-id, up to `max` of
 * them. Returns how many there are (0 for no nibbles). NULL store: none. */
size_t xc_store_find(struct xc_store *store, const struct xc_build_id *id, size_t nibbles, uint32_t *numbers,
		     size_t max);

/* Files that hold the split unit with this id; as above. */
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

/* Replace DIR/index: written aside, on disk before it takes its name. The caller holds DIR/lock. Errors: XC_ERR_IO,
 * XC_ERR_PERMISSION, XC_ERR_LIMIT (more than 4 GiB of paths); the old one then stays. */
XC_MUST_CHECK struct xc_error *xc_store_write(const char *dir, const struct xc_store_content *content);

/* Write bytes to DIR/name the same way. */
XC_MUST_CHECK struct xc_error *xc_store_replace(const char *dir, const char *name, const void *bytes, size_t size);

/* Remove what killed writers left of these two; the caller holds DIR/lock. */
void xc_store_remove_parts(const char *dir);

#endif
