/* source_roots: a path is compared with the names of a folder, not looked up: so nothing outside is touched. A folder
 * has two names, the given one and the real one, because compilers record either. */
#include "core/process/source_roots.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/shared_status.h"
#include "core/io/folder.h"
#include "core/io/opener.h"
#include "core/process/finder.h"
#include "core/process/process.h"
#include "core/text/shellword.h"

struct xc_source_root {
	char *name; /* absolute, without a slash at the end; "" for "/" */
	char *real; /* the folder to open files below */
	bool tree;
};

static void add(struct xc_source_roots *roots, const char *name, const char *real, bool tree)
{
	size_t len = strlen(name);
	while (len && name[len - 1] == '/')
		len--;
	for (size_t i = 0; i < roots->count; i++)
		if (roots->items[i].tree == tree && strlen(roots->items[i].name) == len &&
		    strncmp(roots->items[i].name, name, len) == 0)
			return;
	roots->items = xc_grow(roots->items, roots->count, &roots->capacity, sizeof *roots->items);
	roots->items[roots->count++] = (struct xc_source_root){
		.name = xc_asprintf("%.*s", (int)len, name), .real = xc_strdup(real), .tree = tree};
}

static bool is_here(const char *dir)
{
	struct stat here, there;
	return dir && *dir == '/' && !stat(".", &here) && !stat(dir, &there) && here.st_dev == there.st_dev &&
	       here.st_ino == there.st_ino;
}

/* The shell's name of the working directory, with the links by which it was entered; or the real one. */
static const char *shell_name(const char *real)
{
	const char *pwd = getenv("PWD");
	return is_here(pwd) ? pwd : real;
}

void xc_source_roots_add(struct xc_source_roots *roots, const char *dir)
{
	xc_auto(xc_freep) char *real = realpath(dir, NULL);
	xc_auto(xc_freep) char *here = realpath(".", NULL);
	if (!real)
		return;
	add(roots, real, real, false);
	if (*dir == '/') {
		add(roots, dir, real, false);
	} else if (here) {
		while (strncmp(dir, "./", 2) == 0)
			dir += 2 + strspn(dir + 2, "/");
		xc_auto(xc_freep) char *full = xc_asprintf("%s/%s", shell_name(here), strcmp(dir, ".") == 0 ? "" : dir);
		add(roots, full, real, false);
	}
}

void xc_source_roots_add_tree(struct xc_source_roots *roots)
{
	xc_auto(xc_freep) char *real = realpath(".", NULL);
	if (!real || strcmp(real, "/") == 0)
		return;
	add(roots, real, real, true);
	add(roots, shell_name(real), real, true);
}

void xc_source_roots_fini(struct xc_source_roots *roots)
{
	for (size_t i = 0; i < roots->count; i++) {
		free(roots->items[i].name);
		free(roots->items[i].real);
	}
	free(roots->items);
	*roots = (struct xc_source_roots){0};
}

/* The path without "." and "..", as if no component were a link; malloc'ed. */
static char *tidy(const char *path)
{
	char *out = xc_alloc(strlen(path) + 2), *end = out;
	while (*path) {
		path += strspn(path, "/");
		const size_t len = strcspn(path, "/");
		if (len == 2 && memcmp(path, "..", 2) == 0) {
			while (end > out && *--end != '/')
				;
		} else if (len && !(len == 1 && *path == '.')) {
			*end++ = '/';
			memcpy(end, path, len);
			end += len;
		}
		path += len;
	}
	*end = '\0';
	return out;
}

static const char *below(const char *path, const char *folder)
{
	const size_t len = strlen(folder);
	return strncmp(path, folder, len) == 0 && path[len] == '/' ? path + len + 1 : NULL;
}

static bool is_hidden(const char *rest)
{
	for (const char *at = rest; at; at = strchr(at, '/')) {
		at += strspn(at, "/");
		if (at[0] == '.' && at[1] && at[1] != '/' && !(at[1] == '.' && (!at[2] || at[2] == '/')))
			return true;
	}
	return false;
}

static bool takes(const struct xc_source_root *root, const struct xc_process *process, const char *rest)
{
	if (!rest || !root->tree)
		return rest != NULL;
	return !is_hidden(rest) && !(process->archive && geteuid() == 0);
}

/* The part of the path below this folder; NULL: it lies outside. Points into path or plain, the tidy path. */
static const char *rest_below(const struct xc_process *process, const struct xc_source_root *root, const char *path,
			      const char *plain)
{
	const char *rest = *path == '/' ? below(path, root->name) : root->tree ? NULL : path;
	if (*path == '/' && !rest)
		rest = below(plain, root->name);
	return takes(root, process, rest) ? rest : NULL;
}

