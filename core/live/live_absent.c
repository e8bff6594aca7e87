/* live_absent: the content of pages that are not in the page tables of the process, without faulting them in.
 *
 *   private anonymous   zero: the kernel supplies zeros on first touch, and a core of the same moment shows zeros
 *   private file        the page of the file: a modified page would be in the page tables, or swapped out
 *   shared              the page of the file behind it (tmpfs and memfd included): another process may hold it
 *   anything else       unknown
 *
 * Two cases need care. In a range registered with userfaultfd the handler decides the content of an absent page. Only
 * smaps shows that (VmFlags um, ui), and reading it walks the page tables, so it is read once, for the first absent
 * page. And a mapping may have gone since the snapshot: pagemap shows such a hole like an untouched page. So maps is
 * read again before an answer, at most every RECHECK_NS, and for a fiftieth of the time where there are very many:
 * within that time an unmapped page may still read as before. */
#include "core/live/live_memory.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/live/live_proc.h"

enum { RECHECK_NS = 10 * 1000 * 1000, RECHECK_SHARE = 50 };

/* ---- is the region unchanged? ---- */

/* Regions and the lines of maps and smaps are both in address order. *at is the region of the previous line. */
static struct xc_live_region *first_reaching(struct xc_live_absents *a, size_t *at, xc_addr lo)
{
	while (*at < a->count && a->regions[*at].hi < lo)
		++*at;
	return &a->regions[*at];
}

static bool has_flag(const char *flags, const char *flag)
{
	const char *at = strstr(flags, flag);
	return at && at[-1] == ' ';
}

static void mark_userfault(struct xc_live_absents *a, size_t *at, const struct xc_live_map *map)
{
	struct xc_live_region *end = a->regions + a->count;
	for (struct xc_live_region *r = first_reaching(a, at, map->lo); r < end && r->lo <= map->hi; r++)
		r->userfault = true;
}

static bool read_flags(struct xc_live_absents *a)
{
	xc_auto(xc_text_fini) struct xc_text text = {0};
	if (a->smaps < 0 || xc_live_proc_read_fd(a->smaps, &text) || !text.len)
		return false;
	struct xc_live_map map = {0};
	size_t at = 0;
	for (char *line = text.bytes; *line;) {
		char *end = strchrnul(line, '\n'), *next = *end ? end + 1 : end;
		*end = '\0';
		if (!strncmp(line, "VmFlags:", 8)) {
			if (has_flag(line, "um ") || has_flag(line, "ui "))
				mark_userfault(a, &at, &map);
		} else {
			struct xc_live_map header;
			if (xc_live_proc_next_map(&(char *){line}, &header))
				map = header;
		}
		line = next;
	}
	return true;
}

/* Read the present mappings. */
static bool recheck(struct xc_live_absents *a)
{
	xc_auto(xc_text_fini) struct xc_text text = {0};
	if (xc_live_proc_read_fd(a->maps, &text) || !text.len)
		return false;
	size_t lines = 1;
	for (size_t i = 0; i < text.len; i++)
		lines += text.bytes[i] == '\n';
	char *at = text.bytes;
	struct xc_live_map map;
	a->now = xc_realloc(a->now, lines * sizeof *a->now);
	for (a->now_count = 0; a->now_count < lines && xc_live_proc_next_map(&at, &map);)
		a->now[a->now_count++] = (struct xc_live_now){.lo = map.lo,
							      .hi = map.hi,
							      .offset = map.offset,
							      .dev = map.dev,
							      .ino = map.ino,
							      .readable = map.readable,
							      .shared = map.shared};
	return true;
}

/* Is addr still mapped as in the snapshot? */
static bool still_mapped(const struct xc_live_absents *a, const struct xc_live_region *r, xc_addr addr)
{
	size_t lo = XC_LOWER_BOUND(a->now_count, i, a->now[i].hi < addr);
	const struct xc_live_now *now = &a->now[lo];
	if (lo == a->now_count || now->lo > addr || !now->readable || now->ino != r->ino || now->dev != r->dev ||
	    now->shared != r->shared)
		return false;
	return !r->ino || now->offset + (addr - now->lo) == r->offset + (addr - r->lo);
}

static bool recheck_in_time(struct xc_live_absents *a)
{
	const uint64_t now = xc_now_ns();
	if (now < a->recheck_ns)
		return true;
	if (!recheck(a))
		return false;
	const uint64_t end = xc_now_ns(), rest = RECHECK_SHARE * (end - now);
	a->recheck_ns = end + (rest > RECHECK_NS ? rest : RECHECK_NS);
	return true;
}

