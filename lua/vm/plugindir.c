/* plugindir: plugins run without being asked for, so they must come from places where only their owner can put files.
 *
 * A path is opened one component at a time: every directory on the way is checked, and no link is followed, so no
 * file outside of the directory can be read through it. The directory itself may be a link: a trusted party has
 * named it. */
#include "lua/vm/plugindir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/text/shellword.h"
#include "core/base/userdir.h"

/* ---- trust ---- */

/* Who may change this program decides what it does anyway. */
static struct stat program(void)
{
	struct stat st;
	return stat("/proc/self/exe", &st) == 0 ? st : (struct stat){0};
}

/* Neither the group that the user runs with, nor one that can change the program: with umask 002 both are groups of one
 * user. */
static bool is_foreign_group(const struct stat *st)
{
	if (!(st->st_mode & S_IWGRP) || !st->st_gid || st->st_gid == getegid())
		return false;
	const struct stat own = program();
	return !(own.st_mode & S_IWGRP) || st->st_gid != own.st_gid;
}

static struct xc_error *writable(const char *path, char who, const char *what)
{
	xc_auto(xc_freep) char *word = xc_shellword_file(path);
	return xc_error_hint(xc_error_new(XC_ERR_PERMISSION, "%s: it is %s: not used", path, what), "chmod %c-w %s",
			     who, word);
}

static struct xc_error *distrust(const struct stat *st, const char *path)
{
	if (st->st_mode & S_IWOTH)
		return writable(path, 'o', "world-writable");
	if (is_foreign_group(st)) {
		xc_auto(xc_freep) char *what = xc_asprintf("writable by group %u", (unsigned)st->st_gid);
		return writable(path, 'g', what);
	}
	if (st->st_uid == 0 || st->st_uid == geteuid() || st->st_uid == program().st_uid)
		return NULL;
	return xc_error_hint(
		xc_error_new(XC_ERR_PERMISSION, "%s: it belongs to user %u: not used", path, (unsigned)st->st_uid),
		"plugins must belong to you, to root or to the owner of xcore");
}

/* ---- the directories ---- */

char *xc_plugindir_users(void)
{
	return xc_userdir("XDG_DATA_HOME", ".local/share", "xcore/plugins");
}

/* Remove the last component; true when it was `name`, or when name is NULL. */
static bool strip(char *path, const char *name)
{
	char *slash = strrchr(path, '/');
	if (!slash || (name && strcmp(slash + 1, name) != 0))
		return false;
	*slash = '\0';
	return true;
}

/* The plugins of this program, malloc'ed: PREFIX/share/xcore/plugins for PREFIX/bin/xcore, TREE/plugins for
 * TREE/build/MODE/xcore; else NULL. So an installation may be moved, and the program of one source tree never reads
 * the plugins of another. */
static char *installed(void)
{
	char exe[4096];
	ssize_t len = readlink("/proc/self/exe", exe, sizeof exe - 1);
	if (len <= 0)
		return NULL;
	exe[len] = '\0';
	if (!strip(exe, "xcore"))
		return NULL;
	if (strip(exe, "bin"))
		return xc_asprintf("%s/share/xcore/plugins", exe);
	return strip(exe, NULL) && strip(exe, "build") ? xc_asprintf("%s/plugins", exe) : NULL;
}

struct xc_error *xc_plugindir_open(const char *path, struct xc_plugindir *dir_out)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return xc_error_errno(errno, "%s", path);
	struct xc_error *err = fstat(fd, &st) < 0 ? xc_error_errno(errno, "%s", path) : distrust(&st, path);
	if (err) {
		close(fd);
		return err;
	}
	*dir_out = (struct xc_plugindir){.path = xc_strdup(path), .fd = fd};
	return NULL;
}

void xc_plugindir_close(struct xc_plugindir *dir)
{
	close(dir->fd);
	free(xc_take(dir->path));
}

static struct xc_error *add(struct xc_plugindirs *dirs, const char *path)
{
	struct xc_plugindir dir;
	struct xc_error *err = xc_plugindir_open(path, &dir);
	if (err)
		return err;
	dirs->items = xc_grow(dirs->items, dirs->count, &dirs->capacity, sizeof *dirs->items);
	dirs->items[dirs->count++] = dir;
	return NULL;
}