static bool is_inside(const struct xc_process *process, const char *path, const char *plain)
{
	const struct xc_source_roots *roots = process->source_roots;
	for (size_t i = 0; roots && i < roots->count; i++)
		if (rest_below(process, &roots->items[i], path, plain))
			return true;
	return process->sysroot && *path == '/';
}

/* A regular file below an open folder, by steps that follow no link: -1 with errno. Closes `at`. */
static int open_steps(int at, const char *path)
{
	xc_auto(xc_freep) char *names = xc_strdup(path);
	char *rest = NULL, *name = strtok_r(names, "/", &rest), *next;
	struct stat st;
	for (; at >= 0 && (next = strtok_r(NULL, "/", &rest)); name = next)
		at = xc_folder_step(at, name, 0);
	if (at < 0 || !name)
		return -1;
	const int look = openat(at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	close(at);
	const bool regular = look >= 0 && !fstat(look, &st) && S_ISREG(st.st_mode);
	const int fd = regular ? xc_opener_reopen(look) : -1, number = errno;
	if (look >= 0)
		close(look);
	errno = look >= 0 && !regular ? ENOTSUP : number;
	return fd;
}

static struct xc_error *open_file(const char *folder, const char *rest, const char *name, struct xc_source **source_out)
{
	struct xc_source_options how = {.as_is = true};
	if (!xc_shared_status_begin_open(name))
		return xc_error_new(XC_ERR_IO, "%s: it did not answer", name);
	const int fd = open_steps(open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC), rest);
	struct xc_error *err =
		fd < 0 ? xc_error_errno(errno, "%s", name) : xc_source_open_fd(fd, name, &how, source_out);
	xc_shared_status_end_open();
	return err;
}

/* The file after all links, if it lies below the folder, too, and is not hidden there. Links that are put in its way
 * meanwhile are not followed. */
static struct xc_error *open_real(const struct xc_source_root *root, const char *rest, struct xc_source **source_out)
{
	xc_auto(xc_freep) char *full = xc_asprintf("%s/%s", root->real, rest);
	xc_auto(xc_freep) char *target = realpath(full, NULL);
	const char *inside = target ? below(target, root->real) : NULL;
	if (!inside || (root->tree && is_hidden(inside)))
		return xc_error_new(XC_ERR_NOT_FOUND, "%s", full);
	return open_file(root->real, inside, target, source_out);
}

/* Links in the working tree may come from whoever made the tree: they lead to no hidden file. Kernels before 5.6 cannot
 * open below a folder. */
static struct xc_error *open_below_root(const struct xc_source_root *root, const char *rest,
					struct xc_source **source_out)
{
	struct xc_error *err = root->tree ? NULL : xc_finder_open(root->real, rest, source_out);
	if (!root->tree && !err)
		return NULL;
	xc_error_free(err);
	return open_real(root, rest, source_out);
}

static struct xc_error *open_inside(const struct xc_process *process, const char *path, const char *plain,
				    struct xc_source **source_out)
{
	const struct xc_source_roots *roots = process->source_roots;
	struct xc_error *err = process->sysroot && *path == '/' ? xc_finder_open(process->sysroot, path, source_out)
								: xc_error_new(XC_ERR_NOT_FOUND, "%s", path);
	for (size_t i = 0; err && roots && i < roots->count; i++) {
		const char *rest = rest_below(process, &roots->items[i], path, plain);
		if (!rest)
			continue;
		xc_error_free(err);
		err = open_below_root(&roots->items[i], rest, source_out);
	}
	return err;
}

struct xc_error *xc_source_roots_open(const struct xc_process *process, const char *path, struct xc_source **source_out)
{
	if (!path || !*path)
		return xc_error_new(XC_ERR_NOT_FOUND, "no source file is named");
	xc_auto(xc_freep) char *plain = tidy(path);
	if (is_inside(process, path, plain))
		return open_inside(process, path, plain, source_out);
	return xc_error_hint(xc_error_new(XC_ERR_PERMISSION, "%s: outside the folders of source files", path),
			     "--source-root DIR adds one");
}

/* Nobody is led to a file that only some may read: it is no source. */
static bool may_be_source(const char *path)
{
	struct stat st;
	return !fstatat(AT_FDCWD, path, &st, AT_NO_AUTOMOUNT | AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode) &&
	       ((st.st_mode & S_IROTH) || (geteuid() && st.st_uid == geteuid()));
}

char *xc_source_roots_hint(const struct xc_process *process, const char *path)
{
	if (!process->source_roots || !path || *path != '/')
		return NULL;
	xc_auto(xc_freep) char *dir = tidy(path);
	if (is_inside(process, path, dir) || !may_be_source(path))
		return NULL;
	*strrchr(dir, '/') = '\0';
	xc_auto(xc_freep) char *word = xc_shellword_file(*dir ? dir : "/");
	return xc_asprintf("--source-root %s", word);
}