static bool still_valid(struct xc_live_absents *a, const struct xc_live_region *r, xc_addr addr)
{
	if (!a->flags_read)
		a->flags_read = read_flags(a);
	return recheck_in_time(a) && a->flags_read && !r->userfault && still_mapped(a, r, addr);
}

/* ---- mapped files ---- */

/* Open the file of an O_PATH descriptor for reading, if it is the mapped regular file. Takes path_fd. */
static int reopen_same(int path_fd, const struct xc_live_region *r)
{
	struct stat st;
	char name[40];
	int fd = -1;
	if (path_fd < 0)
		return -1;
	if (!fstat(path_fd, &st) && S_ISREG(st.st_mode) && st.st_ino == r->ino && st.st_dev == r->dev) {
		snprintf(name, sizeof name, "/proc/self/fd/%d", path_fd);
		fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	}
	close(path_fd);
	return fd;
}

/* The path is untrusted: it is resolved inside the target's root and accepted only when device and inode match. */
static int open_by_path(const struct xc_live_absents *a, const struct xc_live_region *r)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	if (a->root < 0 || !r->path || r->deleted)
		return -1;
	return reopen_same((int)syscall(SYS_openat2, a->root, r->path, &how, sizeof how), r);
}

static int find_file(const struct xc_live_absents *a, const struct xc_live_region *r)
{
	for (size_t i = 0; i < a->file_count; i++)
		if (a->files[i].ino == r->ino && a->files[i].dev == r->dev)
			return a->files[i].fd;
	return -1;
}

static int keep_file(struct xc_live_absents *a, const struct xc_live_region *r, int fd)
{
	if (fd >= 0)
		a->files[a->file_count++] = (struct xc_live_file){r->dev, r->ino, fd};
	return fd;
}

void xc_live_absents_open_map_file(struct xc_live_absents *a, int proc_dir, const struct xc_live_region *r)
{
	char name[64];
	if (r->absent != XC_ABSENT_FILE || !(r->shared || r->deleted) || a->file_count >= XC_LIVE_FILES / 2 ||
	    find_file(a, r) >= 0)
		return;
	snprintf(name, sizeof name, "map_files/%" PRIx64 "-%" PRIx64, r->lo, r->hi + 1);
	keep_file(a, r, reopen_same(openat(proc_dir, name, O_PATH | O_CLOEXEC), r));
}

static int file_of(struct xc_live_absents *a, struct xc_live_region *r)
{
	int fd = r->file_refused ? -1 : find_file(a, r);
	if (fd < 0 && !r->file_refused && a->file_count < XC_LIVE_FILES)
		fd = keep_file(a, r, open_by_path(a, r));
	r->file_refused = fd < 0;
	return fd;
}

static bool file_page(struct xc_live_absents *a, struct xc_live_region *r, xc_addr addr, void *buf, size_t size)
{
	int fd = file_of(a, r);
	ssize_t got = fd < 0 ? -1 : pread(fd, buf, size, (off_t)(r->offset + (addr - r->lo)));
	if (got <= 0)
		return false; /* past the end of the file: the process itself would get SIGBUS */
	memset((uint8_t *)buf + got, 0, size - (size_t)got); /* the kernel zeroes the rest of the last page */
	return true;
}

bool xc_live_absent_page(struct xc_live_absents *a, struct xc_live_region *r, xc_addr addr, void *buf, size_t size)
{
	if (r->absent == XC_ABSENT_UNKNOWN || !still_valid(a, r, addr))
		return false;
	if (r->absent == XC_ABSENT_FILE)
		return file_page(a, r, addr, buf, size);
	memset(buf, 0, size);
	return true;
}

const char *xc_live_absent_why(const struct xc_live_absents *a, const struct xc_live_region *r, xc_addr addr)
{
	if (r->userfault)
		return "not present, in a range whose pages a userfaultfd handler supplies";
	if (a->recheck_ns && !still_mapped(a, r, addr))
		return "unmapped since the process was opened";
	if (r->absent == XC_ABSENT_FILE)
		return "not present in the process, and the mapped file cannot be read here";
	return xc_provenance_text(XC_NOT_PRESENT);
}

void xc_live_absents_fini(struct xc_live_absents *a)
{
	for (size_t i = 0; i < a->file_count; i++)
		close(a->files[i].fd);
	free(a->regions);
	free(a->now);
}
