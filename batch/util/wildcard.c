/* wildcard: expands one component after the other; only patterns cause a search. The C library's glob() can report
 * unreadable directories only through a global variable. */
#include "batch/util/wildcard.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/text.h"

struct expansion {
	const struct xc_wildcard_visitor *visitor;
	struct xc_namelist *list;
	struct xc_text name; /* the expanded part, with its slash */
	struct xc_error *err;
	bool found;
};

static bool is_there(const char *name)
{
	struct stat st;
	return !lstat(name, &st);
}

/* An unclosed bracket stands for itself. */
static bool has_wildcard(const char *name, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (name[i] == '*' || name[i] == '?')
			return true;
		if (name[i] == '[' && i + 2 < len) {
			const char *rest = name + i + 2, *end = memchr(rest, ']', len - i - 2);
			const char *slash = memchr(name + i, '/', len - i);
			if (end && (!slash || end < slash))
				return true;
		}
	}
	return false;
}

bool xc_wildcard_is(const char *name)
{
	return has_wildcard(name, strlen(name));
}

static void go_on(struct expansion *e, const char *rest);

/* Appends a component to the expanded part while the rest is processed. */
static void step(struct expansion *e, const char *component, size_t len, const char *rest)
{
	const size_t settled = e->name.len;
	xc_text_addn(&e->name, component, len);
	if (*rest)
		xc_text_char(&e->name, '/');
	go_on(e, rest);
	e->name.len = settled;
	e->name.bytes[settled] = '\0';
}

/* A file may have the name of the pattern: "[old]" does not match itself. */
static bool fits(const char *component, const char *name)
{
	return !fnmatch(component, name, FNM_NOESCAPE | FNM_PERIOD) || !strcmp(component, name);
}

static void search(struct expansion *e, const char *pattern, size_t len, const char *rest)
{
	xc_auto(xc_freep) char *component = xc_asprintf("%.*s", (int)len, pattern);
	const char *directory = e->name.len ? xc_text_string(&e->name) : ".";
	DIR *dir = opendir(directory);
	if (!dir && errno != ENOENT && errno != ENOTDIR)
		e->visitor->left_out(e->visitor->user, directory, strerror(errno));
	if (!dir)
		return;
	for (const struct dirent *d; !e->err && (d = readdir(dir));)
		if (fits(component, d->d_name) && strcmp(d->d_name, ".") && strcmp(d->d_name, ".."))
			step(e, d->d_name, strlen(d->d_name), rest);
	closedir(dir);
}

static void go_on(struct expansion *e, const char *rest)
{
	const size_t len = strcspn(rest, "/");
	const char *behind = rest + len + (rest[len] == '/');
	if (e->err)
		return;
	if (has_wildcard(rest, len))
		search(e, rest, len, behind);
	else if (*rest)
		step(e, rest, len, behind);
	else if (is_there(xc_text_string(&e->name))) {
		e->err = xc_namelist_add(e->list, xc_text_string(&e->name));
		e->found = true;
	}
}

struct xc_error *xc_wildcard_expand(const char *pattern, const struct xc_wildcard_visitor *visitor,
				    struct xc_namelist *list, bool *found_out)
{
	struct expansion e = {.visitor = visitor, .list = list};
	if (is_there(pattern)) {
		*found_out = true;
		return xc_namelist_add(list, pattern);
	}
	xc_text_add(&e.name, *pattern == '/' ? "/" : "");
	go_on(&e, pattern + (*pattern == '/'));
	xc_text_fini(&e.name);
	*found_out = e.found;
	return e.err;
}
