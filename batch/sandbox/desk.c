/* desk: one process writes each part: a broker its desk and log, the batch the places that are silent, each whole before it counts. */
#include "batch/sandbox/desk.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

struct xc_desks *xc_desks_map(void)
{
	void *memory = mmap(NULL, sizeof(struct xc_desks), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return memory == MAP_FAILED ? NULL : memory;
}

void xc_desks_unmap(struct xc_desks *desks)
{
	if (desks)
		munmap(desks, sizeof *desks);
}

static void copy(char to[PATH_MAX], const char *from, size_t len)
{
	const size_t fits = len < PATH_MAX ? len : PATH_MAX - 1;
	memcpy(to, from, fits);
	to[fits] = '\0';
}

void xc_desk_write(struct xc_desk *desk, const char *root, const char *path)
{
	copy(desk->place.root, root ? root : "", root ? strlen(root) : 0);
	copy(desk->place.path, path, strlen(path));
}

/* A root is one file system more often than not, and files of debug information have a directory each. */
static struct xc_desk_place place_of(const struct xc_desk_place *file)
{
	struct xc_desk_place place = *file;
	char *slash = strrchr(place.path, '/');
	*(slash && !*place.root ? slash : place.path) = '\0';
	return place;
}

static bool is_within(const char *root, const char *path, const struct xc_desk_place *place)
{
	const size_t len = strlen(place->path);
	return !strcmp(place->root, root ? root : "") &&
	       (*place->root || (!strncmp(path, place->path, len) && path[len] == '/'));
}

bool xc_desks_silent(const struct xc_desks *desks, const char *root, const char *path)
{
	const unsigned count = atomic_load(&desks->silent_count);
	for (unsigned i = 0; i < count; i++)
		if (is_within(root, path, &desks->silent[i]))
			return true;
	return false;
}

/* ---- what was looked for ---- */

/* Texts, each with its NUL: a root, a path and what it was; behind '-' the first or the last is none. */
static bool add_text(char *log, size_t *size, const char *text)
{
	const size_t len = text ? strlen(text) + 1 : 0;
	if (XC_DESK_LOG - *size < len + 2)
		return false;
	log[(*size)++] = text ? '+' : '-';
	memcpy(log + *size, text ? text : "", len ? len : 1);
	*size += len ? len : 1;
	return true;
}

void xc_desks_log(struct xc_desks *desks, struct xc_desk *desk, const struct xc_sought *sought)
{
	char *log = desks->logs[desk - desks->desks];
	size_t size = desk->log_size;
	if (add_text(log, &size, sought->root) && add_text(log, &size, sought->path) &&
	    add_text(log, &size, sought->was))
		desk->log_size = size;
	else
		desk->log_cut = true;
}

static const char *next_text(const char **at)
{
	const char *text = *at;
	*at += strlen(text) + 1;
	return *text == '+' ? text + 1 : NULL;
}

void xc_desks_sought(const struct xc_desks *desks, const struct xc_desk *desk, struct xc_sought_list *list)
{
	const char *at = desks->logs[desk - desks->desks], *end = at + desk->log_size;
	list->cut = desk->log_cut;
	while (at < end) {
		struct xc_sought sought = {.root = next_text(&at)};
		sought.path = next_text(&at);
		sought.was = next_text(&at);
		xc_sought_add(list, &sought);
	}
}

/* ---- what does not answer ---- */

void xc_desk_no_core(struct xc_desk *desk, const char *why, bool hindered)
{
	snprintf(desk->why, sizeof desk->why, "%s", why);
	desk->hindered = hindered;
	desk->core_failed = true;
}

void xc_desk_give_up(struct xc_desk *desk)
{
	desk->silent = true;
	if (desk->core)
		xc_desk_no_core(desk, XC_DESK_NO_ANSWER, true);
}

void xc_desks_give_up(struct xc_desks *desks, struct xc_desk *desk)
{
	const unsigned count = atomic_load(&desks->silent_count);
	xc_desk_give_up(desk);
	if (count == XC_DESK_SILENT || xc_desks_silent(desks, desk->place.root, desk->place.path))
		return;
	desks->silent[count] = place_of(&desk->place);
	if (!*desks->silent[count].root && !*desks->silent[count].path)
		return; /* a file in "/": all others are below that, too */
	atomic_store(&desks->silent_count, count + 1);
}
