/* debuginfod: libdebuginfod.so.1 by dlopen. Signatures, the location and names of its cache, and the meaning of
 * errors: elfutils 0.188, debuginfod/debuginfod.h and debuginfod-client.c, debuginfod-client-config(7).
 *
 * The library waits 90 seconds for a server that accepts a connection and stays silent, three times, for every file.
 * It calls its progress function at least once a second, which may end the transfer: that is where xcore counts the
 * time. After a transfer that ended this way, the library caches for ten minutes that no server has the file; that
 * entry is wrong and is removed. */
#include "dwarf/locate/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/progress.h"
#include "core/cache/cachedir.h"

static const char URLS[] = "DEBUGINFOD_URLS";
enum { PATIENCE_S = 30 };

struct debuginfod_client;
typedef int find_function(struct debuginfod_client *client, const unsigned char *id, int id_len, char **path);
typedef int progress_function(struct debuginfod_client *client, long a, long b);

static struct {
	bool tried;
	struct debuginfod_client *client;
	find_function *find_debuginfo, *find_executable;
	char *trouble, *hint; /* malloc'ed; kept until the program ends */
} library;

/* The current transfer: the library passes no argument to its progress function. */
static struct {
	struct xc_progress progress;
	time_t moved, patience; /* seconds; moved: when data last arrived; patience: 0: no limit */
	long last;
	bool ended; /* by us */
} transfer;

static char *hidden_urls; /* kept until the program ends, as putenv requires */

void xc_debuginfod_allow(bool allowed)
{
	const char *urls = getenv(URLS);
	if (!allowed && urls) {
		free(hidden_urls);
		hidden_urls = xc_strdup(urls);
		unsetenv(URLS);
	} else if (allowed && !urls && hidden_urls) {
		setenv(URLS, hidden_urls, 1);
	}
}

const char *xc_debuginfod_trouble(const char **hint_out)
{
	*hint_out = library.hint;
	return library.trouble;
}

/* Keeps the first error, which is the one that matters. Returns err. */
static struct xc_error *keep_trouble(struct xc_error *err)
{
	if (!library.trouble) {
		library.trouble = xc_strdup(err->message);
		library.hint = err->hint ? xc_strdup(err->hint) : NULL;
	}
	return err;
}

/* ---- the client's cache ---- */

