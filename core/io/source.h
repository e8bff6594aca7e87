/* source: the bytes of a file, by offset. Compression ends here.
 *
 * A plain file is mapped read-only. A file compressed by zstd, lz4, xz or gzip (decided by its first bytes, not by its name) is
 * inflated once into an unlinked temporary file, which is mapped; so everything above sees plain bytes.
 * A mapped file that shrinks under us does not kill us: a SIGBUS handler puts a zero page over the
 * lost range and marks the source as changed. */
#ifndef XC_SOURCE_H
#define XC_SOURCE_H

#include "core/base/error.h"

struct xc_source {
	const uint8_t *bytes;    /* the whole content, page-aligned, with zeros behind it; NULL when size is 0 */
	uint64_t size;           /* bytes after decompression */
	uint64_t stored_size;    /* bytes of the file itself */
	const char *path;        /* as opened; owned */
	bool compressed;         /* the bytes are not those of a file of its own */
	const char *compression; /* "zstd"; NULL for plain files */
	bool cut;                /* the compressed stream ended early: what could be decoded is there */
	uint64_t dev, ino;       /* identity of the file, for "same file" checks */
	int64_t mtime;           /* seconds since the epoch */
	int64_t mtime_ns,
		ctime_ns; /* of modification and of change, in nanoseconds: together with dev and ino, what a cache
	                               can key on */
	void *map;        /* what to unmap; NULL for bytes of the caller's */
	size_t headroom;  /* writable bytes of ours before `bytes` that are still free; see xc_source_headroom */
	size_t locked;    /* bytes at the front of the headroom that are not writable yet */
	size_t map_size;
	struct xc_source_guard *guard; /* of the SIGBUS handler */
};

struct xc_progress;

struct xc_source_options {
	uint64_t max_size;            /* cap on decompressed bytes; 0 means 256 GiB */
	uint64_t room;                /* cap on what these take of the disk; 0: none */
	struct xc_progress *progress; /* shown while inflating; may be NULL */
	bool as_is;                   /* inflate nothing: what is compressed is XC_ERR_UNSUPPORTED */
};

/* Open path. Regular files only (opened without blocking, then checked), so a FIFO or a device is
 * an error at once. Errors: XC_ERR_NOT_FOUND, XC_ERR_PERMISSION, XC_ERR_IO, XC_ERR_UNSUPPORTED (not a
 * regular file, or a compression we cannot read), XC_ERR_LIMIT (larger than max_size when inflated, or
 * packed with a window of more than 128 MiB). An empty file opens with size 0. Damage in the middle of a compressed stream:
 * opens what was decoded before it (zstd and lz4: whole blocks; xz and gzip check at the end what they decoded, so that its last bytes
 * may be wrong), cut is set; XC_ERR_FORMAT when there is nothing. */
XC_MUST_CHECK struct xc_error *xc_source_open(const char *path, const struct xc_source_options *options,
					      struct xc_source **source_out);

/* The same from a descriptor, which is taken also on failure; path is for messages. */
XC_MUST_CHECK struct xc_error *xc_source_open_fd(int fd, const char *path, const struct xc_source_options *options,
						 struct xc_source **source_out);

/* Inflate a stream that stands among bytes of the caller's (a file of a pack) into a source of its own; the
 * bytes are not needed afterwards. Errors and `cut` as for a compressed file. */
XC_MUST_CHECK struct xc_error *xc_source_inflate(const void *bytes, uint64_t size, const char *path,
						 const struct xc_source_options *options,
						 struct xc_source **source_out);

/* A source over bytes of the caller's that outlive it (a vDSO in the core, tests). */
struct xc_source *xc_source_over(const void *bytes, size_t size, const char *name);

/* A source of `size` zero bytes in memory, to be filled by the caller, who may cast `bytes` while nobody else reads them;
 * in large pages where the kernel has them. NULL when there is no memory for it. */
struct xc_source *xc_source_blank(uint64_t size, const char *name);

/* Take `size` bytes, zeroed and writable, that lie before the mapped bytes in one address range with them: room for a
 * header of our own, so that a library that wants a file in memory can be shown one. They live as long as the source. NULL when
 * there is no room left (64-byte aligned; 8 MiB in all), or the bytes are not mapped. */
void *xc_source_headroom(struct xc_source *source, size_t size);

/* True once a page of this source was lost because the file was cut while we read it, or when its file is now shorter
 * than it was (one stat of the path). */
bool xc_source_changed(const struct xc_source *source);

void xc_source_close(struct xc_source *source); /* NULL is fine */
void xc_source_closep(struct xc_source **source);

#endif