/* A standard directory: it may not exist; if it is refused, the reason is kept. */
static void add_usual(struct xc_plugindirs *dirs, const char *path)
{
	struct xc_error *err = path ? add(dirs, path) : NULL;
	if (!err)
		return;
	if (err->code == XC_ERR_NOT_FOUND) {
		xc_error_free(err);
		return;
	}
	dirs->refused = xc_grow(dirs->refused, dirs->refused_count, &dirs->refused_capacity, sizeof(struct xc_error *));
	dirs->refused[dirs->refused_count++] = err;
}

struct xc_error *xc_plugindirs_open(struct xc_plugindirs *dirs, const char *const *extra, size_t extra_count)
{
	struct xc_error *err;
	for (size_t i = 0; i < extra_count; i++)
		if ((err = add(dirs, extra[i])))
			return xc_error_wrap(err, "--plugin-path");
	xc_auto(xc_freep) char *users = xc_plugindir_users();
	xc_auto(xc_freep) char *ours = installed();
	add_usual(dirs, users);
	add_usual(dirs, ours);
	return NULL;
}

void xc_plugindirs_fini(struct xc_plugindirs *dirs)
{
	for (size_t i = 0; i < dirs->count; i++)
		xc_plugindir_close(&dirs->items[i]);
	for (size_t i = 0; i < dirs->refused_count; i++)
		xc_error_free(dirs->refused[i]);
	free(dirs->items);
	free(dirs->refused);
	*dirs = (struct xc_plugindirs){0};
}

/* ---- reading ---- */

/* Open and check one component below a directory. `shown` is its name in messages. */
static struct xc_error *step(int below, const char *name, bool last, const char *shown, int *fd_out)
{
	const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | (last ? 0 : O_DIRECTORY);
	struct stat st;
	if (fstatat(below, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return xc_error_errno(errno, "%s", shown);
	if (S_ISLNK(st.st_mode))
		return xc_error_hint(
			xc_error_new(XC_ERR_PERMISSION, "%s: links in a plugin directory are not followed", shown),
			"name its target with --plugin-path, or copy it");
	int fd = openat(below, name, flags);
	if (fd < 0 || fstat(fd, &st) < 0) {
		struct xc_error *err = xc_error_errno(errno, "%s", shown);
		if (fd >= 0)
			close(fd);
		return err;
	}
	struct xc_error *err = distrust(&st, shown);
	if (!err && last && !S_ISREG(st.st_mode))
		err = xc_error_new(XC_ERR_PERMISSION, "%s: not a regular file", shown);
	if (err)
		close(fd);
	else
		*fd_out = fd;
	return err;
}

static struct xc_error *open_below(const struct xc_plugindir *dir, const char *path, int *fd_out)
{
	const char *rest = path;
	int below = dir->fd;
	while (true) {
		size_t len = strcspn(rest, "/");
		bool last = !rest[len];
		int fd = -1;
		struct xc_error *err;
		xc_auto(xc_freep) char *name = xc_asprintf("%.*s", (int)len, rest);
		xc_auto(xc_freep) char *shown = xc_asprintf("%s/%.*s", dir->path, (int)(rest + len - path), path);
		if (!len || name[0] == '.')
			err = xc_error_new(XC_ERR_PERMISSION, "%s: not a valid name of a plugin's file", shown);
		else
			err = step(below, name, last, shown, &fd);
		if (below != dir->fd)
			close(below);
		if (err || last) {
			*fd_out = fd;
			return err;
		}
		below = fd;
		rest += len + 1;
	}
}

static struct xc_error *read_all(int fd, struct xc_text *text)
{
	char buffer[16384];
	while (true) {
		ssize_t len = read(fd, buffer, sizeof buffer);
		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0)
			return xc_error_errno(errno, "reading");
		if (len == 0)
			return NULL;
		if ((size_t)len > XC_PLUGIN_FILE_MAX - text->len)
			return xc_error_new(XC_ERR_LIMIT, "larger than %d MiB", XC_PLUGIN_FILE_MAX >> 20);
		xc_text_addn(text, buffer, (size_t)len);
	}
}

struct xc_error *xc_plugindir_read(const struct xc_plugindir *dir, const char *path, char **text_out, size_t *len_out)
{
	int fd;
	struct xc_text text = {0};
	struct xc_error *err = open_below(dir, path, &fd);
	if (err)
		return err;
	err = read_all(fd, &text);
	close(fd);
	if (err) {
		xc_text_fini(&text);
		return xc_error_wrap(err, "%s/%s", dir->path, path);
	}
	*len_out = text.len;
	*text_out = text.len ? xc_text_take(&text) : xc_strdup("");
	return NULL;
}
