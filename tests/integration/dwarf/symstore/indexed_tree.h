/* indexed_tree: a tree of ELF files, and the store that indexes it. */
#ifndef XC_TEST_INDEXED_TREE_H
#define XC_TEST_INDEXED_TREE_H

#include <signal.h>

#include "core/io/source.h"
#include "dwarf/symstore/store_index.h"
#include "tests/support/mapped_fixture.h"

static volatile sig_atomic_t stop;

static inline struct xc_store_totals index_with(const struct xc_store_index_options *options, const char *tree)
{
	struct xc_store_totals totals;
	CHECK_OK(xc_store_index(options, tree, &totals));
	return totals;
}

static inline struct xc_store_totals index_tree(const char *name)
{
	const struct xc_store_index_options options = {.dir = scratch_path("store"), .jobs = 3, .stop = &stop};
	return index_with(&options, scratch_path(name));
}

/* DIR/path: a library with a build-id of twenty times this byte; overwrites the template's id. */
static inline void make(const char *path, unsigned byte)
{
	static uint8_t *bytes;
	static size_t size, at;
	if (!bytes) {
		struct xc_source *s = NULL;
		const char *id = "\x5a\x5b\x5c\x5d\x5a\x5b\x5c\x5d\x5a\x5b\x5c\x5d\x5a\x5b\x5c\x5d\x5a\x5b\x5c\x5d";
		CHECK_OK(xc_source_open(build("template.so",
					      "-g -Wl,--build-id=0x5a5b5c5d5a5b5c5d5a5b5c5d5a5b5c5d5a5b5c5d",
					      "int f(void) { return 1; }\n"),
					NULL, &s));
		size = (size_t)s->size;
		bytes = malloc(size);
		memcpy(bytes, s->bytes, size);
		xc_source_close(s);
		const uint8_t *found = memmem(bytes, size, id, 20);
		assert_non_null(found);
		at = (size_t)(found - bytes);
	}
	memset(bytes + at, (int)byte, 20);
	scratch_file(path, bytes, size);
}

static inline int start(void **state)
{
	(void)state;
	stop = 0;
	shell("rm -rf tree tree2 store && mkdir -p tree/a/b tree2");
	make("tree/a/one", 0xa1);
	make("tree/a/b/two", 0xa2);
	shell("echo text >tree/a/text && echo a longer text, longer than the shortest ELF file can be at all "
	      ">tree/a/b/long && "
	      "ln -s one tree/a/link && ln -s .. tree/a/b/up && mkfifo tree/fifo");
	return 0;
}

static inline struct xc_build_id id_of(unsigned byte)
{
	struct xc_build_id id = {.size = 20};
	memset(id.bytes, (int)byte, 20);
	return id;
}

/* The number of files that the store has for this id, and the path of the first. */
static inline size_t known(unsigned byte, char *path)
{
	struct xc_store *store = NULL;
	struct xc_store_file file;
	uint32_t numbers[8];
	struct xc_build_id id = id_of(byte);
	CHECK_OK(xc_store_open(scratch_path("store"), &store));
	size_t found = xc_store_find(store, &id, 40, numbers, 8);
	if (found && path) {
		assert_true(xc_store_file(store, numbers[0], &file));
		strcpy(path, file.path);
	}
	assert_false(xc_store_damaged(store));
	xc_store_close(store);
	return found;
}

static inline size_t all_known(void)
{
	struct xc_store *store = NULL;
	CHECK_OK(xc_store_open(scratch_path("store"), &store));
	size_t count = xc_store_file_count(store);
	xc_store_close(store);
	return count;
}

#endif
