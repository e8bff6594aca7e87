/* dependency_table: most records of a batch were made with and without the same files, so that a number is what most of them say. */
#include "batch/run/dependency_table.h"

#include <search.h>
#include <stdlib.h>

enum { MOST = 1 << 24 }; /* files of a book: a number beyond that is none of ours */

/* By its number, which may be one that another one had in a line that is lost in part. */
static void add(struct xc_dependency_table *book, struct xc_file_dependency *dependency)
{
	while (book->count <= dependency->number) {
		book->files = xc_grow(book->files, book->count, &book->capacity, sizeof *book->files);
		book->files[book->count++] = NULL;
	}
	book->files[dependency->number] = dependency;
	tsearch(dependency, &book->tree,
		xc_file_dependency_compare); /* without memory it is not found again: another number */
}

static const struct xc_file_dependency *find(const struct xc_dependency_table *book,
					     const struct xc_file_dependency *dependency)
{
	struct xc_file_dependency *const *found = tfind(dependency, &book->tree, xc_file_dependency_compare);
	return found ? *found : NULL;
}

json_t *xc_dependency_table_json(const struct xc_dependency_table *book, const struct xc_record *record)
{
	json_t *array = json_array();
	size_t next = book->count;
	for (size_t i = 0; i < record->dependency_count; i++) {
		const struct xc_file_dependency *known = find(book, record->dependencies[i]);
		struct xc_file_dependency new = *record->dependencies[i];
		if (!known)
			new.number = next++;
		json_array_append_new(array,
				      known ? json_integer((json_int_t)known->number) : xc_file_dependency_json(&new));
	}
	return array;
}

void xc_dependency_table_learn(struct xc_dependency_table *book, const struct xc_record *record)
{
	for (size_t i = 0; i < record->dependency_count; i++)
		if (!find(book, record->dependencies[i])) {
			struct xc_file_dependency *new = xc_file_dependency_copy(record->dependencies[i], book->arena);
			new->number = book->count;
			add(book, new);
		}
}

/* By its number, or said here; NULL: neither. */
static struct xc_file_dependency *read_one(const struct xc_dependency_table *book, const json_t *value)
{
	const json_int_t number = json_integer_value(value);
	if (json_is_integer(value))
		return number >= 0 && (uint64_t)number < book->count ? book->files[number] : NULL;
	struct xc_file_dependency *dependency = xc_file_dependency_parse(value, book->arena);
	return dependency && dependency->number < MOST ? dependency : NULL;
}

bool xc_dependency_table_read(struct xc_dependency_table *book, const json_t *array, struct xc_pool *pool,
			      struct xc_record *record)
{
	const size_t count = json_array_size(array);
	struct xc_file_dependency **files = xc_alloc((count + 1) * sizeof *files);
	bool good = json_is_array(array);
	for (size_t i = 0; i < count && good; i++)
		good = (files[i] = read_one(book, json_array_get(array, i))) != NULL;
	for (size_t i = 0; i < count && good; i++)
		if (json_is_array(json_array_get(array, i)))
			add(book, files[i]);
	record->dependencies = good ? (void *)(uintptr_t)xc_pool_bytes(pool, files, count * sizeof *files) : NULL;
	record->dependency_count = good ? count : 0;
	free(files);
	return good;
}

/* The arena has it. */
static void leave(void *dependency)
{
	(void)dependency;
}

void xc_dependency_table_fini(struct xc_dependency_table *book)
{
	tdestroy(book->tree, leave);
	free(book->files);
	*book = (struct xc_dependency_table){.arena = book->arena};
}
