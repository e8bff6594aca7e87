/* source: the bytes of a file, by offset, decompressed.
 *
 * A plain file is mapped read-only. A file compressed by zstd, lz4, xz or gzip (recognised by its first bytes, not by
 * its name) is inflated once into an unlinked temporary file, which is mapped. So all callers see plain bytes. A mapped
 * file that shrinks does not kill the process: a SIGBUS handler maps zeros over the lost range and marks the source as
 * changed. */
#ifndef XC_SOURCE_H
#define XC_SOURCE_H

#include "core/base/error.h"

struct xc_source {
	const uint8_t *bytes;    /* the whole content, page-aligned, followed by zeros; NULL when size is 0 */
	uint64_t size;           /* bytes after decompression */
	uint64_t stored_size;    /* bytes of the file itself */
	const char *path;        /* as opened; owned */
	bool compressed;         /* the bytes were inflated: no file on disk holds them */
	const char *compression; /* "zstd"; NULL for plain files */
	bool cut;                /* the compressed stream ended early: the decodable bytes are there */
	uint64_t dev, ino;       /* identity of the file, for "same file" checks */
	int64_t mtime;           /* seconds since the epoch */
	int64_t mtime_ns,
		ctime_ns; /* of modification and of change, in nanoseconds: together with dev and ino, what a cache
	                               can key on */
	void *map;        /* the mapping to unmap; NULL for bytes of the caller */
	size_t headroom;  /* free bytes before `bytes`; see xc_source_headroom */
	size_t locked;    /* bytes at the front of the headroom that are not writable yet */
	size_t map_size;
	struct xc_source_guard *guard; /* of the SIGBUS handler */
};

struct xc_progress;

struct xc_source_options {
	uint64_t max_size;            /* limit on decompressed bytes; 0: 256 GiB */
	uint64_t room;                /* limit on their disk space in bytes; 0: none */
	struct xc_progress *progress; /* shown while inflating; may be NULL */
	bool as_is;                   /* inflate nothing: a compressed file is XC_ERR_UNSUPPORTED */
};

/* Open path. Regular files only: they are opened without blocking and then checked, so a FIFO or a device is an
 * immediate error. Errors: XC_ERR_NOT_FOUND, XC_ERR_PERMISSION, XC_ERR_IO, XC_ERR_UNSUPPORTED (not a regular file, or
 * an unsupported compression), XC_ERR_LIMIT (larger than max_size when inflated, or compressed with a window of more
 * than 128 MiB). An empty file opens with size 0. A compressed stream with damage opens with the bytes before the
 * damage and `cut` set; with no such bytes it is XC_ERR_FORMAT. For zstd and lz4 these are whole blocks. xz and gzip
 * verify only at the end, so their last bytes may be wrong. */
XC_MUST_CHECK struct xc_error *xc_source_open(const char *path, const struct xc_source_options *options,
					      struct xc_source **source_out);

/* The same from a descriptor, which is taken, also on failure. path is for messages. */
XC_MUST_CHECK struct xc_error *xc_source_open_fd(int fd, const char *path, const struct xc_source_options *options,
						 struct xc_source **source_out);

/* Inflate a stream in memory (a file of a pack) into a new source. The bytes are not needed afterwards. Errors and
 * `cut` as for a compressed file. */
XC_MUST_CHECK struct xc_error *xc_source_inflate(const void *bytes, uint64_t size, const char *path,
						 const struct xc_source_options *options,
						 struct xc_source **source_out);

/* A source over bytes of the caller, which must outlive it (a vDSO in the core, tests). */
struct xc_source *xc_source_over(const void *bytes, size_t size, const char *name);

/* A source of `size` zero bytes in memory, in large pages where the kernel has them. The caller fills it: it may cast
 * `bytes` while nobody else reads them. NULL when memory runs out. */
struct xc_source *xc_source_blank(uint64_t size, const char *name);

/* Take `size` zeroed, writable bytes before the mapped bytes and contiguous with them: space for a synthetic header, so
 * that a library that expects a file in memory gets one. They live as long as the source. Aligned to 64 bytes, 8 MiB in
 * all. NULL when no space is left or the bytes are not mapped. */
void *xc_source_headroom(struct xc_source *source, size_t size);

/* True when a page was lost because the file was truncated while it was read, or when the file is now shorter than
 * before (one stat of the path). */
bool xc_source_changed(const struct xc_source *source);

void xc_source_close(struct xc_source *source); /* NULL is fine */
void xc_source_closep(struct xc_source **source);

#endif
