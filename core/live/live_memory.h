/* live_memory: the memory of a running process as a backing of its space. Private to live*.c. */
#ifndef XC_LIVE_MEMORY_H
#define XC_LIVE_MEMORY_H

#include "core/elf/space.h"
#include "core/live/live_kernel.h"
#include "core/live/live_stats.h"

struct xc_live_memory;
struct xc_live_absents;

/* What a page that the process's page tables do not hold contains. */
enum xc_live_absent {
	XC_ABSENT_UNKNOWN, /* a device, a file we cannot open: a fault */
	XC_ABSENT_ZERO,    /* private anonymous memory: the kernel hands out zeroes on first touch */
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
	bool file_refused;         /* the mapped file cannot be had */
	bool userfault;            /* absent pages come from a user-space handler: never answered */
};

struct xc_live_memory *xc_live_memory_new(const struct xc_live_handles *handles);
void xc_live_memory_free(struct xc_live_memory *memory); /* NULL is fine */

/* Room for `count` regions, zeroed, with memory set; fill them in address order and hand them over by use, which frees those
 * used before: the space must have been sealed without them. Not beside readers. */
struct xc_live_region *xc_live_memory_regions(struct xc_live_memory *memory, size_t count);
void xc_live_memory_use(struct xc_live_memory *memory, struct xc_live_region *regions, size_t count);

/* The read and why slots for every region. */
extern const struct xc_backing xc_live_backing;

/* As xc_space_peek inside one region, past the cache; what is frozen stays. */
size_t xc_live_memory_reread(struct xc_live_region *region, xc_addr addr, void *buf, size_t len);

/* Forget the cache; with `thaw` what is frozen too, and no read is free any more (live_throttle.h). */
void xc_live_memory_forget(struct xc_live_memory *memory, bool thaw);

/* Keep these bytes, which are taken; false when there is no room for them. */
bool xc_live_memory_freeze(struct xc_live_memory *memory, xc_addr lo, uint8_t *bytes, uint64_t len);

/* As xc_live_frozen. */
const uint8_t *xc_live_memory_frozen(struct xc_live_memory *memory, xc_addr addr, xc_addr *lo_out, xc_addr *hi_out);

/* As xc_live_resident. */
bool xc_live_memory_resident(struct xc_live_memory *memory, xc_addr lo, xc_addr hi, uint64_t *bytes_out);

/* Counted in memory that forked children share. */
void xc_live_memory_torn(struct xc_live_memory *memory);
struct xc_live_stats xc_live_memory_stats(struct xc_live_memory *memory);

struct xc_live_absents *xc_live_memory_absents(struct xc_live_memory *memory); /* while nobody reads */

/* Ask the kernel, not the memory of the last read, whether the address space still lives. Cheap. */
bool xc_live_memory_gone(struct xc_live_memory *memory);
bool xc_live_memory_found_gone(struct xc_live_memory *memory); /* what reads have found so far */

/* A mapping as it was at the last look. */
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

enum { XC_LIVE_FILES = 128 }; /* so many are kept open */

/* live_absent.c: pages that the process's page tables do not hold. Called under the lock of the memory. */
struct xc_live_absents {
	struct xc_live_region *regions; /* address order */
	size_t count;
	struct xc_live_file files[XC_LIVE_FILES];
	size_t file_count;
	int maps, smaps, root;
	bool flags_read;         /* userfault of every region is known */
	struct xc_live_now *now; /* address order */
	size_t now_count;
	uint64_t checked_ns; /* when `now` was last read; 0 never */
};

/* Fill buf with one page of `size` bytes at addr, which the page tables do not hold. False: it is not known. */
bool xc_live_absent_page(struct xc_live_absents *absents, struct xc_live_region *region, xc_addr addr, void *buf,
			 size_t size);

/* Open the file of a shared or deleted mapping through /proc/PID/map_files, while that can be done. At most half of
 * XC_LIVE_FILES are opened so. */
void xc_live_absents_open_map_file(struct xc_live_absents *absents, int proc_dir, const struct xc_live_region *region);

/* Why that said no; static. */
const char *xc_live_absent_why(const struct xc_live_absents *absents, const struct xc_live_region *region,
			       xc_addr addr);
void xc_live_absents_fini(struct xc_live_absents *absents); /* closes the files */

#endif
