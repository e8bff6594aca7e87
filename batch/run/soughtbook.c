/* soughtbook: most records of a batch were made with and without the same files, so that a number is what most of them say. */
#include "batch/run/soughtbook.h"

#include <search.h>
#include <stdlib.h>

enum { MOST = 1 << 24 }; /* files of a book: a number beyond that is none of ours */

/* By its number, which may be one that another one had in a line that is lost in part. */
static void add(struct xc_soughtbook *book, struct xc_sought *sought)
{
	while (book->count <= sought->number) {
		book->files = xc_grow(book->files, book->count, &book->capacity, sizeof *book->files);
		book->files[book->count++] = NULL;
	}
	book->files[sought->number] = sought;
	tsearch(sought, &book->tree, xc_sought_compare); /* without memory it is not found again: another number */
}

static const struct xc_sought *find(const struct xc_soughtbook *book, const struct xc_sought *sought)
{
	struct xc_sought *const *found = tfind(sought, &book->tree, xc_sought_compare);
	return found ? *found : NULL;
}

json_t *xc_soughtbook_json(const struct xc_soughtbook *book, const struct xc_record *record)
{
	json_t *array = json_array();
	size_t next = book->count;
	for (size_t i = 0; i < record->sought_count; i++) {
		const struct xc_sought *known = find(book, record->sought[i]);
		struct xc_sought new = *record->sought[i];
		if (!known)
			new.number = next++;
		json_array_append_new(array, known ? json_integer((json_int_t)known->number) : xc_sought_json(&new));
	}
	return array;
}

void xc_soughtbook_learn(struct xc_soughtbook *book, const struct xc_record *record)
{
	for (size_t i = 0; i < record->sought_count; i++)
		if (!find(book, record->sought[i])) {
			struct xc_sought *new = xc_sought_copy(record->sought[i], book->arena);
			new->number = book->count;
			add(book, new);
		}
}

/* By its number, or said here; NULL: neither. */
static struct xc_sought *read_one(const struct xc_soughtbook *book, const json_t *value)
{
	const json_int_t number = json_integer_value(value);
	if (json_is_integer(value))
		return number >= 0 && (uint64_t)number < book->count ? book->files[number] : NULL;
	struct xc_sought *sought = xc_sought_parse(value, book->arena);
	return sought && sought->number < MOST ? sought : NULL;
}

bool xc_soughtbook_read(struct xc_soughtbook *book, const json_t *array, struct xc_pool *pool, struct xc_record *record)
{
	const size_t count = json_array_size(array);
	struct xc_sought **files = xc_alloc((count + 1) * sizeof *files);
	bool good = json_is_array(array);
	for (size_t i = 0; i < count && good; i++)
		good = (files[i] = read_one(book, json_array_get(array, i))) != NULL;
	for (size_t i = 0; i < count && good; i++)
		if (json_is_array(json_array_get(array, i)))
			add(book, files[i]);
	record->sought = good ? (void *)(uintptr_t)xc_pool_bytes(pool, files, count * sizeof *files) : NULL;
	record->sought_count = good ? count : 0;
	free(files);
	return good;
}

/* The arena has it. */
static void leave(void *sought)
{
	(void)sought;
}

void xc_soughtbook_fini(struct xc_soughtbook *book)
{
	tdestroy(book->tree, leave);
	free(book->files);
	*book = (struct xc_soughtbook){.arena = book->arena};
}
