/* scratch: one directory per test program. */
#include "tests/support/scratch.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/arena.h"
#include "core/base/text.h"

static char dir[256];
static struct xc_arena paths;
static pid_t owner;

static void must(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st, (void)kind, (void)ftw;
	return remove(path);
}

static void remove_all(void)
{
	if (getpid() == owner)
		nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	xc_arena_fini(&paths);
}

const char *scratch_dir(void)
{
	const char *base = getenv("TMPDIR");
	if (dir[0])
		return dir;
	snprintf(dir, sizeof dir, "%s/xcore-test-XXXXXX", base && *base ? base : "/tmp");
	must(mkdtemp(dir) != NULL, dir);
	owner = getpid();
	atexit(remove_all);
	return dir;
}

const char *scratch_path(const char *name)
{
	char *path = xc_arena_printf(&paths, "%s/%s", scratch_dir(), name[0] == '/' ? name + 1 : name);
	for (char *slash = path + strlen(dir) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		mkdir(path, 0700);
	}
	return path;
}

const char *scratch_word(const char *text)
{
	struct xc_text word = {0};
	xc_text_add(&word, "'");
	for (; *text; text++)
		if (*text == '\'')
			xc_text_add(&word, "'\\''");
		else
			xc_text_addn(&word, text, 1);
	xc_text_add(&word, "'");
	const char *kept = xc_arena_strndup(&paths, word.bytes, word.len);
	xc_text_fini(&word);
	return kept;
}

const char *scratch_file(const char *name, const void *bytes, size_t len)
{
	const char *path = scratch_path(name);
	FILE *file = fopen(path, "w");
	must(file != NULL, path);
	must(len == 0 || fwrite(bytes, 1, len, file) == len, path);
	must(fclose(file) == 0, path);
	return path;
}
