/* live_memory: the memory of a running process as a backing of its space. Private to live*.c. */
#ifndef XC_LIVE_MEMORY_H
#define XC_LIVE_MEMORY_H

#include "core/elf/space.h"
#include "core/live/live_kernel.h"
#include "core/live/live_stats.h"

struct xc_live_memory;
struct xc_live_absents;

/* The content of a page that is not in the page tables. */
enum xc_live_absent {
	XC_ABSENT_UNKNOWN, /* a device, a file we cannot open: a fault */
	XC_ABSENT_ZERO,    /* private anonymous memory: the kernel supplies zeros on first touch */
	XC_ABSENT_FILE,    /* the page of the mapped file */
};

/* A readable mapping; the ctx of its segment, whose offset is the address itself. */
struct xc_live_region {
	struct xc_live_memory *memory;
	xc_addr lo, hi; /* inclusive, on page boundaries */
	enum xc_live_absent absent;
	bool shared, deleted;
	uint64_t dev, ino, offset; /* of the mapped file; offset of lo */
	const char *path;          /* in the process's root; NULL when not mapped from a file */
	bool file_refused;         /* the mapped file cannot be opened */
	bool userfault;            /* a user-space handler supplies absent pages: never answered */
};

struct xc_live_memory *xc_live_memory_new(const struct xc_live_handles *handles);
void xc_live_memory_free(struct xc_live_memory *memory); /* NULL is fine */

/* Allocate `count` zeroed regions with memory set. Fill them in address order and pass them to use, which frees the
 * previous ones: the sealed space must not refer to those. No other thread may read meanwhile. */
struct xc_live_region *xc_live_memory_regions(struct xc_live_memory *memory, size_t count);
void xc_live_memory_use(struct xc_live_memory *memory, struct xc_live_region *regions, size_t count);

/* The backing of every region. */
extern const struct xc_backing xc_live_backing;

/* As xc_space_peek inside one region, but bypasses the cache. Frozen bytes are read as frozen. */
size_t xc_live_memory_reread(struct xc_live_region *region, xc_addr addr, void *buf, size_t len);

/* Discard the cache. `thaw`: also the frozen ranges, and the limits hold from the first byte (live_throttle.h). */
void xc_live_memory_forget(struct xc_live_memory *memory, bool thaw);
void xc_live_memory_renew(struct xc_live_memory *memory, uint64_t reader); /* as xc_live_renew */
void xc_live_memory_brief(struct xc_live_memory *memory, bool brief);

/* Freeze these bytes, which are taken. False when they exceed the limit. */
bool xc_live_memory_freeze(struct xc_live_memory *memory, xc_addr lo, uint8_t *bytes, uint64_t len);

/* As xc_live_show. */
void xc_live_memory_show(struct xc_live_memory *memory, xc_addr lo, const uint8_t *bytes, size_t len, xc_addr end);

/* As xc_live_hold. */
bool xc_live_memory_hold(struct xc_live_memory *memory, bool whole);

/* As xc_live_frozen. */
const uint8_t *xc_live_memory_frozen(struct xc_live_memory *memory, xc_addr addr, xc_addr *lo_out, xc_addr *hi_out);

/* As xc_live_resident. */
bool xc_live_memory_resident(struct xc_live_memory *memory, xc_addr lo, xc_addr hi, uint64_t *bytes_out);

/* The counters are in memory that forked children share. */
void xc_live_memory_torn(struct xc_live_memory *memory);
struct xc_live_stats xc_live_memory_stats(struct xc_live_memory *memory);

struct xc_live_absents *xc_live_memory_absents(struct xc_live_memory *memory); /* only while no thread reads */

/* Ask the kernel whether the address space has gone. Cheap. */
bool xc_live_memory_gone(struct xc_live_memory *memory);
bool xc_live_memory_found_gone(struct xc_live_memory *memory); /* as earlier reads found */

/* A mapping as maps last showed it. */
struct xc_live_now {
	xc_addr lo, hi; /* inclusive */
	uint64_t offset, dev, ino;
	bool readable, shared;
};

/* A mapped file that was opened. */
struct xc_live_file {
	uint64_t dev, ino;
	int fd;
};

enum { XC_LIVE_FILES = 128 }; /* the largest number kept open */

/* live_absent.c: pages that are not in the page tables. Called under the lock of the memory. */
struct xc_live_absents {
	struct xc_live_region *regions; /* address order */
	size_t count;
	struct xc_live_file files[XC_LIVE_FILES];
	size_t file_count;
	int maps, smaps, root;
	bool flags_read;         /* userfault of every region is known */
	struct xc_live_now *now; /* address order */
	size_t now_count;
	uint64_t recheck_ns; /* when `now` is to be read again; 0: it was never read */
};

/* Fill buf with the page of `size` bytes at addr, which is not in the page tables. False: its content is unknown. */
bool xc_live_absent_page(struct xc_live_absents *absents, struct xc_live_region *region, xc_addr addr, void *buf,
			 size_t size);

/* Open the file of a shared or deleted mapping through /proc/PID/map_files, while that is possible. At most half of
 * XC_LIVE_FILES are opened in this way. */
void xc_live_absents_open_map_file(struct xc_live_absents *absents, int proc_dir, const struct xc_live_region *region);

/* The reason why the content is unknown; static. */
const char *xc_live_absent_why(const struct xc_live_absents *absents, const struct xc_live_region *region,
			       xc_addr addr);
void xc_live_absents_fini(struct xc_live_absents *absents); /* closes the files */

#endif
