/* coredumpconf: one main file, the first that exists; then drop-ins by name. A drop-in in a directory of higher
 * precedence hides those of the same name. The last assignment of a setting wins. */
#include "batch/doctor/coredumpconf.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/live/live_proc.h"
#include "core/base/text.h"

static const char *const places[] = {"etc/systemd", "run/systemd", "usr/local/lib/systemd", "usr/lib/systemd",
				     "lib/systemd"};

enum { DROP_INS_MAX = 1000 };

struct drop_in {
	const char *name, *path;
};

struct reading {
	int root;
	struct xc_arena *arena;
	struct xc_coredumpconf conf;
	struct drop_in drop_ins[DROP_INS_MAX];
	size_t count;
};

static void set(struct reading *r, const char *key, const char *value)
{
	const char **to = !strcmp(key, "Storage")           ? &r->conf.storage
			  : !strcmp(key, "ProcessSizeMax")  ? &r->conf.process_size_max
			  : !strcmp(key, "ExternalSizeMax") ? &r->conf.external_size_max
							    : NULL;
	if (to)
		*to = *value ? xc_arena_strdup(r->arena, value) : NULL;
}

static bool read_settings(struct reading *r, const char *path)
{
	struct xc_text text = {0};
	bool inside = false;
	if (xc_live_proc_read(r->root, path, &text))
		return false;
	for (char *next = text.bytes, *line; (line = strsep(&next, "\n"));) {
		line = xc_text_trim(line);
		char *equals = strchr(line, '=');
		if (*line == '[')
			inside = !strcmp(line, "[Coredump]");
		else if (inside && equals && *line != '#' && *line != ';') {
			*equals = '\0';
			set(r, xc_text_trim(line), xc_text_trim(equals + 1));
		}
	}
	xc_text_fini(&text);
	return true;
}

static bool has(const struct reading *r, const char *name)
{
	for (size_t i = 0; i < r->count; i++)
		if (!strcmp(r->drop_ins[i].name, name))
			return true;
	return false;
}

static void find_drop_ins(struct reading *r, const char *place)
{
	xc_auto(xc_freep) char *path = xc_asprintf("%s/coredump.conf.d", place);
	const int fd = openat(r->root, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	for (const struct dirent *d; dir && (d = readdir(dir)) && r->count < DROP_INS_MAX;)
		if (xc_ends_with(d->d_name, ".conf") && !has(r, d->d_name))
			r->drop_ins[r->count++] = (struct drop_in){xc_arena_strdup(r->arena, d->d_name),
								   xc_arena_printf(r->arena, "%s/%s", path, d->d_name)};
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
}

static int by_name(const void *a, const void *b)
{
	const struct drop_in *left = a, *right = b;
	return strcmp(left->name, right->name);
}

struct xc_coredumpconf xc_coredumpconf_read(int root, struct xc_arena *arena)
{
	struct reading *r = xc_alloc(sizeof *r);
	bool found = false;
	r->root = root;
	r->arena = arena;
	for (size_t i = 0; i < XC_COUNT(places) && !found; i++) {
		xc_auto(xc_freep) char *path = xc_asprintf("%s/coredump.conf", places[i]);
		found = read_settings(r, path);
	}
	for (size_t i = 0; i < XC_COUNT(places); i++)
		find_drop_ins(r, places[i]);
	qsort(r->drop_ins, r->count, sizeof *r->drop_ins, by_name);
	for (size_t i = 0; i < r->count; i++)
		read_settings(r, r->drop_ins[i].path);
	const struct xc_coredumpconf conf = r->conf;
	free(r);
	return conf;
}
