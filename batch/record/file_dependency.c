/* file_dependency: files are identified by stat, not by content. */
#include "batch/record/file_dependency.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "batch/util/rawtext.h"

/* ---- the list ---- */

void xc_file_dependency_state(int fd, char state[XC_FILE_DEPENDENCY_STATE])
{
	struct stat st;
	state[0] = '\0';
	if (!fstat(fd, &st))
		snprintf(state, XC_FILE_DEPENDENCY_STATE, "%ju %ju %jd.%09ld %jd.%09ld", (uintmax_t)st.st_ino,
			 (uintmax_t)st.st_size, (intmax_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec,
			 (intmax_t)st.st_ctim.tv_sec, st.st_ctim.tv_nsec);
}

void xc_file_dependency_add(struct xc_file_dependency_list *list, const struct xc_file_dependency *dependency)
{
	list->files = xc_grow(list->files, list->count, &list->capacity, sizeof *list->files);
	list->files[list->count++] = (struct xc_file_dependency){
		.root = xc_arena_strdup(&list->arena, dependency->root),
		.path = xc_arena_strdup(&list->arena, dependency->path),
		.was = xc_arena_strdup(&list->arena, dependency->was),
	};
}

void xc_file_dependency_fini(struct xc_file_dependency_list *list)
{
	xc_arena_fini(&list->arena);
	free(list->files);
	*list = (struct xc_file_dependency_list){.count = 0};
}

/* ---- dependencies of a record ---- */

static int by_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

int xc_file_dependency_compare(const void *a, const void *b)
{
	const struct xc_file_dependency *left = a, *right = b;
	int order = strcmp(left->path, right->path);
	order = order ? order : by_text(left->root, right->root);
	return order ? order : by_text(left->was, right->was);
}

static int by_pointed(const void *a, const void *b)
{
	const struct xc_file_dependency *const *left = a, *const *right = b;
	return xc_file_dependency_compare(*left, *right);
}

static size_t size_of(const struct xc_file_dependency *s)
{
	return sizeof "[,,]," + (s->root ? strlen(s->root) : 0) + strlen(s->path) + (s->was ? strlen(s->was) : 0);
}

struct xc_file_dependency *xc_file_dependency_copy(const struct xc_file_dependency *s, struct xc_arena *arena)
{
	struct xc_file_dependency *kept = xc_arena_alloc(arena, sizeof *kept);
	kept->root = xc_arena_strdup(arena, s->root);
	kept->path = xc_arena_strdup(arena, s->path);
	kept->was = xc_arena_strdup(arena, s->was);
	return kept;
}

static size_t without_doubles(struct xc_file_dependency **files, size_t count)
{
	size_t kept = 0;
	if (count)
		qsort(files, count, sizeof *files, by_pointed);
	for (size_t i = 0; i < count; i++)
		if (!kept || xc_file_dependency_compare(files[kept - 1], files[i]) != 0)
			files[kept++] = files[i];
	return kept;
}

static size_t size_of_all(struct xc_file_dependency *const *files, size_t count)
{
	size_t size = 0;
	for (size_t i = 0; i < count; i++)
		size += size_of(files[i]);
	return size;
}

void xc_file_dependency_store(const struct xc_file_dependency_list *list, struct xc_record *record,
			      struct xc_arena *arena)
{
	struct xc_file_dependency **files = xc_arena_alloc(arena, (list->count + 1) * sizeof *files);
	for (size_t i = 0; i < list->count; i++)
		files[i] = &list->files[i];
	size_t count = without_doubles(files, list->count);
	if (list->cut || size_of_all(files, count) > XC_FILE_DEPENDENCY_MAX) {
		record->passing = true;
		count = 0;
	}
	for (size_t i = 0; i < count; i++)
		files[i] = xc_file_dependency_copy(files[i], arena);
	record->dependencies = files;
	record->dependency_count = count;
}

/* ---- as JSON ---- */

json_t *xc_file_dependency_json(const struct xc_file_dependency *s)
{
	json_t *array = json_array();
	json_array_append_new(array, json_integer((json_int_t)s->number));
	json_array_append_new(array, xc_rawtext_json(s->root ? s->root : ""));
	json_array_append_new(array, xc_rawtext_json(s->path));
	if (s->was)
		json_array_append_new(array, json_string(s->was));
	return array;
}

struct xc_file_dependency *xc_file_dependency_parse(const json_t *array, struct xc_arena *arena)
{
	const json_t *number = json_array_get(array, 0);
	const char *was = json_string_value(json_array_get(array, 3));
	const size_t count = json_array_size(array);
	if (!json_is_integer(number) || json_integer_value(number) < 0 || count < 3 || count > 4 ||
	    (count == 4 && !was))
		return NULL;
	const char *root = xc_rawtext_parse(json_array_get(array, 1), arena);
	struct xc_file_dependency *found = xc_arena_alloc(arena, sizeof *found);
	found->root = root && *root ? root : NULL;
	found->path = xc_rawtext_parse(json_array_get(array, 2), arena);
	found->was = xc_arena_strdup(arena, was);
	found->number = (size_t)json_integer_value(number);
	return root && found->path ? found : NULL;
}
