/* debuginfod: libdebuginfod.so.1 by dlopen. Signatures: elfutils 0.188, debuginfod/debuginfod.h. */
#include "debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static const char URLS[] = "DEBUGINFOD_URLS";

struct debuginfod_client;
typedef int find_function(struct debuginfod_client *client, const unsigned char *id, int id_len, char **path);

static struct {
	bool tried;
	struct debuginfod_client *client;
	find_function *find_debuginfo, *find_executable;
} library;

static char *hidden_urls; /* kept to the end of the program: putenv-like life */

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

static void *symbol(void *handle, const char *name)
{
	return handle ? dlsym(handle, name) : NULL;
}

static void load(void)
{
	struct debuginfod_client *(*begin)(void);
	library.tried = true;
	void *handle = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
	/* ISO C has no cast from object to function pointer; POSIX promises that this works */
	*(void **)&begin = symbol(handle, "debuginfod_begin");
	*(void **)&library.find_debuginfo = symbol(handle, "debuginfod_find_debuginfo");
	*(void **)&library.find_executable = symbol(handle, "debuginfod_find_executable");
	if (begin && library.find_debuginfo && library.find_executable)
		library.client = begin();
}

static struct xc_error *check(void)
{
	const char *urls = getenv(URLS);
	if (!urls || !*urls)
		return xc_error_hint(xc_error_new(XC_ERR_UNSUPPORTED, "%s names no server", URLS),
				     "for Debian: %s=https://debuginfod.debian.net", URLS);
	if (!library.tried)
		load();
	if (!library.client)
		return xc_error_hint(xc_error_new(XC_ERR_UNSUPPORTED, "libdebuginfod.so.1 cannot be loaded"),
				     "install libdebuginfod1");
	return NULL;
}

struct xc_error *xc_debuginfod_fetch(const struct xc_build_id *id, enum xc_debuginfod_kind kind,
				     struct xc_source **source_out)
{
	char hex[2 * XC_BUILD_ID_MAX + 1];
	char *path = NULL;
	struct xc_error *err = check();
	if (err)
		return err;
	if (id->size == 0)
		return xc_error_new(XC_ERR_NOT_FOUND, "debuginfod needs a build-id");
	find_function *find = kind == XC_DEBUGINFOD_DEBUG ? library.find_debuginfo : library.find_executable;
	int fd = find(library.client, id->bytes, id->size, &path);
	if (fd < 0)
		return xc_error_errno(-fd, "debuginfod, build-id %s", xc_build_id_hex(id, hex));
	err = xc_source_open_fd(fd, path ? path : "debuginfod", NULL, source_out);
	free(path);
	return err;
}
