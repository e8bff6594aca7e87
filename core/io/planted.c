/* planted: a path is walked as the kernel does, component by component; a link's target takes its place in what is
 * left to walk. The owner of a directory is trusted with its contents. */
#include "core/io/planted.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/text.h"

enum { MAX_LINKS = 40 }; /* the kernel's limit, too */

struct walk {
	struct xc_text done; /* what was walked: "", "/" or ends in a slash */
	char *rest;          /* what is left */
	int links;
};

static void set_done(struct walk *w, const char *path, size_t len)
{
	xc_text_fini(&w->done);
	xc_text_addn(&w->done, path, len);
}

static const char *kind(const struct stat *st)
{
	return S_ISLNK(st->st_mode)    ? "symbolic link"
	       : S_ISDIR(st->st_mode)  ? "directory"
	       : S_ISFIFO(st->st_mode) ? "FIFO"
				       : "file";
}

/* Only links matter before the end: a user who names another user's directory means it. */
static bool is_planted(const char *folder, const struct stat *st, bool last)
{
	struct stat dir;
	if ((!last && !S_ISLNK(st->st_mode)) || st->st_uid == geteuid() || stat(*folder ? folder : ".", &dir) ||
	    st->st_uid == dir.st_uid)
		return false;
	const bool is_file = S_ISREG(st->st_mode) || S_ISDIR(st->st_mode);
	return dir.st_mode & S_IWOTH && (!is_file || dir.st_mode & S_ISVTX);
}

static struct xc_error *refuse(const char *path, const struct stat *st)
{
	return xc_error_hint(xc_error_new(XC_ERR_PERMISSION,
					  "%s: a %s of another user (uid %u), in a world-writable directory", path,
					  kind(st), (unsigned)st->st_uid),
			     "name a path in a directory of your own");
}

/* The component is a link: go on with its target. */
static struct xc_error *follow(struct walk *w, const char *link)
{
	char target[PATH_MAX];
	const ssize_t len = readlink(link, target, sizeof target - 1);
	if (len <= 0 || w->links++ == MAX_LINKS)
		return xc_error_errno(len <= 0 ? errno : ELOOP, "%s", link);
	target[len] = '\0';
	char *rest = xc_asprintf("%s/%s", target, w->rest);
	free(w->rest);
	w->rest = rest;
	return NULL;
}

/* Takes the next component from what is left. Returns its path, of the caller. */
static char *take(struct walk *w)
{
	if (*w->rest == '/')
		set_done(w, "/", 1);
	const char *name = w->rest + strspn(w->rest, "/");
	const size_t len = strcspn(name, "/");
	char *at = xc_asprintf("%s%.*s", xc_text_string(&w->done), (int)len, name);
	char *rest = xc_strdup(name + len + strspn(name + len, "/"));
	free(w->rest);
	w->rest = rest;
	return at;
}

/* One component. *end_out: it was the last. A last link in /proc may lead to what has no path, and is the kernel's. */
static struct xc_error *step(struct walk *w, bool *end_out)
{
	xc_auto(xc_freep) char *at = take(w);
	const bool last = !*w->rest;
	struct stat st;
	if (lstat(at, &st))
		return xc_error_errno(errno, "%s", at);
	if (is_planted(xc_text_string(&w->done), &st, last))
		return refuse(at, &st);
	const bool is_link = S_ISLNK(st.st_mode);
	*end_out = last && (!is_link || strncmp(at, "/proc/", 6) == 0);
	if (*end_out)
		return NULL;
	if (is_link)
		return follow(w, at);
	set_done(w, at, strlen(at));
	xc_text_char(&w->done, '/');
	return NULL;
}

struct xc_error *xc_planted_check(const char *path)
{
	struct walk w = {.rest = xc_strdup(path)};
	struct xc_error *err = NULL;
	for (bool end = !*path; !end && !err;)
		err = step(&w, &end);
	free(w.rest);
	xc_text_fini(&w.done);
	return err;
}
