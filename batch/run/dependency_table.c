/* dependency_table: most records of a batch depend on the same files, so most entries are just a number. */
#include "batch/run/dependency_table.h"

#include <search.h>
#include <stdlib.h>

enum { MOST = 1 << 24 }; /* files in a table: a larger number is not ours */

/* Adds it under its number, which may already have been used in a partly lost line. */
static void add(struct xc_dependency_table *table, struct xc_file_dependency *dependency)
{
	while (table->count <= dependency->number) {
		table->files = xc_grow(table->files, table->count, &table->capacity, sizeof *table->files);
		table->files[table->count++] = NULL;
	}
	table->files[dependency->number] = dependency;
	tsearch(dependency, &table->tree,
		xc_file_dependency_compare); /* out of memory: it is not found again, and gets another number */
}

static const struct xc_file_dependency *find(const struct xc_dependency_table *table,
					     const struct xc_file_dependency *dependency)
{
	struct xc_file_dependency *const *found = tfind(dependency, &table->tree, xc_file_dependency_compare);
	return found ? *found : NULL;
}

json_t *xc_dependency_table_json(const struct xc_dependency_table *table, const struct xc_record *record)
{
	json_t *array = json_array();
	size_t next = table->count;
	for (size_t i = 0; i < record->dependency_count; i++) {
		const struct xc_file_dependency *known = find(table, record->dependencies[i]);
		struct xc_file_dependency new = *record->dependencies[i];
		if (!known)
			new.number = next++;
		json_array_append_new(array,
				      known ? json_integer((json_int_t)known->number) : xc_file_dependency_json(&new));
	}
	return array;
}

void xc_dependency_table_learn(struct xc_dependency_table *table, const struct xc_record *record)
{
	for (size_t i = 0; i < record->dependency_count; i++)
		if (!find(table, record->dependencies[i])) {
			struct xc_file_dependency *new = xc_file_dependency_copy(record->dependencies[i], table->arena);
			new->number = table->count;
			add(table, new);
		}
}

/* A file by its number, or defined here; NULL: neither. */
static struct xc_file_dependency *read_one(const struct xc_dependency_table *table, const json_t *value)
{
	const json_int_t number = json_integer_value(value);
	if (json_is_integer(value))
		return number >= 0 && (uint64_t)number < table->count ? table->files[number] : NULL;
	struct xc_file_dependency *dependency = xc_file_dependency_parse(value, table->arena);
	return dependency && dependency->number < MOST ? dependency : NULL;
}

bool xc_dependency_table_read(struct xc_dependency_table *table, const json_t *array, struct xc_pool *pool,
			      struct xc_record *record)
{
	const size_t count = json_array_size(array);
	struct xc_file_dependency **files = xc_alloc((count + 1) * sizeof *files);
	bool good = json_is_array(array);
	for (size_t i = 0; i < count && good; i++)
		good = (files[i] = read_one(table, json_array_get(array, i))) != NULL;
	for (size_t i = 0; i < count && good; i++)
		if (json_is_array(json_array_get(array, i)))
			add(table, files[i]);
	record->dependencies = good ? (void *)(uintptr_t)xc_pool_bytes(pool, files, count * sizeof *files) : NULL;
	record->dependency_count = good ? count : 0;
	free(files);
	return good;
}

/* The arena owns it. */
static void leave(void *dependency)
{
	(void)dependency;
}

void xc_dependency_table_fini(struct xc_dependency_table *table)
{
	tdestroy(table->tree, leave);
	free(table->files);
	*table = (struct xc_dependency_table){.arena = table->arena};
}
