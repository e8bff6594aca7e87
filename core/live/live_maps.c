/* live_maps: reads the mappings of a running process and builds its space, at opening and at each refresh.
 *
 * 	/proc/PID/maps ─→ mappings ─→ segments of the space, sealed
 * 	                          └─→ regions, which live_memory reads
 *
 * A process under load maps and unmaps meanwhile. New mappings are missing until the next refresh; reads detect
 * unmapped ones (live_absent). */
#include "core/live/live_maps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/live/live_proc.h"
#include "core/process/notes.h"

enum { BEGINS_NS = 20000000, BEGINS_BYTES = 2048 };

/* These are not memory: device registers, clocks of the kernel. pagemap hides most of them too, but a kernel may have
 * none. */
static bool is_device(const char *name)
{
	static const char *const memory[] = {"/dev/shm/", "/dev/zero", "/dev/hugepages/"};
	static const char *const devices[] = {
		"/dev/", "/sys/", "/proc/", "anon_inode:", "socket:", "[vvar", "[vsyscall]"};
	for (size_t i = 0; i < XC_COUNT(memory); i++)
		if (xc_begins_with(name, memory[i]))
			return false;
	for (size_t i = 0; i < XC_COUNT(devices); i++)
		if (xc_begins_with(name, devices[i]))
			return true;
	return false;
}

static bool is_anonymous(const struct xc_live_map *map)
{
	static const char *const labels[] = {"[heap]", "[stack", "[anon:"};
	if (map->ino || map->shared)
		return false;
	for (size_t i = 0; i < XC_COUNT(labels); i++)
		if (xc_begins_with(map->name, labels[i]))
			return true;
	return !*map->name;
}

/* The name of a mapping, in the arena. Most names are unchanged since the last refresh. */
static const char *keep_name(struct xc_process *p, const struct xc_live_map *map)
{
	const struct xc_mapping *old = xc_process_mapping(p, map->lo);
	if (old && old->path && !strcmp(old->path, map->name))
		return old->path;
	if (old && old->label && !strcmp(old->label, map->name))
		return old->label;
	return xc_arena_strdup(&p->arena, map->name);
}

static void fill_mapping(struct xc_process *p, struct xc_mapping *m, const struct xc_live_map *map)
{
	const char *name = *map->name ? keep_name(p, map) : NULL;
	bool path = name && *name == '/';
	*m = (struct xc_mapping){.lo = map->lo,
				 .hi = map->hi,
				 .readable = map->readable,
				 .writable = map->writable,
				 .executable = map->executable,
				 .shared = map->shared,
				 .path = path ? name : NULL,
				 .label = path ? NULL : name,
				 .offset = map->offset,
				 .dev = map->dev,
				 .ino = map->ino};
}

static void fill_region(struct xc_live_region *r, const struct xc_mapping *m, const struct xc_live_map *map)
{
	r->lo = m->lo;
	r->hi = m->hi;
	r->absent = is_anonymous(map) ? XC_ABSENT_ZERO : m->path && m->ino ? XC_ABSENT_FILE : XC_ABSENT_UNKNOWN;
	r->shared = m->shared;
	r->deleted = map->deleted;
	r->dev = m->dev;
	r->ino = m->ino;
	r->offset = m->offset;
	r->path = m->path;
}

static void lay_mapping(struct xc_process *p, const struct xc_mapping *m, struct xc_live_region *region)
{
	struct xc_segment s = {.lo = m->lo, .hi = m->hi, .provenance = XC_NOT_READABLE};
	if (region) {
		s.provenance = XC_FROM_LIVE;
		s.backing = &xc_live_backing;
		s.ctx = region;
		s.offset = m->lo;
	}
	xc_space_add(p->space, &s);
}

static void add_file(struct xc_process *p, const struct xc_mapping *m, bool deleted)
{
	p->files[p->file_count++] = (struct xc_note_file){
		.lo = m->lo, .hi = m->hi, .offset = m->offset, .path = m->path, .deleted = deleted};
}

/* Every line of `text` (overwritten) becomes a mapping, a segment and, if readable, a region; the first time also a row
 * of files. */
static void take_maps(struct xc_process *p, struct xc_live_memory *memory, char *text, size_t lines)
{
	struct xc_live_region *regions = xc_live_memory_regions(memory, lines);
	struct xc_mapping *mappings = xc_alloc((lines + 1) * sizeof *mappings);
	struct xc_live_map map;
	size_t used = 0, count = 0;
	if (!p->files_known)
		p->files = xc_arena_alloc(&p->arena, (lines + 1) * sizeof *p->files);
	xc_space_clear(p->space);
	for (; count < lines && xc_live_proc_next_map(&text, &map); count++) {
		struct xc_mapping *m = &mappings[count];
		struct xc_live_region *region = NULL;
		fill_mapping(p, m, &map);
		if (m->path && !p->files_known)
			add_file(p, m, map.deleted);
		if (m->readable && !is_device(map.name)) {
			region = &regions[used++];
			fill_region(region, m, &map);
		}
		lay_mapping(p, m, region);
	}
	xc_space_seal(p->space);
	xc_live_memory_use(memory, regions, used);
	free(p->mappings);
	p->mappings = mappings;
	p->mapping_count = count;
	p->files_known = true;
}

static size_t count_lines(const struct xc_text *text)
{
	size_t lines = 0;
	for (size_t i = 0; i < text->len; i++)
		lines += text->bytes[i] == '\n';
	return lines;
}

/* The kernel maps a program that begins piece by piece, and the vdso last. A process with more than a few
 * mappings has started. */
static bool is_begun(const struct xc_text *text)
{
	return !text->len || text->len > BEGINS_BYTES || strstr(text->bytes, "[vdso]");
}

/* For a process with few mappings and no vdso, the wait ends without effect, once. */
static int read_begun(int fd, struct xc_text *text)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	const uint64_t until = xc_now_ns() + BEGINS_NS;
	int error = xc_live_proc_read_fd(fd, text);
	while (!error && !is_begun(text) && xc_now_ns() < until) {
		nanosleep(&pause, NULL);
		text->len = 0;
		error = xc_live_proc_read_fd(fd, text);
	}
	return error;
}

int xc_live_maps_read(struct xc_live_maps *maps, struct xc_process *process, struct xc_live_memory *memory)
{
	xc_auto(xc_text_fini) struct xc_text text = {0};
	int error = maps->last ? xc_live_proc_read_fd(maps->fd, &text) : read_begun(maps->fd, &text);
	size_t lines = count_lines(&text);
	if (error || !lines)
		return error ? error : ESRCH;
	if (maps->last && text.len == maps->last_len && !memcmp(text.bytes, maps->last, text.len))
		return 0;
	maps->last = xc_realloc(maps->last, text.len);
	maps->last_len = text.len;
	memcpy(maps->last, text.bytes, text.len);
	take_maps(process, memory, text.bytes, lines);
	return 0;
}