char *xc_debuginfod_cache_dir(void)
{
	const char *told = getenv("DEBUGINFOD_CACHE_PATH"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	if (told && *told)
		return xc_strdup(told);
	xc_auto(xc_freep) char *old = xc_asprintf("%s/.debuginfod_client_cache", home ? home : "/");
	if (access(old, F_OK) == 0)
		return xc_strdup(old);
	if (xdg && *xdg)
		return xc_asprintf("%s/debuginfod_client", xdg);
	return xc_asprintf("%s/.cache/debuginfod_client", home ? home : "/");
}

static char *cached_path(const struct xc_debuginfod_request *r)
{
	char hex[2 * XC_BUILD_ID_MAX + 1];
	xc_auto(xc_freep) char *dir = xc_debuginfod_cache_dir();
	return xc_asprintf("%s/%s/%s", dir, xc_build_id_hex(r->id, hex),
			   r->kind == XC_DEBUGINFOD_DEBUG ? "debuginfo" : "executable");
}

static struct xc_error *open_plain(int fd, const char *path, struct xc_source **source_out)
{
	const struct xc_source_options plain = {.as_is = true};
	return xc_source_open_fd(fd, path, &plain, source_out);
}

static bool from_cache(const struct xc_debuginfod_request *r, struct xc_source **source_out)
{
	struct stat st;
	xc_auto(xc_freep) char *path = cached_path(r);
	if (lstat(path, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
		return false;
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct xc_error *err = fd < 0 ? xc_error_errno(errno, "%s", path) : open_plain(fd, path, source_out);
	bool good = !err;
	xc_error_free(err);
	return good;
}

/* An empty file in the cache says that no server has it. Removed only from a folder of this user's own. */
static void remove_note(const struct xc_debuginfod_request *r)
{
	struct stat st;
	char hex[2 * XC_BUILD_ID_MAX + 1];
	xc_auto(xc_freep) char *dir = xc_debuginfod_cache_dir();
	const char *name = r->kind == XC_DEBUGINFOD_DEBUG ? "debuginfo" : "executable";
	const int folder = xc_cachedir_open(dir, xc_build_id_hex(r->id, hex), false);
	if (folder < 0)
		return;
	const int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0 && !fstat(fd, &st) && xc_cachedir_is_my_file(&st) && st.st_size == 0)
		unlinkat(folder, name, 0);
	if (fd >= 0)
		close(fd);
	close(folder);
}

/* ---- the library ---- */

static time_t now_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

/* Before a server answers, a counts calls and b is 0. Later a is the number of bytes received and b the number
 * expected, or at most 0 when that is unknown. So a step of more than one means bytes. A nonzero result ends the
 * transfer. */
static int on_progress(struct debuginfod_client *client, long a, long b)
{
	(void)client;
	time_t now = now_s();
	if (b > 0 ? a != transfer.last : a > transfer.last + 1)
		transfer.moved = now;
	transfer.last = a;
	xc_progress_step(&transfer.progress, b > 0 ? (uint64_t)a : 0, b > 0 ? (uint64_t)b : 0);
	transfer.ended = transfer.patience && now - transfer.moved > transfer.patience;
	return transfer.ended;
}

static void *symbol(void *handle, const char *name)
{
	return handle ? dlsym(handle, name) : NULL;
}

static void load(void)
{
	struct debuginfod_client *(*begin)(void);
	void (*set_progress)(struct debuginfod_client *, progress_function *);
	library.tried = true;
	void *handle = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
	/* ISO C has no cast from object to function pointer; POSIX guarantees that this works */
	*(void **)&begin = symbol(handle, "debuginfod_begin");
	*(void **)&set_progress = symbol(handle, "debuginfod_set_progressfn");
	*(void **)&library.find_debuginfo = symbol(handle, "debuginfod_find_debuginfo");
	*(void **)&library.find_executable = symbol(handle, "debuginfod_find_executable");
	if (begin && set_progress && library.find_debuginfo && library.find_executable)
		library.client = begin();
	if (library.client)
		set_progress(library.client, on_progress);
}

static struct xc_error *check(void)
{
	const char *urls = getenv(URLS);
	if (library.tried && library.trouble)
		return xc_error_new(XC_ERR_IO, "%s", library.trouble);
	if (!urls || !*urls)
		return keep_trouble(xc_error_hint(
			xc_error_new(XC_ERR_UNSUPPORTED,
				     "debuginfod: %s names no server: only files downloaded earlier are used", URLS),
			"set %s to the servers of your distribution", URLS));
	if (!library.tried)
		load();
	if (!library.client)
		return keep_trouble(xc_error_hint(
			xc_error_new(XC_ERR_UNSUPPORTED, "debuginfod: libdebuginfod.so.1 cannot be loaded"),
			"install libdebuginfod1"));
	return NULL;
}

static time_t patience(void)
{
	const char *told = getenv("DEBUGINFOD_TIMEOUT");
	long seconds = told && *told ? strtol(told, NULL, 10) : PATIENCE_S;
	return seconds > 0 ? seconds : 0;
}

static struct xc_error *explain(int error, const struct xc_build_id *id)
{
	char hex[2 * XC_BUILD_ID_MAX + 1];
	bool late = error == ETIME && transfer.patience && !getenv("DEBUGINFOD_MAXTIME"); /* the library's own limit */
	if (transfer.ended || late)
		return keep_trouble(xc_error_hint(
			xc_error_new(XC_ERR_IO, "debuginfod: %s: no data for %ld seconds: not asked again in this run",
				     getenv(URLS), (long)transfer.patience),
			"DEBUGINFOD_TIMEOUT=SECONDS waits longer"));
	if (error == ENOENT)
		return xc_error_new(XC_ERR_NOT_FOUND, "debuginfod: no server has build-id %s",
				    xc_build_id_hex(id, hex));
	struct xc_error *err = xc_error_errno(error, "debuginfod: %s", getenv(URLS));
	err->code = XC_ERR_IO;
	if (error == EFBIG) /* DEBUGINFOD_MAXSIZE: concerns this file alone */
		return err;
	xc_auto(xc_freep) char *message = xc_asprintf("%s: not asked again in this run", err->message);
	xc_error_free(err);
	return keep_trouble(xc_error_new(XC_ERR_IO, "%s", message));
}

struct xc_error *xc_debuginfod_fetch(const struct xc_debuginfod_request *request, struct xc_source **source_out)
{
	char *path = NULL;
	if (request->id->size == 0)
		return xc_error_new(XC_ERR_NOT_FOUND, "debuginfod needs a build-id");
	if (from_cache(request, source_out))
		return NULL;
	struct xc_error *err = check();
	if (err)
		return err;
	bool debug = request->kind == XC_DEBUGINFOD_DEBUG;
	find_function *find = debug ? library.find_debuginfo : library.find_executable;
	xc_auto(xc_freep) char *text =
		xc_asprintf("downloading %s%s", debug ? "debug information of " : "", request->what);
	transfer.progress = xc_progress_start(text, request->quiet);
	transfer.moved = now_s();
	transfer.patience = patience();
	transfer.last = 0;
	transfer.ended = false;
	int fd = find(library.client, request->id->bytes, request->id->size, &path);
	xc_progress_end(&transfer.progress);
	if (fd < 0 && transfer.ended)
		remove_note(request);
	err = fd < 0 ? explain(-fd, request->id) : open_plain(fd, path ? path : "debuginfod", source_out);
	free(path);
	return err;
}
