/* cacheform: the marks are those of index_format.h and inflate_cache.c, whose tests meet them here. */
#include "core/cache/cacheform.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/cache/cachedir.h"

#define HEX    "0123456789abcdef"
#define DIGITS "0123456789"
#define PART   ".part"

enum { MARK = 8, ID_DIGITS = 128, KEY_DIGITS = 64, PLAIN_DIGITS = 32, PLAIN_TRAILER = 48, STEM = 16 };

const char *const xc_cacheform_kinds[] = {"index", "debug", NULL};

static const char *const prefixes[] = {"none-", "pack-"}; /* of an index that no build-id names */

static bool is_index(const char *kind)
{
	return !strcmp(kind, "index");
}

static size_t prefix_of(const char *name)
{
	for (size_t i = 0; i < XC_COUNT(prefixes); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return strlen(prefixes[i]);
	return 0;
}

bool xc_cacheform_is_name(const char *kind, const char *name)
{
	const size_t prefix = is_index(kind) ? prefix_of(name) : 0, hex = strspn(name + prefix, HEX);
	const char *end = name + prefix + hex;
	if (prefix)
		return hex == KEY_DIGITS && !*end;
	if (is_index(kind))
		return hex && hex <= ID_DIGITS && hex % 2 == 0 && !*end;
	return !strcmp(kind, "debug") && hex == PLAIN_DIGITS && !strcmp(end, ".plain");
}

static bool is_temporary(const char *kind, const char *name)
{
	const size_t prefix = is_index(kind) ? prefix_of(name) : 0, hex = strspn(name + prefix, HEX);
	const char *end = name + prefix + hex;
	return hex && prefix + hex <= STEM && *end == '-' && strspn(end + 1, DIGITS) &&
	       !strcmp(end + 1 + strspn(end + 1, DIGITS), PART);
}

bool xc_cacheform_is_ours(const char *kind, const char *name)
{
	return xc_cacheform_is_name(kind, name) || is_temporary(kind, name);
}

/* ---- marks ---- */

static bool has(int fd, off_t at, const char mark[MARK])
{
	char found[MARK];
	return at >= 0 && pread(fd, found, MARK, at) == MARK && !memcmp(found, mark, MARK);
}

/* An inflated image may be any ELF file; its trailer is the mark. */
static bool is_marked(int fd, const char *kind)
{
	struct stat st;
	if (is_index(kind))
		return has(fd, 0, "XCINDEX");
	return !fstat(fd, &st) && has(fd, st.st_size - PLAIN_TRAILER, "XCPLAIN1");
}

/* Was it not written to its end, or damaged after its beginning? */
static bool is_begun(int fd, const char *kind)
{
	static const char zeros[MARK];
	char found[MARK];
	struct stat st;
	if (fstat(fd, &st))
		return false;
	return st.st_size == 0 || is_marked(fd, kind) || has(fd, 0, zeros) ||
	       (!is_index(kind) && pread(fd, found, MARK, 0) == MARK && !memcmp(found, "\177ELF", 4));
}

static int open_as(int folder, const char *kind, const char *name, int flags, bool (*sound)(int, const char *))
{
	const int fd = openat(folder, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || (xc_cachedir_is_own_file(fd) && sound(fd, kind)))
		return fd;
	close(fd);
	errno = EACCES;
	return -1;
}

int xc_cacheform_open(int folder, const char *kind, const char *name, int flags)
{
	errno = EACCES;
	return xc_cacheform_is_name(kind, name) ? open_as(folder, kind, name, flags, is_marked) : -1;
}

bool xc_cacheform_is_free(int folder, const char *kind, const char *name)
{
	const int fd = open_as(folder, kind, name, O_RDONLY, is_begun);
	if (fd < 0)
		return errno == ENOENT;
	close(fd);
	return true;
}

/* Nobody else can write to the folder, so the name still denotes the file that was examined. */
bool xc_cacheform_remove(int folder, const char *kind, const char *name)
{
	int fd = -1;
	errno = EACCES;
	if (xc_cacheform_is_ours(kind, name))
		fd = open_as(folder, kind, name, O_RDONLY, is_begun);
	if (fd < 0)
		return errno == ENOENT;
	close(fd);
	return unlinkat(folder, name, 0) == 0 || errno == ENOENT;
}
