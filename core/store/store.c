/* store: reads the index. Opening parses nothing. A look-up is a binary search that verifies each block it touches, at
 * about 0.4 µs per block. */
#include "core/store/store.h"

#include <errno.h>
#include <isa-l/crc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/io/planted.h"
#include "core/io/source.h"
#include "core/store/store_layout.h"
#include "core/base/userdir.h"

struct xc_store {
	struct xc_source *source;
	struct xc_store_header header;
	char *dir;
	atomic_bool damaged;
};

uint32_t xc_store_crc(const void *bytes, size_t size)
{
	return crc32_gzip_refl(0, (uint8_t *)(uintptr_t)bytes, size);
}

char *xc_store_locate(const char *given)
{
	const char *named = getenv("XCORE_SYMBOLS");
	if (given || named) {
		const char *place = given ? given : named;
		return *place ? xc_strdup(place) : NULL;
	}
	return xc_userdir("XDG_DATA_HOME", ".local/share", "xcore/symbols");
}

/* ---- opening ---- */

static const char *why_foreign(const char *dir, const struct stat *st)
{
	xc_auto(xc_freep) char *usual = xc_userdir("XDG_DATA_HOME", ".local/share", "xcore/symbols");
	const bool is_mine = st->st_uid == geteuid() || st->st_uid == 0;
	return st->st_mode & S_IWOTH                      ? "is world-writable"
	       : !is_mine && usual && !strcmp(usual, dir) ? "belongs to another user"
							  : NULL;
}

struct xc_error *xc_store_check(const char *dir)
{
	struct stat st;
	struct xc_error *err = xc_planted_check(dir);
	if (!err && stat(dir, &st) < 0)
		err = xc_error_errno(errno, "%s", dir);
	const char *why = err ? NULL : why_foreign(dir, &st);
	if (why)
		err = xc_error_hint(xc_error_new(XC_ERR_PERMISSION, "%s: %s", dir, why),
				    "XCORE_SYMBOLS, or --store DIR, can name another store");
	return err;
}

static bool fits(const struct xc_store_header *h, const struct xc_store_table *table, size_t item)
{
	return table->at >= XC_STORE_BLOCK && table->at <= h->crcs.at && table->at % 8 == 0 &&
	       table->count <= (h->crcs.at - table->at) / item;
}

static const char *what_is_wrong(const struct xc_source *source, struct xc_store_header *h)
{
	if (source->size < XC_STORE_BLOCK)
		return "cut short";
	memcpy(h, source->bytes, sizeof *h);
	if (memcmp(h->magic, XC_STORE_MAGIC, sizeof h->magic) != 0)
		return "damaged";
	if (h->order != XC_STORE_ORDER || h->version != XC_STORE_VERSION)
		return "written by another version of xcore, or on another machine";
	if (h->crc != xc_store_crc(h, offsetof(struct xc_store_header, crc)))
		return "damaged";
	uint64_t size = source->size, blocks = h->crcs.count;
	if (h->crcs.at < XC_STORE_BLOCK || h->crcs.at > size || blocks > (size - h->crcs.at) / sizeof(uint32_t))
		return "cut short";
	if (blocks != (h->crcs.at - XC_STORE_BLOCK + XC_STORE_BLOCK - 1) / XC_STORE_BLOCK || h->crcs.at % 8 != 0 ||
	    h->files.count > UINT32_MAX || h->ids.count > h->files.count ||
	    !fits(h, &h->files, sizeof(struct xc_store_disk_file)) || !fits(h, &h->ids, sizeof(uint32_t)) ||
	    !fits(h, &h->splits, sizeof(struct xc_store_disk_split)) ||
	    !fits(h, &h->roots, sizeof(struct xc_store_disk_root)) || !fits(h, &h->paths, 1) ||
	    h->crcs_crc != xc_store_crc(source->bytes + h->crcs.at, (size_t)blocks * sizeof(uint32_t)))
		return "damaged";
	return NULL;
}

struct xc_error *xc_store_open(const char *dir, struct xc_store **store_out)
{
	xc_auto(xc_freep) char *path = xc_asprintf("%s/index", dir);
	xc_auto(xc_source_closep) struct xc_source *source = NULL;
	const struct xc_source_options plain = {.as_is = true};
	struct xc_store_header header;
	struct xc_error *err = xc_store_check(dir);
	if (err && err->code == XC_ERR_NOT_FOUND) {
		xc_error_free(err);
		return xc_error_errno(ENOENT, "%s", path);
	}
	if (!err)
		err = xc_source_open(path, &plain, &source);
	if (err)
		return err;
	const char *wrong = what_is_wrong(source, &header);
	if (wrong)
		return xc_error_hint(xc_error_new(XC_ERR_FORMAT, "%s: %s", path, wrong),
				     "`xcore symbols index DIR...` makes it anew");
	struct xc_store *store = xc_alloc(sizeof *store);
	store->source = xc_take(source);
	store->header = header;
	store->dir = xc_strdup(dir);
	*store_out = store;
	return NULL;
}

void xc_store_close(struct xc_store *store)
{
	if (!store)
		return;
	xc_source_close(store->source);
	free(store->dir);
	free(store);
}

bool xc_store_damaged(const struct xc_store *store)
{
	return atomic_load(&store->damaged);
}

const char *xc_store_dir(const struct xc_store *store)
{
	return store->dir;
}

/* ---- items ---- */

