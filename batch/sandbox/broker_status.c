/* broker_status: each part has one writer. A broker writes its own status and log; the batch writes the unresponsive
 * places, each completely before it counts. */
#include "batch/sandbox/broker_status.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

struct xc_broker_statuses *xc_broker_status_map(void)
{
	void *memory = mmap(NULL, sizeof(struct xc_broker_statuses), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			    -1, 0);
	return memory == MAP_FAILED ? NULL : memory;
}

void xc_broker_status_unmap(struct xc_broker_statuses *statuses)
{
	if (statuses)
		munmap(statuses, sizeof *statuses);
}

static void copy(char to[PATH_MAX], const char *from, size_t len)
{
	const size_t fits = len < PATH_MAX ? len : PATH_MAX - 1;
	memcpy(to, from, fits);
	to[fits] = '\0';
}

void xc_broker_status_set_place(struct xc_broker_status *status, const char *root, const char *path)
{
	copy(status->place.root, root ? root : "", root ? strlen(root) : 0);
	copy(status->place.path, path, strlen(path));
}

/* A root is usually one file system. Debug files often have a directory each. */
static struct xc_broker_status_place place_of(const struct xc_broker_status_place *file)
{
	struct xc_broker_status_place place = *file;
	char *slash = strrchr(place.path, '/');
	*(slash && !*place.root ? slash : place.path) = '\0';
	return place;
}

static bool is_within(const char *root, const char *path, const struct xc_broker_status_place *place)
{
	const size_t len = strlen(place->path);
	return !strcmp(place->root, root ? root : "") &&
	       (*place->root || (!strncmp(path, place->path, len) && path[len] == '/'));
}

bool xc_broker_status_is_silent(const struct xc_broker_statuses *statuses, const char *root, const char *path)
{
	const unsigned count = atomic_load(&statuses->silent_count);
	for (unsigned i = 0; i < count; i++)
		if (is_within(root, path, &statuses->silent[i]))
			return true;
	return false;
}

/* ---- dependency log ---- */

/* Three NUL-terminated texts: root, path, state. A leading '-' means that the root or the state is absent. */
static bool add_text(char *log, size_t *size, const char *text)
{
	const size_t len = text ? strlen(text) + 1 : 0;
	if (XC_BROKER_STATUS_LOG - *size < len + 2)
		return false;
	log[(*size)++] = text ? '+' : '-';
	memcpy(log + *size, text ? text : "", len ? len : 1);
	*size += len ? len : 1;
	return true;
}

void xc_broker_status_log(struct xc_broker_statuses *statuses, struct xc_broker_status *status,
			  const struct xc_file_dependency *dependency)
{
	char *log = statuses->logs[status - statuses->statuses];
	size_t size = status->log_size;
	if (add_text(log, &size, dependency->root) && add_text(log, &size, dependency->path) &&
	    add_text(log, &size, dependency->was))
		status->log_size = size;
	else
		status->log_cut = true;
}

static const char *next_text(const char **at)
{
	const char *text = *at;
	*at += strlen(text) + 1;
	return *text == '+' ? text + 1 : NULL;
}

void xc_broker_status_dependencies(const struct xc_broker_statuses *statuses, const struct xc_broker_status *status,
				   struct xc_file_dependency_list *list)
{
	const char *at = statuses->logs[status - statuses->statuses], *end = at + status->log_size;
	list->cut = status->log_cut;
	while (at < end) {
		struct xc_file_dependency dependency = {.root = next_text(&at)};
		dependency.path = next_text(&at);
		dependency.was = next_text(&at);
		xc_file_dependency_add(list, &dependency);
	}
}

/* ---- unresponsive places ---- */

void xc_broker_status_no_core(struct xc_broker_status *status, const char *why, bool hindered)
{
	snprintf(status->why, sizeof status->why, "%s", why);
	status->hindered = hindered;
	status->core_failed = true;
}

void xc_broker_status_give_up(struct xc_broker_status *status)
{
	status->silent = true;
	if (status->core)
		xc_broker_status_no_core(status, XC_BROKER_STATUS_NO_ANSWER, true);
}

void xc_broker_status_give_up_place(struct xc_broker_statuses *statuses, struct xc_broker_status *status)
{
	const unsigned count = atomic_load(&statuses->silent_count);
	xc_broker_status_give_up(status);
	if (count == XC_BROKER_STATUS_SILENT ||
	    xc_broker_status_is_silent(statuses, status->place.root, status->place.path))
		return;
	statuses->silent[count] = place_of(&status->place);
	if (!*statuses->silent[count].root && !*statuses->silent[count].path)
		return; /* a file in "/": every other file is below "/", too */
	atomic_store(&statuses->silent_count, count + 1);
}
