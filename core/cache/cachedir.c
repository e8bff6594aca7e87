/* cachedir: each folder is opened from its parent's descriptor and then examined. */
#include "core/cache/cachedir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/userdir.h"
#include "core/io/opener.h"
#include "core/io/tempfile.h"

enum { LOOK = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK };
static const char *const kinds[] = {"index", "debug", "triage"};
static const char secret_name[] = "secret";

/* dir is PARENT/NAME. */
struct parts {
	char *text, *parent, *name; /* text: malloc'ed, holds the others */
};

static struct parts split(const char *dir)
{
	struct parts p = {.text = xc_strdup(dir)};
	size_t len = strlen(p.text);
	while (len > 1 && p.text[len - 1] == '/')
		p.text[--len] = '\0';
	char *slash = strrchr(p.text, '/');
	p.name = slash ? slash + 1 : p.text;
	p.parent = !slash ? (char *)(uintptr_t) "." : slash == p.text ? (char *)(uintptr_t) "/" : p.text;
	if (slash)
		*slash = '\0';
	return p;
}

static void split_fini(struct parts *parts)
{
	xc_freep(&parts->text);
}

/* ---- whose folder ---- */

static bool is_ours(const struct stat *st)
{
	return st->st_uid == geteuid() || st->st_uid == 0;
}

static bool is_sound_parent(const struct stat *st)
{
	const bool shared = st->st_mode & S_IWOTH || (st->st_mode & S_IWGRP && st->st_gid != getegid());
	return is_ours(st) && (!shared || st->st_mode & S_ISVTX);
}

static bool is_sound(const struct stat *st)
{
	return is_ours(st) && (!(st->st_mode & (S_IWGRP | S_IWOTH)) || st->st_mode & S_ISVTX);
}

/* Closes the descriptor of a folder that is not sound. */
static int checked(int fd, bool (*sound)(const struct stat *))
{
	struct stat st;
	if (fd < 0 || (fstat(fd, &st) == 0 && sound(&st)))
		return fd;
	close(fd);
	errno = EACCES;
	return -1;
}

/* Takes `from`. */
static int open_below(int from, const char *name, bool make)
{
	if (from < 0)
		return -1;
	if (make && mkdirat(from, name, 0700) && errno != EEXIST) {
		const int number = errno;
		const int fd = openat(from, name, LOOK | O_NOFOLLOW); /* a read-only file system may hold it already */
		close(from);
		errno = fd < 0 ? number : errno;
		return checked(fd, is_sound);
	}
	const int fd = openat(from, name, LOOK | O_NOFOLLOW), number = errno;
	close(from);
	errno = number;
	return checked(fd, is_sound);
}

static int open_parent(const char *path, bool make)
{
	if (make)
		xc_userdir_make(path, 0700);
	return checked(open(path, LOOK), is_sound_parent);
}

int xc_cachedir_open(const char *dir, const char *kind, bool make)
{
	xc_auto(split_fini) struct parts p = split(dir);
	const int fd = open_below(open_parent(p.parent, make), p.name, make);
	return kind ? open_below(fd, kind, make) : fd;
}

/* ---- trouble ---- */

static bool is_missing(int number)
{
	return number == ENOENT;
}

/* The reason in words; NULL for one that concerns no other user, as that the folder cannot be made. */
static const char *reason(const char *path, int number, bool parent)
{
	struct stat st;
	if (is_missing(number) || (parent ? stat(path, &st) : lstat(path, &st)))
		return NULL;
	if (S_ISLNK(st.st_mode))
		return "a symbolic link";
	if (number != EACCES || !S_ISDIR(st.st_mode))
		return NULL;
	if (!is_ours(&st))
		return "belongs to another user";
	return (parent ? is_sound_parent(&st) : is_sound(&st)) ? NULL : "others can write to it";
}

static char *explain(const char *path, bool parent)
{
	const char *why = reason(path, errno, parent);
	return why ? xc_asprintf("%s: %s", path, why) : NULL;
}

static char *kind_trouble(int folder, const char *dir, const char *kind)
{
	const int fd = checked(openat(folder, kind, LOOK | O_NOFOLLOW), is_sound), number = errno;
	if (fd >= 0) {
		close(fd);
		return NULL;
	}
	xc_auto(xc_freep) char *path = xc_asprintf("%s/%s", dir, kind);
	errno = number;
	return explain(path, false);
}

char *xc_cachedir_trouble(const char *dir)
{
	xc_auto(split_fini) struct parts p = split(dir);
	const int parent = open_parent(p.parent, false);
	if (parent < 0)
		return explain(p.parent, true);
	const int folder = open_below(parent, p.name, false);
	if (folder < 0)
		return explain(dir, false);
	char *text = NULL;
	for (size_t i = 0; !text && i < XC_COUNT(kinds); i++)
		text = kind_trouble(folder, dir, kinds[i]);
	close(folder);
	return text;
}

/* ---- files ---- */

bool xc_cachedir_is_own_file(int fd)
{
	struct stat st;
	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink <= 1 && is_ours(&st) &&
	       !(st.st_mode & (S_IWGRP | S_IWOTH));
}

bool xc_cachedir_is_my_file(const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_nlink == 1 && st->st_uid == geteuid();
}

static bool read_secret(int folder, uint8_t secret[XC_KEYED_HASH_SECRET])
{
	struct stat st;
	const int fd = openat(folder, secret_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	const bool good = fd >= 0 && fstat(fd, &st) == 0 && xc_cachedir_is_my_file(&st) &&
			  !(st.st_mode & (S_IRWXG | S_IRWXO)) && st.st_size == XC_KEYED_HASH_SECRET &&
			  pread(fd, secret, XC_KEYED_HASH_SECRET, 0) == XC_KEYED_HASH_SECRET;
	if (fd >= 0)
		close(fd);
	return good;
}

/* Two processes may make one at a time: the last counts, so the caller reads it again. What the other one keeps by the
 * lost secret is made again. */
static void make_secret(int folder)
{
	char temporary[64];
	uint8_t bytes[XC_KEYED_HASH_SECRET];
	snprintf(temporary, sizeof temporary, "%s-%ld.part", secret_name, (long)getpid());
	if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
		return;
	unlinkat(folder, temporary, 0); /* of a process that had this number and did not come to its end */
	const int fd = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	bool good = xc_tempfile_write(fd, bytes, sizeof bytes);
	good = close(fd) == 0 && good;
	if (!good || renameat(folder, temporary, folder, secret_name))
		unlinkat(folder, temporary, 0);
}

/* Is there no file of that name, or one of ours that others could read, or that was not written to its end? One that is
 * not ours stays as it is. */
static bool lacks_secret(int folder)
{
	struct stat st;
	if (fstatat(folder, secret_name, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT;
	return xc_cachedir_is_my_file(&st) &&
	       (st.st_size == 0 || (st.st_size == XC_KEYED_HASH_SECRET && (st.st_mode & (S_IRWXG | S_IRWXO))));
}

bool xc_cachedir_secret(const char *dir, bool make, uint8_t secret[XC_KEYED_HASH_SECRET])
{
	const int folder = dir && !xc_opener() ? xc_cachedir_open(dir, NULL, make) : -1;
	if (folder < 0)
		return false;
	if (make && lacks_secret(folder))
		make_secret(folder);
	const bool good = read_secret(folder, secret);
	close(folder);
	return good;
}