/* The bytes if the checksums of their blocks are right, else NULL. */
static const uint8_t *checked(struct xc_store *store, uint64_t at, uint64_t size)
{
	const uint8_t *bytes = store->source->bytes;
	uint64_t end = store->header.crcs.at;
	bool good = at >= XC_STORE_BLOCK && at <= end && size > 0 && size <= end - at;
	for (uint64_t block = at / XC_STORE_BLOCK; good && block <= (at + size - 1) / XC_STORE_BLOCK; block++) {
		uint64_t begin = block * XC_STORE_BLOCK, left = end - begin;
		uint32_t stored;
		memcpy(&stored, bytes + end + (block - 1) * sizeof stored, sizeof stored);
		good = stored == xc_store_crc(bytes + begin, left < XC_STORE_BLOCK ? (size_t)left : XC_STORE_BLOCK);
	}
	if (!good)
		atomic_store(&store->damaged, true);
	return good ? bytes + at : NULL;
}

static bool item(struct xc_store *store, const struct xc_store_table *table, size_t number, void *item_out, size_t size)
{
	const uint8_t *bytes = number < table->count ? checked(store, table->at + number * size, size) : NULL;
	if (bytes)
		memcpy(item_out, bytes, size);
	return bytes != NULL;
}

static const char *path_of(struct xc_store *store, uint32_t at, uint16_t len)
{
	const struct xc_store_table *paths = &store->header.paths;
	if (at >= paths->count || len >= paths->count - at)
		return NULL;
	const char *path = (const char *)checked(store, paths->at + at, (uint64_t)len + 1);
	return path && path[0] == '/' && strnlen(path, (size_t)len + 1) == len ? path : NULL;
}

size_t xc_store_file_count(const struct xc_store *store)
{
	return (size_t)store->header.files.count;
}

bool xc_store_file(struct xc_store *store, size_t number, struct xc_store_file *file_out)
{
	struct xc_store_disk_file d;
	if (!item(store, &store->header.files, number, &d, sizeof d) || d.id_size > XC_BUILD_ID_MAX)
		return false;
	struct xc_store_file file = {.path = path_of(store, d.path_at, d.path_len),
				     .id.size = d.id_size,
				     .has = d.has,
				     .dev = d.dev,
				     .ino = d.ino,
				     .size = d.size,
				     .mtime_ns = d.mtime_ns,
				     .seen = d.seen};
	memcpy(file.id.bytes, d.id, d.id_size);
	if (file.path)
		*file_out = file;
	return file.path != NULL;
}

size_t xc_store_root_count(const struct xc_store *store)
{
	return (size_t)store->header.roots.count;
}

bool xc_store_root(struct xc_store *store, size_t number, struct xc_store_root *root_out)
{
	struct xc_store_disk_root d;
	const char *path;
	if (!item(store, &store->header.roots, number, &d, sizeof d) || !(path = path_of(store, d.path_at, d.path_len)))
		return false;
	*root_out = (struct xc_store_root){.path = path, .indexed = d.indexed, .files = d.files};
	return true;
}

size_t xc_store_split_count(const struct xc_store *store)
{
	return (size_t)store->header.splits.count;
}

bool xc_store_split(struct xc_store *store, size_t number, struct xc_store_split *split_out)
{
	struct xc_store_disk_split d;
	if (!item(store, &store->header.splits, number, &d, sizeof d) || d.file >= store->header.files.count)
		return false;
	*split_out = (struct xc_store_split){.dwo_id = d.dwo_id, .file = d.file};
	return true;
}

/* ---- look-ups ---- */

/* Compare the first nibbles of a and b. If a is too short, it comes first. */
static int compare_prefix(const uint8_t *a, size_t a_size, const uint8_t *b, size_t nibbles)
{
	size_t whole = nibbles / 2, there = a_size < whole ? a_size : whole;
	int order = there ? memcmp(a, b, there) : 0;
	if (order || a_size < whole)
		return order ? order : -1;
	if (nibbles % 2 == 0)
		return 0;
	return a_size == whole ? -1 : (a[whole] >> 4) - (b[whole] >> 4);
}

/* Compare entry `at` of the ids with the wanted one. False when it is damaged. */
static bool compare_id(struct xc_store *store, size_t at, const struct xc_build_id *id, size_t nibbles, int *order,
		       uint32_t *number)
{
	struct xc_store_disk_file d;
	if (!item(store, &store->header.ids, at, number, sizeof *number) ||
	    !item(store, &store->header.files, *number, &d, sizeof d) || d.id_size > XC_BUILD_ID_MAX)
		return false;
	*order = compare_prefix(d.id, d.id_size, id->bytes, nibbles);
	return true;
}

size_t xc_store_find(struct xc_store *store, const struct xc_build_id *id, size_t nibbles, uint32_t *numbers,
		     size_t max)
{
	size_t lo = 0, hi = store ? (size_t)store->header.ids.count : 0, end = hi, found = 0;
	uint32_t number;
	int order = 0;
	if (nibbles == 0 || nibbles > 2 * (size_t)id->size)
		return 0;
	while (lo < hi) { /* the lower bound */
		size_t mid = lo + (hi - lo) / 2;
		if (!compare_id(store, mid, id, nibbles, &order, &number))
			return 0;
		if (order < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < end && compare_id(store, lo, id, nibbles, &order, &number) && order == 0; lo++)
		if (found++ < max)
			numbers[found - 1] = number;
	return found;
}

size_t xc_store_find_split(struct xc_store *store, uint64_t dwo_id, uint32_t *numbers, size_t max)
{
	size_t lo = 0, hi = store ? (size_t)store->header.splits.count : 0, end = hi, found = 0;
	struct xc_store_split split;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (!xc_store_split(store, mid, &split))
			return 0;
		if (split.dwo_id < dwo_id)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < end && xc_store_split(store, lo, &split) && split.dwo_id == dwo_id; lo++)
		if (found++ < max)
			numbers[found - 1] = split.file;
	return found;
}
