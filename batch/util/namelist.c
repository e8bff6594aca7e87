/* namelist: a NUL byte in the first block means that names are NUL-terminated, because no name contains one; otherwise
 * they end with the line. */
#include "batch/util/namelist.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "batch/util/textfile.h"

enum { UNDECIDED = -1 };

struct reading {
	struct xc_namelist *list;
	char name[PATH_MAX];
	size_t len, number; /* number of the name, from 1, counting empty ones */
	int separator;
};

struct xc_error *xc_namelist_add(struct xc_namelist *list, const char *name)
{
	if (list->count >= XC_NAMELIST_MAX)
		return xc_error_new(XC_ERR_LIMIT, "more than %d names", XC_NAMELIST_MAX);
	list->names = xc_grow(list->names, list->count, &list->capacity, sizeof *list->names);
	list->names[list->count++] = xc_arena_strdup(&list->arena, name);
	return NULL;
}

static struct xc_error *end_name(struct reading *r)
{
	const size_t len = r->len - (r->separator == '\n' && r->len && r->name[r->len - 1] == '\r');
	r->name[len] = '\0';
	r->len = 0;
	if (r->number++ == XC_NAMELIST_MAX)
		return xc_error_new(XC_ERR_LIMIT, "more than %d names, empty ones counted", XC_NAMELIST_MAX);
	return len ? xc_namelist_add(r->list, r->name) : NULL;
}

static struct xc_error *take(struct reading *r, const char *bytes, size_t len)
{
	struct xc_error *err = NULL;
	for (size_t i = 0; i < len && !err; i++) {
		if (bytes[i] == r->separator)
			err = end_name(r);
		else if (bytes[i] == '\0' || r->len == sizeof r->name - 1)
			err = xc_error_new(XC_ERR_FORMAT, "%s %zu is %s", r->separator ? "line" : "name", r->number + 1,
					   bytes[i] ? "too long" : "ended by a NUL byte, others by a new line");
		else
			r->name[r->len++] = bytes[i];
	}
	return err;
}

/* A name is shorter than the first block. */
static int separator_of(const char *bytes, size_t len)
{
	return memchr(bytes, '\0', len) ? '\0' : '\n';
}

/* The length of a UTF-8 byte order mark before the lines. NUL-terminated names are written by programs and have
 * none. */
static size_t mark_of(const char *bytes, size_t len, int separator)
{
	return separator == '\n' && len >= 3 && !memcmp(bytes, "\xef\xbb\xbf", 3) ? 3 : 0;
}

static struct xc_error *read_names(struct reading *r, FILE *file)
{
	char block[64 << 10];
	struct xc_error *err = NULL;
	for (size_t n, skip; !err && (n = fread(block, 1, sizeof block, file)) > 0;) {
		const bool first = r->separator == UNDECIDED;
		r->separator = first ? separator_of(block, n) : r->separator;
		skip = first ? mark_of(block, n, r->separator) : 0;
		err = take(r, block + skip, n - skip);
	}
	if (!err && ferror(file))
		err = xc_error_errno(errno, "reading it");
	return err ? err : end_name(r);
}

struct xc_error *xc_namelist_read(struct xc_namelist *list, const char *path)
{
	struct reading r = {.list = list, .separator = UNDECIDED};
	FILE *file;
	struct xc_error *err = xc_textfile_open(path, &file);
	if (err)
		return err;
	err = read_names(&r, file);
	list->exact = r.separator == '\0';
	xc_textfile_close(file);
	return err ? xc_error_wrap(err, "%s", xc_textfile_name(path)) : NULL;
}

void xc_namelist_settle(struct xc_namelist *list)
{
	size_t kept = 0;
	if (list->count)
		qsort(list->names, list->count, sizeof *list->names, xc_text_order);
	for (size_t i = 0; i < list->count; i++)
		if (!kept || strcmp(list->names[kept - 1], list->names[i]) != 0)
			list->names[kept++] = list->names[i];
	list->count = kept;
}

void xc_namelist_fini(struct xc_namelist *list)
{
	free(list->names);
	xc_arena_fini(&list->arena);
}
